"""Fixtures over the made-up runs of `telling`."""

import json
from pathlib import Path
from types import SimpleNamespace

import pytest

from contracts.evidence.verdicts import RunVerdict
from contracts.reports.writers import write_all
from tests.meta.reports.sample_runs import (
    CATALOGUE,
    HOSTILE,
    IN_ENVIRONMENT,
    PNG,
    build_rich_run,
    build_run,
    first_worker,
    second_worker,
)


@pytest.fixture
def made_up() -> SimpleNamespace:
    """What the made-up run is made of, for the tests to compare with."""
    # The reader writes a lone surrogate as its escape, as no UTF-8 file can hold one.
    shown = HOSTILE.replace("\ud800", "\\ud800")
    return SimpleNamespace(
        catalogue=CATALOGUE,
        hostile=shown,
        json_text=json.dumps([HOSTILE]),
        png=PNG,
        in_environment=IN_ENVIRONMENT,
    )


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("REGISTRY_PASSWORD", IN_ENVIRONMENT)
    return build_run(tmp_path / "reports" / "run", {"gw0": first_worker, "gw1": second_worker})


@pytest.fixture
def rich(tmp_path: Path) -> Path:
    return build_rich_run(tmp_path / "reports" / "rich")


@pytest.fixture(scope="session")
def rendered(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Folder of the rich run with all of its reports; not to be written to."""
    run = build_rich_run(tmp_path_factory.mktemp("rendered") / "reports" / "rich")
    write_all(run, catalogue=CATALOGUE)
    return run


@pytest.fixture
def verdict(folder: Path) -> RunVerdict:
    return write_all(folder, catalogue=CATALOGUE)
