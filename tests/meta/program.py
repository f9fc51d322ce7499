"""`registry-contracts` run by a test: in this process as a rule, in one of its own where the test is about that."""

import gc
import io
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import chdir, contextmanager, redirect_stderr, redirect_stdout
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple, TypeVar
from unittest import mock

import pytest

from registry_contracts.cli import main
from registry_contracts.errors import INTERRUPTING_SIGNALS
from registry_contracts.interface.location import PROGRAM
from tests.meta.samples import account_variables

Found = TypeVar("Found")
CHECKOUT = Path(__file__).parents[2]
FOREIGN_VARIABLES = ("PYTEST_", "REGISTRY_", "SANDBOX_", "COLUMNS")
"""Beginnings of the variables that a run under test does not inherit."""
#: Lets a run in this process have its sandbox in a thread; spares it five rounds of the garbage collector, in which
#: pytest looks for errors that nobody was told of; and lets its plugins be there already from the run before.
IN_PROCESS = {
    "PYTEST_PLUGINS": "tests.meta.sandbox_in_thread",
    "PYTEST_ADDOPTS": "-p no:unraisableexception -W ignore::pytest.PytestAssertRewriteWarning",
}
#: Seconds that a test waits for a process, an answer or a state; only a test that fails waits so long.
PATIENCE = 300.0


def eventually(look: Callable[[], Found]) -> Found:
    """Look until the result is true, or nobody waits any longer; return the last result."""
    end = time.monotonic() + PATIENCE
    while not (result := look()) and time.monotonic() < end:
        time.sleep(0.02)
    return result


class Ended(NamedTuple):
    """A command that is over: its exit code and what it wrote."""

    code: int
    out: str
    err: str

    @property
    def last(self) -> str:
        return self.out.strip().splitlines()[-1]

    @property
    def output(self) -> str:
        return self.out + self.err


RunCommand = Callable[..., Ended]
#: What a terminal would obey or reorder; ends of lines and colours aside.
_OBEYED = re.compile(
    "[\x00-\x08\x0b-\x1a\x1c-\x1f\x7f-\x9f\u200e\u200f\u2028-\u202e\u2066-\u2069]|\x1b(?!\\[[0-9;]*m)"
)


def assert_safe(ended: Ended) -> None:
    """Nothing that a command wrote is obeyed by a terminal or the log of a job, or forges a line of ours."""
    assert not _OBEYED.search(ended.output), ended
    assert not re.search(r"^\s*(::error|verdict: forged|##\[)", ended.output, re.MULTILINE), ended


def clean_environment(**more: str) -> dict[str, str]:
    """Return the variables of this process but those that settle a run, with others added."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith(FOREIGN_VARIABLES)}
    return {**kept, **more}


def finished(words: Sequence[object], folder: Path, environment: Mapping[str, str], **how: Any) -> Ended:
    """Run a command in a process of its own to its end; it may not end in a traceback."""
    usual = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "timeout": PATIENCE}
    command = [str(word) for word in words]
    done = subprocess.run(command, cwd=folder, env=environment, check=False, encoding="utf-8", **usual | how)
    ended = Ended(done.returncode, done.stdout or "", done.stderr)
    assert "Traceback" not in ended.output, ended.output
    return ended


def in_this_process(call: Callable[[], object], folder: Path, environment: Mapping[str, str]) -> Ended:
    """Call what returns an exit code or exits with it, in a folder, with no other variables than these.

    What it changed in this process is taken back.
    """
    handlers = {number: signal.getsignal(number) for number in INTERRUPTING_SIGNALS}
    out, err = (io.TextIOWrapper(io.BytesIO(), "utf-8", write_through=True) for _ in range(2))
    with (
        chdir(folder),
        mock.patch.dict(os.environ, environment, clear=True),
        mock.patch.object(tempfile, "tempdir", None),
        warnings.catch_warnings(),
        redirect_stdout(out),
        redirect_stderr(err),
    ):
        warnings.simplefilter("default")  # they fail tests, not the runs under test
        try:
            code = call()
        except SystemExit as ended:
            code = ended.code
        finally:
            for number, handler in handlers.items():
                signal.signal(number, handler)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ResourceWarning)
        gc.collect()  # what a process leaves to its end is no fault of the test that comes next
    written = (stream.buffer.getvalue().decode() for stream in (out, err))
    return Ended(int(str(code or 0)), *written)


def in_process(monkeypatch: pytest.MonkeyPatch, main: Callable[[], None] = main) -> RunCommand:
    """Return a runner of the program, or of another one, in this process, with its folder and variables."""

    def run(*words: Any) -> Ended:
        monkeypatch.setattr(sys, "argv", ["registry-contracts", *map(str, words)])
        return in_this_process(main, Path.cwd(), os.environ.copy())

    return run


@dataclass
class Program:
    """Runs `registry-contracts` in a folder of its own, with no variable of the user's, as a person would."""

    folder: Path
    environment: dict[str, str] = field(default_factory=dict)

    def __call__(self, *words: str) -> Ended:
        environment = clean_environment(**{**IN_PROCESS, **self.environment})
        with mock.patch.object(sys, "argv", ["registry-contracts", *words]):
            ended = in_this_process(main, self.folder, environment)
        assert "Traceback" not in ended.output, ended.output
        return ended


