"""The proxy: passes requests and responses through unchanged, copies them for judging, and serves the page."""

from __future__ import annotations

import asyncio
import re
import signal
import socket
import sys
import time
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import AsyncExitStack, asynccontextmanager, closing
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import count
from typing import Final

from aiohttp import web
from aiohttp.typedefs import Handler
from multidict import CIMultiDict

from contracts.errors import UsageError
from contracts.exchanges.exchange import Body, Exchange, Headers, Response
from contracts.exchanges.overlap import Overlaps
from contracts.session.relay import Relay, RelayFault, TargetResponse, decoded
from contracts.settings.guard import GuardViolation
from contracts.settings.target import Target

#: Bytes of a body that are kept to be judged; a longer one is judged without its body.
LARGEST_COPY: Final = 1024 * 1024


class BodyCopy:
    """What passed of a body so far."""

    def __init__(self, most: int = LARGEST_COPY) -> None:
        self._most = most
        self._pieces: list[bytes] = []
        self._whole = True
        self._ended = False
        self.size = 0

    def add(self, piece: bytes) -> None:
        """Note a piece."""
        self.size += len(piece)
        if self.size > self._most:
            self._whole = False
            self._pieces.clear()
        elif self._whole:
            self._pieces.append(piece)

    def end(self) -> None:
        """Note that this was all of it."""
        self._ended = True

    async def along(self, pieces: AsyncIterator[bytes]) -> AsyncIterator[bytes]:
        """Pass pieces on, and note each."""
        async for piece in pieces:
            self.add(piece)
            yield piece
        self.end()

    @property
    def body(self) -> Body:
        """The body, whole when all of it passed and was kept."""
        content = b"".join(self._pieces)
        return Body(content, self.size, whole=self._whole and self._ended)


#: Marks an answer as the proxy's own (RFC 9209); nothing of it is the service's.
OWN: Final = "Proxy-Status"
_BAD_GATEWAY: Final = 502
_FORBIDDEN: Final = 403
#: What the server adds to every answer, whether the service sent it or not.
_ADDED: Final = ("Date", "Server", "Content-Type")
#: How the server writes bytes of an address that are not UTF-8.
_NO_TEXT: Final = re.compile("[\udc80-\udcff]")
#: Case of an exchange that passed.
CASE: Final = "through the proxy"
_GONE: Final = "the client went away before the answer ended"


class RelayedResponse(web.StreamResponse):
    """An answer of the service on its way to the client.

    Attributes:
        given: Names of the headers that the service sent, in small letters.
    """

    def __init__(self, onward: TargetResponse) -> None:
        super().__init__(status=onward.status, reason=onward.reason, headers=CIMultiDict(onward.headers))
        self.given = frozenset(name.lower() for name, _ in onward.headers)


class ProxyHandler:
    """Handles the requests of the proxy.

    Args:
        base_url: Of the target; what is judged is what the service got.
        hand_over: Takes each exchange that ended.
    """

    def __init__(self, relay: Relay, base_url: str, hand_over: Callable[[Exchange], None]) -> None:
        self._relay = relay
        self._base_url = base_url
        self._hand_over = hand_over
        self._numbers = count(1)
        self._overlaps = Overlaps()
        #: Requests under way, and when the last one came or ended (monotonic seconds).
        self.under_way = 0
        self.last = time.monotonic()

    async def handle(self, request: web.BaseRequest) -> web.StreamResponse:
        """Pass a request on."""
        passing = _RelayedExchange(request, next(self._numbers), self._base_url)
        self.under_way += 1
        self._overlaps.begin(passing.number, request.method, passing.url)
        try:
            return await self._pass_on(request, passing)
        finally:
            overlapped = self._overlaps.end(passing.number)
            self.under_way -= 1
            self.last = time.monotonic()
            self._hand_over(passing.ended(overlapped=overlapped))

    async def _pass_on(self, request: web.BaseRequest, passing: _RelayedExchange) -> web.StreamResponse:
        headers = passing.request_headers.pairs
        body = passing.sent.along(request.content.iter_any()) if request.body_exists else None
        if body is None:
            passing.sent.end()
        passing.fault = _GONE
        try:
            async with self._relay.send(request.method, passing.target, headers, body) as onward:
                return await self._pass_back(request, passing, onward)
        except GuardViolation as refused:
            return await self._own(request, passing, _FORBIDDEN, str(refused), "http_request_denied")
        except RelayFault as fault:
            return await self._own(
                request,
                passing,
                _BAD_GATEWAY,
                f"{self._base_url} gave no answer: {fault}",
                "destination_unavailable",
                str(fault),
            )

    async def _pass_back(
        self, request: web.BaseRequest, passing: _RelayedExchange, onward: TargetResponse
    ) -> web.StreamResponse:
        passing.onward = onward
        response = RelayedResponse(onward)
        passing.response = response
        await response.prepare(request)
        if request.method == "HEAD":
            passing.answered.end()
        else:
            async for piece in passing.answered.along(onward.body):
                await response.write(piece)
        passing.fault = None
        await response.write_eof()
        return response

    async def _own(
        self,
        request: web.BaseRequest,
        passing: _RelayedExchange,
        status: int,
        line: str,
        error: str,
        fault: str = "",
    ) -> web.StreamResponse:
        """Answer in place of the target; where its answer has begun already, break it off as it did."""
        passing.fault = fault or line
        if passing.response is not None and passing.response.prepared:
            if request.transport is not None:
                request.transport.abort()
            return passing.response
        text = f"registry-contracts proxy: {line}\n"
        return web.Response(
            status=status, text=text, headers={OWN: f"registry-contracts-proxy; error={error}"}
        )


