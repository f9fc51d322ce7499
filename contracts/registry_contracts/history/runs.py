"""The history of runs, a JSON-lines file of limited size, and the trends of clauses over it.

`past.json` holds the earlier runs in a run folder. Damaged files raise a `UsageError` that names the file.
"""

from __future__ import annotations

import os
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Annotated, Final, Literal

import msgspec
from filelock import FileLock, Timeout
from msgspec import Meta

from registry_contracts.errors import UsageError
from registry_contracts.file_formats import (
    Count,
    FileName,
    Format,
    Moment,
    Name,
    RunExitCode,
    RunWord,
    Seconds,
    Seed,
    check_moment,
    convert,
    one_of,
    parse,
    read_bytes,
    read_file,
    same_outcome,
)
from registry_contracts.safe_text import encodable

#: Verdicts of a clause that held or was observed.
GREEN: Final = frozenset({"pass", "observed"})
#: Verdicts of a contradicted clause, accepted or not.
RED: Final = frozenset({"fail", "advisory", "deviation"})
#: Verdicts that the history holds: all but untested.
JudgedWord = Annotated[
    str, one_of("fail", "error", "inconclusive", "advisory", "deviation", "observed", "pass")
]


class Seen(Format, array_like=True, frozen=True):
    """The result of one run for a clause in a realm: verdict, and cost of its cases (requests; seconds of work)."""

    verdict: JudgedWord
    requests: Count
    seconds: Seconds


Cells = Mapping[str, Annotated[Mapping[str, Seen], Meta(min_length=1)]]
"""Clause id → realm → result; untested pairs are left out."""


class PastRun(Format, frozen=True):
    """One run in figures."""

    run: Annotated[FileName, Meta(description="Name of the run folder; unique.")]
    started: Moment
    profile: str
    verdict: RunWord
    requests: Count
    seconds: Seconds
    counts: Annotated[
        Mapping[str, Annotated[int, Meta(ge=1)]],
        Meta(description="Number of clause and realm pairs with each verdict."),
    ]


class Entry(PastRun, kw_only=True, frozen=True):
    """One run: a line of the history, and `history-entry.json`."""

    format: Literal[1] = 1
    target: FileName
    seed: Seed
    exit_code: RunExitCode
    cells: Cells
    series: Annotated[
        Name, Meta(description="Profile, selection and consumer; only runs of one series compare.")
    ]
    comparable: Annotated[
        bool, Meta(description="False: the run was narrowed, cut short, or met faults on purpose.")
    ]

    def __post_init__(self) -> None:
        """Refuse an impossible date, and a verdict with a wrong exit code."""
        check_moment(self.started)
        same_outcome(self.verdict, self.exit_code)


def line_of(entry: Entry) -> str:
    """Return an entry as one line of JSON, clauses and realms sorted, without its line break."""
    return msgspec.json.encode(entry, order="deterministic").decode()


def read_line(line: str, shown: str = "the line") -> Entry:
    """Read one line; `shown` names it in messages."""
    return convert(encodable(parse(line, shown)), Entry, shown)


FILE_NAME: Final = "history.jsonl"
#: How many runs of one series on one target are kept; a run of all clauses takes about 50 kB.
KEPT_RUNS: Final = 60
#: How long to wait for the lock; adding a run takes a fraction of a second.
_LONGEST_WAIT_SECONDS: Final = 10.0


@dataclass(frozen=True)
class History:
    """The runs of a history file, oldest first; `damaged` holds a message for each damaged line, which is skipped."""

    entries: tuple[Entry, ...] = ()
    damaged: tuple[str, ...] = ()

    def of(self, target: str, series: str | None = None) -> tuple[Entry, ...]:
        """Return the runs on a target, or those of one series, oldest first."""
        mine = (entry for entry in self.entries if entry.target == target)
        return tuple(entry for entry in mine if series is None or entry.series == series)

    def series_of(self, target: str) -> tuple[str, ...]:
        """Names of the series on a target, the latest first."""
        return tuple(dict.fromkeys(entry.series for entry in reversed(self.of(target))))

    @property
    def targets(self) -> tuple[str, ...]:
        """Names of all targets, the latest first."""
        return tuple(dict.fromkeys(entry.target for entry in reversed(self.entries)))


def read(path: Path) -> History:
    """Read a history file, each run once; without a file the history is empty."""
    return _history(_lines(path))


def _lines(path: Path) -> list[tuple[str, Entry | str]]:
    """The lines of a history file, each with its run, or with what is wrong with it."""
    try:
        text = read_bytes(path).decode("utf-8", errors="replace")
    except FileNotFoundError:
        return []
    except OSError as error:
        raise UsageError(f"cannot read the history {path}: {error.strerror}") from error
    lines: list[tuple[str, Entry | str]] = []
    for number, line in enumerate(text.split("\n"), start=1):
        if line.strip():
            try:
                lines.append((line, read_line(line, f"{path}:{number}")))
            except UsageError as error:
                lines.append((line, str(error)))
    return lines


def _history(lines: Iterable[tuple[str, Entry | str]]) -> History:
    runs: dict[str, Entry] = {}
    damaged = []
    for _, found in lines:
        if isinstance(found, Entry):
            runs.setdefault(found.run, found)
        else:
            damaged.append(found)
    entries = sorted(runs.values(), key=lambda entry: (entry.started, entry.run))
    return History(tuple(entries), tuple(damaged))


