"""One run as the history holds it, and older runs folded into one line a target."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Final

FORMAT: Final = 1
#: Verdicts that say a clause held, or was seen where it is silent.
GREEN: Final = frozenset({"pass", "observed"})
#: Verdicts that say a clause was contradicted, accepted or not.
RED: Final = frozenset({"fail", "advisory", "deviation"})


@dataclass(frozen=True, slots=True)
class Seen:
    """What one run says of a clause in a realm: verdict, and what its cases cost (requests; seconds of work)."""

    verdict: str
    requests: int
    seconds: float


Cells = Mapping[str, Mapping[str, Seen]]
"""Clause id → realm → what a run said."""


@dataclass(frozen=True, slots=True)
class Entry:
    """One run. `started` is ISO 8601 in UTC; `counts` maps verdict to number of cells."""

    run: str
    target: str
    profile: str
    seed: int | str | None
    started: str
    verdict: str
    exit_code: int
    requests: int
    seconds: float
    counts: Mapping[str, int]
    cells: Cells = field(default_factory=dict)

    def verdict_of(self, clause: str, realm: str) -> str | None:
        """Return the verdict on a clause in a realm, or None when the run did not judge it."""
        seen = self.cells.get(clause, {}).get(realm)
        return seen.verdict if seen else None


@dataclass(frozen=True, slots=True)
class Mark:
    """What folded runs leave of a clause in a realm: when it was green last, and since when it was red then."""

    last_green: str | None
    red_since: str | None


@dataclass(frozen=True, slots=True)
class Folded:
    """Runs on one target that are too old to be kept one by one; `until` is the start of the latest of them."""

    target: str
    until: str
    runs: int
    cells: Mapping[str, Mapping[str, Mark]] = field(default_factory=dict)


class NotAnEntryError(ValueError):
    """A line is no entry; the text says why."""


def line_of(entry: Entry | Folded) -> str:
    """Return an entry as one line of JSON, members sorted, without its line break."""
    if isinstance(entry, Folded):
        marks = {
            clause: {realm: [mark.last_green, mark.red_since] for realm, mark in sorted(realms.items())}
            for clause, realms in sorted(entry.cells.items())
        }
        data: dict[str, Any] = {
            "target": entry.target,
            "until": entry.until,
            "runs": entry.runs,
            "cells": marks,
        }
    else:
        data = {name: getattr(entry, name) for name in Entry.__dataclass_fields__}
        data["counts"] = dict(sorted(entry.counts.items()))
        data["cells"] = {
            clause: {
                realm: [seen.verdict, seen.requests, seen.seconds] for realm, seen in sorted(realms.items())
            }
            for clause, realms in sorted(entry.cells.items())
        }
    return json.dumps({"format": FORMAT, **data}, separators=(",", ":"), ensure_ascii=True)


def read_line(line: str) -> Entry | Folded:
    """Read one line.

    Raises:
        NotAnEntryError: it is damaged, or of another version.
    """
    try:
        data = json.loads(line)
    except ValueError as error:
        raise NotAnEntryError("not JSON") from error
    if not isinstance(data, dict) or data.get("format") != FORMAT:
        raise NotAnEntryError(f"not an entry of format {FORMAT}")
    try:
        return _folded(data) if "until" in data else _entry(data)
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise NotAnEntryError(f"an entry that lacks or mistakes {error}") from error


def _entry(data: Mapping[str, Any]) -> Entry:
    datetime.fromisoformat(data["started"])
    cells = {
        clause: {realm: Seen(str(seen[0]), int(seen[1]), float(seen[2])) for realm, seen in realms.items()}
        for clause, realms in data["cells"].items()
    }
    known = {name: data[name] for name in Entry.__dataclass_fields__}
    return Entry(**{**known, "run": str(data["run"]), "cells": cells, "counts": dict(data["counts"])})


def _folded(data: Mapping[str, Any]) -> Folded:
    datetime.fromisoformat(data["until"])
    cells = {
        clause: {realm: Mark(mark[0], mark[1]) for realm, mark in realms.items()}
        for clause, realms in data["cells"].items()
    }
    return Folded(str(data["target"]), data["until"], int(data["runs"]), cells)
