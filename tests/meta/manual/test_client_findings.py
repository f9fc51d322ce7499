"""The client's side of somebody's traffic: where a request breaks the interface, named by its fault."""

from typing import Any

import pytest

from contracts.exchanges.exchange import UNKNOWN_BODY
from contracts.manual.traffic_findings import Side, Standing, TrafficFinding, verdict_of
from tests.meta.manual.sample_traffic import CONTACT, TOKEN, Client

CREATE = "/api/v2013/documents?schema=contact"
SUBMIT = "/api/v2023/documents/schemas/absPermit/an-identifier-01"
DRAFT = "/api/v2013/documents/any-identifier/versions/draft"


def without(name: str) -> dict[str, Any]:
    return {key: value for key, value in CONTACT.items() if key != name}


def mistakes(findings: tuple[TrafficFinding, ...]) -> dict[str | None, Standing]:
    return {each.fault: each.standing for each in findings if each.side is Side.REQUEST}


def test_a_missing_mandatory_field_is_the_clients_and_names_the_field(client: Client) -> None:
    found = client("POST", CREATE, 400, {"errors": []}, sent=without("firstName"))
    assert mistakes(found) == {"body.firstName:missing": Standing.FAULT}
    assert found[0].clause == "contact-mandatory-first-name"
    assert verdict_of(client.watch.tally).client == 1


def test_a_right_request_shows_nothing(client: Client) -> None:
    assert client("POST", CREATE, 201, {"identifier": "an-identifier"}, sent=CONTACT) == ()
    verdict = verdict_of(client.watch.tally)
    assert (verdict.word, int(verdict.exit_code)) == ("pass", 0)


@pytest.mark.parametrize("word", ["undefined", "null", "[object Object]"])
def test_a_word_in_place_of_a_token_is_the_clients(client: Client, word: str) -> None:
    found = client("GET", DRAFT, 401, {}, Authorization=f"Bearer {word}")
    assert mistakes(found) == {"header.Authorization:unknown-value": Standing.FAULT}


def test_a_missing_realm_and_a_missing_token_are_the_clients(client: Client) -> None:
    found = client("GET", DRAFT, 400, {}, realm=None, Authorization=None)
    assert mistakes(found) == {
        "header.Realm:missing": Standing.FAULT,
        "header.Authorization:missing": Standing.FAULT,
    }


def test_a_production_realm_is_none(client: Client) -> None:
    """Archives of production may be judged; nothing is sent there."""
    assert client("GET", DRAFT, 200, {"title": "x"}, realm="abs") == ()


def test_a_body_that_was_not_recorded_is_not_taken_for_missing(client: Client) -> None:
    assert client("POST", CREATE, 201, {"identifier": "an-identifier"}, sent=UNKNOWN_BODY) == ()
    assert client.watch.tally.obstacles == {"the body of the request is not known": 1}


def test_what_the_document_leaves_open_is_a_remark(client: Client) -> None:
    found = client("GET", "/api/v2013/document-drafts?fields=title", 200, [])
    assert mistakes(found) == {"query:unknown-property": Standing.REMARK}
    assert int(verdict_of(client.watch.tally).exit_code) == 0


def test_a_path_that_is_no_operation_is_told(client: Client) -> None:
    found = client("GET", "/api/v2013/document/any-identifier", 404, {})
    assert mistakes(found) == {"path:unknown": Standing.REMARK}
    assert client.watch.tally.strangers == {"GET /api/v2013/document/any-identifier": 1}


def test_a_slash_that_an_empty_identifier_leaves_is_no_fault_of_a_service_that_takes_it(
    client: Client,
) -> None:
    answer = {"identifier": "an-identifier-01"}
    assert client("POST", SUBMIT.removesuffix("an-identifier-01"), 201, answer, sent={"document": {}}) == ()
    assert client.watch.tally.strangers == {"POST /api/v2023/documents/schemas/absPermit/": 1}


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
