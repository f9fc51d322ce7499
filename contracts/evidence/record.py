"""The record of a run: what its journals and `run.json` say, as plain data, and the words of a verdict.

A journal says what one worker did, as append-only JSON lines. Every report is a function of the journals and
`run.json`, so a journal holds facts only and is written once. The types that stand in these files as they are declare
them too: `contracts.file_formats` reads data into them.
"""

from __future__ import annotations

import hashlib
import json
import threading
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, date, datetime
from enum import IntEnum, StrEnum
from importlib.metadata import version
from pathlib import Path
from types import MappingProxyType, TracebackType
from typing import IO, Annotated, Any, ClassVar, Final, Self

from msgspec import UNSET, Meta, UnsetType

from contracts.errors import SuiteError, UsageError
from contracts.evidence.terms import Terms
from contracts.exchanges.exchange import Exchange, ExchangeEntry
from contracts.file_formats import (
    PACKED,
    Count,
    FileName,
    Moment,
    Name,
    OpenFormat,
    Seconds,
    Seed,
    convert,
    one_of,
    parse,
    read_bytes,
    required_members,
)
from contracts.interface.profiles import Profile
from contracts.safe_text import encodable, finite
from contracts.settings.target import target_in_words


class Verdict(StrEnum):
    """What is said of one clause in one realm; members stand worst first."""

    FAIL = "fail"
    ERROR = "error"
    INCONCLUSIVE = "inconclusive"
    ADVISORY = "advisory"
    DEVIATION = "deviation"
    UNTESTED = "untested"
    OBSERVED = "observed"
    PASS = "pass"  # noqa: S105

    @property
    def rank(self) -> int:
        """Place in the worst-first order, 0 for the worst."""
        return _RANKS[self]


class ExitCode(IntEnum):
    """Exit codes of the command and of bare pytest."""

    PASS = 0
    FAIL = 1
    INTERRUPTED = 2
    ERROR = 3
    USAGE = 4
    NOTHING_TESTED = 5
    INCONCLUSIVE = 6

    @property
    def word(self) -> str:
        """The verdict's name as people read it: `pass`, `nothing tested`, …."""
        return self.name.lower().replace("_", " ")


PRECEDENCE = (
    ExitCode.INTERRUPTED,
    ExitCode.FAIL,
    ExitCode.ERROR,
    ExitCode.INCONCLUSIVE,
    ExitCode.NOTHING_TESTED,
    ExitCode.PASS,
)
"""When several hold, the first of these counts."""


def worst(verdicts: Iterable[Verdict]) -> Verdict:
    """Return the worst of several verdicts; `untested` when there is none."""
    return min(verdicts, key=lambda verdict: verdict.rank, default=Verdict.UNTESTED)


def deciding_exit_code(holding: Iterable[ExitCode]) -> ExitCode:
    """Return the exit code that counts when several hold, by `PRECEDENCE`; a run that was refused has seen nothing."""
    return min(holding, key=(*PRECEDENCE, ExitCode.USAGE).index)


_RANKS = {verdict: rank for rank, verdict in enumerate(Verdict)}


_DIGEST_LENGTH: Final = 16


def digest(value: Any) -> str:
    """Return sixteen hexadecimal digits that tell JSON-able data from any other."""
    text = json.dumps(value, sort_keys=True, separators=(",", ":"), default=str)
    return hashlib.sha256(text.encode()).hexdigest()[:_DIGEST_LENGTH]


class Environment(OpenFormat, frozen=True):
    """What a run did to its target and met there.

    `breaker` says why the run was stopped early. `limits`: what the run was allowed to do; null is no limit.
    `permanent_records`: realm to how many contacts and submissions the run created, or may have created. `seconds`:
    phase to seconds: start and collection of the slowest process, all else of all together. `peak_memory_mb`: the most
    memory that one process took, in MiB; null where it is unknown.
    """

    requests: Count = 0
    retries: Count = 0
    faults: Mapping[str, Count] = {}
    breaker: str | None = None
    limits: Mapping[str, Annotated[int, Meta(gt=0)] | Annotated[float, Meta(gt=0)] | None] = {}
    permanent_records: Mapping[str, Count] = {}
    seconds: Mapping[str, Seconds] = {}
    peak_memory_mb: Seconds | None = None


