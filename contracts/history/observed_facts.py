"""Observed facts: for each clause, operation and realm, named values that compare one by one, and how they change.

The shape of a response is one fact a line, `200 body.identifier: string`: a path and a set of alternatives such as
`null | string date-time`; a member that was not always there is marked `optional`.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Collection, Iterator
from enum import StrEnum
from functools import lru_cache
from typing import Annotated, Any, Final, NamedTuple

import jsonschema_rs
from msgspec import Meta

from contracts.file_formats import Format, Name

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


class Change(Format, frozen=True, kw_only=True):
    """One observation that differs from the accepted baseline, with every realm in which it differs alike.

    `was` and `now` are values in words; null for a member that was not there, or is not any more.
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
        """Was and now in a few words."""
        name = "" if self.point == SEEN else f"{self.point}: "
        if self.was is None:
            return f"{name}{self.now}, new"
        return f"{name}{self.was}, now {self.now or 'gone'}"


BODY: Final = "body"
#: Between alternatives in the text of a value.
OR: Final = " | "
OPTIONAL: Final = "optional"


def alternatives(value: str) -> frozenset[str]:
    """Cut the text of a value into its alternatives, that the member may be missing (`optional`) among them."""
    text = value.removesuffix(f", {OPTIONAL}")
    return frozenset([*text.split(OR), *([OPTIONAL] if text != value else [])])


def with_alternatives(kinds: Collection[str]) -> str:
    """Return the text of a value; `number` takes in `integer`."""
    words = OR.join(sorted({*kinds} - {OPTIONAL, *(["integer"] if "number" in kinds else [])}))
    return f"{words}, {OPTIONAL}" if OPTIONAL in kinds else words


def parent_of(path: str) -> str | None:
    """Return the path of the object or array that a member stands in, or None for what is no member."""
    if path.endswith("[]"):
        return path.removesuffix("[]")
    head, dot, _ = path.rpartition(".")
    root = head.partition(".")[0].partition("[")[0]
    return head if dot and (root == BODY or root.endswith(f" {BODY}")) else None


#: Keys that are values, such as identifiers and numbers, become this one.
ANY_KEY: Final = "*"
_VALUE_KEY: Final = re.compile(r"\d+|[0-9a-fA-F-]{12,}|rc-.*")
_NAMES_ONLY: Final = str.maketrans({".": "·", "[": "(", "]": ")", "|": "/"})
_DEEPEST: Final = 24
_FORMS: Final = ("date-time", "date", "uuid", "email", "uri")
_VALIDATORS: Final = {
    name: jsonschema_rs.Draft202012Validator({"format": name}, validate_formats=True) for name in _FORMS
}
_KINDS: Final = {bool: "boolean", int: "integer", float: "number", dict: "object", list: "array"}


def shape_of(value: Any) -> dict[str, str]:
    """Return the kinds in a body by their paths, `body.createdOn: string date-time`, and never its values."""
    kinds: dict[str, set[str]] = defaultdict(set)
    times, objects = Counter[str](), Counter[str]()
    for path, part in _parts(value, BODY):
        times[path] += 1
        kinds[path].add(_kind_of(part))
        objects[path] += isinstance(part, dict)
    for path, found in kinds.items():
        if not path.endswith("[]") and times[path] < objects[path.rpartition(".")[0]]:
            found.add(OPTIONAL)
    return {path: with_alternatives(found) for path, found in sorted(kinds.items())}


def _parts(value: Any, path: str, depth: int = 0) -> Iterator[tuple[str, Any]]:
    yield path, value
    if depth > _DEEPEST:
        return
    for name, member in value.items() if isinstance(value, dict) else ():
        shown = ANY_KEY if _VALUE_KEY.fullmatch(name) else name.translate(_NAMES_ONLY)
        yield from _parts(member, f"{path}.{shown}", depth + 1)
    for item in value if isinstance(value, list) else ():
        yield from _parts(item, f"{path}[]", depth + 1)


def _kind_of(value: Any) -> str:
    # Forms are of ASCII; half of a surrogate pair has none, and no validator takes it.
    form = _form_of(value) if isinstance(value, str) and value.isascii() else None
    kind = "string" if isinstance(value, str) else _KINDS.get(type(value), "null")
    return f"{kind} {form}" if form else kind


@lru_cache(maxsize=4096)
def _form_of(text: str) -> str | None:
    # Any word before a colon is a scheme; only addresses are meant.
    forms = _FORMS if text.startswith(("http://", "https://")) else _FORMS[:-1]
    return next((name for name in forms if _VALIDATORS[name].is_valid(text)), None)


def status_of(path: str) -> str | None:
    """Return the status that a fact about an answer's shape begins with, or None for any other fact."""
    status, _, rest = path.partition(" ")
    is_shape = rest == "type" or rest.startswith(BODY)
    return status if is_shape and len(status) == 3 and status.isdigit() else None


Value = str | tuple[str, ...]
"""Alternatives as text, or a closed set of texts: of these nothing may go."""

#: How the names of facts about generated faults begin.
FAULT: Final = "fault "


class Place(NamedTuple):
    """Where something was observed."""

    clause: str
    operation: str
    realm: str


Facts = dict[Place, dict[str, Value]]
