"""The checks on every exchange, each with an answer that keeps it and one that does not."""

import json
from typing import Any

import pytest

from contracts.checks.outcomes import Attempt
from contracts.checks.table import note_universal
from tests.meta.messages import answer, exchange

TOKEN = "abcdef.ghijkl-mnopqr"
BEARER: dict[str, Any] = {"request_headers": {"Authorization": f"Bearer {TOKEN}"}}
PASSWORD = "pass-word-17"
SIGNING_IN: dict[str, Any] = {"request_body": json.dumps({"email": "a@b.c", "password": PASSWORD}).encode()}
SECRETS = frozenset({TOKEN, PASSWORD})


def judged(attempt: Attempt, *exchanges: Any) -> dict[str, bool]:
    attempt.exchanges.extend(exchanges)
    note_universal(attempt, SECRETS.__contains__)
    held = dict.fromkeys((clause for clause, _ in attempt.held), True)
    return held | {each.clause: False for each in attempt.evidence}


@pytest.mark.parametrize(
    ("status", "verdict"),
    [(200, True), (404, True), (500, False), (501, None), (505, False), (429, None), (503, None)],
)
def test_server_errors_are_found_but_not_a_gateways(
    attempt: Attempt, status: int, verdict: bool | None
) -> None:
    assert judged(attempt, exchange(answer({}, status))).get("no-server-error") is verdict


@pytest.mark.parametrize(
    ("body", "headers", "verdict"),
    [
        ({"message": "no"}, {}, True),
        ({"message": f"token {TOKEN} is bad"}, {}, False),
        ({}, {"x-debug": f"Bearer {TOKEN}"}, False),
        (f"<p>{TOKEN}</p>".encode(), {}, False),
        ({"other": f"{TOKEN}-and-more"}, {}, True),
    ],
)
def test_an_echoed_token_is_found(
    attempt: Attempt, body: Any, headers: dict[str, str], verdict: bool
) -> None:
    found = judged(attempt, exchange(answer(body, 401, **headers), **BEARER))
    assert found["no-secret-echoed"] is verdict


@pytest.mark.parametrize(
    ("body", "verdict"), [({"authenticationToken": "t"}, True), ({"you": PASSWORD}, False)]
)
def test_an_echoed_password_is_found(attempt: Attempt, body: Any, verdict: bool) -> None:
    found = judged(attempt, exchange(answer(body), "createToken", **SIGNING_IN))
    assert found["no-secret-echoed"] is verdict


def test_a_made_up_token_may_be_quoted(attempt: Attempt) -> None:
    made_up: dict[str, Any] = {"request_headers": {"Authorization": "Bearer rc-never-issued-0123456789"}}
    quoting = exchange(answer({"message": "rc-never-issued-0123456789 is no token"}, 403), **made_up)
    assert "no-secret-echoed" not in judged(attempt, quoting)


@pytest.mark.parametrize(
    ("body", "media", "verdict"),
    [
        ({}, "application/json; charset=utf-8", True),
        ({}, "application/problem+json", True),
        ({}, "text/plain", False),
        (b"no json", "text/plain", None),
        (None, "text/plain", None),
    ],
)
def test_json_under_another_label_is_found(
    attempt: Attempt, body: Any, media: str, verdict: bool | None
) -> None:
    found = judged(attempt, exchange(answer(body, 200, media)))
    assert found.get("json-labelled-json") is verdict


def test_the_bytes_of_a_file_may_have_any_label(attempt: Attempt) -> None:
    found = judged(attempt, exchange(answer({}, 200, "text/plain"), "getAttachment"))
    assert "json-labelled-json" not in found


def test_what_the_environment_did_is_not_judged(attempt: Attempt) -> None:
    spoilt = exchange(answer({}, 500), **BEARER)
    spoilt.fault = "an HTML page"
    assert judged(attempt, spoilt, exchange(None), exchange(answer({}, 500), None)) == {}
