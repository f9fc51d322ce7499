"""Drift and differences between realms as lines for the terminal."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby

from contracts.drift.changes import Change, Kind, Severity
from contracts.drift.facts import Facts
from contracts.drift.realms import RealmDifference


def told_changes(changes: Sequence[Change]) -> Iterator[str]:
    """Yield the changes by severity and kind, operations of a clause that changed alike on one line."""
    for severity in Severity:
        mine = [change for change in changes if change.severity is severity]
        if mine:
            yield f"{severity} ({len(mine)})"
            for kind, group in groupby(sorted(mine, key=_order), key=lambda change: change.kind):
                yield f"  {kind}"
                yield from _alike(group)


def told_realms(differences: Iterable[RealmDifference]) -> Iterator[str]:
    """Yield what realms do not agree on, a line for each point and one for each value."""
    for (clause, operation), group in groupby(differences, key=lambda each: (each.clause, each.operation)):
        yield f"{clause} · {operation}"
        for difference in group:
            yield f"  {difference.point}"
            realms: dict[str, list[str]] = defaultdict(list)
            for realm, value in difference.values.items():
                realms[value].append(realm)
            yield from (f"    {', '.join(names)}: {value}" for value, names in realms.items())


def told_new(facts: Facts) -> Iterator[str]:
    """Yield how many facts of each clause the baseline has no word on."""
    counts: dict[str, int] = defaultdict(int)
    for place, values in facts.items():
        counts[place.clause] += len(values)
    yield from (f"  {clause}: {count}" for clause, count in sorted(counts.items()))


def _order(change: Change) -> tuple[int, str, str]:
    return list(Kind).index(change.kind), change.clause, change.point


def _alike(changes: Iterable[Change]) -> Iterator[str]:
    """Yield changes of one kind: operations that changed alike together, and what changed in them below."""
    operations: dict[tuple[str, tuple[str, ...], str], list[str]] = defaultdict(list)
    for change in changes:
        operations[change.clause, change.realms, change.says].append(change.operation)
    places: dict[str, list[str]] = defaultdict(list)
    for (clause, realms, says), names in operations.items():
        places[f"    {clause} · {', '.join(names)} · {', '.join(realms)}"].append(says)
    for place, said in places.items():
        yield place
        yield from (f"        {says}" for says in said)
