"""Silent points on the page: what was seen where the document gives no answer, and where realms do not agree."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from contracts.drift.changes import SEEN, Change
from contracts.drift.facts import read_facts
from contracts.drift.values import shown
from contracts.interface.clauses import Clause

Seen = Mapping[str, Any]
"""The content of `observations.json` (see `observations.build`)."""


@dataclass(frozen=True, slots=True)
class Agreed:
    """Realms that gave the same value at a point; `value` is in words."""

    realms: tuple[str, ...]
    value: str


@dataclass(frozen=True, slots=True)
class Point:
    """One fact of an operation; `name` is empty where the fact has none of its own."""

    name: str
    agreed: tuple[Agreed, ...]

    @property
    def differs(self) -> bool:
        """Whether realms do not agree."""
        return len(self.agreed) > 1


@dataclass(frozen=True, slots=True)
class Sight:
    """All that was seen of one clause on one operation; `clause` is None when the catalogue does not know it."""

    id: str
    clause: Clause | None
    operation: str
    realms: tuple[str, ...]
    points: tuple[Point, ...]


def sights(seen: Seen, clauses: Mapping[str, Clause], realms: Sequence[str]) -> list[Sight]:
    """Return what was seen, a sight for each clause and operation, in the catalogue's order.

    Args:
        seen: see `Seen`.
        clauses: those of the run by id, in the catalogue's order.
        realms: in the order to show them in.
    """
    found: dict[tuple[str, str], dict[str, dict[str, str]]] = defaultdict(lambda: defaultdict(dict))
    for place, facts in read_facts(seen).items():
        for name, value in facts.items():
            found[place.clause, place.operation][_name(name)][place.realm] = shown(value) or ""
    order = {name: rank for rank, name in enumerate(clauses)}
    lines = [
        Sight(
            id=clause,
            clause=clauses.get(clause),
            operation=operation,
            realms=_sorted({realm for values in points.values() for realm in values}, realms),
            points=tuple(Point(name, agreed(values, realms)) for name, values in points.items()),
        )
        for (clause, operation), points in found.items()
    ]
    return sorted(lines, key=lambda sight: (order.get(sight.id, len(order)), sight.id, sight.operation))


def differences(seen: Seen, clauses: Mapping[str, Clause], realms: Sequence[str]) -> list[Sight]:
    """Return the points on which realms do not agree, by clause and operation, in the catalogue's order."""
    found: dict[tuple[str, str], list[Point]] = defaultdict(list)
    for each in seen["realm_differences"]:
        point = Point(_name(each["point"]), agreed(each["values"], realms))
        found[each["clause"], each["operation"]].append(point)
    order = {name: rank for rank, name in enumerate(clauses)}
    lines = [
        Sight(
            clause,
            clauses.get(clause),
            operation,
            _sorted({realm for point in points for group in point.agreed for realm in group.realms}, realms),
            tuple(points),
        )
        for (clause, operation), points in found.items()
    ]
    return sorted(lines, key=lambda sight: (order.get(sight.id, len(order)), sight.id, sight.operation))


def agreed(values: Mapping[str, str], realms: Sequence[str]) -> tuple[Agreed, ...]:
    """Put realms with the same value together; the value that most realms give comes first."""
    groups: dict[str, list[str]] = defaultdict(list)
    for realm, value in values.items():
        groups[value].append(realm)
    found = [Agreed(_sorted(names, realms), value) for value, names in groups.items()]
    return tuple(sorted(found, key=lambda each: (-len(each.realms), _places(each.realms, realms))))


def beside(change: Change, lines: Iterable[Sight]) -> tuple[Agreed, ...]:
    """Return how realms differ now at the point that a change is about; empty where they agree."""
    name = _name(change.point)
    return next(
        (
            point.agreed
            for sight in lines
            if (sight.id, sight.operation) == (change.clause, change.operation)
            for point in sight.points
            if point.name == name
        ),
        (),
    )


def _name(point: str) -> str:
    return "" if point == SEEN else point


def _places(names: Iterable[str], realms: Sequence[str]) -> list[int]:
    return [realms.index(name) if name in realms else len(realms) for name in names]


def _sorted(names: Iterable[str], realms: Sequence[str]) -> tuple[str, ...]:
    return tuple(sorted(names, key=lambda name: (*_places([name], realms), name)))
