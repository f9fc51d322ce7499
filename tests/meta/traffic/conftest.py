"""Clients whose traffic is made up, and archives of it."""

import json
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import pytest

from registry_contracts.traffic.judge import Judge
from registry_contracts.traffic.redaction import TrafficRedactor
from registry_contracts.traffic.report import TrafficReport
from tests.meta.traffic.sample_traffic import Client


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
