"""Operators of faults: small changes of a JSON value, of bytes, of an identifier or of a list.

None of them knows a clause or a case. `population` says where each is applied, and when.

Valid documents of the sandbox's schemas, for faults that take a faulty one.
"""

from __future__ import annotations

import html
import re
import unicodedata
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from types import MappingProxyType
from typing import Any, Final

from contracts.sandbox.record_types import REALMS, Field, Kind, RecordType

Json = Any
Change = Callable[[Json], Json]

#: Stands for a value that is taken out of its object or array.
DROPPED: Final = object()
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
        "fraction-rounded": _numbers(lambda value: int(value) if isinstance(value, float) else value),
        "integer-as-double": _numbers(
            lambda value: float(value) if isinstance(value, int) and abs(value) > _SAFE_INTEGER else value
        ),
        "negative-made-positive": _numbers(abs),
        "boolean-as-string": lambda value: str(value).lower() if isinstance(value, bool) else value,
        "boolean-as-number": lambda value: int(value) if isinstance(value, bool) else value,
        "zero-dropped": _when(lambda v: _same(0)(v) or _same(0.0)(v), DROPPED),
        "false-dropped": _when(_same(False), DROPPED),
        "null-dropped": _when(lambda value: value is None, DROPPED),
        "empty-text-dropped": _when(_same(""), DROPPED),
        "empty-array-dropped": _when(_same([]), DROPPED),
        "empty-object-dropped": _when(_same({}), DROPPED),
        "empty-text-null": _when(_same(""), None),
        "text-cut-50": _texts(lambda text: text[:50]),
        "text-cut-255": _texts(lambda text: text[:255]),
        "text-cut-4096": _texts(lambda text: text[:4096]),
        "text-cut-65535": _texts(lambda text: text[:65535]),
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
        value = {name: member for name, member in members if member is not DROPPED}
    elif isinstance(value, list):
        value = [item for item in (changed(item, change) for item in value) if item is not DROPPED]
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


def member_dropped(path: Sequence[str]) -> Change:
    """Return the change that takes the member at a path out of a document."""
    return lambda value: _at(value, path, lambda _: DROPPED)


def member_null(path: Sequence[str]) -> Change:
    """Return the change that makes the member at a path null."""
    return lambda value: _at(value, path, lambda _: None)


def _at(value: Json, path: Sequence[str], change: Change) -> Json:
    if not isinstance(value, dict) or path[0] not in value:
        return value
    inner = change(value[path[0]]) if len(path) == 1 else _at(value[path[0]], path[1:], change)
    rest = {name: member for name, member in value.items() if name != path[0]}
    return rest if inner is DROPPED else {**value, path[0]: inner}


