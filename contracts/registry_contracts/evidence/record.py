"""The record of a run: the content of its journals and `run.json` as plain data, and the kinds of verdicts."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, date, datetime
from enum import StrEnum
from typing import Annotated, Any, Final

from msgspec import Meta

from registry_contracts.errors import ExitCode
from registry_contracts.evidence.coverage_level import CoverageLevel
from registry_contracts.evidence.findings import Finding
from registry_contracts.evidence.terms import Terms
from registry_contracts.exchanges.exchange import Exchange
from registry_contracts.file_formats import (
    Address,
    Count,
    FileName,
    Moment,
    Name,
    OpenFormat,
    Seconds,
    Seed,
    check_moment,
    one_of,
)
from registry_contracts.history.observed_facts import Observation
from registry_contracts.interface.profiles import Profile
from registry_contracts.session.pipeline import FaultEvent
from registry_contracts.settings.target import target_in_words


class Verdict(StrEnum):
    """The verdict on one clause in one realm; the worst comes first."""

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
        return list(Verdict).index(self)

    @property
    def given(self) -> bool:
        """Whether the clause was judged, or observed where the document is silent."""
        return self not in {Verdict.ERROR, Verdict.INCONCLUSIVE, Verdict.UNTESTED}


PRECEDENCE = (
    ExitCode.INTERRUPTED,
    ExitCode.FAIL,
    ExitCode.ERROR,
    ExitCode.INCONCLUSIVE,
    ExitCode.NOTHING_TESTED,
    ExitCode.PASS,
    ExitCode.USAGE,
)
"""When several hold, the first of these counts; a usage error comes alone."""


class Environment(OpenFormat, frozen=True):
    """What a run sent to its target, and the faults that it met.

    `breaker` says why the run was stopped early. `limits`: what the run was allowed to do; null means no limit.
    `permanent_records`: contacts and submissions that it created or may have created, by realm.
    """

    requests: Count = 0
    retries: Count = 0
    faults: Mapping[str, Count] = {}
    breaker: str | None = None
    limits: Mapping[str, Annotated[int, Meta(gt=0)] | Annotated[float, Meta(gt=0)] | None] = {}
    permanent_records: Mapping[str, Count] = {}


@dataclass(frozen=True, slots=True)
class RunFacts:
    """Facts of the run as a whole, from the controller (`run.json`).

    `finished` is None while a run goes on, and if it was killed. `without_journal` names workers that died before they
    began a journal. `clauses` are those selected for the run; `settings` those of the target, by realm. `planned` is
    the number of cases. `refused` says why settings or options could not be used, so that nothing was sent. `token`
    begins the identifiers of the run's records; it is not secret.
    """

    target: FileName
    target_kind: str
    base_url: Address
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
    token: str = ""

    def __post_init__(self) -> None:
        """Refuse moments that no calendar has."""
        for moment in filter(None, (self.started, self.finished)):
            check_moment(moment)

    @property
    def target_in_words(self) -> str:
        """The embedded sandbox, or the target's name and address."""
        return target_in_words(self.target, self.base_url)

    @property
    def began(self) -> datetime:
        """The moment at which the run started."""
        return datetime.fromisoformat(self.started)

    @property
    def seconds(self) -> float | None:
        """How long the run took, or None when it did not finish."""
        if self.finished is None:
            return None
        return (datetime.fromisoformat(self.finished) - self.began).total_seconds()

    @property
    def day(self) -> date:
        """The day (UTC) on which the run started; deviations expire by it."""
        return self.began.astimezone(UTC).date()

    @property
    def breaker(self) -> str | None:
        """Why the run was stopped early by the circuit breaker, or None."""
        return self.environment.breaker or None


class AssertionCount(OpenFormat, frozen=True):
    """How often assertions of one case on a clause and an operation held or were contradicted."""

    clause: Name
    operation: str | None
    held: Count
    contradicted: Count


class Block(OpenFormat, frozen=True):
    """What blocked a case: an operation in its realm, the cause as text, and the clause that it relies on."""

    operation: str | None
    cause: str
    clause: str = ""


class CaseBegun(OpenFormat, frozen=True, rename={"id": "case"}, kw_only=True):
    """A case that begins."""

    id: Name
    name: str
    realm: Name
    clauses: tuple[Name, ...]
    operations: tuple[Name, ...]


#: The reason of a case that sent requests but stated nothing about its clauses.
QUIET: Final = "the case ended without an assertion or an observation"


class Case(CaseBegun, frozen=True, rename={"id": "case"}, kw_only=True):
    """One case that ended, or in which a worker died (`outcome` error, no attempts).

    `deals`: its inputs are distributed over the realms of the run, so another realm may have tested a clause.
    `settings`: missing settings that kept it from running.
    """

    doc: str = ""
    outcome: Verdict
    reason: str | None = None
    blocked_by: Block | None = None
    attempts: Count = 0
    seconds: Seconds = 0.0
    requests: Count = 0
    assertions: tuple[AssertionCount, ...] = ()
    deals: bool = False
    settings: tuple[Name, ...] = ()
    worker: str = ""

    @property
    def quiet(self) -> bool:
        """Whether it stated nothing about its clauses; perhaps the service gave no occasion."""
        return self.reason == QUIET

    @property
    def anywhere(self) -> str:
        """Its id, the same in every realm."""
        return self.id.replace(self.realm, "*")


class Left(OpenFormat, frozen=True):
    """A record that the run created and did not remove: residue (cannot be removed) or leftover (was not)."""

    realm: Name
    operation: str | None
    identifier: str
    what: Name


class Untested(OpenFormat, frozen=True):
    """A clause that no case could test in a realm, and why."""

    clause: Name
    realm: Name
    reason: Name


class Narrowed(OpenFormat, frozen=True):
    """Some cases on some clauses were left out.

    `cells` holds pairs of clause and realm, None for all. `series` says that the run compares with runs that were
    limited in the same way (by clauses or a consumer), which the history keeps apart.
    """

    reason: Name
    cells: frozenset[tuple[str, str]] | None
    series: bool = False

    def touches(self, clause: str, realm: str) -> bool:
        """Tell whether cases on a clause may have been left out in a realm."""
        return self.cells is None or (clause, realm) in self.cells


@dataclass(frozen=True, slots=True)
class RunRecord:
    """Everything that reports are made from. `problems` says why the record is incomplete; empty if it is complete.

    `crashes` has a line for each worker that died without harm to the record.
    """

    run: RunFacts
    cases: tuple[Case, ...]
    findings: tuple[Finding, ...]
    observations: tuple[Observation, ...]
    exchanges: Mapping[str, Exchange]
    faults: tuple[FaultEvent, ...]
    residue: tuple[Left, ...]
    leftovers: tuple[Left, ...]
    untested: tuple[Untested, ...]
    problems: tuple[str, ...]
    narrowed: tuple[Narrowed, ...] = ()
    crashes: tuple[str, ...] = ()
    coverage_level: CoverageLevel | None = None

    def exchanges_of(self, finding: Finding) -> tuple[Exchange, ...]:
        """Return the exchanges of a finding that the record holds, in the order of the sequence."""
        return tuple(self.exchanges[key] for key in finding.exchanges if key in self.exchanges)
