"""The journal: what one worker of a run did, as append-only JSON lines.

Every report is a function of the journals and `run.json`, so a journal holds facts only and is written once.
"""

import json
import math
import threading
from collections.abc import Mapping
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from types import MappingProxyType, TracebackType
from typing import IO, Any, Self

from contracts.errors import SuiteError, UsageError
from contracts.safe_text import encodable

Event = dict[str, Any]

# What each kind of event must carry; more fields are welcome, fewer are a mistake in the suite.
_FIELDS = {
    "begin": "case name realm clauses operations",
    "case": "case name doc realm clauses operations profile outcome reason blocked_by attempts started"
    " seconds requests assertions",
    "finding": "clause realm operation case role expected seen confirmed rate exchanges curl command",
    "observation": "clause realm operation case seen",
    "exchange": "id case attempt realm role operation started seconds request response fault retries",
    "fault": "fault",
    "residue": "realm operation identifier what",
    "leftover": "realm operation identifier what",
    "untested": "clause realm reason",
    "narrowed": "reason cells",
}
REQUIRED_FIELDS: Mapping[str, frozenset[str]] = MappingProxyType(
    {kind: frozenset(fields.split()) for kind, fields in _FIELDS.items()}
)

_READABLE_FIELDS = {
    **REQUIRED_FIELDS,
    "start": frozenset({"worker", "version", "at"}),
    "end": frozenset({"at", "events"}),
}

# An exchange waits in the buffer for the end of its case; everything rarer goes to the file at once, so that
# a worker that is killed leaves the name of the case it was in.
_BUFFERED_KINDS = frozenset({"exchange", "observation"})


class Journal:
    """Writes one worker's journal; use it as a context manager.

    Args:
        path: file to create, `journal-<worker>.jsonl` in the run folder by convention (see `journal_path`).
        worker: name of the worker, `main` without xdist, else `gw0`, `gw1`, ….

    Raises:
        UsageError: the file exists already; a journal is never continued or overwritten.
    """

    def __init__(self, path: Path, worker: str) -> None:
        self._worker = worker
        self._lock = threading.Lock()
        self._events = 0
        self._exchanges = 0
        self._closed = False
        path.parent.mkdir(parents=True, exist_ok=True)
        try:
            self._file: IO[str] = path.open("x", encoding="ascii", newline="\n", buffering=1 << 16)
        except FileExistsError as error:
            raise UsageError(f"{path} exists already: choose a new reports folder, or remove it") from error
        start = {"kind": "start", "worker": worker, "version": version("registry-contracts"), "at": utc_now()}
        self._file.write(_encode(start))
        self._file.flush()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def new_exchange_id(self) -> str:
        """Return an id for the next exchange, unique in the whole run: `<worker>-<number>`."""
        with self._lock:
            self._exchanges += 1
            return f"{self._worker}-{self._exchanges}"

    def write(self, kind: str, **fields: Any) -> None:
        """Append one event.

        Args:
            kind: a key of `REQUIRED_FIELDS`.
            **fields: JSON-able data only; secrets are already out and bytes are base64 text.

        Raises:
            SuiteError: unknown kind, missing field, data that JSON cannot hold, or a journal already closed.
        """
        required = REQUIRED_FIELDS.get(kind)
        if required is None:
            raise SuiteError(f"journal: no event kind '{kind}'; known: {', '.join(sorted(REQUIRED_FIELDS))}")
        if not required <= fields.keys():
            missing = ", ".join(sorted(required - fields.keys()))
            raise SuiteError(f"journal: an event of kind '{kind}' lacks {missing}")
        line = _encode({"kind": kind, **fields})
        with self._lock:
            if self._closed:
                raise SuiteError(f"journal: an event of kind '{kind}' came after the journal was closed")
            self._file.write(line)
            self._events += 1
            if kind not in _BUFFERED_KINDS:
                self._file.flush()

    def flush(self) -> None:
        """Hand everything written so far to the operating system."""
        with self._lock:
            self._file.flush()

    def close(self) -> None:
        """Write the closing line and close the file; closing twice is fine."""
        with self._lock:
            if self._closed:
                return
            self._closed = True
            self._file.write(_encode({"kind": "end", "at": utc_now(), "events": self._events}))
            self._file.close()


def journal_path(run_folder: Path, worker: str) -> Path:
    """Return where the journal of `worker` stands in a run folder."""
    return run_folder / f"journal-{worker}.jsonl"


def read_journal(path: Path) -> list[Event]:
    """Read a journal back, a cut last line left out.

    Args:
        path: the journal's file.

    Returns:
        The events in the order of writing, `start` first. A last event other than `end` means that the worker
        did not finish; `is_closed` tells.

    Raises:
        UsageError: the file is absent, is no journal, or was altered (a whole line is not an event).
    """
    try:
        lines = path.read_bytes().split(b"\n")
    except FileNotFoundError as error:
        raise UsageError(f"{path} is absent: the run folder is not complete") from error
    complete, cut = lines[:-1], lines[-1]
    events = [_decode(path, number, line) for number, line in enumerate(complete, start=1)]
    if events and events[0].get("kind") != "start":
        raise UsageError(f"{path} is not a journal of this suite: its first line is not a 'start' event")
    if not events and cut and not cut.startswith(b'{"kind":"start"'[: len(cut)]):
        raise UsageError(f"{path} is not a journal of this suite")
    return events


def is_closed(events: list[Event]) -> bool:
    """Tell whether a journal ends with its closing line and that line counts every event before it."""
    if not events or events[-1].get("kind") != "end":
        return False
    return bool(events[-1].get("events") == len(events) - 2)


def utc_now() -> str:
    """Return the present moment as ISO 8601 in UTC, microseconds included."""
    return datetime.now(UTC).isoformat()


def _encode(event: Event) -> str:
    # ASCII keeps lone surrogates and line separators of hostile bodies inside one line of valid text.
    try:
        return _ENCODER.encode(event) + "\n"
    except ValueError:
        return _ENCODER.encode(_without_nan(event)) + "\n"
    except TypeError as error:
        raise SuiteError(f"journal: an event of kind '{event['kind']}' is not JSON-able: {error}") from error


def _without_nan(value: Any) -> Any:
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)
    if isinstance(value, Mapping):
        return {key: _without_nan(member) for key, member in value.items()}
    if isinstance(value, list | tuple):
        return [_without_nan(member) for member in value]
    return value


def _decode(path: Path, number: int, line: bytes) -> Event:
    try:
        event = json.loads(line)
    except ValueError as error:
        raise UsageError(f"{path}, line {number}: not JSON; the journal was altered or is damaged") from error
    if b"\\ud" in line:
        # No file in UTF-8 can hold a lone surrogate: from here on it is written as its escape.
        event = encodable(event)
    if not isinstance(event, dict) or not isinstance(event.get("kind"), str):
        raise UsageError(f"{path}, line {number}: not an event (an object with a 'kind')")
    missing = _READABLE_FIELDS.get(event["kind"], frozenset({"a kind this version knows"})) - event.keys()
    if missing:
        raise UsageError(f"{path}, line {number}: the event lacks {', '.join(sorted(missing))}")
    return event


_ENCODER = json.JSONEncoder(separators=(",", ":"), allow_nan=False)
