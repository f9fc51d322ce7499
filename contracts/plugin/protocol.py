"""Runs one case: its attempts, their confirmation, its ending, its journal records, and its reports to pytest.

A contradiction is repeated on fresh data until it is confirmed (design 4.6). Records hold no secrets.
"""

from __future__ import annotations

import time
from collections.abc import Generator, Iterable, Sequence
from datetime import UTC, datetime
from typing import Any, Final

import pytest
from hypothesis.errors import Flaky

from contracts.checks.outcomes import Blocked, Confirmed, Contradiction, Result, Untested, confirm
from contracts.errors import EnvironmentFault
from contracts.evidence.findings import ConsumerScope, scope_of_contradictions
from contracts.evidence.record import Verdict
from contracts.exchanges.readers import Ambiguous
from contracts.interface.catalogue import Level
from contracts.plugin.attempts import ENDING, VERDICT_PROPERTY, Ending, JudgedAttempt, attempts_at
from contracts.plugin.case_records import write_case, write_findings
from contracts.plugin.collection import (
    case_of,
    clauses_of,
    deals,
    declared_clauses,
    marks,
    operations_of,
    realm_of,
)
from contracts.plugin.drafts_of_cases import settle_drafts
from contracts.plugin.fixtures import ATTEMPT
from contracts.plugin.worker import WORKER, Worker
from contracts.safe_text import displayed
from contracts.session.authentication import NoTokenError

#: Endings of a case that say nothing against the service.
INCONCLUSIVE = (Blocked, EnvironmentFault, Ambiguous, Flaky)
#: Endings that a case raises on purpose.
EXPECTED = (Contradiction, *INCONCLUSIVE, Untested)
_TRIES_DIFFER: Final = "the same requests came to something else from one try to the next"


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_protocol(item: pytest.Item, nextitem: pytest.Item | None) -> bool | None:
    """Run a contract case; other items go their usual way."""
    if not any(marks(item)):
        return None
    worker = item.config.stash[WORKER]
    halted = worker.halted()
    if halted:
        item.session.shouldstop = halted
        return True
    with worker.giving_up_where_broken(item.session):
        _take_turn(item, nextitem, worker)
    return True


def _take_turn(item: pytest.Item, nextitem: pytest.Item | None, worker: Worker) -> None:
    """Run a case and report it as pytest does."""
    began = time.perf_counter()
    item.ihook.pytest_runtest_logstart(nodeid=item.nodeid, location=item.location)
    case = identity_of(item, worker)
    # In case a worker dies in it.
    worker.journal.write("begin", **case)
    reports = _run(item, nextitem, worker, case)
    # The item lasts until the run ends: what its last attempt sent and got must not.
    del item.stash[ATTEMPT]
    for report in reports:
        item.ihook.pytest_runtest_logreport(report=report)
    item.ihook.pytest_runtest_logfinish(nodeid=item.nodeid, location=item.location)
    worker.spent["cases"] = worker.spent.get("cases", 0.0) + time.perf_counter() - began


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


def _run(
    item: pytest.Item, nextitem: pytest.Item | None, worker: Worker, case: dict[str, Any]
) -> list[pytest.TestReport]:
    """Run a case to its end, write it down, and return the reports that speak for it."""
    started, clock = datetime.now(UTC), time.perf_counter()
    tries = attempts_at(item, nextitem, worker)
    attempts = [judged.attempt for judged in tries.judged]
    findings = list(confirm(attempts))
    reports, ending = _conclusion(item, tries.judged, findings, worker)
    write_findings(case, worker, attempts, findings)
    if ending.verdict is Verdict.UNTESTED:
        # It says nothing about the clauses of generated faults; the results of their own cases count.
        case |= {"clauses": list(declared_clauses(item))}
    spent, set_aside = time.perf_counter() - clock, tries.set_aside
    write_case(case, worker, attempts, ending, started, spent, set_aside=set_aside, deals=deals(item))
    _mark(reports, ending, findings, worker)
    confirmed = [finding.evidence for finding in findings if finding.confirmed]
    _tone_down(item, reports, ending.verdict, confirmed, worker)
    item.ihook.pytest_contract_case(
        item=item, verdict=ending.verdict, reports=reports, findings=findings, attempts=attempts
    )
    settle_drafts(worker, [judged.attempt for judged in tries.all])
    worker.clean()
    return reports


