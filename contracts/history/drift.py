"""Drift: how observations differ from the accepted baseline, how realms differ, and whether that fails a run."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from itertools import groupby
from types import MappingProxyType
from typing import Annotated, Final

from msgspec import Meta

from contracts.file_formats import Format, Name
from contracts.history.observed_facts import (
    BODY,
    FAULT,
    OR,
    Change,
    Facts,
    Kind,
    Place,
    Severity,
    Value,
    alternatives,
    parent_of,
    status_of,
)
from contracts.interface.description import load_description
from contracts.safe_text import many

#: `201`, `400 errors`, `400 errors for batchId`: what became of a request.
_STATUS: Final = re.compile(r"(?P<status>[1-5]\d\d)(?P<errors> errors.*)?")
_NUMBER: Final = re.compile(r"(?P<number>\d+)(?P<more> or more)?")
#: Between values that were seen beside each other.
_OR: Final = " or "
#: Words that cases use for a request that was taken, and how those begin for one that was not: rows of the
#: workflow table are told by their clause.
_TAKEN: Final = frozenset({"kept", "changed", "renamed"})
_TURNED_DOWN: Final = ("refused", "workflow-")
#: Facts whose value is a quantity; all other numbers are statuses.
_QUANTITIES: Final = ("seconds", "items")
#: Silent clauses about reading without a token.
_ANONYMOUS: Final = frozenset(
    {"attachment-exists-token", "attachment-get-token", "attachment-thumbnail-token"}
)


def kind_of_shape_change(was: str, now: str) -> Kind | None:
    """Tell how a member, a body or a media type differs; None when what is seen was accepted.

    Fewer alternatives than accepted are no difference: a run sees a sample of what there is.
    """
    before, could_miss = alternatives(was)
    after, may_miss = alternatives(now)
    added = after - before
    if not added:
        return Kind.MAY_BE_MISSING if may_miss and not could_miss else None
    if added == {"integer"} and "number" in before:
        return None
    if not before - after:
        return Kind.FURTHER_KIND
    bare = {_bare(form) for form in before - after}
    return Kind.FORM_CHANGED if {_bare(form) for form in added} <= bare else Kind.KIND_CHANGED


def kind_of_value_change(clause: str, point: str, was: Value, now: Value) -> Kind | None:
    """Tell how the value of a fact differs; None when what is seen was accepted."""
    if isinstance(was, tuple) or isinstance(now, tuple):
        return _sets(clause, _listed(was), _listed(now))
    if point.rpartition(".")[2] in _QUANTITIES:
        return _quantities(was, now)
    before, after = set(was.split(OR)), set(now.split(OR))
    added = after - before
    if not added:
        return None
    kinds = {_words(clause, old, new) for old in (before - after or before) for new in added}
    return min(kinds, key=list(Kind).index)


def shown(value: Value | None) -> str | None:
    """Return a value as people read it."""
    if isinstance(value, tuple):
        return ", ".join(value) or "none"
    return value.replace(OR, _OR) if value is not None else None


def _bare(kind: str) -> str:
    return kind.partition(" ")[0]


def _listed(value: Value) -> set[str]:
    return set(value) if isinstance(value, tuple) else set(value.split(OR))


def _sets(clause: str, before: set[str], after: set[str]) -> Kind | None:
    gone, added = before - after, after - before
    if gone and added:
        kinds = {_words(clause, old, new) for old in gone for new in added}
        return min(kinds, key=list(Kind).index)
    if gone:
        return Kind.VALUE_GONE
    if not added:
        return None
    return Kind.STATUS_CHANGED if all(map(_STATUS.fullmatch, added)) else Kind.VALUE_ADDED


def _quantities(was: str, now: str) -> Kind | None:
    before, after = _NUMBER.fullmatch(was), _NUMBER.fullmatch(now)
    if before is None or after is None:
        return Kind.BEHAVIOUR_CHANGED if was != now else None
    old, new = int(before["number"]), int(after["number"])
    if new < old and not after["more"]:
        return Kind.LESS
    return Kind.MORE if new > old and not before["more"] else None


def _words(clause: str, was: str, now: str) -> Kind:
    before, after = _taken(was), _taken(now)
    if before is not None and after is not None and before != after:
        if clause in _ANONYMOUS:
            return Kind.NOW_OPEN if after else Kind.NOW_CLOSED
        return Kind.NOW_ACCEPTED if after else Kind.NOW_REFUSED
    both = _STATUS.fullmatch(was), _STATUS.fullmatch(now)
    if both[0] and both[1] and both[0]["status"] != both[1]["status"]:
        return Kind.STATUS_CHANGED
    return Kind.BEHAVIOUR_CHANGED


def _taken(word: str) -> bool | None:
    """Tell whether a request was taken; None where the word says nothing of it."""
    match = _STATUS.fullmatch(word)
    if match is not None:
        return match["status"] < "400" and not match["errors"]
    return True if word in _TAKEN else False if word.startswith(_TURNED_DOWN) else None


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
    accepted cannot have (see `not_accepted_yet`).

    Returns:
        The changes, breaking ones first, realms that differ alike put together.
    """
    alike: dict[tuple[str, str, _Difference], list[str]] = defaultdict(list)
    for place, facts in seen.items():
        for difference in _differences(place, accepted.get(place, {}), facts):
            alike[place.clause, place.operation, difference].append(place.realm)
    changes = [
        Change(
            difference.kind,
            clause,
            operation,
            tuple(realms),
            difference.point,
            shown(difference.was),
            shown(difference.now),
        )
        for (clause, operation, difference), realms in alike.items()
    ]
    return tuple(sorted(changes, key=_rank))


