"""Calls one operation by hand, once or several times, judges each exchange, and compares it with the baseline."""

from __future__ import annotations

import platform
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Final

from contracts.checks.outcomes import Result
from contracts.checks.table import Judge, Judgement
from contracts.errors import UsageError
from contracts.evidence.observations import answers_of
from contracts.evidence.record import Case, Environment, RunFacts, RunRecord, Verdict
from contracts.evidence.run_comparison import realms_of_operations
from contracts.exchanges.exchange import Exchange
from contracts.exchanges.transcript import curl
from contracts.history import baseline as baselines
from contracts.history.drift import compare, shown, told_by_one_answer
from contracts.history.observed_facts import Change, Facts, read_facts
from contracts.interface.catalogue import load_catalogue
from contracts.interface.description import Operation
from contracts.manual.manual_session import ManualSession
from contracts.manual.prepared_requests import PreparedRequest, RequestOptions, RequestPreparer
from contracts.session.actor import Actor
from contracts.session.session import UNSENT
from contracts.settings.target import Target

#: Answers are read from steady cases that went well; what is sent by hand counts as one.
_CASE: Final = "scenario/by-hand"
_MOST_POINTS: Final = 12


@dataclass(frozen=True)
class SilentPoint:
    """One fact that was seen at a silent point.

    Attributes:
        accepted: What the baseline says; None where it says nothing.
    """

    clause: str
    operation: str
    realm: str
    name: str
    seen: str
    accepted: str | None


@dataclass(frozen=True)
class SilentPoints:
    """What was seen, and how it differs from the baseline.

    Attributes:
        baseline: The baseline's file; None when the target has none.
    """

    points: tuple[SilentPoint, ...]
    changes: tuple[Change, ...]
    baseline: Path | None


def silent_points(
    exchanges: Iterable[Exchange],
    before: Iterable[Exchange],
    observed: Iterable[tuple[Result, str]],
    target: Target,
    baseline: Path | None = None,
) -> SilentPoints:
    """Read what exchanges show at silent points.

    Args:
        exchanges: What was sent by hand.
        before: What was sent to arrange it, which tells what was saved from what the service added.
        observed: What checks observed, each with its realm.
        baseline: File of the baseline; by default that of the target.

    Raises:
        UsageError: the baseline's file cannot be used.
    """
    sent = list(exchanges)
    facts = _facts([*before, *sent], list(observed), target)
    operations = {exchange.operation for exchange in sent}
    facts = {place: values for place, values in facts.items() if place.operation in operations}
    path = baseline or baselines.path_of(target.name)
    accepted = baselines.read(path, realms_of_operations())
    accepted_facts = accepted.facts if accepted else {}
    changes = filter(told_by_one_answer, compare(accepted_facts, facts))
    return SilentPoints(
        tuple(_points(facts, accepted_facts))[:_MOST_POINTS], tuple(changes), path if accepted else None
    )


def _points(facts: Facts, accepted: Facts) -> Iterator[SilentPoint]:
    for place, values in facts.items():
        for name, value in values.items():
            before = accepted.get(place, {}).get(name)
            yield SilentPoint(
                place.clause, place.operation, place.realm, name, shown(value) or "", shown(before)
            )


def _facts(exchanges: list[Exchange], noted: list[tuple[Result, str]], target: Target) -> Facts:
    own = {exchange.id: replace(exchange, case=_CASE) for exchange in exchanges}
    record = _record(own, target)
    observations = [
        {
            "clause": observation.clause,
            "operation": observation.operation,
            "realm": realm,
            "seen": observation.seen,
        }
        for observation, realm in noted
    ]
    return read_facts({"observations": observations, "answers": answers_of(record)})


