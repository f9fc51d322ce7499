"""The history file: JSON lines, a run a line, appended to, merged, and never grown without end."""

from __future__ import annotations

import hashlib
import os
import tempfile
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from filelock import FileLock

from contracts.errors import UsageError
from contracts.history.entries import Entry, Folded, NotAnEntryError, line_of, read_line
from contracts.history.folding import KEPT_RUNS, fold, put_together

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
