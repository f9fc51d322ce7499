"""Accepting what a run observed: the baseline takes over what changed and what is new, and keeps all else."""

from __future__ import annotations

from collections.abc import Collection

from contracts.drift.changes import Change
from contracts.drift.facts import Facts, Place, Value
from contracts.drift.members import status_of


def chosen(facts: Facts, clauses: Collection[str], realms: Collection[str]) -> Facts:
    """Return the facts of these clauses and realms; empty collections choose all."""
    return {
        place: values
        for place, values in facts.items()
        if (not clauses or place.clause in clauses) and (not realms or place.realm in realms)
    }


def accept(accepted: Facts, seen: Facts, changes: Collection[Change]) -> Facts:
    """Put what a run saw into what was accepted.

    Args:
        accepted: the facts of the baseline.
        seen: the facts of the run that are accepted now.
        changes: how they differ (`compare`).

    Returns:
        The facts of the new baseline. What the run did not observe stays, and so does what is wider than the run
        shows without contradicting it: a run sees a sample.
    """
    merged: Facts = {place: dict(values) for place, values in accepted.items()}
    for place, facts in seen.items():
        known = merged.setdefault(place, {})
        for point in _changed_at(place, changes):
            _take_out(known, point)
        _forget_outlived(known, facts)
        for path, value in facts.items():
            known.setdefault(path, value)
    return {place: values for place, values in sorted(merged.items()) if values}


def _changed_at(place: Place, changes: Collection[Change]) -> list[str]:
    return [
        change.point
        for change in changes
        if (change.clause, change.operation) == place[:2] and place.realm in change.realms
    ]


def _take_out(known: dict[str, Value], point: str) -> None:
    """Remove a fact and those of members inside it, which went or changed with it."""
    for path in [path for path in known if path == point or path.startswith((f"{point}.", f"{point}["))]:
        del known[path]


def _forget_outlived(known: dict[str, Value], facts: dict[str, Value]) -> None:
    """Drop the shapes of successes whose status has given way to one that was never seen before."""
    before = {status for path in known if (status := status_of(path)) and status < "400"}
    now = {status for path in facts if (status := status_of(path)) and status < "400"}
    if not now - before:
        return
    for path in [path for path in known if status_of(path) in before - now]:
        del known[path]
