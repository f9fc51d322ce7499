"""Sandboxes that all these tests share, a faithful one and a broken one, and clients whose traffic is made up."""

import json
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from registry_contracts.exchanges.redaction import TrafficRedactor
from registry_contracts.traffic.judge import Judge
from registry_contracts.traffic.report import TrafficReport
from tests.meta.manual.sample_traffic import Client
from tests.meta.program import RunCommand
from tests.meta.samples import account_variables
from tests.meta.sandbox_client import sandbox, settings_of

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


@pytest.fixture
def client() -> Client:
    """A client of a service that others use too."""
    return Client(Judge(TrafficReport(), TrafficRedactor()))


@pytest.fixture
def alone() -> Client:
    """A client that alone writes to its service."""
    return Client(Judge(TrafficReport(alone=True), TrafficRedactor()))


@pytest.fixture
def archive(tmp_path: Path) -> Callable[[Iterable[dict[str, Any]]], Path]:
    """Writes entries as a HAR and returns its path."""

    def write(entries: Iterable[dict[str, Any]]) -> Path:
        path = tmp_path / "traffic.har"
        path.write_text(json.dumps({"log": {"version": "1.2", "entries": list(entries)}}), "utf-8")
        return path

    return write
