"""Faults of what a draft holds: values, members and texts that change when it is saved or when it is read."""

from __future__ import annotations

import html
import json
import re
import unicodedata
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from types import MappingProxyType
from typing import Any, Final

from contracts.interface.description import load_description
from contracts.sandbox.faults.effects import edit, send
from contracts.sandbox.faults.fault import (
    MISSING,
    REPEATED,
    SINGLE,
    Family,
    Fault,
    Inject,
    Request,
    kebab,
    row,
)

_MEMBERS: Final = Family("members")
_LARGE: Final = 64 * 1024
#: A value that changes in a documented field changes in any other, too.
_VALUES_TOO: Final = ("draft-get-content", "draft-values-kept")
Json = Any


Change = Callable[[Json], Json]


#: An integer that a double holds exactly.
_SAFE_INTEGER: Final = 2**53


_DEEP: Final = 3


def _texts(change: Callable[[str], Json]) -> Change:
    return lambda value: change(value) if isinstance(value, str) else value


def _numbers(change: Callable[[float], Json]) -> Change:
    return lambda value: (
        change(value) if isinstance(value, int | float) and not isinstance(value, bool) else value
    )


def _when(matches: Callable[[Json], bool], becomes: Json) -> Change:
    return lambda value: becomes if matches(value) else value


def _same(wanted: Json) -> Callable[[Json], bool]:
    return lambda value: type(value) is type(wanted) and bool(value == wanted)


def _arrays(change: Callable[[list[Json]], Json]) -> Change:
    return lambda value: change(value) if isinstance(value, list) else value


def _as_number(text: str) -> Json:
    return int(text) if re.fullmatch(r"[0-9]{1,15}", text) else text


def _distinct(items: Sequence[Json]) -> list[Json]:
    kept: list[Json] = []
    for item in items:
        if item not in kept:
            kept.append(item)
    return kept


#: Changes of one value, whatever its place; each is tried on every value inside a document, leaves first.
VALUE_OPERATORS: Final[Mapping[str, Change]] = MappingProxyType(
    {
        "number-as-string": _numbers(str),
        "digits-as-number": _texts(_as_number),
        "word-as-boolean": lambda value: (
            {"true": True, "false": False}.get(value, value) if isinstance(value, str) else value
        ),
        "fraction-rounded": _numbers(lambda value: int(value) if isinstance(value, float) else value),
        "integer-as-double": _numbers(
            lambda value: float(value) if isinstance(value, int) and abs(value) > _SAFE_INTEGER else value
        ),
        "negative-made-positive": _numbers(abs),
        "boolean-as-string": lambda value: str(value).lower() if isinstance(value, bool) else value,
        "boolean-as-number": lambda value: int(value) if isinstance(value, bool) else value,
        "zero-dropped": _when(lambda v: _same(0)(v) or _same(0.0)(v), MISSING),
        "false-dropped": _when(_same(False), MISSING),
        "null-dropped": _when(lambda value: value is None, MISSING),
        "empty-text-dropped": _when(_same(""), MISSING),
        "empty-array-dropped": _when(_same([]), MISSING),
        "empty-object-dropped": _when(_same({}), MISSING),
        "empty-text-null": _when(_same(""), None),
        "text-cut-50": _texts(lambda text: text[:50]),
        "text-cut-255": _texts(lambda text: text[:255]),
        "text-cut-4096": _texts(lambda text: text[:4096]),
        "text-cut-65535": _texts(lambda text: text[:65535]),
        "text-cut-131072": _texts(lambda text: text[:131072]),
        "text-composed": _texts(lambda text: unicodedata.normalize("NFC", text)),
        "text-decomposed": _texts(lambda text: unicodedata.normalize("NFD", text)),
        "text-trimmed": _texts(str.strip),
        "text-spaces-collapsed": _texts(lambda text: re.sub(r" {2,}", " ", text)),
        "text-escaped": _texts(lambda text: html.escape(text, quote=False)),
        "text-unescaped": _texts(html.unescape),
        "text-markup-removed": _texts(lambda text: re.sub(r"<[^>]*>", "", text)),
        "text-lower-case": _texts(str.lower),
        "text-first-capital": _texts(lambda text: text[:1].upper() + text[1:]),
        "text-accents-lost": _texts(
            lambda text: "".join(
                c for c in unicodedata.normalize("NFD", text) if not unicodedata.combining(c)
            )
        ),
        "text-astral-replaced": _texts(lambda text: re.sub("[\U00010000-\U0010ffff]", "�", text)),
        "text-beyond-latin-replaced": _texts(lambda text: re.sub("[^\x00-\xff]", "?", text)),
        "text-line-ends-unix": _texts(lambda text: text.replace("\r\n", "\n")),
        "text-line-ends-lost": _texts(lambda text: text.replace("\r", "").replace("\n", " ")),
        "text-tabs-lost": _texts(lambda text: text.replace("\t", " ")),
        "text-backslash-lost": _texts(lambda text: text.replace("\\", "")),
        "text-quote-doubled": _texts(lambda text: text.replace("'", "''")),
        "array-reversed": _arrays(lambda items: items[::-1]),
        "array-distinct": _arrays(_distinct),
        "array-first-only": _arrays(lambda items: items[:1]),
        "array-last-lost": _arrays(lambda items: items[:-1]),
        "array-cut-10": _arrays(lambda items: items[:10]),
        "array-of-one-unpacked": _arrays(lambda items: items[0] if len(items) == 1 else items),
    }
)


