"""What the journal says of a case: its findings, what it observed, and how it ended. It holds no secrets."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from typing import Any

from contracts.checks.outcomes import Attempt, Confirmed
from contracts.evidence.record import Verdict
from contracts.exchanges import transcript
from contracts.exchanges.redaction import redacted
from contracts.interface.operations import ANY_REALM
from contracts.plugin.attempts import Ending
from contracts.plugin.case import Case
from contracts.plugin.worker import Worker


def write_case(
    case: Case,
    worker: Worker,
    attempts: Sequence[Attempt],
    ending: Ending,
    started: datetime,
    *,
    findings: Iterable[Confirmed] = (),
    tried: Sequence[Attempt] = (),
) -> None:
    """Write a case that is judged: its findings, what it observed, and how it ended.

    Args:
        attempts: Those that it is judged by.
        tried: With those that faults of the environment spoilt, where there are any.
    """
    plain, realm, tried = worker.redactor.text, case.realm, tried or attempts
    of_case = {"realm": realm, "case": case.id}
    exchanges = [exchange for attempt in attempts for exchange in attempt.exchanges]
    for finding in findings:
        worker.journal.write("finding", **of_case, **_finding(finding, realm, worker, exchanges))
    # The assertions of the attempt that the ending is about: a dismissed first attempt must not count.
    counted = attempts[0] if ending.verdict in (Verdict.FAIL, Verdict.ADVISORY) else attempts[-1]
    for clause, reason in counted.untested.items():
        worker.journal.write("untested", clause=clause, realm=realm, reason=reason)
    for seen in counted.observations:
        what = {"clause": seen.clause, "operation": seen.operation, "seen": worker.redactor.value(seen.seen)}
        worker.journal.write("observation", **of_case, **what)
    blocked = ending.blocked
    worker.journal.write(
        "case",
        **case.record,
        profile=str(worker.selection.profile),
        outcome=str(ending.verdict),
        reason=plain(ending.reason) if ending.reason else None,
        blocked_by=blocked
        and {"operation": blocked.operation, "realm": realm, "cause": plain(blocked.cause)},
        attempts=len(tried),
        started=started.isoformat(),
        seconds=(datetime.now(UTC) - started).total_seconds(),
        requests=sum(len(attempt.exchanges) for attempt in tried),
        assertions=[
            {
                "clause": clause,
                "operation": operation,
                "held": counted.held[clause, operation],
                "contradicted": counted.contradicted[clause, operation],
            }
            for clause, operation in sorted(counted.held.keys() | counted.contradicted.keys())
        ],
    )


def _finding(finding: Confirmed, realm: str, worker: Worker, exchanges: list[Any]) -> dict[str, Any]:
    """A finding with the exchanges that show it and how to see them again."""
    evidence, selection = finding.evidence, worker.selection
    return {
        "clause": evidence.clause,
        "operation": evidence.operation,
        "role": evidence.role,
        "expected": worker.redactor.text(evidence.expected),
        "seen": worker.redactor.text(evidence.seen),
        "confirmed": finding.confirmed,
        "rate": [finding.reproduced, finding.attempts],
        "exchanges": list(evidence.exchanges),
        "check": evidence.check,
        "curl": [
            transcript.curl(redacted(each, worker.redactor))
            for each in exchanges
            if each.id in evidence.exchanges
        ],
        "command": transcript.command(
            target=selection.target or worker.target.name,
            realm=realm,
            clause=evidence.clause,
            profile=str(selection.profile),
            seed=selection.seed,
            sandbox_arguments=selection.sandbox_arguments,
        ),
    }


def write_trouble(worker: Worker, where: str, why: str) -> None:
    """Write down as an error what went wrong outside the cases."""
    ending = Ending(Verdict.ERROR, why)
    write_case(Case(f"[{where}]", ANY_REALM, title=where), worker, [Attempt(1)], ending, datetime.now(UTC))
