"""Results for Allure: adds clauses, level and exchanges to the results that allure-pytest writes.

A case has one result, however often it was attempted. Fixtures are left out: a gate has thousands.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, Final

import allure
import pytest
from allure_commons.model2 import Status, StatusDetails, TestResult
from allure_commons.utils import md5

from registry_contracts.checks.outcomes import Attempt
from registry_contracts.evidence.findings import Finding
from registry_contracts.evidence.record import Verdict
from registry_contracts.exchanges.exchange import Exchange
from registry_contracts.exchanges.redaction import redacted
from registry_contracts.exchanges.transcript import curl, heading, transcript
from registry_contracts.interface.catalogue import Level
from registry_contracts.plugin.case import case_of
from registry_contracts.plugin.worker import MAIN, WORKER, Worker
from registry_contracts.reports.writers import ALLURE_FOLDER
from registry_contracts.safe_text import printable

_CLAUSE: Final = "clause"
_LISTENER: Final = "allure_listener"
_DYNAMIC: Any = allure.dynamic
_SEVERITY: Final = {
    Level.MUST: allure.severity_level.CRITICAL,
    Level.SHOULD: allure.severity_level.NORMAL,
    Level.SILENT: allure.severity_level.MINOR,
}
_ATTACHED_AT_MOST: Final = 20
_SKIPPED: Final = (Verdict.INCONCLUSIVE, Verdict.UNTESTED)


@pytest.hookimpl(tryfirst=True)
def pytest_configure(config: pytest.Config) -> None:
    """Set the options of allure-pytest before it starts: by default its results belong into the run's folder."""
    if not (config.pluginmanager.has_plugin("allure_pytest") and WORKER in config.stash):
        return
    option, worker = config.option, config.stash[WORKER]
    folder = Path(worker.plan.folder)
    option.allure_report_dir = option.allure_report_dir or str(folder / ALLURE_FOLDER)
    option.clean_alluredir = option.clean_alluredir and worker.name == MAIN
    # Captured output is not redacted.
    option.attach_capture = False
    # Clauses link to the run's page, unless `--allure-link-pattern` says otherwise.
    pattern = (_CLAUSE, f"{(folder / 'index.html').absolute().as_uri()}#{_CLAUSE}-{{}}")
    option.allure_link_pattern = [pattern, *option.allure_link_pattern]


def pytest_sessionstart(session: pytest.Session) -> None:
    """Leave out the results of fixtures, and write the facts of the run."""
    listener: Any = session.config.pluginmanager.get_plugin(_LISTENER)
    if listener is None or WORKER not in session.config.stash:
        return
    worker, results = session.config.stash[WORKER], listener.allure_logger
    results.stop_group = lambda uuid, **_: results.drop_test(uuid)
    if worker.name == MAIN:
        with suppress(OSError):  # a disk that is full
            _write_environment(Path(session.config.option.allure_report_dir), worker)


def _write_environment(folder: Path, worker: Worker) -> None:
    """Write the facts that Allure shows under "Environment"."""
    selection = worker.selection
    facts = {
        "Target": worker.target.in_words,
        "Profile": selection.profile,
        "Seed": selection.seed,
        "Realms": ", ".join(selection.realms),
    }
    lines = (f"{name} = {printable(worker.redactor.text(str(value)))}" for name, value in facts.items())
    folder.mkdir(parents=True, exist_ok=True)
    # A backslash begins an escape in a file of properties.
    text = "\n".join(lines).replace("\\", "\\\\")
    (folder / "environment.properties").write_text(f"{text}\n", "utf-8")


def pytest_contract_case(
    item: pytest.Item,
    verdict: Verdict,
    reports: Iterable[pytest.TestReport],
    findings: Iterable[Finding],
    attempts: Iterable[Attempt],
) -> None:
    """Complete the result of a case; allure-pytest began it, and writes it when the case is over."""
    listener: Any = item.config.pluginmanager.get_plugin(_LISTENER)
    if listener is None:
        return
    worker, case, dynamic = item.config.stash[WORKER], case_of(item), _DYNAMIC
    result: TestResult = listener.allure_logger.get_test(None)
    # Each attempt added the same labels.
    result.labels = list({(label.name, label.value): label for label in result.labels}.values())
    others = [each.value for each in result.parameters if each.name != "realm"]
    # Allure shows the realms of one test case side by side; each realm keeps its own history.
    result.testCaseId = md5(result.fullName, *others)  # type: ignore[no-untyped-call]
    clauses = [worker.catalogue.clause(name) for name in case.facts.clauses]
    dynamic.epic(*dict.fromkeys(clause.source for clause in clauses))
    dynamic.feature(*dict.fromkeys(clause.family for clause in clauses))
    dynamic.story(*case.facts.clauses)
    dynamic.label("realm", case.realm)
    dynamic.label("operation", *case.operations)
    dynamic.severity(_SEVERITY[case.level])
    for name in case.facts.clauses:
        dynamic.link(name, link_type=_CLAUSE, name=name)
    confirmed = [finding for finding in findings if finding.confirmed]
    result.status, result.statusDetails = _status(verdict, reports, confirmed)
    sent = {exchange.id: exchange for attempt in attempts for exchange in attempt.exchanges}
    for finding in confirmed:
        if result.status == Status.FAILED:
            names = (name for name in finding.exchanges if name in sent)
            _attach([redacted(sent[name], worker.redactor) for name in names])
        if accepted := worker.selection.terms.entry(finding.deviation):
            dynamic.issue(accepted.issue, name=printable(accepted.reason))


def _attach(exchanges: Sequence[Exchange]) -> None:
    for exchange in exchanges[:_ATTACHED_AT_MOST]:
        allure.attach(transcript(exchange), heading(exchange), allure.attachment_type.TEXT)
    allure.attach("\n\n".join(map(curl, exchanges)), "curl", allure.attachment_type.TEXT)


def _status(
    verdict: Verdict, reports: Iterable[pytest.TestReport], confirmed: Iterable[Finding]
) -> tuple[str, StatusDetails | None]:
    """Allure's status and details for a case, from its reports, which are already redacted."""
    decisive = next((report for report in reports if not report.passed), None)
    if decisive is None:
        return (Status.SKIPPED if verdict in _SKIPPED else Status.PASSED), None
    trace = decisive.longrepr[2] if isinstance(decisive.longrepr, tuple) else decisive.longreprtext
    message = next((line for line in str(trace).splitlines() if line.strip()), "")
    details = StatusDetails(
        message=printable(message),
        trace=printable(str(trace)),
        flaky=any(finding.intermittent for finding in confirmed),
    )
    if decisive.skipped:
        return Status.SKIPPED, details
    return (Status.BROKEN if verdict is Verdict.ERROR else Status.FAILED), details
