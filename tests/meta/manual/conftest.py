"""Sandboxes that all these tests share, a faithful one and a broken one."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.meta.program import RunCommand
from tests.meta.samples import account_variables
from tests.meta.sandbox_client import sandbox, settings_of
from tests.meta.traffic.conftest import archive  # noqa: F401 - a fixture that `init` needs, too

#: What the broken sandbox does wrong.
FAULTS = ("uid-accepts-ten", "list-top-one-more", "contact-create-without-first-name")


@pytest.fixture
def command(run_command: RunCommand, monkeypatch: pytest.MonkeyPatch) -> RunCommand:
    """Return a runner of the program in this process, with the sandbox's accounts in the environment."""
    for name, value in account_variables().items():
        monkeypatch.setenv(name, value)
    return run_command


@contextmanager
def served(folder: Path, *options: str) -> Iterator[Path]:
    """Serve a sandbox, and give the settings file that aims at it."""
    with sandbox(*options) as url:
        yield settings_of(url, folder, folder.name)


@pytest.fixture(scope="session")
def faithful(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """Return the settings file of a sandbox that keeps every clause."""
    with served(tmp_path_factory.mktemp("faithful")) as path:
        yield path


@pytest.fixture(scope="session")
def broken(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """Return the settings file of a sandbox with `FAULTS`."""
    options = [word for name in FAULTS for word in ("--fault", name)]
    with served(tmp_path_factory.mktemp("broken"), *options) as path:
        yield path
