"""What a webhook is told of a run: the summary as plain data, made from `verdict.json` alone."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from contracts.shortening import cut

FORMAT: Final = 1
#: Findings and changes that are told one by one; the report holds them all.
MOST_TOLD: Final = 10
_LONGEST: Final = 300


def summary_of(verdict: Mapping[str, Any], report: str | None) -> dict[str, Any]:
    """Return what a webhook is told of a run.

    Args:
        verdict: The content of `verdict.json`, from which secrets are out.
        report: Address where people find the report; None when nobody gave one.

    Returns:
        Plain data that fits `contracts/evidence/schemas/notification.schema.json`. The member `text` is one line
        for people, which chat systems show as it is.
    """
    environment = verdict["environment"]
    return {
        "format": FORMAT,
        "text": _text(verdict, report),
        "verdict": verdict["verdict"],
        "exit_code": verdict["exit_code"],
        "reason": _short(verdict["reason"]),
        "complete": verdict["complete"],
        "target": dict(verdict["target"]),
        "profile": verdict["profile"],
        "seed": verdict["seed"],
        "realms": list(verdict["realms"]),
        "consumer": verdict["consumer"]["file"] if verdict["consumer"] else None,
        "started": verdict["started"],
        "finished": verdict["finished"],
        "seconds": verdict["seconds"],
        "counts": dict(verdict["counts"]),
        "cases": verdict["cases"],
        "requests": environment["requests"],
        "breaker": _short(environment["breaker"]) if environment["breaker"] else None,
        "findings": _findings(verdict["findings"]),
        "drift": _drift(verdict["drift"]),
        "deviations": [
            {"clause": each["clause"], "course": each["course"], "fails": each["fails"], "says": each["says"]}
            for each in verdict["deviations"]
        ],
        "left": len(verdict["residue"]) + len(verdict["leftovers"]),
        "report": report,
    }


def _text(verdict: Mapping[str, Any], report: str | None) -> str:
    name, profile = verdict["target"]["name"], verdict["profile"]
    line = f"Registry contracts, {name}, {profile}: {verdict['verdict']}: {verdict['reason']}"
    return _short(line) + (f" {report}" if report else "")


def _findings(findings: list[Mapping[str, Any]]) -> dict[str, Any]:
    return {
        "total": len(findings),
        "failing": sum(each["standing"] == "fail" and each["counted"] for each in findings),
        "first": [
            {
                name: each[name]
                for name in ("id", "clause", "operation", "realm", "standing", "counted", "rate")
            }
            | {"expected": _short(each["expected"]), "seen": _short(each["seen"])}
            for each in findings[:MOST_TOLD]
        ],
    }


def _drift(changes: list[Mapping[str, Any]]) -> dict[str, Any]:
    return {
        "breaking": sum(each["severity"] == "breaking" for each in changes),
        "additive": sum(each["severity"] == "additive" for each in changes),
        "first": [
            {name: each[name] for name in ("clause", "operation", "realms", "change", "severity")}
            | {"point": _short(each["point"])}
            | {name: None if each[name] is None else _short(each[name]) for name in ("was", "now")}
            for each in changes[:MOST_TOLD]
        ],
    }


def _short(text: str) -> str:
    return cut(" ".join(text.split()), _LONGEST)
