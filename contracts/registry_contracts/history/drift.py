"""Drift: how observations differ from the accepted baseline, how realms differ, and whether that fails a run.

A change is additive if there is only more than was accepted: another member, another item of a closed set, a larger
number, a success instead of a refusal. Every other change may break a client.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from itertools import groupby
from typing import Annotated, Final, NamedTuple

from msgspec import Meta

from registry_contracts.file_formats import Format, Name
from registry_contracts.history.observed_facts import (
    OPTIONAL,
    OR,
    Change,
    Facts,
    Severity,
    Value,
    alternatives,
    parent_of,
)
from registry_contracts.safe_text import many

#: Facts whose value is a quantity; all other numbers are statuses.
_QUANTITIES: Final = ("seconds", "items")
_NUMBER: Final = re.compile(r"(?P<number>\d+)(?P<more> or more)?")
#: Values that say that a request was accepted or refused: words of cases, or statuses.
_ACCEPTED: Final = re.compile(r"kept|changed|renamed|[123]\d\d")
_REFUSED: Final = re.compile(r"refused.*|workflow-.*|4\d\d.*|[23]\d\d errors.*")
#: Kinds of changes, those that break clients first.
GONE, CHANGED, ADDED = "gone", "changed", "added"
#: The status that a fact about an answer begins with.
_STATUS: Final = re.compile(r"^\d{3} ")
#: A fact about a member in the body of an answer.
_OF_A_BODY: Final = re.compile(r"(\d{3} )?body[.\[].*")

_Known = Mapping[str, Value]


def kind_of_change(point: str, was: Value, now: Value) -> str | None:
    """Return how the value of a fact differs; None if the new value was accepted.

    Fewer alternatives than accepted are no difference: a run sees a sample.
    """
    if isinstance(was, tuple) or isinstance(now, tuple):
        before, after = ({*value} if isinstance(value, tuple) else {*value.split(OR)} for value in (was, now))
        return None if before == after else ADDED if before < after else CHANGED
    if point.rpartition(".")[2] in _QUANTITIES:
        old, new = _NUMBER.fullmatch(was), _NUMBER.fullmatch(now)
        if old is None or new is None:
            return CHANGED if was != now else None
        grown = int(new["number"]) - int(old["number"])
        return CHANGED if grown < 0 and not new["more"] else ADDED if grown > 0 and not old["more"] else None
    known = alternatives(was)
    added = alternatives(now) - known - ({"integer"} if "number" in known else frozenset())
    opened = all(map(_REFUSED.fullmatch, known)) and all(map(_ACCEPTED.fullmatch, added))
    return None if not added else ADDED if opened else CHANGED


def shown(value: Value | None) -> str | None:
    """Return a value as text for people."""
    if isinstance(value, tuple):
        return ", ".join(value) or "none"
    return value.replace(OR, " or ") if value is not None else None


def compare(accepted: Facts, seen: Facts) -> tuple[Change, ...]:
    """Return the changes between accepted and seen facts: breaking ones first, realms with the same change together.

    Only facts in both are compared: an unobserved fact has not changed, and for a new one see `new_facts`.
    """
    alike: dict[tuple[str, str, tuple[str, str, Value | None, Value | None]], list[str]] = defaultdict(list)
    for place, facts in seen.items():
        for difference in _differences(accepted.get(place, {}), facts):
            alike[place.clause, place.operation, difference].append(place.realm)
    changes = [
        Change(
            severity=Severity.ADDITIVE if kind == ADDED else Severity.BREAKING,
            change=kind,
            clause=clause,
            operation=operation,
            realms=tuple(realms),
            point=point,
            was=shown(was),
            now=shown(now),
        )
        for (clause, operation, (kind, point, was, now)), realms in alike.items()
    ]
    order = (GONE, CHANGED, ADDED).index
    return tuple(sorted(changes, key=lambda c: (order(c.change), c.clause, c.operation, c.point)))


def _differences(accepted: _Known, facts: _Known) -> Iterator[tuple[str, str, Value | None, Value | None]]:
    for point, now in facts.items():
        was = accepted.get(point)
        if was is not None and (kind := kind_of_change(point, was, now)):
            yield kind, point, was, now
        elif was is None and _is_member(point, accepted):
            yield ADDED, point, None, now
    for point, was in accepted.items():
        if point not in facts and _is_member(point, facts) and OPTIONAL not in alternatives(str(was)):
            yield GONE, point, was, None


def _is_member(point: str, facts: _Known) -> bool:
    """Tell whether a fact is a member of a known object, so that its absence means something.

    Items are not members: an empty list says nothing about them.
    """
    is_member = _OF_A_BODY.fullmatch(point) and not point.endswith("[]")
    return bool(is_member) and "object" in alternatives(str(facts.get(parent_of(point), "")))


def new_facts(accepted: Facts, seen: Facts) -> Counter[str]:
    """Count the facts that the baseline lacks, by clause; new members of known answers are changes instead."""
    numbers: Counter[str] = Counter()
    for place, facts in sorted(seen.items()):
        known = accepted.get(place, {})
        new = sum(point not in known and not _is_member(point, known) for point in facts)
        numbers.update({place.clause: new} if new else {})
    return numbers


#: Stands for a member that a realm does not have.
ABSENT = "absent"


class RealmDifference(Format, frozen=True):
    """One fact on which realms differ; `values` maps each realm to its value as text."""

    clause: Name
    operation: str
    point: Name
    values: Annotated[Mapping[str, str], Meta(min_length=2)]


def between_realms(facts: Facts) -> tuple[RealmDifference, ...]:
    """Return the facts on which realms differ, sorted; realms that did not observe a fact are ignored."""
    by_operation: dict[tuple[str, str], dict[str, _Known]] = defaultdict(dict)
    for place, values in sorted(facts.items()):
        by_operation[place.clause, place.operation][place.realm] = values
    return tuple(
        RealmDifference(clause, operation, point, said)
        for (clause, operation), realms in sorted(by_operation.items())
        for point in sorted({point for values in realms.values() for point in values})
        if len(set((said := _said_of(point, realms)).values())) > 1
    )


def _said_of(point: str, realms: Mapping[str, _Known]) -> dict[str, str]:
    """The value of a fact in each realm that observed it, or that the member is absent."""
    said = {
        realm: shown(values[point]) if point in values else ABSENT if _is_member(point, values) else None
        for realm, values in realms.items()
    }
    return {realm: text for realm, text in said.items() if text is not None}


class DriftCause(NamedTuple):
    """Changes that differ only in clause and operation, so that one change of the service explains them.

    `says` has the operations, the change, and the clauses that leave it open.
    """

    changes: tuple[Change, ...]
    kind: str
    severity: Severity
    realms: tuple[str, ...]
    says: str


def drift_causes(changes: Iterable[Change]) -> tuple[DriftCause, ...]:
    """Group changes by cause, in the order of their first changes."""
    alike: dict[tuple[str, ...], list[Change]] = defaultdict(list)
    for change in changes:
        alike[change.change, _STATUS.sub("", change.point), change.was or "", change.now or ""].append(change)
    return tuple(_cause(tuple(group)) for group in alike.values())


def _cause(changes: tuple[Change, ...]) -> DriftCause:
    first, realms = changes[0], {realm for change in changes for realm in change.realms}
    operations = dict.fromkeys(change.operation for change in changes if change.operation)
    clauses = dict.fromkeys(change.clause for change in changes)
    says = f"{', '.join(operations) or 'the service'}: {first.says} ({', '.join(clauses)})"
    return DriftCause(changes, first.change, first.severity, tuple(sorted(realms)), says)


class Mode(StrEnum):
    """The effect of drift on the verdict of a run."""

    WARN = "warn"
    FAIL = "fail"
    OFF = "off"


@dataclass(frozen=True, slots=True)
class DriftReport:
    """How a run differs from the accepted baseline; `baseline` is the file, or None without a comparison.

    `known`: the file existed when the run began. `unaccepted`: number of facts that it lacks. `outside`: changes that
    do not block, since the run's consumer does not use the operation. `observed`: the run observed something.
    """

    mode: Mode = Mode.OFF
    target: str = ""
    baseline: str | None = None
    known: bool = False
    changes: tuple[Change, ...] = ()
    unaccepted: int = 0
    outside: frozenset[Change] = frozenset()
    observed: bool = True

    @property
    def breaking(self) -> tuple[Change, ...]:
        """Changes that break clients."""
        return tuple(change for change in self.changes if change.severity is Severity.BREAKING)

    @property
    def causes(self) -> tuple[DriftCause, ...]:
        """All changes, grouped by cause."""
        return drift_causes(self.changes)

    @property
    def blocking(self) -> str | None:
        """Why drift fails the run, in one sentence; None if it does not."""
        causes = drift_causes(change for change in self.breaking if change not in self.outside)
        if self.mode is not Mode.FAIL or not causes:
            return None
        first, *others = causes
        more = f" and {len(others)} more" if others else ""
        what = f"{first.kind}: {first.says} in {', '.join(first.realms)}"
        return f"breaking drift from {self.baseline}: {what}{more}"

    @property
    def sentence(self) -> str | None:
        """One line for the terminal; None without a comparison."""
        if self.mode is Mode.OFF or self.baseline is None:
            return None
        if not self.known:
            accept = f"`registry-contracts drift accept` writes {self.baseline}"
            return f"no baseline of {self.target} yet; {accept}" if self.observed else None
        if not self.observed:
            return f"nothing was observed that could differ from {self.baseline}"
        new = f"{many(self.unaccepted, 'fact')} not in it yet" if self.unaccepted else ""
        hint = "`registry-contracts drift` shows it" if self.changes else ""
        return "; ".join(filter(None, (f"{counted(self.changes)} against {self.baseline}", new, hint)))


NO_DRIFT = DriftReport()
"""The drift of a run that was not compared."""


def counted(changes: Sequence[Change]) -> str:
    """The number of changes by severity, as text."""
    breaking = sum(change.severity is Severity.BREAKING for change in changes)
    return f"{breaking} breaking, {len(changes) - breaking} additive" if changes else "none"


def change_lines(changes: Sequence[Change]) -> Iterator[str]:
    """Yield the changes by severity, one line for each cause."""
    for severity in Severity:
        mine = [change for change in changes if change.severity is severity]
        if mine:
            yield f"{severity} ({len(mine)})"
            yield from (
                f"  {cause.kind}: {cause.says} · {', '.join(cause.realms)}" for cause in drift_causes(mine)
            )


def realm_difference_lines(differences: Iterable[RealmDifference]) -> Iterator[str]:
    """Yield the facts on which realms differ, a line for each fact and one for each value."""
    for (clause, operation), group in groupby(
        differences, key=lambda change: (change.clause, change.operation)
    ):
        yield f"{clause} · {operation}"
        for difference in group:
            yield f"  {difference.point}"
            realms: dict[str, list[str]] = defaultdict(list)
            for realm, value in difference.values.items():
                realms[value].append(realm)
            yield from (f"    {', '.join(names)}: {value}" for value, names in realms.items())
