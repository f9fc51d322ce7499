"""Which case tests which clause, kept between commands: asking pytest takes seconds."""

from __future__ import annotations

import hashlib
import json
import os
import tempfile
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Final

from contracts.interface.case_listing import cases_by_clause
from contracts.interface.location import cache_directory, cases_directory

_SETTINGS: Final = Path(__file__).parents[1] / "plugin" / "run.ini"

Cases = Mapping[str, tuple[str, ...]]
"""Clause id → names of the cases that test it, file and function."""


def known_cases(folder: Path | None = None, cache: Path | None = None) -> Cases:
    """List the cases by clause, from what was kept when no case has changed since.

    Args:
        folder: Folder of the cases; by default the suite's own.
        cache: Where it is kept; by default the user's cache folder.

    Raises:
        SuiteError: the cases cannot be collected.
    """
    cases = folder or cases_directory()
    path = (cache or cache_directory()) / f"cases-{_digest(cases)}.json"
    with suppress(OSError, ValueError, AttributeError):
        kept = json.loads(path.read_text(encoding="utf-8"))
        return {clause: tuple(names) for clause, names in kept.items()}
    found = cases_by_clause(cases, _SETTINGS)
    with suppress(OSError):  # a home that cannot be written to costs the seconds each time
        _keep(path, found)
    return found


def _keep(path: Path, found: Cases) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    for stale in path.parent.glob("cases-*.json"):
        stale.unlink(missing_ok=True)
    descriptor, fresh = tempfile.mkstemp(dir=path.parent, suffix=".new")
    with os.fdopen(descriptor, "w", encoding="utf-8") as file:
        json.dump({clause: list(names) for clause, names in found.items()}, file)
    Path(fresh).replace(path)


def _digest(cases: Path) -> str:
    """Tells one state of the cases from another: names, sizes and times of their files."""
    told = hashlib.sha256(str(cases.resolve()).encode())
    for path in sorted(cases.rglob("*.py")):
        facts = path.stat()
        told.update(f"{path.relative_to(cases)} {facts.st_size} {facts.st_mtime_ns}\n".encode())
    return told.hexdigest()[:20]
