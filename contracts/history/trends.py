"""Trends of clauses over the runs on a target, and `past.json`: what a run knows of the runs before it."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Annotated, Final, Literal

from msgspec import Meta

from contracts.file_formats import Count, Format, Moment, Name, RunWord, Seconds, checked, read_file
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
    cells_of_runs: list[Mapping[str, Mapping[str, object]]] = [old, *(entry.cells for entry in entries)]
    places = {
        (clause, realm) for cells in cells_of_runs for clause, realms in cells.items() for realm in realms
    }
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
#: Runs before this one that the page can draw.
SHOWN_RUNS: Final = 30


class PastRun(Format, frozen=True):
    """One earlier run on the same target, in figures; `counts` maps verdict to number of clause and realm pairs."""

    run: Name
    started: Moment
    profile: str
    verdict: RunWord
    requests: Count
    seconds: Seconds
    counts: Mapping[str, Count]


class Since(Format, array_like=True, frozen=True):
    """A clause in a realm before this run: starts of runs (last green, red since), flips, and runs that judged it."""

    last_green: Moment | None = None
    red_since: Moment | None = None
    flips: Count = 0
    runs: Count = 0


class Past(Format, frozen=True):
    """The runs before this one on its target, oldest first, and what they said by clause id and realm."""

    runs: Annotated[tuple[PastRun, ...], Meta(description="Oldest first.")] = ()
    cells: Mapping[str, Mapping[str, Since]] = {}
    format: Literal[1] = 1

    def since(self, clause: str, realm: str) -> Since:
        """Return what is known of a clause in a realm; all empty when no earlier run judged it."""
        return self.cells.get(clause, {}).get(realm, Since())

    def describe(self, clause: str, realm: str) -> str:
        """Say of a clause that is contradicted now since when it is, in a few words; empty without any history."""
        if not self.runs:
            return ""
        before = self.since(clause, realm)
        green = f"last green {_day(before.last_green)}" if before.last_green else "never green before"
        flips = f"; changed {before.flips} times lately" if before.flips > 1 else ""
        if before.red_since:
            return f"red since {_day(before.red_since)}, {green}{flips}"
        return f"new in this run, {green}{flips}" if before.runs else "not judged in earlier runs"


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
    path = folder / FILE_NAME
    path.write_text(json.dumps(checked(past, Past, FILE_NAME), separators=(",", ":")) + "\n", "utf-8")
    return path


def read_past(folder: Path) -> Past:
    """Read `past.json` of a run folder; an empty past when there is none.

    Raises:
        UsageError: the file was altered.
    """
    try:
        return read_file(folder / FILE_NAME, Past)
    except FileNotFoundError:
        return Past()


def _day(moment: str | None) -> str:
    return (moment or "").replace("T", " ")[:16]
