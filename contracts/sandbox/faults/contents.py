"""Faults of what a draft holds: values, members and texts that change when it is saved or when it is read."""

from __future__ import annotations

import html
import json
import re
import unicodedata
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from itertools import product
from typing import Any, Final

from contracts.interface.description import load_description
from contracts.sandbox.faults import effects as do
from contracts.sandbox.faults.conditions import OF_DOCUMENTS, ONCE, Range
from contracts.sandbox.faults.fault import Fault, Rows, Sized
from contracts.sandbox.faults.messages import MISSING, Inject, Request
from contracts.sandbox.faults.places import kebab

Json = Any
Change = Callable[[Json], Json]
_DEEP: Final = 3


def each_value(change: Change) -> Change:
    """Apply a change to every value inside a JSON value, leaves first."""

    def changed(value: Json) -> Json:
        if isinstance(value, dict):
            members = {name: changed(member) for name, member in value.items()}
            value = {name: member for name, member in members.items() if member is not MISSING}
        elif isinstance(value, list):
            value = [item for item in map(changed, value) if item is not MISSING]
        return change(value)

    return changed


def _of(kinds: type | tuple[type, ...], change: Callable[[Any], Json]) -> Change:
    """Apply a change to every value of some kinds; a boolean is no number."""
    kinds = kinds if isinstance(kinds, tuple) else (kinds,)
    return each_value(lambda value: change(value) if type(value) in kinds else value)


_texts, _arrays, _objects, _numbers = (partial(_of, kind) for kind in (str, list, dict, (int, float)))


def _letters(keep: Callable[[str], bool], instead: str = "") -> Change:
    return _texts(lambda text: "".join(letter if keep(letter) else instead for letter in text))


def _dropped(wanted: Json) -> Change:
    return _of(type(wanted), lambda value: MISSING if value == wanted else value)


def _deep_emptied(value: Json, depth: int = _DEEP) -> Json:
    if depth == 0 and isinstance(value, dict | list):
        return type(value)()
    if isinstance(value, list):
        return [_deep_emptied(item, depth - 1) for item in value]
    members = value.items() if isinstance(value, dict) else ()
    return {name: _deep_emptied(member, depth - 1) for name, member in members} if members else value


def _at(path: Sequence[str], becomes: Json, value: Json) -> Json:
    """The value with the member at a path made another, or taken out."""
    if not isinstance(value, dict) or path[0] not in value:
        return value
    inner = becomes if len(path) == 1 else _at(path[1:], becomes, value[path[0]])
    rest = {name: member for name, member in value.items() if name != path[0]}
    return rest if inner is MISSING else {**value, path[0]: inner}


