"""Journals: what one worker did, as append-only JSON lines.

Every report is made from the journals and `run.json` alone, so a journal holds facts and is written once.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Mapping
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import IO, Any, Final, NamedTuple, Self

from registry_contracts.errors import SuiteError, UsageError
from registry_contracts.evidence.findings import Finding
from registry_contracts.evidence.record import Case, CaseBegun, Left, Narrowed, Untested
from registry_contracts.exchanges.exchange import ExchangeEntry
from registry_contracts.file_formats import (
    PACKED,
    Count,
    Moment,
    Name,
    OpenFormat,
    convert,
    parse,
    plain,
    read_own,
)
from registry_contracts.history.observed_facts import Observation
from registry_contracts.safe_text import encodable, finite
from registry_contracts.session.pipeline import FaultEvent


class Event(NamedTuple):
    """A line of a journal: its kind, and a value of the type that `EVENTS` declares for it."""

    kind: str
    value: Any


class StartEvent(OpenFormat, frozen=True):
    """The first line of a journal; `run` is the token of its run."""

    worker: Name
    version: Name
    at: Moment
    run: str


class EndEvent(OpenFormat, frozen=True):
    """The last line of a complete journal; `events` counts the lines between the first and this one."""

    at: Moment
    events: Count


#: The type of each kind of event; later versions may add members.
EVENTS: Final[Mapping[str, Any]] = {
    "start": StartEvent,
    "begin": CaseBegun,
    "case": Case,
    "finding": Finding,
    "observation": Observation,
    "exchange": ExchangeEntry,
    "fault": FaultEvent,
    "residue": Left,
    "leftover": Left,
    "untested": Untested,
    "narrowed": Narrowed,
    "end": EndEvent,
}


class Journal:
    """Writes one worker's journal; a context manager. An existing journal is never continued or overwritten."""

    def __init__(self, path: Path, worker: str, run: str = "") -> None:
        self.worker: Final = worker
        self._lock = threading.Lock()
        self._events = 0
        self._closed = False
        path.parent.mkdir(parents=True, exist_ok=True)
        try:
            # Each line is written at once, so that the journal of a killed worker names its case.
            self._file: IO[str] = path.open("x", encoding="ascii", newline="\n", buffering=1)
        except FileExistsError as error:
            raise UsageError(f"{path} exists already: choose a new reports folder, or remove it") from error
        self._file.write(_encode("start", StartEvent(worker, version("registry-contracts"), utc_now(), run)))

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def write(self, kind: str, event: Any) -> None:
        """Append one event, already redacted, of the type that `EVENTS` declares.

        Raises:
            SuiteError: it has another type, cannot be JSON, or the journal is closed.
        """
        if not isinstance(event, EVENTS.get(kind, ())):
            raise SuiteError(f"journal: a {type(event).__name__} is no event of kind '{kind}'")
        line = _encode(kind, event)
        with self._lock:
            if self._closed:
                raise SuiteError(f"journal: an event of kind '{kind}' came after the journal was closed")
            self._file.write(line)
            self._events += 1

    def close(self) -> None:
        """Write the closing line and close the file; closing twice is fine."""
        with self._lock:
            if self._closed:
                return
            self._closed = True
            self._file.write(_encode("end", EndEvent(utc_now(), self._events)))
            self._file.close()


def journal_path(run_folder: Path, worker: str) -> Path:
    """Return the path of a worker's journal in a run folder; the packed one if only that exists."""
    path = run_folder / f"journal-{worker}.jsonl"
    packed = path.with_name(path.name + PACKED)
    return packed if packed.exists() and not path.exists() else path


def journals_in(run_folder: Path) -> list[Path]:
    """Return every journal in a run folder, packed or not."""
    pattern = journal_path(run_folder, "*").name
    return sorted([*run_folder.glob(pattern), *run_folder.glob(pattern + PACKED)])


def read_journal(path: Path) -> list[Event]:
    """Read the events of a journal in their order, without an incomplete last line (see `is_closed`)."""
    lines = read_own(path, ": the run folder is not complete").split(b"\n")
    complete, cut = lines[:-1], lines[-1]
    events = [_decode(path, number, line) for number, line in enumerate(complete, start=1)]
    if events and events[0].kind != "start":
        raise UsageError(f"{path} is not a journal of this suite: its first line is not a 'start' event")
    if not events and cut and not cut.startswith(b'{"kind":"start"'[: len(cut)]):
        raise UsageError(f"{path} is not a journal of this suite")
    return events


def is_closed(events: list[Event]) -> bool:
    """Tell whether a journal ends with its closing line, with the correct number of events."""
    return bool(events) and events[-1].kind == "end" and events[-1].value.events == len(events) - 2


def utc_now() -> str:
    """Return the present moment as ISO 8601 in UTC, microseconds included."""
    return datetime.now(UTC).isoformat()


def _encode(kind: str, event: Any) -> str:
    try:
        data = finite({"kind": kind, **plain(event)})
    except TypeError as error:
        raise SuiteError(f"journal: an event of kind '{kind}' is not JSON-able: {error}") from error
    # ASCII, since hostile bodies may hold lone surrogates and line separators.
    return json.dumps(data, separators=(",", ":"), allow_nan=False) + "\n"


def _decode(path: Path, number: int, line: bytes) -> Event:
    place = f"{path}, line {number}"
    event = parse(line, place)
    if b"\\ud" in line:
        # UTF-8 cannot encode lone surrogates, so reports get them as escapes.
        event = encodable(event)
    if not isinstance(event, dict) or not isinstance(event.get("kind"), str):
        raise UsageError(f"{place}: not an event (an object with a 'kind')")
    if event["kind"] not in EVENTS:
        raise UsageError(f"{place}: the kind of event '{event['kind']}' is not known to this version")
    return Event(event["kind"], convert(event, EVENTS[event["kind"]], place))
