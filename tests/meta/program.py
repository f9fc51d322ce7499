"""`registry-contracts` run by a test: in this process, or in a process and folder of its own."""

import os
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

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


@dataclass
class Program:
    """Runs `registry-contracts` in a process and a folder of its own, as a person would."""

    folder: Path
    environment: dict[str, str] = field(default_factory=dict)

    def __call__(self, *words: str) -> Ended:
        ended = subprocess.run(
            [sys.executable, "-c", "from contracts.cli import main; main()", *words],
            cwd=self.folder,
            env=clean_environment(**self.environment),
            capture_output=True,
            text=True,
            check=False,
            timeout=600,
        )
        assert "Traceback" not in ended.stdout + ended.stderr, ended.stdout + ended.stderr
        return Ended(ended.returncode, ended.stdout, ended.stderr)


def in_process(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> RunCommand:
    """Return a runner of the program in this process."""

    def run(*words: Any) -> Ended:
        monkeypatch.setattr(sys, "argv", ["registry-contracts", *map(str, words)])
        with pytest.raises(SystemExit) as ended:
            main()
        written = capsys.readouterr()
        return Ended(int(str(ended.value.code or 0)), written.out, written.err)

    return run
