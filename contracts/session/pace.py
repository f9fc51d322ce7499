"""Requests per second, concurrency, and rest when the service asks for it: held by all workers of a run together."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from filelock import FileLock, Timeout

from contracts.session.budget import BudgetSpent, RequestBudget

#: How long a worker waits before it looks again for a free place.
_LOOK_AGAIN_SECONDS = 0.005
#: The longest rest that one answer can impose on everybody; a service that asks for more is not asked again at all.
LONGEST_REST_SECONDS = 30.0


class Pace:
    """A request rate and a number of requests under way, shared through files in the run's private folder.

    Moments are those of the monotonic clock, which the processes of one machine share and nobody sets back.

    Args:
        folder: Private folder that all workers of the run see.
        requests_per_second: Highest rate; None for no limit.
        concurrency: Most requests under way at once; None for no limit.
        budget: Requests that the run may send in all; None for no limit.
        on_spent: Called with the reason when the budget of the cases is spent.
    """

    def __init__(
        self,
        folder: Path,
        requests_per_second: float | None,
        concurrency: int | None,
        budget: RequestBudget | None = None,
        on_spent: Callable[[str], None] | None = None,
    ) -> None:
        self._interval = 1.0 / requests_per_second if requests_per_second else 0.0
        self._budget = budget
        self._on_spent = on_spent
        self._clock = folder / "pace"
        self._rest = folder / "rest"
        self._clock_lock = FileLock(folder / "pace.lock")
        self._places = [FileLock(folder / f"place-{n}.lock") for n in range(concurrency or 0)]

    def count(self, *, essential: bool = False) -> None:
        """Count a request against the budget before it is sent.

        Args:
            essential: It signs in, cleans, sweeps or repeats, and may use what is kept back.

        Raises:
            BudgetSpent: it would be one too many.
        """
        if self._budget is None:
            return
        try:
            self._budget.take(essential=essential)
        except BudgetSpent as spent:
            if self._on_spent and not essential:
                self._on_spent(str(spent))
            raise

    def affords(self) -> bool:
        """Count a repetition, if the budget has room for it."""
        try:
            self.count(essential=True)
        except BudgetSpent:
            return False
        return True

    def hop(self) -> bool:
        """Count a request that follows a redirect and wait for its moment; False when the budget has no room for it."""
        if not self.affords():
            return False
        self._wait_for_the_clock()
        return True

    @contextmanager
    def turn(self) -> Iterator[None]:
        """Wait for this request's turn and hold a place while it is under way."""
        # The place first: whoever waited for one after its moment had come would go out in a bunch with others.
        place = self._take_a_place()
        try:
            self._wait_for_the_clock()
            yield
        finally:
            if place is not None:
                place.release()

    def rest(self, seconds: float) -> None:
        """Let no worker send anything for some seconds, because the service asked for it (Retry-After)."""
        if seconds <= 0:
            return
        until = time.monotonic() + min(seconds, LONGEST_REST_SECONDS)
        with self._clock_lock:
            if until > _moment(self._rest):
                # In one piece: it is read without the lock.
                fresh = self._rest.with_suffix(".new")
                fresh.write_text(repr(until), encoding="utf-8")
                fresh.replace(self._rest)

    def _wait_for_the_clock(self) -> None:
        """Wait until a moment of this request's own, outside every rest, has come."""
        while True:
            _pause(min(_moment(self._rest) - time.monotonic(), LONGEST_REST_SECONDS))
            _pause(self._next_moment() - time.monotonic())
            if _moment(self._rest) <= time.monotonic():
                return

    def _next_moment(self) -> float:
        if not self._interval:
            return 0.0
        with self._clock_lock:
            start = max(time.monotonic(), _moment(self._clock))
            self._clock.write_text(repr(start + self._interval), encoding="utf-8")
        return start

    def _take_a_place(self) -> FileLock | None:
        while self._places:
            for place in self._places:
                try:
                    place.acquire(blocking=False)
                except Timeout:
                    continue
                return place
            time.sleep(_LOOK_AGAIN_SECONDS)
        return None


def _pause(seconds: float) -> None:
    if seconds > 0:
        time.sleep(seconds)


def _moment(path: Path) -> float:
    """A moment from a file; long past when there is none, or when a kill cut it short."""
    try:
        return float(path.read_text(encoding="utf-8"))
    except (FileNotFoundError, ValueError):
        return 0.0
