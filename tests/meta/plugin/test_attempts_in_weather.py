"""Attempts that the weather spoilt: set aside, repeated, and never made into findings."""

import pytest

from contracts.checks.outcomes import Attempt, contradicted
from contracts.evidence.record import Verdict
from contracts.exchanges.exchange import Exchange
from contracts.plugin.attempts import Attempts, Ending, JudgedAttempt, is_spoilt
from tests.meta.messages import exchange, response

EVIDENCE = contradicted("draft-get-content", "getDraft", "this", "that", ("main-1",))
KEY = EVIDENCE.key


def page(status: int) -> Exchange:
    headers = {"content-type": "text/html"}
    return exchange(response(status, b"<html></html>", headers))


def attempt(*exchanges: Exchange, contradicts: bool = False, confirmed: bool = False) -> Attempt:
    made = Attempt(1, exchanges=list(exchanges))
    if contradicts:
        made.note(EVIDENCE)
    if confirmed:
        made.confirmed[KEY] = (2, 2)
    return made


LOST = exchange(fault="status 502")
REPEATED = exchange(unsettled=1)
RETRIED = exchange(retries=2)
OWN = exchange(fault="no answer within the time limit", own=True)


@pytest.mark.parametrize(
    ("made", "verdict", "spoilt"),
    [
        (attempt(RETRIED, contradicts=True), Verdict.FAIL, False),
        (attempt(LOST, contradicts=True), Verdict.FAIL, True),
        (attempt(REPEATED, contradicts=True), Verdict.FAIL, True),
        (attempt(OWN, contradicts=True), Verdict.FAIL, False),
        (attempt(LOST, contradicts=True, confirmed=True), Verdict.FAIL, False),
        (attempt(LOST), Verdict.PASS, False),
        (attempt(LOST), Verdict.INCONCLUSIVE, True),
        (attempt(REPEATED), Verdict.INCONCLUSIVE, True),
        (attempt(page(404)), Verdict.INCONCLUSIVE, True),
        (attempt(page(404), contradicts=True), Verdict.FAIL, False),
        (attempt(RETRIED), Verdict.INCONCLUSIVE, False),
        (attempt(LOST), Verdict.UNTESTED, False),
        (attempt(LOST), Verdict.FAIL, True),
        (attempt(LOST), Verdict.ERROR, True),
    ],
)
def test_weather_spoils_what_it_may_have_made(made: Attempt, verdict: Verdict, spoilt: bool) -> None:
    assert is_spoilt(made, Ending(verdict), lost=False, disturbed=False) is spoilt


def test_a_sign_in_that_was_lost_spoils_what_is_inconclusive() -> None:
    assert is_spoilt(attempt(), Ending(Verdict.INCONCLUSIVE), lost=True, disturbed=True)
    assert not is_spoilt(attempt(contradicts=True), Ending(Verdict.FAIL), lost=True, disturbed=True)


@pytest.mark.parametrize(("status", "spoilt"), [(401, True), (403, True), (404, False), (200, False)])
def test_a_token_may_have_been_forgotten_while_others_met_a_fault(status: int, spoilt: bool) -> None:
    made = attempt(exchange(response(status, b"{}")), contradicts=True)
    assert is_spoilt(made, Ending(Verdict.FAIL), lost=False, disturbed=True) is spoilt
    assert not is_spoilt(made, Ending(Verdict.FAIL), lost=False, disturbed=False)


def tries(*kinds: str) -> Attempts:
    """Tries by a letter each: s spoilt, x contradicted, o held."""
    made = Attempts()
    for kind in kinds:
        found = attempt(contradicts=kind == "x")
        verdict = {"s": Verdict.INCONCLUSIVE, "x": Verdict.FAIL, "o": Verdict.PASS}[kind]
        made.all.append(JudgedAttempt(found, [], Ending(verdict, "a reason"), spoilt=kind == "s"))
    return made


def test_what_was_only_seen_in_bad_weather_is_no_finding() -> None:
    seen = attempt(LOST, contradicts=True)
    made = Attempts([JudgedAttempt(seen, [], Ending(Verdict.FAIL, "draft-get-content: that"), spoilt=True)])
    (judged,) = made.judged
    assert judged.ending.verdict is Verdict.INCONCLUSIVE
    assert "only where the environment failed" in (judged.ending.reason or "")
    assert (seen.keys, dict(seen.contradicted)) == (set(), {})
