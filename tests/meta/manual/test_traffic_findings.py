"""What traffic of a service and its client shows: each side's mistakes, named by clause or by fault."""

from typing import Any

import pytest

from contracts.exchanges.exchange import UNKNOWN_BODY
from contracts.manual.traffic_findings import Side, Standing, TrafficFinding, verdict_of
from contracts.proving.services import knobs, together
from contracts.sandbox.faults.population import load
from tests.meta.manual.client_tour import service_side, tour
from tests.meta.manual.sample_traffic import CONTACT, TOKEN, Client

CREATE = "/api/v2013/documents?schema=contact"
DRAFTS = "/api/v2013/document-drafts"
SUBMIT = "/api/v2023/documents/schemas/absPermit/an-identifier-01"
SIGN_IN = "/api/v2013/authentication/token"
NAMELESS = {name: value for name, value in CONTACT.items() if name != "firstName"}


def broken(findings: tuple[TrafficFinding, ...]) -> dict[str | None, Standing]:
    return {each.clause: each.standing for each in findings if each.side is Side.ANSWER}


def test_an_answer_of_its_own_below_600_is_held_against_it(client: Client) -> None:
    found = client("GET", DRAFTS, 500, {"message": "oops"})
    assert broken(found) == {"no-server-error": Standing.FAULT}
    assert verdict_of(client.watch.tally).service == 1


@pytest.mark.parametrize("status", [429, 502, 503, 504])
def test_a_gateways_answer_is_the_environments(client: Client, status: int) -> None:
    assert client("GET", DRAFTS, status, b"<html>busy</html>") == ()
    assert verdict_of(client.watch.tally).word == "inconclusive"


def test_a_faulty_request_that_is_taken_is_held_against_the_service_too(client: Client) -> None:
    found = client("POST", CREATE, 201, {"identifier": "an-identifier"}, sent=NAMELESS)
    assert broken(found) == {"contact-mandatory-first-name": Standing.FAULT}
    verdict = verdict_of(client.watch.tally)
    assert (verdict.client, verdict.service) == (1, 1)


@pytest.mark.parametrize("status", [401, 403, 404])
def test_a_refusal_for_something_else_is_not_held_to_the_fault_that_shows(
    client: Client, status: int
) -> None:
    """An expired token or an unknown schema is no business of the missing field."""
    assert broken(client("POST", CREATE, status, {"message": "no"}, sent=NAMELESS)) == {}


def test_a_refusal_that_does_not_name_the_field_is_a_remark_until_the_client_is_known_to_be_right(
    client: Client,
) -> None:
    other: Any = {"errors": [{"code": "Error.InvalidValue", "property": "type"}]}
    clause = "contact-mandatory-first-name"
    assert broken(client("POST", CREATE, 400, other, sent=NAMELESS)) == {clause: Standing.REMARK}
    assert client("POST", CREATE, 201, {"identifier": "an-identifier"}, sent=CONTACT) == ()
    assert broken(client("POST", CREATE, 400, other, sent=NAMELESS)) == {clause: Standing.FAULT}


def test_a_body_that_was_not_recorded_is_not_judged(client: Client) -> None:
    assert client("GET", f"{DRAFTS}?$top=1", 200, UNKNOWN_BODY) == ()
    assert client.watch.tally.obstacles == {"the body of the answer is not known": 1}


def test_a_message_of_the_table_comes_with_its_own_status(client: Client) -> None:
    message = {"message": "The record is locked for workflow, cannot proceed."}
    assert client("PUT", SUBMIT, 400, message, sent={"document": {}}) == ()
    assert broken(client("PUT", SUBMIT, 409, message, sent={"document": {}})) == {
        "workflow-locked-record": Standing.FAULT
    }


def test_a_token_that_is_echoed_is_held_against_it_and_told_nowhere(client: Client) -> None:
    signed = {"authenticationToken": TOKEN, "expiration": "2026-11-21T13:00:00.000Z"}
    credentials = {"email": "ada@registry.test", "password": "a-secret-of-ada"}
    assert client("POST", SIGN_IN, 200, signed, sent=credentials, realm=None, Authorization=None) == ()
    found = client("GET", DRAFTS, 403, {"message": f"{TOKEN} may not"})
    assert broken(found) == {"no-secret-echoed": Standing.FAULT}
    shown = repr(client.taken)
    assert TOKEN not in shown
    assert "a-secret-of-ada" not in shown


def test_a_sign_in_that_is_answered_without_a_token_counts_only_for_credentials_that_are_right(
    client: Client,
) -> None:
    """A service may refuse a sign-in with 200 as well: how is not shown."""
    credentials = {"email": "ada@registry.test", "password": "a-secret-of-ada"}
    signed = {"authenticationToken": TOKEN, "expiration": "2026-11-21T13:00:00.000Z"}
    seen = []
    for answer in ({"error": "no"}, signed, {"error": "no"}):
        found = client("POST", SIGN_IN, 200, answer, sent=credentials, realm=None, Authorization=None)
        seen.append(broken(found))
    assert seen == [{}, {}, {"token-issued": Standing.FAULT}]


