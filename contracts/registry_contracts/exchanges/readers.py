"""Tolerant readers: find what the document promises, wherever a service puts it.

The interface document does not show response records, so extra members, envelopes and nesting are all fine. A reader
that finds two candidates raises `Ambiguous`; the case is then inconclusive, not failed.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Collection, Iterator
from functools import lru_cache
from typing import Any, Final

from registry_contracts.exchanges.exchange import NO_CONTENT, Response
from registry_contracts.file_formats import parts
from registry_contracts.interface.operations import is_valid_uid
from registry_contracts.safe_text import cut, listed

#: Deepest nesting that is searched, as a limit for hostile answers.
_DEEPEST = 64
#: Deepest nesting of members that may name a record's id.
_DEEPEST_NAMED = 3
#: Characters of a value in a message.
_SHOWN = 80
#: Usual names of arrays of records in envelopes, and of other arrays beside them.
_ITEMS = re.compile(
    "items?|values?|records|results?|data|docs|documents|drafts|attachments|rows|hits|entries|content|list|elements"
    "|resources|edges|nodes|files"
)
_ASIDE = re.compile("_?links|curies|facets|aggregations|warnings|messages|errors|included|columns|sort")
#: OData's name for an item of a collection that has no members of its own.
_ITSELF = "$this"
#: Depth in an envelope to which records are searched: first the top and one object down, then deeper.
_USUAL, _RARE = 2, 4
_IN_ADDRESS = re.compile(r"/attachments/([0-9]{1,18})(?:[/?#]|$)")
_EDGE = " \t\r\n\"'.,;:!?()[]{}<>“”‘’`"


class Ambiguous(Exception):
    """An answer can be read in two ways, which the text names."""


def values(value: Any, depth: int = 0) -> Iterator[Any]:
    """Every value inside a JSON value, itself first, down to a limited depth."""
    yield value
    if depth >= _DEEPEST:
        return
    for member in parts(value):
        yield from values(member, depth + 1)


def own_identifier(sent: Any) -> str | None:
    """The identifier in the header of a record, or of a submission's document."""
    document = sent.get("document", sent) if isinstance(sent, dict) else None
    header = document.get("header") if isinstance(document, dict) else None
    own = header.get("identifier") if isinstance(header, dict) else None
    return own if isinstance(own, str) else None


def carries_identifier(answer: Response, identifier: str) -> bool:
    """Whether an answer contains this identifier as a word, in its body or its Location header."""
    body = answer.text if answer.json is None else answer.json
    return names([answer.headers.get("location", ""), body], identifier)


def names(value: Any, identifier: str) -> bool:
    """Whether a JSON value, such as a record of a list, contains this identifier as a word, for example in a link."""
    word = re.compile(rf"(?<![\w-]){re.escape(identifier)}(?![\w-])", re.ASCII)
    return any(identifier in text and word.search(text) for text in [*_texts(value), *_keys(value)])


def _texts(body: Any) -> Iterator[str]:
    return (value for value in values(body) if isinstance(value, str))


def _keys(body: Any) -> Iterator[str]:
    return (name for value in values(body) if isinstance(value, dict) for name in value)


def contains_message(answer: Response, message: str) -> bool:
    """Whether the body contains a message, apart from white space and surrounding punctuation."""
    wanted, whole = _plain_message(message), answer.text
    if wanted in _plain_body(whole):
        return True
    # Without escapes, the search above covers every text of the body.
    return "\\" in whole and any(wanted in _plain(text) for text in _texts(answer.json))


def _plain(text: str) -> str:
    """A text with folded white space and straight quotes, without punctuation at its ends."""
    folded = unicodedata.normalize("NFC", text).replace("’", "'").replace("‘", "'")
    return re.sub(r"\s+", " ", folded).strip(_EDGE)


#: Cached, since all messages of the workflow table are searched in the same answer.
_plain_body = lru_cache(maxsize=2)(_plain)
_plain_message = lru_cache(maxsize=256)(_plain)


def errors(answer: Response) -> list[Any] | None:
    """The `errors` array: a member of the body, or of an object in it; None without one.

    Nested arrays do not count, nor do empty ones beside a filled one.

    Raises:
        Ambiguous: several members called `errors` hold different arrays, and not exactly one of these has codes.
    """
    arrays = list(_errors_in(answer.json))
    filled = [array for number, array in enumerate(arrays) if array and array not in arrays[:number]]
    if len(filled) > 1:
        coded = [
            array
            for array in filled
            if all(isinstance(element, dict) and "code" in element for element in array)
        ]
        if len(coded) != 1:
            raise Ambiguous("the answer holds several different errors arrays")
        return coded[0]
    return filled[0] if filled else [] if arrays else None


def tells_errors(answer: Response) -> bool:
    """Whether an answer with a status below 500 holds a filled `errors` array."""
    return answer.status < 500 and any(_errors_in(answer.json))


