"""`allure/`: results for Allure, made from the record with the models of `allure-python-commons`."""

import hashlib
import uuid
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path

from allure_commons.logger import AllureFileLogger
from allure_commons.model2 import Attachment, Label, Link, Parameter, Status, StatusDetails, TestResult
from allure_commons.types import LabelType, LinkType, Severity

from contracts.evidence.findings import ConsumerScope
from contracts.evidence.outcomes import Verdict
from contracts.evidence.record import Case, RunRecord
from contracts.evidence.verdicts import RunVerdict
from contracts.exchanges.exchange import Exchange
from contracts.exchanges.transcript import heading, transcript
from contracts.interface.catalogue import Clause
from contracts.reports.finding_files import shown_exchanges
from contracts.safe_text import printable

FOLDER_NAME = "allure"
_STATUS = {
    Verdict.FAIL: Status.FAILED,
    Verdict.ERROR: Status.BROKEN,
    Verdict.INCONCLUSIVE: Status.SKIPPED,
    Verdict.UNTESTED: Status.SKIPPED,
    Verdict.ADVISORY: Status.PASSED,
    Verdict.DEVIATION: Status.SKIPPED,
    Verdict.OBSERVED: Status.PASSED,
    Verdict.PASS: Status.PASSED,
}
_SEVERITY = {"must": Severity.CRITICAL, "should": Severity.NORMAL, "silent": Severity.MINOR}
_ATTACHED_AT_MOST = 20


def write(record: RunRecord, verdict: RunVerdict, folder: Path) -> Path:
    """Write the results of a run, in place of those of an earlier rendering, and return their folder."""
    target = folder / FOLDER_NAME
    logger = AllureFileLogger(str(target), clean=True)  # type: ignore[no-untyped-call]
    clauses = {cell.clause.id: cell.clause for cell in verdict.cells}
    for case in record.cases:
        result = _result(record, verdict, case, clauses)
        if case.outcome is Verdict.FAIL:
            result.attachments = list(_attach(logger, record, verdict, case))
        logger.report_result(result)  # type: ignore[no-untyped-call]
    return target


def identities(case: Case) -> tuple[str, str]:
    """Return testCaseId and historyId of a case.

    The first is the same in every realm, so that Allure shows realms side by side; the second differs by
    realm, so that each realm keeps a history of its own.
    """
    name, bracket, parameters = case.id.partition("[")
    elsewhere = f"{name}{bracket}{parameters.replace(case.realm, '*', 1)}"
    test_case = _digest(elsewhere)
    return test_case, _digest(f"{test_case}|{case.realm}")


def _result(record: RunRecord, verdict: RunVerdict, case: Case, clauses: dict[str, Clause]) -> TestResult:
    test_case, history = identities(case)
    start = _milliseconds(case.started or record.run.started)
    return TestResult(
        uuid=str(uuid.uuid5(uuid.NAMESPACE_URL, f"{record.run.started}|{case.worker}|{case.id}")),
        historyId=history,
        testCaseId=test_case,
        fullName=printable(case.id.partition("[")[0]),
        name=printable(case.name),
        description=printable(case.doc),
        # Accepted or not counted: skipped, as Allure's own known issues still count as failures.
        status=Status.SKIPPED if _toned_down(case, verdict) else _STATUS[case.outcome],
        statusDetails=_details(case, verdict),
        stage="finished",
        start=start,
        stop=start + round(case.seconds * 1000),
        # A normal parameter: excluded ones drop out of the history key, and the last realm would win.
        parameters=[Parameter(name="realm", value=case.realm)],
        labels=list(_labels(case, clauses, verdict)),
        links=list(_links(case, verdict)),
    )


def _toned_down(case: Case, verdict: RunVerdict) -> bool:
    contradicted = case.outcome in {Verdict.FAIL, Verdict.ADVISORY}
    return contradicted and verdict.scope_of(case) is not ConsumerScope.COUNTS


