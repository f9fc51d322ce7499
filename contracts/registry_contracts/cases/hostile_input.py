"""Bodies and texts that break services, rotated over realms and operations; nothing here sends requests."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final, TypeVar

from registry_contracts.cases.requests import Request
from registry_contracts.interface.description import load_description

T = TypeVar("T")


@dataclass(frozen=True)
class Deal:
    """Rotates the values of a table over the realms of a run, so that the run sends all; the fixture `deal`.

    Attributes:
        place: The realm's position among the document realms of the run.
        realms: The number of these realms; a single realm gets the whole table.
        most: Maximum number of values from a table; None for all.
    """

    place: int
    realms: int
    most: int | None = None

    def __call__(self, table: Mapping[str, T], turn: int = 0) -> dict[str, T]:
        """This realm's values of a table, at least one; `turn` shifts which realm gets the first value."""
        items = list(table.items())
        mine = [item for number, item in enumerate(items) if (number + turn) % self.realms == self.place]
        return dict(mine[: self.most] or [items[(self.place + turn) % len(items)]])

    def whole(self, table: Iterable[T]) -> list[T]:
        """The values that every realm sends: all, or the first `most`."""
        return list(table)[: self.most]


_DEEP: Final = 20_000
_LONG: Final = 6_000
#: Query parameters of lists to try with odd texts.
_TEXT_OPTION: Final = re.compile("(filter|top)$")
_KEY: Final = re.compile(r'"([A-Za-z_]\w*)":')

#: Texts for path segments and query values; half a surrogate pair is sent as invalid UTF-8.
ODD_TEXTS: Final[Mapping[str, str]] = {
    "right to left": "\u202eabc\u202c",
    "combining": "e\u0301" * 20,
    "unassigned": "\U000e0fff",
    "half a pair": "ab\ud800cd",
    "control": "a\x01\x7f\x85",
    "nul": "a\0b",
    "newlines": "a\r\nX-Injected: 1\r\n\r\nb",
    "format": "%s%n%x{0}${7*7}{{7*7}}",
    "quotes": "'\"`;--/*",
    "steps": "../../..",
}


#: More digits than any machine word holds.
HUGE_NUMBER: Final = "9" * 30


def long_text() -> str:
    """A text longer than many servers accept in an address, but short enough for proxies."""
    return "long-" * (_LONG // 5)


def malformed(value: dict[str, Any]) -> dict[str, bytes]:
    """Objects with a wrong end, invalid in JSON and in every dialect of it.

    Args:
        value: An object with at least one member that would be accepted as valid JSON.
    """
    text = json.dumps(value)
    return {"cut short": text[:-1].encode(), "another bracket": f"{text[:-1]}]".encode()}


def dialects(value: dict[str, Any]) -> dict[str, bytes]:
    """Invalid JSON that parsers of JSON dialects accept; `value` as for `malformed`."""
    text = json.dumps(value)
    spoilt = {
        "single quotes": _single_quoted(text),
        "trailing comma": text[:-1] + ",}",
        "text behind": text + " and more",
        "two values": text + text,
        "comment": "/* a note */ " + text,
        "bare keys": _KEY.sub(r"\1:", text),
    }
    return {name: body.encode() for name, body in spoilt.items()}


def _single_quoted(text: str) -> str:
    return text.replace("'", "").replace('"', "'")


def at_the_edges(value: dict[str, Any]) -> dict[str, bytes]:
    """Bodies at the edges of JSON: they may be accepted or refused, but none may break the service."""
    inside = json.dumps(value)[1:-1]
    bodies: dict[str, bytes] = {
        "empty": b"",
        "blank": b" \n\t ",
        "null": b"null",
        "number": b"1",
        "text": b'"text"',
        "array": b"[]",
        "not a number": f'{{"odd": NaN, {inside}}}'.encode(),
        "infinite": f'{{"odd": -Infinity, {inside}}}'.encode(),
        "huge number": f'{{"odd": 1e400, "more": {"9" * 400}, {inside}}}'.encode(),
        "twice": f"{{{inside}, {inside}}}".encode(),
        "no text": f'{{"odd": "a\\u0000b", "half": "\\ud800", "\\u0000": 1, {inside}}}'.encode(),
        "prototype": f'{{"__proto__": {{"a": 1}}, "constructor": {{"a": 1}}, {inside}}}'.encode(),
        "byte order mark": b"\xef\xbb\xbf" + json.dumps(value).encode(),
        "no utf-8": f'{{"odd": "§", {inside}}}'.encode("latin-1"),
        "utf-16": json.dumps(value).encode("utf-16"),
        "long text": json.dumps({"odd": long_text() * 40} | value).encode(),
        "many members": json.dumps({f"m{number}": number for number in range(3000)} | value).encode(),
        "deep arrays": b"[" * _DEEP + b"]" * _DEEP,
        "deep objects": b'{"a":' * _DEEP + b"1" + b"}" * _DEEP,
        "deep and cut": b'{"a":[' * _DEEP,
    }
    return bodies


#: The odd bodies that break most services: one that storage rejects, one that is too deep for recursion.
_SHARPEST: Final = ("no text", "deep objects")


def odd_requests(request: Request, turn: int | None = None) -> list[Request]:
    """Variants of a request with something odd in its body, its path or a list's query.

    Args:
        turn: Selects one odd body (besides the two that break most services) and one odd text for each other place;
            None for all.
    """
    if isinstance(request.body, dict):
        bodies = at_the_edges(request.body)
        sharpest = [bodies.pop(name) for name in _SHARPEST]
        return [replace(request, body=body) for body in (*sharpest, *_in_turn(list(bodies.values()), turn))]
    texts = _in_turn([*ODD_TEXTS.values(), HUGE_NUMBER, long_text()], turn)
    options = load_description().operations[request.operation].query_parameters
    queries = [{name: text} for name in filter(_TEXT_OPTION.search, options) for text in texts]
    paths = [{name: text} for name in _in_turn(list(request.path), turn) for text in texts]
    return [
        *(replace(request, query=query) for query in queries),
        *(replace(request, path=request.path | path) for path in paths),
    ]


def _in_turn(table: Sequence[T], turn: int | None) -> Sequence[T]:
    return table if turn is None or not table else [table[turn % len(table)]]


def turn_of(operation: str, realm: str) -> int:
    """The position of an operation in a realm among all; operations in most realms come first."""
    described = sorted(load_description().operations.values(), key=lambda each: (-len(each.realms), each.id))
    return [(each.id, name) for each in described for name in each.realms].index((operation, realm))
