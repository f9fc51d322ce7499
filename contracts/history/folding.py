"""Bounded growth: the oldest runs on a target become one line that still says what was green last and red since."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Final

from contracts.history.entries import GREEN, RED, Entry, Folded, Mark

#: Runs on one target that are kept one by one; a run of every clause takes about 50 kB.
KEPT_RUNS: Final = 60


def fold(entries: Sequence[Entry], folded: Folded | None, keep: int) -> tuple[list[Entry], Folded | None]:
    """Fold all but the latest runs on one target.

    Args:
        entries: runs on one target, oldest first.
        folded: what older ones left.
        keep: number of runs to keep one by one.

    Returns:
        The runs that stay and what the others left; nothing is lost but their figures.
    """
    old, kept = list(entries[:-keep]), list(entries[-keep:])
    if not old:
        return kept, folded
    marks = _marks(folded.cells if folded else {}, old)
    until = max([old[-1].started, *([folded.until] if folded else [])])
    runs = len(old) + (folded.runs if folded else 0)
    return kept, Folded(old[0].target, until, runs, marks)


def put_together(one: Folded | None, other: Folded | None) -> Folded | None:
    """Put together what two histories folded of one target; runs that both folded are counted once at most."""
    if one is None or other is None:
        return one or other
    older, newer = sorted((one, other), key=lambda each: each.until)
    cells = {clause: dict(realms) for clause, realms in older.cells.items()}
    for clause, realms in newer.cells.items():
        for realm, mark in realms.items():
            known = cells.setdefault(clause, {}).get(realm)
            cells[clause][realm] = _later(known, mark) if known else mark
    return Folded(one.target, newer.until, max(one.runs, other.runs), cells)


def advance(mark: Mark, verdict: str, started: str) -> Mark:
    """Return the mark after one more run; verdicts that are neither green nor red leave it as it is."""
    if verdict in GREEN:
        return Mark(started, None)
    if verdict in RED:
        return Mark(mark.last_green, mark.red_since or started)
    return mark


def _later(known: Mark, mark: Mark) -> Mark:
    greens = [each for each in (known.last_green, mark.last_green) if each]
    last_green = max(greens) if greens else None
    reds = [each for each in (known.red_since, mark.red_since) if each and each > (last_green or "")]
    return Mark(last_green, min(reds) if reds else None)


def _marks(cells: Mapping[str, Mapping[str, Mark]], entries: Iterable[Entry]) -> dict[str, dict[str, Mark]]:
    marks = {clause: dict(realms) for clause, realms in cells.items()}
    for entry in entries:
        for clause, realms in entry.cells.items():
            for realm, seen in realms.items():
                before = marks.setdefault(clause, {}).get(realm, Mark(None, None))
                marks[clause][realm] = advance(before, seen.verdict, entry.started)
    return marks
