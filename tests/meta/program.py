"""`registry-contracts` run by a test: in this process, or in a process and folder of its own."""

import json
import os
import re
import select
import shutil
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple, Self, TypeVar

import pytest

from contracts.cli import main
from tests.meta.samples import account_variables

Found = TypeVar("Found")
FOREIGN_VARIABLES = ("PYTEST_", "REGISTRY_", "SANDBOX_", "COLUMNS")
"""Beginnings of the variables that a run under test does not inherit."""


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
        """The last line of its output."""
        return self.out.strip().splitlines()[-1]

    @property
    def output(self) -> str:
        """Everything it wrote."""
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


CHECKOUT = Path(__file__).parents[2]
#: Seconds that one thread looks for news of its process before others may.
_TURN_SECONDS = 0.02


def plant(root: Path) -> Path:
    """Fill a folder with a checkout that has no cases yet, and return it."""
    for name in ("contracts", "openapi"):
        # Compiled modules are copied as well; one that another worker is writing is gone a moment later.
        shutil.copytree(CHECKOUT / name, root / name, ignore=shutil.ignore_patterns("*.pyc.*"))
    for name in ("conftest.py", "pyproject.toml", "registry_contracts.py"):
        shutil.copy2(CHECKOUT / name, root / name)
    (root / "tests" / "contract").mkdir(parents=True)
    return root


class Launched:
    """A process that a launcher forked; `subprocess.Popen` as far as tests need it.

    Args:
        out: Where it writes its output; its errors go beside it.
    """

    def __init__(self, launcher: "Launcher", pid: int, out: Path) -> None:
        self._launcher = launcher
        self.pid = pid
        self._out = out

    def poll(self) -> int | None:
        """Return the exit code, or None while the process goes on."""
        return self._launcher.code_of(self.pid, 0.0)

    def wait(self, timeout: float = PATIENCE) -> int:
        """Return the exit code once there is one.

        Raises:
            TimeoutError: not within so many seconds.
        """
        code = self._launcher.code_of(self.pid, timeout)
        if code is None:
            raise TimeoutError(f"process {self.pid} goes on after {timeout:g} s")
        return code

    def send_signal(self, number: int) -> None:
        """Send a signal to the process alone."""
        os.kill(self.pid, number)

    def communicate(self) -> Ended:
        """Wait for the end; return the exit code and what was written."""
        return Ended(self.wait(), *(path.read_text("utf-8") for path in outputs(self._out)))


def outputs(out: Path) -> tuple[Path, Path]:
    """Return the files of a process's output and errors."""
    return out, out.with_suffix(".err")


