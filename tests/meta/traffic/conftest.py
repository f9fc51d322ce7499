"""Clients that pass made-up traffic, and archives of it."""

import json
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import pytest

from contracts.manual.traffic_redaction import Discretion
from contracts.manual.traffic_watch import Watch
from tests.meta.traffic.telling import Client


@pytest.fixture
def client() -> Client:
    """A client of a service that others use too."""
    return Client(Watch(Discretion()))


@pytest.fixture
def alone() -> Client:
    """A client of a service that nobody else writes to."""
    return Client(Watch(Discretion(), alone=True))


@pytest.fixture
def archive(tmp_path: Path) -> Callable[[Iterable[dict[str, Any]]], Path]:
    """Writes entries as a HAR and returns its path."""

    def write(entries: Iterable[dict[str, Any]]) -> Path:
        path = tmp_path / "traffic.har"
        path.write_text(json.dumps({"log": {"version": "1.2", "entries": list(entries)}}), "utf-8")
        return path

    return write
