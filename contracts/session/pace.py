"""Requests per second and concurrency, held by all workers of a run together."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from filelock import FileLock, Timeout

#: How long a worker waits before it looks again for a free place.
_LOOK_AGAIN_SECONDS = 0.005


class Pace:
    """A request rate and a number of requests under way, shared through files in the run's private folder.

    Args:
        folder: Private folder that all workers of the run see.
        requests_per_second: Highest rate; None for no limit.
        concurrency: Most requests under way at once; None for no limit.
    """

    def __init__(self, folder: Path, requests_per_second: float | None, concurrency: int | None) -> None:
        self._interval = 1.0 / requests_per_second if requests_per_second else 0.0
        self._clock = folder / "pace"
        self._clock_lock = FileLock(folder / "pace.lock")
        self._places = [FileLock(folder / f"place-{n}.lock") for n in range(concurrency or 0)]

    @contextmanager
    def turn(self) -> Iterator[None]:
        """Wait for this request's turn and hold a place while it is under way."""
        self._wait_for_the_clock()
        place = self._take_a_place()
        try:
            yield
        finally:
            if place is not None:
                place.release()

    def _wait_for_the_clock(self) -> None:
        if not self._interval:
            return
        with self._clock_lock:
            now = time.time()
            due = float(self._clock.read_text() or 0) if self._clock.exists() else 0.0
            start = max(now, due)
            self._clock.write_text(repr(start + self._interval))
        time.sleep(max(0.0, start - now))

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
