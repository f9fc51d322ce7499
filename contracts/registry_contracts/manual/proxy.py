"""The proxy: passes requests and responses through unchanged, hands copies to the recorder, and serves the page."""

from __future__ import annotations

import asyncio
import logging
import re
import signal
import socket
import sys
import time
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import AsyncExitStack, asynccontextmanager, closing, contextmanager
from datetime import UTC, datetime
from itertools import count
from typing import Final
from urllib.parse import urlsplit

from aiohttp import web
from aiohttp.http_exceptions import HttpProcessingError
from aiohttp.typedefs import Handler
from multidict import CIMultiDict

from registry_contracts.errors import INTERRUPTING_SIGNALS, UsageError
from registry_contracts.exchanges.exchange import Body, Exchange, Headers, Response
from registry_contracts.exchanges.overlaps import Overlaps, subject_of, writes
from registry_contracts.interface.cross_origin import PREFIX, AllowedOrigins, is_preflight
from registry_contracts.manual.traffic_findings import BY_HAND
from registry_contracts.safe_text import plain_line
from registry_contracts.session.relay import Pairs, Relay, RelayFault, TargetResponse, decoded
from registry_contracts.settings.guard import GuardViolation
from registry_contracts.settings.target import Target

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
_OWN_NAMES: Final = frozenset({"127.0.0.1", "localhost", "::1"})
_OTHER_HOST: Final = "the Host header names another machine than this one; use localhost or 127.0.0.1"
_FORWARDS_NOT: Final = (
    "this passes on to one target only; point the client's base address here, and name no HTTP proxy"
)
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

    async def handle(self, request: web.BaseRequest) -> web.StreamResponse:
        """Pass a request on; what a browser asks first is no business of the target's.

        What is not for this proxy is neither passed on nor judged: it is no traffic of the target.
        """
        if line := self._refusal(request):
            return _own_answer(_FORBIDDEN, line, "http_request_denied")
        if self._origins is not None and is_preflight(request.method, _lower(request)):
            status, headers = self._origins.preflight(_lower(request))
            return web.Response(status=status, headers=headers)
        sent = Headers(decoded(request.raw_headers))
        if self._origins is not None:
            sent = _without_origin(sent)
        passing = self._relayed(request.method, raw_target(request), sent, CASE)
        with self._counted(passing):
            return await self._pass_on(request, passing)

    def _refusal(self, request: web.BaseRequest) -> str | None:
        """Why a request is not for this proxy, None where it is."""
        host, raw = request.headers.get("Host"), request.raw_path
        if request.method == "CONNECT" or not (raw.startswith(("/", "*")) or self._leads_here(request)):
            return _FORWARDS_NOT
        # A page whose own name was made to lead here (DNS rebinding) names that.
        if raw.startswith("/") and host is not None and not names_this_machine(host):
            return _OTHER_HOST
        for origin in request.headers.getall("Origin", ()):
            # Any page may send some requests blindly, and would be judged as the client.
            if origin != f"http://{host}" and not (self._origins and self._origins.allows(origin)):
                return f"a page of {plain_line(origin)} asked; --cors with this origin lets its pages use the proxy"
        return None

    def _leads_here(self, request: web.BaseRequest) -> bool:
        """Whether a whole address, as clients send it to an HTTP proxy, is the target's or this one's."""
        try:
            asked = urlsplit(request.raw_path)
            here = names_this_machine(asked.netloc) and (asked.port or 80) == _port_of(request)
        except ValueError:
            return False
        return here or asked.netloc.lower() == urlsplit(self._base_url).netloc

    async def send(self, method: str, target: str, headers: Pairs, content: bytes, role: str) -> Exchange:
        """Send a request that a person wrote, judged beside what passes.

        Args:
            target: Path and query below the base URL.
            role: Whose credentials it carries.

        Raises:
            GuardViolation: it must not be sent; nothing was.
            RelayFault: the target did not answer.
        """
        passing = self._relayed(method, target, Headers(headers), BY_HAND)
        passing.role = role
        with self._counted(passing):
            try:
                body = passing.sent.along(_whole(content)) if content else None
                if body is None:
                    passing.sent.end()
                async with self._relay.send(method, target, headers, body) as onward:
                    passing.onward = onward
                    async for _ in passing.answered.along(onward.body):
                        pass
                passing.fault = None
            except (GuardViolation, RelayFault) as error:
                passing.fault = str(error)
                raise
        return passing.exchange

    def _relayed(self, method: str, target: str, headers: Headers, case: str) -> _RelayedExchange:
        return _RelayedExchange(next(self._numbers), method, target, headers, self._base_url, case)

    @contextmanager
    def _counted(self, passing: _RelayedExchange) -> Iterator[None]:
        """Hand an exchange over once it has ended, and know of it until then."""
        writing = writes(passing.method, passing.url)
        self._overlaps.begin(passing.number, subject_of(passing.url), writing=writing)
        try:
            yield
        finally:
            passing.end(overlapped=self._overlaps.end(passing.number))
            self._hand_over(passing.exchange)

    async def _pass_on(self, request: web.BaseRequest, passing: _RelayedExchange) -> web.StreamResponse:
        headers = passing.request_headers.pairs
        body = passing.sent.along(request.content.iter_any()) if request.body_exists else None
        if body is None:
            passing.sent.end()
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
        return _own_answer(status, line, error)

    async def across_origins(self, request: web.Request, response: web.StreamResponse) -> None:
        """Let a page of an allowed origin see any answer (a signal handler of the application)."""
        if self._origins is None or is_preflight(request.method, _lower(request)):
            return
        for name in [name for name in response.headers if name.lower().startswith(PREFIX)]:
            response.headers.popall(name, None)
        vary = ", ".join(response.headers.getall("Vary", ()))
        response.headers.update(self._origins.of_answer(request.headers.get("Origin"), vary))