def _paths(value: Json, before: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:
    """Every member of a document and of the objects in it, as the names that lead to it."""
    for name, member in value.items() if isinstance(value, dict) else ():
        yield (*before, name)
        yield from _paths(member, (*before, name))


def _stored(change: Change) -> Inject:
    """Store another document than was sent."""

    def changed(request: Request) -> Request | None:
        altered = change(request.json) if isinstance(request.json, dict) else request.json
        return None if json.dumps(altered) == json.dumps(request.json) else request.with_json(altered)

    return do.send(changed)


def _of_size(effect: Callable[[Change], Inject], change: Callable[[int], Change], size: int) -> Inject:
    return effect(change(size))


def _given(change: Change) -> Inject:
    """Give another document than is stored."""
    return do.edit(lambda document: change(document) if isinstance(document, dict) else document)


_ALL, _KEPT, _EXACT, _VALUES = "draft-get-content", "draft-text-kept", "draft-text-exact", "draft-values-kept"
_HEADER: Final = "draft-header-kept"
#: A value that changes in a documented field changes in any other, too.
_VALUES_TOO: Final = (_ALL, _VALUES)
# fmt: off
#: What becomes of a document: the clauses, the name, the change, and in words.
_CHANGES: Final[tuple[tuple[tuple[str, ...], str, Change, str], ...]] = (
    ((_ALL,), "content-empty", lambda _: {}, "is an empty object"),
    ((_ALL,), "content-without-last-item", _arrays(lambda v: v[:-1] if len(v) > 1 else v),
        "lacks the last item of arrays of several"),
    ((_ALL,), "content-arrays-sorted", _arrays(lambda v: sorted(v) if all(isinstance(t, str) for t in v) else v),
        "has its arrays of texts sorted"),
    ((_ALL,), "content-arrays-distinct",
        _arrays(lambda v: [item for at, item in enumerate(v) if item not in v[:at]]),
        "has each item of an array once"),
    ((_ALL,), "content-array-of-one-unpacked", _arrays(lambda v: v[0] if len(v) == 1 else v),
        "has the item alone for an array of one"),
    (_VALUES_TOO, "content-below-depth-emptied", _deep_emptied, "is empty three objects deep"),
    (_VALUES_TOO, "content-integers-as-text", _numbers(str), "has texts for numbers"),
    (_VALUES_TOO, "content-fractions-cut", _numbers(int), "has its numbers without their fractions"),
    (_VALUES_TOO, "content-negative-made-positive", _numbers(abs), "has its numbers without their sign"),
    (_VALUES_TOO, "content-integers-as-doubles",
        _numbers(lambda v: float(v) if isinstance(v, int) and abs(v) > 2**53 else v),
        "has doubles for integers that no double holds"),
    (_VALUES_TOO, "content-booleans-as-text", _of(bool, lambda v: str(v).lower()),
        "has texts for booleans"),
    (_VALUES_TOO, "content-false-dropped", _dropped(False), "lacks what is false"),
    (_VALUES_TOO, "content-zero-dropped", _dropped(0), "lacks what is zero"),
    (_VALUES_TOO, "content-digits-as-numbers",
        _texts(lambda t: int(t) if re.fullmatch("[0-9]{1,15}", t) else t), "has numbers for texts of digits"),
    ((_VALUES,), "content-nulls-dropped", _dropped(None), "lacks what is null"),
    ((_VALUES,), "content-empty-texts-dropped", _dropped(""), "lacks empty texts"),
    ((_VALUES,), "content-empty-arrays-dropped", _dropped([]), "lacks empty arrays"),
    ((_VALUES,), "content-empty-objects-dropped", _dropped({}), "lacks empty objects"),
    ((_VALUES,), "content-keys-with-dot-lost", _objects(lambda v: {k: m for k, m in v.items() if "." not in k}),
        "lacks members with a dot in the name"),
    ((_ALL, _HEADER), "content-keys-in-lower-case",
        _objects(lambda v: {k.lower(): m for k, m in v.items()}), "has the names of its members in small letters"),
    ((_KEPT,), "text-mangled", _texts(lambda t: t.encode().decode("latin-1")), "has its text read as Latin-1"),
    ((_KEPT,), "text-question-marks", _letters(str.isascii, "?"),
        "has a question mark for each character beyond ASCII"),
    ((_KEPT,), "text-beyond-basic-plane-lost", _letters(lambda c: c < "\U00010000"),
        "lacks characters beyond the basic plane"),
    ((_KEPT,), "text-accents-lost",
        _texts(lambda t: "".join(c for c in unicodedata.normalize("NFD", t) if not unicodedata.combining(c))),
        "lacks the accents of its letters"),
    ((_KEPT,), "text-escaped", _texts(lambda t: html.escape(t, quote=False)), "has its angle brackets escaped"),
    ((_KEPT, _ALL), "text-in-lower-case", _texts(str.lower), "is in small letters"),
    ((_EXACT,), "text-composed", _texts(partial(unicodedata.normalize, "NFC")), "has accents in the composed form"),
    ((_EXACT,), "text-decomposed", _texts(partial(unicodedata.normalize, "NFD")), "has accents in the form of two"),
    ((_EXACT,), "text-trimmed", _texts(str.strip), "has texts without white space at their ends"),
    ((_EXACT,), "text-line-ends", _texts(lambda t: t.replace("\r\n", "\n")),
        "has a line feed for carriage return and line feed"),
    ((_EXACT,), "text-without-control-characters", _letters(lambda c: c >= " " or c in "\r\n\t"),
        "lacks control characters other than line breaks and tabs"),
    ((_EXACT, _KEPT), "text-markup-removed", _texts(lambda t: re.sub("<[^>]*>", "", t)), "lacks HTML elements"),
    ((_EXACT, _KEPT), "text-backslashes-lost", _texts(lambda t: t.replace("\\", "")), "lacks backslashes"),
)
#: Changes that begin at a size: the name, the change, its usual size and those that are drawn, and in words.
_SIZED: Final[tuple[tuple[str, Callable[[int], Change], int, Range, str], ...]] = (
    ("texts-cut", lambda n: _texts(lambda text: text[:n]), 255, Range(50, 65_536, 100_000),
        "lacks what texts hold beyond {} characters"),
    ("arrays-cut", lambda n: _arrays(lambda items: items[:n]), 100, Range(2, 100, 200),
        "lacks items of arrays beyond {}"),
    ("lost-when-large",
        lambda n: lambda d: d if len(json.dumps(d, ensure_ascii=False)) <= n else dict([*d.items()][:1]), 65_536,
        Range(1024, 65_536, 2 * 1024**2), "has its first member alone above {} bytes"),
    ("without-nth-member", lambda n: lambda d: {k: d[k] for at, k in enumerate(d, 1) if at != n}, 20,
        Range(2, 20, 60), "lacks member {}"),
)
#: Where a document changes, how, and what is broken beside.
_PLACES: Final = (
    (Rows("draft-", "", "getDraft", "A draft that is read {}.", ways=OF_DOCUMENTS), _given, ()),
    (Rows("draft-saved-", "", "saveDraft", "A draft as it is stored {}.", ways=OF_DOCUMENTS), _stored,
        ("draft-save-updates", "draft-save-replaces")),
)
#: Every member of the description's example of a draft.
_MEMBERS: Final = tuple(_paths(next(
    example["value"] for example in load_description().bundle["components"]["examples"].values()
    if "firstName" in example["value"])))
#: Documents that change on their way into a draft or out of it.
CONTENTS: Final[tuple[Fault, ...]] = tuple(
    each
    for document, effect, beside in _PLACES
    for each in (
        *(
            # A text or a value that is kept in no documented field is wrong by a reading alone.
            document(name, (*clauses, *(() if {_ALL, _KEPT}.isdisjoint(clauses) else beside)), effect(change), says)
            for clauses, name, change, says in _CHANGES
        ),
        *(
            document(f"content-{name}", (_ALL, *beside),
                Sized(partial(_of_size, effect, change), usual, sizes), says)
            for name, change, usual, sizes, says in _SIZED
        ),
        *(
            # A service may complete a header or put it in order, so that the content is a draft's without it.
            document(f"{'-'.join(map(kebab, path))}-{word}",
                (_HEADER,) if path[0] == "header" else (_ALL, *beside),
                effect(partial(_at, path, becomes)), f"has {'.'.join(path)} {word}", ways=ONCE)
            for path, (word, becomes) in product(_MEMBERS, (("lost", MISSING), ("null", None)))
        ),
    )
)
# fmt: on
