"""Reads recorded bodies as JSON for the reports: the one place where text of the wire becomes values of a report.

JSON can carry more than a file can: half of a surrogate pair stands in it as an escape, and becomes a character that no
UTF-8 holds as soon as it is read. What comes from here fits any writer. The judging side reads bodies by itself,
exactly.

An exchange as text: what was sent and what came back, as it would stand on the wire.
"""

import json
from collections.abc import Iterable, Mapping
from typing import Any

from contracts.evidence.record import RecordedExchange
from contracts.safe_text import encodable, printable


def json_of(body: Mapping[str, Any] | None) -> Any:
    """Return a recorded body as JSON, or None when it is none or was not kept whole."""
    text = body.get("text") if body and not body.get("truncated") else None
    if not text:
        return None
    try:
        return encodable(json.loads(text, parse_constant=_refuse))
    except (ValueError, RecursionError):
        return None


def _refuse(name: str) -> Any:
    raise ValueError(f"{name} is no JSON value")


_SHOWN_CHARACTERS = 20_000
_LINE_CHARACTERS = 2_000


def heading(exchange: RecordedExchange) -> str:
    """Return one line that tells exchanges apart: operation, role, realm, status and duration."""
    status = exchange.response["status"] if exchange.response else "no response"
    what = f"{exchange.operation or exchange.request['method']} as {exchange.role or 'nobody'}"
    return f"{what} in {exchange.realm}: {status}, {exchange.seconds * 1000:.0f} ms"


def request_text(exchange: RecordedExchange, limit: int = _SHOWN_CHARACTERS) -> str:
    """Return the request line, headers and body, the body cut after `limit` characters."""
    request = exchange.request
    return _message(f"{request['method']} {request['url']} HTTP/{version(request)}", request, limit)


def response_text(exchange: RecordedExchange, limit: int = _SHOWN_CHARACTERS) -> str:
    """Return the status line, headers and body of the response, or the fault in its place."""
    if exchange.response is None:
        return printable(f"no response: {exchange.fault or 'the connection ended without one'}")
    response = exchange.response
    text = _message(f"{response['status']} {response['reason'] or ''}".rstrip(), response, limit)
    if exchange.fault is None:
        return text
    return f"{text}\n\n(taken for a fault of the environment: {printable(exchange.fault)})"


def transcript(exchange: RecordedExchange) -> str:
    """Return the whole exchange as text."""
    return f"{heading(exchange)}\n\n{request_text(exchange)}\n\n{response_text(exchange)}\n"


def version(request: Mapping[str, Any]) -> str:
    """Return the HTTP version as a bare number, whichever way the client wrote it."""
    return str(request.get("http_version") or "1.1").upper().removeprefix("HTTP/")


def header(headers: Iterable[Iterable[str]], name: str) -> str | None:
    """Return the first value of a header, its name in any case, or None."""
    return next((value for key, value in headers if key.lower() == name), None)


def body_text(body: Mapping[str, Any] | None, limit: int = _SHOWN_CHARACTERS) -> str:
    """Return a body for people: JSON indented, binary content named by size, long content cut and marked."""
    if not body or not body.get("size"):
        return ""
    text = body.get("text")
    if text is None:
        return f"({body['size']} bytes of binary content, sha256 {body.get('sha256')})"
    shown = _indented(text) if not body.get("truncated") else text
    cut = shown[:limit]
    note = f"\n(cut; {body['size']} bytes in all)" if body.get("truncated") or len(cut) < len(shown) else ""
    return cut + note


def _indented(text: str) -> str:
    if not text.lstrip().startswith(("{", "[")):
        return text
    try:
        # What Python reads more leniently than JSON, or only nearly, is shown as it came.
        return json.dumps(json.loads(text), indent=2, ensure_ascii=False, allow_nan=False)
    except (ValueError, RecursionError):
        return text


def _message(first: str, message: Mapping[str, Any], limit: int) -> str:
    headers = [_short(f"{name}: {value}") for name, value in message["headers"]]
    return printable("\n".join([_short(first), *headers, "", body_text(message["body"], limit)]).rstrip())


def _short(line: str) -> str:
    return line if len(line) <= _LINE_CHARACTERS else f"{line[:_LINE_CHARACTERS]}… ({len(line)} characters)"
