"""`verdict.json`: the machine's answer, declared once, checked before it is written and when it is read."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import date
from itertools import groupby
from pathlib import Path
from typing import Annotated, Any, ClassVar, Final, Literal

import msgspec
from msgspec import Meta

from contracts.errors import UsageError
from contracts.evidence.causes import Cause
from contracts.evidence.findings import Cell, Finding, Standing
from contracts.evidence.record import Environment, RunRecord, Verdict
from contracts.evidence.verdicts import DeviationOutcome, DeviationState, RunVerdict, WaiverOutcome
from contracts.file_formats import (
    EXIT_CODES,
    Count,
    Format,
    Level,
    Moment,
    Name,
    Names,
    RunExitCode,
    RunWord,
    Seed,
    read_file,
    same_outcome,
    write_file,
)
from contracts.history.observed_facts import ChangeEntry

FILE_NAME = "verdict.json"
#: What is written; older ones are read.
FORMAT: Final = 2

FindingId = Annotated[str, Meta(pattern="^[0-9a-f]{10}$")]
FindingIds = Annotated[tuple[FindingId, ...], Meta(extra_json_schema={"uniqueItems": True})]
Rate = Annotated[
    tuple[Count, Count], Meta(description="How many of how many replays showed the contradiction again.")
]


class TargetEntry(Format, frozen=True):
    """The target of a run."""

    name: str
    kind: str
    base_url: str


class ConsumerEntry(Format, frozen=True):
    """What the run was limited to; an empty list limits nothing."""

    file: Name
    operations: Names
    methods: Mapping[str, Names]
    clauses: Names
    realms: Names


class WaiverEntry(Format, frozen=True):
    """A must clause that the consumer does without a judgement on, and whether the run needed that."""

    clause: Name
    reason: Name
    file: Name
    line: Annotated[int, Meta(ge=1)]
    needed: bool
    realms: Names
    says: Name


class CellEntry(Format, frozen=True):
    """The verdict on a clause in a realm; `reason` is null only for a pass or an observation."""

    verdict: Verdict
    assertions: Count
    held: Count
    contradicted: Count
    cases: Count
    findings: FindingIds
    reason: str | None

    rules: ClassVar[Mapping[str, Any]] = {
        "allOf": [
            {
                "description": "No pass without an assertion that held.",
                "if": {"properties": {"verdict": {"const": "pass"}}},
                "then": {"properties": {"held": {"minimum": 1}}},
            },
            {
                "description": "What is neither pass nor observation has a reason.",
                "if": {"properties": {"verdict": {"not": {"enum": ["pass", "observed"]}}}},
                "then": {"properties": {"reason": {"type": "string", "minLength": 1}}},
            },
        ]
    }

    def __post_init__(self) -> None:
        """Check what `rules` say."""
        if self.verdict is Verdict.PASS and not self.held:
            raise ValueError("a pass without an assertion that held")
        if self.verdict not in {Verdict.PASS, Verdict.OBSERVED} and not self.reason:
            raise ValueError(f"the verdict {self.verdict} has no reason")


class ClauseEntry(Format, frozen=True):
    """A clause and its verdicts by realm."""

    id: Name
    level: Level
    realms: Annotated[Mapping[str, CellEntry], Meta(min_length=1)]


class ReproduceEntry(Format, frozen=True):
    """How a finding is sent again."""

    command: str
    curl: tuple[str, ...]


class FindingEntry(Format, frozen=True, kw_only=True):
    """A finding, the way every machine-readable report shows it.

    `counted` is false outside what the consumer uses, whose `methods` call the operation; `deviation` is file and
    line of the entry that accepts it.
    """

    id: FindingId
    clause: Name
    realm: Name
    operation: str | None
    standing: Standing
    role: str | None
    expected: str
    seen: str
    confirmed: bool
    intermittent: bool
    rate: Rate
    counted: bool
    methods: Names
    deviation: str | None
    cases: Annotated[tuple[str, ...], Meta(min_length=1, extra_json_schema={"uniqueItems": True})]
    exchanges: tuple[str, ...]
    reproduce: ReproduceEntry


class FollowingEntry(Format, frozen=True):
    """What only follows from another finding; `findings` are the ids of its findings, one for each realm."""

    clause: Name
    operation: str | None
    standing: Standing
    should: str
    was: str
    findings: Annotated[FindingIds, Meta(min_length=1)]


class CauseEntry(Format, frozen=True, kw_only=True):
    """Findings of one cause: one contradiction of one clause on one operation, in every realm that shows it.

    `id` is that of the finding whose evidence is shown, and `findings` holds one for each of `realms`. `should` and
    `was` say in words what should be and what was, `faults` what is wrong with the request, `quote` what the interface
    document says, `request` what was sent, `contrast` what the same got without its fault. `blocked_cases` counts the
    cases it stood in the way of, `blocked_clauses` names the clauses that could not be judged for it.
    """

    id: FindingId
    clause: Name
    operation: str | None
    standing: Standing
    counted: bool
    realms: Annotated[Names, Meta(min_length=1)]
    should: str
    was: str
    faults: tuple[str, ...]
    quote: str = ""
    request: str = ""
    contrast: str = ""
    findings: Annotated[FindingIds, Meta(min_length=1)]
    follows: tuple[FollowingEntry, ...]
    blocked_cases: Count
    blocked_clauses: Names


class ObservationEntry(Format, frozen=True):
    """What a case saw where the document is silent; `seen` is any JSON value."""

    clause: Name
    realm: Name
    operation: str | None
    case: str
    seen: Any


class LeftEntry(Format, frozen=True):
    """A record that the run created and did not remove."""

    realm: str
    operation: str | None
    identifier: str
    what: str


class CountedChange(ChangeEntry, frozen=True):
    """A change of an observation; `counted` is false where it does not touch what the consumer uses."""

    counted: bool


class DeviationEntry(Format, frozen=True, kw_only=True):
    """An accepted deviation and what became of it in this run; `profile` is the first one that shows it.

    `days_left` is 0 on its last day, and negative once the date has passed.
    """

    clause: Name
    realms: Annotated[Names, Meta(min_length=1)]
    operation: str | None
    reason: Name
    owner: Name
    issue: Annotated[str, Meta(pattern="^https?://")]
    expires: date
    profile: str
    file: Name
    line: Annotated[int, Meta(ge=1)]
    course: DeviationState
    days_left: int
    happens_in: Names
    gone_in: Names
    unjudged_in: Names
    findings: FindingIds
    counted: bool
    fails: bool
    warns: bool
    says: Name

    rules: ClassVar[Mapping[str, Any]] = {
        "if": {"properties": {"fails": {"const": True}}},
        "then": {"properties": {"course": {"enum": ["expired", "gone"]}, "counted": {"const": True}}},
    }

    def __post_init__(self) -> None:
        """Check what `rules` say."""
        if self.fails and not (self.counted and self.course in {DeviationState.EXPIRED, DeviationState.GONE}):
            raise ValueError("a deviation that fails the run has expired or is gone, and counts")


class EnvironmentEntry(Environment, frozen=True, forbid_unknown_fields=True):
    """What the run did to its target and met there; see `Environment`."""

    rules: ClassVar[Mapping[str, Any]] = {
        "required": ["requests", "retries", "faults", "breaker"],
        "additionalProperties": False,
    }


class VerdictFile(Format, frozen=True, kw_only=True):
    """The verdict of a run of the contract suite.

    Format 1 has no `causes`.
    """

    format: Literal[1, 2] = FORMAT
    verdict: RunWord
    exit_code: RunExitCode
    reason: Annotated[Name, Meta(description="One sentence for people.")]
    complete: Annotated[
        bool, Meta(description="False: parts of the evidence are missing, whatever the verdict is.")
    ]
    problems: tuple[Name, ...]
    interrupted: bool
    target: TargetEntry
    profile: str
    strict: bool
    waived: Annotated[
        Mapping[str, Name], Meta(description="Clause id to the reason for doing without a judgement on it.")
    ]
    consumer: ConsumerEntry | None
    waivers: tuple[WaiverEntry, ...]
    notes: Annotated[
        tuple[Name, ...],
        Meta(description="What needs attention and does not fail the run, with file and line."),
    ]
    seed: Seed
    realms: Annotated[tuple[str, ...], Meta(extra_json_schema={"uniqueItems": True})]
    started: Moment
    finished: Moment | None
    seconds: float | None
    workers: Count
    shard: Annotated[
        Mapping[str, Any] | None,
        Meta(description="Which part it is, where an earlier version parted the run."),
    ] = None
    shards: Annotated[
        tuple[str, ...], Meta(description="The folders that an earlier version merged it from.")
    ] = ()
    command: str
    versions: Mapping[str, str]
    cases: Count
    counts: Annotated[
        Mapping[Verdict, Count], Meta(description="Number of clause and realm pairs with each verdict.")
    ]
    clauses: tuple[ClauseEntry, ...]
    findings: tuple[FindingEntry, ...]
    causes: Annotated[
        tuple[CauseEntry, ...],
        Meta(description="The findings by what they come from, as every report shows them."),
    ] = ()
    observations: tuple[ObservationEntry, ...]
    drift: Annotated[
        tuple[CountedChange, ...],
        Meta(description="How observations differ from the accepted baseline; empty where there is none."),
    ]
    deviations: tuple[DeviationEntry, ...]
    environment: EnvironmentEntry
    residue: tuple[LeftEntry, ...]
    leftovers: tuple[LeftEntry, ...]

    rules: ClassVar[Mapping[str, Any]] = {
        "allOf": [
            {
                "description": "A record that is not whole never passes.",
                "if": {"properties": {"complete": {"const": False}}},
                "then": {"properties": {"problems": {"minItems": 1}, "exit_code": {"enum": [1, 2, 3]}}},
                "else": {"properties": {"problems": {"maxItems": 0}}},
            },
            {
                "description": "Verdict and exit code say the same.",
                "oneOf": [
                    {"properties": {"verdict": {"const": word}, "exit_code": {"const": code}}}
                    for word, code in EXIT_CODES.items()
                ],
            },
        ]
    }

    def __post_init__(self) -> None:
        """Check what `rules` say."""
        same_outcome(self.verdict, self.exit_code)
        if self.complete is bool(self.problems):
            raise ValueError("complete and problems do not say the same")
        if not self.complete and self.exit_code not in {1, 2, 3}:
            raise ValueError("a record that is not whole never passes")


def write(record: RunRecord, verdict: RunVerdict, folder: Path) -> Path:
    """Write `verdict.json`.

    Raises:
        SuiteError: the content does not fit its own schema.
    """
    return write_file(folder / FILE_NAME, build(record, verdict), VerdictFile)


def read(path: Path) -> VerdictFile:
    """Read a `verdict.json`.

    Raises:
        UsageError: it is absent, or cannot be used; one line with its path.
    """
    try:
        return read_file(path, VerdictFile)
    except FileNotFoundError:
        raise UsageError(f"{path} is absent") from None


def build(record: RunRecord, verdict: RunVerdict) -> VerdictFile:
    """Return the content of `verdict.json`."""
    run = record.run
    return VerdictFile(
        verdict=verdict.word,
        exit_code=int(verdict.exit_code),
        reason=verdict.reason,
        complete=not verdict.problems,
        problems=verdict.problems,
        interrupted=run.interrupted,
        target=target_of(record),
        profile=run.profile,
        strict=run.strict,
        waived=run.waived,
        consumer=_taken(run.terms.consumer, ConsumerEntry | None),
        waivers=tuple(map(_waiver, verdict.waivers)),
        notes=verdict.notes,
        seed=run.seed,
        realms=run.realms,
        started=run.started,
        finished=run.finished,
        seconds=run.seconds,
        workers=run.workers,
        command=run.command,
        versions=run.versions,
        cases=len(record.cases),
        counts={name: verdict.count(name) for name in Verdict},
        clauses=_clauses(verdict),
        findings=tuple(map(describe, verdict.findings)),
        causes=tuple(map(_cause, verdict.causes)),
        observations=_taken(record.observations, tuple[ObservationEntry, ...]),
        drift=tuple(
            CountedChange(**msgspec.structs.asdict(change.entry), counted=change not in verdict.drift.outside)
            for change in verdict.drift.changes
        ),
        deviations=tuple(map(_deviation, verdict.deviations)),
        environment=_taken(run.environment, EnvironmentEntry),
        residue=_taken(record.residue, tuple[LeftEntry, ...]),
        leftovers=_taken(record.leftovers, tuple[LeftEntry, ...]),
    )


def target_of(record: RunRecord) -> TargetEntry:
    """Return the target of a run."""
    return TargetEntry(record.run.target, record.run.target_kind, record.run.base_url)


def describe(finding: Finding) -> FindingEntry:
    """Return a finding, the way every machine-readable report shows it."""
    return FindingEntry(
        id=finding.id,
        clause=finding.clause,
        realm=finding.realm,
        operation=finding.operation,
        standing=finding.standing,
        role=finding.role,
        expected=finding.expected,
        seen=finding.seen,
        confirmed=finding.confirmed,
        intermittent=finding.intermittent,
        rate=(finding.reproduced, finding.attempts),
        counted=finding.counted,
        methods=finding.methods,
        deviation=finding.accepted.place if finding.accepted else None,
        cases=finding.cases,
        exchanges=finding.exchanges,
        reproduce=ReproduceEntry(finding.command, finding.curl),
    )


def _cause(cause: Cause) -> CauseEntry:
    lead = cause.lead
    return CauseEntry(
        id=lead.id,
        clause=lead.clause,
        operation=lead.operation,
        standing=lead.standing,
        counted=lead.counted,
        realms=cause.realms,
        should=cause.should,
        was=cause.was,
        faults=cause.faults,
        quote=cause.quote,
        request=cause.request,
        contrast=cause.contrast,
        findings=tuple(finding.id for finding in cause.findings),
        follows=tuple(
            FollowingEntry(
                follow.lead.clause,
                follow.lead.operation,
                follow.lead.standing,
                follow.should,
                follow.was,
                tuple(finding.id for finding in follow.findings),
            )
            for follow in cause.follows
        ),
        blocked_cases=len(cause.cases),
        blocked_clauses=cause.clauses,
    )


def _taken(source: Any, shape: Any) -> Any:
    """Return the declared members of an object, taken from its attributes."""
    return msgspec.convert(source, shape, from_attributes=True)


def _clauses(verdict: RunVerdict) -> tuple[ClauseEntry, ...]:
    return tuple(
        ClauseEntry(key, str(group[0].clause.level), {cell.realm: _cell(cell) for cell in group})
        for key, cells in groupby(verdict.cells, key=lambda cell: cell.clause.id)
        for group in [list(cells)]
    )


def _cell(cell: Cell) -> CellEntry:
    return CellEntry(
        verdict=cell.verdict,
        assertions=cell.assertions,
        held=cell.held,
        contradicted=cell.contradicted,
        cases=len(cell.cases),
        findings=cell.findings,
        reason=cell.reason,
    )


def _waiver(outcome: WaiverOutcome) -> WaiverEntry:
    waiver = outcome.waiver
    return WaiverEntry(
        clause=waiver.clause,
        reason=waiver.reason,
        file=waiver.file,
        line=waiver.line,
        needed=outcome.needed,
        realms=outcome.realms,
        says=outcome.says,
    )


def _deviation(outcome: DeviationOutcome) -> DeviationEntry:
    entry = outcome.deviation
    return DeviationEntry(
        **{name: getattr(entry, name) for name in entry.__dataclass_fields__},
        course=outcome.course,
        days_left=outcome.days_left,
        happens_in=outcome.happens_in,
        gone_in=outcome.gone_in,
        unjudged_in=outcome.unjudged_in,
        findings=outcome.findings,
        counted=outcome.counted,
        fails=outcome.fails,
        warns=outcome.warns,
        says=outcome.says,
    )
