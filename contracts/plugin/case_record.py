"""Writes the journal records of a case (start, findings, ending), without secrets.

It also decides how the terminal shows a contradiction that is accepted or that lies outside the consumer.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import pytest

from contracts.checks.outcomes import Attempt, Blocked, Confirmed, Result
from contracts.evidence.findings import ConsumerScope, scope_of_contradictions
from contracts.evidence.record import Verdict
from contracts.exchanges import transcript
from contracts.interface.catalogue import Level
from contracts.plugin.collection import case_of, clauses_of, marks, operations_of, realm_of
from contracts.plugin.worker import Worker


@dataclass(frozen=True)
class Ending:
    """How one attempt ended: a verdict before confirmation, and why."""

    verdict: Verdict
    reason: str | None = None
    blocked: Blocked | None = None


def announce(item: pytest.Item, worker: Worker) -> None:
    """Record which case is about to run, in case a worker dies in it."""
    worker.journal.write("begin", **identity_of(item, worker))


def identity_of(item: pytest.Item, worker: Worker) -> dict[str, Any]:
    """What the journal says of a case in each of its records."""
    function = getattr(item, "function", None)
    return {
        "case": case_of(item),
        "name": getattr(item, "originalname", item.name).removeprefix("test_").replace("_", " "),
        "doc": " ".join((getattr(function, "__doc__", None) or "").split()),
        "realm": realm_of(item),
        "clauses": list(clauses_of(item)),
        "operations": list(operations_of(item, worker.catalogue)),
    }


def judged_clauses(item: pytest.Item, ending: Ending) -> dict[str, Any]:
    """The clauses that an ending is about, where they are not those of the case.

    A case of generated faults says nothing about the clauses of these faults when it was untested; the results of
    their own cases count then.
    """
    if ending.verdict is not Verdict.UNTESTED:
        return {}
    return {"clauses": [clause for mark in marks(item) for clause in mark.kwargs["clauses"]]}


def write_findings(
    case: Mapping[str, Any], worker: Worker, attempts: list[Attempt], findings: Iterable[Confirmed]
) -> None:
    """Write the findings of a case, with the exchanges that show them and how to see them again.

    Args:
        case: What tells it from others, as `identity_of` gives it.
    """
    exchanges = [exchange for attempt in attempts for exchange in attempt.exchanges]
    realm = case["realm"]
    for finding in findings:
        evidence = finding.evidence
        worker.journal.write(
            "finding",
            clause=evidence.clause,
            realm=realm,
            operation=evidence.operation,
            case=case["case"],
            role=evidence.role,
            expected=worker.redactor.text(evidence.expected),
            seen=worker.redactor.text(evidence.seen),
            confirmed=finding.confirmed,
            rate=[finding.reproduced, finding.attempts],
            exchanges=list(evidence.exchanges),
            check=evidence.check,
            arguments=worker.redactor.value(dict(evidence.arguments)),
            curl=transcript.curls(exchanges, evidence.exchanges, worker.redactor),
            command=transcript.command(
                target=worker.selection.target or worker.target.name,
                realm=realm,
                clause=evidence.clause,
                profile=str(worker.selection.profile),
                seed=worker.selection.seed,
                sandbox_arguments=worker.selection.sandbox_arguments,
            ),
        )


def write_case(
    case: Mapping[str, Any],
    worker: Worker,
    attempts: list[Attempt],
    ending: Ending,
    started: datetime,
    seconds: float,
    *,
    set_aside: Sequence[Attempt] = (),
) -> None:
    """Write how a case ended, and what it observed.

    Args:
        case: What tells it from others, as `identity_of` gives it, with the clauses that the ending is about.
        seconds: What all attempts took together.
        set_aside: Further attempts, which faults of the environment spoilt.
    """
    # The assertions of the attempt that the ending is about: a dismissed first attempt must not count.
    counted = attempts[0] if ending.verdict in (Verdict.FAIL, Verdict.ADVISORY) else attempts[-1]
    keys = sorted(counted.held.keys() | counted.contradicted.keys())
    realm, blocked = case["realm"], ending.blocked
    for observation in counted.observations:
        worker.journal.write(
            "observation",
            clause=observation.clause,
            realm=realm,
            operation=observation.operation,
            case=case["case"],
            seen=worker.redactor.value(observation.seen),
        )
    worker.journal.write(
        "case",
        **case,
        profile=str(worker.selection.profile),
        outcome=str(ending.verdict),
        reason=worker.redactor.text(ending.reason) if ending.reason else None,
        blocked_by={
            "operation": blocked.operation,
            "realm": realm,
            "cause": worker.redactor.text(blocked.cause),
        }
        if blocked
        else None,
        attempts=len(attempts) + len(set_aside),
        started=started.isoformat(),
        seconds=seconds,
        requests=sum(len(attempt.exchanges) for attempt in (*attempts, *set_aside)),
        assertions=[
            {
                "clause": clause,
                "operation": operation,
                "held": counted.held[(clause, operation)],
                "contradicted": counted.contradicted[(clause, operation)],
            }
            for clause, operation in keys
        ],
    )


#: Key of the case's verdict among a report's user properties.
VERDICT_PROPERTY = "contract"


def bearing(worker: Worker, realm: str, contradictions: Iterable[Result]) -> ConsumerScope:
    """Weigh what was contradicted in a realm; a should that is not accepted does not count beside a must."""
    terms = worker.selection.terms
    day = datetime.fromisoformat(worker.plan.started).date()
    weights = []
    for contradiction in contradictions:
        accepted = terms.accepted(contradiction.clause, realm, contradiction.operation, day) is not None
        if accepted or worker.catalogue.clause(contradiction.clause).level is Level.MUST:
            weights.append((terms.counts(contradiction.clause, realm, contradiction.operation), accepted))
    return scope_of_contradictions(weights)


def tone_down(
    item: pytest.Item,
    reports: list[pytest.TestReport],
    verdict: Verdict,
    contradictions: list[Result],
    worker: Worker,
) -> None:
    """Show a contradicted case with its bearing on the run; the journal keeps what was seen."""
    weight = bearing(worker, realm_of(item), contradictions)
    if weight is ConsumerScope.COUNTS or verdict not in (Verdict.FAIL, Verdict.ADVISORY):
        return
    for report in reports:
        report.user_properties.append((VERDICT_PROPERTY, str(weight)))
        if report.failed:
            soften(
                item,
                report,
                f"{weight}: {'; '.join(contradiction.clause for contradiction in contradictions)}",
            )


def soften(item: pytest.Item, report: pytest.TestReport, reason: str) -> None:
    """Turn a failed report into one that pytest does not count as a failure."""
    path, line, _ = item.location
    report.outcome, report.longrepr = "skipped", (path, line or 0, reason)
