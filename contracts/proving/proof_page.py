"""The kill matrix as one page that asks nothing of the network."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from typing import Any, Final

from contracts.evidence.one_page import inlined, template_environment, template_text

_PACKAGE: Final = "contracts.proving"


def render(data: Mapping[str, Any]) -> str:
    """The page.

    Args:
        data: What `proof.json` holds.
    """
    return (
        template_environment(_PACKAGE)
        .get_template("proof.html.j2")
        .render(
            proof=data,
            families=_families(data["defects"]),
            survivors=[row for row in data["defects"] if not row["killed"]],
            idle=[case for case in data["cases"] if not case["kills"] and not case["only_observes"]],
            alarms=[run for run in data["calm"] if run["alarm"]],
            **inlined(template_text(_PACKAGE, "proof.css"), template_text(_PACKAGE, "proof.js")),
        )
    )


def _families(defects: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The matrix in blocks, one for each family of clauses: its defects, and the cases that killed any of them."""
    rows: dict[str, list[dict[str, Any]]] = defaultdict(list)
    for defect in defects:
        rows[defect["family"]].append(defect)
    return [
        {
            "name": name,
            "rows": [{**row, "kills": _kills(row)} for row in found],
            "cases": sorted({case for row in found for case in _kills(row)}),
            "killed": sum(row["killed"] for row in found),
        }
        for name, found in sorted(rows.items())
    ]


def _kills(defect: Mapping[str, Any]) -> dict[str, int]:
    """Case → on how many seeds it killed the defect."""
    counts: dict[str, int] = defaultdict(int)
    for seed in defect["seeds"]:
        for case in seed["cases"]:
            counts[case] += 1
    return dict(counts)
