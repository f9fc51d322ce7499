"""Sends one prepared request, limited in size and time; follows redirects without giving credentials away.

This is the only module that opens a connection to a target. The standard library limits the time of each read only, so
a head that arrives byte by byte, or endless interim responses, would keep a run waiting for ever: here the whole head
has a time limit. The module also detects content after an answer that must have none (to HEAD, or a 204); client
libraries ignore it and read it as the beginning of the next answer.
"""

from __future__ import annotations

import hashlib
import http.client
import io
import math
import socket
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, MutableMapping
from dataclasses import replace
from functools import lru_cache
from typing import Any, Final
from urllib.parse import urljoin, urlsplit

import requests
import urllib3
from requests.adapters import HTTPAdapter
from urllib3.connection import HTTPConnection, HTTPSConnection
from urllib3.connectionpool import HTTPConnectionPool, HTTPSConnectionPool
from urllib3.util.wait import wait_for_read

from registry_contracts.errors import SuiteError
from registry_contracts.exchanges.exchange import Body, Exchange, Headers, Response, in_utf8
from registry_contracts.exchanges.json_bodies import MOST_VALUES, holds_masses
from registry_contracts.session.pipeline import WITHOUT_CONTENT, Request, begun
from registry_contracts.session.transport_settings import transport_settings
from registry_contracts.settings.target import Target


def _content_behind(response: requests.Response, wait: float) -> bytes:
    """Content that arrives within `wait` seconds after the headers of an answer that must have none.

    Call it before the body is read. A proxy may have removed such content, and encrypted connections do not show it.
    """
    raw: Any = response.raw
    reader = getattr(getattr(raw, "_fp", None), "fp", None)
    wire = getattr(getattr(raw, "connection", None), "sock", None)
    if reader is None or not isinstance(wire, socket.socket):
        return b""
    timeout = wire.gettimeout()
    wire.settimeout(0)
    try:
        there = bytes(reader.peek(1))
        return there or (bytes(reader.peek(1)) if wait and wait_for_read(wire, wait) else b"")
    except OSError:
        return b""  # on an encrypted connection: nothing there yet
    finally:
        wire.settimeout(timeout)


#: Maximum number of interim answers (1xx) to skip.
_MOST_INTERIM: Final = 20
_TOO_MANY_INTERIM: Final = "too many interim answers"
_SWITCHING: Final = 101


class _TimedReader(io.RawIOBase):
    """Reads from a connection, until the deadline if there is one."""

    def __init__(self, raw: Any, wire: socket.socket) -> None:
        self._raw = raw
        self._wire = wire
        self._timeout = wire.gettimeout()
        self.deadline: float | None = None

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int | None:
        if self.deadline is None:
            return int(read) if (read := self._raw.readinto(buffer)) is not None else None
        left = self.deadline - time.monotonic()
        if left <= 0:
            raise TimeoutError("the head of the answer did not end in time")
        self._wire.settimeout(min(left, self._timeout or left))
        try:
            return int(self._raw.readinto(buffer) or 0)
        finally:
            self._wire.settimeout(self._timeout)

    def close(self) -> None:
        if not self.closed:
            self._raw.close()
        super().close()


class _TimedResponse(http.client.HTTPResponse):
    """An answer whose whole head must arrive within the connection's time limit."""

    def __init__(self, sock: socket.socket, *args: Any, **options: Any) -> None:
        super().__init__(sock, *args, **options)
        self._timed = _TimedReader(self.fp.detach(), sock)
        self.fp = io.BufferedReader(self._timed)

    def begin(self) -> None:
        timeout = self._timed._timeout
        self._timed.deadline = None if timeout is None else time.monotonic() + timeout
        super().begin()
        self._timed.deadline = None

    def _read_status(self) -> tuple[str, int, str]:
        for _ in range(_MOST_INTERIM):
            version, status, reason = super()._read_status()  # type: ignore[misc]
            if not 100 <= status < 200 or status == _SWITCHING:
                return version, status, reason
            http.client.parse_headers(self.fp)
        raise http.client.HTTPException(_TOO_MANY_INTERIM)