def changed(value: Json, change: Change) -> Json:
    """Apply a change to every value inside a JSON value, leaves first."""
    if isinstance(value, dict):
        members = ((name, changed(member, change)) for name, member in value.items())
        value = {name: member for name, member in members if member is not MISSING}
    elif isinstance(value, list):
        value = [item for item in (changed(item, change) for item in value) if item is not MISSING]
    return change(value)


def _deep_emptied(value: Json, depth: int = _DEEP) -> Json:
    if isinstance(value, dict):
        return (
            {} if depth == 0 else {name: _deep_emptied(member, depth - 1) for name, member in value.items()}
        )
    if isinstance(value, list):
        return [] if depth == 0 else [_deep_emptied(item, depth - 1) for item in value]
    return value


def _without_keys(lost: Callable[[str], bool]) -> Change:
    return lambda value: (
        {name: member for name, member in value.items() if not lost(name)}
        if isinstance(value, dict)
        else value
    )


def _keys(change: Callable[[str], str]) -> Change:
    return lambda value: (
        {change(name): member for name, member in value.items()} if isinstance(value, dict) else value
    )


#: Changes of a whole document.
DOCUMENT_OPERATORS: Final[Mapping[str, Change]] = MappingProxyType(
    {
        **{name: partial(changed, change=change) for name, change in VALUE_OPERATORS.items()},
        "keys-with-dot-lost": lambda value: changed(value, _without_keys(lambda name: "." in name)),
        "keys-with-dollar-lost": lambda value: changed(
            value, _without_keys(lambda name: name.startswith("$"))
        ),
        "keys-with-space-lost": lambda value: changed(value, _without_keys(lambda name: " " in name)),
        "keys-with-underscore-lost": lambda value: changed(value, _without_keys(lambda n: n.startswith("_"))),
        "keys-lower-case": lambda value: changed(value, _keys(str.lower)),
        "below-depth-emptied": _deep_emptied,
    }
)


def _at(value: Json, path: Sequence[str], becomes: Json) -> Json:
    """The value with the member at a path made another, or taken out."""
    if not isinstance(value, dict) or path[0] not in value:
        return value
    inner = becomes if len(path) == 1 else _at(value[path[0]], path[1:], becomes)
    rest = {name: member for name, member in value.items() if name != path[0]}
    return rest if inner is MISSING else {**value, path[0]: inner}


