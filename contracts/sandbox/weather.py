"""Weather: the environments a faithful service may have to live in, each by its name.

A weather never changes what the service does, only what happens to a request or an answer on its way: it comes late,
broken, not at all, or something else stands in its place. ``ALL`` holds each by name; ``chosen_weather`` reads what the
command line asks for. The faithful code knows nothing of this module.
"""

import asyncio
import difflib
import math
import random
import socket
import struct
import textwrap
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from functools import partial
from typing import Any, Final

import uvicorn
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from contracts.errors import UsageError
from contracts.interface.description import load_description
from contracts.sandbox.app import Service
from contracts.sandbox.http import TRANSPORT

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
        match = load_description().match(scope["method"], scope.get("raw_path", b"").decode("latin-1"))
        return None if match is None else match[0].id

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
        layer: stands over the application.
        figures: how strong it is, by name, where the command line says nothing else.
        expects: how a run over the faithful service ends in it.

    """

    name: str
    sentence: str
    layer: type[WeatherLayer]
    figures: Figures = field(default_factory=dict)
    expects: str = PASSES


class _Latency(WeatherLayer):
    async def answer(self, scope: Scope, receive: Receive, send: Send) -> None:
        await asyncio.sleep(self.figure("seconds"))
        await self.app(scope, receive, send)


class _Jitter(WeatherLayer):
    async def answer(self, scope: Scope, receive: Receive, send: Send) -> None:
        usual = self.chance.uniform(0, self.figure("seconds"))
        await asyncio.sleep(self.figure("longest") if self.strikes() else usual)
        await self.app(scope, receive, send)


def _retry_after(seconds: float) -> tuple[bytes, bytes]:
    return b"retry-after", f"{seconds:.0f}".encode()


class _Sporadic503(WeatherLayer):
    async def answer(self, scope: Scope, receive: Receive, send: Send) -> None:
        if not self.strikes():
            await self.app(scope, receive, send)
            return
        again = _retry_after(self.figure("retry_after"))
        if self.chance.random() < 0.5:
            await page(send, 503, "Service Temporarily Unavailable", again)
        else:
            await reply(send, 503, b"application/json", b'{"message":"try again later"}', again)


class _RateLimit(WeatherLayer):
    def prepare(self) -> None:
        self._left = self.figure("burst")
        self._since = time.monotonic()

    async def answer(self, scope: Scope, receive: Receive, send: Send) -> None:
        now = time.monotonic()
        gained = (now - self._since) * self.figure("per_second")
        self._left, self._since = min(self.figure("burst"), self._left + gained), now
        if self._left >= 1:
            self._left -= 1
            await self.app(scope, receive, send)
            return
        again = _retry_after(self.figure("retry_after"))
        await reply(send, 429, b"application/json", b'{"message":"too many requests"}', again)


class _GatewayHtml(WeatherLayer):
    async def answer(self, scope: Scope, receive: Receive, send: Send) -> None:
        if not self.strikes():
            await self.app(scope, receive, send)
            return
        if self.chance.random() < 0.5:
            # The gateway lost the answer, not the request.
            await self.app(scope, receive, discard)
        if self.chance.random() < 0.5:
            await page(send, 502, "502 Bad Gateway")
        else:
            await page(send, 504, "504 Gateway Time-out")


class _LostRoute(WeatherLayer):
    async def answer(self, scope: Scope, receive: Receive, send: Send) -> None:
        if self.strikes():
            await page(send, 404, "404 Not Found")
        else:
            await self.app(scope, receive, send)


class _Maintenance(WeatherLayer):
    def prepare(self) -> None:
        self._until: float | None = None

    async def answer(self, scope: Scope, receive: Receive, send: Send) -> None:
        if self._until is None and self.met >= self.figure("from_request"):
            self._until = time.monotonic() + self.figure("seconds")
        if self._until is not None and time.monotonic() < self._until:
            await page(send, 200, "We are down for maintenance and will be back in a moment")
        else:
            await self.app(scope, receive, send)


_BODY = "http.response.body"


class _Resets(WeatherLayer):
    async def answer(self, scope: Scope, receive: Receive, send: Send) -> None:
        if not self.strikes():
            await self.app(scope, receive, send)
            return
        if self.strikes("after"):
            await self.app(scope, receive, discard)
        await reset(scope, receive)


class _Truncated(WeatherLayer):
    async def answer(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["method"] == "HEAD" or not self.strikes():
            await self.app(scope, receive, send)
            return
        cut = False

        async def halved(message: Message) -> None:
            nonlocal cut
            if message["type"] != _BODY or not message.get("body"):
                await send(message)
                return
            if not cut:
                cut = True
                body = message["body"]
                await send({"type": _BODY, "body": body[: len(body) // 2], "more_body": True})
                transport = transport_of(scope)
                if transport is not None:
                    transport.close()

        await self.app(scope, receive, halved)
        if cut:
            await gone(receive)


_REFUSED, _GATEWAY, _SILENT = "refused", "gateway", "silent"
_KINDS = (_REFUSED, _GATEWAY, _SILENT)
_FOREVER = 0


class _Outage(WeatherLayer):
    """Refused connections, a gateway's 503 in place of every answer, or no answer at all, as `as` says."""

    def prepare(self) -> None:
        if self.word("as") not in _KINDS:
            raise UsageError(f"an outage is known as {', '.join(_KINDS)}, not '{self.word('as')}'")
        self._until: float | None = None
        if self.figure("from_request") == 0:
            self.environment.on_start.append(self._begin)

    def _begin(self) -> None:
        seconds = self.figure("seconds") or None
        self._until = time.monotonic() + seconds if seconds else float("inf")
        if self.word("as") == _REFUSED:
            self.environment.gate.shut(seconds)

    async def answer(self, scope: Scope, receive: Receive, send: Send) -> None:
        if self._until is None and self.met >= self.figure("from_request"):
            self._begin()
        if self._until is None or time.monotonic() >= self._until:
            await self.app(scope, receive, send)
        elif self.word("as") == _GATEWAY:
            await page(send, 503, "503 Service Unavailable")
        elif self.word("as") == _SILENT:
            await gone(receive)
        else:
            await reset(scope, receive)


