"""How far a run has come: cases under way and done, counts by verdict, requests, and the time that is left."""

from __future__ import annotations

import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from typing import Final

from contracts.evidence.plain import many, printable

#: Before this many cases and seconds any estimate would be a guess.
_LEAST_CASES: Final = 5
_LEAST_SECONDS: Final = 3.0
_MINUTE: Final = 60.0
_MINUTES_FROM: Final = 100.0


class Course:
    """What the controller knows of a run while its cases run.

    Args:
        requests: Gives the number of requests sent so far.
        expected_requests: How many earlier runs of the same kind have sent; None when there is none like it.
        clock: Seconds that never go back.
    """

    def __init__(
        self,
        requests: Callable[[], int] = lambda: 0,
        expected_requests: int | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.total: int | None = None
        self.done = 0
        self.counts: Counter[str] = Counter()
        self._requests = requests
        self._expected = expected_requests
        self._clock = clock
        self._began: float | None = None
        self._running: dict[str, float] = {}
        self._verdicts: dict[str, str] = {}
        # The display reads in a thread of its own.
        self._lock = threading.Lock()

    def begins(self, case: str) -> None:
        """Note that a case starts somewhere."""
        with self._lock:
            self._running[case] = now = self._clock()
            self._began = now if self._began is None else self._began

    def judged(self, case: str, verdict: str) -> None:
        """Note a case's verdict; of several reports of a case the last one speaks."""
        with self._lock:
            self._verdicts[case] = verdict

    def ends(self, case: str) -> None:
        """Note that a case is over."""
        with self._lock:
            if self._running.pop(case, None) is not None:
                self.done += 1
                self.counts[self._verdicts.pop(case, "pass")] += 1

    @property
    def seconds(self) -> float:
        """How long the cases have been running."""
        return self._clock() - self._began if self._began is not None else 0.0

    @property
    def seconds_left(self) -> float | None:
        """An estimate of what is left; None as long as there is nothing to make one from.

        Requests say more than cases, for long cases come first; they need an earlier run to compare with.
        """
        if self.done < _LEAST_CASES or self.seconds < _LEAST_SECONDS or not self.total:
            return None
        sent = self._requests()
        if self._expected and 0 < sent < self._expected:
            return self.seconds * (self._expected - sent) / sent
        return self.seconds * max(0, self.total - self.done) / self.done

    def words(self) -> str:
        """Say it in one line, what matters most first, for it may be cut at the end."""
        with self._lock:
            return " · ".join(self._parts())

    def _parts(self) -> Iterator[str]:
        yield f"{self.done:,} of {many(self.total, 'case')}" if self.total else many(self.done, "case")
        yield _span(self.seconds)
        left = self.seconds_left
        if left is not None:
            yield f"about {_span(max(1.0, left))} left"
        if self.counts:
            yield ", ".join(f"{number:,} {verdict}" for verdict, number in self.counts.most_common())
        yield many(self._requests(), "request")
        if self._running:
            yield f"now: {self._under_way()}"

    def _under_way(self) -> str:
        """The case that has been running longest, and how many others there are."""
        case, since = min(self._running.items(), key=lambda each: each[1])
        took = self._clock() - since
        others = len(self._running) - 1
        return "".join(
            [
                case_in_words(case),
                f" for {_span(took)}" if took >= _LEAST_SECONDS else "",
                f" and {many(others, 'other')}" if others else "",
            ]
        )


def case_in_words(case: str) -> str:
    """Word a node id: the name of the case, with its realm and whatever else tells it from its siblings."""
    name, bracket, parameters = case.rpartition("::")[2].partition("[")
    told = name.removeprefix("test_").replace("_", " ")
    return printable(f"{told} ({parameters.removesuffix(']')})" if bracket else told)


def _span(seconds: float) -> str:
    return f"{seconds:.0f} s" if seconds < _MINUTES_FROM else f"{seconds / _MINUTE:.0f} min"
