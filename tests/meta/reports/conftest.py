"""The made-up run, as its journals have it and with all of its reports."""

from pathlib import Path

import pytest

from registry_contracts.evidence.verdicts import RunVerdict
from registry_contracts.reports.writers import write_all
from tests.meta.reports.sample_runs import CATALOGUE, IN_ENVIRONMENT, build_run, first_worker, second_worker


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("REGISTRY_PASSWORD", IN_ENVIRONMENT)
    return build_run(tmp_path / "reports" / "run", first_worker, second_worker)


@pytest.fixture
def verdict(folder: Path) -> RunVerdict:
    return write_all(folder, catalogue=CATALOGUE)


@pytest.fixture(scope="session")
def rendered(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Folder of the run with all of its reports; not to be written to."""
    run = build_run(tmp_path_factory.mktemp("rendered") / "reports" / "run", first_worker, second_worker)
    write_all(run, catalogue=CATALOGUE)
    return run
