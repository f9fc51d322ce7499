"""Parts of a recorded exchange, wherever it was recorded."""

from __future__ import annotations

import base64
import binascii
import json
from collections.abc import Mapping
from typing import Any, Final
from urllib.parse import urlsplit

from contracts.checking.request_facts import ROOT
from contracts.evidence.record import RecordedExchange

#: A longer body was never kept, and is not made up again.
MOST_FILLED: Final = 64 * 1024**2


def path_of(url: str) -> str:
    """The raw path from the interface's root on."""
    path = urlsplit(url).path
    return path[max(path.find(ROOT), 0) :]


def text_of(body: Mapping[str, Any] | None) -> str | None:
    """The text of a body; bytes that are no text one character each; None for no body."""
    if not body:
        return None
    if body.get("text") is not None:
        return str(body["text"])
    if body.get("base64") is not None:
        try:
            return base64.b64decode(str(body["base64"])).decode("latin-1")
        except (binascii.Error, ValueError):
            return ""
    return None


def content_of(body: Mapping[str, Any] | None, text: str | None) -> bytes | None:
    """The bytes to send for a body whose text may have been changed; what was cut off is filled up to its size."""
    if not body or text is None:
        return None
    content = text.encode("latin-1") if body.get("text") is None else text.encode("utf-8", "surrogatepass")
    size = int(body.get("size") or 0)
    if body.get("truncated") and len(content) < size <= MOST_FILLED:
        content = _completed(content, size)
    return content


def _completed(content: bytes, size: int) -> bytes:
    """A body that was cut, filled up to its size; JSON that was cut within a text is JSON again."""
    closing = _closing(content)
    if closing is None:
        return content + b"x" * (size - len(content))
    return content + b"x" * max(0, size - len(content) - len(closing)) + closing


def _closing(content: bytes) -> bytes | None:
    """What closes JSON that ends within a text; None for anything else."""
    if content[:1] not in (b"{", b"["):
        return None
    closers: list[bytes] = []
    at, end, inside = 0, len(content), False
    while at < end:
        sign = content[at : at + 1]
        if inside and sign == b"\\":
            at += 1
        elif sign == b'"':
            inside = not inside
        elif not inside and sign in (b"{", b"["):
            closers.append(b"}" if sign == b"{" else b"]")
        elif not inside and sign in (b"}", b"]") and closers:
            closers.pop()
        at += 1
    # A text cut behind a backslash, or in the middle of a character, would not be the same text.
    return b'"' + b"".join(reversed(closers)) if inside and at == end else None


def json_of(body: Mapping[str, Any] | None) -> Any:
    """A body as JSON; None when it is none."""
    text = text_of(body)
    try:
        return json.loads(text) if text else None
    except (ValueError, RecursionError):
        return None


def header_of(exchange: RecordedExchange, name: str) -> str | None:
    """A header of the request, its name in any case."""
    found = (value for key, value in exchange.request["headers"] if key.lower() == name.lower())
    return next(found, None)


def status_of(exchange: RecordedExchange) -> int | None:
    """The status of the answer; None for none."""
    return int(exchange.response["status"]) if exchange.response else None