def paths_of(value: Json, before: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:
    """Every member of a document and of the objects in it, as the names that lead to it."""
    if isinstance(value, dict):
        for name, member in value.items():
            yield (*before, name)
            yield from paths_of(member, (*before, name))


#: Changes of a file's bytes.
BYTE_OPERATORS: Final[Mapping[str, Callable[[bytes], bytes]]] = MappingProxyType(
    {
        "last-byte-lost": lambda content: content[:-1],
        "first-byte-lost": lambda content: content[1:],
        "cut-1024": lambda content: content[:1024],
        "cut-8192": lambda content: content[:8192],
        "cut-65536": lambda content: content[:65536],
        "block-boundary-byte-lost": lambda content: content[:4095] + content[4096:],
        "line-ends-unix": lambda content: content.replace(b"\r\n", b"\n"),
        "line-ends-windows": lambda content: re.sub(rb"(?<!\r)\n", b"\r\n", content),
        "mark-lost": lambda content: content.removeprefix(b"\xef\xbb\xbf"),
        "mark-added": lambda content: b"\xef\xbb\xbf" + content,
        "trailing-space-lost": bytes.rstrip,
        "zero-bytes-lost": lambda content: content.replace(b"\0", b""),
        "decoded-as-text": lambda content: content.decode("utf-8", "replace").encode(),
        "high-bit-lost": lambda content: bytes(byte & 0x7F for byte in content),
        "newline-added": lambda content: content + b"\n",
        "emptied": lambda _: b"",
    }
)

#: Ways in which two identifiers become one.
FOLDINGS: Final[Mapping[str, Callable[[str], str]]] = MappingProxyType(
    {
        "case-folded": str.lower,
        "underscore-as-hyphen": lambda uid: uid.replace("_", "-"),
        "hyphen-as-underscore": lambda uid: uid.replace("-", "_"),
        "hyphens-lost": lambda uid: uid.replace("-", "") if len(uid.replace("-", "")) > 10 else uid,
        "first-20": lambda uid: uid[:20],
        "first-32": lambda uid: uid[:32],
        "first-64": lambda uid: uid[:64],
        "first-100": lambda uid: uid[:100],
        "first-127": lambda uid: uid[:127],
        "trailing-hyphens-lost": lambda uid: uid.rstrip("-") if len(uid.rstrip("-")) > 10 else uid,
        "trailing-underscores-lost": lambda uid: uid.rstrip("_") if len(uid.rstrip("_")) > 10 else uid,
        "hyphens-collapsed": lambda uid: (
            re.sub("-{2,}", "-", uid) if len(re.sub("-{2,}", "-", uid)) > 10 else uid
        ),
    }
)

#: Classes of identifiers inside the rule, by what a careless service may refuse.
VALID_CLASSES: Final[Mapping[str, Callable[[str], bool]]] = MappingProxyType(
    {
        "of-11": lambda uid: len(uid) == 11,
        "of-12": lambda uid: len(uid) == 12,
        "of-127": lambda uid: len(uid) == 127,
        "of-128": lambda uid: len(uid) == 128,
        "over-64": lambda uid: len(uid) > 64,
        "with-hyphen": lambda uid: "-" in uid.strip("-")[3:],
        "ending-in-hyphen": lambda uid: uid.endswith("-"),
        "with-underscore": lambda uid: "_" in uid,
        "with-capitals": lambda uid: uid != uid.lower(),
        "digits-only": str.isdigit,
        "hyphens-only": lambda uid: not uid.strip("-_"),
    }
)


def _holds(characters: str) -> Callable[[str], bool]:
    return lambda uid: any(character in uid for character in characters)


#: Classes of identifiers outside the rule, by what a careless service may let in.
INVALID_CLASSES: Final[Mapping[str, Callable[[str], bool]]] = MappingProxyType(
    {
        "of-10": lambda uid: len(uid) == 10,
        "under-10": lambda uid: 0 < len(uid) < 10,
        "of-129": lambda uid: len(uid) == 129,
        "over-129": lambda uid: len(uid) > 129,
        "with-space": _holds(" "),
        "with-dot": _holds("."),
        "with-bracket": _holds("]"),
        "with-caret": _holds("^"),
        "with-backslash": _holds("\\"),
        "with-other-sign": _holds("!$&'()*+,;=:@~#%?<>|\"`{}["),
        "with-slash": _holds("/"),
        "with-letter-beyond-ascii": lambda uid: any(c.isalpha() and not c.isascii() for c in uid),
        "with-digit-beyond-ascii": lambda uid: any(c.isdigit() and not c.isascii() for c in uid),
        "ending-in-newline": lambda uid: uid.endswith(("\n", "\r")),
    }
)

#: What may happen to the items of a list on their way out.
LIST_OPERATORS: Final[Mapping[str, Callable[[list[Json]], list[Json]]]] = MappingProxyType(
    {
        "first-lost": lambda items: items[1:],
        "last-lost": lambda items: items[:-1],
        "second-lost": lambda items: items[:1] + items[2:],
        "first-doubled": lambda items: items[:1] + items,
        "last-doubled": lambda items: items + items[-1:],
        "reversed": lambda items: items[::-1],
        "emptied": lambda _: [],
    }
)


def valid_document(realm: str, schema: str, identifier: str) -> dict[str, Any] | None:
    """A document that holds every mandatory field of its schema; None where there is no such schema."""
    kinds: Mapping[str, RecordType] = next((r.types for r in REALMS if r.name == realm), {})
    if schema not in kinds:
        return None
    fields = (field for field in kinds[schema].fields if field.mandatory)
    document = {field.name: _many(field, _sample(field, realm)) for field in fields}
    header: dict[str, Any] = {"schema": schema, "languages": ["en"]}
    return {"header": {**header, **({"identifier": identifier} if identifier else {})}, **document}


def _many(field: Field, value: Any) -> Any:
    return [value] if field.many else value


def _sample(field: Field, realm: str) -> Any:
    samples: Mapping[Kind, Any] = {
        Kind.STRING: "text",
        Kind.LSTRING: {"en": "text"},
        Kind.TERM: {"identifier": min(field.terms, default="term")},
        Kind.LINK: {"url": "https://example.test/"},
        Kind.REFERENCE: {"identifier": f"organization-{realm}"},
        Kind.INTEGER: 1,
        Kind.BOOLEAN: True,
        Kind.DATE: "2026-01-31",
        Kind.PLACE: {"point": {"latitude": 1.5, "longitude": 2.5}},
        Kind.HEADER: {"languages": ["en"]},
    }
    return samples[field.kind]