def _record(exchanges: dict[str, Exchange], target: Target) -> RunRecord:
    clauses = tuple(clause.id for clause in load_catalogue())
    run = RunFacts(
        target=target.name,
        target_kind=target.kind,
        base_url=target.base_url,
        profile="by hand",
        seed=None,
        realms=target.realms,
        clauses=clauses,
        started="2000-01-01T00:00:00+00:00",
        finished=None,
        workers=1,
        command="",
        versions={"python": platform.python_version()},
        environment=Environment(),
        interrupted=False,
        expected_workers=(),
    )
    case = Case(
        id=_CASE,
        name="by hand",
        doc="",
        realm="any",
        clauses=(),
        operations=(),
        profile=None,
        outcome=Verdict.OBSERVED,
        reason=None,
        blocked_by=None,
        attempts=1,
        started=None,
        seconds=0.0,
        requests=len(exchanges),
        assertions=(),
        worker="main",
    )
    return RunRecord(run, (case,), (), (), exchanges, (), (), (), (), ())


@dataclass(frozen=True)
class CallResult:
    """One call: what was recorded, what it shows, and a line to send it without the suite."""

    recorded: Exchange
    judged: Judgement
    curl: str

    @property
    def sent(self) -> bool:
        """Whether the request left; in a dry run it does not."""
        return self.recorded.fault != UNSENT

    @property
    def spoilt(self) -> bool:
        """Whether the environment stood in the way."""
        return self.sent and self.recorded.fault is not None


@dataclass
class CallResults:
    """Several calls of the same operation.

    Attributes:
        before: What was sent to arrange them.
        notes: Remarks on how the requests were made, each once.
    """

    results: list[CallResult] = field(default_factory=list)
    before: list[Exchange] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    @property
    def clauses(self) -> Counter[str]:
        """In how many calls each clause was contradicted."""
        return Counter(
            clause
            for result in self.results
            for clause in {finding.clause for finding in result.judged.findings}
        )

    @property
    def spoilt(self) -> bool:
        """Whether the environment stood in the way of a call."""
        return any(result.spoilt for result in self.results)


def call(
    session: ManualSession,
    operation: Operation,
    role: str,
    realm: str,
    options: RequestOptions,
    times: int,
    *,
    live: bool,
) -> CallResults:
    """Call an operation.

    Args:
        times: How often, each time on fresh data.
        live: Whether what the request is about may be arranged first.

    Raises:
        UsageError: the options name what the operation does not have, or the request must not be sent.
        Blocked, EnvironmentFault: what it is about cannot be arranged.
    """
    calls, judge = CallResults(), Judge(session.redactor.knows)
    actor = session.actor(role, realm)
    for _ in range(times):
        prepared = RequestPreparer(session, operation, role, realm, live=live).prepare(options)
        calls.notes += [note for note in prepared.notes if note not in calls.notes]
        refuse_foreign(session, operation, prepared.request.path)
        start = len(session.exchanges)
        calls.before += [
            session.notes.of(exchange) for exchange in session.exchanges[_counted(calls) : start]
        ]
        calls.results.append(send(session, actor, prepared, judge))
    return calls


def send(session: ManualSession, actor: Actor, prepared: PreparedRequest, judge: Judge) -> CallResult:
    """Send one prepared request, and judge the exchange.

    Raises:
        GuardViolation: the request must not be sent.
    """
    exchange = prepared.send(actor)
    judged = judge.judge(exchange, right=prepared.right)
    return CallResult(session.notes.of(exchange), judged, curl(exchange, session.redactor))


def _counted(calls: CallResults) -> int:
    return len(calls.before) + len(calls.results)


def refuse_foreign(session: ManualSession, operation: Operation, path: dict[str, str]) -> None:
    """Refuse a write to a foreign record with a clear line, before the guard does.

    Raises:
        UsageError: it is none of the suite's.
    """
    named = [path[name] for name in ("uid", "identifier") if path.get(name)]
    foreign = [name for name in named if not session.namespace.owns(name)]
    if foreign and not operation.safe:
        raise UsageError(
            f"{operation.id} would write to '{foreign[0]}', which is none of the suite's; write {{uid}} for a fresh "
            "identifier, {prefix}-… for one of your own making, or name the record under spare_identifiers "
            "in the settings"
        )
