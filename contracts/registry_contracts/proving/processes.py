"""Forks of this process: sandboxes, runs of the suite, and a queue of tasks, each with a time limit."""

from __future__ import annotations

import os
import signal
import socket
import sys
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from multiprocessing import get_context
from multiprocessing.context import ForkProcess
from pathlib import Path
from typing import Any, Final, Generic, TypeVar

import pytest
import requests

from registry_contracts.errors import INTERRUPTING_SIGNALS, SuiteError, UsageError
from registry_contracts.interface.location import cases_directory
from registry_contracts.plugin.interruption import signals_held
from registry_contracts.plugin.run_options import RUN_SETTINGS
from registry_contracts.sandbox.faults.messages import COUNTS_PATH
from registry_contracts.settings.embedded_sandbox import DEFAULT_SIZE_LIMIT

_LOCAL: Final = "127.0.0.1"
_END_SECONDS: Final = 5.0
_FORKS: Final = get_context("fork")


class ForkedSandbox:
    """A sandbox in a fork of this process, always with a small limit for uploads.

    Args:
        arguments: Options of `registry-contracts sandbox`.
        counting: Its `counts` are read before it ends.
    """

    size_limit = DEFAULT_SIZE_LIMIT

    def __init__(self, arguments: Sequence[str], *, counting: bool = False) -> None:
        self.counts: dict[str, Any] = {}
        self._counting = counting
        with socket.create_server((_LOCAL, 0), backlog=512) as listener:
            self.base_url = f"http://{_LOCAL}:{listener.getsockname()[1]}"
            words = ["--size-limit", str(self.size_limit), *arguments]
            self._process = _FORKS.Process(target=_serve, args=(words, listener))
            self._process.start()

    def stop(self) -> None:
        """End it, by force if it does not end in time; a second call does nothing."""
        self._read_counts()
        self._process.terminate()
        self._process.join(_END_SECONDS)
        self._process.kill()
        self._process.join()

    def _read_counts(self) -> None:
        if not self._counting:
            return
        self._counting = False
        # A sandbox with a fault may not answer.
        with suppress(requests.RequestException), requests.Session() as session:
            session.trust_env = False
            self.counts = session.get(self.base_url + COUNTS_PATH, timeout=10).json()


def preload(index: object) -> None:
    """Load the suite and the sandbox into this process, and show its cases to a pytest plugin.

    Args:
        index: Plugin that looks at the collected cases.

    Raises:
        UsageError: this system cannot fork.
        SuiteError: the cases cannot be collected.
    """
    if not hasattr(os, "fork"):
        raise UsageError("a proof runs in forks, which this system has not; run it on Linux or macOS")
    # Every fork would otherwise load these itself.
    from registry_contracts.sandbox import app, odata, serve  # noqa: F401, PLC0415

    with Path(os.devnull).open("w", encoding="utf-8") as nowhere, output_to(nowhere.fileno()):
        code = pytest.main([*_words(), str(cases_directory()), "--profile=full", "--collect-only"], [index])
    if code != pytest.ExitCode.OK:
        raise SuiteError("the cases cannot be collected; 'registry-contracts run' says why")


def run_suite(arguments: Sequence[str], files: Sequence[str], plugins: Sequence[object]) -> int:
    """Run the suite in this process, a fork of one that has loaded it.

    Args:
        arguments: Options of a run in pytest's spelling.
        files: Only these files of cases; empty for all.
        plugins: Take part in the run.

    Returns:
        The run's exit code.
    """
    where = list(files) or [str(cases_directory())]
    return int(pytest.main([*_words(), *where, *arguments], list(plugins)))


@contextmanager
def output_to(descriptor: int) -> Iterator[None]:
    """Send all that is written to standard output and error into a file descriptor."""
    sys.stdout.flush()
    sys.stderr.flush()
    kept = {number: os.dup(number) for number in (1, 2)}
    try:
        for number in kept:
            os.dup2(descriptor, number)
        yield
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        for number, before in kept.items():
            os.dup2(before, number)
            os.close(before)