def not_accepted_yet(accepted: Facts, seen: Facts) -> Facts:
    """Return what a run saw that the baseline has no word on, changes of known answers left out."""
    new: Facts = {}
    for place, facts in seen.items():
        expected = accepted.get(place, {})
        fresh = {
            path: value for path, value in facts.items() if path not in expected and _apart(path, expected)
        }
        if fresh:
            new[place] = fresh
    return new


def without_moved_faults(accepted: Facts, seen: Facts) -> Facts:
    """Return what a run saw but for generated faults that another realm is known to answer alike.

    A run deals these faults out among its realms: with other realms they fall to others, and nothing has changed.
    """
    accepted_faults = {
        (place.clause, place.operation, path, value)
        for place, facts in accepted.items()
        for path, value in facts.items()
        if path.startswith(FAULT)
    }
    return {
        place: {
            path: value
            for path, value in facts.items()
            if path in accepted.get(place, {})
            or (place.clause, place.operation, path, value) not in accepted_faults
        }
        for place, facts in seen.items()
    }


def _rank(change: Change) -> tuple[bool, int, str, str, str]:
    order = list(Kind).index(change.kind)
    return change.severity != Kind.MEMBER_GONE.severity, order, change.clause, change.operation, change.point


def _differences(place: Place, accepted: _Known, facts: _Known) -> Iterator[_Difference]:
    for path, now in facts.items():
        if status_of(path) is None:
            yield from _of_value(place.clause, path, accepted.get(path), now)
    for status in sorted({status for path in facts if (status := status_of(path))}):
        yield from _of_answer(_likened(accepted, status), _values_of(facts, status))


def _of_value(clause: str, path: str, was: Value | None, now: Value) -> Iterator[_Difference]:
    kind = kind_of_value_change(clause, path, was, now) if was is not None else None
    if kind is not None:
        yield _Difference(kind, path, was, now)


def _of_answer(accepted: Mapping[str, str], facts: Mapping[str, str]) -> Iterator[_Difference]:
    """Yield how the shape of an answer with one status differs; nothing when no such answer was accepted."""
    if not accepted:
        return
    for path, now in facts.items():
        was = accepted.get(path)
        if was is not None:
            kind = kind_of_shape_change(was, now)
            if kind is not None:
                yield _Difference(kind, path, was, now)
        elif _is_member(path, accepted):
            yield _Difference(Kind.MEMBER_ADDED, path, None, now)
    for path, was in accepted.items():
        if path not in facts and _is_member(path, facts) and not alternatives(was)[1]:
            yield _Difference(Kind.MEMBER_GONE, path, was, None)


def _values_of(facts: _Known, status: str) -> dict[str, str]:
    return {path: str(value) for path, value in facts.items() if status_of(path) == status}


def _likened(accepted: _Known, status: str) -> dict[str, str]:
    """Return what was accepted of a status; for a success never seen before, that of its nearest neighbour.

    A success that changes its status keeps its shape, or it does not: clients care about both.
    """
    own = _values_of(accepted, status)
    if own or status >= "400":
        return own
    others = sorted({other for path in accepted if (other := status_of(path)) and other < "400"})
    for other in others:
        shape = _values_of(accepted, other)
        if shape.get(f"{other} {BODY}") != "empty":
            return {path.replace(other, status, 1): value for path, value in shape.items()}
    return {}


def _is_member(path: str, facts: _Known) -> bool:
    """Tell whether an object stands at the path around a member, so that the member's absence means something.

    Items are no members: an empty list says nothing of them.
    """
    parent = parent_of(path)
    value = facts.get(parent) if parent is not None and not path.endswith("[]") else None
    return isinstance(value, str) and "object" in alternatives(value)[0]


def _apart(path: str, accepted: _Known) -> bool:
    """Tell whether a fact is no part of an answer that the baseline knows already."""
    status = status_of(path)
    return status is None or not _likened(accepted, status)