class _Pool(HTTPConnectionPool):
    class ConnectionCls(HTTPConnection):
        response_class = _TimedResponse


class _SecurePool(HTTPSConnectionPool):
    class ConnectionCls(HTTPSConnection):
        response_class = _TimedResponse


_POOLS: Final = {"http": _Pool, "https": _SecurePool}


class _TimedAdapter(HTTPAdapter):
    """The adapter of `requests` with these connections, also through a proxy."""

    def init_poolmanager(self, *args: Any, **options: Any) -> None:
        super().init_poolmanager(*args, **options)
        self.poolmanager.pool_classes_by_scheme = dict(_POOLS)

    def proxy_manager_for(self, *args: Any, **options: Any) -> Any:
        manager = super().proxy_manager_for(*args, **options)
        manager.pool_classes_by_scheme = dict(_POOLS)
        return manager


#: Longest body to read, far above any answer that the interface describes.
LARGEST_BODY = 16 * 1024 * 1024
#: Time limit for accepting a connection.
LONGEST_CONNECT_SECONDS = 5.0
#: Longest time limit, since sockets and clocks do not accept every number.
LONGEST_SECONDS = 86_400.0
_CHUNK = 64 * 1024
_LATE = "no answer within the time limit"
_ENDLESS = "the answer did not end within the time limit"
_NO_HTTP = "the answer is no HTTP"
#: Faults that say the service was reached and did not answer in time.
TIMED_OUT = frozenset({_LATE, _ENDLESS})
#: Wait for content after so many answers that must have none, and after all of them once some had content. It arrives
#: with the headers or one acknowledgement later; waiting every time would slow every exists check down.
_FIRST_WAITS = 2
_WAIT_SECONDS = 0.06
_MOST_REDIRECTS = 5
_REDIRECTS = frozenset({301, 302, 303, 307, 308})
#: Headers of every request, unless it sets them itself.
_ALWAYS: Final = {"User-Agent": "registry-contracts", "Accept-Encoding": "gzip, deflate"}
_CREDENTIALS = ("Authorization", "Realm", "Cookie")
_PORTS = {"http": 80, "https": 443}


class TransportFault(Exception):
    """No answer came, for the reason in the text; `sent` says that the service may have received the request."""

    def __init__(self, text: str, *, sent: bool) -> None:
        super().__init__(text)
        self.sent = sent


class _Chunks:
    """Wraps a list of chunks, since `requests` would encode a list as form fields."""

    def __init__(self, chunks: Iterable[bytes]) -> None:
        self._chunks = chunks

    def __iter__(self) -> Iterator[bytes]:
        return iter(self._chunks)


