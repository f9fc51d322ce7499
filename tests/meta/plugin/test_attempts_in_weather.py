"""Attempts that the weather spoilt: set aside, repeated, and never made into findings."""

import pytest

from registry_contracts.checks.outcomes import Attempt, contradicted
from registry_contracts.evidence.record import Verdict
from registry_contracts.exchanges.exchange import Exchange
from registry_contracts.plugin.case import Ending
from registry_contracts.plugin.protocol import Try, is_spoilt, judged_by
from tests.meta.messages import exchange, response

EVIDENCE = contradicted("draft-get-content", "getDraft", "this", "that", ("main-1",))
LOST = exchange(fault="status 502")
BLOCKED = exchange(fault="requests like this are blocked", blocked=True)
RETRIED = exchange(retries=2)
PAGE = exchange(response(404, b"<html></html>", {"content-type": "text/html"}))
OWN = exchange(fault="no answer within the time limit", own=True)


def attempt(*exchanges: Exchange, contradicts: bool = False, confirmed: bool = False) -> Attempt:
    made = Attempt(1, exchanges=list(exchanges))
    if contradicts:
        made.note(EVIDENCE)
    if confirmed:
        made.confirmed[EVIDENCE.key] = (2, 2)
    return made


@pytest.mark.parametrize(
    ("made", "verdict", "lost", "disturbed", "spoilt"),
    [
        (attempt(RETRIED, contradicts=True), Verdict.FAIL, False, False, False),
        (attempt(LOST, contradicts=True), Verdict.FAIL, False, False, True),
        (attempt(OWN, contradicts=True), Verdict.FAIL, False, False, False),
        (attempt(LOST, contradicts=True, confirmed=True), Verdict.FAIL, False, False, False),
        (attempt(LOST), Verdict.PASS, False, False, False),
        (attempt(LOST), Verdict.INCONCLUSIVE, False, False, True),
        # It would be blocked again.
        (attempt(BLOCKED), Verdict.INCONCLUSIVE, True, True, False),
        (attempt(PAGE), Verdict.INCONCLUSIVE, False, False, True),
        (attempt(LOST), Verdict.UNTESTED, False, False, False),
        (attempt(LOST), Verdict.FAIL, False, False, True),
        # A sign-in was lost.
        (attempt(), Verdict.INCONCLUSIVE, True, True, True),
        (attempt(contradicts=True), Verdict.FAIL, True, True, False),
        # A token may have been forgotten while others met a fault.
        (attempt(exchange(response(401)), contradicts=True), Verdict.FAIL, False, True, True),
        (attempt(exchange(response(404)), contradicts=True), Verdict.FAIL, False, True, False),
        (attempt(exchange(response(401)), contradicts=True), Verdict.FAIL, False, False, False),
    ],
)
def test_when_weather_spoils(
    made: Attempt, verdict: Verdict, lost: bool, disturbed: bool, spoilt: bool
) -> None:
    assert is_spoilt(made, Ending(verdict), lost=lost, disturbed=disturbed) is spoilt


def test_what_was_only_seen_in_bad_weather_is_no_finding() -> None:
    seen = attempt(LOST, contradicts=True)
    made = Try(seen, [], Ending(Verdict.FAIL, "draft-get-content: that"), spoilt=True)
    (judged,) = judged_by([made])
    assert judged.ending.verdict is Verdict.INCONCLUSIVE
    assert "only while the environment failed" in (judged.ending.reason or "")
    assert (seen.keys, dict(seen.contradicted)) == (set(), {})