def _words() -> list[str]:
    words = [f"--rootdir={cases_directory()}", "-c", str(RUN_SETTINGS), "-p", "registry_contracts.plugin"]
    return [*words, "-p", "no:cacheprovider"]


def _serve(arguments: list[str], listener: socket.socket) -> None:
    from registry_contracts.sandbox.serve import serve_on  # noqa: PLC0415 - an optional extra

    # The lines about its address and accounts do not belong in the parent's output.
    with Path(os.devnull).open("wb") as nowhere:
        os.dup2(nowhere.fileno(), 1)
    with suppress(KeyboardInterrupt):
        serve_on(arguments, listener)


_JOB_POLL_SECONDS: Final = 0.01
T = TypeVar("T")


@dataclass(frozen=True)
class Ended(Generic[T]):
    """A task that ended.

    Attributes:
        code: Exit code of its process; negative for a signal.
        late: Whether it was ended because it took too long.
    """

    task: T
    code: int
    seconds: float
    late: bool


class SideBySide(Generic[T]):
    """A queue of tasks that forks of this process work off; they end whenever this process ends.

    Args:
        work: Does one task in a fork.
        jobs: How many at once.
        longest: Seconds that one may take.
    """

    def __init__(self, work: Callable[[T], object], jobs: int, longest: float) -> None:
        self._work = work
        self._jobs = jobs
        self._longest = longest
        self._waiting: deque[T] = deque()
        self._running: dict[ForkProcess, tuple[T, float]] = {}
        # Forks read this pipe: it closes when this process ends, because no fork keeps its writing end.
        self._alive, self._held = os.pipe()

    def add(self, task: T) -> None:
        """Put a task at the end of the queue; may be called while `results` is being read."""
        self._waiting.append(task)

    @property
    def left(self) -> int:
        """How many tasks wait or run."""
        return len(self._waiting) + len(self._running)

    def results(self) -> Iterator[Ended[T]]:
        """Work off the queue and yield ended tasks; leaving early ends all forks."""
        try:
            while self._waiting or self._running:
                while self._waiting and len(self._running) < self._jobs:
                    self._start(self._waiting.popleft())
                yield from self._ended()
                time.sleep(_JOB_POLL_SECONDS)
        finally:
            # A second signal here would leave forks running.
            with signals_held():
                for process in self._running:
                    _kill(process)
                    process.join()
                self._running.clear()
            os.close(self._held)
            os.close(self._alive)

    def _start(self, task: T) -> None:
        # An interruption between the fork and its entry in the table would leave it running.
        with signals_held():
            process = _FORKS.Process(target=self._do, args=(task,))
            process.start()
            # The parent sets it too, because it may end the group before the fork's own call.
            with suppress(ProcessLookupError, PermissionError):
                os.setpgid(_number(process), _number(process))
            self._running[process] = (task, time.monotonic())

    def _do(self, task: T) -> None:
        # Its own process group can be ended as a whole, and Ctrl-C reaches only the parent.
        os.setpgid(0, 0)
        os.close(self._held)
        threading.Thread(target=_end_with, args=(self._alive,), daemon=True).start()
        signal.pthread_sigmask(signal.SIG_UNBLOCK, INTERRUPTING_SIGNALS)
        self._work(task)

    def _ended(self) -> Iterator[Ended[T]]:
        for process, (task, started) in list(self._running.items()):
            seconds = time.monotonic() - started
            late = seconds > self._longest
            if late:
                _kill(process)
            process.join(None if late else 0)
            if process.exitcode is not None:
                # A broken task may have left processes behind.
                _kill(process)
                del self._running[process]
                yield Ended(task, process.exitcode, seconds, late)


def _end_with(pipe: int) -> None:
    """End this process group when the process at the other end of a pipe ends."""
    os.read(pipe, 1)
    os.killpg(0, signal.SIGKILL)


def _kill(process: ForkProcess) -> None:
    with suppress(ProcessLookupError):
        os.killpg(_number(process), signal.SIGKILL)


def _number(process: ForkProcess) -> int:
    if process.pid is None:  # never 0, which would be this process's own group
        raise SuiteError("a fork has not started")
    return process.pid
