"""The program with the sandbox's accounts, and a faithful sandbox that all these tests share."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.meta.program import RunCommand
from tests.meta.samples import account_variables
from tests.meta.sandbox_client import sandbox, settings_of
from tests.meta.traffic.conftest import archive  # noqa: F401 - a fixture that `init` needs, too


def printed(name: str, command: RunCommand, *words: object, code: int = 0) -> dict[str, Any]:
    """Run a command with --json and return what it printed."""
    ended = command(name, *words, "--json")
    assert ended.code == code, ended
    content: dict[str, Any] = json.loads(ended.out)
    assert content["exit_code"] == code
    return content


@pytest.fixture
def command(run_command: RunCommand, monkeypatch: pytest.MonkeyPatch) -> RunCommand:
    """Return a runner of the program in this process, with the sandbox's accounts in the environment."""
    for name, value in account_variables().items():
        monkeypatch.setenv(name, value)
    return run_command


@pytest.fixture(scope="session")
def faithful(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """Return the settings file of a sandbox that keeps every clause."""
    with sandbox() as url:
        yield settings_of(url, tmp_path_factory.mktemp("faithful"), "faithful")
