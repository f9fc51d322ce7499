"""Responses and exchanges made without a service."""

from collections.abc import Mapping
from typing import Any

from contracts.exchanges.exchange import Body, Exchange, Headers, Response

URL = "http://127.0.0.1/"


def response(
    status: int = 200, content: bytes = b"", headers: Mapping[str, str] | None = None, reason: str = ""
) -> Response:
    """A response whose body is known as a whole."""
    return Response(status, reason, Headers(headers or {}), Body.of(content), URL)


def exchange(
    answer: Response | None = None,
    request_headers: Mapping[str, str] | None = None,
    request_body: bytes | None = None,
    **parts: Any,
) -> Exchange:
    """An exchange of the author in one realm; `parts` take the place of what is usual."""
    usual: dict[str, Any] = {"id": "main-1", "case": "c", "realm": "abs-dev", "role": "author"}
    usual |= {"operation": "getDraft", "method": "GET", "url": URL, "response": answer}
    headers, body = Headers(request_headers or {}), Body.of(request_body or b"")
    return Exchange(request_headers=headers, request_body=body, **(usual | parts))
