"""Weather: what an environment is, what it does to connections and answers, and the gate of the listening socket."""

import asyncio
import random
import socket
import struct
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

import uvicorn
from starlette.applications import Starlette
from starlette.routing import Match
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from contracts.sandbox.http_requests import TRANSPORT
from contracts.sandbox.service import Service

_AT_ONCE = struct.pack("ii", 1, 0)


def drop(transport: asyncio.Transport | None) -> None:
    """Reset a connection: the client learns of it at once and gets nothing more."""
    if transport is None or transport.is_closing():
        return
    wire = transport.get_extra_info("socket")
    wire.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _AT_ONCE)
    transport.abort()


def transport_of(scope: Scope) -> asyncio.Transport | None:
    """Return the connection that a request came over, where the server tells it."""
    transport: asyncio.Transport | None = scope.get("state", {}).get(TRANSPORT)
    return transport


async def reset(scope: Scope, receive: Receive) -> None:
    """Reset the connection of a request in place of an answer."""
    drop(transport_of(scope))
    await gone(receive)


async def gone(receive: Receive) -> None:
    """Wait until the client is gone."""
    while (await receive())["type"] != "http.disconnect":
        pass


async def discard(_message: Message) -> None:
    """Take an answer that no client gets."""


async def page(send: Send, status: int, title: str, *headers: tuple[bytes, bytes]) -> None:
    """Answer with an HTML page, as gateways do."""
    body = f"<!DOCTYPE html>\n<html><head><title>{title}</title></head><body><h1>{title}</h1></body></html>\n"
    await reply(send, status, b"text/html; charset=utf-8", body.encode(), *headers)


async def reply(send: Send, status: int, kind: bytes, body: bytes, *headers: tuple[bytes, bytes]) -> None:
    """Answer in place of the service."""
    length = str(len(body)).encode()
    named: list[Any] = [(b"content-type", kind), (b"content-length", length), *headers]
    await send({"type": "http.response.start", "status": status, "headers": named})
    await send({"type": "http.response.body", "body": body})


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
        self._spare = _holding_address_of(self._listener)
        for listening in self._server.servers:
            listening.close()
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


def _holding_address_of(listener: socket.socket) -> socket.socket:
    """Return a socket that holds the same address without listening: no other process takes the port meanwhile."""
    spare = socket.socket(listener.family, listener.type)
    spare.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)  # as the server does with the first
    for option in (socket.SO_REUSEADDR, socket.SO_REUSEPORT):
        listener.setsockopt(socket.SOL_SOCKET, option, 1)
        spare.setsockopt(socket.SOL_SOCKET, option, 1)
    spare.bind(listener.getsockname())
    return spare


Figure = float | str
Figures = Mapping[str, Figure]

PASSES: Final = "pass"
"""Polite retry gets through."""
STANDS_IN_THE_WAY: Final = "inconclusive"
"""The service cannot be judged in it."""


class Environment:
    """What the weathers over one sandbox share.

    Args:
        app: the sandbox.
        seed: makes chance the same again, as long as requests arrive in the same order.

    """

    def __init__(self, app: Starlette, seed: int) -> None:
        self.app = app
        self.service: Service = app.state.service
        self.seed = seed
        self.gate = Gate()
        self.on_start: list[Callable[[], None]] = []

    def chance(self, name: str) -> random.Random:
        """Return a source of chance for one weather, so that others beside it change nothing for it."""
        return random.Random(f"{self.seed} {name}")  # noqa: S311 - nothing secret

    def operation(self, scope: Scope) -> str | None:
        """Return the operationId that a request is for, or ``None``."""
        unread = {**scope, "path": scope.get("raw_path", b"").decode("latin-1")}
        for route in self.app.routes:
            match, child = route.matches(unread)
            if match is Match.FULL:
                handler = child["endpoint"].handlers.get(scope["method"])
                return None if handler is None else str(handler[0])
        return None

    def begin(self) -> None:
        """Do what is to happen as soon as the server listens."""
        for act in self.on_start:
            act()


class WeatherLayer:
    """Base of the weathers: stands over an application and meets every request to it.

    Args:
        app: what stands below.
        environment: what it has in common with others.
        name: its name, for chance.
        figures: how strong it is.

    """

    def __init__(self, app: ASGIApp, environment: Environment, name: str, figures: Figures) -> None:
        self.app = app
        self.environment = environment
        self.chance = environment.chance(name)
        self.figures = figures
        self.met = 0
        self.prepare()

    def prepare(self) -> None:
        """Do once what is to be done before the first request."""

    def figure(self, name: str) -> float:
        """Return a figure that is a number."""
        return float(self.figures[name])

    def word(self, name: str) -> str:
        """Return a figure that is a word."""
        return str(self.figures[name])

    def strikes(self, share: str = "share") -> bool:
        """Tell whether chance has it that this request is met."""
        return self.chance.random() < self.figure(share)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request (ASGI)."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        self.met += 1
        await self.answer(scope, receive, send)

    async def answer(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one HTTP request; it is the ``met``-th."""
        await self.app(scope, receive, send)


@dataclass(frozen=True)
class Weather:
    """One environment.

    Attributes:
        name: its name on the command line.
        sentence: what happens in it.
        layer: stands over the application.
        figures: how strong it is, by name, where the command line says nothing else.
        expects: how a run over the faithful service ends in it.

    """

    name: str
    sentence: str
    layer: type[WeatherLayer]
    figures: Figures = field(default_factory=dict)
    expects: str = PASSES
