"""Sample runs for the history and sample observations, and a folder to compare them in."""

import json
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from contracts.history.observed_facts import Facts, read_facts
from contracts.history.runs import Entry, Seen

REALMS = ("abs-dev", "bch-dev", "chm-dev")
RECORD = {
    "type": "object",
    "properties": {"identifier": {"type": "string"}, "createdOn": {"type": "string", "format": "date-time"}},
    "required": ["createdOn", "identifier"],
}


def observation(clause: str, operation: str, seen: Any, *realms: str) -> list[dict[str, Any]]:
    """One observation in each of several realms, by default in all document realms."""
    return [
        {"clause": clause, "realm": realm, "operation": operation, "seen": seen, "cases": []}
        for realm in realms or REALMS
    ]


def answer(
    clause: str, operation: str, status: int, schema: dict[str, Any] | None, *realms: str
) -> list[dict[str, Any]]:
    """One answer of JSON, or of nothing, in each of several realms."""
    shape: dict[str, Any] = {
        "types": ["application/json"] if schema else [],
        "bodies": [] if schema else ["empty"],
    }
    shape |= {"schema": schema} if schema else {}
    return [
        {"clause": clause, "realm": realm, "operation": operation, "answers": {str(status): shape}}
        for realm in realms or REALMS
    ]


def document(*observations: list[dict[str, Any]], answers: Any = (), **more: Any) -> dict[str, Any]:
    """The content of an observations.json."""
    return {
        "format": 2,
        "target": "sandbox",
        "profile": "gate",
        "started": "2026-11-21T12:00:00+00:00",
        "observations": [each for group in observations for each in group],
        "answers": [each for group in answers for each in group],
        "realm_differences": [],
        "complete": True,
        **more,
    }


def facts(*observations: list[dict[str, Any]], answers: Any = ()) -> Facts:
    """The facts of an observations.json."""
    return read_facts(document(*observations, answers=answers))


@pytest.fixture
def made() -> SimpleNamespace:
    """Makers of observations, answers, whole documents and facts, for the tests to take apart."""
    return SimpleNamespace(
        observation=observation, answer=answer, document=document, facts=facts, record=RECORD, realms=REALMS
    )


@pytest.fixture
def latest(tmp_path: Path) -> Callable[[dict[str, Any]], Path]:
    """Makes a run folder of observations, the latest one."""
    made: list[Path] = []

    def make(content: dict[str, Any]) -> Path:
        folder = tmp_path / "reports" / f"run-{len(made)}"
        folder.mkdir(parents=True)
        (folder / "observations.json").write_text(json.dumps(content), "utf-8")
        (folder.parent / "latest").unlink(missing_ok=True)
        (folder.parent / "latest").write_text(folder.name, "utf-8")
        made.append(folder)
        return folder

    return make


@pytest.fixture
def made_run() -> Callable[..., Entry]:
    """Makes the run of a day: `made(3, "fail")`; `cells` for more than one clause."""

    def make(day: int, verdict: str = "pass", **more: Any) -> Entry:
        started = f"2026-11-{day:02}T12:00:00+00:00"
        cells = more.pop("cells", {"draft-get-content": {"abs-dev": Seen(verdict, 4, 0.25)}})
        plain: dict[str, Any] = {
            "run": f"2026-11-{day:02}-sandbox",
            "target": "sandbox",
            "profile": "gate",
            "seed": 1,
            "started": started,
            "verdict": "fail" if verdict == "fail" else "pass",
            "exit_code": int(verdict == "fail"),
            "requests": 2000,
            "seconds": 30.5,
            "counts": {verdict: 1},
            "cells": cells,
        }
        return Entry(**{**plain, **more})

    return make
