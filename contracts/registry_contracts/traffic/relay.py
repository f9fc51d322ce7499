"""Passes requests of other programs on to a target, unchanged.

They are not the suite's, so they are not paced, repeated or written into the ledger. The guard against production
still checks each of them before its first byte.
"""

from __future__ import annotations

import asyncio
import re
import socket
import ssl
from collections.abc import AsyncIterator, Iterable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from itertools import chain
from typing import Final
from urllib.parse import urlsplit

import aiohttp
from multidict import CIMultiDict
from yarl import URL

from registry_contracts.errors import EnvironmentFault
from registry_contracts.session.transport import LONGEST_CONNECT_SECONDS
from registry_contracts.session.transport_settings import (
    TransportSettings,
    check_transport_settings,
    transport_settings,
)
from registry_contracts.settings.guard import refuse_request
from registry_contracts.settings.target import Target

#: Headers that concern one connection only (RFC 9110, 7.6.1).
_HOP_BY_HOP: Final = frozenset(
    {"connection", "keep-alive", "te", "trailer", "transfer-encoding", "upgrade"}
    | {"proxy-authenticate", "proxy-authorization", "proxy-connection"}
)
#: Not passed on: the target has a host name of its own, and aiohttp's server has answered Expect.
_OURS: Final = frozenset({"host", "expect"})
_AUTOMATIC: Final = ("Accept", "Accept-Encoding", "Content-Type", "User-Agent")
#: Many services close connections that were idle for five seconds; a request on such a connection would be lost.
_IDLE_SECONDS: Final = 3.0
#: Longest line of a head, in bytes.
LONGEST_LINE: Final = 64 * 1024
_BUFFER: Final = 128 * 1024

_CONTROL: Final = re.compile(r"[\x00-\x08\x0a-\x1f\x7f]")

Pairs = list[tuple[str, str]]


class RelayFault(EnvironmentFault):
    """The target gave no answer; the text is the reason in a few words."""


@dataclass(frozen=True)
class TargetResponse:
    """The target's answer as it comes in.

    Attributes:
        headers: As received, in order, letter case and number, without those of the connection.
        body: Pieces of the body as received, still packed; raises `RelayFault` if it breaks off.
    """

    status: int
    reason: str
    headers: Pairs
    body: AsyncIterator[bytes]


class Relay:
    """Passes requests on to one target; `open_relay` makes it."""

    def __init__(self, target: Target, settings: TransportSettings, client: aiohttp.ClientSession) -> None:
        self._target = target
        self._client = client
        self._settings = settings
        self._proxy = settings.proxy(target.base_url)

    async def reach(self) -> None:
        """Check that the target accepts connections, without sending anything; raises `EnvironmentFault`."""
        if self._proxy:
            return
        parts = urlsplit(self._target.base_url)
        secure = parts.scheme == "https"
        port = parts.port or (443 if secure else 80)
        try:
            opening = asyncio.open_connection(
                parts.hostname, port, ssl=self._settings.tls() if secure else None
            )
            _, writer = await asyncio.wait_for(opening, LONGEST_CONNECT_SECONDS)
        except (OSError, TimeoutError) as error:
            raise EnvironmentFault(
                f"{self._target.base_url} cannot be reached: {_words(error)}; is the service up, and is the address "
                "right?"
            ) from None
        writer.close()

    @asynccontextmanager
    async def send(
        self,
        method: str,
        raw_target: str,
        headers: Iterable[tuple[str, str]],
        body: AsyncIterator[bytes] | None,
    ) -> AsyncIterator[TargetResponse]:
        """Send a request on, and yield its answer as it arrives.

        Args:
            raw_target: Path and query below the base URL, as the client wrote them.
            headers: As the client wrote them; those of its connection are left out here.

        Raises:
            GuardViolation: the request must not be sent; nothing was.
            RelayFault: the target did not answer.
        """
        address = self._target.base_url + raw_target
        kept = _end_to_end(headers)
        refuse_request(method, address, kept, self._target)
        try:
            async with self._client.request(
                method,
                URL(address, encoded=True),
                headers=CIMultiDict(kept),
                data=body,
                proxy=self._proxy,
                allow_redirects=False,
            ) as response:
                pairs = _end_to_end(decoded(response.raw_headers))
                if any(_CONTROL.search(text) for text in (response.reason or "", *chain(*pairs))):
                    raise RelayFault("the answer has control characters in a header")
                yield TargetResponse(response.status, response.reason or "", pairs, _pieces(response))
        except (aiohttp.ClientError, TimeoutError) as error:
            raise RelayFault(_words(error)) from error
        except (UnicodeEncodeError, ValueError) as error:
            raise RelayFault(f"the request cannot be sent on: {error}") from error


