"""Observations as flat facts: for each clause, operation and realm, named values that compare one by one.

The shape of a response is one fact a line, `200 body.identifier: string`: a path and a set of alternatives such as
`null | string date-time`; a member that was not always there is marked `optional`.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Annotated, Any, Final, NamedTuple

from msgspec import Meta

from contracts.file_formats import Format, Name
from contracts.interface.description import load_description

#: The name of a fact that has none of its own.
SEEN: Final = "seen"


class Severity(StrEnum):
    """What a change does to a client that relies on what was accepted."""

    BREAKING = "breaking"
    ADDITIVE = "additive"


class Kind(StrEnum):
    """What changed; the text is how people read it."""

    GONE = "gone"
    CHANGED = "changed"
    ADDED = "added"

    @property
    def severity(self) -> Severity:
        """Whether clients may break."""
        return Severity.ADDITIVE if self is Kind.ADDED else Severity.BREAKING


class ChangeEntry(Format, frozen=True, kw_only=True):
    """How an observation differs from the accepted baseline: an item of what `drift --json` prints."""

    severity: Severity
    change: Annotated[Name, Meta(description="Its kind: gone, changed or added.")]
    clause: Name
    operation: str
    realms: Annotated[tuple[str, ...], Meta(min_length=1)]
    point: Annotated[Name, Meta(description="Name of the fact, such as '200 body.createdOn'.")]
    was: str | None
    now: str | None


@dataclass(frozen=True, slots=True)
class Change:
    """One observation that differs from the accepted baseline, with every realm in which it differs alike.

    Attributes:
        point: name of the fact within clause and operation, such as `200 body.createdOn`.
        was, now: values in words; None for a member that was not there, or is not any more.
    """

    kind: Kind
    clause: str
    operation: str
    realms: tuple[str, ...]
    point: str
    was: str | None
    now: str | None

    @property
    def severity(self) -> Severity:
        """Whether clients may break."""
        return self.kind.severity

    @property
    def says(self) -> str:
        """Was and now in a few words."""
        name = "" if self.point == SEEN else f"{self.point}: "
        if self.was is None:
            return f"{name}{self.now}, new"
        return f"{name}{self.was}, now {self.now or 'gone'}"

    @property
    def entry(self) -> ChangeEntry:
        """The change as machine-readable reports show it."""
        return ChangeEntry(
            severity=self.severity,
            change=str(self.kind),
            clause=self.clause,
            operation=self.operation,
            realms=self.realms,
            point=self.point,
            was=self.was,
            now=self.now,
        )


BODY: Final = "body"
#: Between alternatives in the text of a value.
OR: Final = " | "
OPTIONAL: Final = "optional"
#: Keywords that hold alternatives or types in the schemas that are inferred.
_ANY_OF: Final = "anyOf"


def facts_of(answers: Mapping[str, Mapping[str, Any]]) -> dict[str, str]:
    """Tell the answers of one operation, by status, as facts.

    Args:
        answers: status → `types` (media types), `bodies` (words for bodies that are no JSON) and `schema`.

    Returns:
        Path → alternatives; a path begins with the status.
    """
    facts: dict[str, str] = {}
    for status, answer in answers.items():
        if answer.get("types"):
            facts[f"{status} type"] = OR.join(sorted(answer["types"]))
        schema = answer.get("schema")
        kinds = {*answer.get("bodies", ()), *(_kinds(schema) if schema else ())}
        if kinds:
            facts[f"{status} {BODY}"] = OR.join(sorted(kinds))
        if schema:
            facts.update(_inside(schema, f"{status} {BODY}"))
    return facts


def alternatives(value: str) -> tuple[frozenset[str], bool]:
    """Cut the text of a value into its alternatives and whether the member may be missing."""
    text = value.removesuffix(f", {OPTIONAL}")
    return frozenset(text.split(OR)), text != value


def parent_of(path: str) -> str | None:
    """Return the path of the object or array that a member stands in, or None for what is no member."""
    if path.endswith("[]"):
        return path.removesuffix("[]")
    head, dot, _ = path.rpartition(".")
    return head if dot and f" {BODY}" in head else None


def status_of(path: str) -> str | None:
    """Return the status that a fact about an answer's shape begins with, or None for any other fact."""
    status, _, rest = path.partition(" ")
    is_shape = rest == "type" or rest.startswith(BODY)
    return status if is_shape and len(status) == 3 and status.isdigit() else None


def _inside(schema: Mapping[str, Any], path: str) -> Iterator[tuple[str, str]]:
    """Yield the facts below a schema: members of its objects, items of its arrays."""
    for variant in _variants(schema):
        required = set(variant.get("required", ()))
        for name, member in sorted(variant.get("properties", {}).items()):
            yield from _member(member, f"{path}.{_named(name)}", optional=name not in required)
        if variant.get("items"):
            yield from _member(variant["items"], f"{path}[]", optional=False)


