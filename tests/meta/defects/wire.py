"""One sandbox in this process, and requests to it without a socket."""

import asyncio
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from starlette.applications import Starlette

PATIENCE = 3.0
"""Seconds after which a request counts as never answered."""


@dataclass(frozen=True)
class Answer:
    """What came back: status, headers (names in lower case) and body."""

    status: int
    headers: dict[str, str]
    body: bytes

    @property
    def json(self) -> Any:
        """The body as JSON; ``None`` when it is not."""
        try:
            return json.loads(self.body)
        except ValueError:
            return None

    @property
    def text(self) -> str:
        """The body as text."""
        return self.body.decode("utf-8", "replace")

    @property
    def ok(self) -> bool:
        """It is a success."""
        return 200 <= self.status < 300

    @property
    def refused(self) -> bool:
        """It is a refusal."""
        return 400 <= self.status < 500


@dataclass
class Request:
    """A request about to be sent; path and query are written as they go over the wire."""

    method: str
    path: str
    query: str = ""
    headers: dict[str, str] = field(default_factory=dict)
    body: bytes = b""
    announced: bool = True


class Wire:
    """Sends requests to an application.

    Args:
        app: the application; its service is started here.

    """

    def __init__(self, app: Starlette) -> None:
        self.app = app
        self.runner = asyncio.Runner()
        app.state.service.start()

    def close(self) -> None:
        """Close the sandbox."""
        self.app.state.service.close()
        self.runner.close()

    def send(self, request: Request) -> Answer:
        """Send a request and wait for its answer.

        Raises:
            TimeoutError: there was none within the patience.

        """
        return self.runner.run(asyncio.wait_for(self._sent(request), PATIENCE))

    async def _sent(self, request: Request) -> Answer:
        said: list[Mapping[str, Any]] = []
        pieces = [request.body]

        async def receive() -> dict[str, Any]:
            if pieces:
                return {"type": "http.request", "body": pieces.pop(), "more_body": False}
            # The client is still there and says nothing more.
            await asyncio.Event().wait()
            return {"type": "http.disconnect"}

        async def send(message: Mapping[str, Any]) -> None:
            said.append(message)

        await self.app(self._scope(request), receive, send)
        headers = {name.decode(): value.decode() for name, value in said[0]["headers"]}
        return Answer(said[0]["status"], headers, b"".join(part.get("body", b"") for part in said[1:]))

    def _scope(self, request: Request) -> dict[str, Any]:
        headers = {name.lower(): value for name, value in request.headers.items()}
        if request.announced and request.body:
            headers["content-length"] = str(len(request.body))
        return {
            "type": "http",
            "asgi": {"version": "3.0", "spec_version": "2.4"},
            "http_version": "1.1",
            "method": request.method,
            "path": request.path,
            "raw_path": request.path.encode("ascii"),
            "query_string": request.query.encode("ascii"),
            "headers": [(name.encode(), value.encode("latin-1")) for name, value in headers.items()],
            "scheme": "http",
            "server": ("127.0.0.1", 80),
            "client": ("127.0.0.1", 1),
            "root_path": "",
        }
