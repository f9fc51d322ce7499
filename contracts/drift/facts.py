"""Observations as flat facts: for each clause, operation and realm, named values that compare one by one."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping
from typing import Any, Final, NamedTuple

from contracts.drift.changes import SEEN
from contracts.drift.members import OR, facts_of
from contracts.drift.points import SUCCESS_STATUS

Value = str | tuple[str, ...]
"""Alternatives as text, or a closed set of texts: of these nothing may go."""

#: How the names of facts about generated faults begin.
FAULT: Final = "fault "
_SHAPE: Final = frozenset({"status", "type", "body"})
#: How the words for a body begin, where its members are told by inferred shapes as well.
_WORDS: Final = ("object of ", "array of ")


class Place(NamedTuple):
    """Where something was observed."""

    clause: str
    operation: str
    realm: str


Facts = dict[Place, dict[str, Value]]


def read_facts(document: Mapping[str, Any]) -> Facts:
    """Read the facts out of the content of `observations.json`.

    Args:
        document: members `observations` and `answers`, as the run wrote them.

    Returns:
        Place → name of the fact → value. What could not be told in the run (null) is no fact.
    """
    answered = _answered(document.get("answers", ()))
    collected: dict[Place, dict[str, set[str] | tuple[str, ...]]] = defaultdict(dict)
    for each in document["observations"]:
        place = _place(each)
        for path, value in _flat(each["seen"], told=place in answered):
            _add(collected[place], path, value)
    statuses = _statuses(document.get("answers", ()))
    for place, seen in statuses.items():
        if place not in collected:
            collected[place]["status"] = seen
    for place, shapes in answered.items():
        collected[place].update({path: {text} for path, text in shapes.items()})
    return {
        place: {path: _settled(value) for path, value in sorted(facts.items())}
        for place, facts in sorted(collected.items())
        if facts
    }


def text_of(value: object) -> str:
    """Return a scalar as the text that facts hold: `201`, `true`, `header`."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    return " ".join(str(value).split())


def _leaf(value: object) -> str:
    """Return an observed scalar as text that no separator of alternatives cuts in two."""
    return text_of(value).replace(OR, " / ")


def _place(entry: Mapping[str, Any]) -> Place:
    return Place(entry["clause"], entry["operation"] or "", entry["realm"])


def _answered(answers: Any) -> dict[Place, dict[str, str]]:
    shapes = {_place(each): facts_of(each["answers"]) for each in answers}
    return {place: facts for place, facts in shapes.items() if facts}


def _statuses(answers: Any) -> dict[Place, set[str]]:
    """Return the statuses of success by the place that speaks of them."""
    found: dict[Place, set[str]] = defaultdict(set)
    for each in answers:
        successes = {status for status in each["answers"] if status < "400"}
        if successes:
            found[Place(SUCCESS_STATUS[each["operation"]], each["operation"], each["realm"])] |= successes
    return found


def _add(facts: dict[str, set[str] | tuple[str, ...]], path: str, value: str | tuple[str, ...]) -> None:
    known = facts.get(path)
    if isinstance(value, tuple) or isinstance(known, tuple):
        several = value if isinstance(value, tuple) else (value,)
        facts[path] = tuple(sorted({*several, *(known or ())}))
    else:
        facts[path] = {value, *(known or ())}


def _settled(value: set[str] | tuple[str, ...]) -> Value:
    return value if isinstance(value, tuple) else OR.join(sorted(value))


def _flat(seen: Any, *, told: bool, path: str = "") -> Iterator[tuple[str, str | tuple[str, ...]]]:
    """Yield the facts of one observation; `told`: its body is told by an inferred shape as well."""
    if isinstance(seen, dict) and set(seen) == {"fault", "status"}:
        yield f"{FAULT}{seen['fault']}", _leaf(seen["status"])
    elif isinstance(seen, dict) and set(seen) == _SHAPE:
        yield from _shape(seen, told=told)
    elif isinstance(seen, dict):
        for name, value in seen.items():
            yield from _flat(value, told=told, path=f"{path}.{name}" if path else str(name))
    elif isinstance(seen, list | tuple):
        if not (told and not path):
            yield path or SEEN, tuple(sorted({_leaf(each) for each in seen if each is not None}))
    elif isinstance(seen, str) and seen.startswith(_WORDS):
        if not told:
            yield path or SEEN, _leaf(seen)
    elif seen is not None:
        yield path or SEEN, _leaf(seen)


def _shape(seen: Mapping[str, Any], *, told: bool) -> Iterator[tuple[str, str]]:
    """Yield the facts of an answer put into words; its body only where no inferred shape says more."""
    success = int(seen["status"]) < 400
    if not (told and success):
        yield "status", _leaf(seen["status"])
    if not told:
        yield f"{seen['status']} type", _leaf(seen["type"]) or "none"
        yield f"{seen['status']} body", _leaf(seen["body"])