class Process:
    """A command in a process and a session of its own, which writes its output to `out` and its errors beside it."""

    def __init__(self, words: Sequence[str], folder: Path, environment: Mapping[str, str], out: Path) -> None:
        self._files = out, out.with_suffix(".err")
        with self._files[0].open("wb") as told, self._files[1].open("wb") as complained:
            streams: Any = {"stdin": subprocess.DEVNULL, "stdout": told, "stderr": complained}
            self._process = subprocess.Popen(
                words, cwd=folder, env=environment, start_new_session=True, **streams
            )
        self.pid, self.poll = self._process.pid, self._process.poll
        self.send_signal = self._process.send_signal

    def told(self, pattern: str) -> re.Match[str]:
        """Wait until it has written a line, and return what a pattern finds in it."""

        def written() -> re.Match[str] | None:
            return re.search(pattern, self._files[0].read_text("utf-8"), re.MULTILINE)

        eventually(lambda: written() or self.poll() is not None)
        found = written()
        assert found, self.communicate()
        return found

    def communicate(self) -> Ended:
        """Wait for the end; return the exit code and what was written."""
        return Ended(self._process.wait(PATIENCE), *(path.read_text("utf-8") for path in self._files))


@dataclass
class RunningProxy:
    """A proxy that serves at an address, and its page at another; `ended` once it is over."""

    url: str
    page: str
    ended: Ended | None = None


@contextmanager
def running_proxy(folder: Path, *words: str, how: signal.Signals = signal.SIGINT) -> Iterator[RunningProxy]:
    """Run `registry-contracts proxy` and report in a folder, and end it afterwards as a person does, by Ctrl-C."""
    given = [*PROGRAM, "proxy", "--port=0", "--page-port=0", f"--reports={folder}", *words]
    process = Process(given, folder, clean_environment(**account_variables()), folder / "proxy.out")
    try:
        ready = process.told(r"^proxy ready at (\S+?),.*\npage at (\S+)\n")
        proxy = RunningProxy(ready[1], ready[2])
        yield proxy
        process.send_signal(how)
        proxy.ended = process.communicate()
    finally:
        if process.poll() is None:
            process.send_signal(signal.SIGKILL)
            process.communicate()


def plant(root: Path) -> Path:
    """Fill a folder with a checkout that has no cases yet, and return it."""
    for name in ("contracts", "openapi"):
        # Compiled modules are copied as well; one that another worker is writing is gone a moment later.
        shutil.copytree(CHECKOUT / name, root / name, ignore=shutil.ignore_patterns("*.pyc.*"))
    for name in ("conftest.py", "pyproject.toml"):
        shutil.copy2(CHECKOUT / name, root / name)
    (root / "tests" / "contract").mkdir(parents=True)
    return root