def _errors_in(value: Any, depth: int = 0) -> Iterator[list[Any]]:
    """Every `errors` array that is not inside another one."""
    if depth >= _DEEPEST:
        return
    if isinstance(value, dict) and isinstance(value.get("errors"), list):
        yield value["errors"]
        value = {name: member for name, member in value.items() if name != "errors"}
    for member in parts(value):
        yield from _errors_in(member, depth + 1)


def records(answer: Response) -> list[dict[str, Any]] | None:
    """The records of a list: a bare array, or the only array of objects in an envelope; None without one.

    Status 204 means no records. An envelope may hold other arrays with well-known names, such as links. An item that is
    not an object, such as a bare uid, becomes a record with OData's member `$this`; in an envelope this needs a usual
    name. An object whose member names are all uids is a list of its members.

    Raises:
        Ambiguous: the envelope holds several arrays of objects, and their names do not decide.
    """
    body = answer.json
    if answer.status == NO_CONTENT and not answer.content:
        return []
    if isinstance(body, list):
        return _as_records(body)
    if not isinstance(body, dict):
        return None
    arrays = list(_arrays(body, _USUAL)) or list(_arrays(body, _RARE))
    named = [array for name, array in arrays if _ITEMS.fullmatch(name.lower())]
    others = [array for name, array in arrays if not _ASIDE.fullmatch(name.lower())]
    plain = [
        member for name, member in body.items() if isinstance(member, list) and _ITEMS.fullmatch(name.lower())
    ]
    items = _only(named or others or [array for _, array in arrays] or plain)
    return _by_uids(body) if items is None else _as_records(items)


def _as_records(items: list[Any]) -> list[dict[str, Any]]:
    return [item if isinstance(item, dict) else {_ITSELF: item} for item in items]


def _by_uids(body: dict[str, Any]) -> list[dict[str, Any]] | None:
    """The members of an object as records, if each name is a uid and each value an object."""
    keyed = bool(body) and all(is_valid_uid(name) and isinstance(body[name], dict) for name in body)
    return [{name: member} for name, member in body.items()] if keyed else None


def _only(arrays: list[list[Any]]) -> list[Any] | None:
    filled = [array for array in arrays if array]
    if len(filled) > 1:
        raise Ambiguous("the list answer holds several arrays of objects")
    return filled[0] if filled else arrays[0] if arrays else None


def _arrays(envelope: dict[str, Any], depth: int) -> Iterator[tuple[str, list[Any]]]:
    """Arrays of objects and empty arrays in an envelope and in objects inside it, with their names."""
    for name, member in envelope.items():
        if isinstance(member, list) and all(isinstance(item, dict) for item in member):
            yield name, member
        elif isinstance(member, dict) and depth > 1:
            yield from _arrays(member, depth - 1)


def holds_document(answer: Response, document: dict[str, Any]) -> bool:
    """Whether the body contains a document without its header, at the top or nested; extra members are fine."""
    content = content_of(document)
    return any(includes(value, content) for value in values(answer.json) if isinstance(value, dict))


def content_of(document: dict[str, Any]) -> dict[str, Any]:
    """A document without its header, which a service may complete; with it if there is nothing else."""
    return {name: value for name, value in document.items() if name != "header"} or document


def includes(seen: Any, wanted: Any) -> bool:
    """Whether `seen` holds everything in `wanted`: objects may have more members, everything else must be equal.

    Numbers are compared by value (1 and 1.0 are one number in JSON); booleans are no numbers.
    """
    if isinstance(wanted, dict):
        return isinstance(seen, dict) and all(
            name in seen and includes(seen[name], member) for name, member in wanted.items()
        )
    if isinstance(wanted, list):
        return (
            isinstance(seen, list)
            and len(seen) == len(wanted)
            and all(includes(there, here) for there, here in zip(seen, wanted, strict=True))
        )
    if isinstance(wanted, bool) or isinstance(seen, bool):
        return seen is wanted
    return bool(seen == wanted)


