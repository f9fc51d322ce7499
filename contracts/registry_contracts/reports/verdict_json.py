"""`verdict.json`: the verdict for programs; its format is checked when it is written and when it is read."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import groupby
from pathlib import Path
from typing import Annotated, Any, Final, Literal, TypeVar

import msgspec
from msgspec import Meta, structs

from registry_contracts.evidence.accepted import DeviationOutcome, WaiverOutcome
from registry_contracts.evidence.causes import Cause
from registry_contracts.evidence.coverage_level import CoverageLevel
from registry_contracts.evidence.findings import Finding, FindingIds
from registry_contracts.evidence.record import Environment, Left, RunRecord, Verdict
from registry_contracts.evidence.repairs import Repair
from registry_contracts.evidence.verdicts import RunVerdict
from registry_contracts.file_formats import (
    Address,
    Count,
    FileName,
    Format,
    Level,
    Moment,
    Name,
    Names,
    RunExitCode,
    RunWord,
    Seed,
    same_outcome,
    write_file,
)
from registry_contracts.history.observed_facts import Change, Observation
from registry_contracts.interface.profiles import Profile
from registry_contracts.model.coverage import Coverage, coverage_of
from registry_contracts.model.rows import PAIRS, TRIPLES

FILE_NAME = "verdict.json"
FORMAT: Final = 3
#: Outcomes of cases that were judged.
_JUDGED: Final = (Verdict.PASS, Verdict.FAIL, Verdict.ADVISORY, Verdict.DEVIATION)

Declared = TypeVar("Declared", bound=Format)


class TargetEntry(Format, frozen=True):
    """The target of a run."""

    name: FileName
    kind: str
    base_url: Address


class ConsumerEntry(Format, frozen=True):
    """What the run was limited to; an empty list means no limit."""

    file: Name
    operations: Names
    methods: Mapping[str, Names]
    clauses: Names
    realms: Names


class CellEntry(Format, frozen=True):
    """The verdict on a clause in a realm; `reason` is null only for a pass or an observation."""

    verdict: Verdict
    assertions: Count
    held: Count
    contradicted: Count
    cases: Count
    findings: FindingIds
    reason: str | None

    def __post_init__(self) -> None:
        """Check what types cannot say."""
        if self.verdict is Verdict.PASS and not self.held:
            raise ValueError("a pass without an assertion that held")
        if self.verdict not in {Verdict.PASS, Verdict.OBSERVED} and not self.reason:
            raise ValueError(f"the verdict {self.verdict} has no reason")


class ClauseEntry(Format, frozen=True):
    """A clause and its verdicts by realm."""

    id: Name
    level: Level
    realms: Annotated[Mapping[str, CellEntry], Meta(min_length=1)]


class CountedChange(Change, frozen=True):
    """A change of an observation; `counted` is false outside what the consumer uses."""

    counted: bool


class VerdictFile(Format, frozen=True, kw_only=True):
    """The verdict of a run of the contract suite."""

    format: Literal[3] = FORMAT
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
    waived: Annotated[Mapping[str, Name], Meta(description="Clause id to the reason for waiving it.")]
    consumer: ConsumerEntry | None
    waivers: tuple[WaiverOutcome, ...]
    notes: Annotated[
        tuple[Name, ...],
        Meta(description="Warnings that do not fail the run, with file and line."),
    ]
    seed: Seed
    realms: Annotated[tuple[str, ...], Meta(extra_json_schema={"uniqueItems": True})]
    started: Moment
    finished: Moment | None
    seconds: float | None
    workers: Count
    command: str
    versions: Mapping[str, str]
    cases: Count
    counts: Annotated[
        Mapping[Verdict, Count], Meta(description="Number of clause and realm pairs with each verdict.")
    ]
    clauses: tuple[ClauseEntry, ...]
    findings: tuple[Finding, ...]
    causes: Annotated[
        tuple[Cause[str], ...],
        Meta(description="The findings grouped by cause, as every report shows them."),
    ] = ()
    observations: tuple[Observation, ...]
    drift: Annotated[
        tuple[CountedChange, ...],
        Meta(description="How observations differ from the accepted baseline; empty without a baseline."),
    ]
    deviations: tuple[DeviationOutcome, ...]
    environment: Environment
    coverage: Annotated[
        Mapping[str, Coverage],
        Meta(description="Pairs of the factor table that the run has covered; at night triples as well."),
    ] = msgspec.field(default_factory=dict)
    coverage_level: Annotated[
        CoverageLevel | None,
        Meta(description="Test coverage level (TCL) of the description; null in files of older versions."),
    ] = None
    repairs: tuple[Repair, ...] = ()
    residue: tuple[Left, ...]
    leftovers: tuple[Left, ...]

    def cells_of(self, clause: str) -> Mapping[str, CellEntry]:
        """The verdicts on a clause by realm; empty if the run did not judge it."""
        return next((each.realms for each in self.clauses if each.id == clause), {})

    def __post_init__(self) -> None:
        """Check what types cannot say."""
        same_outcome(self.verdict, self.exit_code)
        if self.complete is bool(self.problems):
            raise ValueError("complete and problems do not say the same")
        if not self.complete and self.exit_code not in {1, 2, 3}:
            raise ValueError("an incomplete record never passes")


def write(record: RunRecord, verdict: RunVerdict, folder: Path) -> Path:
    """Write `verdict.json`.

    Raises:
        SuiteError: the content does not fit its own schema.
    """
    return write_file(folder / FILE_NAME, build(record, verdict), VerdictFile)


def build(record: RunRecord, verdict: RunVerdict) -> VerdictFile:
    """Return the content of `verdict.json`."""
    run = record.run
    changes = verdict.drift.changes
    return _filled(
        VerdictFile,
        verdict,
        run,
        verdict=verdict.word,
        complete=not verdict.problems,
        target=target_of(record),
        consumer=_filled(ConsumerEntry, run.terms.consumer) if run.terms.consumer else None,
        cases=len(record.cases),
        counts={name: verdict.count(name) for name in Verdict},
        clauses=_clauses(verdict),
        causes=tuple(map(_by_ids, verdict.causes)),
        observations=record.observations,
        drift=[
            _filled(CountedChange, change, counted=change not in verdict.drift.outside) for change in changes
        ],
        residue=record.residue,
        leftovers=record.leftovers,
        coverage=coverage_of_run(record),
        coverage_level=record.coverage_level,
    )


def coverage_of_run(record: RunRecord) -> dict[str, Coverage]:
    """Return how many pairs of the factor table's values a run has judged, and at night how many triples."""
    cases = [
        (case.id, "" if case.outcome in _JUDGED else case.reason or str(case.outcome))
        for case in record.cases
    ]
    night = Profile(record.run.profile).includes(Profile.NIGHTLY)
    sizes = {"pairs": PAIRS} | ({"triples": TRIPLES} if night else {})
    return {name: coverage_of(cases, size) for name, size in sizes.items()}


def target_of(record: RunRecord) -> TargetEntry:
    """Return the target of a run."""
    return TargetEntry(record.run.target, record.run.target_kind, record.run.base_url)


def _filled(shape: type[Declared], *sources: Any, **given: Any) -> Declared:
    """Return an object of a declared type: each member is given, else taken from the first source that has it."""
    for name in shape.__struct_fields__:
        source = next((source for source in sources if hasattr(source, name)), None)
        if source is not None:
            given.setdefault(name, getattr(source, name))
    return msgspec.convert(given, shape, from_attributes=True)


def _by_ids(cause: Cause[Finding]) -> Cause[str]:
    """A cause that names its findings by their ids."""
    ids = tuple(finding.id for finding in cause.findings)
    members = structs.asdict(cause) | {"findings": ids, "follows": tuple(map(_by_ids, cause.follows))}
    return Cause(**members)


def _clauses(verdict: RunVerdict) -> list[ClauseEntry]:
    return [
        ClauseEntry(
            key,
            str(cells[0].clause.level),
            {cell.realm: _filled(CellEntry, cell, cases=len(cell.cases)) for cell in cells},
        )
        for key, group in groupby(verdict.cells, key=lambda cell: cell.clause.id)
        for cells in [list(group)]
    ]
