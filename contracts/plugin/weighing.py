"""How the terminal shows a contradiction that is accepted, or that lies outside the consumer: said, not failed."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime

import pytest

from contracts.evidence.bearing import Bearing, weigh
from contracts.evidence.outcomes import Verdict
from contracts.interface.catalogue import Level
from contracts.judging.outcomes import Evidence
from contracts.plugin.collection import realm_of
from contracts.plugin.worker import Worker

#: Key of the case's verdict among a report's user properties.
VERDICT = "contract"


def bearing(worker: Worker, realm: str, contradictions: Iterable[Evidence]) -> Bearing:
    """Weigh what was contradicted in a realm; a should that nobody accepted says nothing beside a must."""
    terms = worker.selection.terms
    day = datetime.fromisoformat(worker.plan.started).date()
    weights = []
    for each in contradictions:
        accepted = terms.accepted(each.clause, realm, each.operation, day) is not None
        if accepted or worker.catalogue.clause(each.clause).level is Level.MUST:
            weights.append((terms.counts(each.clause, realm, each.operation), accepted))
    return weigh(weights)


def tone_down(
    item: pytest.Item,
    reports: list[pytest.TestReport],
    verdict: Verdict,
    contradictions: list[Evidence],
    worker: Worker,
) -> None:
    """Show a contradicted case as what it is to the run; the journal keeps what was seen."""
    weight = bearing(worker, realm_of(item), contradictions)
    if weight is Bearing.COUNTS or verdict not in (Verdict.FAIL, Verdict.ADVISORY):
        return
    for report in reports:
        report.user_properties.append((VERDICT, str(weight)))
        if report.failed:
            soften(item, report, f"{weight}: {'; '.join(each.clause for each in contradictions)}")


def soften(item: pytest.Item, report: pytest.TestReport, reason: str) -> None:
    """Turn a failed report into one that pytest does not count as a failure."""
    path, line, _ = item.location
    report.outcome, report.longrepr = "skipped", (path, line or 0, reason)
