"""Network faults, on the command line ``--weather``: what happens to requests and answers on their way.

A message comes late, broken or not at all, or a gateway answers. The service itself does not change, and the faithful
code does not import this module. Each network fault is a function over one ``Meeting`` and a row of ``ALL``.
"""

import asyncio
import math
import random
import socket
import struct
import time
from collections.abc import Awaitable, Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Final

import uvicorn
from starlette.applications import Starlette
from starlette.responses import Response

from registry_contracts.errors import UsageError, suggestion
from registry_contracts.sandbox.faults.messages import Asked, Between
from registry_contracts.sandbox.http import TRANSPORT
from registry_contracts.sandbox.responses import JSON

_AT_ONCE = struct.pack("ii", 1, 0)


def _drop(transport: asyncio.Transport | None) -> None:
    """Reset a connection: the client learns of it at once and gets nothing more."""
    if transport is None or transport.is_closing():
        return
    wire = transport.get_extra_info("socket")
    wire.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _AT_ONCE)
    transport.abort()


_BACKLOG = 2048


class Gate:
    """Refuses connections for a while, like a server that is down or restarting.

    Without ``stand_before`` it does nothing.
    """

    def __init__(self) -> None:
        self._server: uvicorn.Server | None = None
        self._listener: socket.socket | None = None
        self._spare: socket.socket | None = None
        self._reopening: asyncio.Task[None] | None = None

    def stand_before(self, server: uvicorn.Server, listener: socket.socket) -> None:
        """Take over the socket that a server is about to listen on."""
        self._server, self._listener = server, listener

    def shut(self, seconds: float | None = None) -> None:
        """Drop all connections and refuse new ones, for some seconds or for ever. Call it in the server's loop."""
        if self._server is None or self._listener is None or self._spare is not None:
            return
        self._spare = _holding_address_of(self._listener)
        for listening in self._server.servers:
            listening.close()
        for connection in list(self._server.server_state.connections):
            _drop(getattr(connection, "transport"))  # noqa: B009 - both of uvicorn's protocols have one
        if seconds is not None:
            self._reopening = asyncio.get_running_loop().create_task(self._open(seconds))

    def close(self) -> None:
        """Release the port after the server has ended."""
        if self._spare is not None:
            self._spare.close()

    async def _open(self, seconds: float) -> None:
        await asyncio.sleep(seconds)
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
    """Return a socket that holds the same address without listening, so that no other process takes the port."""
    spare = socket.socket(listener.family, listener.type)
    spare.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)  # as the server does with the first
    for option in (socket.SO_REUSEADDR, socket.SO_REUSEPORT):
        listener.setsockopt(socket.SOL_SOCKET, option, 1)
        spare.setsockopt(socket.SOL_SOCKET, option, 1)
    spare.bind(listener.getsockname())
    return spare


Figures = Mapping[str, float | str]


def _transport(asked: Asked) -> asyncio.Transport | None:
    """The connection over which a request came."""
    transport: asyncio.Transport | None = asked.scope.get("state", {}).get(TRANSPORT)
    return transport


async def _gone(asked: Asked) -> None:
    """Wait until the client disconnects."""
    while (await asked.receive())["type"] != "http.disconnect":
        pass


async def _reset(asked: Asked) -> None:
    """Reset the connection in place of an answer."""
    _drop(_transport(asked))
    await _gone(asked)


async def _page(asked: Asked, status: int, title: str, again: float | None = None) -> None:
    """Answer with an HTML page, as gateways do."""
    body = f"<!DOCTYPE html>\n<html><head><title>{title}</title></head><body><h1>{title}</h1></body></html>\n"
    await _reply(asked, status, "text/html; charset=utf-8", body, again)


async def _reply(asked: Asked, status: int, kind: str, body: str, again: float | None = None) -> None:
    """Answer in place of the service; ``again``: seconds of Retry-After."""
    later = {} if again is None else {"Retry-After": f"{again:.0f}"}
    await asked.respond(Response(body, status, {"Content-Type": kind, **later}))