class Launcher:
    """Starts processes by forking one that has loaded what they import; threads may share it.

    Args:
        orders: The socket of a process of `launcher.py`.
    """

    def __init__(self, orders: socket.socket) -> None:
        self._orders = orders
        self._codes: dict[int, int] = {}
        self._turn = threading.RLock()

    @classmethod
    @contextmanager
    def started(cls, checkout: Path | None = None) -> Iterator[Self]:
        """Start the process, and end it afterwards.

        It has loaded everything when this returns, so that a test may alter the checkout from then on.

        Args:
            checkout: Whose library and cases are loaded too; otherwise they come from each command's folder.
        """
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        words = [sys.executable, str(Path(__file__).with_name("launcher.py")), str(theirs.fileno())]
        words += [str(checkout)] if checkout else []
        with subprocess.Popen(words, env=clean_environment(), pass_fds=[theirs.fileno()]), ours:
            theirs.close()
            launcher = cls(ours)
            launcher._receive(PATIENCE)
            yield launcher

    def run(
        self,
        words: Sequence[str],
        folder: Path,
        environment: Mapping[str, str],
        out: Path,
        *,
        kind: str = "program",
    ) -> Ended:
        """Run a command to its end, its embedded sandbox being a fork as well; arguments as for `start`."""
        return self.start(words, folder, environment, out, kind=kind, forks_sandbox=True).communicate()

    def start(
        self,
        words: Sequence[str],
        folder: Path,
        environment: Mapping[str, str],
        out: Path,
        *,
        kind: str = "program",
        forks_sandbox: bool = False,
    ) -> Launched:
        """Start a command in a session of its own; workers of pytest-xdist are forks of it.

        Args:
            folder: The folder it runs in.
            environment: All its variables.
            out: Where to keep what it writes; its errors go beside it.
            kind: `program` is `registry-contracts`; `pytest`, or `module` of this checkout, by its name.
            forks_sandbox: Its embedded sandbox is a fork as well, which does not outlive a Ctrl-C to the session.
        """
        order: dict[str, Any] = {"kind": kind, "forks_sandbox": forks_sandbox}
        order |= {"words": list(words), "cwd": str(folder), "env": dict(environment)}
        with ExitStack() as opened:
            files = [opened.enter_context(path.open("wb")) for path in outputs(out)]
            return self._order(order, [file.fileno() for file in files], out)

    def sandbox(self, options: Sequence[str], listener: socket.socket, out: int, folder: Path) -> Launched:
        """Start a sandbox that serves on a socket.

        Args:
            options: Of `registry-contracts sandbox`.
            out: The descriptor it writes to when it is ready.
            folder: Where its errors go.
        """
        order = {"kind": "sandbox", "words": list(options), "cwd": str(CHECKOUT), "env": dict(os.environ)}
        with (folder / "sandbox.err").open("wb") as errors:
            return self._order(order, [out, errors.fileno(), listener.fileno()], folder / "sandbox.err")

    def _order(self, order: Mapping[str, Any], descriptors: Sequence[int], out: Path) -> Launched:
        with self._turn:
            socket.send_fds(self._orders, [json.dumps(order).encode()], descriptors)
            while (process := self._receive(PATIENCE)) is None:
                pass
        return Launched(self, process, out)

    def code_of(self, process: int, timeout: float) -> int | None:
        """Return the exit code of a process, or None when it has none within so many seconds."""
        end = time.monotonic() + timeout
        while True:
            with self._turn:
                if process in self._codes:
                    return self._codes[process]
                left = end - time.monotonic()
                if select.select([self._orders], [], [], min(max(0.0, left), _TURN_SECONDS))[0]:
                    self._receive(PATIENCE)
                elif left <= 0:
                    return None
            time.sleep(0)  # other threads wait for processes of theirs

    def _receive(self, timeout: float) -> int | None:
        """Take in one message; return the process that it says was started."""
        self._orders.settimeout(timeout)
        what, process, *code = json.loads(self._orders.recv(1024))
        if what == "started":
            return int(process)
        if what == "ended":
            self._codes[process] = code[0]
        return None


@dataclass
class RunningProxy:
    """A proxy that serves at an address, and its page at another; `ended` once it is over."""

    url: str
    page: str
    ended: Ended | None = None


@contextmanager
def running_proxy(launcher: Launcher, folder: Path, *words: str) -> Iterator[RunningProxy]:
    """Run `registry-contracts proxy`, and end it afterwards as a person does, by Ctrl-C.

    Args:
        folder: Where it runs and reports.
        words: Its options, such as the target's address.
    """
    given = ["proxy", "--port=0", "--page-port=0", f"--reports={folder}", *words]
    out = folder / "proxy.out"
    process = launcher.start(given, folder, clean_environment(**account_variables()), out)
    try:
        proxy = RunningProxy(*_ready_at(process, out))
        yield proxy
        process.send_signal(signal.SIGINT)
        proxy.ended = process.communicate()
    finally:
        if process.poll() is None:
            process.send_signal(signal.SIGKILL)


def _ready_at(process: Launched, out: Path) -> tuple[str, str]:
    def written() -> re.Match[str] | None:
        return re.search(r"proxy ready at (\S+?),.*\npage at (\S+)\n", out.read_text("utf-8"))

    eventually(lambda: written() or process.poll() is not None)
    ready = written()
    assert ready, process.communicate()
    return ready[1], ready[2]


@dataclass
class Program:
    """Runs `registry-contracts` in a process and a folder of its own, as a person would."""

    folder: Path
    launcher: Launcher
    environment: dict[str, str] = field(default_factory=dict)

    def __call__(self, *words: str) -> Ended:
        out = self.folder.with_name(f"{self.folder.name}.out")
        ended = self.launcher.run(words, self.folder, clean_environment(**self.environment), out)
        assert "Traceback" not in ended.out + ended.err, ended.out + ended.err
        return ended


def in_process(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], main: Callable[[], None] = main
) -> RunCommand:
    """Return a runner of the program, or of another one, in this process."""

    def run(*words: Any) -> Ended:
        monkeypatch.setattr(sys, "argv", ["registry-contracts", *map(str, words)])
        with pytest.raises(SystemExit) as ended:
            main()
        written = capsys.readouterr()
        return Ended(int(str(ended.value.code or 0)), written.out, written.err)

    return run
