"""The history of runs, JSON lines that never grow without end, and the trends of clauses over it.

The oldest runs on a target are folded into one line that still says what was green last and red since.
`past.json` is what a run folder keeps of the runs before it.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import datetime
from itertools import pairwise
from pathlib import Path
from typing import Annotated, Final, Literal

import msgspec
from filelock import FileLock, Timeout
from msgspec import Meta

from contracts.errors import UsageError
from contracts.file_formats import (
    Count,
    Format,
    Moment,
    Name,
    RunExitCode,
    RunWord,
    Seconds,
    Seed,
    checked,
    convert,
    one_of,
    parse,
    read_bytes,
    read_file,
    same_outcome,
)

#: Verdicts that say a clause held, or was seen where it is silent.
GREEN: Final = frozenset({"pass", "observed"})
#: Verdicts that say a clause was contradicted, accepted or not.
RED: Final = frozenset({"fail", "advisory", "deviation"})
#: What a run says of a clause that it judged.
JudgedWord = Annotated[
    str, one_of("fail", "error", "inconclusive", "advisory", "deviation", "observed", "pass")
]


class Seen(Format, array_like=True, frozen=True):
    """What one run says of a clause in a realm: verdict, and what its cases cost (requests; seconds of work)."""

    verdict: JudgedWord
    requests: Count
    seconds: Seconds


Cells = Mapping[str, Annotated[Mapping[str, Seen], Meta(min_length=1)]]
"""Clause id → realm → what a run said; pairs that went untested are left out."""


class Entry(Format, kw_only=True, frozen=True):
    """One run: a line of the history, and `history-entry.json`."""

    format: Literal[1] = 1
    run: Annotated[Name, Meta(description="Name of the run folder; unique.")]
    target: str
    profile: str
    seed: Seed
    started: Moment
    verdict: RunWord
    exit_code: RunExitCode
    requests: Count
    seconds: Seconds
    counts: Annotated[
        Mapping[str, Annotated[int, Meta(ge=1)]],
        Meta(description="Number of clause and realm pairs with each verdict."),
    ]
    cells: Cells
    series: Annotated[
        str, Meta(description="Profile, selection and consumer; only runs of one series compare.")
    ] = ""
    comparable: Annotated[
        bool, Meta(description="False: the run was narrowed, cut short, or met faults on purpose.")
    ] = True

    @property
    def kind(self) -> str:
        """The series; runs that were noted before there were series go by their profile."""
        return self.series or self.profile

    def __post_init__(self) -> None:
        """Refuse a day that no calendar has, and a verdict with the exit code of another."""
        datetime.fromisoformat(self.started)
        same_outcome(self.verdict, self.exit_code)

    def verdict_of(self, clause: str, realm: str) -> str | None:
        """Return the verdict on a clause in a realm, or None when the run did not judge it."""
        seen = self.cells.get(clause, {}).get(realm)
        return seen.verdict if seen else None


class Mark(Format, array_like=True, frozen=True):
    """What folded runs leave of a clause in a realm: when it was green last, and since when it was red then."""

    last_green: str | None
    red_since: str | None


class Folded(Format, frozen=True):
    """Runs of one series on one target that are too old to be kept one by one; `until` is the start of the latest.

    An empty series holds what was folded before there were series, of all of them.
    """

    target: str
    until: Moment
    runs: Annotated[int, Meta(ge=1)]
    cells: Mapping[str, Mapping[str, Mark]] = {}
    format: Literal[1] = 1
    series: str = ""

    def __post_init__(self) -> None:
        """Refuse a day that no calendar has."""
        datetime.fromisoformat(self.until)


Line = Entry | Folded


def line_of(entry: Entry | Folded) -> str:
    """Return an entry as one line of JSON, clauses and realms sorted, without its line break."""
    content = msgspec.to_builtins(entry, order="deterministic")
    return json.dumps({"format": entry.format, **content}, separators=(",", ":"), ensure_ascii=True)


def read_line(line: str, shown: str = "the line") -> Entry | Folded:
    """Read one line; `shown` names it in messages.

    Raises:
        UsageError: it is damaged, or of another version.
    """
    content = parse(line, shown)
    folded = isinstance(content, dict) and "until" in content
    return convert(content, Folded, shown) if folded else convert(content, Entry, shown)


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
    return kept, Folded(old[0].target, until, runs, marks, series=old[0].kind)


def merge_folded(one: Folded | None, other: Folded | None) -> Folded | None:
    """Put together what two histories folded of one target; runs that both folded are counted once at most."""
    if one is None or other is None:
        return one or other
    older, newer = sorted((one, other), key=lambda run: run.until)
    cells = {clause: dict(realms) for clause, realms in older.cells.items()}
    for clause, realms in newer.cells.items():
        for realm, mark in realms.items():
            before = cells.setdefault(clause, {}).get(realm)
            cells[clause][realm] = _later(before, mark) if before else mark
    return Folded(one.target, newer.until, max(one.runs, other.runs), cells, series=newer.series)


def advance(mark: Mark, verdict: str, started: str) -> Mark:
    """Return the mark after one more run; verdicts that are neither green nor red leave it as it is."""
    if verdict in GREEN:
        return Mark(started, None)
    if verdict in RED:
        return Mark(mark.last_green, mark.red_since or started)
    return mark


def _later(before: Mark, mark: Mark) -> Mark:
    greens = [day for day in (before.last_green, mark.last_green) if day]
    last_green = max(greens) if greens else None
    reds = [day for day in (before.red_since, mark.red_since) if day and day > (last_green or "")]
    return Mark(last_green, min(reds) if reds else None)


def _marks(cells: Mapping[str, Mapping[str, Mark]], entries: Iterable[Entry]) -> dict[str, dict[str, Mark]]:
    marks = {clause: dict(realms) for clause, realms in cells.items()}
    for entry in entries:
        for clause, realms in entry.cells.items():
            for realm, seen in realms.items():
                before = marks.setdefault(clause, {}).get(realm, Mark(None, None))
                marks[clause][realm] = advance(before, seen.verdict, entry.started)
    return marks


FILE_NAME: Final = "history.jsonl"
#: Adding a run takes a fraction of a second.
_LONGEST_WAIT_SECONDS: Final = 10.0
#: A part of the runs kept: by so much a file may grow before it is rewritten, since rewriting makes large diffs.
_SLACK: Final = 6


@dataclass(frozen=True)
class History:
    """What a history file holds.

    Attributes:
        entries: runs, oldest first.
        folded: what older runs left, by target and series.
        damaged: lines that are no entries, by what is wrong with them (`history.jsonl:7: not JSON`); they are
            passed over, and kept whenever the file is written again.
    """

    entries: tuple[Entry, ...] = ()
    folded: tuple[Folded, ...] = ()
    damaged: dict[str, str] = field(default_factory=dict)

    def of(self, target: str, series: str | None = None) -> tuple[Entry, ...]:
        """Return the runs on a target, or those of one series, oldest first."""
        mine = (entry for entry in self.entries if entry.target == target)
        return tuple(entry for entry in mine if series is None or entry.kind == series)

    def folded_of(self, target: str, series: str) -> Folded | None:
        """Return what older runs of a series on a target left, or None."""
        mine = [entry for entry in self.folded if entry.target == target]
        return next((entry for name in (series, "") for entry in mine if entry.series == name), None)

    def series_of(self, target: str) -> tuple[str, ...]:
        """Names of the series on a target, the one that was run last first."""
        return tuple(dict.fromkeys(entry.kind for entry in reversed(self.of(target))))

    @property
    def targets(self) -> tuple[str, ...]:
        """Names of all targets, the one that was run last first."""
        latest = [entry.target for entry in reversed(self.entries)]
        return tuple(dict.fromkeys([*latest, *(entry.target for entry in self.folded)]))


def read(path: Path) -> History:
    """Read a history file; an absent one is an empty history.

    Raises:
        UsageError: it cannot be read.
    """
    try:
        text = read_bytes(path).decode("utf-8", errors="replace")
    except FileNotFoundError:
        return History()
    except OSError as error:
        raise UsageError(f"cannot read the history {path}: {error.strerror}") from error
    entries: list[Entry | Folded] = []
    damaged: dict[str, str] = {}
    for number, line in enumerate(text.split("\n"), start=1):
        if not line.strip():
            continue
        try:
            entries.append(read_line(line, f"{path}:{number}"))
        except UsageError as error:
            damaged[str(error)] = line
    return _history(entries, damaged)


def merge(histories: Iterable[History], keep: int = KEPT_RUNS) -> History:
    """Put histories together: each run once, oldest first, the oldest of each target folded beyond `keep`."""
    several = list(histories)
    lines: list[Entry | Folded] = []
    for history in several:
        lines += [*history.folded, *history.entries]
    damaged = {where: line for history in several for where, line in history.damaged.items()}
    whole = _history(lines, damaged)
    entries: list[Entry] = []
    folded: list[Folded] = []
    for target in sorted(whole.targets):
        for series in whole.series_of(target):
            kept, old = fold(whole.of(target, series), _own(whole, target, series), keep)
            entries += kept
            folded += [old] if old else []
    left = [entry for entry in whole.folded if entry.series not in whole.series_of(entry.target)]
    folded = sorted([*folded, *left], key=lambda run: (run.target, run.series))
    return History(tuple(sorted(entries, key=_age)), tuple(folded), damaged)


def _own(history: History, target: str, series: str) -> Folded | None:
    """What was folded of a series itself, and not of all before there were any."""
    folded_runs = history.folded_of(target, series)
    return folded_runs if folded_runs is not None and folded_runs.series == series else None


def write(path: Path, history: History) -> None:
    """Write a history file at once: a reader meanwhile sees the old one or the new one.

    Raises:
        UsageError: it cannot be written.
    """
    lines = [*map(line_of, history.folded), *map(line_of, history.entries), *history.damaged.values()]
    fresh = path.with_name(f".{path.name}-{os.getpid()}")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        fresh.write_text("".join(f"{line}\n" for line in lines), "utf-8")
        fresh.replace(path)
    except OSError as error:
        raise UsageError(f"cannot write the history {path}: {error.strerror}") from error


def append(path: Path, entry: Entry, keep: int = KEPT_RUNS) -> History:
    """Add a run to a history file; runs that end at the same time wait for one another.

    Returns:
        The history with the run in it. A run that is there already is not added again.

    Raises:
        UsageError: the file cannot be read or written.
    """
    with _locked(path):
        before = read(path)
        after = merge([before, History((entry,))], keep)
        if len(before.of(entry.target, entry.kind)) < keep + keep // _SLACK:
            _add_line(path, entry, before)
        else:
            write(path, after)
    return after


@contextmanager
def _locked(path: Path) -> Iterator[None]:
    """Hold the lock of a history, which lies beside it, where only those who may write the history reach it."""
    place = path.resolve()
    lock = FileLock(place.with_name(f".{place.name}.lock"))
    try:
        place.parent.mkdir(parents=True, exist_ok=True)
        lock.acquire(timeout=_LONGEST_WAIT_SECONDS)
    except Timeout:
        raise UsageError(f"cannot write the history {path}: another run holds its lock") from None
    except OSError as error:
        raise UsageError(f"cannot write the history {path}: {error.strerror}") from None
    try:
        yield
    finally:
        lock.release()


def _add_line(path: Path, entry: Entry, before: History) -> None:
    """Append without rewriting, so that two branches of a repository merge line by line."""
    if any(other.run == entry.run for other in before.entries):
        return
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("ab+") as file:
            # A run that was killed while it wrote leaves a line without an end; the next one must not join it.
            size = file.seek(0, os.SEEK_END)
            file.seek(max(0, size - 1))
            cut = size > 0 and file.read(1) != b"\n"
            file.write((b"\n" if cut else b"") + line_of(entry).encode() + b"\n")
    except OSError as error:
        raise UsageError(f"cannot write the history {path}: {error.strerror}") from error


def _history(lines: Iterable[Entry | Folded], damaged: dict[str, str]) -> History:
    runs: dict[str, Entry] = {}
    folded: dict[tuple[str, str], Folded] = {}
    for line in lines:
        if isinstance(line, Entry):
            runs.setdefault(line.run, line)
        else:
            place = (line.target, line.series)
            together = merge_folded(folded.get(place), line)
            folded |= {place: together} if together else {}
    entries = tuple(sorted(runs.values(), key=_age))
    return History(entries, tuple(folded[place] for place in sorted(folded)), damaged)


def _age(entry: Entry) -> tuple[str, str]:
    return entry.started, entry.run


#: Runs over which flips are counted.
WINDOW: Final = 20


#: Verdicts in one letter; an error of the suite is `E`.
_LETTERS: Final = {
    "pass": "p",
    "observed": "o",
    "fail": "F",
    "advisory": "A",
    "deviation": "D",
    "inconclusive": "?",
}


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

    @property
    def strip(self) -> str:
        """Its verdicts, a letter each, from old to new."""
        return "".join(_LETTERS.get(verdict, "E") for verdict in self.verdicts)

    @property
    def since(self) -> str:
        """Since when it is red, and when it was green last."""
        red = f"red since {_day(self.red_since)}, " if self.red_since else ""
        return red + (f"last green {_day(self.last_green)}" if self.last_green else "never green")


def trends(
    history: History, target: str, window: int = WINDOW, series: str | None = None
) -> dict[tuple[str, str], Trend]:
    """Return the trend of each clause and realm that a run of a series on a target judged, by clause and realm.

    Args:
        series: the one that was run last unless given.
    """
    series = series or next(iter(history.series_of(target)), "")
    entries, folded = history.of(target, series), history.folded_of(target, series)
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


PAST_FILE_NAME: Final = "past.json"
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


def past_of(history: History, target: str, series: str) -> Past:
    """Return what a history says of a series on a target, as a run of it that starts now has to know it."""
    runs = tuple(
        PastRun(e.run, e.started, e.profile, e.verdict, e.requests, e.seconds, e.counts)
        for e in history.of(target, series)
    )
    cells: dict[str, dict[str, Since]] = {}
    for (clause, realm), trend in trends(history, target, series=series).items():
        since = Since(trend.last_green, trend.red_since, trend.flips, len(trend.verdicts))
        cells.setdefault(clause, {})[realm] = since
    return Past(runs[-SHOWN_RUNS:], cells)


def write_past(folder: Path, past: Past) -> Path:
    """Write `past.json` into a run folder and return its path."""
    path = folder / PAST_FILE_NAME
    path.write_text(json.dumps(checked(past, Past, PAST_FILE_NAME), separators=(",", ":")) + "\n", "utf-8")
    return path


def read_past(folder: Path) -> Past:
    """Read `past.json` of a run folder; an empty past when there is none.

    Raises:
        UsageError: the file was altered.
    """
    try:
        return read_file(folder / PAST_FILE_NAME, Past)
    except FileNotFoundError:
        return Past()


def _day(moment: str | None) -> str:
    return (moment or "").replace("T", " ")[:16]
