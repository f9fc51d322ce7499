"""The gate: the listening socket of a running server, which can be shut and opened again on the same port."""

import asyncio
import socket
from typing import Any

import uvicorn

from contracts.sandbox.weather.wire import drop

_BACKLOG = 2048


class Gate:
    """Refuses connections for a while: as a server does that is down, or not up again yet.

    Does nothing before ``stand_before`` was called, so an application served in another way has no gate to shut.
    """

    def __init__(self) -> None:
        self._server: uvicorn.Server | None = None
        self._listener: socket.socket | None = None
        self._spare: socket.socket | None = None
        self._tasks: set[asyncio.Task[None]] = set()

    def stand_before(self, server: uvicorn.Server, listener: socket.socket) -> None:
        """Take charge of the socket that a server is about to listen on."""
        self._server, self._listener = server, listener

    def shut(self, seconds: float | None = None) -> None:
        """Drop every connection and refuse new ones; called in the server's own loop.

        Args:
            seconds: after which the gate opens again; ``None`` for never.

        """
        if self._server is None or self._listener is None or self._spare is not None:
            return
        self._spare = _beside(self._listener)
        for each in self._server.servers:
            each.close()
        for connection in list(self._server.server_state.connections):
            drop(getattr(connection, "transport"))  # noqa: B009 - both of uvicorn's protocols have one
        if seconds is not None:
            asyncio.get_running_loop().call_later(seconds, self._open_soon)

    def close(self) -> None:
        """Give the port up; called when the server has ended."""
        if self._spare is not None:
            self._spare.close()

    def _open_soon(self) -> None:
        task = asyncio.get_running_loop().create_task(self._open())
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _open(self) -> None:
        server, spare = self._server, self._spare
        if server is None or spare is None or server.should_exit:
            return
        spare.listen(_BACKLOG)
        loop = asyncio.get_running_loop()
        server.servers = [await loop.create_server(lambda: _connection(server), sock=spare, backlog=_BACKLOG)]
        self._listener, self._spare = spare, None


def _connection(server: uvicorn.Server) -> asyncio.Protocol:
    protocol: Any = server.config.http_protocol_class
    made: asyncio.Protocol = protocol(
        config=server.config, server_state=server.server_state, app_state=server.lifespan.state
    )
    return made


def _beside(listener: socket.socket) -> socket.socket:
    """Return a socket that holds the same address without listening, so that nobody else takes the port meanwhile."""
    spare = socket.socket(listener.family, listener.type)
    spare.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)  # as the server does with the first
    for option in (socket.SO_REUSEADDR, socket.SO_REUSEPORT):
        listener.setsockopt(socket.SOL_SOCKET, option, 1)
        spare.setsockopt(socket.SOL_SOCKET, option, 1)
    spare.bind(listener.getsockname())
    return spare
