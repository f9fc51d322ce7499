"""Bodies, texts and labels that break services, dealt out to realms and operations; nothing here sends a request."""

from __future__ import annotations

import itertools
import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any, Final, TypeVar

from contracts.cases.requests import Request
from contracts.interface.description import load_description
from contracts.settings.target import DEVELOPMENT_REALMS

T = TypeVar("T")


def share(table: Mapping[str, T], realm: str, parts: int = 3, operation: str | None = None) -> dict[str, T]:
    """The values of a table whose turn it is, in their order.

    Args:
        table: Values by name.
        realm: A development realm; the next one gets the next part.
        parts: Into how many parts the table is dealt; three make the document realms cover it together.
        operation: When given, the next operation gets the next part too.
    """
    turn = DEVELOPMENT_REALMS.index(realm)
    turn += list(load_description().operations).index(operation) if operation else 0
    return {
        name: value for number, (name, value) in enumerate(table.items()) if number % parts == turn % parts
    }


@dataclass(frozen=True)
class Deal:
    """Deals the values of a table to the realms of a run, so that the run meets all of them; the fixture `deal`.

    Attributes:
        place: The realm's place among the document realms of the run.
        realms: How many these are; in a run of one realm, it gets the whole table.
    """

    place: int
    realms: int

    def __call__(self, table: Mapping[str, T], turn: int = 0) -> dict[str, T]:
        """The values of a table whose turn it is, at least one; another turn begins with another realm."""
        items = list(table.items())
        mine = [item for number, item in enumerate(items) if (number + turn) % self.realms == self.place]
        return dict(mine or [items[(self.place + turn) % len(items)]])


_DEEP: Final = 20_000
_LONG: Final = 6_000
#: Query parameters of the lists that are tried with odd texts.
_TEXT_OPTION: Final = re.compile("(filter|top)$")
#: Into how many parts the odd bodies are dealt.
_PARTS: Final = 15
_KEY: Final = re.compile(r'"([A-Za-z_]\w*)":')

#: Content types that do not announce the JSON body they come with.
OTHER_CONTENT_TYPES: Final[Mapping[str, str]] = {
    "text": "text/plain",
    "form": "application/x-www-form-urlencoded",
    "xml": "application/xml",
    "nonsense": ";;/;",
}
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

    Returns:
        The bodies by what is wrong with them.
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
    """Bodies at the edges of JSON; whether they are taken is not shown, but none may break the service.

    Args:
        value: An object, the carrier of what is odd.
    """
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
        "half a pair": f'{{"odd": "\\ud800", "\\udc00": 1, {inside}}}'.encode(),
        "nul": f'{{"odd": "a\\u0000b", "\\u0000": 1, {inside}}}'.encode(),
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


def sharpest(value: dict[str, Any]) -> dict[str, bytes]:
    """The odd bodies that break most services: what no storage takes, and what no recursion does.

    Args:
        value: An object, the carrier of what is odd.
    """
    inside = json.dumps(value)[1:-1]
    return {
        "no text": f'{{"odd": "a\\u0000b", "half": "\\ud800", {inside}}}'.encode(),
        "deep objects": b'{"a":' * _DEEP + b"1" + b"}" * _DEEP,
    }


def in_turn(value: dict[str, Any], realm: str, operation: str) -> list[bytes]:
    """The sharpest of the odd bodies, and of the others those whose turn it is."""
    sharp = sharpest(value)
    others = [body for name, body in at_the_edges(value).items() if name not in sharp]
    turn = len(DEVELOPMENT_REALMS) * _record_takers().index(operation) + DEVELOPMENT_REALMS.index(realm)
    return [*sharp.values(), *others[turn % _PARTS :: _PARTS]]


def _record_takers() -> list[str]:
    """Operations that take a record; those in four realms first, so that all turns are taken."""
    takers = [operation for operation in load_description().operations.values() if operation.takes_record]
    return [operation.id for operation in sorted(takers, key=lambda operation: -len(operation.realms))]


def labels_in_turn(realm: str, operation: str) -> list[dict[str, str | None]]:
    """A header that announces something else than JSON, another one for each realm; none for contacts."""
    if operation.endswith("Contact"):
        return []
    labels = share(OTHER_CONTENT_TYPES, realm, len(OTHER_CONTENT_TYPES), operation)
    return [{"Content-Type": label} for label in labels.values()]


def odd_queries(realm: str, operation: str) -> list[dict[str, str]]:
    """Odd texts whose turn it is, a number that is too large for most, and a long text, each in an option of a list."""
    first, *others = share(ODD_TEXTS, realm, 5, operation).values()
    options = [
        name
        for name in load_description().operations[operation].query_parameters
        if _TEXT_OPTION.search(name)
    ]
    texts = [first, HUGE_NUMBER, *others, long_text()]
    return [{name: text} for text, name in zip(texts, itertools.cycle(options), strict=False)]


def odd_addresses(request: Request, realm: str) -> list[Request]:
    """The request with an odd text in its path, and with one that is too much: a huge number, or a long text."""
    odd = share(ODD_TEXTS, realm, len(ODD_TEXTS), request.operation).values()
    return in_the_path(request, [*odd, HUGE_NUMBER if "attachmentId" in request.path else long_text()])


def in_the_path(request: Request, texts: Iterable[str]) -> list[Request]:
    """The request with each text in one of its path parameters, in turn.

    A uid that a request would write to keeps its own beginning, so that nothing is written elsewhere.
    """
    names = list(request.path)
    changed = []
    for number, text in enumerate(texts):
        name = names[number % len(names)]
        value = request.path[name] + text if name == "uid" else text
        changed.append(replace(request, path={**request.path, name: value}))
    return changed
