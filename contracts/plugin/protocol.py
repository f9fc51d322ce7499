"""What becomes of a case: its attempts judged together, its ending, and pytest's reports of it (design 4.6)."""

from __future__ import annotations

import time
from collections.abc import Generator
from datetime import UTC, datetime

import pytest
from hypothesis.errors import Flaky

from contracts.errors import EnvironmentFault
from contracts.evidence.bearing import Bearing
from contracts.evidence.outcomes import Verdict
from contracts.interface.catalogue import Level
from contracts.judging.confirmation import Confirmed, confirm
from contracts.judging.outcomes import Blocked, Contradiction, Untested
from contracts.judging.readers import Ambiguous
from contracts.plugin.bookkeeping import Ending, announce, write_case, write_findings
from contracts.plugin.collection import clauses_of, marks, realm_of
from contracts.plugin.trying import ENDING, attempts_at
from contracts.plugin.unbidden import look_for_unbidden, note_gone
from contracts.plugin.weighing import VERDICT as KEY
from contracts.plugin.weighing import bearing, soften, tone_down
from contracts.plugin.worker import WORKER, Worker
from contracts.session.actor import NoTokenError

#: Ends of a case that say nothing against the service.
INCONCLUSIVE = (Blocked, EnvironmentFault, Ambiguous)
CONTRADICTED = (Contradiction, Flaky)
#: Endings that a case raises on purpose.
EXPECTED = (
    *CONTRADICTED,
    *INCONCLUSIVE,
    Untested,
)  #: Key of the case's verdict among a report's user properties.
VERDICT = KEY


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
    item.ihook.pytest_runtest_logstart(nodeid=item.nodeid, location=item.location)
    announce(item, worker)
    reports = _run(item, nextitem, worker)
    for report in reports:
        item.ihook.pytest_runtest_logreport(report=report)
    item.ihook.pytest_runtest_logfinish(nodeid=item.nodeid, location=item.location)
    return True


def _run(item: pytest.Item, nextitem: pytest.Item | None, worker: Worker) -> list[pytest.TestReport]:
    started, clock = datetime.now(UTC), time.perf_counter()
    tries = attempts_at(item, nextitem, worker)
    judged = tries.judged
    attempts = [each.attempt for each in judged]
    first, ending = judged[0].reports, judged[0].ending
    reports = first
    for replay in judged[1:]:
        if not replay.attempt.keys:
            reports, ending = replay.reports, replay.ending
    findings = list(confirm(attempts))
    confirmed = [finding for finding in findings if finding.confirmed]
    if confirmed:
        reports, ending = first, _worse(item, confirmed, ending, worker)
    elif ending.verdict in (Verdict.FAIL, Verdict.ADVISORY):
        reports = first
        ending = Ending(Verdict.INCONCLUSIVE, f"a contradiction that did not come back: {ending.reason}")
    write_findings(item, worker, attempts, findings)
    for finding in findings:
        item.ihook.pytest_contract_finding(item=item, finding=finding)
    write_case(
        item, worker, attempts, ending, started, time.perf_counter() - clock, set_aside=tries.set_aside
    )
    _mark(reports, ending, findings, worker)
    tone_down(item, reports, ending.verdict, [each.evidence for each in confirmed], worker)
    every = [each.attempt for each in tries.all]
    note_gone(worker, every)
    look_for_unbidden(worker, every)
    worker.clean()
    return reports


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[None]
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Turn what a case raised into its ending, and a contradiction's traceback into two plain sentences."""
    raised = call.excinfo
    expected = raised is not None and isinstance(raised.value, EXPECTED) and any(marks(item))
    if raised is not None and expected:
        call.excinfo = _plain(raised)
    report = yield
    call.excinfo = raised
    if not any(marks(item)):
        return report
    if raised is not None:
        _turn(item, report, raised.value)
    _redact(report, item.config.stash[WORKER])
    return report


def _plain(raised: pytest.ExceptionInfo[BaseException]) -> pytest.ExceptionInfo[BaseException]:
    """An ending that pytest words cheaply: a rendered traceback costs more than most cases, and nobody sees it."""
    skipped = pytest.skip.Exception(str(raised.value)).with_traceback(raised.value.__traceback__)
    return pytest.ExceptionInfo.from_exception(skipped)


def _turn(item: pytest.Item, report: pytest.TestReport, error: BaseException) -> None:
    if isinstance(error, CONTRADICTED):
        _end(item, Ending(Verdict.FAIL, str(error).partition("\n")[0]))
        report.outcome, report.longrepr = "failed", str(error)
        # A subtest's report goes out at once: what it shows is weighed here.
        seen = [error.evidence] if isinstance(error, Contradiction) else []
        weight = bearing(item.config.stash[WORKER], realm_of(item), seen)
        if weight is not Bearing.COUNTS:
            soften(item, report, f"{weight}: {error}")
    elif isinstance(error, INCONCLUSIVE):
        _skip(item, report, Ending(Verdict.INCONCLUSIVE, str(error), _obstacle(error)))
    elif isinstance(error, Untested):
        _skip(item, report, Ending(Verdict.UNTESTED, str(error)))
    elif isinstance(error, pytest.skip.Exception):
        _end(item, Ending(Verdict.UNTESTED, str(error)))
    else:
        _end(item, Ending(Verdict.ERROR, f"{type(error).__name__}: {error}"))
        # A traceback shows arguments, and these may hold credentials.
        report.longrepr = report.longreprtext


def _redact(report: pytest.TestReport, worker: Worker) -> None:
    if isinstance(report.longrepr, str):
        report.longrepr = worker.redactor.text(report.longrepr)
    elif isinstance(report.longrepr, tuple):
        path, line, reason = report.longrepr
        report.longrepr = (path, line, worker.redactor.text(reason))
    report.sections = [(name, worker.redactor.text(text)) for name, text in report.sections]


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
    """What confirmed findings make of a case that ended so.

    They hide no obstacle: a case that was blocked stays inconclusive beside a should, or beside a finding of the
    universal checks, which is one of its own and says nothing about the clauses of the case.
    """
    found = _worst(confirmed, worker)
    own = any(finding.evidence.clause in clauses_of(item) for finding in confirmed)
    if ended.verdict is Verdict.ERROR or (ended.verdict is Verdict.INCONCLUSIVE and not own):
        return ended
    return ended if ended.verdict is Verdict.INCONCLUSIVE and found is Verdict.ADVISORY else Ending(found)


def _worst(findings: list[Confirmed], worker: Worker) -> Verdict:
    levels = {worker.catalogue.clause(each.evidence.clause).level for each in findings if each.confirmed}
    return Verdict.FAIL if Level.MUST in levels else Verdict.ADVISORY


def _mark(
    reports: list[pytest.TestReport], ending: Ending, findings: list[Confirmed], worker: Worker
) -> None:
    """Put the verdict on the reports; a universal finding fails a case that ended well."""
    for report in reports:
        report.user_properties.append((VERDICT, str(ending.verdict)))
    if ending.verdict in (Verdict.FAIL, Verdict.ERROR) and not any(report.failed for report in reports):
        call = next((report for report in reports if report.when == "call"), reports[0])
        call.outcome = "failed"
        lines = [str(Contradiction(finding.evidence)) for finding in findings if finding.confirmed]
        call.longrepr = worker.redactor.text("\n".join(lines) or ending.reason or "")
