"""The pace: how many requests a second, and how many at once, all processes of a run send together."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Final

from filelock import FileLock, Timeout

from contracts.exchanges.exchange import Exchange
from contracts.session.layers import Layer, Request
from contracts.session.shared_state import write_whole

#: More requests than so many are never under way together: a run has a few workers with a few threads each.
MOST_SLOTS: Final = 256
#: A slower pace is this one: clocks do not take every number.
LONGEST_INTERVAL_SECONDS: Final = 86_400.0
#: How long a session waits before it looks again for a free slot.
_POLL_SECONDS: Final = 0.005
#: The longest rest that one response can impose on all sessions; a service that asks for more gets no retry.
LONGEST_REST_SECONDS: Final = 30.0


class Pace:
    """A request rate and a number of requests under way (None for no limit), shared through the run's private folder.

    Moments are those of the monotonic clock, which the processes of one machine share and which never goes back.
    """

    def __init__(
        self, below: Layer, folder: Path, requests_per_second: float | None, concurrency: int | None
    ) -> None:
        self._below = below
        rate = requests_per_second
        self._interval = min(1.0 / rate, LONGEST_INTERVAL_SECONDS) if rate else 0.0
        self._clock = folder / "pace"
        self._rest = folder / "rest"
        self._clock_lock = FileLock(folder / "pace.lock")
        self._slots = [FileLock(folder / f"slot-{n}.lock") for n in range(min(concurrency or 0, MOST_SLOTS))]
        self.sent = 0

    def send(self, request: Request) -> Exchange:
        """Send a request when its turn has come."""
        self.sent += 1
        # The slot first: requests that waited for one after their moment had come would go out in a bunch.
        slot = self._acquire_slot()
        try:
            self.wait_for_moment()
            return self._below.send(request)
        finally:
            if slot is not None:
                slot.release()

    def rest(self, seconds: float) -> None:
        """Let no worker send anything for some seconds, because the service asked for it (Retry-After)."""
        if seconds <= 0:
            return
        until = time.monotonic() + min(seconds, LONGEST_REST_SECONDS)
        with self._clock_lock:
            if until > _moment(self._rest):
                # In one piece: it is read without the lock.
                write_whole(self._rest, repr(until).encode())

    def wait_for_moment(self) -> None:
        """Wait until a moment of this request's own, outside every rest, has come."""
        while True:
            _pause(self._next_moment() - time.monotonic())
            rest = _moment(self._rest) - time.monotonic()
            if rest <= 0:
                return
            _pause(min(rest, LONGEST_REST_SECONDS))

    def _next_moment(self) -> float:
        if not self._interval:
            return 0.0
        with self._clock_lock:
            start = max(time.monotonic(), _moment(self._clock))
            self._clock.write_text(repr(start + self._interval), encoding="utf-8")
        return start

    def _acquire_slot(self) -> FileLock | None:
        while self._slots:
            for slot in self._slots:
                try:
                    slot.acquire(blocking=False)
                except Timeout:
                    continue
                return slot
            time.sleep(_POLL_SECONDS)
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
