"""What the journal says of a case: its findings, and how it ended. It holds no secrets."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any

from contracts.checks.outcomes import Attempt, Confirmed
from contracts.evidence.record import Verdict
from contracts.exchanges import transcript
from contracts.plugin.attempts import Ending
from contracts.plugin.worker import Worker


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
    deals: bool = False,
) -> None:
    """Write how a case ended, and what it observed.

    Args:
        case: What tells it from others, as `identity_of` gives it, with the clauses that the ending is about.
        seconds: What all attempts took together.
        set_aside: Further attempts, which faults of the environment spoilt.
        deals: As `Case` says.
    """
    # The assertions of the attempt that the ending is about: a dismissed first attempt must not count.
    counted = attempts[0] if ending.verdict in (Verdict.FAIL, Verdict.ADVISORY) else attempts[-1]
    keys = sorted(counted.held.keys() | counted.contradicted.keys())
    for clause, reason in counted.untested.items():
        worker.journal.write("untested", clause=clause, realm=case["realm"], reason=reason)
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
        deals=deals,
    )