def _own_answer(status: int, line: str, error: str) -> web.Response:
    """One line in place of the target's answer."""
    headers = {OWN: f"registry-contracts-proxy; error={error}"}
    return web.Response(status=status, text=f"registry-contracts proxy: {line}\n", headers=headers)


def _port_of(request: web.BaseRequest) -> int | None:
    """The port of ours that a request came to; None where the connection is gone."""
    place = request.transport and request.transport.get_extra_info("sockname")
    return int(place[1]) if place else None


def names_this_machine(host: str) -> bool:
    """Whether a Host header names this machine; any other name may have been made to lead here."""
    try:
        name = (urlsplit(f"//{host}").hostname or "").rstrip(".")
    except ValueError:
        return False
    return name in _OWN_NAMES or name.endswith(".localhost")


def _lower(request: web.BaseRequest) -> dict[str, str]:
    return {name.lower(): value for name, value in request.headers.items()}


def _without_origin(headers: Headers) -> Headers:
    """What the target gets: it knows nothing of the page, and answers the proxy."""
    return Headers(pair for pair in headers.pairs if pair[0].lower() != "origin")


async def _whole(content: bytes) -> AsyncIterator[bytes]:
    yield content


class _RelayedExchange:
    """One exchange while it passes.

    Attributes:
        exchange: As it is judged; there once it has ended.
    """

    exchange: Exchange

    def __init__(
        self, number: int, method: str, target: str, headers: Headers, base_url: str, case: str
    ) -> None:
        self.number = number
        self.method = method
        self.target = target
        self.url = base_url + target
        self.request_headers = headers
        self.role = ""
        self.sent, self.answered = BodyCopy(), BodyCopy()
        self.onward: TargetResponse | None = None
        self.response: web.StreamResponse | None = None
        self.fault: str | None = _GONE
        self._case = case
        self._at = datetime.now(UTC)
        self._began = time.perf_counter()

    def end(self, *, overlapped: bool) -> None:
        """Make the exchange that is judged."""
        onward, response = self.onward if self.fault is None else None, None
        if onward is not None:
            headers = Headers(onward.headers)
            response = Response(onward.status, onward.reason, headers, self.answered.body, self.url)
        self.exchange = Exchange(
            id=f"entry {self.number}",
            number=self.number,
            case=self._case,
            role=self.role,
            started=self._at,
            seconds=time.perf_counter() - self._began,
            method=self.method,
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
    raw = _NO_TEXT.sub(lambda match: f"%{ord(match[0]) & 0xFF:02X}", request.raw_path)
    if raw.startswith("/"):
        return raw
    _, slashes, rest = raw.partition("://")
    return "/" + rest.partition("/")[2] if slashes else "/" + raw.lstrip("*")


HOST: Final = "127.0.0.1"
#: Longer than clients usually keep an idle connection, so that it is they who close it.
_KEEP_ALIVE_SECONDS: Final = 75.0
_LONGEST_LINE: Final = 64 * 1024
_GRACE_SECONDS: Final = 2.0
#: Judging shares the interpreter with the traffic; it gives way this often.
_SWITCH_SECONDS: Final = 0.0005


Page = Callable[[ProxyHandler, str], web.Application]


def serve(
    target: Target,
    hand_over: Callable[[Exchange], None],
    ready: Callable[[str, str | None], None],
    *,
    ports: tuple[int, int],
    page: Page | None,
    origins: AllowedOrigins | None,
) -> None:
    """Serve until Ctrl-C or SIGTERM.

    Args:
        hand_over: Takes each exchange that ended.
        ready: Called with the addresses of the proxy and the page once both take connections.
        ports: Of the proxy and of the page; 0 for a free one.
        page: Makes the page's application of the proxy and its address; None for no page.
        origins: Pages of these origins may use the proxy; None leaves that to the target.

    Raises:
        UsageError: a port is in use.
        EnvironmentFault: no server listens at the target.
    """

    async def served() -> None:
        async with AsyncExitStack() as stack:
            relay = await stack.enter_async_context(Relay(target))
            await relay.reach()
            passer = ProxyHandler(relay, target.base_url, hand_over, origins)
            application = proxy_application(passer)
            client_url = await stack.enter_async_context(
                listening(application, ports[0], "--port", auto_decompress=False)
            )
            page_url = None
            if page is not None:
                shown = listening(page(passer, client_url), ports[1], "--page-port")
                page_url = await stack.enter_async_context(shown)
            stop = _stopping(asyncio.get_running_loop())
            ready(client_url, page_url)
            await stop.wait()

    usual = sys.getswitchinterval()
    sys.setswitchinterval(_SWITCH_SECONDS)
    try:
        asyncio.run(served())
    finally:
        sys.setswitchinterval(usual)


def proxy_application(passer: ProxyHandler) -> web.Application:
    """The proxy as an aiohttp application: every method and path goes to the target."""

    @web.middleware
    async def everything(request: web.Request, handler: Handler) -> web.StreamResponse:  # noqa: ARG001 - aiohttp's
        return await passer.handle(request)

    application = web.Application(middlewares=[everything])
    application.on_response_prepare.append(without_additions)
    application.on_response_prepare.append(passer.across_origins)
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
    log = logging.getLogger(f"{__name__}{option}")
    log.setLevel(logging.DEBUG)
    log.addFilter(_in_one_line)
    runner = web.AppRunner(
        application,
        handler_cancellation=True,
        access_log=None,
        logger=log,
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
            log.removeFilter(_in_one_line)


def _in_one_line(record: logging.LogRecord) -> bool:
    """Say in one line what the server could not handle: its own words quote the request, credentials included."""
    error = record.exc_info[1] if record.exc_info else None
    if isinstance(error, HttpProcessingError):
        reason = error.message.partition("\n")[0].partition(": b'")[0].partition(': b"')[0].strip(" :")
        record.msg, record.levelno = (
            f"refused a malformed request: {plain_line(reason, 120)}",
            logging.WARNING,
        )
    elif error is not None:
        record.msg = f"a request could not be handled: {type(error).__name__}"
    record.args, record.exc_info, record.exc_text = None, None, None
    return record.levelno >= logging.WARNING


def _listener(port: int, option: str) -> socket.socket:
    try:
        return socket.create_server((HOST, port), backlog=512)
    except OSError as error:
        raise UsageError(
            f"{option} {port} cannot be used: {(error.strerror or 'no such port').lower()}; "
            "choose another, or 0 for a free one"
        ) from None


def _stopping(loop: asyncio.AbstractEventLoop) -> asyncio.Event:
    """An event that a signal sets; a second one acts as it would without us."""
    stop = asyncio.Event()

    def on_signal(number: signal.Signals) -> None:
        stop.set()
        loop.remove_signal_handler(number)

    for number in INTERRUPTING_SIGNALS:
        if signal.getsignal(number) is signal.SIG_IGN:
            continue
        try:
            loop.add_signal_handler(number, on_signal, number)
        except (RuntimeError, ValueError):  # not the main thread, as in tests: who started it stops it
            continue
    return stop
