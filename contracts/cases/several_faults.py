"""Faults that one contact record can have together, each in a field of its own: its errors name every such field.

The document says so of each element: `property` is the field concerned. What an answer to several does not tell is
sent alone before it is judged.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from contracts.cases.generated_cases import Fault
from contracts.cases.sample_records import CONTACT_FIELDS, NO_LANGUAGE

#: An object where a text or an array is due, and an array where an object is.
_OBJECT: Final = {"text": "none"}
_OF_ANOTHER_KIND: Final[Mapping[str, Any]] = {
    "string": _OBJECT,
    "array of string": _OBJECT,
    "array of Link": _OBJECT,
}
#: A value with something of another kind in it, by the kind of its field; where it lies; and whether it stands behind
#: what is right.
_INSIDE: Final[Mapping[str, tuple[Any, str, bool]]] = {
    "lstring": ({"en": _OBJECT}, ".en", True),
    "Term": ({"identifier": _OBJECT}, ".identifier", False),
    "Reference": ({"identifier": _OBJECT}, ".identifier", False),
    "array of string": ([_OBJECT], ".0", True),
    "array of Link": ([{"url": _OBJECT}], ".0.url", True),
}
#: A value that lacks the member which it has to carry, or names no language behind one that it does.
_LACKING: Final[Mapping[str, tuple[Any, str]]] = {
    "lstring": ({"en": "Nairobi", NO_LANGUAGE: "Nairobi"}, ":pattern"),
    "Term": (_OBJECT, ".identifier:missing"),
    "Reference": (_OBJECT, ".identifier:missing"),
    "array of Link": ([_OBJECT], ".0.url:missing"),
}


def rounds() -> Iterator[list[Fault]]:
    """The faults of one record after another: whole fields of another kind, what is inside them, what they lack."""
    fields = CONTACT_FIELDS.items()
    yield [_fault(name, ":wrong-kind", _OF_ANOTHER_KIND.get(kind, ["none"])) for name, kind in fields]
    inside = [(name, *_INSIDE[kind]) for name, kind in fields if kind in _INSIDE]
    yield [_fault(name, f"{where}:wrong-kind", value, behind=behind) for name, value, where, behind in inside]
    lacking = [(name, *_LACKING[kind]) for name, kind in fields if kind in _LACKING]
    yield [
        _fault("firstName", ":null", None),
        Fault("body", ("header", "languages"), "body.header.languages.0:pattern", [NO_LANGUAGE]),
        *(_fault(name, what, value) for name, value, what in lacking),
    ]


def _fault(name: str, what: str, value: Any, *, behind: bool = False) -> Fault:
    return Fault("body", (name,), f"body.{name}{what}", value, behind=behind)
