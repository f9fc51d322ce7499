"""An exchange as text, as it would stand on the wire, and its bodies as values that any report can hold."""

from __future__ import annotations

import json
from typing import Any

from contracts.exchanges.exchange import Body, Exchange, Headers
from contracts.safe_text import encodable, printable


def json_of(body: Body) -> Any:
    """Return a recorded body as JSON, or None when it is none or was not kept whole.

    JSON can carry more than a file can: half of a surrogate pair stands in it as an escape, and becomes a character
    that no UTF-8 holds as soon as it is read. What comes from here fits any writer; checks read bodies exactly.
    """
    return encodable(body.json)


_SHOWN_CHARACTERS = 20_000
_LINE_CHARACTERS = 2_000


def heading(exchange: Exchange) -> str:
    """Return one line that tells exchanges apart: operation, role, realm, status and duration."""
    what = f"{exchange.operation or exchange.method} as {exchange.role or 'nobody'}"
    return f"{what} in {exchange.realm}: {exchange.status or 'no response'}, {milliseconds(exchange)}"


def milliseconds(exchange: Exchange) -> str:
    """Return how long an exchange took, as `12 ms`."""
    return f"{(exchange.seconds or 0.0) * 1000:.0f} ms"


def request_text(exchange: Exchange, limit: int = _SHOWN_CHARACTERS) -> str:
    """Return the request line, headers and body, the body cut after `limit` characters."""
    first = f"{exchange.method} {exchange.url} HTTP/1.1"
    return _message(first, exchange.request_headers, exchange.request_body, limit)


def response_text(exchange: Exchange, limit: int = _SHOWN_CHARACTERS) -> str:
    """Return the status line, headers and body of the response, or the fault in its place."""
    response = exchange.response
    if response is None:
        return printable(f"no response: {exchange.fault or 'the connection ended without one'}")
    text = _message(f"{response.status} {response.reason}".rstrip(), response.headers, response.body, limit)
    if exchange.fault is None:
        return text
    return f"{text}\n\n(taken for a fault of the environment: {printable(exchange.fault)})"


def transcript(exchange: Exchange) -> str:
    """Return the whole exchange as text."""
    return f"{heading(exchange)}\n\n{request_text(exchange)}\n\n{response_text(exchange)}\n"


def body_text(body: Body, limit: int = _SHOWN_CHARACTERS) -> str:
    """Return a body for people: JSON indented, binary content named by size, long content cut and marked."""
    if body.decoded is None:
        return f"({body.size} bytes of binary content, sha256 {body.digest or 'unknown'})"
    if not body.content:
        return "" if body.whole else f"(not kept{f'; {body.size} bytes' if body.size else ''})"
    shown = _indented(body.decoded) if body.whole else body.decoded
    cut = shown[:limit]
    return cut + ("" if body.whole and len(cut) == len(shown) else f"\n(cut; {body.size} bytes in all)")


def _indented(text: str) -> str:
    if not text.lstrip().startswith(("{", "[")):
        return text
    try:
        # What Python reads more leniently than JSON, or only nearly, is shown as it came.
        return json.dumps(json.loads(text), indent=2, ensure_ascii=False, allow_nan=False)
    except (ValueError, RecursionError):
        return text


def _message(first: str, headers: Headers, body: Body, limit: int) -> str:
    lines = [_short(f"{name}: {value}") for name, value in headers.pairs]
    return printable("\n".join([_short(first), *lines, "", body_text(body, limit)]).rstrip())


def _short(line: str) -> str:
    return line if len(line) <= _LINE_CHARACTERS else f"{line[:_LINE_CHARACTERS]}… ({len(line)} characters)"