def _conclusion(
    item: pytest.Item, judged: Sequence[JudgedAttempt], findings: Sequence[Confirmed], worker: Worker
) -> tuple[list[pytest.TestReport], Ending]:
    """The reports that speak for a case, and how it ended."""
    first, ending = judged[0].reports, judged[0].ending
    reports = first
    for replay in judged[1:]:
        # What stood in the way of looking at advice once more says nothing of the musts, which were judged before.
        hindered = replay.attempt.advisory and replay.ending.verdict is Verdict.INCONCLUSIVE
        if not replay.attempt.keys and not hindered:
            reports, ending = replay.reports, replay.ending
    confirmed = [finding for finding in findings if finding.confirmed]
    if confirmed:
        return first, _worse(item, confirmed, ending, worker)
    if ending.verdict is Verdict.ADVISORY and judged[0].attempt.held:
        # A finding that was not confirmed is told for its own clause.
        return first, Ending(Verdict.PASS)
    if ending.verdict in (Verdict.FAIL, Verdict.ADVISORY):
        why = f"a contradiction that did not come back: {ending.reason}"
        return first, Ending(Verdict.INCONCLUSIVE, why)
    return reports, ending


def _bearing(worker: Worker, realm: str, contradictions: Iterable[Result]) -> ConsumerScope:
    """Weigh what was contradicted in a realm; a should that is not accepted does not count beside a must."""
    terms = worker.selection.terms
    weights = []
    for contradiction in contradictions:
        accepted = (
            terms.accepted(contradiction.clause, realm, contradiction.operation, worker.day) is not None
        )
        if accepted or worker.catalogue.clause(contradiction.clause).level is Level.MUST:
            weights.append((terms.counts(contradiction.clause, realm, contradiction.operation), accepted))
    return scope_of_contradictions(weights)


def _tone_down(
    item: pytest.Item,
    reports: list[pytest.TestReport],
    verdict: Verdict,
    contradictions: list[Result],
    worker: Worker,
) -> None:
    """Show a contradicted case with its bearing on the run; the journal keeps what was seen."""
    weight = _bearing(worker, realm_of(item), contradictions)
    if weight is ConsumerScope.COUNTS or verdict not in (Verdict.FAIL, Verdict.ADVISORY):
        return
    for report in reports:
        report.user_properties.append((VERDICT_PROPERTY, str(weight)))
        if report.failed:
            _soften(item, report, f"{weight}: {'; '.join(each.clause for each in contradictions)}")


def _soften(item: pytest.Item, report: pytest.TestReport, reason: str) -> None:
    """Turn a failed report into one that pytest does not count as a failure."""
    path, line, _ = item.location
    report.outcome, report.longrepr = "skipped", (path, line or 0, reason)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[None]
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Turn what a case raised into its ending, and a contradiction's traceback into two plain sentences."""
    raised = call.excinfo
    expected = raised is not None and isinstance(raised.value, EXPECTED) and any(marks(item))
    if raised is not None and expected:
        call.excinfo = _cheap_ending(raised)
    report = yield
    call.excinfo = raised
    if not any(marks(item)):
        return report
    if raised is not None:
        _apply_ending(item, report, raised.value)
    _redact(report, item.config.stash[WORKER])
    return report


def _cheap_ending(raised: pytest.ExceptionInfo[BaseException]) -> pytest.ExceptionInfo[BaseException]:
    """An ending that pytest renders cheaply: a traceback costs more than most cases, and is never shown."""
    skipped = pytest.skip.Exception(str(raised.value)).with_traceback(raised.value.__traceback__)
    return pytest.ExceptionInfo.from_exception(skipped)


