"""The table of checks: each holds on an answer that keeps it, and not on its twin; single exchanges are judged.

Also what the checks on every exchange make of an answer, and what is taken for a preview and for a timestamp.
"""

import json
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, NamedTuple

import pytest

from registry_contracts.cases.contents import RED
from registry_contracts.checks import errors_array
from registry_contracts.checks.definition import Check
from registry_contracts.checks.documents import digest_of, is_image
from registry_contracts.checks.outcomes import Attempt, CheckOutcome
from registry_contracts.checks.sign_in import is_utc_with_fraction
from registry_contracts.checks.table import TABLE, Judgement, judge, note_universal
from registry_contracts.exchanges.exchange import Exchange, Response
from registry_contracts.interface.catalogue import load_catalogue
from registry_contracts.interface.description import load_description
from tests.meta import messages, samples
from tests.meta.samples import ANONYMOUS, LOCKED, TAKEN, UNKNOWN

UID = "rc-test-0001"
PIXEL = bytes.fromhex(
    "47494638396101000100800000ffffff00000021f90401000000002c00000000010001000002024401003b"
)
NAMED = {"errors": [{"code": "Error.Mandatory", "property": "firstName"}]}
OF_TYPE = {"errors": [{"code": "Error.InvalidType", "property": "firstName"}]}
ROW, REFUSAL = "workflow-anonymous", {"message": ANONYMOUS}
DOCUMENT = {"document": {"title": "x"}}


def answer(status: int = 200, body: Any = None, kind: str = "application/json") -> Response:
    content = b"" if body is None else body if isinstance(body, bytes) else json.dumps(body).encode()
    return messages.response(status, content, {"content-type": kind} if content else {})


class Twins(NamedTuple):
    """An answer that keeps a check and one that does not, with what the check compares with."""

    keeps: Response
    breaks: Response
    arguments: Mapping[str, Any] = MappingProxyType({})


#: Check → its twins.
TWINS = {
    "below-500": Twins(answer(404), answer(500, {})),
    "no-secret": Twins(answer(200, {}), answer(200, {"seen": "a-secret"}), {"secret": "a-secret"}),
    "json-labelled": Twins(answer(200, {}), answer(200, {}, "text/plain")),
    "empty-or-json": Twins(answer(404), answer(404, b"nothing", "text/plain")),
    "no-content": Twins(answer(), answer(200, {})),
    "errors-array": Twins(answer(400, NAMED), answer(400, {"errors": []})),
    "error-named": Twins(
        answer(400, NAMED), answer(400, OF_TYPE), {"code": "Error.Mandatory", "field": "firstName"}
    ),
    "error-elements": Twins(answer(400, NAMED), answer(400, {"errors": [{"code": "Error.Mandatory"}]})),
    "error-codes": Twins(answer(400, NAMED), answer(400, {"errors": [{"code": "Odd", "property": "a"}]})),
    "no-errors": Twins(answer(200, {"errors": []}), answer(200, NAMED)),
    "token-given": Twins(answer(200, {"authenticationToken": "x"}), answer(200, {"authenticationToken": ""})),
    "expiration-format": Twins(
        answer(200, {"expiration": "2030-01-01T00:00:00.0Z"}),
        answer(200, {"expiration": "2030-01-01T00:00Z"}),
    ),
    "no-token": Twins(answer(401, {}), answer(401, {"authenticationToken": "x"})),
    "token-taken": Twins(answer(404, {}), answer(403, REFUSAL), {"realm": "abs-dev"}),
    "list": Twins(answer(200, []), answer(200, {"a": 1})),
    "items-at-most": Twins(answer(200, [{}]), answer(200, [{}, {}]), {"items": 1}),
    "list-without": Twins(
        answer(200, [{"a": f"{UID}x"}]), answer(200, [{"a": {"b": UID}}]), {"identifier": UID}
    ),
    "document": Twins(answer(200, {"a": {"title": "x", "more": 1}}), answer(200, {"title": "y"}), DOCUMENT),
    "metadata": Twins(answer(200, {"size": 1}), answer(200, {})),
    "gone": Twins(answer(404), answer(204)),
    "content-gone": Twins(answer(200, {}), answer(200, {"title": "x"}), DOCUMENT),
    "image": Twins(answer(200, PIXEL, "image/gif"), answer(200, b"no picture", "text/plain")),
    "same-bytes": Twins(
        answer(200, b"bytes"), answer(200, b"byteS"), {"size": 5, "digest": digest_of(b"bytes")}
    ),
    "attachment-listed": Twins(
        answer(200, [{"id": 7}]), answer(200, [{"id": 8}]), {"filename": "map.png", "numbers": [7]}
    ),
    "message": Twins(answer(403, REFUSAL), answer(401, REFUSAL), {"clause": ROW, "realm": "abs-dev"}),
    "identifier": Twins(answer(200, {"a": UID}), answer(200, {"a": f"{UID}-2"}), {"identifier": UID}),
    "any-identifier": Twins(answer(200, {"a": UID}), answer(200, {"a": "short"})),
    "record-found": Twins(answer(400, {"m": "locked"}), answer(400, {"m": UNKNOWN})),
    "identifier-in-use": Twins(answer(400, {"m": TAKEN}), answer(400, NAMED)),
    "identifier-not-in-use": Twins(answer(201, {}), answer(400, {"m": TAKEN})),
    "identifier-not-locked": Twins(answer(400, {"m": TAKEN}), answer(400, {"m": LOCKED})),
    "taken": Twins(answer(201), answer(200, NAMED)),
    "accepted": Twins(answer(201), answer(400)),
    "refused": Twins(answer(404), answer(200)),
    "turned-down": Twins(answer(200, NAMED), answer(200, {})),
    "status": Twins(answer(403), answer(401), {"status": 403}),
}


