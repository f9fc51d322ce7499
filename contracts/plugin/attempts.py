"""The attempts at one case: repeated where the environment disturbed one, and until a contradiction is confirmed."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import takewhile
from typing import Final

import pytest
from _pytest.runner import runtestprotocol

from contracts.cases.world import disturbed
from contracts.checks.outcomes import MOST_REPLAYS, MOST_REQUESTS, Attempt
from contracts.checks.table import note_universal
from contracts.evidence.record import Verdict
from contracts.interface.catalogue import Level
from contracts.plugin.case import Ending, case_of
from contracts.plugin.worker import Worker

#: Key of the case's verdict among a report's user properties.
VERDICT_PROPERTY = "contract"
#: Attempts that the environment may spoil before a case stays inconclusive.
MOST_SPOILT = 5
_SPOILABLE: Final = (Verdict.INCONCLUSIVE, Verdict.ERROR)


@dataclass
class Try:
    """One attempt with its reports, and how it has ended so far.

    Attributes:
        spoilt: The environment stood in the way, or may have caused what was seen; nothing in it is a finding.
    """

    attempt: Attempt
    reports: list[pytest.TestReport] = field(default_factory=list)
    ending: Ending = field(default_factory=lambda: Ending(Verdict.PASS))
    spoilt: bool = False


#: The attempt under way, on the item's stash.
TRY = pytest.StashKey[Try]()


def attempts_at(item: pytest.Item, nextitem: pytest.Item | None, worker: Worker) -> list[Try]:
    """Run a case until it is judged, or its attempts are used up; all of them, in order."""
    tries: list[Try] = []
    while True:
        clear = [tried.attempt for tried in tries if not tried.spoilt]
        spoilt_in_a_row = len(list(takewhile(lambda tried: tried.spoilt, reversed(tries))))
        judged = bool(clear) and not _needs_replay(clear)
        if judged or len(tries) - len(clear) > MOST_SPOILT or (tries and worker.breaker.open):
            return tries
        if tries:
            worker.breaker.pause(spoilt_in_a_row)
        contradicted = {clause for attempt in clear for clause, _ in attempt.keys}
        about = map(worker.catalogue.clause, contradicted or case_of(item).clauses)
        must = any(clause.level is Level.MUST for clause in about)
        # What a case is planned to create it creates, whatever it claims; a replay of it is in no plan.
        planned = not contradicted and bool(case_of(item).records)
        attempt = Attempt(len(tries) + 1, replay=bool(contradicted), advisory=not must and not planned)
        tries.append(_run_attempt(item, nextitem, worker, attempt))


def judged_by(tries: Sequence[Try]) -> list[Try]:
    """Attempts that a case is judged by: the clear ones, or else the last, which says what went wrong."""
    return [tried for tried in tries if not tried.spoilt] or [_in_failing_environment(tries[-1])]


def _run_attempt(item: pytest.Item, nextitem: pytest.Item | None, worker: Worker, attempt: Attempt) -> Try:
    """Run the item once, and judge its exchanges by the universal checks."""
    item.stash[TRY] = tried = Try(attempt)
    # Also on the reports of subtests, which go out while the case runs.
    item.user_properties[:] = [(VERDICT_PROPERTY, "")]
    unanswered, began = worker.breaker.unanswered, time.time()
    tried.reports = runtestprotocol(item, log=False, nextitem=nextitem)
    note_universal(attempt, worker.redactor.knows)
    for mark in disturbed(attempt):
        worker.shared.mark(mark)
    tried.ending = _ending(tried.ending, attempt)
    lost = worker.breaker.unanswered > unanswered
    tried.spoilt = is_spoilt(attempt, tried.ending, lost=lost, disturbed=worker.breaker.fault_since(began))
    return tried


def _ending(raised: Ending, attempt: Attempt) -> Ending:
    """The attempt's verdict: what was raised, or what its assertions amount to."""
    if raised.verdict is not Verdict.PASS:
        return raised
    if attempt.keys - attempt.dismissed:
        return Ending(Verdict.ADVISORY)
    if attempt.held:
        return raised
    if attempt.observations:
        return Ending(Verdict.OBSERVED)
    return Ending(Verdict.ERROR, "the case ended without an assertion or an observation")


def is_spoilt(attempt: Attempt, ending: Ending, *, lost: bool, disturbed: bool) -> bool:
    """Whether the environment may have caused how an attempt ended (design 4.7).

    Args:
        lost: A request was not answered in it, be it one of the suite's own.
        disturbed: Some worker met a fault meanwhile, so that the service may have forgotten a token of the case's own.
    """
    if attempt.keys - attempt.confirmed.keys() and (attempt.clouded or (disturbed and attempt.shut_out)):
        return True
    unfinished = ending.verdict in _SPOILABLE or (ending.verdict is Verdict.FAIL and not attempt.keys)
    return unfinished and (lost or disturbed or attempt.clouded or attempt.met_a_page)


def _needs_replay(attempts: Sequence[Attempt]) -> bool:
    """Whether something contradicted in the first attempt has neither been seen again nor looked for enough."""
    open_keys = attempts[0].keys - attempts[0].confirmed.keys()
    seen_again = {key for attempt in attempts[1:] for key in attempt.keys}
    spent = sum(len(attempt.exchanges) for attempt in attempts[1:])
    return bool(open_keys - seen_again) and len(attempts) <= MOST_REPLAYS and spent < MOST_REQUESTS


def _in_failing_environment(last: Try) -> Try:
    """The last of attempts that were all spoilt, without its contradictions."""
    if last.attempt.keys - last.attempt.confirmed.keys():
        last.attempt.forget_doubtful()
        why = last.ending.reason or "see the traffic"
        words = f"contradicted only where the environment failed, which proves nothing: {why}"
        last.ending = Ending(Verdict.INCONCLUSIVE, words)
    return last
