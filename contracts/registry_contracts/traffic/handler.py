"""Handles the proxy's requests: passes them and their answers on unchanged, and hands over copies to be judged."""

from __future__ import annotations

import re
import time
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from itertools import count
from typing import Final
from urllib.parse import urlsplit

from aiohttp import web
from aiohttp.typedefs import Handler
from multidict import CIMultiDict

from registry_contracts.exchanges.exchange import Body, Exchange, Headers, Response
from registry_contracts.interface.cross_origin import PREFIX, AllowedOrigins, is_preflight
from registry_contracts.safe_text import plain_line
from registry_contracts.settings.guard import GuardViolation
from registry_contracts.traffic.overlaps import Overlaps
from registry_contracts.traffic.relay import Pairs, Relay, RelayFault, TargetResponse, decoded
from registry_contracts.traffic.report import BY_HAND

#: Longest body, in bytes, that is kept to be judged.
_LARGEST_COPY: Final = 1024 * 1024
#: This header marks an answer as the proxy's own (RFC 9209).
OWN: Final = "Proxy-Status"
#: aiohttp's server adds these to every answer.
_ADDED: Final = ("Date", "Server", "Content-Type")
#: Key under which an answer of the service keeps the names of its headers, in lower case.
_GIVEN: Final = "given"
#: How aiohttp's server decodes bytes of an address that are not UTF-8.
_NO_TEXT: Final = re.compile("[\udc80-\udcff]")
#: Case of an exchange that passed.
_CASE: Final = "through the proxy"
_OWN_NAMES: Final = frozenset({"127.0.0.1", "localhost", "::1"})
_OTHER_HOST: Final = "the Host header names another machine than this one; use localhost or 127.0.0.1"
_FORWARDS_NOT: Final = (
    "this proxy serves one target only; point the client's base address here, and name no HTTP proxy"
)
_GONE: Final = "the client went away before the answer ended"


class BodyCopy:
    """A copy of a body while it passes; of one that is too long only the size is kept."""

    def __init__(self) -> None:
        self._kept = bytearray()
        self._size = 0
        self.ended = False

    async def along(self, pieces: AsyncIterator[bytes]) -> AsyncIterator[bytes]:
        """Pass pieces on, and add each."""
        async for piece in pieces:
            self._size += len(piece)
            if self._size <= _LARGEST_COPY:
                self._kept += piece
            else:
                self._kept.clear()
            yield piece
        self.ended = True

    @property
    def body(self) -> Body:
        """The body; whole if all of it passed and was kept."""
        kept = self._size <= _LARGEST_COPY
        return Body(bytes(self._kept) if kept else b"", self._size, whole=kept and self.ended)


class Passing:
    """An exchange while it passes."""

    def __init__(self, exchange: Exchange) -> None:
        self.exchange = exchange
        self.sent, self.answered = BodyCopy(), BodyCopy()
        self.onward: TargetResponse | None = None
        exchange.fault = _GONE

    def complete(self) -> Exchange:
        """Fill in the exchange with what has passed."""
        # A target may answer before it has read the whole request.
        exchange, onward = self.exchange, self.onward
        exchange.request_body = self.sent.body
        if onward is not None and exchange.fault is None:
            headers, body = Headers(onward.headers), self.answered.body
            exchange.response = Response(onward.status, onward.reason, headers, body, exchange.url)
        return exchange