@pytest.mark.parametrize("check", TABLE.values(), ids=list(TABLE))
def test_a_check_tells_its_twins_apart(check: Check) -> None:
    """A check that is never contradicted, or never holds, would claim nothing."""
    twins = TWINS[check.id]
    clause = load_catalogue().clause(check.clauses[0] if check.clauses else ROW)
    kept, broken = (
        check.judge(clause, clause.operations[0], messages.exchange(each), twins.arguments)
        for each in (twins.keeps, twins.breaks)
    )
    assert (kept.outcome, broken.outcome) == (CheckOutcome.HELD, CheckOutcome.CONTRADICTED)
    assert (kept.check, broken.check) == (check.id, check.id)
    assert all((broken.expected, broken.seen)), "a reader understands both sides"


BASE = "http://127.0.0.1:1"
DRAFT = "/api/v2013/documents/rc-test-0001/versions/draft"
TOKEN, PASSWORD = "a-token-of-the-service", "pass-word-17"
SERVER, SECRET, LABEL = "no-server-error", "no-secret-echoed", "json-labelled-json"
CONTACT = samples.contact()
ISSUED = {"authenticationToken": "abcdefghijkl", "expiration": "tomorrow"}
SIGNING_IN = {"email": "a@b.test", "password": "correct-horse"}
SUBMISSION = "/api/v2023/documents/schemas/x/rc-test-0001"


def exchange(method: str, path: str, response: Response, body: Any = None, **headers: str) -> Exchange:
    sent = {"Realm": "abs-dev", "Authorization": f"Bearer {TOKEN}", "Accept": "application/json", **headers}
    content = body if isinstance(body, bytes) or body is None else json.dumps(body).encode()
    kept = {name: value for name, value in sent.items() if value}
    return messages.exchange(response, None, kept, content, method=method, url=BASE + path)


def judged(*parts: Any, right: bool = False, **headers: Any) -> Judgement:
    return judge(exchange(*parts, **headers), lambda text: text == TOKEN, right=right)


def found(judgement: Judgement) -> list[str]:
    return [each.clause for each in judgement.findings]


def contact(**changes: Any) -> dict[str, Any]:
    record = {**CONTACT, **changes}
    return {name: value for name, value in record.items() if value is not None}