class Transport:
    """The lowest stage: pooled connections to one target.

    `may_follow` tells whether a redirect to an address may be followed with a method; otherwise the redirect is the
    answer. `timeout` limits, in seconds, connecting, the time between two bytes, and the whole answer.
    """

    def __init__(self, target: Target, may_follow: Callable[[str, str], bool]) -> None:
        self.timeout = min(target.pace.timeout_seconds, LONGEST_SECONDS)
        self._may_follow = may_follow
        self._waits_left: float = _FIRST_WAITS
        #: Headers that are removed when a redirect leads to another host.
        self._private_headers = tuple(filter(None, (*_CREDENTIALS, target.names.realm_header)))
        self._settings_for = lru_cache(maxsize=32)(lambda origin: transport_settings(origin, target.tls))
        # No session of the library: entries of ~/.netrc would replace the Authorization header of a case, and cookies
        # would couple cases. Proxies and authorities come from the transport settings of each address.
        self._adapter = _TimedAdapter(pool_connections=4, pool_maxsize=32, max_retries=0)

    def prepare(self, request: Request) -> requests.PreparedRequest:
        """The request in its final form; raises `SuiteError` if HTTP cannot carry it."""
        body = _Chunks(request.body) if isinstance(request.body, list | tuple) else request.body
        try:
            headers = {**_ALWAYS, **request.headers}
            prepared = requests.Request(request.method, request.url, headers, data=body).prepare()
        except (requests.exceptions.RequestException, ValueError) as error:
            # The library's message may quote the header.
            what, why = request.operation or request.method, type(error).__name__
            raise SuiteError(f"{what} cannot be sent as written: {why}") from None
        if request.verbatim:
            prepared.url = request.url
        return prepared

    def send(self, request: Request) -> Exchange:
        """Send a prepared request; the exchange has its answer or its fault."""
        exchange, started = begun(request), time.perf_counter()
        try:
            exchange.response = self._answer(request.prepared or self.prepare(request), request)
        except TransportFault as lost:
            exchange.fault, exchange.received = str(lost), lost.sent
        finally:
            exchange.seconds = time.perf_counter() - started
        return exchange

    def _answer(self, prepared: requests.PreparedRequest, request: Request) -> Response:
        timeout = self.timeout if request.limit is None else min(self.timeout, request.limit)
        deadline = time.monotonic() + timeout
        for hops in range(_MOST_REDIRECTS + 1):
            answer = self._once(prepared, deadline, timeout, summed=request.summed)
            redirected = self._redirect(prepared, answer) if hops < _MOST_REDIRECTS else None
            if redirected is None:
                break
            prepared = redirected
        return in_utf8(replace(answer, hops=hops))

    def _once(
        self, request: requests.PreparedRequest, deadline: float, timeout: float, *, summed: bool
    ) -> Response:
        parts = urlsplit(request.url or "")
        settings = self._settings_for(f"{parts.scheme}://{parts.netloc}")
        coding = None
        try:
            response = self._adapter.send(
                request,
                stream=True,
                timeout=(min(timeout, LONGEST_CONNECT_SECONDS), timeout),
                verify=settings.verify,
                cert=settings.cert,
                proxies=dict(settings.proxies),
            )
            with response:
                # Before the body is read, since that returns the connection to the pool.
                bodiless = request.method == "HEAD" or response.status_code in WITHOUT_CONTENT
                behind = self._behind(response) if bodiless else b""
                coding = response.headers.get("Content-Encoding")
                _without_identity(response.raw.headers)
                # The time limit does not include sending a streamed body.
                streamed = not isinstance(request.body, bytes | str | None)
                until = time.monotonic() + timeout if streamed else deadline
                # The body stays unread, so the connection is closed with the rest of the content.
                body = Body.of(behind) if behind else _read(response, until, summed=summed)
        except (requests.exceptions.RequestException, urllib3.exceptions.HTTPError) as error:
            fault = _fault_of(error, coding)
            if str(fault) == _NO_HTTP:
                # Late content after the previous answer is a possible reason.
                self._waits_left = math.inf
            raise fault from error
        headers = Headers((name.lower(), value) for name, value in response.headers.items())
        return Response(response.status_code, response.reason or "", headers, body, request.url or "")

    def _behind(self, response: requests.Response) -> bytes:
        """The content after an answer that must have none."""
        found = _content_behind(response, _WAIT_SECONDS if self._waits_left > 0 else 0)
        self._waits_left = math.inf if found else self._waits_left - 1
        return found

    def _redirect(
        self, request: requests.PreparedRequest, answer: Response
    ) -> requests.PreparedRequest | None:
        """The request that follows a read's redirect, without credentials for another host; None for no redirect."""
        location = answer.headers.get("location")
        if request.method not in ("GET", "HEAD") or not location or answer.status not in _REDIRECTS:
            return None
        redirected = request.copy()
        try:
            redirected.prepare_url(urljoin(request.url or "", location), None)
            origin = _origin(redirected.url or "")
        except (requests.exceptions.RequestException, ValueError):
            return None
        if origin[0] not in _PORTS or not self._may_follow(request.method, redirected.url or ""):
            return None
        redirected.headers.pop("Host", None)
        if origin != _origin(request.url or ""):
            for name in self._private_headers:
                redirected.headers.pop(name, None)
        return redirected


