"""Run folders with facts to compare."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from registry_contracts.evidence.observations import ObservationsFile, PlaceFacts
from registry_contracts.file_formats import write_file
from registry_contracts.history.observed_facts import Facts


@pytest.fixture
def latest(tmp_path: Path) -> Callable[..., Path]:
    """Makes a run folder of facts, the latest one; other members of its observations may be given."""
    made: list[Path] = []

    def make(facts: Facts, **more: Any) -> Path:
        folder = tmp_path / "reports" / f"run-{len(made)}"
        folder.mkdir(parents=True)
        usual: dict[str, Any] = {
            "target": "sandbox",
            "profile": "gate",
            "complete": True,
            "realm_differences": (),
        }
        usual |= {"started": "2026-11-21T12:00:00+00:00"}
        observed = tuple(PlaceFacts(*place, values) for place, values in facts.items())
        content = ObservationsFile(observed=observed, **usual | more)
        write_file(folder / "observations.json", content, ObservationsFile)
        (folder.parent / "latest").unlink(missing_ok=True)
        (folder.parent / "latest").write_text(folder.name, "utf-8")
        made.append(folder)
        return folder

    return make