def _member(schema: Mapping[str, Any], path: str, *, optional: bool) -> Iterator[tuple[str, str]]:
    kinds = OR.join(sorted(_kinds(schema)))
    yield path, f"{kinds}, {OPTIONAL}" if optional else kinds
    yield from _inside(schema, path)


def _kinds(schema: Mapping[str, Any]) -> set[str]:
    kinds: set[str] = set()
    for variant in _variants(schema):
        types = variant.get("type", [])
        form = f" {variant['format']}" if "format" in variant else ""
        kinds |= {f"{kind}{form}" for kind in ([types] if isinstance(types, str) else types)}
    return kinds


def _variants(schema: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    return list(schema[_ANY_OF]) if _ANY_OF in schema else [schema]


def _named(name: str) -> str:
    """Return a member's name as a path can hold it: dots and brackets in it stay readable, but cut nothing."""
    return name.translate({ord("."): "·", ord("["): "(", ord("]"): ")", ord("|"): "/"})


def success_status_clause(operation: str) -> str:
    """Return the id of the silent clause about the status of an operation's success."""
    return load_description().operations[operation].clauses.status


def success_clause(operation: str) -> str:
    """Return the id of the silent clause about the body that an accepted request is answered with."""
    return load_description().operations[operation].clauses.answer


def refusal_clause(operation: str, *, tokenless: bool, uid_valid: bool) -> str:
    """Return the id of the silent clause about a refusal.

    Args:
        tokenless: no valid token came with the request.
        uid_valid: the uid in the path obeys the uid rule, or there is none.
    """
    described = load_description().operations[operation]
    if not uid_valid and "uid" in described.path_parameters:
        return "uid-refusal-answer"
    # The table of the workflow endpoint gives the refusal for want of a token, so it is no silent point.
    if tokenless and described.protected and described.family != "workflow":
        return "token-missing-answer"
    return described.clauses.refusal


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
    for observation in document["observations"]:
        place = _place(observation)
        for path, value in _flat(observation["seen"], has_shape=place in answered):
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
    shapes = {_place(answer): facts_of(answer["answers"]) for answer in answers}
    return {place: facts for place, facts in shapes.items() if facts}


def _statuses(answers: Any) -> dict[Place, set[str]]:
    """Return the statuses of success by the place that speaks of them."""
    successes_at: dict[Place, set[str]] = defaultdict(set)
    for answer in answers:
        successes = {status for status in answer["answers"] if status < "400"}
        if successes:
            successes_at[
                Place(success_status_clause(answer["operation"]), answer["operation"], answer["realm"])
            ] |= successes
    return successes_at


def _add(facts: dict[str, set[str] | tuple[str, ...]], path: str, value: str | tuple[str, ...]) -> None:
    before = facts.get(path)
    if isinstance(value, tuple) or isinstance(before, tuple):
        several = value if isinstance(value, tuple) else (value,)
        facts[path] = tuple(sorted({*several, *(before or ())}))
    else:
        facts[path] = {value, *(before or ())}


def _settled(value: set[str] | tuple[str, ...]) -> Value:
    return value if isinstance(value, tuple) else OR.join(sorted(value))


def _flat(seen: Any, *, has_shape: bool, path: str = "") -> Iterator[tuple[str, str | tuple[str, ...]]]:
    """Yield the facts of one observation; `has_shape`: an inferred shape describes its body, too."""
    if isinstance(seen, dict) and set(seen) == {"fault", "status"}:
        yield f"{FAULT}{seen['fault']}", _leaf(seen["status"])
    elif isinstance(seen, dict) and set(seen) == _SHAPE:
        yield from _shape(seen, has_shape=has_shape)
    elif isinstance(seen, dict):
        for name, value in seen.items():
            yield from _flat(value, has_shape=has_shape, path=f"{path}.{name}" if path else str(name))
    elif isinstance(seen, list | tuple):
        if not (has_shape and not path):
            yield path or SEEN, tuple(sorted({_leaf(value) for value in seen if value is not None}))
    elif isinstance(seen, str) and seen.startswith(_WORDS):
        if not has_shape:
            yield path or SEEN, _leaf(seen)
    elif seen is not None:
        yield path or SEEN, _leaf(seen)


def _shape(seen: Mapping[str, Any], *, has_shape: bool) -> Iterator[tuple[str, str]]:
    """Yield the facts of an answer put into words; its body only where no inferred shape says more."""
    success = int(seen["status"]) < 400
    if not (has_shape and success):
        yield "status", _leaf(seen["status"])
    if not has_shape:
        yield f"{seen['status']} type", _leaf(seen["type"]) or "none"
        yield f"{seen['status']} body", _leaf(seen["body"])