def _links(case: Case, verdict: RunVerdict) -> Iterator[Link]:
    entries = (finding.accepted for finding in verdict.findings_of(case) if finding.accepted)
    for entry in dict.fromkeys(entries):
        yield Link(type=LinkType.ISSUE, url=entry.issue, name=printable(entry.reason))


def _details(case: Case, verdict: RunVerdict) -> StatusDetails | None:
    mine = verdict.findings_of(case)
    reason = case.reason or (case.blocked_by.cause if case.blocked_by else "")
    if case.outcome is Verdict.PASS or case.outcome is Verdict.OBSERVED:
        return None
    message = (
        "; ".join(f"[{each.id}] {each.clause}: {each.seen}" for each in mine) or f"{case.outcome}: {reason}"
    )
    trace = "\n\n".join(
        f"expected: {each.expected}\nseen: {each.seen}\n{each.rate}\n{each.command}" for each in mine
    )
    flaky = any(each.intermittent for each in mine)
    known = any(each.accepted for each in mine)
    if _toned_down(case, verdict):
        message = f"{verdict.scope_of(case)}: {message}"
    return StatusDetails(message=printable(message), trace=printable(trace), flaky=flaky, known=known)


def _labels(case: Case, clauses: dict[str, Clause], verdict: RunVerdict) -> Iterator[Label]:
    clauses_known = [clauses[clause] for clause in case.clauses if clause in clauses]
    for family in dict.fromkeys(clause.family for clause in clauses_known):
        yield Label(name=LabelType.EPIC, value=family)
    for clause in case.clauses:
        yield Label(name=LabelType.FEATURE, value=printable(clause))
    # Names of our own, to filter and group by: a realm is an environment of the report (see `allure_page`).
    yield Label(name="realm", value=case.realm)
    for clause in case.clauses:
        yield Label(name="clause", value=printable(clause))
    for operation in case.operations:
        yield Label(name="operation", value=printable(operation))
    yield Label(name=LabelType.STORY, value=printable(case.name))
    yield Label(name=LabelType.PARENT_SUITE, value=case.realm)
    yield Label(name=LabelType.SUITE, value=printable(case.id.partition("::")[0]))
    for operation in case.operations:
        yield Label(name=LabelType.TAG, value=printable(operation))
    if _toned_down(case, verdict):
        yield Label(name=LabelType.TAG, value=str(verdict.scope_of(case)))
    levels = {str(clause.level) for clause in clauses_known}
    level = next((level for level in _SEVERITY if level in levels), None)
    if level is not None:
        yield Label(name=LabelType.SEVERITY, value=_SEVERITY[level].value)
    yield Label(name=LabelType.THREAD, value=case.worker)
    yield Label(name=LabelType.FRAMEWORK, value="registry-contracts")


def _attach(
    logger: AllureFileLogger, record: RunRecord, verdict: RunVerdict, case: Case
) -> Iterator[Attachment]:
    for exchange in _telling(record, verdict, case)[:_ATTACHED_AT_MOST]:
        source = f"{uuid.uuid5(uuid.NAMESPACE_URL, f'{case.id}|{exchange.id}')}-attachment.txt"
        logger.report_attached_data(transcript(exchange), source)  # type: ignore[no-untyped-call]
        yield Attachment(name=printable(heading(exchange)), source=source, type="text/plain")


def _telling(record: RunRecord, verdict: RunVerdict, case: Case) -> tuple[Exchange, ...]:
    """Return the exchanges that show the findings of a case; all of the case's when no finding names one."""
    findings = [finding for finding in verdict.findings if case.id in finding.cases]
    shown = {each.id: each for finding in findings for each in shown_exchanges(record, finding)}
    mine = tuple(exchange for exchange in shown.values() if exchange.case == case.id)
    return mine or tuple(shown.values()) or record.exchanges_of(case.id)


def _milliseconds(moment: str) -> int:
    return round(datetime.fromisoformat(moment).timestamp() * 1000)


def _digest(text: str) -> str:
    return hashlib.md5(text.encode("utf-8", "backslashreplace"), usedforsecurity=False).hexdigest()
