"""`check.json`: what traffic showed, as data, checked against its JSON Schema before it is written."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any, Final

import jsonschema_rs

from contracts.errors import SuiteError
from contracts.evidence.plain import encodable
from contracts.traffic.tally import Group, Tally
from contracts.traffic.verdict import TrafficVerdict

FILE_NAME: Final = "check.json"
_FORMAT: Final = 1
_MOST: Final = 200


@dataclass(frozen=True)
class Occasion:
    """Where traffic was watched, and how.

    Attributes:
        kind: `archive` or `proxy`.
        source: Name of the archive; None for a proxy.
        target, base_url: The service, where it is known.
        started, finished: ISO 8601; None when nobody noted it.
        alone: Nobody else wrote to the service meanwhile.
        realms: Only requests of these were judged; empty for all.
        unreadable: Entries of the archive that are no request.
        notes: What people may want to know, a line each.
    """

    kind: str
    source: str | None
    target: str | None
    base_url: str | None
    started: str | None
    finished: str | None
    alone: bool = False
    strict_client: bool = False
    realms: tuple[str, ...] = ()
    unreadable: int = 0
    notes: tuple[str, ...] = ()


def build(tally: Tally, verdict: TrafficVerdict, occasion: Occasion) -> dict[str, Any]:
    """The content of `check.json`."""
    return {
        "format": _FORMAT,
        "kind": occasion.kind,
        "verdict": verdict.word,
        "exit_code": int(verdict.exit_code),
        "reason": verdict.reason,
        "breaks": {"client": verdict.client, "service": verdict.service},
        "source": occasion.source,
        "target": {"name": occasion.target, "base_url": occasion.base_url},
        "started": occasion.started,
        "finished": occasion.finished,
        "alone": occasion.alone,
        "strict_client": occasion.strict_client,
        "realms": list(occasion.realms),
        "exchanges": {
            "all": tally.exchanges,
            "of_the_interface": sum(tally.of_interface.values()),
            "by_realm": dict(tally.realms),
            "not_answered": dict(tally.faults.most_common(_MOST)),
            "judged_in_part": dict(tally.obstacles.most_common(_MOST)),
            "of_other_realms": dict(tally.other_realms),
            "no_operation": dict(tally.strangers.most_common(_MOST)),
            "elsewhere": dict(tally.hosts.most_common(_MOST)),
            "preflights": tally.preflights,
            "unreadable": occasion.unreadable,
        },
        "findings": [_finding(group) for group in tally.groups],
        "operations": tally.operations,
        "never_exercised": tally.never,
        "clauses": [
            {"id": name, "level": level, "held": held, "contradicted": contradicted}
            for name, level, held, contradicted in tally.clauses
        ],
        "notes": [*occasion.notes, *(f"the suite broke on {each}" for each in tally.breakages)],
    }


def _finding(group: Group) -> dict[str, Any]:
    found = group.first
    return {
        "side": str(found.side),
        "standing": str(found.standing),
        "clause": found.clause,
        "level": found.level,
        "fault": found.fault,
        "operation": found.operation or None,
        "realm": found.realm,
        "expected": found.expected,
        "seen": found.seen,
        "times": group.times,
        "entries": group.entries,
        "because_of": found.because_of,
    }


def write(content: dict[str, Any], folder: Path) -> Path:
    """Write `check.json`.

    Raises:
        SuiteError: it does not fit its own schema.
    """
    content = encodable(content)
    for error in schema_validator().iter_errors(content):
        place = "/".join(str(part) for part in error.instance_path) or "the top"
        raise SuiteError(f"{FILE_NAME} does not fit its schema at {place}: {error.message}")
    path = folder / FILE_NAME
    path.write_text(json.dumps(content, indent=2, ensure_ascii=False) + "\n", "utf-8")
    return path


@cache
def schema_validator() -> jsonschema_rs.Draft202012Validator:
    """The validator of `schemas/check.schema.json`."""
    text = files("contracts.evidence").joinpath("schemas/check.schema.json").read_text("utf-8")
    return jsonschema_rs.Draft202012Validator(json.loads(text), validate_formats=True)


def leading(counts: Counter[str], most: int = 3) -> str:
    """The most frequent names of a count with their numbers, for a sentence."""
    shown = ", ".join(f"{name} ({times})" for name, times in counts.most_common(most))
    return shown if len(counts) <= most else f"{shown} and {len(counts) - most} more"