#: What stands for a member that a realm does not give.
ABSENT = "absent"


class RealmDifference(Format, frozen=True):
    """One fact that realms do not agree on; `values` maps realm to value in words."""

    clause: Name
    operation: str
    point: Name
    values: Annotated[Mapping[str, str], Meta(min_length=2)]


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
        values_of = {realm: _value_at(values, point) for realm, values in sorted(realms.items())}
        present = {realm: text for realm, text in values_of.items() if text is not None}
        if len(set(present.values())) > 1:
            yield point, present


def _value_at(values: Mapping[str, Value], point: str) -> str | None:
    """Return what a realm says of a point: its value, that the member is absent, or nothing."""
    if point in values:
        return shown(values[point])
    parent = parent_of(point)
    around = values.get(parent) if parent is not None else None
    holds = isinstance(around, str) and "object" in alternatives(around)[0] and not point.endswith("[]")
    return ABSENT if holds else None


@dataclass(frozen=True, slots=True)
class DriftCause:
    """Changes that one change of the service explains: the same status, or the same difference of the same member.

    Attributes:
        says: What changed, in one sentence without a full stop.
        changes: What it explains, in the order of `compare`.
    """

    says: str
    changes: tuple[Change, ...]

    @property
    def kind(self) -> Kind:
        """What changed in all of them."""
        return self.changes[0].kind

    @property
    def severity(self) -> Severity:
        """Whether clients may break."""
        return self.kind.severity

    @property
    def realms(self) -> tuple[str, ...]:
        """Every realm that one of them was seen in, sorted."""
        return tuple(sorted({realm for change in self.changes for realm in change.realms}))

    @property
    def clauses(self) -> tuple[str, ...]:
        """The clauses that leave it open, in their order, each once."""
        return tuple(dict.fromkeys(change.clause for change in self.changes))


def drift_causes(changes: Iterable[Change]) -> tuple[DriftCause, ...]:
    """Fold changes that one change of the service explains.

    A status that is answered now in place of others is one cause, whatever clause and operation saw it; so is a member
    that changed alike in several answers. All else stays by itself.

    Returns:
        The causes, breaking ones first, in the order of their kinds, those that explain most first.
    """
    alike: dict[tuple[str, ...], list[Change]] = defaultdict(list)
    for change in changes:
        alike[_essence(change)].append(change)
    causes = [DriftCause(_sentence(changes), tuple(changes)) for changes in alike.values()]
    return tuple(
        sorted(causes, key=lambda cause: (*_rank(cause.changes[0])[:2], -len(cause.changes), cause.says))
    )


def _essence(change: Change) -> tuple[str, ...]:
    statuses, member = _answered(change.now), _member_of(change.point)
    if statuses and _answered(change.was):
        return str(change.kind), "status", *statuses
    if member:
        return str(change.kind), "member", member, change.was or "", change.now or ""
    return str(change.kind), change.clause, change.point, change.was or "", change.now or ""


def _answered(value: str | None) -> list[str]:
    """The statuses that a value in words says were answered; none where it says something else."""
    matches = [_STATUS.fullmatch(word) for word in (value or "").split(_OR)]
    return [match["status"] for match in matches if match] if all(matches) else []


def _member_of(point: str) -> str:
    """The member that a fact about an answer is about, whatever the answer's status; empty for other facts."""
    status = status_of(point)
    return point.removeprefix(f"{status} ") if status is not None else ""


def _sentence(changes: Sequence[Change]) -> str:
    first, operations = changes[0], list(dict.fromkeys(change.operation for change in changes))
    if len(changes) == 1:
        where = f"{first.operation}: " if first.operation else ""
        return f"{where}{first.says} ({first.clause})"
    seen = f"seen at {len(changes)} points"
    statuses, before = (
        _answered(first.now),
        sorted({was for change in changes for was in _answered(change.was)}),
    )
    if statuses and before:
        verb = "answers" if len(operations) == 1 else "answer"
        return f"{_subject(operations)} {verb} {_either(statuses)} in place of {_either(before)}, {seen}"
    member = _member_of(first.point)
    if not member:
        return f"{', '.join(operations)}: {first.says} ({first.clause}), {seen}"
    was = f"{first.was or 'not there'}, now {first.now or 'gone'}"
    return f"{member} in what {_subject(operations)} {'answers' if len(operations) == 1 else 'answer'}: {was}, {seen}"


def _either(words: Sequence[str]) -> str:
    return " or ".join(filter(None, (", ".join(words[:-1]), words[-1])))


#: Operations that a sentence names, before it counts the others.
_NAMED: Final = 4
_WORDS_FOR_ALL: Final = MappingProxyType({True: "read", False: "write"})