@dataclass(frozen=True, slots=True)
class RunFacts:
    """What the controller knows of the run as a whole (`run.json`).

    `finished` is None when the closing record is absent: the run is still going on, or was killed.
    `without_journal` names the workers that died before they could begin one.
    `clauses` are the ids selected for the run; `settings` are those of the target, by realm. `waived` maps a clause id
    to the reason for doing without a judgement on it. `terms` are the consumer and the deviations that the run is held
    to. `planned` is the number of cases there are to be, None where it is unknown. `died` names workers that died.
    `refused` says why settings or options could not be used, so that nothing was sent; None for a run that began.
    `token` begins the identifiers of the run's records; it is not secret.
    """

    target: str
    target_kind: str
    base_url: str
    profile: Annotated[str, one_of(*Profile)]
    seed: Seed
    realms: tuple[Name, ...]
    clauses: tuple[Name, ...]
    started: Moment
    finished: Moment | None
    workers: Count
    command: str
    versions: Mapping[str, str]
    environment: Environment
    interrupted: bool
    expected_workers: tuple[FileName, ...]
    without_journal: tuple[FileName, ...] = ()
    strict: bool = False
    waived: Mapping[str, Name] = field(default_factory=dict)
    terms: Terms = field(default_factory=Terms)
    settings: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    planned: Count | None = None
    died: tuple[str, ...] = ()
    refused: Name | None = None
    token: Name = ""

    @property
    def target_in_words(self) -> str:
        """What was judged: the embedded sandbox, or the target's name and address."""
        return target_in_words(self.target, self.base_url)

    @property
    def seconds(self) -> float | None:
        """How long the run took, or None when it did not finish."""
        if self.finished is None:
            return None
        return (datetime.fromisoformat(self.finished) - datetime.fromisoformat(self.started)).total_seconds()

    @property
    def day(self) -> date:
        """The day (UTC) the run was started on, which deviations are held against."""
        moment = datetime.fromisoformat(self.started)
        return (moment.astimezone(UTC) if moment.tzinfo else moment).date()

    @property
    def breaker(self) -> str | None:
        """Why the run was stopped early by the circuit breaker, or None."""
        return self.environment.breaker or None


class RunProcess(OpenFormat, frozen=True):
    """The process of a run's controller."""

    pid: Count
    host: str


@dataclass(frozen=True, kw_only=True)
class RunFile(RunFacts):
    """`run.json` as a whole; reports are made from it and the journals, and later versions may add members.

    The ledger of a `call` that left something has one with fewer members. `left` counts drafts that could not be
    removed.
    """

    left: Count | UnsetType = UNSET
    process: RunProcess | UnsetType = UNSET

    rules: ClassVar[Mapping[str, Any]] = {"required": ["target", "base_url", "started", "finished"]}


@dataclass(frozen=True, slots=True)
class AssertionCount:
    """How often one case held or contradicted one clause on one operation."""

    clause: Name
    operation: str | None
    held: Count
    contradicted: Count


@dataclass(frozen=True, slots=True)
class Block:
    """What stood in the way of a case: an operation in a realm, and the cause in words."""

    operation: str | None
    realm: str | None
    cause: str


@dataclass(frozen=True, slots=True)
class Case:
    """One case that ended, or that a worker died in (`outcome` error).

    `deals`: what it tries is dealt out among the realms of the run, so that a clause may have its turn elsewhere.
    """

    id: str
    name: str
    doc: str
    realm: str
    clauses: tuple[str, ...]
    operations: tuple[str, ...]
    profile: str | None
    outcome: Verdict
    reason: str | None
    blocked_by: Block | None
    attempts: int
    started: str | None
    seconds: float
    requests: int
    assertions: tuple[AssertionCount, ...]
    worker: str
    deals: bool = False

    @property
    def anywhere(self) -> str:
        """Its id, the same in every realm."""
        return self.id.replace(self.realm, "*")


