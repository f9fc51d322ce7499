"""`verdict.json`: the machine's answer, checked against its JSON Schema before it is written."""

import json
from dataclasses import asdict
from functools import cache
from importlib.resources import files
from itertools import groupby
from pathlib import Path
from typing import Any

import jsonschema_rs

from contracts.errors import SuiteError
from contracts.evidence.cells import Cell
from contracts.evidence.deviations import DeviationOutcome, WaiverOutcome
from contracts.evidence.findings import Finding
from contracts.evidence.outcomes import Verdict
from contracts.evidence.record import RunRecord
from contracts.evidence.verdicts import RunVerdict

FILE_NAME = "verdict.json"
FORMAT = 1


def write(record: RunRecord, verdict: RunVerdict, folder: Path) -> Path:
    """Write `verdict.json`.

    Returns:
        The file's path.

    Raises:
        SuiteError: the content does not fit its own schema.
    """
    content = build(record, verdict)
    check(content)
    path = folder / FILE_NAME
    path.write_text(json.dumps(content, indent=2, ensure_ascii=False) + "\n", "utf-8")
    return path


def check(content: Any) -> None:
    """Check the content of a `verdict.json` against the schema.

    Raises:
        SuiteError: it does not fit; the message names the first place that does not.
    """
    for error in schema_validator().iter_errors(content):
        place = "/".join(str(part) for part in error.instance_path) or "the top"
        raise SuiteError(f"{FILE_NAME} does not fit its schema at {place}: {error.message}")


@cache
def schema_validator() -> jsonschema_rs.Draft202012Validator:
    """Return the validator of `schemas/verdict.schema.json`."""
    text = files("contracts.reports").joinpath("schemas/verdict.schema.json").read_text("utf-8")
    return jsonschema_rs.Draft202012Validator(json.loads(text), validate_formats=True)


def build(record: RunRecord, verdict: RunVerdict) -> dict[str, Any]:
    """Return the content of `verdict.json` as plain data."""
    run = record.run
    return {
        "format": FORMAT,
        "verdict": verdict.word,
        "exit_code": int(verdict.exit_code),
        "reason": verdict.reason,
        "complete": not verdict.problems,
        "problems": list(verdict.problems),
        "interrupted": run.interrupted,
        "target": {"name": run.target, "kind": run.target_kind, "base_url": run.base_url},
        "profile": run.profile,
        "strict": run.strict,
        "waived": dict(run.waived),
        "consumer": _consumer(record),
        "waivers": [_waiver(outcome) for outcome in verdict.waivers],
        "notes": list(verdict.notes),
        "seed": run.seed,
        "realms": list(run.realms),
        "started": run.started,
        "finished": run.finished,
        "seconds": run.seconds,
        "workers": run.workers,
        "shard": _shard(record),
        "shards": list(run.shards),
        "command": run.command,
        "versions": dict(run.versions),
        "cases": len(record.cases),
        "counts": {str(each): verdict.count(each) for each in Verdict},
        "clauses": _clauses(verdict),
        "findings": [describe(finding) for finding in verdict.findings],
        "observations": [asdict(observation) for observation in record.observations],
        "drift": [
            {**change.as_data(), "counted": change not in verdict.drift.outside}
            for change in verdict.drift.changes
        ],
        "deviations": [_deviation(outcome) for outcome in verdict.deviations],
        "environment": _environment(record),
        "residue": [asdict(left) for left in record.residue],
        "leftovers": [asdict(left) for left in record.leftovers],
    }


def _shard(record: RunRecord) -> dict[str, Any] | None:
    shard = record.run.shard
    return {"number": shard.number, "of": shard.of, "fingerprint": shard.fingerprint} if shard else None


def describe(finding: Finding) -> dict[str, Any]:
    """Return a finding as plain data, the way every machine-readable report shows it."""
    return {
        "id": finding.id,
        "clause": finding.clause,
        "realm": finding.realm,
        "operation": finding.operation,
        "standing": str(finding.standing),
        "role": finding.role,
        "expected": finding.expected,
        "seen": finding.seen,
        "confirmed": finding.confirmed,
        "intermittent": finding.intermittent,
        "rate": [finding.reproduced, finding.attempts],
        "counted": finding.counted,
        "methods": list(finding.methods),
        "deviation": finding.accepted.place if finding.accepted else None,
        "cases": list(finding.cases),
        "exchanges": list(finding.exchanges),
        "reproduce": {"command": finding.command, "curl": list(finding.curl)},
    }


def _clauses(verdict: RunVerdict) -> list[dict[str, Any]]:
    return [
        {
            "id": key,
            "level": str(group[0].clause.level),
            "realms": {cell.realm: _cell(cell) for cell in group},
        }
        for key, cells in groupby(verdict.cells, key=lambda cell: cell.clause.id)
        for group in [list(cells)]
    ]


def _cell(cell: Cell) -> dict[str, Any]:
    return {
        "verdict": str(cell.verdict),
        "assertions": cell.assertions,
        "held": cell.held,
        "contradicted": cell.contradicted,
        "cases": len(cell.cases),
        "findings": list(cell.findings),
        "reason": cell.reason,
    }


def _consumer(record: RunRecord) -> dict[str, Any] | None:
    consumer = record.run.terms.consumer
    if consumer is None:
        return None
    return {
        "file": consumer.file,
        "operations": list(consumer.operations),
        "methods": {name: list(called) for name, called in consumer.methods.items()},
        "clauses": list(consumer.clauses),
        "realms": list(consumer.realms),
    }


def _waiver(outcome: WaiverOutcome) -> dict[str, Any]:
    return {
        "clause": outcome.waiver.clause,
        "reason": outcome.waiver.reason,
        "file": outcome.waiver.file,
        "line": outcome.waiver.line,
        "needed": outcome.needed,
        "realms": list(outcome.realms),
        "says": outcome.says,
    }


def _deviation(outcome: DeviationOutcome) -> dict[str, Any]:
    entry = outcome.deviation
    return {
        "clause": entry.clause,
        "realms": list(entry.realms),
        "operation": entry.operation,
        "reason": entry.reason,
        "owner": entry.owner,
        "issue": entry.issue,
        "expires": entry.expires.isoformat(),
        "profile": entry.profile,
        "file": entry.file,
        "line": entry.line,
        "course": str(outcome.course),
        "days_left": outcome.days_left,
        "happens_in": list(outcome.happens_in),
        "gone_in": list(outcome.gone_in),
        "unjudged_in": list(outcome.unjudged_in),
        "findings": list(outcome.findings),
        "counted": outcome.counted,
        "fails": outcome.fails,
        "warns": outcome.warns,
        "says": outcome.says,
    }


def _environment(record: RunRecord) -> dict[str, Any]:
    seen = record.run.environment
    return {
        "requests": seen.get("requests", 0),
        "retries": seen.get("retries", 0),
        "faults": dict(seen.get("faults") or {}),
        "breaker": record.run.breaker,
        "limits": dict(seen.get("limits") or {}),
        "permanent_records": dict(seen.get("permanent_records") or {}),
        "seconds": dict(seen.get("seconds") or {}),
        "peak_memory_mb": seen.get("peak_memory_mb"),
    }
