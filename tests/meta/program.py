"""`registry-contracts` run by a test: in this process, or in a process and folder of its own."""

import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple, Self

import pytest

from contracts.cli import main

FOREIGN_VARIABLES = ("PYTEST_", "REGISTRY_", "SANDBOX_", "COLUMNS")
"""Beginnings of the variables that a run under test does not inherit."""


class Ended(NamedTuple):
    """A command that is over: its exit code and what it wrote."""

    code: int
    out: str
    err: str

    @property
    def last(self) -> str:
        """The last line of its output."""
        return self.out.strip().splitlines()[-1]


RunCommand = Callable[..., Ended]


def clean_environment(**more: str) -> dict[str, str]:
    """Return the variables of this process but those that settle a run, with others added."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith(FOREIGN_VARIABLES)}
    return {**kept, **more}


CHECKOUT = Path(__file__).parents[2]


class Launcher:
    """Starts commands by forking a process that has loaded what they import.

    Args:
        process: A process of `launcher.py`.
    """

    def __init__(self, process: "subprocess.Popen[str]") -> None:
        self._process = process

    @classmethod
    @contextmanager
    def started(cls, checkout: Path | None = None) -> Iterator[Self]:
        """Start the process, and end it afterwards.

        Args:
            checkout: Whose library and cases are loaded too; otherwise they come from each command's folder.
        """
        words = [sys.executable, str(Path(__file__).with_name("launcher.py"))]
        words += [str(checkout)] if checkout else []
        with subprocess.Popen(
            words, env=clean_environment(), stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        ) as process:
            yield cls(process)
            assert process.stdin is not None
            process.stdin.close()

    def run(
        self,
        words: Sequence[str],
        folder: Path,
        environment: Mapping[str, str],
        out: Path,
        *,
        program: bool = True,
    ) -> Ended:
        """Run a command to its end.

        Args:
            folder: The folder it runs in.
            environment: All its variables.
            out: Where to keep what it writes; its errors go beside it.
            program: `registry-contracts`; otherwise pytest.
        """
        err = out.with_suffix(".err")
        order = {"words": list(words), "program": program, "cwd": str(folder), "env": dict(environment)}
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(json.dumps({**order, "out": str(out), "err": str(err)}) + "\n")
        self._process.stdin.flush()
        code = int(self._process.stdout.readline())
        return Ended(code, out.read_text("utf-8"), err.read_text("utf-8"))


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


def in_process(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> RunCommand:
    """Return a runner of the program in this process."""

    def run(*words: Any) -> Ended:
        monkeypatch.setattr(sys, "argv", ["registry-contracts", *map(str, words)])
        with pytest.raises(SystemExit) as ended:
            main()
        written = capsys.readouterr()
        return Ended(int(str(ended.value.code or 0)), written.out, written.err)

    return run
