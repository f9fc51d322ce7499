"""What the checks on every exchange make of an answer, and what they leave alone."""

import json
from typing import Any

import pytest

from registry_contracts.checks.outcomes import Attempt
from registry_contracts.checks.table import note_universal
from registry_contracts.exchanges.exchange import Exchange
from tests.meta.messages import answer, exchange

TOKEN, PASSWORD = "abcdef.ghijkl-mnopqr", "pass-word-17"
SERVER, SECRET, LABEL = "no-server-error", "no-secret-echoed", "json-labelled-json"


def bearing(body: Any, token: str = TOKEN, **headers: str) -> Exchange:
    """A read with a token, which was refused."""
    return exchange(answer(body, 401, **headers), request_headers={"Authorization": f"Bearer {token}"})


def signing_in(body: Any) -> Exchange:
    sent = json.dumps({"email": "a@b.c", "password": PASSWORD}).encode()
    return exchange(answer(body), "createToken", request_body=sent)


@pytest.mark.parametrize(
    ("clause", "seen", "verdict"),
    [
        (SERVER, exchange(answer({}, 500)), False),
        # A gateway's.
        (SERVER, exchange(answer({}, 503)), None),
        (SERVER, exchange(answer({}, 500), fault="an HTML page"), None),
        (SECRET, bearing({"message": f"token {TOKEN} is bad"}), False),
        (SECRET, bearing({}, **{"x-debug": f"Bearer {TOKEN}"}), False),
        (SECRET, bearing({"other": f"{TOKEN}-and-more"}), True),
        (SECRET, bearing({"message": "of-my-own is no token"}, "of-my-own"), None),
        (SECRET, signing_in({"authenticationToken": "t"}), True),
        (SECRET, signing_in({"you": PASSWORD}), False),
        (LABEL, exchange(answer({}, media="application/problem+json")), True),
        (LABEL, exchange(answer({}, media="text/plain"), "getAttachment"), None),
    ],
)
def test_an_answer_keeps_a_check_breaks_it_or_is_not_judged(
    attempt: Attempt, clause: str, seen: Exchange, verdict: bool | None
) -> None:
    attempt.exchanges.append(seen)
    note_universal(attempt, {TOKEN, PASSWORD}.__contains__)
    judged = {name: True for name, _ in attempt.held} | {each.clause: False for each in attempt.evidence}
    assert judged.get(clause) is verdict
