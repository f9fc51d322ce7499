"""Runs one case: its attempts, their confirmation, its ending, its journal records, and its reports to pytest.

A contradiction is repeated on fresh data until it is confirmed (design 4.6). Reports hold no secrets.
"""

from __future__ import annotations

from collections.abc import Generator, Iterable, Sequence
from datetime import UTC, datetime
from typing import Final

import pytest
from hypothesis.errors import Flaky

from contracts.checks.outcomes import Blocked, Contradiction, Result, Untested, confirm
from contracts.errors import EnvironmentFault, SuiteError
from contracts.evidence.findings import ConsumerScope, scope_of_contradictions
from contracts.evidence.record import Verdict
from contracts.exchanges.readers import Ambiguous
from contracts.interface.catalogue import Level
from contracts.plugin.attempts import TRY, VERDICT_PROPERTY, Try, attempts_at, judged_by
from contracts.plugin.case import Case, Ending, case_of, is_case
from contracts.plugin.drafts_of_cases import settle_drafts
from contracts.plugin.worker import WORKER, Worker
from contracts.safe_text import displayed
from contracts.session.authentication import NoTokenError

#: Endings of a case that say nothing against the service.
INCONCLUSIVE = (Blocked, EnvironmentFault, Ambiguous, Flaky)
#: Endings that a case raises on purpose.
EXPECTED = (Contradiction, *INCONCLUSIVE, Untested)
_TRIES_DIFFER: Final = "the same requests came to something else from one try to the next"
_BAD: Final = (Verdict.FAIL, Verdict.ADVISORY)


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_protocol(item: pytest.Item, nextitem: pytest.Item | None) -> bool | None:
    """Run a contract case and report it as pytest does; other items go their usual way."""
    if not is_case(item):
        return None
    worker = item.config.stash[WORKER]
    halted = worker.halted()
    if halted:
        item.session.shouldstop = halted
        return True
    with worker.giving_up_where_broken(item.session):
        item.ihook.pytest_runtest_logstart(nodeid=item.nodeid, location=item.location)
        # In case a worker dies in it.
        worker.journal.write("begin", **case_of(item).record)
        reports = _run(item, nextitem, worker)
        # The item lasts until the run ends: what its last attempt sent and got must not.
        del item.stash[TRY]
        for report in reports:
            item.ihook.pytest_runtest_logreport(report=report)
        item.ihook.pytest_runtest_logfinish(nodeid=item.nodeid, location=item.location)
    return True


def _run(item: pytest.Item, nextitem: pytest.Item | None, worker: Worker) -> list[pytest.TestReport]:
    """Run a case to its end, write it down, and return the reports that speak for it."""
    case, started = case_of(item), datetime.now(UTC)
    tries = attempts_at(item, nextitem, worker)
    judged, tried = judged_by(tries), [each.attempt for each in tries]
    attempts = [each.attempt for each in judged]
    findings = list(confirm(attempts))
    confirmed = [finding.evidence for finding in findings if finding.confirmed]
    reports, ending = _conclusion(case, judged, confirmed, worker)
    worker.write_case(case, attempts, ending, started, findings=findings, tried=tried)
    _speak(item, reports, ending, confirmed, worker)
    item.ihook.pytest_contract_case(
        item=item, verdict=ending.verdict, reports=reports, findings=findings, attempts=attempts
    )
    settle_drafts(worker, tried)
    worker.clean()
    return reports


def _conclusion(
    case: Case, judged: Sequence[Try], confirmed: Sequence[Result], worker: Worker
) -> tuple[list[pytest.TestReport], Ending]:
    """The reports that speak for a case, and how it ended."""
    first, ending = judged[0].reports, judged[0].ending
    reports = first
    for replay in judged[1:]:
        # What stood in the way of looking at advice once more says nothing of the musts, which were judged before.
        hindered = replay.attempt.advisory and replay.ending.verdict is Verdict.INCONCLUSIVE
        if not replay.attempt.keys and not hindered:
            reports, ending = replay.reports, replay.ending
    if confirmed:
        must = any(worker.catalogue.clause(each.clause).level is Level.MUST for each in confirmed)
        own = any(each.clause in case.clauses for each in confirmed)
        # Findings hide no obstacle: a case that was blocked stays inconclusive beside a should, or beside a finding of
        # the universal checks, which is one of its own and says nothing about the clauses of the case.
        blocked = ending.verdict is Verdict.INCONCLUSIVE and not (own and must)
        stays = ending.verdict is Verdict.ERROR or blocked
        return first, ending if stays else Ending(Verdict.FAIL if must else Verdict.ADVISORY)
    if ending.verdict is Verdict.ADVISORY and judged[0].attempt.held:
        # A finding that was not confirmed is told for its own clause.
        return first, Ending(Verdict.PASS)
    if ending.verdict in _BAD:
        why = f"a contradiction that did not come back: {ending.reason}"
        return first, Ending(Verdict.INCONCLUSIVE, why)
    return reports, ending