@pytest.mark.parametrize(
    ("body", "clause"),
    [
        (contact(firstName=None), "contact-mandatory-first-name"),
        (contact(lastName=["x"]), "contact-kind-last-name"),
        (contact(country={}), "contact-country-without-identifier"),
        ({}, "contact-empty-record"),
        ([1], "contact-body-kind"),
        (b"{", "malformed-json-refused"),
    ],
)
def test_accepting_a_faulty_contact_contradicts_the_clause_of_the_fault(body: Any, clause: str) -> None:
    path = "/api/v2013/documents?schema=contact"
    taken = judged("POST", path, answer(201, {"identifier": "rc-test-0001"}), body)
    assert found(taken) == [clause]
    named = {"errors": [{"code": "Error.Mandatory", "property": "firstName"}]}
    refused = judged("POST", path, answer(400, named), body)
    assert (found(refused), clause in refused.held) == ([], True)


def test_what_may_be_right_or_have_another_cause_is_not_held_against_a_service() -> None:
    path = "/api/v2013/documents?schema=contact"
    for body in (contact(lastName=7), contact() | {"middleName": None}):
        assert found(judged("POST", path, answer(201, {}), body)) == []
    two_faults = judged("POST", path, answer(400, {"errors": []}), contact(firstName=None, lastName=None))
    assert not any(clause.startswith("contact-") for clause in two_faults.touched)


def test_a_request_without_a_token_has_to_be_refused() -> None:
    assert found(judged("GET", DRAFT, answer(200, {}), Authorization="")) == ["draft-get-needs-token"]
    assert found(judged("GET", DRAFT, answer(200, {}), Authorization="Bearer x")) == ["token-invalid-refused"]
    unknown = judge(exchange("GET", DRAFT, answer(200, {}), Authorization="Bearer x"))
    assert (found(unknown), unknown.request_faults) == ([], ())


@pytest.mark.parametrize(
    ("parts", "clause"),
    [
        (("GET", DRAFT, answer(500, {})), "no-server-error"),
        (("GET", DRAFT, answer(200, {"seen": TOKEN})), "no-secret-echoed"),
        (("GET", DRAFT, answer(200, {}, "text/plain")), "json-labelled-json"),
        (("GET", "/api/v2013/document-drafts", answer(200, {"a": 1})), "list-answers"),
        (("GET", "/api/v2013/document-drafts?%24top=1", answer(200, [{}, {}])), "list-top"),
        (("GET", "/api/v2013/documents/rc-test-01/versions/draft", answer(200, {})), "uid-too-short"),
        (("POST", samples.TOKEN, answer(200, ISSUED), SIGNING_IN), "token-expiration-format"),
        (("PUT", SUBMISSION, answer(200, {"a": "b"}), {"document": {}}), "workflow-identifier-kept"),
    ],
)
def test_an_answer_is_held_to_what_it_has_to_carry(parts: tuple[Any, ...], clause: str) -> None:
    assert clause in found(judged(*parts))


@pytest.mark.parametrize(
    ("code", "named", "right"),
    [
        ("Error.Mandatory", "document.FirstName", True),
        ("Error.MandatoryAnyOf", "firstName", True),
        ("Error.InvalidType", "firstName", False),
        ("Error.Mandatory", "firstNames", False),
    ],
)
def test_an_error_may_name_a_missing_field_in_any_letter_case_and_as_one_of_a_set(
    code: str, named: str, right: bool
) -> None:
    errors = messages.response(400, json.dumps({"errors": [{"code": code, "property": named}]}).encode())
    assert errors_array.reports(errors, "firstName", errors_array.MANDATORY) is right


def test_a_token_in_a_cookie_is_told_to_nobody_else() -> None:
    cookie = messages.response(
        200, b"{}", {"set-cookie": f"session={TOKEN}", "content-type": "application/json"}
    )
    assert "no-secret-echoed" not in found(judged("GET", DRAFT, cookie))


def test_a_right_request_that_is_refused_is_a_finding_only_where_it_is_known_to_be_right() -> None:
    refused = ("GET", "/api/v2013/document-drafts", answer(403, {}))
    assert found(judged(*refused)) == []
    assert found(judged(*refused, right=True)) == ["list-answers"]


def test_every_operation_has_a_clause_about_acceptance() -> None:
    catalogue = load_catalogue()
    operations = load_description().operations.values()
    assert all(one.id in catalogue.clause(one.clauses.right_request).operations for one in operations)


