"""Variants between the service and the wire: framing, headers, encodings, pace."""

import asyncio
import secrets

from starlette.middleware.gzip import GZipMiddleware
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from contracts.sandbox.variants.model import Variant

Headers = list[tuple[bytes, bytes]]

SLOW_SECONDS = 0.15
_PIECE = 7


class Between:
    """Base of what stands between the service and the wire; passes everything on as it is."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request (ASGI)."""
        if scope["type"] == "http":
            await self.answer(scope, receive, send)
        else:
            await self.app(scope, receive, send)

    async def answer(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one HTTP request."""

        async def altered(message: Message) -> None:
            if message["type"] == "http.response.start":
                message["headers"] = self.headers(list(message["headers"]))
            await send(message)

        await self.app(scope, receive, altered)

    def headers(self, headers: Headers) -> Headers:
        """Return the headers of an answer."""
        return headers


class _Charset(Between):
    """JSON names its character set."""

    def headers(self, headers: Headers) -> Headers:
        kind = b"application/json"
        return [
            (name, b"Application/JSON; charset=UTF-8" if value == kind else value) for name, value in headers
        ]


class _CapitalHeaders(Between):
    """Header names are written in capitals."""

    def headers(self, headers: Headers) -> Headers:
        return [(name.upper(), value) for name, value in headers]


class _Closing(Between):
    """The connection is closed after each answer."""

    def headers(self, headers: Headers) -> Headers:
        return [*headers, (b"connection", b"close")]


class _Furnished(Between):
    """Every answer carries headers of proxies, caches and cookies."""

    def headers(self, headers: Headers) -> Headers:
        return [
            *headers,
            (b"server", b"registry"),
            (b"set-cookie", b"session=%s; Path=/; HttpOnly" % secrets.token_hex(8).encode()),
            (b"vary", b"Origin, Accept-Encoding"),
            (b"cache-control", b"no-cache"),
            (b"x-request-id", secrets.token_hex(8).encode()),
        ]


class _Validators(Between):
    """Every answer carries a weak validator and a date of its last change."""

    def headers(self, headers: Headers) -> Headers:
        tag = b'W/"%s"' % secrets.token_hex(4).encode()
        return [*headers, (b"etag", tag), (b"last-modified", b"Thu, 01 Jan 2026 00:00:00 GMT")]


class _Chunked(Between):
    """Bodies come in pieces, without their length being told."""

    async def answer(self, scope: Scope, receive: Receive, send: Send) -> None:
        async def altered(message: Message) -> None:
            if message["type"] == "http.response.start" and message["status"] not in (204, 304):
                kept = [pair for pair in message["headers"] if pair[0] != b"content-length"]
                message["headers"] = kept
            if message["type"] == "http.response.body":
                await self._in_pieces(message, send)
            else:
                await send(message)

        await self.app(scope, receive, altered)

    async def _in_pieces(self, message: Message, send: Send) -> None:
        body = message.get("body", b"")
        # A large file in pieces of seven bytes would only cost time.
        size = max(_PIECE, len(body) // 8)
        for start in range(0, max(1, len(body)), size):
            last = start + size >= len(body) and not message.get("more_body", False)
            await send({**message, "body": body[start : start + size], "more_body": not last})


class _Slow(Between):
    """Every answer takes its time."""

    async def answer(self, scope: Scope, receive: Receive, send: Send) -> None:
        await asyncio.sleep(SLOW_SECONDS)
        await super().answer(scope, receive, send)


def _gzip(app: ASGIApp) -> ASGIApp:
    return GZipMiddleware(app, minimum_size=1)


VARIANTS = (
    Variant(
        "charset",
        "Parameters of a content type are not shown: JSON names its charset.",
        wrap=_Charset,
        layer=3,
    ),
    Variant(
        "header-capitals",
        "The spelling of header names is not shown: capitals.",
        wrap=_CapitalHeaders,
        layer=4,
    ),
    Variant(
        "headers-furnished",
        "Further headers are not shown: cookies, caches and request ids come with every answer.",
        wrap=_Furnished,
        layer=3,
    ),
    Variant(
        "chunked", "The framing of a body is not shown: chunks, without a length.", wrap=_Chunked, layer=2
    ),
    Variant(
        "gzip",
        "The coding of a body is not shown: compressed where the client takes it.",
        wrap=_gzip,
        layer=1,
    ),
    Variant(
        "connections-closed", "Keeping connections is not shown: each is closed.", wrap=_Closing, layer=3
    ),
    Variant(
        "validators",
        "Validators of answers are not shown: weak ones, another each time.",
        wrap=_Validators,
        layer=3,
    ),
    Variant("slow", "How long an answer takes is not shown: 150 ms longer.", wrap=_Slow),
)
"""Each changes how answers travel."""
