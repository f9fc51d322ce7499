"""Judges what passes in a thread of its own, so that no answer ever waits for it."""

from __future__ import annotations

import queue
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
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
        self._judge = ThreadPoolExecutor(1, thread_name_prefix="judge")
        # Holds whatever ends the work before its time, so that traffic passes all the same, until `close` tells it.
        self._work_done = self._judge.submit(self._work)

    def hand_over(self, passed: Passed) -> None:
        """Have an exchange judged; returns at once. Nothing is kept any more once judging broke."""
        if self._work_done.done():
            return
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
        self._judge.shutdown()
        self._feed.close()
        broke = self._work_done.exception()
        if broke is not None:
            raise SuiteError(f"judging the traffic broke: {broke!r}") from broke

    def _work(self) -> None:
        while (passed := self._queue.get()) is not _END:
            with self._lock:
                self._waiting -= _weight(passed)
            seen, recorded = self._watch.take(passed)
            self._keep(recorded, seen)
            self._feed.publish(seen)
            self._say(seen)


def _weight(passed: Passed) -> int:
    return len(passed.request_body.content) + len(passed.answer_body.content)