def _speak(
    item: pytest.Item,
    reports: Sequence[pytest.TestReport],
    ending: Ending,
    confirmed: Sequence[Result],
    worker: Worker,
) -> None:
    """Put the verdict on the reports; a universal finding fails a case that ended well.

    A contradicted case is shown with its bearing on the run; the journal keeps what was seen.
    """
    scope = _scope(worker, case_of(item).realm, confirmed) if ending.verdict in _BAD else ConsumerScope.COUNTS
    counts = scope is ConsumerScope.COUNTS
    if ending.verdict in (Verdict.FAIL, Verdict.ERROR) and not any(report.failed for report in reports):
        call = next((report for report in reports if report.when == "call"), reports[0])
        lines = "\n".join(str(Contradiction(each)) for each in confirmed) or ending.reason or ""
        call.outcome, call.longrepr = "failed", displayed(worker.redactor.text(lines))
    for report in reports:
        report.user_properties.append((VERDICT_PROPERTY, str(ending.verdict if counts else scope)))
        if report.failed and not counts:
            _skip(item, report, f"{scope}: {'; '.join(each.clause for each in confirmed)}")


def _scope(worker: Worker, realm: str, contradictions: Iterable[Result]) -> ConsumerScope:
    """Weigh what was contradicted in a realm; a should that is not accepted does not count beside a must."""
    terms, weights = worker.selection.terms, []
    for each in contradictions:
        accepted = terms.accepted(each.clause, realm, each.operation, worker.day) is not None
        if accepted or worker.catalogue.clause(each.clause).level is Level.MUST:
            weights.append((terms.counts(each.clause, realm, each.operation), accepted))
    return scope_of_contradictions(weights)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[None]
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Turn what a case raised into its ending, and a contradiction's traceback into two plain sentences."""
    if not is_case(item):
        return (yield)
    raised = call.excinfo
    if raised is not None and isinstance(raised.value, EXPECTED):
        # A traceback costs more than most cases, and is never shown.
        ended = pytest.skip.Exception(str(raised.value)).with_traceback(raised.value.__traceback__)
        call.excinfo = pytest.ExceptionInfo.from_exception(ended)
    report = yield
    call.excinfo = raised
    worker = item.config.stash[WORKER]
    if raised is not None:
        _note(item, report, raised.value, worker)
    _redact(report, worker)
    return report


def _note(item: pytest.Item, report: pytest.TestReport, error: BaseException, worker: Worker) -> None:
    """Note how the attempt ended, and let its report say so; of several endings, as of subtests, the worst counts."""
    ending, tried = _ending_of(error), item.stash[TRY]
    if ending.verdict.rank < tried.ending.verdict.rank:
        tried.ending = ending
    if isinstance(error, Contradiction):
        report.outcome, report.longrepr = "failed", str(error)
        # A subtest's report goes out at once: what it shows is weighed here.
        scope = _scope(worker, case_of(item).realm, [error.evidence])
        if scope is not ConsumerScope.COUNTS:
            _skip(item, report, f"{scope}: {error}")
    elif ending.verdict is Verdict.ERROR:
        # A traceback shows arguments, and these may hold credentials.
        report.longrepr = report.longreprtext
    elif not isinstance(error, pytest.skip.Exception):
        _skip(item, report, f"{ending.verdict}: {ending.reason}")


def _ending_of(error: BaseException) -> Ending:
    if isinstance(error, Contradiction):
        return Ending(Verdict.FAIL, str(error).partition("\n")[0])
    if isinstance(error, Flaky):
        # A mistake of the suite is one, even where the second try did not come to it.
        broke = (each for each in getattr(error, "exceptions", ()) if isinstance(each, SuiteError))
        mistake = next(broke, None)
        return _ending_of(mistake) if mistake else Ending(Verdict.INCONCLUSIVE, _TRIES_DIFFER)
    if isinstance(error, INCONCLUSIVE):
        refused = Blocked("createToken", str(error)) if isinstance(error, NoTokenError) else error
        return Ending(Verdict.INCONCLUSIVE, str(error), refused if isinstance(refused, Blocked) else None)
    if isinstance(error, (Untested, pytest.skip.Exception)):
        return Ending(Verdict.UNTESTED, str(error))
    return Ending(Verdict.ERROR, f"{type(error).__name__}: {error}")


def _skip(item: pytest.Item, report: pytest.TestReport, reason: str) -> None:
    """Turn a report into one that pytest does not count as a failure."""
    path, line, _ = item.location
    report.outcome, report.longrepr = "skipped", (path, line or 0, reason)


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
