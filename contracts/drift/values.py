"""How one value differs from another: by status, by set, by number or by word."""

from __future__ import annotations

import re
from typing import Final

from contracts.drift.changes import Kind
from contracts.drift.facts import Value
from contracts.drift.members import OR, alternatives

#: `201`, `400 errors`, `400 errors for batchId`: what became of a request.
_STATUS: Final = re.compile(r"(?P<status>[1-5]\d\d)(?P<errors> errors.*)?")
_NUMBER: Final = re.compile(r"(?P<number>\d+)(?P<more> or more)?")
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
    bare = {_bare(each) for each in before - after}
    return Kind.FORM_CHANGED if {_bare(each) for each in added} <= bare else Kind.KIND_CHANGED


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
    return value.replace(OR, " or ") if value is not None else None


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