def test_bad_weather_is_an_obstacle_and_no_finding() -> None:
    spoilt = exchange("GET", DRAFT, answer(200))
    spoilt.response, spoilt.fault = None, "the connection was refused"
    seen = judge(spoilt)
    assert (seen.findings, bool(seen.obstacles)) == ((), True)
    assert spoilt.operation is None  # it is left as it was


def bearing(body: Any, token: str = TOKEN, **headers: str) -> Exchange:
    """A read with a token, which was refused."""
    return messages.exchange(
        messages.answer(body, 401, **headers), request_headers={"Authorization": f"Bearer {token}"}
    )


def signing_in(body: Any) -> Exchange:
    sent = json.dumps({"email": "a@b.c", "password": PASSWORD}).encode()
    return messages.exchange(messages.answer(body), "createToken", request_body=sent)


@pytest.mark.parametrize(
    ("clause", "seen", "verdict"),
    [
        (SERVER, messages.exchange(answer(500, {})), False),
        # A gateway's.
        (SERVER, messages.exchange(answer(503, {})), None),
        (SERVER, messages.exchange(answer(500, {}), fault="an HTML page"), None),
        (SECRET, bearing({"message": f"token {TOKEN} is bad"}), False),
        (SECRET, bearing({}, **{"x-debug": f"Bearer {TOKEN}"}), False),
        (SECRET, bearing({"other": f"{TOKEN}-and-more"}), True),
        (SECRET, bearing({"message": "of-my-own is no token"}, "of-my-own"), None),
        (SECRET, signing_in({"authenticationToken": "t"}), True),
        (SECRET, signing_in({"you": PASSWORD}), False),
        (LABEL, messages.exchange(answer(200, {}, "application/problem+json")), True),
        (LABEL, messages.exchange(answer(200, {}, "text/plain"), "getAttachment"), None),
    ],
)
def test_an_answer_keeps_a_check_breaks_it_or_is_not_judged(
    attempt: Attempt, clause: str, seen: Exchange, verdict: bool | None
) -> None:
    attempt.exchanges.append(seen)
    note_universal(attempt, {TOKEN, PASSWORD}.__contains__)
    judged = {name: True for name, _ in attempt.held} | {each.clause: False for each in attempt.evidence}
    assert judged.get(clause) is verdict


#: Body, media type, and whether it is taken for an image.
LABELLED: dict[str, tuple[bytes, str, bool]] = {
    "labelled": (RED, "image/png", True),
    "a drawing": (b"<svg xmlns='http://www.w3.org/2000/svg'/>", "image/svg+xml", True),
    "a format nobody here knows": (b"\x00\x01\x02\xff", "image/x-unknown", True),
    "called JSON": (RED, "application/json", False),
    "cut short": (RED[:-20], "image/png", False),
    "text called an image": ("aperçu à venir\r\n".encode(), "image/jpeg", False),
    "bytes of no format": (b"\x00\x01\x02\xff", "application/octet-stream", False),
}


@pytest.mark.parametrize("name", LABELLED)
def test_an_image_is_taken_for_one_and_nothing_else_is(name: str) -> None:
    body, media, taken = LABELLED[name]
    assert is_image(messages.answer(body, media=media)) is taken


FINE = [
    "2026-11-21T10:11:12.3Z",
    "2026-11-21T10:11:12,345Z",
    "20261121T101112,3+0000",
    "2026-W47-6T10:11:12.5Z",
    "2024-366T10:11:12.5Z",
    "2026-12-31T23:59:60.5Z",
]
NOT = [
    None,
    "2026-11-21T10:11:12Z",
    "2026-11-21T10:11:12.Z",
    "2026-11-21T10:11:12.345",
    "2026-11-21T10:11:12.345+02:00",
    "2026-11-21 10:11:12.345Z",
    "2026-02-30T10:11:12.345Z",
    "2026-11-21T10:11:12.345Z\n",
    "٢٠٢٦-11-21T10:11:12.345Z",
]


@pytest.mark.parametrize(
    ("value", "fine"), [*((text, True) for text in FINE), *((value, False) for value in NOT)]
)
def test_every_form_of_the_standard_is_fine_and_nothing_else(value: object, fine: bool) -> None:
    assert is_utc_with_fraction(value) is fine