def test_a_refused_update_says_nothing_about_its_fault_where_the_contact_may_not_be_there(
    client: Client,
) -> None:
    update = "/api/v2013/documents/a-contact-of-mine?schema=contact"
    refused = ("PUT", update, 400, {"message": "no"})
    assert broken(client(*refused, sent=NAMELESS)) == {}
    assert client("PUT", update, 200, {"identifier": "a-contact-of-mine"}, sent=CONTACT) == ()
    assert broken(client(*refused, sent=NAMELESS)) == {"contact-mandatory-first-name": Standing.FAULT}


DRAFT = "/api/v2013/documents/any-identifier/versions/draft"


def mistakes(findings: tuple[TrafficFinding, ...]) -> dict[str | None, Standing]:
    return {each.fault: each.standing for each in findings if each.side is Side.REQUEST}


@pytest.mark.parametrize("word", ["undefined", "null", "[object Object]"])
def test_a_word_in_place_of_a_token_is_the_clients(client: Client, word: str) -> None:
    found = client("GET", DRAFT, 401, {}, Authorization=f"Bearer {word}")
    assert mistakes(found) == {"header.Authorization:unknown-value": Standing.FAULT}


def test_a_production_realm_is_none(client: Client) -> None:
    """Archives of production may be judged; nothing is sent there."""
    assert client("GET", DRAFT, 200, {"title": "x"}, realm="abs") == ()


def test_traffic_elsewhere_is_counted_and_not_judged(client: Client) -> None:
    assert client("GET", "/style.css", 500, b"oops") == ()
    assert client("OPTIONS", CREATE, 204) == ()
    assert client.watch.tally.hosts == {"registry.test": 1}
    assert client.watch.tally.preflights == 1
    assert verdict_of(client.watch.tally).word == "nothing tested"


@pytest.mark.parametrize(
    ("path", "sent", "changes", "fault"),
    [
        (DRAFT, None, {"realm": "ABS-DEV"}, "header.Realm:letter-case"),
        (DRAFT, None, {"realm": "ort-dev"}, "header.Realm:not-listed"),
        (DRAFT, None, {"Authorization": f"Ticket {TOKEN}"}, "header.Authorization:scheme"),
        (DRAFT, None, {"Authorization": TOKEN}, "header.Authorization:scheme"),
        (f"{SUBMIT}?realm=abs-dev", {"document": {}}, {"realm": None}, "query.Realm:letter-case"),
        (CREATE, {**CONTACT, "organization": {"EN": "Engines"}}, {}, "body.organization:letter-case"),
    ],
)
@pytest.mark.parametrize("status", [200, 400])
def test_a_habit_of_real_clients_is_a_remark_on_the_client_whatever_is_answered(
    client: Client, path: str, sent: Any, changes: dict[str, Any], fault: str, status: int
) -> None:
    answer = {"identifier": "an-identifier-01", "title": "x"}
    found = client("POST" if sent else "GET", path, status, answer, sent=sent, **changes)
    assert {each.fault: each.standing for each in found} == {fault: Standing.REMARK}


@pytest.mark.parametrize("value", ["[Filtered]", "***", "<redacted>", "Bearer ***"])
def test_a_token_that_was_blanked_out_is_no_mistake(client: Client, value: str) -> None:
    assert client("GET", DRAFT, 200, {"title": "x"}, Authorization=value) == ()


#: Contradicted by variants that take another reading of a should.
OTHER_READINGS = {"json-bodies": "message-plain-text"}

#: Breaks its clause in a way that the tour comes across.
FOUND = (
    "list-top-one-more",
    "contact-create-without-first-name",
)


def services() -> list[list[str]]:
    """Services that together turn every knob, each variant in the first one that it goes with."""
    made: list[list[str]] = []
    for variants in knobs().values():
        for name in variants:
            fitting = (each for each in made if all(together(name, other) for other in each))
            service = next((each for each in fitting if not set(each) & set(variants)), None)
            if service is None:
                made.append([name])
            else:
                service.append(name)
    return made


SERVICES = services()


def test_the_faithful_sandbox_gives_no_finding() -> None:
    tally = tour()
    assert service_side(tally) == []
    assert tally.breakages == []
    assert verdict_of(tally).client > 0, "the tour's own mistakes are the client's"
    assert {"draft-get-content", "attachment-download-same", "workflow-created-exists"} <= tally.held.keys()


@pytest.mark.parametrize("service", SERVICES, ids=[f"service-{number}" for number in range(len(SERVICES))])
def test_a_service_that_differs_where_the_document_is_silent_gives_none(service: list[str]) -> None:
    allowed = {clause for clause, variant in OTHER_READINGS.items() if variant in service}
    tally = tour(variants=tuple(service))
    assert [group for group in service_side(tally) if group.first.clause not in allowed] == []
    assert all(group.first.standing is Standing.ADVICE for group in service_side(tally))
    assert tally.breakages == []


@pytest.mark.parametrize("name", FOUND)
def test_a_broken_clause_is_found_on_the_tour(name: str) -> None:
    found = {group.first.clause: group.first.standing for group in service_side(tour(fault=name))}
    assert found[load(name).breaks[0]] is Standing.FAULT
