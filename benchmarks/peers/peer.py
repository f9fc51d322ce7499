"""What the benchmark asks of a tool, and how it runs one."""

import os
import shlex
import signal
import subprocess
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from contracts.errors import RegistryContractsError

#: A tool that takes longer is stopped: many times what the slowest needs on an idle machine.
LONGEST_RUN_SECONDS = 300.0


class ToolBroke(RegistryContractsError):
    """A tool ended without a report that can be read; never counted as a kill."""


@dataclass(frozen=True)
class Measured:
    """One run of one tool against one sandbox.

    Attributes:
        failures: What it reported, one signature for each failure.
        requests: Sent to the sandbox.
        seconds: Of the tool alone, from its start to its end.
        trouble: Why there is no report, or why it is not whole; empty when all went well.

    """

    failures: frozenset[str]
    requests: int
    seconds: float
    trouble: str = ""


@dataclass(frozen=True)
class Service:
    """A sandbox as a tool is pointed at it."""

    base_url: str
    token: str
    realm: str


class Peer(Protocol):
    """A tool that judges a service by its OpenAPI file.

    Attributes:
        name: As the table shows it.
        version: The pinned one.
        configuration: In words: what it is given and told.

    """

    name: str
    version: str
    configuration: str

    def missing(self) -> str:
        """Say what has to be installed before it can run; empty when nothing is missing."""
        ...

    def prepare(self, realm: str, folder: Path) -> None:
        """Make what all runs in a realm share, such as a derived description, in a folder of its own."""
        ...

    def commands(self, service: Service, shared: Path, folder: Path) -> list[list[str]]:
        """Return the commands of one run; they run in `folder`, one after another."""
        ...

    def read(self, folder: Path) -> frozenset[str]:
        """Read the failures from the report that a run left.

        Raises:
            ToolBroke: there is no report.

        """
        ...


def run(command: Sequence[str], folder: Path, seconds: float, more: Mapping[str, str] | None = None) -> None:
    """Run one command of a tool; its exit code says nothing here.

    Args:
        command: program and options.
        folder: where it runs, and where `said.txt` keeps what it wrote.
        seconds: after so many it is stopped with all it started.
        more: variables for it.

    Raises:
        ToolBroke: it could not be started, or had to be stopped.

    """
    environment = {**os.environ, "NO_COLOR": "1", **(more or {})}
    with (folder / "said.txt").open("ab") as said:
        said.write(f"$ {shlex.join(command)}\n".encode())
        said.flush()
        try:
            process = subprocess.Popen(
                list(command),
                cwd=folder,
                env=environment,
                stdin=subprocess.DEVNULL,
                stdout=said,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )
        except OSError as error:
            raise ToolBroke(f"{command[0]} cannot be started: {error.strerror}") from error
        try:
            process.wait(seconds)
        except subprocess.TimeoutExpired:
            raise ToolBroke(f"stopped after {seconds:g} s") from None
        finally:
            _end(process)


def _end(process: subprocess.Popen[bytes]) -> None:
    """End what is left of a command: Node and Java start processes of their own."""
    if process.poll() is None:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()


def numbered(signatures: Iterable[str]) -> frozenset[str]:
    """Tell equal signatures apart by a number, so that one more of a kind is seen.

    Args:
        signatures: as they stand in a report, repeated ones included.

    Returns:
        Each once; the second of a kind ends with `#2`, and so on.

    """
    seen: Counter[str] = Counter()
    found = []
    for signature in signatures:
        seen[signature] += 1
        found.append(signature if seen[signature] == 1 else f"{signature} #{seen[signature]}")
    return frozenset(found)
