"""Judges what passes in a thread of its own, so that no answer ever waits for it."""

from __future__ import annotations

import queue
import threading
from collections.abc import Callable
from dataclasses import replace
from typing import Final

from contracts.errors import SuiteError
from contracts.evidence.record import RecordedExchange
from contracts.traffic.feed import Feed, Seen
from contracts.traffic.passed import UNKNOWN, Passed
from contracts.traffic.watching import Watch

#: Bytes of bodies that may wait to be judged; what comes on top is judged without its bodies.
_WAITING: Final = 24 * 1024 * 1024
_END: Final = None


class Beside:
    """Takes exchanges from the path of the traffic, and judges them one after another.

    Args:
        watch: Judges; used by the thread only, until it is closed.
        feed: Is told of each exchange.
        keep: Called for each exchange, without secrets, in the thread.
        say: Called for each exchange after that, in the thread.
    """

    def __init__(
        self,
        watch: Watch,
        feed: Feed,
        keep: Callable[[RecordedExchange, Seen], None],
        say: Callable[[Seen], None],
    ) -> None:
        self._watch = watch
        self._feed = feed
        self._keep = keep
        self._say = say
        self._queue: queue.SimpleQueue[Passed | None] = queue.SimpleQueue()
        self._lock = threading.Lock()
        self._waiting = 0
        self._failed: BaseException | None = None
        self._thread = threading.Thread(target=self._work, name="judge", daemon=True)
        self._thread.start()

    def hand_over(self, passed: Passed) -> None:
        """Have an exchange judged; returns at once."""
        weight = _weight(passed)
        with self._lock:
            if self._waiting + weight > _WAITING:
                passed = replace(
                    passed,
                    request_body=UNKNOWN if passed.request_body.content else passed.request_body,
                    answer_body=UNKNOWN if passed.answer_body.content else passed.answer_body,
                )
                weight = 0
            self._waiting += weight
        self._queue.put(passed)

    def close(self) -> None:
        """Judge what still waits, and end.

        Raises:
            SuiteError: judging broke.
        """
        self._queue.put(_END)
        self._thread.join()
        self._feed.close()
        if self._failed is not None:
            raise SuiteError(f"judging the traffic broke: {self._failed!r}") from self._failed

    def _work(self) -> None:
        while (passed := self._queue.get()) is not _END:
            with self._lock:
                self._waiting -= _weight(passed)
            if self._failed is None:
                self._take(passed)

    def _take(self, passed: Passed) -> None:
        try:
            seen, recorded = self._watch.take(passed)
            self._keep(recorded, seen)
            self._feed.publish(seen)
            self._say(seen)
        except Exception as error:  # noqa: BLE001 - told at the end; traffic must pass all the same
            self._failed = error


def _weight(passed: Passed) -> int:
    return len(passed.request_body.content) + len(passed.answer_body.content)
