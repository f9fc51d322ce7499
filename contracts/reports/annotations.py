"""Findings as notes on the line of their clause: annotations of a GitHub job, `findings.sarif`, `code-quality.json`."""

from __future__ import annotations

import json
import os
import re
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final

from contracts.evidence.findings import Finding, Standing
from contracts.evidence.record import RunRecord
from contracts.evidence.verdicts import RunVerdict
from contracts.interface.catalogue import Clause
from contracts.safe_text import plain_line, printable, tell_runner

SARIF_NAME: Final = "findings.sarif"
CODE_QUALITY_NAME: Final = "code-quality.json"
_SARIF_SCHEMA: Final = "https://json.schemastore.org/sarif-2.1.0.json"
#: Where clauses stand in this project, and what stands for one that is not there.
_FOLDER: Final = "openapi/clauses"
_DESCRIPTION: Final = "openapi/registry.yaml"
_LONGEST: Final = 1000
#: By what a finding does to the verdict: the words of GitHub, SARIF and GitLab.
_WORDS: Final[Mapping[Standing, tuple[str, str, str]]] = {
    Standing.FAIL: ("error", "error", "critical"),
    Standing.ADVISORY: ("warning", "warning", "minor"),
    Standing.UNCONFIRMED: ("warning", "warning", "minor"),
    Standing.DEVIATION: ("notice", "note", "info"),
    Standing.OBSERVED: ("notice", "note", "info"),
}
_FROM_DATA: Final = re.compile(r"[%\r\n]")
_FROM_PROPERTY: Final = re.compile(r"[%\r\n:,]")


def _words(finding: Finding) -> tuple[str, str, str]:
    # What a consumer does not use fails nothing.
    return _WORDS[finding.standing if finding.counted else Standing.OBSERVED]


def _place(clause: Clause | None) -> tuple[str, int]:
    """File and line of a clause."""
    if clause is None or not clause.file:
        return _DESCRIPTION, 1
    return f"{_FOLDER}/{clause.file}", max(1, clause.line)


def _clauses(verdict: RunVerdict) -> dict[str, Clause]:
    return {cell.clause.id: cell.clause for cell in verdict.cells}


def annotation_lines(verdict: RunVerdict) -> Iterator[str]:
    """A command of GitHub's runner for each finding, the worst first, nothing in which is a command of its own."""
    clauses = _clauses(verdict)
    for cause in verdict.causes:
        file, line = _place(clauses.get(cause.lead.clause))
        properties = {"file": file, "line": str(line), "title": f"{cause.lead.clause}: {cause.place}"}
        shown = ",".join(
            f"{name}={_escaped(plain_line(value, _LONGEST), _FROM_PROPERTY)}"
            for name, value in properties.items()
        )
        message = f"{cause.headline} {cause.lead.rate}; registry-contracts explain {cause.lead.clause}"
        yield f"::{_words(cause.lead)[0]} {shown}::{_escaped(plain_line(message, _LONGEST), _FROM_DATA)}"


def _escaped(text: str, what: re.Pattern[str]) -> str:
    return what.sub(lambda found: f"%{ord(found[0]):02X}", text)


def annotate(verdict: RunVerdict) -> None:
    """Tell GitHub's runner of the findings, where one is at work."""
    if os.environ.get("GITHUB_ACTIONS") == "true":
        for line in annotation_lines(verdict):
            tell_runner(sys.stdout, line)


def write_sarif(record: RunRecord, verdict: RunVerdict, folder: Path) -> Path:
    """Write `findings.sarif`: SARIF 2.1.0, a rule for each contradicted clause and a result for each finding."""
    clauses = _clauses(verdict)
    rules = list(dict.fromkeys(finding.clause for finding in verdict.findings))
    driver = {
        "name": "registry-contracts",
        "version": record.run.versions.get("suite", "unknown"),
        "rules": [_rule(name, clauses.get(name)) for name in rules],
    }
    run: dict[str, Any] = {
        "tool": {"driver": driver},
        "automationDetails": {"id": f"registry-contracts/{printable(record.run.target)}/"},
        "invocations": [
            {
                "executionSuccessful": not verdict.problems,
                "exitCode": int(verdict.exit_code),
                "exitCodeDescription": printable(verdict.sentence),
            }
        ],
        "results": [
            _result(finding, clauses.get(finding.clause), rules.index(finding.clause))
            for finding in verdict.findings
        ],
    }
    return _write(folder / SARIF_NAME, {"$schema": _SARIF_SCHEMA, "version": "2.1.0", "runs": [run]})


def _rule(name: str, clause: Clause | None) -> dict[str, Any]:
    rule: dict[str, Any] = {"id": name}
    if clause is not None:
        rule["shortDescription"] = {"text": printable(clause.wording)}
        rule["properties"] = {"level": str(clause.level), "source": clause.source}
    return rule


def _result(finding: Finding, clause: Clause | None, rule: int) -> dict[str, Any]:
    file, line = _place(clause)
    where = f"{finding.operation or 'the service'} in {finding.realm}"
    physical = {"artifactLocation": {"uri": file}, "region": {"startLine": line}}
    result: dict[str, Any] = {
        "ruleId": finding.clause,
        "ruleIndex": rule,
        "level": _words(finding)[1],
        "message": {"text": _message(finding)},
        "locations": [
            {"physicalLocation": physical, "logicalLocations": [{"fullyQualifiedName": printable(where)}]}
        ],
        "partialFingerprints": {"finding/v1": finding.id},
    }
    if finding.accepted:
        result["suppressions"] = [
            {
                "kind": "external",
                "status": "accepted",
                "justification": printable(f"{finding.accepted.reason} ({finding.accepted.issue})"),
            }
        ]
    return result


def write_code_quality(record: RunRecord, verdict: RunVerdict, folder: Path) -> Path:
    """Write `code-quality.json`, GitLab's code quality report: an entry for each finding."""
    clauses = _clauses(verdict)
    entries = []
    for finding in verdict.findings:
        file, line = _place(clauses.get(finding.clause))
        entries.append(
            {
                "description": _message(finding),
                "check_name": finding.clause,
                "fingerprint": f"{printable(record.run.target)}-{finding.id}",
                "severity": _words(finding)[2],
                "location": {"path": file, "lines": {"begin": line}},
            }
        )
    return _write(folder / CODE_QUALITY_NAME, entries)


def _message(finding: Finding) -> str:
    where = f"{finding.operation or 'the service'} in {finding.realm}"
    text = f"{finding.clause}: {where}: expected {finding.expected}; seen {finding.seen}; {finding.rate}"
    return plain_line(text, _LONGEST)


def _write(path: Path, content: Any) -> Path:
    path.write_text(json.dumps(content, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")
    return path