def append(path: Path, entry: Entry, keep: int = KEPT_RUNS) -> None:
    """Add a run to a history file, once, under a lock; of its series only the latest `keep` runs stay."""
    with _locked(path):
        lines = _lines(path)
        before = _history(lines)
        if any(other.run == entry.run for other in before.entries):
            return
        old = before.of(entry.target, entry.series)[: -keep + 1 or None]
        if not old:
            _add_line(path, entry)
            return
        kept = [line for line, found in lines if found not in old]
        file = path.resolve()  # the path may be a link
        fresh = file.with_name(f".{file.name}-{os.getpid()}")
        try:
            fresh.write_text("".join(f"{line}\n" for line in [*kept, line_of(entry)]), "utf-8")
            fresh.replace(file)
        finally:
            fresh.unlink(missing_ok=True)


def _add_line(path: Path, entry: Entry) -> None:
    """Append without rewriting, so that two branches of a repository merge line by line."""
    with path.open("ab+") as file:
        # A run that was killed while it wrote may have left a line without line break.
        size = file.seek(0, os.SEEK_END)
        file.seek(max(0, size - 1))
        cut = size > 0 and file.read(1) != b"\n"
        file.write((b"\n" if cut else b"") + line_of(entry).encode() + b"\n")


@contextmanager
def _locked(path: Path) -> Iterator[None]:
    """Hold the lock of a history; it is beside the file, so only accounts that may write the history can lock it."""
    place = path.resolve()
    lock = FileLock(place.with_name(f".{place.name}.lock"))
    try:
        place.parent.mkdir(parents=True, exist_ok=True)
        with lock.acquire(timeout=_LONGEST_WAIT_SECONDS):
            yield
    except Timeout:
        raise UsageError(f"cannot write the history {path}: another run holds its lock") from None
    except OSError as error:
        raise UsageError(f"cannot write the history {path}: {error.strerror}") from None


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


class Trend(Format, array_like=True, frozen=True):
    """One clause in one realm over the runs of a series.

    `last_green` and `red_since` are starts of runs. `flips` counts changes between green and red in the latest `WINDOW`
    runs that were either; `letters` are the latest verdicts, from old to new.
    """

    last_green: Moment | None = None
    red_since: Moment | None = None
    flips: Count = 0
    runs: Count = 0
    letters: str = ""

    @property
    def flaky(self) -> bool:
        """Whether it changed more than once: a single flip is a lasting change."""
        return self.flips > 1

    @property
    def since(self) -> str:
        """Since when it is red, and when it was last green, as text."""
        red = f"red since {_minute(self.red_since)}, " if self.red_since else ""
        return red + (
            f"last green {_minute(self.last_green)}" if self.last_green else "not green in the runs kept"
        )


def _trend(judged: Sequence[tuple[str, str]]) -> Trend:
    last_green: str | None = None
    red_since: str | None = None
    for started, verdict in judged:
        if verdict in GREEN:
            last_green, red_since = started, None
        elif verdict in RED:
            red_since = red_since or started
    firm = [verdict in RED for _, verdict in judged if verdict in RED | GREEN][-WINDOW:]
    flips = sum(one is not other for one, other in pairwise(firm))
    letters = "".join(_LETTERS.get(verdict, "E") for _, verdict in judged[-WINDOW:])
    return Trend(last_green, red_since, flips, len(letters), letters)


PAST_FILE_NAME: Final = "past.json"
#: How many earlier runs the page can draw.
SHOWN_RUNS: Final = 30


class Past(Format, frozen=True):
    """The earlier runs of a series, and the trends by clause id and realm."""

    runs: Annotated[tuple[PastRun, ...], Meta(description="Oldest first.")] = ()
    cells: Mapping[str, Mapping[str, Trend]] = {}
    format: Literal[1] = 1

    def of(self, clause: str, realm: str) -> Trend:
        """Return the trend of a clause in a realm; an empty one if no earlier run judged it."""
        return self.cells.get(clause, {}).get(realm, Trend())

    def describe(self, clause: str, realm: str) -> str:
        """Return since when a clause is contradicted that is so now, as text; empty without a history."""
        if not self.runs:
            return ""
        before = self.of(clause, realm)
        green = f"last green {_minute(before.last_green)}" if before.last_green else "not green before"
        flips = f"; changed {before.flips} times lately" if before.flaky else ""
        if before.red_since:
            return f"red since {_minute(before.red_since)}, {green}{flips}"
        return f"new in this run, {green}{flips}" if before.runs else "not judged in earlier runs"


def past_of(history: History, target: str | None, series: str | None = None) -> Past:
    """Return the earlier runs and trends of a series on a target; by default of the latest series, and target."""
    target = target or next(iter(history.targets), "")
    entries = history.of(target, series or next(iter(history.series_of(target)), ""))
    judged: dict[str, dict[str, list[tuple[str, str]]]] = defaultdict(lambda: defaultdict(list))
    for entry in entries:
        for clause, realms in entry.cells.items():
            for realm, seen in realms.items():
                judged[clause][realm].append((entry.started, seen.verdict))
    cells = {
        clause: {realm: _trend(verdicts) for realm, verdicts in sorted(realms.items())}
        for clause, realms in sorted(judged.items())
    }
    runs = [msgspec.convert(entry, PastRun, from_attributes=True) for entry in entries[-SHOWN_RUNS:]]
    return Past(tuple(runs), cells)


def write_past(folder: Path, past: Past) -> None:
    """Write `past.json` into a run folder."""
    (folder / PAST_FILE_NAME).write_bytes(msgspec.json.encode(past) + b"\n")


def read_past(folder: Path) -> Past:
    """Read `past.json` of a run folder; without the file, an empty past."""
    path = folder / PAST_FILE_NAME
    return read_file(path, Past) if os.path.lexists(path) else Past()


def _minute(moment: str | None) -> str:
    return (moment or "").replace("T", " ")[:16]
