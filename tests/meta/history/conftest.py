"""Sample facts and runs for the history, and a folder to compare them in."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from registry_contracts.evidence.observations import ObservationsFile, PlaceFacts
from registry_contracts.file_formats import write_file
from registry_contracts.history.observed_facts import Facts
from registry_contracts.history.runs import Entry, Seen


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


@pytest.fixture
def made_run() -> Callable[..., Entry]:
    """Makes the run of a day: `made(3, "fail")`; `cells` for more than one clause."""

    def make(day: int, verdict: str = "pass", **more: Any) -> Entry:
        cells = more.pop("cells", {"draft-get-content": {"abs-dev": Seen(verdict, 4, 0.25)}})
        plain: dict[str, Any] = {
            "run": f"2026-11-{day:02}-sandbox",
            "target": "sandbox",
            "profile": "gate",
            "seed": 1,
            "started": f"2026-11-{day:02}T12:00:00+00:00",
            "verdict": "fail" if verdict == "fail" else "pass",
            "exit_code": int(verdict == "fail"),
            "requests": 2000,
            "seconds": 30.5,
            "counts": {verdict: 1},
            "cells": cells,
        }
        return Entry(**{**plain, **more})

    return make
