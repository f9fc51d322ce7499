"""Output for build servers: `junit.xml`, and annotations of a GitHub job."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, Final

from junitparser import Error, Failure, JUnitXml, Skipped, TestCase, TestSuite
from junitparser.junitparser import FinalResult

from registry_contracts.evidence.accepted import DeviationOutcome
from registry_contracts.evidence.findings import ConsumerScope, Finding, Standing, scope_of
from registry_contracts.evidence.record import Case, RunRecord, Verdict
from registry_contracts.evidence.verdicts import RunVerdict
from registry_contracts.history.drift import DriftReport, Mode
from registry_contracts.history.observed_facts import Severity
from registry_contracts.interface.catalogue import Clause
from registry_contracts.interface.description import where_in_words
from registry_contracts.reports.cards import in_text
from registry_contracts.safe_text import plain_line, printable, tell_runner

FILE_NAME = "junit.xml"


def write(record: RunRecord, verdict: RunVerdict, folder: Path) -> None:
    """Write `junit.xml`.

    A failed case is a failure, a broken one an error. Inconclusive and untested cases are skipped, with the reason as
    message; so are accepted deviations and findings outside the consumer. An advisory passes, and its output says so.
    Deviations that must be changed are failures in a suite of their own, and so is breaking drift if it fails the run;
    other drift passes. The format is the Ant JUnit schema as Jenkins reads it.
    """
    xml = JUnitXml(f"registry-contracts: {printable(record.run.target_in_words)}")
    for realm in dict.fromkeys([*record.run.realms, *(case.realm for case in record.cases)]):
        suite = TestSuite(printable(realm))
        suite.timestamp = record.run.started
        suite.add_property("target", printable(record.run.target))
        suite.add_property("base_url", printable(record.run.base_url))
        suite.add_property("profile", printable(record.run.profile))
        suite.add_property("seed", printable(str(record.run.seed)))
        suite.add_property("verdict", printable(verdict.sentence))
        suite.add_testcases([_case(case, verdict) for case in record.cases if case.realm == realm])
        xml.add_testsuite(suite)
    for name, rows in (
        ("deviations", _deviations(verdict.deviations)),
        ("drift", _drift(verdict.drift)),
        ("the run itself", _broken_run(verdict, record.run.refused)),
    ):
        suite = TestSuite(name)
        suite.add_testcases([_entry(*row) for row in rows])
        if suite.tests:
            xml.add_testsuite(suite)
    xml.update_statistics()  # type: ignore[no-untyped-call]
    # Jenkins' schema (junit-10.xsd of its xUnit plugin) allows this attribute in suites only.
    xml._elem.attrib.pop("skipped", None)
    content = b'<?xml version="1.0" encoding="utf-8"?>\n' + xml.tostring()  # type: ignore[no-untyped-call]
    (folder / FILE_NAME).write_bytes(content)


def _case(case: Case, verdict: RunVerdict) -> TestCase:
    module, _, name = case.id.partition("::")
    place = module.removesuffix(".py").replace("/", ".")
    return _entry(name or case.id, place, _output(case), _result(case, verdict), time=round(case.seconds, 3))


def _result(case: Case, verdict: RunVerdict) -> FinalResult | None:
    reason = case.reason or (case.blocked_by.cause if case.blocked_by else "no reason was given")
    mine = [finding for finding in verdict.findings if case.id in finding.cases]
    scope = scope_of(mine)
    if case.outcome in {Verdict.FAIL, Verdict.ADVISORY} and scope is not ConsumerScope.COUNTS:
        return Skipped(
            printable(f"{scope}: {'; '.join(_accepted(verdict, each) for each in mine) or reason}"),
            str(scope),
        )
    if case.outcome is Verdict.ERROR:
        return Error(printable(reason), "suite error")
    if case.outcome is Verdict.FAIL:
        causes = [
            cause
            for cause in verdict.causes
            if any(case.id in finding.cases for finding in cause.all_findings)
        ]
        message = "; ".join(cause.headline for cause in causes) or reason
        failure = Failure(printable(message), "contradiction")
        failure.text = printable("\n\n".join([*map(in_text, causes), *map(_finding, mine)]))
        return failure
    if case.outcome in {Verdict.INCONCLUSIVE, Verdict.UNTESTED}:
        blocking = verdict.blocked.get(case.id)
        note = f" (blocked by finding {blocking})" if blocking else ""
        return Skipped(printable(f"{case.outcome}: {reason}{note}"), str(case.outcome))
    return None


def _finding(finding: Finding) -> str:
    where = where_in_words(finding.operation, [finding.realm])
    lines = [
        f"finding {finding.id}: {finding.clause} {where} ({finding.operation}), {finding.rate_in_words}",
        f"expected: {finding.expected}",
        f"seen: {finding.seen}",
        *finding.reproduce.curl,
        finding.reproduce.command,
    ]
    return "\n".join(lines)


def _output(case: Case) -> str:
    lines = [f"{case.outcome}: {case.name}", case.doc, f"clauses: {', '.join(case.clauses)}"]
    if case.outcome is Verdict.ADVISORY and case.reason:
        lines.append(case.reason)
    return "\n".join(line for line in lines if line)


def _accepted(verdict: RunVerdict, finding: Finding) -> str:
    place = f"{finding.clause} ({finding.operation}): {finding.seen}"
    entry = verdict.accepting(finding)
    if entry is None:
        return place
    return f"{place}; accepted until {entry.expires}: {entry.reason} ({entry.owner}, {entry.issue}, {entry.place})"


#: Name, class, output, and failure or error, if any.
_Row = tuple[str, str, str, FinalResult | None]


def _entry(title: str, place: str, said: str, result: FinalResult | None, **more: Any) -> TestCase:
    entry = TestCase(name=printable(title), classname=printable(place), **more)
    if result is not None:
        entry.result = result
    if said:
        entry.system_out = printable(said)
    return entry


def _deviations(outcomes: Iterable[DeviationOutcome]) -> Iterator[_Row]:
    for outcome in outcomes:
        said = outcome.sentence
        wrong = Failure(printable(said), str(outcome.course)) if outcome.fails else None
        yield outcome.clause, outcome.place, said, wrong


def _drift(drift: DriftReport) -> Iterator[_Row]:
    for change in drift.changes:
        place = f"{change.clause} ({change.operation}) in {', '.join(change.realms)}: {change.change}"
        said = f"{change.severity}: {change.says}"
        fails = drift.mode is Mode.FAIL and change.severity is Severity.BREAKING
        wrong = (
            Failure(printable(said), str(change.change)) if fails and change not in drift.outside else None
        )
        yield place, drift.baseline or "baseline", said, wrong


def _broken_run(verdict: RunVerdict, refused: str | None) -> Iterator[_Row]:
    """The errors of a run as a whole."""
    problems = "; ".join(verdict.problems)
    for name, why, kind in (
        ("the evidence is complete", problems, "suite error"),
        ("settings and options can be used", refused, "usage"),
    ):
        if why:
            yield name, "registry-contracts", "", Error(printable(why), kind)


#: Folder of the clauses in this project, and the file for clauses without one.
_FOLDER: Final = "openapi/clauses"
_DESCRIPTION: Final = "openapi/registry.yaml"
_LONGEST: Final = 1000
#: GitHub's word for an annotation, by what a finding does to the verdict.
_WORDS: Final[Mapping[Standing, str]] = {
    Standing.FAIL: "error",
    Standing.ADVISORY: "warning",
    Standing.UNCONFIRMED: "warning",
    Standing.DEVIATION: "notice",
    Standing.OBSERVED: "notice",
}
_FROM_DATA: Final = re.compile(r"[%\r\n]")
_FROM_PROPERTY: Final = re.compile(r"[%\r\n:,]")


def _place(clause: Clause | None) -> tuple[str, int]:
    """File and line of a clause."""
    if clause is None or not clause.file:
        return _DESCRIPTION, 1
    return f"{_FOLDER}/{clause.file}", max(1, clause.line)


def annotation_lines(verdict: RunVerdict) -> Iterator[str]:
    """A command for GitHub's runner for each finding, the worst first, escaped so that it holds no other command."""
    for cause in verdict.causes:
        file, line = _place(verdict.clauses.get(cause.clause))
        properties = {"file": file, "line": str(line), "title": f"{cause.clause}: {cause.place}"}
        shown = ",".join(
            f"{name}={_escaped(plain_line(value, _LONGEST), _FROM_PROPERTY)}"
            for name, value in properties.items()
        )
        message = f"{cause.headline} {cause.lead.rate_in_words}; registry-contracts explain {cause.clause}"
        # Findings outside the consumer do not fail the run.
        word = _WORDS[cause.standing if cause.counted else Standing.OBSERVED]
        yield f"::{word} {shown}::{_escaped(plain_line(message, _LONGEST), _FROM_DATA)}"


def _escaped(text: str, what: re.Pattern[str]) -> str:
    return what.sub(lambda match: f"%{ord(match[0]):02X}", text)


def annotate(verdict: RunVerdict) -> None:
    """Report the findings to GitHub's runner, in a GitHub job."""
    if os.environ.get("GITHUB_ACTIONS") == "true":
        for line in annotation_lines(verdict):
            tell_runner(sys.stdout, line)
