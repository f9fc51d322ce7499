"""Differences between realms: the same silent point, answered otherwise from one application to the next."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from contracts.drift.facts import Facts, Value
from contracts.drift.members import alternatives, parent_of
from contracts.drift.values import shown

#: What stands for a member that a realm does not give.
ABSENT = "absent"


@dataclass(frozen=True, slots=True)
class RealmDifference:
    """One fact that realms do not agree on; `values` maps realm to value in words."""

    clause: str
    operation: str
    point: str
    values: Mapping[str, str]

    def as_data(self) -> dict[str, Any]:
        """Return it as JSON can hold it."""
        return {
            "clause": self.clause,
            "operation": self.operation,
            "point": self.point,
            "values": dict(self.values),
        }


def between_realms(facts: Facts) -> tuple[RealmDifference, ...]:
    """Return what realms do not agree on, sorted; a realm that did not observe a point has no say in it."""
    by_operation: dict[tuple[str, str], dict[str, dict[str, Value]]] = defaultdict(dict)
    for place, values in facts.items():
        by_operation[place.clause, place.operation][place.realm] = values
    return tuple(
        RealmDifference(clause, operation, point, values)
        for (clause, operation), realms in sorted(by_operation.items())
        if len(realms) > 1
        for point, values in _differing(realms)
    )


def _differing(realms: Mapping[str, Mapping[str, Value]]) -> Iterator[tuple[str, dict[str, str]]]:
    for point in sorted({point for values in realms.values() for point in values}):
        said = {realm: _said(values, point) for realm, values in sorted(realms.items())}
        told = {realm: text for realm, text in said.items() if text is not None}
        if len(set(told.values())) > 1:
            yield point, told


def _said(values: Mapping[str, Value], point: str) -> str | None:
    """Return what a realm says of a point: its value, that the member is absent, or nothing."""
    if point in values:
        return shown(values[point])
    parent = parent_of(point)
    around = values.get(parent) if parent is not None else None
    holds = isinstance(around, str) and "object" in alternatives(around)[0] and not point.endswith("[]")
    return ABSENT if holds else None