def _apply_ending(item: pytest.Item, report: pytest.TestReport, error: BaseException) -> None:
    if isinstance(error, Contradiction):
        _end(item, Ending(Verdict.FAIL, str(error).partition("\n")[0]))
        report.outcome, report.longrepr = "failed", str(error)
        # A subtest's report goes out at once: what it shows is weighed here.
        weight = _bearing(item.config.stash[WORKER], realm_of(item), [error.evidence])
        if weight is not ConsumerScope.COUNTS:
            _soften(item, report, f"{weight}: {error}")
    elif isinstance(error, INCONCLUSIVE):
        why = _TRIES_DIFFER if isinstance(error, Flaky) else str(error)
        _skip(item, report, Ending(Verdict.INCONCLUSIVE, why, _obstacle(error)))
    elif isinstance(error, Untested):
        _skip(item, report, Ending(Verdict.UNTESTED, str(error)))
    elif isinstance(error, pytest.skip.Exception):
        _end(item, Ending(Verdict.UNTESTED, str(error)))
    else:
        _end(item, Ending(Verdict.ERROR, f"{type(error).__name__}: {error}"))
        # A traceback shows arguments, and these may hold credentials.
        report.longrepr = report.longreprtext


def _redact(report: pytest.TestReport, worker: Worker) -> None:
    """Take the secrets out of a report, and what a terminal would obey."""

    def plain(text: str) -> str:
        return displayed(worker.redactor.text(text))

    if isinstance(report.longrepr, str):
        report.longrepr = plain(report.longrepr)
    elif isinstance(report.longrepr, tuple):
        path, line, reason = report.longrepr
        report.longrepr = (path, line, plain(reason))
    report.sections = [(name, plain(text)) for name, text in report.sections]


def _obstacle(error: BaseException) -> Blocked | None:
    """The operation that stood in the way, where it was one."""
    if isinstance(error, NoTokenError):
        return Blocked("createToken", str(error))
    return error if isinstance(error, Blocked) else None


def _end(item: pytest.Item, ending: Ending) -> None:
    """Note how the attempt ended; of several endings, those of subtests included, the worst counts."""
    if ending.verdict.rank < item.stash[ENDING].verdict.rank:
        item.stash[ENDING] = ending


def _skip(item: pytest.Item, report: pytest.TestReport, ending: Ending) -> None:
    _end(item, ending)
    report.outcome = "skipped"
    path, line, _ = item.location
    report.longrepr = (path, line or 0, f"{ending.verdict}: {ending.reason}")


def _worse(item: pytest.Item, confirmed: list[Confirmed], ended: Ending, worker: Worker) -> Ending:
    """The ending of a case with confirmed findings.

    They hide no obstacle: a case that was blocked stays inconclusive beside a should, or beside a finding of the
    universal checks, which is one of its own and says nothing about the clauses of the case.
    """
    worst = _worst(confirmed, worker)
    own = any(finding.evidence.clause in clauses_of(item) for finding in confirmed)
    if ended.verdict is Verdict.ERROR or (ended.verdict is Verdict.INCONCLUSIVE and not own):
        return ended
    return ended if ended.verdict is Verdict.INCONCLUSIVE and worst is Verdict.ADVISORY else Ending(worst)


def _worst(findings: list[Confirmed], worker: Worker) -> Verdict:
    levels = {
        worker.catalogue.clause(finding.evidence.clause).level for finding in findings if finding.confirmed
    }
    return Verdict.FAIL if Level.MUST in levels else Verdict.ADVISORY


def _mark(
    reports: list[pytest.TestReport], ending: Ending, findings: list[Confirmed], worker: Worker
) -> None:
    """Put the verdict on the reports; a universal finding fails a case that ended well."""
    for report in reports:
        report.user_properties.append((VERDICT_PROPERTY, str(ending.verdict)))
    if ending.verdict in (Verdict.FAIL, Verdict.ERROR) and not any(report.failed for report in reports):
        call = next((report for report in reports if report.when == "call"), reports[0])
        call.outcome = "failed"
        lines = [str(Contradiction(finding.evidence)) for finding in findings if finding.confirmed]
        call.longrepr = displayed(worker.redactor.text("\n".join(lines) or ending.reason or ""))
