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
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple, Self, TypeVar
from xmlrpc.client import ServerProxy

import pytest

from registry_contracts.cli import main
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
_PLANTED = Path(__file__).with_name("plugin") / "planted"


def plant(root: Path) -> Path:
    """Fill a folder with a checkout that has no cases yet, and return it."""
    for name in ("contracts", "openapi"):
        # Compiled modules are copied as well; one that another worker is writing is gone a moment later.
        shutil.copytree(CHECKOUT / name, root / name, ignore=shutil.ignore_patterns("*.pyc.*"))
    for name in ("conftest.py", "pyproject.toml"):
        shutil.copy2(CHECKOUT / name, root / name)
    (root / "tests" / "contract").mkdir(parents=True)
    return root


def planted_checkout(root: Path) -> Path:
    """Fill a folder with a checkout that has planted cases and plugins, and return it."""
    cases = plant(root) / "tests" / "contract"
    shutil.copy2(CHECKOUT / "tests" / "contract" / "property" / "test_generated_faults.py", cases)
    for path in _PLANTED.glob("*.py"):
        shutil.copy2(path, cases / "test_planted.py" if path.name == "cases.py" else root)
    return root


class Launched:
    """A process that a launcher forked; `subprocess.Popen` as far as tests need it.

    Args:
        forks: Where the launcher takes orders.
        out: Where it writes its output; its errors go beside it.
    """

    def __init__(self, forks: str, pid: int, out: Path) -> None:
        self._forks, self.pid, self._out = forks, pid, out
        self._ended = os.pidfd_open(pid)
        self._code: int | None = None

    def poll(self) -> int | None:
        """Return the exit code, or None while the process goes on."""
        with suppress(TimeoutError):
            return self.wait(0.0)
        return None

    def wait(self, timeout: float = PATIENCE) -> int:
        """Return the exit code once there is one.

        Raises:
            TimeoutError: not within so many seconds.
        """
        if self._code is None:
            if not select.select([self._ended], [], [], timeout)[0]:
                raise TimeoutError
            self._code = int(str(ServerProxy(self._forks).code(self.pid)))
            os.close(self._ended)
        return self._code

    def told(self, pattern: str) -> re.Match[str]:
        """Wait until it has written a line, and return what a pattern finds in it."""

        def written() -> re.Match[str] | None:
            return re.search(
                pattern, self._out.read_text("utf-8") if self._out.exists() else "", re.MULTILINE
            )

        eventually(lambda: written() or self.poll() is not None)
        found = written()
        assert found, self.communicate()
        return found

    def send_signal(self, number: int) -> None:
        """Send a signal to the process alone."""
        os.kill(self.pid, number)

    def communicate(self) -> Ended:
        """Wait for the end; return the exit code and what was written."""
        return Ended(self.wait(), self._out.read_text("utf-8"), Path(f"{self._out}.err").read_text("utf-8"))


@dataclass
class Launcher:
    """Starts processes by forking one that has loaded what they import; threads may share it."""

    address: str

    @classmethod
    @contextmanager
    def started(cls, checkout: Path) -> Iterator[Self]:
        """Start the process, and end it afterwards.

        Args:
            checkout: Whose library and cases are loaded.
        """
        with socket.create_server(("127.0.0.1", 0)) as orders:
            script, number = Path(__file__).with_name("launcher.py"), orders.fileno()
            words = [sys.executable, str(script), str(number), str(checkout)]
            with subprocess.Popen(words, env=clean_environment(), pass_fds=[number]) as process:
                try:
                    yield cls(f"http://127.0.0.1:{orders.getsockname()[1]}")
                finally:
                    process.terminate()

    def run(
        self,
        words: Sequence[str],
        folder: Path,
        environment: Mapping[str, str],
        out: Path,
        kind: str = "program",
    ) -> Ended:
        """Run a command to its end, its embedded sandbox being a fork as well; arguments as for `start`."""
        return self.start(words, folder, environment, out, kind, forks_sandbox=True).communicate()

    def start(
        self,
        words: Sequence[str],
        folder: Path,
        environment: Mapping[str, str],
        out: Path,
        kind: str = "program",
        *,
        forks_sandbox: bool = False,
    ) -> Launched:
        """Start a command in a session of its own.

        Args:
            folder: The folder it runs in.
            environment: All its variables.
            out: Where to keep what it writes; its errors go beside it.
            kind: `program` is `registry-contracts`; `pytest`, or `sandbox`.
            forks_sandbox: Its embedded sandbox is a fork as well, which does not outlive a Ctrl-C to the session.
        """
        order = {"kind": kind, "forks_sandbox": forks_sandbox, "words": list(words)}
        text = json.dumps({**order, "cwd": str(folder), "env": dict(environment), "out": str(out)})
        return Launched(self.address, int(str(ServerProxy(self.address).start(text))), out)


@dataclass
class RunningProxy:
    """A proxy that serves at an address, and its page at another; `ended` once it is over."""

    url: str
    page: str
    ended: Ended | None = None


@contextmanager
def running_proxy(
    launcher: Launcher, folder: Path, *words: str, how: signal.Signals = signal.SIGINT
) -> Iterator[RunningProxy]:
    """Run `registry-contracts proxy`, and end it afterwards as a person does, by Ctrl-C.

    Args:
        folder: Where it runs and reports.
        words: Its options, such as the target's address.
        how: The signal that ends it.
    """
    given = ["proxy", "--port=0", "--page-port=0", f"--reports={folder}", *words]
    process = launcher.start(given, folder, clean_environment(**account_variables()), folder / "proxy.out")
    try:
        ready = process.told(r"^proxy ready at (\S+?),.*\npage at (\S+)\n")
        proxy = RunningProxy(ready[1], ready[2])
        yield proxy
        process.send_signal(how)
        proxy.ended = process.communicate()
    finally:
        if process.poll() is None:
            process.send_signal(signal.SIGKILL)


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
