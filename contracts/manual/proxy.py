"""The proxy: passes requests and responses through unchanged, copies them for judging, and serves the page.

What passes is judged in a thread of its own, so that no answer waits for it, and kept in `traffic.har` while it passes.
"""

from __future__ import annotations

import asyncio
import logging
import queue
import re
import signal
import socket
import sys
import threading
import time
from collections import Counter
from collections.abc import AsyncIterator, Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import AsyncExitStack, ExitStack, asynccontextmanager, closing
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from importlib.metadata import version
from itertools import count
from pathlib import Path
from types import TracebackType
from typing import Final, Self
from urllib.parse import urlsplit

from aiohttp import web
from aiohttp.http_exceptions import HttpProcessingError
from aiohttp.typedefs import Handler
from multidict import CIMultiDict

from contracts.errors import INTERRUPTING_SIGNALS, SuiteError, UsageError
from contracts.exchanges.exchange import UNKNOWN_BODY, Body, Exchange, Headers, Response
from contracts.exchanges.har import FILE_NAME, add, har_writer
from contracts.exchanges.redaction import TrafficRedactor
from contracts.exchanges.request_facts import Overlaps
from contracts.interface.cross_origin import PREFIX, AllowedOrigins, is_preflight
from contracts.manual import check
from contracts.manual.check import CheckFacts
from contracts.manual.traffic_findings import Feed, Seen, TrafficVerdict, verdict_of
from contracts.manual.traffic_watch import Watch
from contracts.safe_text import many, plain_line
from contracts.session.relay import Relay, RelayFault, TargetResponse, decoded
from contracts.session.session import secrets_of
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
_BAD_REQUEST: Final = 400
_FORBIDDEN: Final = 403
#: What the server adds to every answer, whether the service sent it or not.
_ADDED: Final = ("Date", "Server", "Content-Type")
#: How the server writes bytes of an address that are not UTF-8.
_NO_TEXT: Final = re.compile("[\udc80-\udcff]")
#: Case of an exchange that passed.
CASE: Final = "through the proxy"
_OWN_NAMES: Final = frozenset({"127.0.0.1", "localhost", "::1"})
_OTHER_HOST: Final = "the Host header names another machine than this one; use localhost or 127.0.0.1"
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
        #: Requests under way, and when the last one came or ended (monotonic seconds).
        self.under_way = 0
        self.last = time.monotonic()

    async def handle(self, request: web.BaseRequest) -> web.StreamResponse:
        """Pass a request on; what a browser asks first is no business of the target's."""
        if self._origins is not None and is_preflight(request.method, _lower(request)):
            status, headers = self._origins.preflight(_lower(request))
            return web.Response(status=status, headers=headers)
        passing = _RelayedExchange(request, next(self._numbers), self._base_url)
        if self._origins is not None:
            passing.request_headers = _without_origin(passing.request_headers)
        self.under_way += 1
        self._overlaps.begin(passing.number, request.method, passing.url)
        watching = asyncio.create_task(_fail_malformed(request))
        try:
            return await self._pass_on(request, passing)
        finally:
            watching.cancel()
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
        if not _for_this_machine(request):
            return await self._own(request, passing, _FORBIDDEN, _OTHER_HOST, "http_request_denied")
        try:
            async with self._relay.send(request.method, passing.target, headers, body) as onward:
                return await self._pass_back(request, passing, onward)
        except GuardViolation as refused:
            return await self._own(request, passing, _FORBIDDEN, str(refused), "http_request_denied")
        except RelayFault as fault:
            malformed = request.content.exception() if request.body_exists else None
            if isinstance(malformed, HttpProcessingError):
                line = f"the body of the request is malformed: {_reason(malformed)}"
                return await self._own(request, passing, _BAD_REQUEST, line, "http_request_error")
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

    async def across_origins(self, request: web.Request, response: web.StreamResponse) -> None:
        """Let a page of an allowed origin see any answer (a signal handler of the application)."""
        if self._origins is None or is_preflight(request.method, _lower(request)):
            return
        for name in [name for name in response.headers if name.lower().startswith(PREFIX)]:
            response.headers.popall(name, None)
        vary = ", ".join(response.headers.getall("Vary", ()))
        response.headers.update(self._origins.of_answer(request.headers.get("Origin"), vary))


async def _fail_malformed(request: web.BaseRequest) -> None:
    """End the reading of a body that turns malformed in the middle.

    The server keeps the error for a next request, and has the reader wait for more of this one: the waiting requests
    of the protocol, a private member, are the only place where it stands. aiohttp has no public one: its parser raises
    inside the protocol, which neither fails the body's stream nor calls anything that can be overridden. Were the
    member gone the client would wait for the time limit of the relay; a test holds that it gets its 400.
    """
    if "chunked" not in request.headers.get("Transfer-Encoding", "").lower():
        return
    while not request.content.is_eof():
        await asyncio.sleep(_LOOKS_SECONDS)
        for message, _ in tuple(getattr(request.protocol, "_messages", ())):
            error = getattr(message, "exc", None)
            if isinstance(error, HttpProcessingError):
                request.content.set_exception(error)
                return