def _read(response: requests.Response, deadline: float, *, summed: bool) -> Body:
    """Read a body up to the size limit and the deadline, whatever length it announces.

    Args:
        summed: Read it to its end, limiting only the time of each read; keep the beginning and the SHA-256 of all.
    """
    digest, content, size = hashlib.sha256(), bytearray(), 0
    # Never wait for a full chunk: a slow body must not outlast the deadline.
    while chunk := response.raw.read1(_CHUNK, decode_content=True):
        size += len(chunk)
        if summed:
            digest.update(chunk)
            content += chunk[: _CHUNK - len(content)]
            continue
        content += chunk
        if size > LARGEST_BODY:
            raise TransportFault(f"the answer is longer than {LARGEST_BODY} bytes", sent=True)
        if time.monotonic() > deadline:
            raise TransportFault(_ENDLESS, sent=True)
    if summed:
        return Body(bytes(content), size, whole=size == len(content), digest=digest.hexdigest())
    if holds_masses(content):
        raise TransportFault(f"the answer holds more than {MOST_VALUES:,} values", sent=True)
    return Body.of(bytes(content))


def _origin(url: str) -> tuple[str, str, int | None]:
    parts = urlsplit(url)
    return parts.scheme, parts.hostname or "", parts.port or _PORTS.get(parts.scheme)


def _without_identity(headers: MutableMapping[str, str]) -> None:
    """Remove `identity`, which packs nothing, from the Content-Encoding header."""
    codings = [coding.strip() for coding in headers.get("Content-Encoding", "").split(",")]
    if "identity" in map(str.lower, codings):
        headers["Content-Encoding"] = ", ".join(name for name in codings if name.lower() != "identity")


def _fault_of(error: Exception, coding: str | None) -> TransportFault:
    """The fault for an error of the client library; `coding` is the answer's Content-Encoding."""
    if isinstance(error, requests.exceptions.ConnectTimeout):
        return TransportFault("no connection within the time limit", sent=False)
    if isinstance(error, requests.exceptions.Timeout | urllib3.exceptions.TimeoutError):
        return TransportFault(_LATE, sent=True)
    if isinstance(error, requests.exceptions.SSLError):
        # Of TLS errors, only a rejected certificate surely precedes the request.
        sent = "CERTIFICATE_VERIFY_FAILED" not in str(error)
        return TransportFault("the TLS certificate or handshake was not accepted", sent=sent)
    if isinstance(error, requests.exceptions.ConnectionError):
        reason = getattr(error.args[0] if error.args else None, "reason", None)
        # Without a connection the service received nothing.
        sent = not isinstance(reason, urllib3.exceptions.NewConnectionError)
        return TransportFault(_connection_words(error), sent=sent)
    if isinstance(error, urllib3.exceptions.DecodeError):
        return TransportFault(f"the answer is not packed as Content-Encoding says ({coding})", sent=True)
    return TransportFault(f"the answer broke off ({type(error).__name__})", sent=True)


def _connection_words(error: Exception) -> str:
    text = str(error)
    words: Mapping[str, str] = {
        _TOO_MANY_INTERIM: "the service sent one interim answer (1xx) after another",
        "when reading": "a line in the head of the answer is endless",
        "got more than": "the answer has a flood of headers",
        "BadStatusLine": _NO_HTTP,
        "refused": "the connection was refused",
        "resolve": "the host name does not resolve",
        "reset": "the connection was reset",
        "RemoteDisconnected": "the connection was closed without an answer",
        "Broken pipe": "the connection was closed while the request was sent",
    }
    return next((phrase for word, phrase in words.items() if word in text), "the connection failed")
