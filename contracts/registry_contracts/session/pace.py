"""The pace: limits how many requests per second, and how many at once, all processes of a run send together."""

from __future__ import annotations

import threading
import time
from typing import Final

from filelock import FileLock, Timeout

from registry_contracts.exchanges.exchange import Exchange
from registry_contracts.session.pipeline import Request, Stage
from registry_contracts.session.shared_state import SharedState

#: Highest concurrency: a run has a few workers with a few threads each.
MOST_SLOTS: Final = 256
#: How often a session polls for a free slot.
_POLL_SECONDS: Final = 0.005
#: The longest rest that one response can impose on all sessions; a request that must wait longer is not retried.
LONGEST_REST_SECONDS: Final = 30.0

#: Keys in the shared state of the next free moment and of the end of a rest.
_NEXT: Final = "next moment"
_REST: Final = "rest"


class Pace:
    """A request rate and a concurrency limit (None for no limit), shared by all processes of the run.

    Moments are those of the monotonic clock, which all processes of a machine share and which never goes back.
    """

    def __init__(
        self, below: Stage, shared: SharedState, requests_per_second: float | None, concurrency: int | None
    ) -> None:
        self._below = below
        self._interval = 1.0 / requests_per_second if requests_per_second else 0.0
        self._shared = shared
        self._slots = [shared.lock(f"slot {n}") for n in range(min(concurrency or 0, MOST_SLOTS))]
        self._lock = threading.Lock()
        self.sent = 0

    def send(self, request: Request) -> Exchange:
        """Send a request when rate and concurrency allow it."""
        with self._lock:
            self.sent += 1
        # The slot comes first: requests that wait for a slot after their moment would go out all at once.
        slot = self._acquire_slot()
        try:
            self.wait_for_moment()
            return self._below.send(request)
        finally:
            if slot is not None:
                slot.release()

    def rest(self, seconds: float) -> None:
        """Let no worker send anything for some seconds, because the service asked for it (Retry-After)."""
        until = time.monotonic() + min(seconds, LONGEST_REST_SECONDS)
        if seconds > 0:
            self._shared.renewed(_REST, lambda: until, lambda kept: kept >= until)

    def wait_for_moment(self) -> None:
        """Reserve the next free moment, and wait for it and for the end of a rest."""
        while True:
            _pause(self._own_moment())
            rest = self._moment(_REST)
            if rest <= time.monotonic():
                return
            _pause(rest)

    def _own_moment(self) -> float:
        if not self._interval:
            return 0.0

        def next_one() -> float:
            return max(time.monotonic(), self._moment(_NEXT)) + self._interval

        return self._shared.renewed(_NEXT, next_one, lambda _: False) - self._interval

    def _moment(self, name: str) -> float:
        return float(self._shared.offered(name) or 0.0)

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


def _pause(until: float) -> None:
    if (left := until - time.monotonic()) > 0:
        time.sleep(left)
