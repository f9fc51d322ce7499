"""The connection: paths as they came over the wire, and refusals in JSON even for broken HTTP."""

import asyncio
import json
from typing import Final

import h11
from starlette.types import ASGIApp, Receive, Scope, Send
from uvicorn.protocols.http.h11_impl import H11Protocol


class RawPaths:
    """Routes by the path as it was sent, so that an encoded slash stays inside its segment.

    Path parameters arrive percent-encoded at the operations, which decode them exactly once.

    Args:
        app: the application behind it.

    """

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass one request on (ASGI)."""
        if scope["type"] == "http" and scope.get("raw_path") is not None:
            scope = {**scope, "path": scope["raw_path"].decode("latin-1")}
        await self.app(scope, receive, send)


#: How long a refused sender may go on sending before the connection is closed on it.
LINGER_SECONDS: Final = 2.0
#: Where a request's ``state`` holds the connection it came over.
TRANSPORT: Final = "transport"


class JsonRefusals(H11Protocol):
    """HTTP/1.1 as uvicorn speaks it, but what is no HTTP at all is refused in JSON too."""

    _refused = False

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Take a connection, and let its requests know it."""
        super().connection_made(transport)
        self.app_state = {**self.app_state, TRANSPORT: transport}

    def data_received(self, data: bytes) -> None:
        """Take what arrives; after a refusal it is thrown away."""
        if not self._refused:
            super().data_received(data)

    def send_400_response(self, msg: str) -> None:
        """Refuse bytes that are no HTTP request and close the connection."""
        body = json.dumps({"statusCode": 400, "message": msg}).encode()
        headers = [
            (b"content-type", b"application/json"),
            (b"content-length", str(len(body)).encode()),
            (b"connection", b"close"),
        ]
        response = h11.Response(status_code=400, headers=headers, reason=b"Bad Request")
        for event in (response, h11.Data(data=body), h11.EndOfMessage()):
            self.transport.write(self.conn.send(event) or b"")
        self._refused = True
        # Closed at once, with bytes still arriving, the connection would be reset, and the refusal lost on its way.
        self.transport.write_eof()
        self.loop.call_later(LINGER_SECONDS, self.transport.close)