@asynccontextmanager
async def open_relay(target: Target) -> AsyncIterator[Relay]:
    """Open connections to a target for as long as the `async with` block lasts; nothing is sent yet."""
    check_transport_settings(target)
    settings = transport_settings(target.base_url, target.tls)
    async with aiohttp.ClientSession(
        connector=aiohttp.TCPConnector(limit=0, ssl=settings.tls(), keepalive_timeout=_IDLE_SECONDS),
        cookie_jar=aiohttp.DummyCookieJar(),
        auto_decompress=False,
        trust_env=False,
        skip_auto_headers=_AUTOMATIC,
        timeout=aiohttp.ClientTimeout(total=None, sock_connect=LONGEST_CONNECT_SECONDS),
        max_line_size=LONGEST_LINE,
        max_field_size=LONGEST_LINE,
        read_bufsize=_BUFFER,
    ) as client:
        yield Relay(target, settings, client)


def _end_to_end(headers: Iterable[tuple[str, str]]) -> Pairs:
    """Return the headers for the other end, in order, without those of this connection, which Connection names."""
    pairs = list(headers)
    named = {
        word.strip().lower()
        for name, value in pairs
        if name.lower() == "connection"
        for word in value.split(",")
    }
    dropped = _HOP_BY_HOP | _OURS | (named - {"close", "keep-alive"})
    return [(name, value) for name, value in pairs if name.lower() not in dropped]


async def _pieces(response: aiohttp.ClientResponse) -> AsyncIterator[bytes]:
    try:
        async for piece in response.content.iter_any():
            yield piece
    except aiohttp.ClientError as error:
        raise RelayFault(f"the answer broke off ({_words(error)})") from error


def decoded(headers: Iterable[tuple[bytes, bytes]]) -> Pairs:
    """Decode headers; bytes that are not UTF-8 are read as Latin-1, as older services mean them."""

    def text(raw: bytes) -> str:
        try:
            return raw.decode("utf-8")
        except UnicodeDecodeError:
            return raw.decode("latin-1")

    return [(text(name), text(value)) for name, value in headers]


#: Reasons in a few words; the most specific errors first.
_WORDS: Final[Mapping[type[BaseException] | tuple[type[BaseException], ...], str]] = {
    aiohttp.ServerDisconnectedError: "the connection was closed without an answer",
    (aiohttp.ClientSSLError, ssl.SSLError): "the TLS certificate or handshake was not accepted",
    (aiohttp.ClientConnectorDNSError, socket.gaierror): "the host name does not resolve",
    ConnectionRefusedError: "the connection was refused",
    (ConnectionResetError, BrokenPipeError): "the connection was reset",
    aiohttp.ClientPayloadError: "it ended too early",
    aiohttp.ClientResponseError: "it is not HTTP",
    TimeoutError: "no connection within the time limit",
}


def _words(error: BaseException) -> str:
    for kind, words in _WORDS.items():
        if isinstance(error, kind) or isinstance(error.__cause__, kind):
            return words
    return "the connection failed"
