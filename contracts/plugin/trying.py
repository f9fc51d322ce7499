"""Attempts at one case: again when the weather spoilt one, and on fresh data until a contradiction is confirmed."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import takewhile

import pytest
from _pytest.runner import runtestprotocol

from contracts.evidence.outcomes import Verdict
from contracts.judging import universal
from contracts.judging.attempts import Attempt
from contracts.judging.confirmation import MOST_REPLAYS, MOST_REQUESTS
from contracts.judging.disturbing import disturbed
from contracts.plugin.bookkeeping import Ending
from contracts.plugin.fixtures import ATTEMPT
from contracts.plugin.weighing import VERDICT
from contracts.plugin.worker import Worker

#: How the attempt under way has ended so far, on the item's stash.
ENDING = pytest.StashKey[Ending]()
#: Attempts that the weather may spoil before a case stays inconclusive.
MOST_SPOILT = 5
_SPOILABLE = (Verdict.INCONCLUSIVE, Verdict.ERROR)


@dataclass(frozen=True)
class Try:
    """One attempt and what came of it.

    Attributes:
        spoilt: The weather stood in the way, or may have made what was seen; nothing in it is a finding.
    """

    attempt: Attempt
    reports: list[pytest.TestReport]
    ending: Ending
    spoilt: bool


@dataclass
class Tries:
    """All attempts at one case, in order."""

    all: list[Try] = field(default_factory=list)

    @property
    def clear(self) -> list[Try]:
        """Those that count."""
        return [each for each in self.all if not each.spoilt]

    @property
    def spoilt_in_a_row(self) -> int:
        """How many attempts the weather has spoilt since the last clear one."""
        return len(list(takewhile(lambda each: each.spoilt, reversed(self.all))))

    @property
    def set_aside(self) -> list[Attempt]:
        """Attempts that the case is not judged by."""
        spoilt = [each.attempt for each in self.all if each.spoilt]
        return spoilt if self.clear else spoilt[:-1]

    @property
    def judged(self) -> list[Try]:
        """Those that the case is judged by: the clear ones, or else the last, which then says what the weather did."""
        return self.clear or [_in_bad_weather(self.all[-1])]

    @property
    def wanting(self) -> bool:
        """Whether another attempt would tell more."""
        if len(self.all) - len(self.clear) > MOST_SPOILT:
            return False
        return not self.clear or _needs_replay([each.attempt for each in self.clear])


def attempts_at(item: pytest.Item, nextitem: pytest.Item | None, worker: Worker) -> Tries:
    """Run a case as often as it takes."""
    tries = Tries()
    while True:
        tries.all.append(_try(item, nextitem, worker, len(tries.all) + 1))
        if not tries.wanting or worker.door.broken:
            return tries
        worker.door.wait_after(tries.spoilt_in_a_row)


def _try(item: pytest.Item, nextitem: pytest.Item | None, worker: Worker, number: int) -> Try:
    """Run the item once, and let the universal checks look at its exchanges."""
    attempt = Attempt(number)
    item.stash[ATTEMPT] = attempt
    item.stash[ENDING] = Ending(Verdict.PASS)
    # Also on the reports of subtests, which go out while the case runs.
    item.user_properties[:] = [(VERDICT, "")]
    unanswered, began = worker.door.unanswered, time.time()
    reports = runtestprotocol(item, log=False, nextitem=nextitem)
    universal.judge(attempt, worker.catalogue, worker.redactor.knows)
    for mark in disturbed(attempt):
        worker.shared.mark(mark)
    ending = _ending(item.stash[ENDING], attempt)
    lost = worker.door.unanswered > unanswered
    faulty = worker.door.disturbed_since(began)
    return Try(attempt, reports, ending, _spoilt(attempt, ending, lost=lost, disturbed=faulty))


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


def _spoilt(attempt: Attempt, ending: Ending, *, lost: bool, disturbed: bool) -> bool:
    """Whether the weather had a hand in how an attempt ended (design 4.7).

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


def _in_bad_weather(last: Try) -> Try:
    """The last of attempts that were all spoilt: without what it seems to have found."""
    ending = last.ending
    if last.attempt.keys - last.attempt.confirmed.keys():
        last.attempt.forget_doubtful()
        words = (
            f"contradicted in bad weather only, which proves nothing: {ending.reason or 'see the traffic'}"
        )
        ending = Ending(Verdict.INCONCLUSIVE, words)
    return Try(last.attempt, last.reports, ending, spoilt=True)
