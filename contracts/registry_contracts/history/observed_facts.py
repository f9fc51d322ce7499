"""Observations where the interface document is silent, as a sorted snapshot of facts, and the type of a change.

A fact is a named value for a clause, operation and realm. The shape of an answer has one fact per member, such as
`200 body.identifier: string`: a path and alternatives like `null | string date-time`; a member that was sometimes
missing is `optional`.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from enum import StrEnum
from functools import lru_cache
from typing import Annotated, Any, Final, NamedTuple

import jsonschema_rs
from msgspec import Meta

from registry_contracts.file_formats import Format, Name, OpenFormat


class Observation(OpenFormat, frozen=True):
    """What a case saw at a point where the document is silent; `seen` is any JSON value."""

    clause: Name
    realm: Name
    operation: str | None
    case: Name
    seen: Any


#: The name of an observation's only fact.
SEEN: Final = "seen"


class Severity(StrEnum):
    """The effect of a change on a client that relies on the baseline."""

    BREAKING = "breaking"
    ADDITIVE = "additive"


class Change(Format, frozen=True, kw_only=True):
    """One fact that differs from the accepted baseline, with all realms in which it differs in the same way.

    `was` and `now` are values as text; null for a member that was or is missing.
    """

    severity: Severity
    change: Annotated[Name, Meta(description="Its kind: gone, changed or added.")]
    clause: Name
    operation: str
    realms: Annotated[tuple[str, ...], Meta(min_length=1)]
    point: Annotated[Name, Meta(description="Name of the fact, such as '200 body.createdOn'.")]
    was: str | None
    now: str | None

    @property
    def says(self) -> str:
        """The old and the new value as text."""
        name = "" if self.point == SEEN else f"{self.point}: "
        if self.was is None:
            return f"{name}{self.now}, new"
        return f"{name}{self.was}, now {self.now or 'gone'}"


#: Between alternatives in the text of a value.
OR: Final = " | "
OPTIONAL: Final = "optional"


def alternatives(value: str) -> frozenset[str]:
    """Split the text of a value into its alternatives; `optional`, for a member that may be missing, is one of them."""
    text = value.removesuffix(f", {OPTIONAL}")
    return frozenset([*text.split(OR), *([OPTIONAL] if text != value else [])])


def with_alternatives(kinds: Collection[str]) -> str:
    """Return the text of a value with these alternatives; `number` includes `integer`."""
    words = OR.join(sorted({*kinds} - {OPTIONAL, *(["integer"] if "number" in kinds else [])}))
    return f"{words}, {OPTIONAL}" if OPTIONAL in kinds else words


def parent_of(path: str) -> str:
    """Return the path of the object or array that contains a member or an item."""
    return path.removesuffix("[]") if path.endswith("[]") else path.rpartition(".")[0]


#: Keys that are values, such as identifiers and numbers; `*` stands for them.
_VALUE_KEY: Final = re.compile(r"\d+|[0-9a-fA-F-]{12,}|rc-.*")
_NAMES_ONLY: Final = str.maketrans({".": "·", "[": "(", "]": ")", "|": "/"})
_DEEPEST: Final = 24
_FORMS: Final = ("date-time", "date", "uuid", "email", "uri")
_VALIDATORS: Final = {
    name: jsonschema_rs.Draft202012Validator({"format": name}, validate_formats=True) for name in _FORMS
}
_KINDS: Final = {bool: "boolean", int: "integer", float: "number", dict: "object", list: "array"}


def shape_of(value: Any) -> dict[str, str]:
    """Return the kinds in a body by path, such as `body.createdOn: string date-time`, without its values."""
    return {f"body{path}": kind for path, kind in sorted(_shape_of(value).items())}


def _shape_of(value: Any, depth: int = 0) -> dict[str, str]:
    """The kinds in a value by relative path; the items of an array are merged."""
    inner: dict[str, list[dict[str, str]]] = defaultdict(list)
    for name, member in value.items() if isinstance(value, dict) and depth <= _DEEPEST else ():
        key = "*" if _VALUE_KEY.fullmatch(name) else name.translate(_NAMES_ONLY)
        inner[f".{key}"].append(_shape_of(member, depth + 1))
    for item in value if isinstance(value, list) and depth <= _DEEPEST else ():
        inner["[]"].append(_shape_of(item, depth + 1))
    members = {step + path: kind for step, shapes in inner.items() for path, kind in merged_shapes(shapes)}
    return {"": _kind_of(value)} | members


def merged_shapes(shapes: Sequence[Mapping[str, str]]) -> Iterator[tuple[str, str]]:
    """Yield several shapes as one: all kinds of a member, and whether it was sometimes missing."""
    for path in sorted({path for shape in shapes for path in shape}):
        kinds = {kind for shape in shapes if path in shape for kind in alternatives(shape[path])}
        around = parent_of(path)
        missing = any("object" in alternatives(s.get(around, "")) for s in shapes if path not in s)
        yield path, with_alternatives({*kinds, *([OPTIONAL] if missing and path[-2:] != "[]" else [])})


def _kind_of(value: Any) -> str:
    # All formats are ASCII, and validators cannot read lone surrogates.
    form = _form_of(value) if isinstance(value, str) and value.isascii() else None
    kind = "string" if isinstance(value, str) else _KINDS.get(type(value), "null")
    return f"{kind} {form}" if form else kind


@lru_cache(maxsize=4096)
def _form_of(text: str) -> str | None:
    # As a URI counts only an http or https address: any word before a colon would be a scheme.
    forms = _FORMS if text.startswith(("http://", "https://")) else _FORMS[:-1]
    return next((name for name in forms if _VALIDATORS[name].is_valid(text)), None)


Value = str | tuple[str, ...]
"""Alternatives as text, or a closed set of texts, from which nothing may disappear."""


class Place(NamedTuple):
    """Where something was observed."""

    clause: str
    operation: str
    realm: str


Facts = dict[Place, dict[str, Value]]

#: Members of an observation that holds the shape of an answer.
_SHAPE: Final = frozenset({"status", "type", "body"})


def facts_of(observations: Iterable[Observation]) -> Facts:
    """Return observations as facts, sorted; null is no fact."""
    noted: dict[Place, dict[str, list[Value]]] = defaultdict(lambda: defaultdict(list))
    shapes: dict[tuple[Place, str], list[Mapping[str, str]]] = defaultdict(list)
    for observation in observations:
        place = Place(observation.clause, observation.operation or "", observation.realm)
        seen = observation.seen
        # An answer without content, or with none in JSON, has a word in place of its members.
        if isinstance(seen, dict) and set(seen) == _SHAPE and _is_shape(seen["body"]):
            shapes[place, text_of(seen["status"])].append(seen["body"])
            seen = {"status": seen["status"], f"{seen['status']} type": seen["type"] or "none"}
        for path, value in _flat(seen):
            noted[place][path].append(value)
    facts: Facts = {
        place: {path: _joined(values) for path, values in named.items()} for place, named in noted.items()
    }
    for (place, status), bodies in shapes.items():
        facts[place] |= {f"{status} {path}": text for path, text in merged_shapes(bodies)}
    return {place: dict(sorted(values.items())) for place, values in sorted(facts.items())}


def _is_shape(body: Any) -> bool:
    return isinstance(body, dict) and all(isinstance(kinds, str) for kinds in body.values())


def _joined(values: Collection[Value]) -> Value:
    words = sorted({word for value in values for word in ([value] if isinstance(value, str) else value)})
    return tuple(words) if any(isinstance(value, tuple) for value in values) else OR.join(words)


def text_of(value: object) -> str:
    """Return a scalar as the text that facts hold: `201`, `true`, `header`."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    # The text must not contain the separator of alternatives.
    return " ".join(str(value).split()).replace(OR, " / ")


def _flat(seen: Any, path: str = "") -> Iterator[tuple[str, Value]]:
    """Yield the facts of one observation, each with its name; a list is a closed set."""
    if isinstance(seen, dict) and set(seen) == {"fault", "status"}:
        yield f"fault {seen['fault']}", text_of(seen["status"])
    elif isinstance(seen, dict):
        for name, value in seen.items():
            yield from _flat(value, f"{path}.{name}" if path else str(name))
    elif isinstance(seen, list | tuple):
        yield path or SEEN, tuple(text_of(value) for value in seen if value is not None)
    elif seen is not None:
        yield path or SEEN, text_of(seen)
