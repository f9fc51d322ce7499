"""A shard: one part of a run that is dealt out to several machines, and the plan that all its parts have in common.

The record of a run: what its journals and `run.json` say, put together as plain data.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, date, datetime
from typing import Any, Final, Self

from contracts.errors import UsageError
from contracts.evidence.outcomes import Verdict
from contracts.evidence.terms import Terms

#: Members of a plan that are too long to be told; of these only a digest is kept.
_DIGEST_LENGTH: Final = 16
_FINGERPRINT_LENGTH: Final = 12
#: Stands in a plan for the address of a sandbox that every shard has for itself.
EMBEDDED: Final = "embedded"


@dataclass(frozen=True, slots=True)
class Shard:
    """One part of a run.

    `plan` holds what makes the parts of one run belong together, by the words in which people know it (`seed`,
    `profile`, `target`, …). `all_cases` counts and digests the cases of the whole plan, `cases` are the ids of this
    shard's; both are None when the run ended before it knew them.
    """

    number: int
    of: int
    plan: Mapping[str, Any] = field(default_factory=dict)
    all_cases: str | None = None
    cases: tuple[str, ...] | None = None

    @property
    def name(self) -> str:
        """The shard in words."""
        return f"shard {self.number} of {self.of}"

    @property
    def address(self) -> str | None:
        """Base URL of the target that all shards have in common; None for embedded sandboxes."""
        address = self.plan.get("address")
        return None if address in (None, EMBEDDED) else str(address)

    @property
    def fingerprint(self) -> str | None:
        """Twelve hexadecimal digits, the same for all shards of one plan; None when the cases are not known."""
        if self.all_cases is None:
            return None
        return digest([self.of, dict(self.plan), self.all_cases])[:_FINGERPRINT_LENGTH]

    def as_facts(self) -> dict[str, Any]:
        """Return the shard as JSON can hold it; `from_facts` reads it back."""
        return {
            "number": self.number,
            "of": self.of,
            "fingerprint": self.fingerprint,
            "plan": dict(self.plan),
            "all_cases": self.all_cases,
            "cases": None if self.cases is None else list(self.cases),
        }

    @classmethod
    def from_facts(cls, facts: Mapping[str, Any]) -> Self:
        """Read what `as_facts` wrote.

        Raises:
            UsageError: it did not write this.
        """
        try:
            cases = facts["cases"]
            shard = cls(
                number=int(facts["number"]),
                of=int(facts["of"]),
                plan=dict(facts["plan"]),
                all_cases=facts["all_cases"],
                cases=None if cases is None else tuple(map(str, cases)),
            )
        except (KeyError, TypeError, ValueError) as error:
            raise UsageError(f"run.json was altered: its shard lacks or mistakes {error}") from error
        if not 1 <= shard.number <= shard.of or facts.get("fingerprint") != shard.fingerprint:
            raise UsageError("run.json was altered: its shard does not fit its fingerprint")
        return shard


def digest(value: Any) -> str:
    """Return sixteen hexadecimal digits that tell JSON-able data from any other."""
    text = json.dumps(value, sort_keys=True, separators=(",", ":"), default=str)
    return hashlib.sha256(text.encode()).hexdigest()[:_DIGEST_LENGTH]


def digest_of_cases(cases: Iterable[str]) -> str:
    """Return how many cases there are, and a digest of their ids, whatever their order."""
    ids = sorted(cases)
    return f"{len(ids)} cases, {digest(ids)}"


@dataclass(frozen=True, slots=True)
class RunFacts:
    """What the controller knows of the run as a whole (`run.json`).

    `started` and `finished` are ISO 8601 texts; `finished` is None when the closing record is absent.
    `without_journal` names the workers that died before they could begin one.
    `clauses` are the ids selected for the run; `settings` are those of the target, by realm. `waived` maps a clause id
    to the reason for doing without a judgement on it. `terms` are the consumer and the deviations that the run is held
    to. `shard` says which part of a run this is, None for a whole one; `shards` are the names of the run folders that a
    merged run was put together from.
    `planned` is the number of cases there are to be, None where nobody knows. `died` names workers that died.
    """

    target: str
    target_kind: str
    base_url: str
    profile: str
    seed: int | str | None
    realms: tuple[str, ...]
    clauses: tuple[str, ...]
    started: str
    finished: str | None
    workers: int
    command: str
    versions: Mapping[str, str]
    environment: Mapping[str, Any]
    interrupted: bool
    expected_workers: tuple[str, ...]
    without_journal: tuple[str, ...] = ()
    strict: bool = False
    waived: Mapping[str, str] = field(default_factory=dict)
    terms: Terms = field(default_factory=Terms)
    settings: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    shard: Shard | None = None
    shards: tuple[str, ...] = ()
    planned: int | None = None
    died: tuple[str, ...] = ()

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
        reason = self.environment.get("breaker")
        return str(reason) if reason else None


@dataclass(frozen=True, slots=True)
class AssertionCount:
    """How often one case held or contradicted one clause on one operation."""

    clause: str
    operation: str | None
    held: int
    contradicted: int


@dataclass(frozen=True, slots=True)
class Block:
    """What stood in the way of a case: an operation in a realm, and the cause in words."""

    operation: str | None
    realm: str | None
    cause: str


@dataclass(frozen=True, slots=True)
class Case:
    """One case that ended, or that a worker died in (`outcome` error)."""

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


@dataclass(frozen=True, slots=True)
class SeenFinding:
    """A contradiction as one case saw it; verdicts put equal ones together."""

    clause: str
    realm: str
    operation: str | None
    case: str
    role: str | None
    expected: str
    seen: str
    confirmed: bool
    reproduced: int
    attempts: int
    exchanges: tuple[str, ...]
    curl: tuple[str, ...]
    command: str


@dataclass(frozen=True, slots=True)
class Observation:
    """What was seen at a point where the document is silent; `seen` is any JSON value."""

    clause: str
    realm: str
    operation: str | None
    case: str
    seen: Any


@dataclass(frozen=True, slots=True)
class RecordedExchange:
    """One request and its response or fault, as the journal holds it (secrets are out already).

    `request` holds method, url, http_version, headers, body; `response` holds status, reason, headers, body.
    A body is `{text | base64 | neither, size (bytes), sha256, truncated}`; headers are pairs. `authorization` is the
    header of that name with `$TOKEN` in place of the role's token (`$TOKEN[:20]` for its beginning); None for none.
    """

    id: str
    case: str
    attempt: int
    realm: str
    role: str | None
    operation: str | None
    started: str
    seconds: float
    request: Mapping[str, Any]
    response: Mapping[str, Any] | None
    fault: str | None
    retries: int
    authorization: str | None = None


@dataclass(frozen=True, slots=True)
class Left:
    """A thing the run created and did not remove: residue (cannot be) or leftover (was not)."""

    realm: str
    operation: str | None
    identifier: str
    what: str


def each_once(lefts: Iterable[Left]) -> tuple[Left, ...]:
    """Each record once that a run left: several workers may have written to one; one without identifier is its own."""
    found: dict[tuple[str, str, str | int], Left] = {}
    for number, left in enumerate(lefts):
        found.setdefault((left.realm, left.what.partition(" (")[0], left.identifier or number), left)
    return tuple(found.values())


@dataclass(frozen=True, slots=True)
class Untested:
    """A clause that no case could take up in a realm, and why."""

    clause: str
    realm: str
    reason: str


@dataclass(frozen=True, slots=True)
class Narrowed:
    """Not every case on some clauses was taken up.

    `cells` holds pairs of clause and realm, None for all of them. `elsewhere` says that other shards have the rest.
    """

    reason: str
    cells: frozenset[tuple[str, str]] | None
    elsewhere: bool = False

    @classmethod
    def read(cls, reason: str, cells: Iterable[tuple[str, str]] | None, *, elsewhere: bool = False) -> Self:
        """Read what a journal holds: a pair is a list there."""
        known = None if cells is None else frozenset((clause, realm) for clause, realm in cells)
        return cls(reason, known, elsewhere)

    def touches(self, clause: str, realm: str) -> bool:
        """Tell whether cases on a clause may have been left out in a realm."""
        return self.cells is None or (clause, realm) in self.cells


@dataclass(frozen=True, slots=True)
class RunRecord:
    """Everything a report is made from. `problems` says why the record is not whole; empty when it is.

    `deaths` says of each worker that died without harm to the record what became of its case.
    """

    run: RunFacts
    cases: tuple[Case, ...]
    findings: tuple[SeenFinding, ...]
    observations: tuple[Observation, ...]
    exchanges: Mapping[str, RecordedExchange]
    faults: tuple[Mapping[str, Any], ...]
    residue: tuple[Left, ...]
    leftovers: tuple[Left, ...]
    untested: tuple[Untested, ...]
    problems: tuple[str, ...]
    narrowed: tuple[Narrowed, ...] = ()
    deaths: tuple[str, ...] = ()

    @property
    def complete(self) -> bool:
        """Whether every worker closed its journal and the run has its closing record."""
        return not self.problems

    def exchanges_of(self, case: str) -> tuple[RecordedExchange, ...]:
        """Return the exchanges of a case in the order they were sent."""
        return tuple(exchange for exchange in self.exchanges.values() if exchange.case == case)