class Meeting:
    """One network fault before an application; ``met`` counts its requests.

    Args:
        figures: How strong the network fault is, by name.
        seed: The same seed and order of requests give the same faults.
    """

    def __init__(self, fault: "NetworkFault", figures: Figures, gate: Gate, seed: int) -> None:
        self.fault, self.figures, self.gate = fault, figures, gate
        # Each network fault has its own random numbers, so that others do not change it.
        self.chance = random.Random(f"{seed} {fault.name}")  # noqa: S311 - nothing secret
        self.met = 0
        self.until: float | None = None
        self.left, self.since = float(figures.get("burst", 0)), time.monotonic()

    def __getitem__(self, name: str) -> float:
        """Return a figure that is a number."""
        return float(self.figures[name])

    def strikes(self, share: str = "share") -> bool:
        """Draw whether the fault strikes, with the probability of a figure."""
        return self.chance.random() < self[share]

    async def meet(self, asked: Asked) -> None:
        """Answer one request."""
        self.met += 1
        strikes = "share" not in self.figures or self.strikes()
        await (self.fault.act(self, asked) if strikes else asked.passes())


@dataclass(frozen=True)
class NetworkFault:
    """One network fault.

    Attributes:
        act: Answers one request.
        figures: How strong it is by default, by name; with ``share`` it strikes only this share of the requests.
        passable: Whether a run over the faithful service passes, because polite retries get through; else it is
            inconclusive.
    """

    name: str
    sentence: str
    act: Callable[[Meeting, Asked], Awaitable[None]]
    figures: Figures
    passable: bool = True


async def _latency(meeting: Meeting, asked: Asked) -> None:
    await asyncio.sleep(meeting["seconds"])
    await asked.passes()


async def _sporadic_503(meeting: Meeting, asked: Asked) -> None:
    if meeting.chance.random() < 0.5:
        await _page(asked, 503, "Service Temporarily Unavailable", meeting["retry_after"])
    else:
        await _reply(asked, 503, JSON, '{"message":"try again later"}', meeting["retry_after"])


async def _rate_limit(meeting: Meeting, asked: Asked) -> None:
    now = time.monotonic()
    gained = (now - meeting.since) * meeting["per_second"]
    meeting.left, meeting.since = min(meeting["burst"], meeting.left + gained), now
    if meeting.left >= 1:
        meeting.left -= 1
        await asked.passes()
    else:
        await _reply(asked, 429, JSON, '{"message":"too many requests"}', meeting["retry_after"])


async def _gateway_html(meeting: Meeting, asked: Asked) -> None:
    if meeting.chance.random() < 0.5:
        # The gateway lost the answer, not the request.
        await asked.answered()
    bad = meeting.chance.random() < 0.5
    await (_page(asked, 502, "502 Bad Gateway") if bad else _page(asked, 504, "504 Gateway Time-out"))


async def _lost_route(_: Meeting, asked: Asked) -> None:
    await _page(asked, 404, "404 Not Found")


async def _empty_answers(meeting: Meeting, asked: Asked) -> None:
    lost: tuple[int, dict[str, str]] = (200, {"Content-Type": JSON})
    challenge = (202, {"Content-Type": "text/html", "x-amzn-waf-action": "challenge"})
    status, headers = lost if meeting.chance.random() < 0.5 else challenge
    await asked.respond(Response("", status, headers))


#: Parts of a body that filters take for an attack.
_SUSPICIOUS: Final = (b"<", b"../")


async def _filter(_: Meeting, asked: Asked) -> None:
    body = await asked.body()
    if any(part in body for part in _SUSPICIOUS):
        await _page(asked, 403, "Request Rejected")
    else:
        await asked.answer(await asked.answered(body))


async def _maintenance(meeting: Meeting, asked: Asked) -> None:
    if meeting.until is None and meeting.met >= meeting["from_request"]:
        meeting.until = time.monotonic() + meeting["seconds"]
    if meeting.until is not None and time.monotonic() < meeting.until:
        await _page(asked, 200, "We are down for maintenance and will be back in a moment")
    else:
        await asked.passes()


async def _resets(meeting: Meeting, asked: Asked) -> None:
    if meeting.strikes("after"):
        await asked.answered()
    await _reset(asked)