def paths_of(value: Json, before: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:
    """Every member of a document and of the objects in it, as the names that lead to it."""
    if isinstance(value, dict):
        for name, member in value.items():
            yield (*before, name)
            yield from paths_of(member, (*before, name))


def _saved(change: Change) -> Inject:
    """The service stores another document than it was sent."""

    def changed_request(request: Request) -> Request:
        document = request.json
        altered = change(document) if isinstance(document, dict) else document
        return request if json.dumps(altered) == json.dumps(document) else request.with_json(altered)

    return send(changed_request)


def _read(change: Change) -> Inject:
    """The service gives another document than it stored."""
    return edit(lambda document: change(document) if isinstance(document, dict) else document)


#: Where a document changes: operation, effect, and the conditions under which it does.
_PLACES: Final = (("saveDraft", _saved, REPEATED[:5]), ("getDraft", _read, SINGLE))


def document_faults() -> Iterator[Fault]:
    """Values of a draft, changed when it is saved or when it is read.

    That a change of an ordinary document is wrong is stated; what becomes of values that no such document holds is a
    reading, but for text in other scripts.
    """
    examples = (example["value"] for example in load_description().bundle["components"]["examples"].values())
    bodies = (example for example in examples if isinstance(example, dict))
    # Answers are no documents, and a submission only holds one.
    documents = [body.get("document", body) for body in bodies if {"document", "header"} & body.keys()]
    clauses = (
        *("draft-get-content", "draft-text-kept", "draft-text-exact", "draft-save-updates"),
        "draft-save-replaces",
    )
    for operator, change in DOCUMENT_OPERATORS.items():
        family = Family("content-text" if operator.startswith("text-") else "content-values")
        scripts = operator in ("text-astral-replaced", "text-beyond-latin-replaced", "text-accents-lost")
        shows = scripts or any(json.dumps(change(document)) != json.dumps(document) for document in documents)
        for operation, effect, conditions in _PLACES:
            yield from family.faults(operation, operator, clauses, effect(change), conditions, stated=shows)


def member_faults() -> Iterator[Fault]:
    """Each member of a documented record, at every depth, lost or made null on its way into a draft or out of it."""
    examples = load_description().bundle["components"]["examples"]
    document = next(e["value"] for e in examples.values() if "firstName" in e["value"])
    for path in paths_of(document):
        name = "-".join(map(kebab, path))
        # A service may complete a header or put it in order, so that the content is a draft's without it.
        in_header = path[0] == "header"
        clauses = ("draft-header-kept",) if in_header else ("draft-get-content", "draft-save-updates")
        for word, becomes in (("lost", MISSING), ("null", None)):
            for operation, effect, _ in _PLACES:
                changing = effect(partial(_at, path=path, becomes=becomes))
                yield from _MEMBERS.faults(operation, f"{name}-{word}", clauses, changing)


def _of_members(keep: Callable[[Any], bool]) -> Callable[[Any], Any]:
    return lambda value: {k: v for k, v in value.items() if keep(v)} if isinstance(value, dict) else value


def _letters(keep: Callable[[str], bool]) -> Callable[[Any], Any]:
    return lambda value: "".join(filter(keep, value)) if isinstance(value, str) else value


def _integers_as_text(value: Any) -> Any:
    return str(value) if isinstance(value, int | float) and not isinstance(value, bool) else value


def _fractions_cut(value: Any) -> Any:
    return int(value) if isinstance(value, float) else value


def _last_item_lost(value: Any) -> Any:
    return value[:-1] if isinstance(value, list) and len(value) > 1 else value


def _sorted_texts(value: Any) -> Any:
    texts = isinstance(value, list) and all(isinstance(item, str) for item in value)
    return sorted(value) if texts else value


def _inner_objects_emptied(document: Any) -> Any:
    return {
        name: {k: {} if isinstance(v, dict) else v for k, v in value.items()}
        if isinstance(value, dict)
        else value
        for name, value in document.items()
    }


def _first_member_when_large(document: Any) -> Any:
    large = len(json.dumps(document, ensure_ascii=False)) > _LARGE
    return dict([*document.items()][:1]) if large else document


def _header_without_languages(document: Any) -> Any:
    header = document.get("header")
    if not isinstance(header, dict):
        return document
    return {**document, "header": {k: v for k, v in header.items() if k != "languages"}}


# fmt: off
#: What reading a draft makes of each value in it: clause, name, change, and a sentence.
_VALUES: Final[tuple[tuple[str | tuple[str, ...], str, Callable[[Any], Any], str], ...]] = (
    ("draft-get-content", "content-without-last-item", _last_item_lost,
        "Arrays of more than one item lose the last one."),
    ("draft-get-content", "content-lists-of-100", lambda v: v[:100] if isinstance(v, list) else v,
        "Arrays end after a hundred items."),
    ("draft-get-content", "content-arrays-sorted", _sorted_texts, "Arrays of texts come back sorted."),
    (_VALUES_TOO, "content-integers-as-text", _integers_as_text, "Numbers come back as texts."),
    (_VALUES_TOO, "content-fractions-cut", _fractions_cut, "Numbers lose their fractions."),
    (_VALUES_TOO, "content-false-dropped", _of_members(lambda v: v is not False),
        "Members whose value is false are left out."),
    (_VALUES_TOO, "content-zero-dropped", _of_members(lambda v: isinstance(v, bool | str) or v != 0),
        "Members whose value is zero are left out."),
    ("draft-get-content", "content-texts-cut", VALUE_OPERATORS["text-cut-255"],
        "Texts of more than 255 characters are cut."),
    ("draft-text-kept", "text-mangled", _texts(lambda t: t.encode().decode("latin-1")),
        "Text is read as Latin-1 when it is UTF-8."),
    ("draft-text-kept", "text-question-marks", _texts(lambda t: t.encode("ascii", "replace").decode()),
        "Text has a question mark for each character beyond ASCII."),
    ("draft-text-kept", "text-beyond-basic-plane-lost", _letters(lambda c: ord(c) < 0x10000),
        "Text loses the characters beyond the basic plane."),
    ("draft-text-kept", "text-latin-only", _letters(lambda c: ord(c) < 0x100),
        "Text loses the characters that are not in Latin-1."),
    ("draft-text-kept", "text-escaped", VALUE_OPERATORS["text-escaped"],
        "Text has its angle brackets escaped as in HTML."),
    ("draft-text-exact", "text-composed", _texts(partial(unicodedata.normalize, "NFC")),
        "Text has accents in the composed form."),
    ("draft-text-exact", "text-trimmed", VALUE_OPERATORS["text-trimmed"], "Text loses white space at its ends."),
    ("draft-text-exact", "text-line-ends", VALUE_OPERATORS["text-line-ends-unix"],
        "Text has a line feed for each carriage return and line feed."),
    ("draft-text-exact", "text-without-control-characters", _letters(lambda c: c >= " " or c in "\r\n\t"),
        "Text loses control characters other than line breaks and tabs."),
    ("draft-values-kept", "content-nulls-dropped", _of_members(lambda v: v is not None),
        "Members whose value is null are left out."),
)
#: What reading a draft makes of the whole document.
_DOCUMENTS: Final[tuple[tuple[str | tuple[str, ...], str, Callable[[Any], Any], str], ...]] = (
    ("draft-get-content", "content-empty", lambda _: {}, "Reading a draft gives an empty object."),
    (_VALUES_TOO, "content-without-nested-objects", _inner_objects_emptied,
        "Objects inside the objects of a draft come back empty."),
    ("draft-get-content", "content-without-20th-member", lambda d: {k: d[k] for at, k in enumerate(d) if at != 19},
        "The twentieth member of a draft is left out."),
    ("draft-get-content", "content-lost-when-large", _first_member_when_large,
        "Reading a draft above 64 KiB gives its first member alone."),
    ("draft-header-kept", "header-without-languages", _header_without_languages,
        "A draft that is read has no languages in its header."),
)


def content_rows() -> Iterator[Fault]:
    """Every row of what a draft holds."""
    for clause, name, change, says in _VALUES:
        yield row(f"draft-{name}", clause, "getDraft", edit(partial(changed, change=change)), says)
    for clause, name, change, says in _DOCUMENTS:
        yield row(f"draft-{name}", clause, "getDraft", edit(change), says)
