"""Runs of the suite in processes of their own, and work in forks of one process, each with a time limit."""

from __future__ import annotations

import os
import signal
import socket
import sys
import threading
import time
import traceback
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Final, Generic, NoReturn, TypeVar

import pytest

from registry_contracts.errors import INTERRUPTING_SIGNALS, RegistryContractsError, SuiteError, UsageError
from registry_contracts.interface.location import cases_directory
from registry_contracts.settings.embedded_sandbox import DEFAULT_SIZE_LIMIT

_RUN_INI: Final = Path(__file__).parents[1] / "plugin" / "run.ini"
#: What a fork would load otherwise, each for itself.
_FOR_FORKS: Final = tuple(
    f"registry_contracts.sandbox.{part}"
    for part in ("app", "faults.population", "odata", "serve", "variants")
)
_LOCAL: Final = "127.0.0.1"
_END_SECONDS: Final = 5.0
_LOOK_AGAIN_SECONDS: Final = 0.005
#: A fork that raised ends with this, as a broken suite does (design section 3).
_BROKEN: Final = 3


class ForkedSandbox:
    """A sandbox in a fork of this process, with a small limit for uploads whatever the profile asks for.

    Args:
        arguments: Options of `registry-contracts sandbox`.
    """

    size_limit = DEFAULT_SIZE_LIMIT

    def __init__(self, arguments: Sequence[str]) -> None:
        with socket.create_server((_LOCAL, 0), backlog=512) as listener:
            self.base_url = f"http://{_LOCAL}:{listener.getsockname()[1]}"
            self._process: int | None = fork(
                lambda: _serve(["--size-limit", str(self.size_limit), *arguments], listener)
            )

    def ask_to_end(self) -> None:
        """Tell it that nothing more is sent, and do not wait for its end."""
        if self._process is not None:
            os.kill(self._process, signal.SIGTERM)

    def stop(self) -> None:
        """End it, first politely, then for good; a second call does nothing."""
        process, self._process = self._process, None
        if process is None:
            return
        os.kill(process, signal.SIGTERM)
        deadline = time.monotonic() + _END_SECONDS
        while os.waitpid(process, os.WNOHANG) == (0, 0):
            if time.monotonic() > deadline:
                os.kill(process, signal.SIGKILL)
                os.waitpid(process, 0)
                return
            time.sleep(_LOOK_AGAIN_SECONDS)


def preload(index: object) -> None:
    """Load the suite and the sandbox into this process, and show its cases to a pytest plugin.

    Args:
        index: Plugin that looks at the collected cases.

    Raises:
        UsageError: this system cannot fork, or the sandbox is not installed.
        SuiteError: the cases cannot be collected.
    """
    if not hasattr(os, "fork"):
        raise UsageError("a proof runs in forks, which this system has not; run it on Linux or macOS")
    try:
        for name in _FOR_FORKS:
            import_module(name)
    except ModuleNotFoundError as error:
        raise UsageError(f"a proof needs {error.name}: pip install 'registry-contracts[sandbox]'") from error
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


def fork(work: Callable[[], int]) -> int:
    """Do a piece of work in a fork of this process; its result is the fork's exit code.

    Returns:
        The fork's process number.
    """
    process = os.fork()
    return process or _done(work)


def _done(work: Callable[[], int]) -> NoReturn:
    code = _BROKEN
    try:
        code = work()
    except RegistryContractsError as error:
        sys.stderr.write(f"{error}\n")
    except Exception:  # noqa: BLE001 - the process ends here, and no other place would report why
        traceback.print_exc()
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        # Past the exit handlers, which belong to the process it was forked from.
        os._exit(code)


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
    words = [f"--rootdir={cases_directory()}", "-c", str(_RUN_INI), "-p", "registry_contracts.plugin"]
    return [*words, "-p", "no:cacheprovider"]


def _serve(arguments: list[str], listener: socket.socket) -> int:
    from registry_contracts.sandbox.serve import serve_on  # noqa: PLC0415 - an optional extra

    # What it tells people of its address and its accounts is no part of the output of who forked it.
    with Path(os.devnull).open("wb") as nowhere:
        os.dup2(nowhere.fileno(), 1)
    with suppress(KeyboardInterrupt):
        return serve_on(arguments, listener)
    return 0


_JOB_POLL_SECONDS: Final = 0.01
T = TypeVar("T")


@dataclass(frozen=True)
class Ended(Generic[T]):
    """A piece of work that ended.

    Attributes:
        code: Exit code of its process; negative for a signal.
        late: It was ended for taking too long.
    """

    task: T
    process: int
    code: int
    seconds: float
    late: bool


class SideBySide(Generic[T]):
    """A queue of tasks, worked off by forks of this process, which end with it however it ends.

    Args:
        work: Does one task in a fork; returns the fork's exit code.
        jobs: How many at once.
        longest: Seconds that one may take.
    """

    def __init__(self, work: Callable[[T], int], jobs: int, longest: float) -> None:
        self._work = work
        self._jobs = jobs
        self._longest = longest
        self._waiting: deque[T] = deque()
        self._running: dict[int, tuple[T, float]] = {}
        # The end of this pipe is the end of this process, however it ends: no fork keeps the end that writes.
        self._alive, self._held = os.pipe()

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
                while self._waiting and len(self._running) < self._jobs:
                    self._start(self._waiting.popleft())
                yield from self._ended()
                time.sleep(_JOB_POLL_SECONDS)
        finally:
            # A second signal would leave forks that nothing ends.
            with _signals_held():
                for process in self._running:
                    _kill(process)
                    os.waitpid(process, 0)
                self._running.clear()
            os.close(self._held)
            os.close(self._alive)

    def _start(self, task: T) -> None:
        def work() -> int:
            # A group of its own: it can be ended with all it started, and Ctrl-C reaches the parent alone.
            os.setpgid(0, 0)
            os.close(self._held)
            threading.Thread(target=_end_with, args=(self._alive,), daemon=True).start()
            signal.pthread_sigmask(signal.SIG_UNBLOCK, INTERRUPTING_SIGNALS)
            return self._work(task)

        # An interruption between the fork and its entry would leave a fork that nothing ends.
        with _signals_held():
            process = fork(work)
            # Here too: the parent may end the group before the fork has come to its own call.
            with suppress(ProcessLookupError, PermissionError):
                os.setpgid(process, process)
            self._running[process] = (task, time.monotonic())

    def _ended(self) -> Iterator[Ended[T]]:
        for process, (task, started) in list(self._running.items()):
            seconds = time.monotonic() - started
            late = seconds > self._longest
            if late:
                _kill(process)
            ended, status = os.waitpid(process, 0 if late else os.WNOHANG)
            if ended:
                # What it started and left, when it broke.
                _kill(process)
                del self._running[process]
                yield Ended(task, process, os.waitstatus_to_exitcode(status), seconds, late)


def _end_with(pipe: int) -> None:
    """End this process group with the process that holds the other end of a pipe."""
    os.read(pipe, 1)
    os.killpg(0, signal.SIGKILL)


@contextmanager
def _signals_held() -> Iterator[None]:
    """Hold interrupting signals back for as long as the `with` block lasts."""
    signal.pthread_sigmask(signal.SIG_BLOCK, INTERRUPTING_SIGNALS)
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_UNBLOCK, INTERRUPTING_SIGNALS)


def _kill(process: int) -> None:
    with suppress(ProcessLookupError):
        os.killpg(process, signal.SIGKILL)