class _Restart(WeatherLayer):
    async def answer(self, scope: Scope, receive: Receive, send: Send) -> None:
        if self.met % self.figure("every"):
            await self.app(scope, receive, send)
            return
        if self.word("tokens") == "forgotten":
            self.environment.service.identity.tokens.forget()
        self.environment.gate.shut(self.figure("seconds"))
        await reset(scope, receive)


class _Hanging(WeatherLayer):
    async def answer(self, scope: Scope, receive: Receive, send: Send) -> None:
        if self.met >= self.figure("from_request") and self.environment.operation(scope) == self.word(
            "operation"
        ):
            await gone(receive)
        else:
            await self.app(scope, receive, send)


class _ShortTokens(WeatherLayer):
    def prepare(self) -> None:
        self.environment.service.identity.tokens.lifetime = timedelta(seconds=self.figure("seconds"))


WEATHERS = (
    Weather("latency", "Every answer takes a while longer.", _Latency, {"seconds": 0.05}),
    Weather(
        "jitter",
        "Answers take now more, now less time, and a few take long.",
        _Jitter,
        {"seconds": 0.06, "share": 0.01, "longest": 1.0},
    ),
    Weather(
        "sporadic-503",
        "Now and then a request is answered 503 with Retry-After and does not reach the service.",
        _Sporadic503,
        {"share": 0.02, "retry_after": 1},
    ),
    Weather(
        "rate-limit",
        "Requests above a rate are answered 429 with Retry-After.",
        _RateLimit,
        {"per_second": 60, "burst": 60, "retry_after": 1},
    ),
    Weather(
        "gateway-html",
        "Now and then a gateway answers with an HTML page, 502 or 504, before or after the request was done.",
        _GatewayHtml,
        {"share": 0.02},
    ),
    Weather(
        "lost-route",
        "Now and then a gateway knows no route and answers with an HTML page, 404.",
        _LostRoute,
        {"share": 0.01},
    ),
    Weather(
        "maintenance",
        "From some request on, everything is answered 200 with a maintenance page, for a few seconds.",
        _Maintenance,
        {"from_request": 100, "seconds": 6},
    ),
    Weather(
        "resets",
        "Now and then the connection is reset, before the request was done or after.",
        _Resets,
        {"share": 0.02, "after": 0.5},
    ),
    Weather(
        "truncated",
        "Now and then the body of an answer breaks off in its middle.",
        _Truncated,
        {"share": 0.02},
    ),
    Weather(
        "outage-from-start",
        "The service is down from the start.",
        _Outage,
        {"from_request": 0, "seconds": _FOREVER, "as": _REFUSED},
        STANDS_IN_THE_WAY,
    ),
    Weather(
        "outage-midway",
        "From some request on the service is down for good.",
        _Outage,
        {"from_request": 300, "seconds": _FOREVER, "as": _REFUSED},
        STANDS_IN_THE_WAY,
    ),
    Weather(
        "outage-ten-seconds",
        "From some request on the service is down for ten seconds.",
        _Outage,
        {"from_request": 100, "seconds": 10, "as": _REFUSED},
    ),
    Weather(
        "restart",
        "Every so often the server restarts: connections drop, new ones are refused for a moment, tokens are "
        "forgotten, data is kept.",
        _Restart,
        {"every": 400, "seconds": 1.5, "tokens": "forgotten"},
    ),
    Weather(
        "short-tokens",
        "Tokens die, as their expiration says, after five seconds.",
        _ShortTokens,
        {"seconds": 5},
    ),
    Weather(
        "hanging-operation",
        "One operation never answers.",
        _Hanging,
        {"operation": "getDraftInfo", "from_request": 0},
        STANDS_IN_THE_WAY,
    ),
)
"""Every weather, in the order of the list."""


