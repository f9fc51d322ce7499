"""Bodies and texts that break services, dealt out to realms and operations; nothing here sends a request."""

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
    """Deals the values of a table to the realms of a run, so that the run meets all of them; the fixture `deal`.

    Attributes:
        place: The realm's place among the document realms of the run.
        realms: How many these are; in a run of one realm, it gets the whole table.
        most: So many values of a table at most; None for all.
    """

    place: int
    realms: int
    most: int | None = None

    def __call__(self, table: Mapping[str, T], turn: int = 0) -> dict[str, T]:
        """The values of a table whose turn it is, at least one; another turn begins with another realm."""
        items = list(table.items())
        mine = [item for number, item in enumerate(items) if (number + turn) % self.realms == self.place]
        return dict(mine[: self.most] or [items[(self.place + turn) % len(items)]])

    def whole(self, table: Iterable[T]) -> list[T]:
        """The values that every realm sends, all of them or the first ones."""
        return list(table)[: self.most]


_DEEP: Final = 20_000
_LONG: Final = 6_000
#: Query parameters of the lists that are tried with odd texts.
_TEXT_OPTION: Final = re.compile("(filter|top)$")
_KEY: Final = re.compile(r'"([A-Za-z_]\w*)":')

#: Texts for path segments and query values; half a surrogate pair becomes bytes that are no UTF-8.
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
    """A text longer than servers like to see in an address, and shorter than what proxies cut."""
    return "long-" * (_LONG // 5)


def malformed(value: dict[str, Any]) -> dict[str, bytes]:
    """Texts whose end is not that of the object they begin, in JSON and in any dialect of it.

    Args:
        value: An object with at least one member that would be accepted if it were sent as it should be.
    """
    text = json.dumps(value)
    return {"cut short": text[:-1].encode(), "another bracket": f"{text[:-1]}]".encode()}


def dialects(value: dict[str, Any]) -> dict[str, bytes]:
    """Texts that are no JSON, though readers of its dialects find the value in them; as `malformed`."""
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
    """Bodies at the edges of JSON; whether they are taken is not shown, but none may break the service."""
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


#: The odd bodies that break most services: what no storage takes, and what no recursion does.
_SHARPEST: Final = ("no text", "deep objects")


def odd_requests(request: Request, turn: int | None = None) -> list[Request]:
    """A request with something odd in it, be it in its body, in its path or in the query of a list.

    Args:
        turn: Of the odd bodies those that break most services and one other, and one odd text in each other place;
            another one for the next turn. None for all.
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
    """The place of an operation in a realm among all, those in four realms first."""
    described = sorted(load_description().operations.values(), key=lambda each: (-len(each.realms), each.id))
    return [(each.id, name) for each in described for name in each.realms].index((operation, realm))
