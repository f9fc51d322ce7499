"""`observations.json`: what was seen where the document is silent, in an order that two runs share."""

import json
from pathlib import Path
from typing import Any

from contracts.evidence.record import Observation, RunRecord
from contracts.evidence.verdicts import RunVerdict

FILE_NAME = "observations.json"


def write(record: RunRecord, verdict: RunVerdict, folder: Path) -> Path:
    """Write `observations.json` and return its path."""
    run = record.run
    content = {
        "format": 1,
        "target": run.target,
        "started": run.started,
        "complete": not verdict.problems,
        "observations": put_together(record.observations),
    }
    path = folder / FILE_NAME
    path.write_text(json.dumps(content, indent=2, ensure_ascii=False) + "\n", "utf-8")
    return path


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