class _RelayedExchange:
    """One exchange while it passes."""

    def __init__(self, request: web.BaseRequest, number: int, base_url: str) -> None:
        self.number = number
        self.target = raw_target(request)
        self.url = base_url + self.target
        self.request_headers = Headers(decoded(request.raw_headers))
        self.sent, self.answered = BodyCopy(), BodyCopy()
        self.onward: TargetResponse | None = None
        self.response: web.StreamResponse | None = None
        self.fault: str | None = None
        self._method = request.method
        self._at = datetime.now(UTC)
        self._began = time.perf_counter()

    def ended(self, *, overlapped: bool) -> Exchange:
        """The exchange as it is judged."""
        onward, response = self.onward if self.fault is None else None, None
        if onward is not None:
            headers = Headers(onward.headers)
            response = Response(onward.status, onward.reason, headers, self.answered.body, self.url)
        return Exchange(
            id=f"entry {self.number}",
            number=self.number,
            case=CASE,
            started=self._at,
            seconds=time.perf_counter() - self._began,
            method=self._method,
            url=self.url,
            request_headers=self.request_headers,
            # A target may answer before it has read everything.
            request_body=self.sent.body,
            response=response,
            fault=self.fault,
            overlapped=overlapped,
        )


async def without_additions(_: web.Request, response: web.StreamResponse) -> None:
    """Take out what the server adds to an answer of the service (a signal handler of the application)."""
    if isinstance(response, RelayedResponse):
        for name in _ADDED:
            if name.lower() not in response.given:
                response.headers.popall(name, None)


def raw_target(request: web.BaseRequest) -> str:
    """Path and query as the client wrote them; bytes that are no text are escaped."""
    raw = _NO_TEXT.sub(lambda found: f"%{ord(found[0]) & 0xFF:02X}", request.raw_path)
    if raw.startswith("/"):
        return raw
    _, slashes, rest = raw.partition("://")
    return "/" + rest.partition("/")[2] if slashes else "/" + raw.lstrip("*")


HOST: Final = "127.0.0.1"
#: Longer than clients usually keep an idle connection, so that it is they who close it.
_KEEP_ALIVE_SECONDS: Final = 75.0
_LONGEST_LINE: Final = 64 * 1024
_GRACE_SECONDS: Final = 2.0
_LOOKS_SECONDS: Final = 0.1
#: Judging shares the interpreter with the traffic; it gives way this often.
_SWITCH_SECONDS: Final = 0.0005
_SIGNALS: Final = (signal.SIGINT, signal.SIGTERM)


@dataclass(frozen=True)
class Plan:
    """What is served.

    Attributes:
        port: Of the proxy; 0 for a free one.
        page: Makes the page's application from the proxy's address; None for no page.
        page_port: Its port; 0 for a free one.
        until_idle: Seconds without traffic after which it stops by itself; None for never.
    """

    target: Target
    port: int = 0
    page: Callable[[str], web.Application] | None = None
    page_port: int = 0
    until_idle: float | None = None