def _for_this_machine(request: web.BaseRequest) -> bool:
    """Whether a request names this machine as its host, as clients do that are pointed at the proxy.

    A page whose own name was made to lead here (DNS rebinding) names that. A client that takes this for its HTTP proxy
    writes the target's whole address.
    """
    host = request.headers.get("Host")
    if host is None or not request.raw_path.startswith("/"):
        return True
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
_LOOKS_SECONDS: Final = 0.1
#: Judging shares the interpreter with the traffic; it gives way this often.
_SWITCH_SECONDS: Final = 0.0005


@dataclass(frozen=True)
class Plan:
    """What is served.

    Attributes:
        port: Of the proxy; 0 for a free one.
        page: Makes the page's application from the proxy's address; None for no page.
        page_port: Its port; 0 for a free one.
        until_idle: Seconds without traffic after which it stops by itself; None for never.
        origins: Pages of these origins may use the proxy; None leaves that to the target.
        refused: Takes the reason of each request that is no HTTP, and was refused.
    """

    target: Target
    port: int = 0
    page: Callable[[str], web.Application] | None = None
    page_port: int = 0
    until_idle: float | None = None
    origins: AllowedOrigins | None = None
    refused: Callable[[str], None] | None = None


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
        passer = ProxyHandler(relay, plan.target.base_url, hand_over, plan.origins)
        client_url = await stack.enter_async_context(
            listening(
                proxy_application(passer), plan.port, "--port", auto_decompress=False, refused=plan.refused
            )
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
    application.on_response_prepare.append(passer.across_origins)
    return application


@asynccontextmanager
async def listening(
    application: web.Application,
    port: int,
    option: str,
    *,
    auto_decompress: bool = True,
    refused: Callable[[str], None] | None = None,
) -> AsyncIterator[str]:
    """Serve an application on loopback, and give its address.

    Args:
        port: 0 for a free one.
        option: How messages call the port.
        refused: Takes the reason of each request that is no HTTP, and was refused; by default the log does.

    Raises:
        UsageError: the port is in use.
    """
    log, shown = logging.getLogger(f"{__name__}{option}"), _OneLine(refused)
    log.setLevel(logging.DEBUG)
    log.addFilter(shown)
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
            log.removeFilter(shown)


class _OneLine:
    """Says in one line what the server could not handle: its own words quote the request, credentials included."""

    def __init__(self, refused: Callable[[str], None] | None) -> None:
        self._refused = refused

    def filter(self, record: logging.LogRecord) -> bool:
        """Put a record into one line, or hand it over."""
        error = record.exc_info[1] if record.exc_info else None
        if isinstance(error, HttpProcessingError):
            reason = _reason(error)
            if self._refused is not None:
                self._refused(reason)
                return False
            record.msg, record.levelno = f"refused a malformed request: {reason}", logging.WARNING
        elif error is not None:
            record.msg = f"a request could not be handled: {type(error).__name__}"
        record.args, record.exc_info, record.exc_text = None, None, None
        return record.levelno >= logging.WARNING


def _reason(error: HttpProcessingError) -> str:
    """Why a request is no HTTP, without what stands in it."""
    reason = error.message.partition("\n")[0].partition(": b'")[0].partition(': b"')[0].strip(" :")
    return plain_line(reason or type(error).__name__, 120)


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


#: Bytes of bodies that may wait to be judged; what comes on top is judged without its bodies.
_WAITING: Final = 24 * 1024 * 1024
_END: Final = None


class BackgroundJudge:
    """Takes exchanges from the path of the traffic, and judges them one after another.

    Args:
        watch: Judges; used by the thread only, until it is closed.
        feed: Is told of each exchange.
        keep: Called for each exchange, without secrets, in the thread.
        say: Called for each exchange after that, in the thread.
    """

    def __init__(
        self,
        watch: Watch,
        feed: Feed,
        keep: Callable[[Seen], None],
        say: Callable[[Seen], None],
    ) -> None:
        self._watch = watch
        self._feed = feed
        self._keep = keep
        self._say = say
        self._queue: queue.SimpleQueue[Exchange | None] = queue.SimpleQueue()
        self._lock = threading.Lock()
        self._waiting = 0
        self._judge = ThreadPoolExecutor(1, thread_name_prefix="judge")
        # Holds whatever ends the work before its time, so that traffic passes all the same, until `close` tells it.
        self._work_done = self._judge.submit(self._work)

    def hand_over(self, exchange: Exchange) -> None:
        """Have an exchange judged; returns at once. Nothing is kept any more once judging broke."""
        if self._work_done.done():
            return
        weight = _weight(exchange)
        with self._lock:
            if self._waiting + weight > _WAITING:
                exchange, weight = _without_bodies(exchange), 0
            self._waiting += weight
        self._queue.put(exchange)

    def close(self) -> None:
        """Judge what still waits, and end.

        Raises:
            SuiteError: judging broke.
        """
        self._queue.put(_END)
        self._judge.shutdown()
        self._feed.close()
        broke = self._work_done.exception()
        if broke is not None:
            raise SuiteError(f"judging the traffic broke: {broke!r}") from broke

    def _work(self) -> None:
        for number in count(1):
            exchange = self._queue.get()
            if exchange is _END:
                return
            with self._lock:
                self._waiting -= _weight(exchange)
            # What passes and what is sent by hand is one list, in the order of the archive.
            seen = self._watch.take(replace(exchange, number=number, id=f"entry {number}"))
            self._keep(seen)
            self._feed.publish(seen)
            self._say(seen)


def _weight(exchange: Exchange) -> int:
    response = exchange.response
    return len(exchange.request_body.content) + (len(response.content) if response else 0)


def _without_bodies(exchange: Exchange) -> Exchange:
    """The exchange with its bodies unknown, those that are empty aside."""
    response = exchange.response
    if response is not None and response.content:
        response = replace(response, body=UNKNOWN_BODY)
    body = UNKNOWN_BODY if exchange.request_body.content else exchange.request_body
    return replace(exchange, request_body=body, response=response)


_KIND: Final = "proxy"
#: How often the same is said while traffic passes.
_OFTEN: Final = 3
_PROGRAM: Final = "registry-contracts"


class TrafficRecorder:
    """Judges and keeps what passes, for as long as its `with` block lasts.

    Args:
        folder: Takes the archive and the report.
        alone: No other client writes to the target meanwhile.
        say: Takes a line for each finding as it comes.

    Attributes:
        feed: What passed lately.
    """

    def __init__(
        self, target: Target, folder: Path, *, alone: bool, strict_client: bool, say: Callable[[str], None]
    ) -> None:
        self._target = target
        self._folder = folder
        self._alone = alone
        self._strict = strict_client
        self._say = say
        self._started = datetime.now(UTC)
        redactor = TrafficRedactor(secrets_of(target))
        self._watch = Watch(
            redactor,
            alone=alone,
            strict_client=strict_client,
            settle_seconds=target.pace.settle_seconds,
        )
        self._told: Counter[object] = Counter()
        self._refused: Counter[str] = Counter()
        self._open = ExitStack()
        self.feed = Feed()

    def __enter__(self) -> Self:
        """Begin the archive."""
        comment = f"through the proxy to {self._target.name}"
        writer = har_writer(self._folder / FILE_NAME, version(_PROGRAM), comment)
        self._archive = self._open.enter_context(writer)
        self._background = BackgroundJudge(self._watch, self.feed, self._keep, self._tell)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Judge what still waits, and end the archive."""
        try:
            self._background.close()
        finally:
            self._open.close()

    def hand_over(self, exchange: Exchange) -> None:
        """Take an exchange; returns at once."""
        self._background.hand_over(exchange)

    def refused(self, reason: str) -> None:
        """Note a request that was no HTTP, and was refused."""
        self._refused[reason] += 1
        if self._refused[reason] <= _OFTEN:
            self._say(f"refused a malformed request of the client (400): {reason}")

    def report(self) -> TrafficVerdict:
        """Write the report; after the `with` block.

        Raises:
            UsageError: it cannot be written.
        """
        verdict = verdict_of(self._watch.tally)
        facts = CheckFacts(
            kind=_KIND,
            source=None,
            target=self._target.name,
            base_url=self._target.base_url,
            started=self._started.isoformat(),
            finished=datetime.now(UTC).isoformat(),
            alone=self._alone,
            strict_client=self._strict,
            notes=tuple(self._notes),
        )
        check.write(self._watch.tally, verdict, facts, self._folder)
        return verdict

    @property
    def lines(self) -> list[str]:
        """What to say at the end."""
        tally = self._watch.tally
        return [*check.finding_lines(tally), "", *check.coverage_lines(tally, 0), *self._notes]

    @property
    def _notes(self) -> Iterator[str]:
        if self._refused:
            number = many(self._refused.total(), "malformed request")
            yield f"refused (400) {number}: {check.leading(self._refused)}"

    def _keep(self, seen: Seen) -> None:
        exchange = seen.exchange
        what = ", ".join(dict.fromkeys(finding.what for finding in seen.findings))
        parts = (exchange.id, exchange.operation or "no operation of the description", what)
        add(self._archive, exchange, "; ".join(part for part in parts if part))

    def _tell(self, seen: Seen) -> None:
        """Say what an exchange shows; the same of the same operation a few times only."""
        for finding in seen.findings:
            kind = (finding.side, finding.what, finding.fault, finding.operation, finding.realm)
            self._told[kind] += 1
            if self._told[kind] <= _OFTEN:
                more = "; more of it is counted in silence" if self._told[kind] == _OFTEN else ""
                self._say(check.one_line(finding) + more)
        if seen.exchange.response is None:
            why = plain_line(seen.exchange.fault or "")
            self._told[why] += 1
            if self._told[why] == 1:
                self._say(f"#{seen.number} no answer of the service: {why}")