async def _truncated(_: Meeting, asked: Asked) -> None:
    got = await asked.answered()
    # The answer to a HEAD has no body that could break off.
    if asked.scope["method"] == "HEAD" or not got.body:
        await asked.answer(got)
        return
    await asked.send({"type": "http.response.start", "status": got.status, "headers": list(got.headers)})
    half = got.body[: len(got.body) // 2]
    await asked.send({"type": "http.response.body", "body": half, "more_body": True})
    if transport := _transport(asked):
        transport.close()
    await _gone(asked)


async def _outage(meeting: Meeting, asked: Asked) -> None:
    if meeting.met < meeting["from_request"]:
        await asked.passes()
        return
    meeting.gate.shut()
    await _reset(asked)


async def _restart(meeting: Meeting, asked: Asked) -> None:
    if meeting.met % meeting["every"]:
        await asked.passes()
        return
    asked.scope["app"].state.service.identity.forget()
    meeting.gate.shut(meeting["seconds"])
    await _reset(asked)


async def _hanging(meeting: Meeting, asked: Asked) -> None:
    operation = asked.operation.id if asked.operation else None
    due = meeting.met >= meeting["from_request"] and operation == meeting.figures["operation"]
    await (_gone(asked) if due else asked.passes())


# fmt: off
#: Every network fault by its name.
ALL: Final = {fault.name: fault for fault in (
    NetworkFault("latency", "Every answer takes a while longer.", _latency, {"seconds": 0.05}),
    NetworkFault("sporadic-503",
            "Now and then a request is answered 503 with Retry-After before it reaches the service.",
            _sporadic_503, {"share": 0.02, "retry_after": 1}),
    NetworkFault("rate-limit", "Requests above a rate are answered 429 with Retry-After.",
            _rate_limit, {"per_second": 60, "burst": 60, "retry_after": 1}),
    NetworkFault("gateway-html",
            "Now and then a gateway answers with an HTML page, 502 or 504, before or after the request was done.",
            _gateway_html, {"share": 0.02}),
    NetworkFault("lost-route", "Now and then a gateway knows no route and answers with an HTML page, 404.",
            _lost_route, {"share": 0.01}),
    NetworkFault("maintenance",
            "From some request on, everything is answered 200 with a maintenance page, for a few seconds.",
            _maintenance, {"from_request": 100, "seconds": 6}),
    NetworkFault("empty-answers",
            "Now and then an answer is empty: its body was lost, 200, or a filter asks who is there, 202.",
            _empty_answers, {"share": 0.03}),
    NetworkFault("filter", "A filter answers what looks like an attack in a body with an HTML page, 403.",
            _filter, {}, passable=False),
    NetworkFault("resets", "Now and then the connection is reset, before the request was done or after.",
            _resets, {"share": 0.02, "after": 0.5}),
    NetworkFault("truncated", "Now and then the body of an answer breaks off in its middle.",
            _truncated, {"share": 0.02}),
    NetworkFault("outage-from-start", "The service is down from the first request on.",
            _outage, {"from_request": 1}, passable=False),
    NetworkFault("outage-midway", "From some request on the service is down, for good.",
            _outage, {"from_request": 300}, passable=False),
    NetworkFault("restart", "Every so often the server restarts: connections drop, new ones are refused for a moment, "
            "tokens are forgotten, data is kept.",
            _restart, {"every": 400, "seconds": 1.5}),
    NetworkFault("hanging-operation", "One operation never answers.",
            _hanging, {"operation": "getDraftInfo", "from_request": 0}, passable=False),
)}
# fmt: on


def lay_over(app: Starlette, texts: Iterable[str], seed: int) -> Gate:
    """Put network faults before an application that has not started yet; requests meet the first one first.

    Args:
        texts: From the command line: ``NAME``, ``NAME:FIGURE=VALUE:…``, several with commas between.

    Raises:
        UsageError: a name or a figure is unknown, or its value cannot be used; the line suggests another.
    """
    gate = Gate()
    parts = [part.strip() for text in texts for part in text.split(",") if part.strip()]
    for fault, figures in reversed([_read(part) for part in parts]):
        # Starlette puts it in front of all middleware that is there already.
        app.add_middleware(Between, act=Meeting(fault, figures, gate, seed).meet)
    return gate


def _read(text: str) -> tuple[NetworkFault, Figures]:
    name, *settings = text.split(":")
    if name not in ALL:
        raise UsageError(f"unknown network fault '{name}'; {suggestion(name, ALL)}")
    fault = ALL[name]
    return fault, {**fault.figures, **dict(_figure(fault, setting) for setting in settings)}


def _figure(fault: NetworkFault, setting: str) -> tuple[str, float | str]:
    name, _, value = setting.partition("=")
    if name not in fault.figures:
        figures = ", ".join(fault.figures)
        raise UsageError(f"the network fault '{fault.name}' has no figure '{name}'; it has: {figures}")
    if isinstance(fault.figures[name], str):
        return name, value
    try:
        number = float(value)
    except ValueError:
        number = math.nan
    if not (math.isfinite(number) and number >= 0):
        raise UsageError(f"{fault.name}:{name} must be a number of 0 or more, not '{value}'")
    return name, number


def figures_text(fault: NetworkFault) -> str:
    """Return the figures of a network fault as the command line takes them."""
    return ":".join(f"{name}={value}" for name, value in fault.figures.items())