def serve(
    plan: Plan, hand_over: Callable[[Exchange], None], ready: Callable[[str, str | None], None]
) -> None:
    """Serve until Ctrl-C, SIGTERM, or silence.

    Args:
        hand_over: Takes each exchange that ended.
        ready: Called with the addresses of the proxy and the page once both take connections.

    Raises:
        UsageError: a port is in use.
        EnvironmentFault: no server listens at the target.
    """
    usual = sys.getswitchinterval()
    sys.setswitchinterval(_SWITCH_SECONDS)
    try:
        asyncio.run(_serve(plan, hand_over, ready))
    finally:
        sys.setswitchinterval(usual)


async def _serve(
    plan: Plan, hand_over: Callable[[Exchange], None], ready: Callable[[str, str | None], None]
) -> None:
    async with AsyncExitStack() as stack:
        relay = await stack.enter_async_context(Relay(plan.target))
        await relay.reach()
        passer = ProxyHandler(relay, plan.target.base_url, hand_over)
        client_url = await stack.enter_async_context(
            listening(proxy_application(passer), plan.port, "--port", auto_decompress=False)
        )
        page_url = None
        if plan.page is not None:
            page = plan.page(client_url)
            page_url = await stack.enter_async_context(listening(page, plan.page_port, "--page-port"))
        stop = _stopping(asyncio.get_running_loop())
        ready(client_url, page_url)
        await _until(stop, passer, plan.until_idle)


def proxy_application(passer: ProxyHandler) -> web.Application:
    """The proxy as an aiohttp application: every method and path goes to the target."""

    @web.middleware
    async def everything(request: web.Request, handler: Handler) -> web.StreamResponse:  # noqa: ARG001 - aiohttp's
        return await passer.handle(request)

    application = web.Application(middlewares=[everything])
    application.on_response_prepare.append(without_additions)
    return application


@asynccontextmanager
async def listening(
    application: web.Application, port: int, option: str, *, auto_decompress: bool = True
) -> AsyncIterator[str]:
    """Serve an application on loopback, and give its address.

    Args:
        port: 0 for a free one.
        option: How messages call the port.

    Raises:
        UsageError: the port is in use.
    """
    runner = web.AppRunner(
        application,
        handler_cancellation=True,
        access_log=None,
        keepalive_timeout=_KEEP_ALIVE_SECONDS,
        shutdown_timeout=_GRACE_SECONDS,
        max_line_size=_LONGEST_LINE,
        max_field_size=_LONGEST_LINE,
        auto_decompress=auto_decompress,
    )
    with closing(_listener(port, option)) as listener:
        await runner.setup()
        try:
            await web.SockSite(runner, listener).start()
            yield f"http://{HOST}:{listener.getsockname()[1]}"
        finally:
            await runner.cleanup()


def _listener(port: int, option: str) -> socket.socket:
    try:
        return socket.create_server((HOST, port), backlog=512)
    except OSError as error:
        raise UsageError(
            f"{option} {port} cannot be used: {(error.strerror or 'no such port').lower()}; "
            "choose another, or 0 for a free one"
        ) from None


def _stopping(loop: asyncio.AbstractEventLoop, signals: Sequence[signal.Signals] = _SIGNALS) -> asyncio.Event:
    """An event that a signal sets; a second one acts as it would without us."""
    stop = asyncio.Event()

    def on_signal(number: signal.Signals) -> None:
        stop.set()
        loop.remove_signal_handler(number)

    for number in signals:
        try:
            loop.add_signal_handler(number, on_signal, number)
        except (RuntimeError, ValueError):  # not the main thread, as in tests: who started it stops it
            continue
    return stop


async def _until(stop: asyncio.Event, passer: ProxyHandler, idle: float | None) -> None:
    if idle is None:
        await stop.wait()
        return
    passer.last = time.monotonic()
    while not stop.is_set():
        quiet = 0.0 if passer.under_way else time.monotonic() - passer.last
        if quiet >= idle:
            return
        try:
            await asyncio.wait_for(stop.wait(), max(_LOOKS_SECONDS, idle - quiet))
        except TimeoutError:
            continue