def _subject(operations: Sequence[str]) -> str:
    """Operations in words: all that write, or all that read, where they are all; else by their names."""
    operations_by_name = load_description().operations
    for safe, word in _WORDS_FOR_ALL.items():
        like = {
            name
            for name, operation in operations_by_name.items()
            if operation.safe is safe and operation.protected
        }
        if len(like) > 1 and set(operations) == like:
            return f"all {len(like)} operations that {word}"
    if len(operations) <= _NAMED:
        return ", ".join(operations) or "the service"
    return f"{', '.join(operations[:_NAMED])} and {len(operations) - _NAMED} more operations"


class Mode(StrEnum):
    """What drift does to the verdict of a run."""

    WARN = "warn"
    FAIL = "fail"
    OFF = "off"


@dataclass(frozen=True, slots=True)
class DriftReport:
    """How a run differs from the accepted baseline.

    Attributes:
        target: name of the target.
        baseline: file that was compared with, or would be; None when no comparison was asked for.
        known: whether that file was there when the run began.
        unaccepted: number of facts that the baseline has no word on.
        outside: changes that do not touch what the run's consumer uses; they do not block.
    """

    mode: Mode = Mode.OFF
    target: str = ""
    baseline: str | None = None
    known: bool = False
    changes: tuple[Change, ...] = ()
    unaccepted: int = 0
    outside: frozenset[Change] = frozenset()

    @property
    def breaking(self) -> tuple[Change, ...]:
        """Changes that break clients."""
        return tuple(change for change in self.changes if change.severity is Severity.BREAKING)

    @property
    def additive(self) -> tuple[Change, ...]:
        """Changes that clients can live with."""
        return tuple(change for change in self.changes if change.severity is Severity.ADDITIVE)

    @property
    def causes(self) -> tuple[DriftCause, ...]:
        """All changes, those of one cause folded."""
        return drift_causes(self.changes)

    @property
    def blocking(self) -> str | None:
        """Why drift fails the run, in one sentence, or None when it does not."""
        counted = drift_causes(change for change in self.breaking if change not in self.outside)
        if self.mode is not Mode.FAIL or not counted:
            return None
        cause, more = counted[0], f" and {len(counted) - 1} more" if len(counted) > 1 else ""
        first, realms = cause.changes[0], ", ".join(cause.realms)
        what = f"{first.clause} ({first.operation}) in {realms}: {first.kind}, {first.says}"
        if len(cause.changes) > 1:
            what = f"{cause.kind}: {cause.says}, in {realms}"
        return f"breaking drift from {self.baseline}: {what}{more}"

    @property
    def sentence(self) -> str | None:
        """One line for the terminal; None when no comparison was asked for."""
        if self.mode is Mode.OFF or self.baseline is None:
            return None
        if not self.known:
            return (
                f"no baseline of {self.target} yet; `registry-contracts drift accept` writes {self.baseline}"
            )
        new = f"{many(self.unaccepted, 'fact')} not in it yet" if self.unaccepted else ""
        counts = (
            [f"{len(self.breaking)} breaking", f"{len(self.additive)} additive"] if self.changes else ["none"]
        )
        causes = len(self.causes)
        folded = f" ({many(causes, 'cause')})" if causes < len(self.changes) else ""
        # One change of the service is told at once; of several the report tells each.
        folded = f" ({self.causes[0].says})" if folded and causes == 1 else folded
        line = f"{', '.join(counts)}{folded} against {self.baseline}"
        hint = "`registry-contracts drift` shows it" if self.changes else ""
        return "; ".join(filter(None, (line, new, hint)))


NO_DRIFT = DriftReport()
"""The drift of a run that was not compared."""


def change_lines(changes: Sequence[Change], *, fold: bool = True) -> Iterator[str]:
    """Yield the changes by severity and kind, operations of a clause that changed alike on one line.

    Args:
        fold: Tell changes that have one cause in one line.
    """
    for severity in Severity:
        mine = [change for change in changes if change.severity is severity]
        if mine:
            yield f"{severity} ({len(mine)})"
            for kind, group in groupby(sorted(mine, key=_order), key=lambda change: change.kind):
                yield f"  {kind}"
                alike = list(group)
                folded = [cause for cause in drift_causes(alike) if fold and len(cause.changes) > 1]
                yield from (f"    {cause.says} · {', '.join(cause.realms)}" for cause in folded)
                explained = {change for cause in folded for change in cause.changes}
                yield from _alike(change for change in alike if change not in explained)


def realm_difference_lines(differences: Iterable[RealmDifference]) -> Iterator[str]:
    """Yield what realms do not agree on, a line for each point and one for each value."""
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


def new_fact_lines(facts: Facts) -> Iterator[str]:
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
    for place, lines in places.items():
        yield place
        yield from (f"        {says}" for says in lines)
