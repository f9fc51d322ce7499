"""Variants between the service and the wire: framing, headers, encodings, pace, further members, redirects."""

import asyncio
import json
import secrets
import zlib
from collections.abc import Iterable

from starlette.middleware.gzip import GZipMiddleware
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from contracts.sandbox.answers import json_bytes
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


_SIGNED = "/signed/"
_CANONICAL = "/canonical"
_DOWNLOADS = frozenset({"getAttachment", "getAttachmentThumbnail", "attachmentExists"})


class Rewriting(Between):
    """Base of what changes JSON bodies, or the status that goes with an empty one."""

    async def answer(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one HTTP request; bodies that may be changed are held back until they are whole."""
        start: Message = {}
        body = bytearray()

        async def altered(message: Message) -> None:
            if message["type"] == "http.response.start":
                start.update(message)
                return
            if not self.applies(scope, start):
                await self._pass_on(start, message, send)
                return
            body.extend(message.get("body", b""))
            if not message.get("more_body", False):
                await self._send(scope, start, bytes(body), send)

        await self.app(scope, receive, altered)

    async def _pass_on(self, start: Message, message: Message, send: Send) -> None:
        if start:
            await send(dict(start))
            start.clear()
        await send(message)

    async def _send(self, scope: Scope, start: Message, body: bytes, send: Send) -> None:
        status, changed = self.rewritten(scope, start["status"], body)
        headers = [pair for pair in start["headers"] if pair[0] != b"content-length"]
        if status != 204:
            headers.append((b"content-length", str(len(changed)).encode()))
        await send({**start, "status": status, "headers": headers})
        await send({"type": "http.response.body", "body": changed})

    def applies(self, scope: Scope, start: Message) -> bool:
        """Tell whether an answer may be changed."""
        return bool(start) and _is_json(start["headers"]) and scope["method"] != "HEAD"

    def rewritten(self, scope: Scope, status: int, body: bytes) -> tuple[int, bytes]:  # noqa: ARG002
        """Return the status and the body in place of those of the service."""
        return status, body


class _ExtraMembers(Rewriting):
    """Every JSON object of an answer carries further members."""

    def applies(self, scope: Scope, start: Message) -> bool:
        # Seen from outside, what is redirected stands under another path and names no operation: it may be a file.
        stored = str(scope["path"]).startswith(("/openapi", _SIGNED, _CANONICAL))
        stored = stored or scope.get("operation_id") in _DOWNLOADS
        return super().applies(scope, start) and not stored

    def rewritten(self, scope: Scope, status: int, body: bytes) -> tuple[int, bytes]:  # noqa: ARG002
        value = json.loads(body) if body else None
        if isinstance(value, list):
            value = [_furnished(item) if isinstance(item, dict) else item for item in value]
        elif isinstance(value, dict):
            value = _furnished(value)
        else:
            return status, body
        return status, json_bytes(value)


def _furnished(value: dict[str, object]) -> dict[str, object]:
    more: dict[str, object] = {
        "$type": "record",
        "apiVersion": "2.14",
        "took": secrets.randbelow(10**6) / 1000,
        "links": {"self": "/", "help": ["/docs"]},
        "tags": [],
        "deleted": None,
    }
    return {**more, **value}


class _HeadNoContent(Rewriting):
    """An exists check that finds something is answered with 204."""

    def applies(self, scope: Scope, start: Message) -> bool:
        return bool(start) and scope["method"] == "HEAD" and start["status"] == 200

    def rewritten(self, scope: Scope, status: int, body: bytes) -> tuple[int, bytes]:  # noqa: ARG002
        return 204, b""


class _Redirecting(Between):
    """Attachments are answered with a redirect to an address that is good for a while.

    The address itself gives the right to read: who holds it needs no token.
    """

    status = 302

    def __init__(self, app: ASGIApp) -> None:
        super().__init__(app)
        self._signed: dict[str, Scope] = {}

    async def answer(self, scope: Scope, receive: Receive, send: Send) -> None:
        signature = str(scope["path"]).removeprefix(_SIGNED)
        if signature in self._signed:
            asked = self._signed[signature]
            as_asked = {name: asked[name] for name in ("path", "raw_path", "headers")}
            await self.app({**scope, **as_asked}, receive, send)
            return
        redirected = False

        async def altered(message: Message) -> None:
            nonlocal redirected
            if message["type"] == "http.response.start":
                redirected = message["status"] == 200 and scope.get("operation_id") in _DOWNLOADS
                if redirected:
                    await self._redirect(scope, send)
                    return
            if not redirected:
                await send(message)

        await self.app(scope, receive, altered)

    async def _redirect(self, scope: Scope, send: Send) -> None:
        signature = secrets.token_urlsafe(16)
        self._signed[signature] = scope
        place = self.host(scope) + _SIGNED + signature
        headers = [(b"location", place.encode()), (b"content-length", b"0")]
        await send({"type": "http.response.start", "status": self.status, "headers": headers})
        await send({"type": "http.response.body", "body": b""})

    def host(self, scope: Scope) -> str:  # noqa: ARG002
        """Return scheme and host of the place that files are fetched from; empty for this one."""
        return ""


class _RedirectingElsewhere(_Redirecting):
    """The address that is good for a while is on another host, as that of a file store is."""

    status = 307

    def host(self, scope: Scope) -> str:
        return f"http://localhost:{scope['server'][1]}"


class _Canonical(Between):
    """Reads are sent on to another path, where they are served."""

    async def answer(self, scope: Scope, receive: Receive, send: Send) -> None:
        path, query = str(scope["path"]), scope["query_string"].decode("latin-1")
        if path.startswith(_CANONICAL):
            path = path.removeprefix(_CANONICAL)
            await self.app({**scope, "path": path, "raw_path": path.encode("latin-1")}, receive, send)
        elif scope["method"] in ("GET", "HEAD") and path.startswith("/api/"):
            place = _CANONICAL + path + (f"?{query}" if query else "")
            headers = [(b"location", place.encode("latin-1")), (b"content-length", b"0")]
            await send({"type": "http.response.start", "status": 308, "headers": headers})
            await send({"type": "http.response.body", "body": b""})
        else:
            await self.app(scope, receive, send)


class _Deflated(Rewriting):
    """JSON is deflated where the client takes it."""

    async def answer(self, scope: Scope, receive: Receive, send: Send) -> None:
        taken = any(name == b"accept-encoding" and b"deflate" in value for name, value in scope["headers"])
        await (super().answer(scope, receive, send) if taken else self.app(scope, receive, send))

    def applies(self, scope: Scope, start: Message) -> bool:
        return super().applies(scope, start) and start["status"] != 204

    async def _send(self, scope: Scope, start: Message, body: bytes, send: Send) -> None:
        # Once for a body, in however many parts it comes.
        coded = {**start, "headers": [*start["headers"], (b"content-encoding", b"deflate")]}
        await super()._send(scope, coded, body, send)

    def rewritten(self, scope: Scope, status: int, body: bytes) -> tuple[int, bytes]:  # noqa: ARG002
        return status, zlib.compress(body)


def _is_json(headers: Iterable[tuple[bytes, bytes]]) -> bool:
    return any(name == b"content-type" and b"json" in value for name, value in headers)


VARIANTS = (
    Variant(
        "extra-members",
        "Further members of answers are not shown: every JSON object has some.",
        wrap=_ExtraMembers,
    ),
    Variant(
        "head-204",
        "The status of an exists check that finds something is not shown: 204.",
        wrap=_HeadNoContent,
    ),
    Variant(
        "downloads-redirected",
        "How a file is handed over is not shown: by a redirect to a signed address on the same host.",
        wrap=_Redirecting,
    ),
    Variant(
        "downloads-elsewhere",
        "How a file is handed over is not shown: by a redirect to a signed address on another host.",
        wrap=_RedirectingElsewhere,
    ),
    Variant(
        "reads-sent-on",
        "Redirects of reads are not shown: each is sent on to another path of this host.",
        wrap=_Canonical,
    ),
    Variant(
        "deflate",
        "The coding of a body is not shown: deflated where the client takes it.",
        wrap=_Deflated,
        layer=1,
    ),
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
"""Each answers otherwise than the service it stands before."""