ALL: dict[str, Weather] = {weather.name: weather for weather in WEATHERS}
"""Every weather by its name."""


@dataclass(frozen=True)
class ChosenWeather:
    """Weathers to come, each with its figures; the first is met first."""

    weathers: Sequence[tuple[Weather, Figures]] = ()

    def lay_over(self, app: Starlette, seed: int) -> Environment:
        """Put the weathers over an application that has not started yet.

        Args:
            app: the sandbox; its parts stand at ``app.state.service``.
            seed: seed of chance.

        Raises:
            UsageError: a figure cannot be used.

        """
        environment = Environment(app, seed)
        for weather, figures in reversed(self.weathers):
            make = partial(_make, weather=weather, figures=figures, environment=environment)
            # In front: nearer to the wire than everything that is there already.
            app.user_middleware.insert(0, Middleware(make))
        # Built now, so that a figure that cannot be used is refused before anything starts.
        app.middleware_stack = app.build_middleware_stack()
        return environment


def _make(app: ASGIApp, *, weather: Weather, figures: Figures, environment: Environment) -> ASGIApp:
    return weather.layer(app, environment, weather.name, figures)


def chosen_weather(texts: Iterable[str]) -> ChosenWeather:
    """Read weathers as the command line gives them.

    Args:
        texts: each ``NAME``, ``NAME:FIGURE=VALUE:…`` or several of them with commas between.

    Raises:
        UsageError: a name or a figure is unknown, or its value cannot be used; the line suggests another.

    """
    parts = [part.strip() for text in texts for part in text.split(",") if part.strip()]
    return ChosenWeather(tuple(_read(part) for part in parts))


def _read(text: str) -> tuple[Weather, Figures]:
    name, *settings = text.split(":")
    if name not in ALL:
        close = difflib.get_close_matches(name, ALL, n=1)
        hint = f"did you mean '{close[0]}'?" if close else "--weather list shows them all"
        raise UsageError(f"unknown weather '{name}'; {hint}")
    weather = ALL[name]
    return weather, {**weather.figures, **dict(_figure(weather, setting) for setting in settings)}


def _figure(weather: Weather, setting: str) -> tuple[str, Figure]:
    name, _, value = setting.partition("=")
    if name not in weather.figures:
        figures = ", ".join(weather.figures)
        raise UsageError(f"the weather '{weather.name}' has no figure '{name}'; it has: {figures}")
    if isinstance(weather.figures[name], str):
        return name, value
    try:
        number = float(value)
    except ValueError:
        number = math.nan
    if not (math.isfinite(number) and number >= 0):
        raise UsageError(f"{weather.name}:{name} must be a number of 0 or more, not '{value}'")
    return name, number


def figures_text(weather: Weather) -> str:
    """Return the figures of a weather as the command line would give them."""
    return ":".join(f"{name}={value}" for name, value in weather.figures.items())


def help_text() -> str:
    """Return every weather with its sentence and figures, as ``--weather list`` prints them."""
    lines = [
        "Weathers (what happens on the way to and from the service; NAME:FIGURE=VALUE sets a figure):",
        "",
    ]
    for weather in ALL.values():
        lines.append(f"  {weather.name}")
        for text in (weather.sentence, figures_text(weather)):
            lines += textwrap.wrap(text, 100, initial_indent=" " * 6, subsequent_indent=" " * 6)
    return "\n".join(lines) + "\n"
