"""What a run observed against what was accepted: changes, and what no baseline speaks of yet."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from contracts.drift.changes import Change, Kind
from contracts.drift.facts import FAULT, Facts, Place, Value
from contracts.drift.members import BODY, alternatives, parent_of, status_of
from contracts.drift.values import kind_of_shape_change, kind_of_value_change, shown

_Known = Mapping[str, Value]


@dataclass(frozen=True, slots=True)
class _Difference:
    kind: Kind
    point: str
    was: Value | None
    now: Value | None


def compare(accepted: Facts, seen: Facts) -> tuple[Change, ...]:
    """Compare what a run saw with what was accepted.

    Only places that both know are compared: what a run did not observe has not changed, and what was never
    accepted cannot have (see `unknown`).

    Returns:
        The changes, breaking ones first, realms that differ alike put together.
    """
    alike: dict[tuple[str, str, _Difference], list[str]] = defaultdict(list)
    for place, facts in seen.items():
        for difference in _differences(place, accepted.get(place, {}), facts):
            alike[place.clause, place.operation, difference].append(place.realm)
    changes = [
        Change(each.kind, clause, operation, tuple(realms), each.point, shown(each.was), shown(each.now))
        for (clause, operation, each), realms in alike.items()
    ]
    return tuple(sorted(changes, key=_rank))


def unknown(accepted: Facts, seen: Facts) -> Facts:
    """Return what a run saw that the baseline has no word on, changes of known answers left out."""
    new: Facts = {}
    for place, facts in seen.items():
        known = accepted.get(place, {})
        fresh = {path: value for path, value in facts.items() if path not in known and _apart(path, known)}
        if fresh:
            new[place] = fresh
    return new


def undealt(accepted: Facts, seen: Facts) -> Facts:
    """Return what a run saw but for generated faults that another realm is known to answer alike.

    A run deals these faults out among its realms: with other realms they fall to others, and nothing has changed.
    """
    known = {
        (place.clause, place.operation, path, value)
        for place, facts in accepted.items()
        for path, value in facts.items()
        if path.startswith(FAULT)
    }
    return {
        place: {
            path: value
            for path, value in facts.items()
            if path in accepted.get(place, {}) or (place.clause, place.operation, path, value) not in known
        }
        for place, facts in seen.items()
    }


def _rank(change: Change) -> tuple[bool, int, str, str, str]:
    order = list(Kind).index(change.kind)
    return change.severity != Kind.MEMBER_GONE.severity, order, change.clause, change.operation, change.point


def _differences(place: Place, known: _Known, facts: _Known) -> Iterator[_Difference]:
    for path, now in facts.items():
        if status_of(path) is None:
            yield from _of_value(place.clause, path, known.get(path), now)
    for status in sorted({status for path in facts if (status := status_of(path))}):
        yield from _of_answer(_likened(known, status), _told(facts, status))


def _of_value(clause: str, path: str, was: Value | None, now: Value) -> Iterator[_Difference]:
    kind = kind_of_value_change(clause, path, was, now) if was is not None else None
    if kind is not None:
        yield _Difference(kind, path, was, now)


def _of_answer(known: Mapping[str, str], facts: Mapping[str, str]) -> Iterator[_Difference]:
    """Yield how the shape of an answer with one status differs; nothing when no such answer was accepted."""
    if not known:
        return
    for path, now in facts.items():
        was = known.get(path)
        if was is not None:
            kind = kind_of_shape_change(was, now)
            if kind is not None:
                yield _Difference(kind, path, was, now)
        elif _is_member(path, known):
            yield _Difference(Kind.MEMBER_ADDED, path, None, now)
    for path, was in known.items():
        if path not in facts and _is_member(path, facts) and not alternatives(was)[1]:
            yield _Difference(Kind.MEMBER_GONE, path, was, None)


def _told(facts: _Known, status: str) -> dict[str, str]:
    return {path: str(value) for path, value in facts.items() if status_of(path) == status}


def _likened(known: _Known, status: str) -> dict[str, str]:
    """Return what was accepted of a status; for a success never seen before, that of its nearest neighbour.

    A success that changes its status keeps its shape, or it does not: clients care about both.
    """
    own = _told(known, status)
    if own or status >= "400":
        return own
    others = sorted({other for path in known if (other := status_of(path)) and other < "400"})
    for other in others:
        told = _told(known, other)
        if told.get(f"{other} {BODY}") != "empty":
            return {path.replace(other, status, 1): value for path, value in told.items()}
    return {}


def _is_member(path: str, facts: _Known) -> bool:
    """Tell whether an object stands at the path around a member, so that the member's absence means something.

    Items are no members: an empty list says nothing of them.
    """
    parent = parent_of(path)
    value = facts.get(parent) if parent is not None and not path.endswith("[]") else None
    return isinstance(value, str) and "object" in alternatives(value)[0]


def _apart(path: str, known: _Known) -> bool:
    """Tell whether a fact is no part of an answer that the baseline knows already."""
    status = status_of(path)
    return status is None or not _likened(known, status)
