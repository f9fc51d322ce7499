"""Responses and exchanges made without a service."""

import json
from collections.abc import Mapping
from typing import Any

from registry_contracts.exchanges.exchange import Body, Exchange, Headers, Response
from registry_contracts.session.ledger import Ledger
from registry_contracts.session.pipeline import Request

URL = "http://127.0.0.1/"


def response(
    status: int = 200, content: bytes = b"", headers: Mapping[str, str] | None = None, reason: str = ""
) -> Response:
    """A response whose body is known as a whole."""
    return Response(status, reason, Headers(headers or {}), Body.of(content), URL)


def answer(body: Any = None, status: int = 200, media: str = "application/json", **headers: str) -> Response:
    """A response with a body of JSON; bytes stay as they are, and None is an empty body."""
    content = body if isinstance(body, bytes) else b"" if body is None else json.dumps(body).encode()
    return response(status, content, {"content-type": media, **headers})


def exchange(
    answer: Response | None = None,
    operation: str | None = "getDraft",
    request_headers: Mapping[str, str] | None = None,
    request_body: bytes | None = None,
    **parts: Any,
) -> Exchange:
    """An exchange of the author in one realm; `parts` take the place of what is usual."""
    usual: dict[str, Any] = {"id": "main-1", "case": "c", "realm": "abs-dev", "role": "author"}
    usual |= {"operation": operation, "method": "GET", "url": URL, "response": answer}
    headers, body = Headers(request_headers or {}), Body.of(request_body or b"")
    return Exchange(request_headers=headers, request_body=body, **(usual | parts))


def write(operation: str, identifier: str, **parts: Any) -> Request:
    """A write of the author's in one realm; `parts` take the place of what is usual."""
    usual: dict[str, Any] = {
        "realm": "abs-dev",
        "role": "author",
        "identifiers": tuple(filter(None, [identifier])),
    }
    return Request(operation, "POST", URL, {}, **(usual | parts))


def settled(ledger: Ledger, operation: str, identifier: str, state: Any = "created", **parts: Any) -> None:
    """Write down in a ledger that such a write was intended, and what became of it."""
    entry = ledger.intend(write(operation, identifier, **parts))
    assert entry is not None
    if state != "intended":
        ledger.settle(entry, state)