class ProxyHandler:
    """Handles the requests of the proxy.

    Args:
        base_url: The target's; exchanges are judged under this address.
        hand_over: Takes each exchange that has ended.
        origins: Pages of these origins may use the proxy; None leaves that to the target.
    """

    def __init__(
        self,
        relay: Relay,
        base_url: str,
        hand_over: Callable[[Exchange], None],
        origins: AllowedOrigins | None = None,
    ) -> None:
        self._relay = relay
        self._origins = origins
        self._base_url = base_url
        self._hand_over = hand_over
        self._numbers = count(1)
        self._overlaps = Overlaps()

    @web.middleware
    async def handle(self, request: web.Request, handler: Handler) -> web.StreamResponse:  # noqa: ARG002 - aiohttp's
        """Pass a request on; a refused request or a preflight request is answered here, and not judged."""
        if line := self._refusal(request):
            return _own_answer(403, line, "http_request_denied")
        headers = Headers(decoded(request.raw_headers))
        if self._origins is not None:
            if is_preflight(request.method, _lower(request)):
                status, allowed = self._origins.preflight(_lower(request))
                return web.Response(status=status, headers=allowed)
            # The target's client is the proxy, not a page.
            headers = Headers(pair for pair in headers.pairs if pair[0].lower() != "origin")
        with self._passing(request.method, raw_target(request), headers, _CASE) as passing:
            return await self._pass_on(request, passing)

    def _refusal(self, request: web.BaseRequest) -> str | None:
        """Return the reason to refuse a request; None if it is for this proxy."""
        host, raw = request.headers.get("Host"), request.raw_path
        if request.method == "CONNECT" or not (raw.startswith(("/", "*")) or self._leads_here(request)):
            return _FORWARDS_NOT
        # DNS rebinding: a page's own name was made to lead to this machine.
        if raw.startswith("/") and host is not None and not names_this_machine(host):
            return _OTHER_HOST
        for origin in request.headers.getall("Origin", ()):
            # Any page may send simple requests without reading the answer; they would be judged as the client's.
            if origin != f"http://{host}" and not (self._origins and self._origins.allows(origin)):
                return f"a page of {plain_line(origin)} asked; --cors with this origin lets its pages use the proxy"
        return None

    def _leads_here(self, request: web.BaseRequest) -> bool:
        """Whether an absolute address, as clients send it to an HTTP proxy, is the target's or this proxy's."""
        place = request.transport and request.transport.get_extra_info("sockname")
        try:
            asked = urlsplit(request.raw_path)
            here = names_this_machine(asked.netloc) and place and (asked.port or 80) == place[1]
        except ValueError:
            return False
        return bool(here) or asked.netloc.lower() == urlsplit(self._base_url).netloc

    async def send(self, method: str, target: str, headers: Pairs, content: bytes, role: str) -> Exchange:
        """Send a request from the page; it is judged like the others.

        Args:
            target: Path and query below the base URL.
            role: Whose credentials it carries.

        Raises:
            GuardViolation: the request must not be sent; nothing was.
            RelayFault: the target did not answer.
        """
        with self._passing(method, target, Headers(headers), BY_HAND, role) as passing:
            body = passing.sent.along(_whole(content)) if content else None
            passing.sent.ended = body is None
            try:
                async with self._relay.send(method, target, headers, body) as passing.onward:
                    async for _ in passing.answered.along(passing.onward.body):
                        pass
                passing.exchange.fault = None
            except (GuardViolation, RelayFault) as error:
                passing.exchange.fault = str(error)
                raise
        return passing.exchange

    @contextmanager
    def _passing(
        self, method: str, target: str, headers: Headers, case: str, role: str = ""
    ) -> Iterator[Passing]:
        """Follow an exchange until it ends, then hand it over."""
        number, url = next(self._numbers), self._base_url + target
        exchange = Exchange(
            id=f"entry {number}",
            number=number,
            method=method,
            url=url,
            request_headers=headers,
            started=datetime.now(UTC),
            case=case,
            role=role,
        )
        passing, began = Passing(exchange), time.perf_counter()
        self._overlaps.begin(exchange)
        try:
            yield passing
        finally:
            exchange.seconds = time.perf_counter() - began
            self._overlaps.end(exchange)
            self._hand_over(passing.complete())

    async def _pass_on(self, request: web.BaseRequest, passing: Passing) -> web.StreamResponse:
        exchange, response = passing.exchange, None
        body = passing.sent.along(request.content.iter_any()) if request.body_exists else None
        passing.sent.ended = body is None
        target, headers = raw_target(request), exchange.request_headers.pairs
        try:
            async with self._relay.send(request.method, target, headers, body) as onward:
                passing.onward, given = onward, CIMultiDict(onward.headers)
                response = web.StreamResponse(status=onward.status, reason=onward.reason, headers=given)
                response[_GIVEN] = frozenset(name.lower() for name, _ in onward.headers)
                await response.prepare(request)
                async for piece in passing.answered.along(onward.body):
                    await response.write(piece)
                exchange.fault = None
                await response.write_eof()
                return response
        except GuardViolation as refused:
            exchange.fault = str(refused)
            answer = _own_answer(403, str(refused), "http_request_denied")
        except RelayFault as fault:
            exchange.fault = str(fault)
            line = f"{self._base_url} gave no answer: {fault}"
            answer = _own_answer(502, line, "destination_unavailable")
        if response is None or not response.prepared:
            return answer
        # The answer has begun, so the connection is broken off, as the target did.
        if request.transport is not None:
            request.transport.abort()
        return response

    async def prepare(self, request: web.Request, response: web.StreamResponse) -> None:
        """Remove headers that aiohttp adds to an answer, and add those for allowed origins (a signal handler)."""
        for name in _ADDED if _GIVEN in response else ():
            if name.lower() not in response[_GIVEN]:
                response.headers.popall(name, None)
        if self._origins is None or is_preflight(request.method, _lower(request)):
            return
        for name in [name for name in response.headers if name.lower().startswith(PREFIX)]:
            response.headers.popall(name, None)
        vary = ", ".join(response.headers.getall("Vary", ()))
        response.headers.update(self._origins.of_answer(request.headers.get("Origin"), vary))


def _own_answer(status: int, line: str, error: str) -> web.Response:
    """Return an answer of the proxy itself, with one line."""
    headers = {OWN: f"registry-contracts-proxy; error={error}"}
    return web.Response(status=status, text=f"registry-contracts proxy: {line}\n", headers=headers)


def names_this_machine(host: str) -> bool:
    """Whether a Host header names this machine; any other name may be an attack by DNS rebinding."""
    try:
        name = (urlsplit(f"//{host}").hostname or "").rstrip(".")
    except ValueError:
        return False
    return name in _OWN_NAMES or name.endswith(".localhost")


def raw_target(request: web.BaseRequest) -> str:
    """Return path and query as the client wrote them; bytes that are not text are escaped."""
    raw = _NO_TEXT.sub(lambda match: f"%{ord(match[0]) & 0xFF:02X}", request.raw_path)
    if raw.startswith("/"):
        return raw
    _, slashes, rest = raw.partition("://")
    return "/" + rest.partition("/")[2] if slashes else "/" + raw.lstrip("*")


def _lower(request: web.BaseRequest) -> dict[str, str]:
    return {name.lower(): value for name, value in request.headers.items()}


async def _whole(content: bytes) -> AsyncIterator[bytes]:
    yield content
