"""`observations.json`: what was seen where the document is silent, in an order that two runs share."""

import json
from pathlib import Path
from typing import Any

from contracts.drift.facts import read_facts
from contracts.drift.realms import between_realms
from contracts.evidence.observations_answers import answers_of
from contracts.evidence.record import Observation, RunRecord
from contracts.evidence.verdicts import RunVerdict

FILE_NAME = "observations.json"
FORMAT = 2


def write(record: RunRecord, verdict: RunVerdict, folder: Path) -> Path:
    """Write `observations.json` and return its path."""
    content = build(record) | {"complete": not verdict.problems}
    path = folder / FILE_NAME
    path.write_text(json.dumps(content, indent=2, ensure_ascii=False) + "\n", "utf-8")
    return path


#: The record that was asked about last, and its content: several reports ask for the same, and it takes its time.
_LATEST: list[tuple[RunRecord, dict[str, Any]]] = []


def build(record: RunRecord) -> dict[str, Any]:
    """Return the content of `observations.json` as plain data, all but `complete`; it is not to be altered.

    Returns:
        Members format, target, profile, started, `observations` (what cases noted), `answers` (statuses and
        shapes, see `answers_of`) and `realm_differences` (points that realms do not agree on).
    """
    if not _LATEST or _LATEST[0][0] is not record:
        _LATEST[:] = [(record, _build(record))]
    return _LATEST[0][1]


def _build(record: RunRecord) -> dict[str, Any]:
    run = record.run
    seen = {"observations": put_together(record.observations), "answers": answers_of(record)}
    differences = between_realms(read_facts(seen))
    return {
        "format": FORMAT,
        "target": run.target,
        "profile": run.profile,
        "started": run.started,
        **seen,
        "realm_differences": [difference.as_data() for difference in differences],
    }


def put_together(observations: tuple[Observation, ...]) -> list[dict[str, Any]]:
    """Put equal observations together.

    Returns:
        Members clause, realm, operation, seen and cases (node ids), sorted by all but the last, so that a
        comparison of two runs shows nothing but differences.
    """
    cases: dict[tuple[str, str, str, str], set[str]] = {}
    seen: dict[tuple[str, str, str, str], Observation] = {}
    for each in observations:
        key = (each.clause, each.operation or "", each.realm, json.dumps(each.seen, sort_keys=True))
        seen.setdefault(key, each)
        cases.setdefault(key, set()).add(each.case)
    return [
        {
            "clause": seen[key].clause,
            "realm": seen[key].realm,
            "operation": seen[key].operation,
            "seen": seen[key].seen,
            "cases": sorted(cases[key]),
        }
        for key in sorted(seen)
    ]
