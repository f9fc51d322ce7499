"""The table of checks judges single exchanges; that each check holds and fails is shown by the proof."""

import json
from typing import Any

import pytest

from registry_contracts.checks.table import Judgement, judge
from registry_contracts.exchanges.exchange import Exchange, Response
from tests.meta import messages, samples


def answer(status: int = 200, body: Any = None, kind: str = "application/json") -> Response:
    content = b"" if body is None else body if isinstance(body, bytes) else json.dumps(body).encode()
    return messages.response(status, content, {"content-type": kind} if content else {})


BASE = "http://127.0.0.1:1"
DRAFT = "/api/v2013/documents/rc-test-0001/versions/draft"
TOKEN = "a-token-of-the-service"
CONTACT = samples.contact()


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
        (("GET", "/api/v2013/document-drafts?%24top=1", answer(200, [{}, {}])), "list-top"),
        (("GET", "/api/v2013/documents/rc-test-01/versions/draft", answer(200, {})), "uid-too-short"),
        (
            (
                "POST",
                "/api/v2013/authentication/token",
                answer(200, {"authenticationToken": "abcdefghijkl", "expiration": "tomorrow"}),
                {"email": "a@b.test", "password": "correct-horse"},
            ),
            "token-expiration-format",
        ),
        (
            ("PUT", "/api/v2023/documents/schemas/x/rc-test-0001", answer(200, {"a": "b"}), {"document": {}}),
            "workflow-identifier-kept",
        ),
    ],
)
def test_an_answer_is_held_to_what_it_has_to_carry(parts: tuple[Any, ...], clause: str) -> None:
    assert clause in found(judged(*parts))


def test_a_right_request_that_is_refused_is_a_finding_only_where_it_is_known_to_be_right() -> None:
    refused = ("GET", "/api/v2013/document-drafts", answer(403, {}))
    assert found(judged(*refused)) == []
    assert found(judged(*refused, right=True)) == ["list-answers"]
