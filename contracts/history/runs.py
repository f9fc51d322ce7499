"""One run as the history holds it, and older runs folded into one line a target.

Bounded growth: the oldest runs on a target become one line that still says what was green last and red since.

The history file: JSON lines, a run a line, appended to, merged, and never grown without end.
"""

from __future__ import annotations

import hashlib
import json
import os
import tempfile
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any, Final

from filelock import FileLock

from contracts.errors import UsageError

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


FILE_NAME: Final = "history.jsonl"
#: A part of the runs kept: by so much a file may grow before it is rewritten, since rewriting makes large diffs.
_SLACK: Final = 6


@dataclass(frozen=True)
class History:
    """What a history file holds.

    Attributes:
        entries: runs, oldest first.
        folded: what older runs left, by target.
        damaged: lines that are no entries, by what is wrong with them (`history.jsonl:7: not JSON`); they are
            passed over, and kept whenever the file is written again.
    """

    entries: tuple[Entry, ...] = ()
    folded: tuple[Folded, ...] = ()
    damaged: dict[str, str] = field(default_factory=dict)

    def of(self, target: str) -> tuple[Entry, ...]:
        """Return the runs on a target, oldest first."""
        return tuple(entry for entry in self.entries if entry.target == target)

    def folded_of(self, target: str) -> Folded | None:
        """Return what older runs on a target left, or None."""
        return next((each for each in self.folded if each.target == target), None)

    @property
    def targets(self) -> tuple[str, ...]:
        """Names of all targets, the one that was run last first."""
        latest = [entry.target for entry in reversed(self.entries)]
        return tuple(dict.fromkeys([*latest, *(each.target for each in self.folded)]))


def read(path: Path) -> History:
    """Read a history file; an absent one is an empty history.

    Raises:
        UsageError: it cannot be read.
    """
    try:
        text = path.read_bytes().decode("utf-8", errors="replace")
    except FileNotFoundError:
        return History()
    except OSError as error:
        raise UsageError(f"cannot read the history {path}: {error.strerror}") from error
    found: list[Entry | Folded] = []
    damaged: dict[str, str] = {}
    for number, line in enumerate(text.split("\n"), start=1):
        if not line.strip():
            continue
        try:
            found.append(read_line(line))
        except NotAnEntryError as error:
            damaged[f"{path}:{number}: {error}"] = line
    return _history(found, damaged)


def merge(histories: Iterable[History], keep: int = KEPT_RUNS) -> History:
    """Put histories together: each run once, oldest first, the oldest of each target folded beyond `keep`."""
    several = list(histories)
    found: list[Entry | Folded] = []
    for history in several:
        found += [*history.folded, *history.entries]
    damaged = {where: line for history in several for where, line in history.damaged.items()}
    whole = _history(found, damaged)
    entries: list[Entry] = []
    folded: list[Folded] = []
    for target in sorted(whole.targets):
        kept, old = fold(whole.of(target), whole.folded_of(target), keep)
        entries += kept
        folded += [old] if old else []
    return History(tuple(sorted(entries, key=_age)), tuple(folded), damaged)


def write(path: Path, history: History) -> None:
    """Write a history file at once: whoever reads meanwhile sees the old one or the new one.

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
    name = hashlib.sha256(str(path.resolve()).encode()).hexdigest()[:16]
    with FileLock(Path(tempfile.gettempdir()) / f"registry-contracts-history-{name}.lock"):
        before = read(path)
        after = merge([before, History((entry,))], keep)
        if len(before.of(entry.target)) < keep + keep // _SLACK:
            _add_line(path, entry, before)
        else:
            write(path, after)
    return after


def _add_line(path: Path, entry: Entry, before: History) -> None:
    """Append without rewriting, so that two branches of a repository merge line by line."""
    if any(known.run == entry.run for known in before.entries):
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


def _history(found: Iterable[Entry | Folded], damaged: dict[str, str]) -> History:
    runs: dict[str, Entry] = {}
    folded: dict[str, Folded] = {}
    for each in found:
        if isinstance(each, Entry):
            runs.setdefault(each.run, each)
        else:
            together = put_together(folded.get(each.target), each)
            folded |= {each.target: together} if together else {}
    entries = tuple(sorted(runs.values(), key=_age))
    return History(entries, tuple(folded[target] for target in sorted(folded)), damaged)


def _age(entry: Entry) -> tuple[str, str]:
    return entry.started, entry.run
