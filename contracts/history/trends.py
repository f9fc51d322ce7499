"""What the history says of a clause in a realm: last green, first red, how often it flipped, what it costs.

What a run knows of the runs before it, kept in its folder so that its reports can be made again.

For the page: `read_past(folder)` gives the runs before (`runs`) and, for a finding, `tells(clause, realm)`.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from itertools import pairwise
from pathlib import Path
from typing import Any, Final

from contracts.errors import UsageError
from contracts.history.runs import GREEN, RED, Entry, History, Mark, advance

#: Runs over which flips are counted.
WINDOW: Final = 20


@dataclass(frozen=True, slots=True)
class Trend:
    """One clause in one realm over the runs on a target.

    Attributes:
        last_green: start of the latest run in which it held; None: never.
        red_since: start of the first run of those that contradict it without a green one between; None: not red.
        flips: changes between green and red over the latest `WINDOW` runs that were either.
        verdicts: of the latest runs that judged it, oldest first.
        requests, seconds: per run, of its cases, averaged over the same runs.
    """

    clause: str
    realm: str
    last_green: str | None
    red_since: str | None
    flips: int
    verdicts: tuple[str, ...]
    requests: float
    seconds: float

    @property
    def flaky(self) -> bool:
        """Whether it came and went: one flip is a change, two are not."""
        return self.flips > 1


def trends(history: History, target: str, window: int = WINDOW) -> dict[tuple[str, str], Trend]:
    """Return the trend of each clause and realm that a run on a target judged, by clause and realm."""
    entries, folded = history.of(target), history.folded_of(target)
    old = folded.cells if folded else {}
    known: list[Mapping[str, Mapping[str, object]]] = [old, *(entry.cells for entry in entries)]
    places = {(clause, realm) for cells in known for clause, realms in cells.items() for realm in realms}
    return {
        (clause, realm): _trend(clause, realm, entries, old.get(clause, {}).get(realm), window)
        for clause, realm in sorted(places)
    }


def _trend(clause: str, realm: str, entries: Sequence[Entry], mark: Mark | None, window: int) -> Trend:
    mark = mark or Mark(None, None)
    judged = [(entry, seen) for entry in entries if (seen := entry.cells.get(clause, {}).get(realm))]
    for entry, seen in judged:
        mark = advance(mark, seen.verdict, entry.started)
    firm = [seen.verdict in RED for _, seen in judged if seen.verdict in RED | GREEN][-window:]
    latest = [seen for _, seen in judged[-window:]]
    return Trend(
        clause=clause,
        realm=realm,
        last_green=mark.last_green,
        red_since=mark.red_since,
        flips=sum(one is not other for one, other in pairwise(firm)),
        verdicts=tuple(seen.verdict for seen in latest),
        requests=sum(seen.requests for seen in latest) / len(latest) if latest else 0.0,
        seconds=sum(seen.seconds for seen in latest) / len(latest) if latest else 0.0,
    )


FILE_NAME: Final = "past.json"
_FORMAT: Final = 1
#: Runs before this one that the page can draw.
SHOWN_RUNS: Final = 30


@dataclass(frozen=True, slots=True)
class PastRun:
    """One earlier run on the same target, in figures; `counts` maps verdict to number of clause and realm pairs."""

    run: str
    started: str
    profile: str
    verdict: str
    requests: int
    seconds: float
    counts: Mapping[str, int]


@dataclass(frozen=True, slots=True)
class Since:
    """What is known of a clause in a realm before this run; moments are starts of runs, ISO 8601."""

    last_green: str | None = None
    red_since: str | None = None
    flips: int = 0
    runs: int = 0


@dataclass(frozen=True, slots=True)
class Past:
    """The runs before this one on its target, oldest first, and what they said."""

    runs: tuple[PastRun, ...] = ()
    cells: Mapping[str, Mapping[str, Since]] = field(default_factory=dict)

    def since(self, clause: str, realm: str) -> Since:
        """Return what is known of a clause in a realm; all empty when no earlier run judged it."""
        return self.cells.get(clause, {}).get(realm, Since())

    def tells(self, clause: str, realm: str) -> str:
        """Say of a clause that is contradicted now since when it is, in a few words; empty without any history."""
        if not self.runs:
            return ""
        known = self.since(clause, realm)
        green = f"last green {_day(known.last_green)}" if known.last_green else "never green before"
        flips = f"; changed {known.flips} times lately" if known.flips > 1 else ""
        if known.red_since:
            return f"red since {_day(known.red_since)}, {green}{flips}"
        return f"new in this run, {green}{flips}" if known.runs else "not judged in earlier runs"


def past_of(history: History, target: str) -> Past:
    """Return what a history says of a target, as a run that starts now has to know it."""
    runs = tuple(
        PastRun(e.run, e.started, e.profile, e.verdict, e.requests, e.seconds, e.counts)
        for e in history.of(target)
    )
    cells: dict[str, dict[str, Since]] = {}
    for (clause, realm), trend in trends(history, target).items():
        since = Since(trend.last_green, trend.red_since, trend.flips, len(trend.verdicts))
        cells.setdefault(clause, {})[realm] = since
    return Past(runs[-SHOWN_RUNS:], cells)


def write_past(folder: Path, past: Past) -> Path:
    """Write `past.json` into a run folder and return its path."""
    content = {
        "format": _FORMAT,
        "runs": [asdict(run) for run in past.runs],
        "cells": {
            clause: {realm: [s.last_green, s.red_since, s.flips, s.runs] for realm, s in realms.items()}
            for clause, realms in past.cells.items()
        },
    }
    path = folder / FILE_NAME
    path.write_text(json.dumps(content, separators=(",", ":")) + "\n", "utf-8")
    return path


def read_past(folder: Path) -> Past:
    """Read `past.json` of a run folder; an empty past when there is none.

    Raises:
        UsageError: the file was altered.
    """
    path = folder / FILE_NAME
    try:
        content: dict[str, Any] = json.loads(path.read_text("utf-8"))
        runs = tuple(PastRun(**run) for run in content["runs"])
        cells = {
            clause: {realm: Since(*values) for realm, values in realms.items()}
            for clause, realms in content["cells"].items()
        }
    except FileNotFoundError:
        return Past()
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise UsageError(f"{path} was altered: {error}") from error
    return Past(runs, cells)


def _day(moment: str | None) -> str:
    return (moment or "").replace("T", " ")[:16]