_MOMENT: Final = re.compile(r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d.*", re.ASCII)


def common(first: Any, second: Any) -> Any:
    """What two readings of a record have in common; differing members of objects are left out.

    Moments outside a document are left out, too: one may be the time of reading, which two quick readings share.
    """
    if isinstance(first, dict) and isinstance(second, dict):
        beside = "header" not in first
        both = {
            name: (first[name], second[name])
            for name in first
            if name in second and not (beside and _MOMENT.fullmatch(str(first[name])))
        }
        return {
            name: common(*pair)
            for name, pair in both.items()
            if includes(*pair) or all(isinstance(member, dict) for member in pair)
        }
    return first


def header_missing(answer: Response, document: dict[str, Any]) -> str:
    """The members of a document's header that the most complete copy in the body lacks; empty if a copy has all.

    Lists count as sets, and a header may have additional members.
    """
    wanted: dict[str, Any] = document.get("header", {})
    members = (inner.get("header") for inner in values(answer.json) if isinstance(inner, dict))
    lacks = [
        [name for name, value in wanted.items() if not _kept(header.get(name), value)]
        for header in members
        if isinstance(header, dict)
    ]
    return ", ".join(f"header.{name}" for name in min(lacks, key=len)) if lacks else "header"


def _kept(seen: Any, wanted: Any) -> bool:
    if isinstance(wanted, list):
        return isinstance(seen, list) and all(item in seen for item in wanted)
    return includes(seen, wanted)


def left_over(answer: Response, document: dict[str, Any], members: Collection[str]) -> set[str]:
    """Those of `members`, which should be gone, that are still in the body's copies of a document."""
    return {name for value in copies(answer, document) for name in members if name in value}


def copies(answer: Response, document: dict[str, Any]) -> list[dict[str, Any]]:
    """The objects in the body that hold a document, with or without further members."""
    content = content_of(document)
    return [value for value in values(answer.json) if isinstance(value, dict) and includes(value, content)]


def difference(answer: Response, document: dict[str, Any]) -> str:
    """How the best copy in the body differs from a document, as text for the `seen` of a finding."""
    candidates = [value for value in values(answer.json) if isinstance(value, dict)]
    if not candidates:
        return f"no JSON object in the answer ({answer.quote()})"
    content = content_of(document)
    best = max(candidates, key=lambda value: len(value.keys() & content.keys()))
    departs = {
        name: where
        for name, member in content.items()
        if (where := _first_difference(best, {name: member}, "document"))
    }
    others = listed(f"document.{name}" for name in [*departs][1:])
    also = f"; nor as saved: {others}" if others else ""
    return f"{next(iter(departs.values()), 'nothing differs')}{also}"


def _first_difference(seen: Any, wanted: Any, place: str) -> str | None:
    if isinstance(wanted, dict) and isinstance(seen, dict):
        for name, member in wanted.items():
            if name not in seen:
                return f"{place}.{name} is missing"
            where = _first_difference(seen[name], member, f"{place}.{name}")
            if where:
                return where
        return None
    if includes(seen, wanted):
        return None
    if isinstance(seen, str) and isinstance(wanted, str) and max(len(seen), len(wanted)) > _LONG:
        return f"{place} {_where_texts_part(seen, wanted)}"
    return f"{place} is {_short(seen)} where {_short(wanted)} was saved"


#: Longer texts are shown around their first difference only, with so many characters on each side.
_LONG: Final = 60
_AROUND: Final = 12


def _where_texts_part(seen: str, wanted: str) -> str:
    """How a long text differs: where it ends too early, or its first differing characters."""
    shared = next(
        (place for place, (one, other) in enumerate(zip(seen, wanted, strict=False)) if one != other),
        min(len(seen), len(wanted)),
    )
    if shared == len(seen):
        return f"ends after {shared} of the {len(wanted)} characters that were saved"
    start, end = max(0, shared - _AROUND), shared + _AROUND
    return (
        f"differs from character {shared + 1} of {len(wanted)} on: …{seen[start:end]!r} "
        f"where …{wanted[start:end]!r} was saved"
    )


def _short(value: Any) -> str:
    return cut(repr(value), _SHOWN)


def integers(value: Any) -> Iterator[int]:
    """Every integer inside a JSON value, including integers as text and attachment ids in addresses."""
    for inner in values(value):
        if isinstance(inner, int) and not isinstance(inner, bool):
            yield inner
        elif isinstance(inner, str) and inner.isascii() and inner.isdigit() and len(inner) <= 18:
            yield int(inner)
        elif isinstance(inner, str):
            yield from map(int, _IN_ADDRESS.findall(inner))


def ranked_integers(record: Any) -> list[tuple[int, int]]:
    """Integers of a record that may be its id, with ranks, best first.

    Rank 0: a member called id, or a bare number. Rank 1: a member whose name ends in id, or an attachment id in an
    address. Rank 2: any other.
    """
    if not isinstance(record, dict):
        return [(0, number) for number in integers(record) if not isinstance(record, list)]
    ranked = []
    for name, value in named_members(record):
        plain = name.lower().replace("_", "")
        rank = 0 if plain in ("id", "attachmentid") else 1 if plain.endswith("id") else 2
        rank = min(rank, 1) if isinstance(value, str) and not value.isdigit() else rank
        ranked += [(rank, number) for number in integers(value) if not isinstance(value, dict)]
    return sorted(ranked, key=lambda pair: pair[0])


def named_members(record: dict[str, Any], depth: int = 0) -> Iterator[tuple[str, Any]]:
    """The members of a record and of objects inside it, a few levels deep, with their names."""
    for name, value in record.items():
        yield name, value
        if isinstance(value, dict) and depth < _DEEPEST_NAMED:
            yield from named_members(value, depth + 1)
