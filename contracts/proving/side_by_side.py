"""Work in forks, several side by side, each with a time limit; what ends is handed back as it ends."""

from __future__ import annotations

import os
import signal
import time
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from typing import Final, Generic, TypeVar

from contracts.proving.preloaded import fork

_LOOK_AGAIN_SECONDS: Final = 0.01
T = TypeVar("T")


@dataclass(frozen=True)
class Ended(Generic[T]):
    """A piece of work that ended.

    Attributes:
        code: Exit code of its process; negative for a signal.
        late: It was ended for taking too long.
    """

    task: T
    code: int
    seconds: float
    late: bool


class SideBySide(Generic[T]):
    """A queue of tasks, worked off by forks of this process.

    Args:
        work: Does one task in a fork; returns the fork's exit code.
        jobs: How many at once.
        longest: Seconds that one may take.
        idles: Whether a task mostly waits, so that it takes no place of another.
    """

    def __init__(
        self,
        work: Callable[[T], int],
        jobs: int,
        longest: float,
        idles: Callable[[T], bool] = lambda _: False,
    ) -> None:
        self._work = work
        self._jobs = jobs
        self._longest = longest
        self._idles = idles
        self._waiting: deque[T] = deque()
        self._running: dict[int, tuple[T, float]] = {}

    def add(self, task: T) -> None:
        """Put a task at the end of the queue; may be called while `results` is being read."""
        self._waiting.append(task)

    @property
    def left(self) -> int:
        """How many tasks wait or run."""
        return len(self._waiting) + len(self._running)

    def results(self) -> Iterator[Ended[T]]:
        """Work off the queue, and yield what ends; ends all forks when it is left early."""
        try:
            while self._waiting or self._running:
                while self._waiting and self._busy() < self._jobs:
                    self._start(self._waiting.popleft())
                yield from self._ended()
                time.sleep(_LOOK_AGAIN_SECONDS)
        finally:
            for process in self._running:
                _kill(process)
                os.waitpid(process, 0)
            self._running.clear()

    def _busy(self) -> int:
        return sum(not self._idles(task) for task, _ in self._running.values())

    def _start(self, task: T) -> None:
        def work() -> int:
            # A group of its own: it can be ended with all it started, and Ctrl-C reaches the parent alone.
            os.setpgid(0, 0)
            return self._work(task)

        self._running[fork(work)] = (task, time.monotonic())

    def _ended(self) -> Iterator[Ended[T]]:
        for process, (task, started) in list(self._running.items()):
            seconds = time.monotonic() - started
            late = seconds > self._longest
            if late:
                _kill(process)
            found, status = os.waitpid(process, 0 if late else os.WNOHANG)
            if found:
                del self._running[process]
                yield Ended(task, os.waitstatus_to_exitcode(status), seconds, late)


def _kill(process: int) -> None:
    with suppress(ProcessLookupError):
        os.killpg(process, signal.SIGKILL)