Rate = Annotated[
    tuple[Count, Count], Meta(description="How many of how many replays showed the contradiction again.")
]


class SeenFinding(OpenFormat, frozen=True):
    """A contradiction as one case saw it; verdicts put equal ones together.

    `check` names the check of the table that saw it; empty for a comparison that a case made by itself.
    """

    clause: Name
    realm: Name
    operation: str | None
    case: Name
    role: str | None
    expected: str
    seen: str
    confirmed: bool
    rate: Rate
    exchanges: tuple[Name, ...]
    curl: tuple[str, ...]
    command: str
    check: str = ""


@dataclass(frozen=True, slots=True)
class Observation:
    """What was seen at a point where the document is silent; `seen` is any JSON value."""

    clause: Name
    realm: Name
    operation: str | None
    case: Name
    seen: Any


@dataclass(frozen=True, slots=True)
class Left:
    """A thing the run created and did not remove: residue (cannot be) or leftover (was not)."""

    realm: Name
    operation: str | None
    identifier: str
    what: Name


def distinct_records(lefts: Iterable[Left]) -> tuple[Left, ...]:
    """Each record once that a run left: several workers may have written to one; one without identifier is its own."""
    records: dict[tuple[str, str, str | int], Left] = {}
    for number, left in enumerate(lefts):
        records.setdefault((left.realm, left.what.partition(" (")[0], left.identifier or number), left)
    return tuple(records.values())


@dataclass(frozen=True, slots=True)
class Untested:
    """A clause that no case could take up in a realm, and why."""

    clause: Name
    realm: Name
    reason: Name


@dataclass(frozen=True, slots=True)
class Narrowed:
    """Not every case on some clauses was taken up.

    `cells` holds pairs of clause and realm, None for all of them.
    """

    reason: Name
    cells: frozenset[tuple[str, str]] | None

    def touches(self, clause: str, realm: str) -> bool:
        """Tell whether cases on a clause may have been left out in a realm."""
        return self.cells is None or (clause, realm) in self.cells


@dataclass(frozen=True, slots=True)
class RunRecord:
    """Everything a report is made from. `problems` says why the record is not whole; empty when it is.

    `crashes` says of each worker that died without harm to the record what became of its case.
    """

    run: RunFacts
    cases: tuple[Case, ...]
    findings: tuple[SeenFinding, ...]
    observations: tuple[Observation, ...]
    exchanges: Mapping[str, Exchange]
    faults: tuple[Mapping[str, Any], ...]
    residue: tuple[Left, ...]
    leftovers: tuple[Left, ...]
    untested: tuple[Untested, ...]
    problems: tuple[str, ...]
    narrowed: tuple[Narrowed, ...] = ()
    crashes: tuple[str, ...] = ()

    @property
    def complete(self) -> bool:
        """Whether every worker closed its journal and the run has its closing record."""
        return not self.problems

    def exchanges_of(self, case: str) -> tuple[Exchange, ...]:
        """Return the exchanges of a case in the order they were sent."""
        return tuple(exchange for exchange in self.exchanges.values() if exchange.case == case)


Event = dict[str, Any]


class StartEvent(OpenFormat, frozen=True):
    """The first line of a journal; `run` is the token of its run."""

    worker: Name
    version: Name
    at: Moment
    run: Name | UnsetType = UNSET


class EndEvent(OpenFormat, frozen=True):
    """The last line of a journal that is whole; `events` counts the lines between."""

    at: Moment
    events: Count


class BeginEvent(OpenFormat, frozen=True):
    """A case that begins."""

    case: Name
    name: str
    realm: Name
    clauses: tuple[Name, ...]
    operations: tuple[Name, ...]


class CaseEvent(OpenFormat, frozen=True, rename={"id": "case"}):
    """A case that ended."""

    id: Name
    name: str
    doc: str
    realm: Name
    clauses: tuple[Name, ...]
    operations: tuple[Name, ...]
    profile: str
    outcome: Verdict
    reason: str | None
    blocked_by: Block | None
    attempts: Annotated[int, Meta(ge=1)]
    started: Moment
    seconds: Seconds
    requests: Count
    assertions: tuple[AssertionCount, ...]
    deals: bool = False


