"""Results for Allure: what allure-pytest writes of each case, with its clauses, its level and its exchanges.

One result a case, whatever its attempts. Of the fixtures nothing is written: a gate has thousands.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial
from pathlib import Path
from typing import Any, Final

import allure
import allure_commons
import pytest
from allure_commons.logger import AllureFileLogger
from allure_commons.model2 import Status, StatusDetails, TestResult
from allure_commons.utils import md5

from contracts.checks.outcomes import Attempt, Confirmed
from contracts.evidence.record import Verdict
from contracts.exchanges.redaction import redacted
from contracts.exchanges.transcript import curl, heading, transcript
from contracts.interface.catalogue import Level
from contracts.plugin.case import Case, case_of
from contracts.plugin.plan import ALLURE as PLUGIN
from contracts.plugin.worker import WORKER, Worker
from contracts.safe_text import printable

_CLAUSE: Final = "clause"
_SEVERITY: Final = {
    Level.MUST: allure.severity_level.CRITICAL,
    Level.SHOULD: allure.severity_level.NORMAL,
    Level.SILENT: allure.severity_level.MINOR,
}
_ATTACHED_AT_MOST: Final = 20
_SKIPPED: Final = (Verdict.INCONCLUSIVE, Verdict.UNTESTED)


class _Results(AllureFileLogger):
    """Allure's own writer, which would write a file for each fixture of each case as well."""

    report_container: Any = None


class AllureResults:
    """The results of one process of a run.

    Args:
        config: pytest's, with the options of allure-pytest.
        page: The run's page, into which clauses are linked unless `--allure-link-pattern` says otherwise.
        place: Folder of the results.
        clean: Begin with an empty folder.
    """

    def __init__(self, config: pytest.Config, page: Path, place: Path, *, clean: bool) -> None:
        listener = config.pluginmanager.get_plugin(PLUGIN).AllureListener(config)  # type: ignore[union-attr]
        config.pluginmanager.register(listener, "allure_listener")
        self._reporter: Any = listener.allure_logger
        for plugin in (listener, _Results(place, clean)):  # type: ignore[no-untyped-call]
            allure_commons.plugin_manager.register(plugin)
            config.add_cleanup(partial(allure_commons.plugin_manager.unregister, plugin))
        # What a case prints is not redacted.
        config.option.attach_capture = False
        pattern = (_CLAUSE, f"{page.absolute().as_uri()}#{_CLAUSE}-{{}}")
        config.option.allure_link_pattern = [pattern, *config.option.allure_link_pattern]

    def pytest_contract_case(
        self,
        item: pytest.Item,
        verdict: Verdict,
        reports: Iterable[pytest.TestReport],
        findings: Iterable[Confirmed],
        attempts: Iterable[Attempt],
    ) -> None:
        """Complete the result of a case, which allure-pytest has begun and writes when the case is over."""
        worker = item.config.stash[WORKER]
        result: TestResult = self._reporter.get_test(None)
        # Each attempt has added them.
        result.labels = list({(label.name, label.value): label for label in result.labels}.values())
        case = case_of(item)
        others = [each.value for each in result.parameters if each.name != "realm"]
        # One test in all realms, which Allure shows side by side; each has a history of its own.
        result.testCaseId = md5(result.fullName, *others)  # type: ignore[no-untyped-call]
        self._describe(case, worker)
        dynamic: Any = allure.dynamic
        confirmed = [finding for finding in findings if finding.confirmed]
        result.status, result.statusDetails = _status(verdict, reports, confirmed)
        if result.status == Status.FAILED:
            self._attach(worker, confirmed, attempts)
        for finding in confirmed:
            evidence = finding.evidence
            accepted = worker.selection.terms.accepted(
                evidence.clause, case.realm, evidence.operation, worker.day
            )
            if accepted is not None:
                dynamic.issue(accepted.issue, name=printable(accepted.reason))

    @staticmethod
    def _describe(case: Case, worker: Worker) -> None:
        clauses = [worker.catalogue.clause(name) for name in case.declared]
        dynamic: Any = allure.dynamic
        dynamic.epic(*dict.fromkeys(clause.source for clause in clauses))
        dynamic.feature(*dict.fromkeys(clause.family for clause in clauses))
        dynamic.story(*(clause.id for clause in clauses))
        dynamic.label("realm", case.realm)
        dynamic.label("operation", *case.operations)
        if clauses:
            dynamic.severity(_SEVERITY[min((clause.level for clause in clauses), key=list(_SEVERITY).index)])
        for clause in clauses:
            dynamic.link(clause.id, link_type=_CLAUSE, name=clause.id)

    @staticmethod
    def _attach(worker: Worker, findings: Iterable[Confirmed], attempts: Iterable[Attempt]) -> None:
        sent = {exchange.id: exchange for attempt in attempts for exchange in attempt.exchanges}
        for finding in findings:
            names = (name for name in finding.evidence.exchanges if name in sent)
            shown = [redacted(sent[name], worker.redactor) for name in names]
            for exchange in shown[:_ATTACHED_AT_MOST]:
                allure.attach(transcript(exchange), heading(exchange), allure.attachment_type.TEXT)
            lines = map(curl, shown)
            allure.attach("\n\n".join(lines), "curl", allure.attachment_type.TEXT)


def _status(
    verdict: Verdict, reports: Iterable[pytest.TestReport], confirmed: Iterable[Confirmed]
) -> tuple[str, StatusDetails | None]:
    """What the reports of a case amount to; they are redacted already."""
    telling = next((report for report in reports if not report.passed), None)
    if telling is None:
        return (Status.SKIPPED if verdict in _SKIPPED else Status.PASSED), None
    trace = telling.longrepr[2] if isinstance(telling.longrepr, tuple) else telling.longreprtext
    message = next((line for line in str(trace).splitlines() if line.strip()), "")
    details = StatusDetails(
        message=printable(message),
        trace=printable(str(trace)),
        flaky=any(finding.reproduced < finding.attempts for finding in confirmed),
    )
    if telling.skipped:
        return Status.SKIPPED, details
    return (Status.BROKEN if verdict is Verdict.ERROR else Status.FAILED), details