@dataclass(frozen=True, slots=True)
class FaultEvent:
    """A fault of the environment that the run met."""

    fault: str


#: What each kind of event must carry; further members may come with any version.
EVENTS: Final[Mapping[str, Any]] = MappingProxyType(
    {
        "start": StartEvent,
        "begin": BeginEvent,
        "case": CaseEvent,
        "finding": SeenFinding,
        "observation": Observation,
        "exchange": ExchangeEntry,
        "fault": FaultEvent,
        "residue": Left,
        "leftover": Left,
        "untested": Untested,
        "narrowed": Narrowed,
        "end": EndEvent,
    }
)
#: The members that each kind of event must have, by the kinds that cases and workers write.
REQUIRED_FIELDS: Final[Mapping[str, frozenset[str]]] = MappingProxyType(
    {kind: required_members(shape) for kind, shape in EVENTS.items() if kind not in {"start", "end"}}
)

# An exchange waits in the buffer for the end of its case; everything rarer goes to the file at once, so that
# a worker that is killed leaves the name of the case it was in.
_BUFFERED_KINDS = frozenset({"exchange", "observation"})


class Journal:
    """Writes one worker's journal; use it as a context manager.

    Raises:
        UsageError: the file exists already; a journal is never continued or overwritten.
    """

    def __init__(self, path: Path, worker: str, run: str = "") -> None:
        self.worker: Final = worker
        self._lock = threading.Lock()
        self._events = 0
        self._closed = False
        path.parent.mkdir(parents=True, exist_ok=True)
        try:
            self._file: IO[str] = path.open("x", encoding="ascii", newline="\n", buffering=1 << 16)
        except FileExistsError as error:
            raise UsageError(f"{path} exists already: choose a new reports folder, or remove it") from error
        start = {"kind": "start", "worker": worker, "version": version("registry-contracts"), "at": utc_now()}
        start |= {"run": run} if run else {}
        self._file.write(_encode(start))
        self._file.flush()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

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
    """Return where the journal of `worker` stands, or is to stand, in a run folder; a large run's is packed."""
    path = run_folder / f"journal-{worker}.jsonl"
    packed = path.with_name(path.name + PACKED)
    return packed if packed.exists() and not path.exists() else path


def journals_in(run_folder: Path) -> list[Path]:
    """Return every journal in a run folder, packed or not."""
    pattern = journal_path(run_folder, "*").name
    return sorted([*run_folder.glob(pattern), *run_folder.glob(pattern + PACKED)])


def read_journal(path: Path) -> list[Event]:
    """Read a journal back, a cut last line left out.

    Returns:
        The events in the order of writing, `start` first. A last event other than `end` means that the worker
        did not finish; `is_closed` tells.
    """
    try:
        lines = read_bytes(path).split(b"\n")
    except FileNotFoundError as error:
        raise UsageError(f"{path} is absent: the run folder is not complete") from error
    except OSError as error:
        raise UsageError(f"cannot read {path}: {error.strerror}") from None
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
        return _ENCODER.encode(finite(event)) + "\n"
    except TypeError as error:
        raise SuiteError(f"journal: an event of kind '{event['kind']}' is not JSON-able: {error}") from error


def _decode(path: Path, number: int, line: bytes) -> Event:
    place = f"{path}, line {number}"
    event = parse(line, place)
    if b"\\ud" in line:
        # No file in UTF-8 can hold a lone surrogate: from here on it is written as its escape.
        event = encodable(event)
    if not isinstance(event, dict) or not isinstance(event.get("kind"), str):
        raise UsageError(f"{place}: not an event (an object with a 'kind')")
    if event["kind"] not in EVENTS:
        raise UsageError(f"{place}: the kind of event '{event['kind']}' is not known to this version")
    convert(event, EVENTS[event["kind"]], place)
    return event


_ENCODER = json.JSONEncoder(separators=(",", ":"), allow_nan=False)
