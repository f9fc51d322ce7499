"""Variants of the frame of an exchange: framing, headers, encodings, pace, redirects, tokens and credentials.

They stand between the service and the wire, or sign in and look at credentials otherwise.
"""

import asyncio
import base64
import json
import secrets
import zlib
from collections.abc import Iterable, Mapping
from dataclasses import replace
from datetime import timedelta
from typing import Final

from starlette.middleware.gzip import GZipMiddleware
from starlette.requests import Request
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from contracts.sandbox.authentication import Account, AuthenticationOperations, Identity, Token, TokenBook
from contracts.sandbox.habits import JsonAnswer, json_bytes
from contracts.sandbox.http_requests import BodyReader, Reason, Refusal, header_value
from contracts.sandbox.variants.model import Variant, Variants
from contracts.sandbox.workflow import Entry, WorkflowOperations

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
            first = self._signed[signature]
            as_asked = {name: first[name] for name in ("path", "raw_path", "headers")}
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


WIRE_VARIANTS = (
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


SIGN_IN_VARIANTS = Variants()

_BRIEF_SECONDS: Final = 40.0


class _Book(TokenBook):
    """Base of variants that write tokens in another form."""

    def issue(self, account: Account) -> Token:
        plain = super().issue(account)
        del self._issued[plain.text]
        token = replace(plain, text=self.text(plain))
        self._issued[token.text] = token
        return token

    def text(self, token: Token) -> str:
        """Return the text of a new token."""
        raise NotImplementedError


@SIGN_IN_VARIANTS.layer("identity.tokens", "tokens-short")
class _Short(_Book):
    """The form of a token is not shown: ten hexadecimal digits."""

    def text(self, token: Token) -> str:  # noqa: ARG002
        return secrets.token_hex(5)


@SIGN_IN_VARIANTS.layer("identity.tokens", "tokens-long")
class _Long(_Book):
    """The form of a token is not shown: two thousand characters, with all signs a bearer token may have."""

    def text(self, token: Token) -> str:  # noqa: ARG002
        return f"{secrets.token_urlsafe(1500)}.~+/{secrets.token_hex(8)}=="


@SIGN_IN_VARIANTS.layer("identity.tokens", "tokens-jwt")
class _Jwt(_Book):
    """The form of a token is not shown: a JSON Web Token that names its holder."""

    def text(self, token: Token) -> str:
        head = {"alg": "HS256", "typ": "JWT"}
        body = {"sub": token.account.name, "exp": token.expires.timestamp(), "jti": secrets.token_hex(8)}
        return f"{_segment(head)}.{_segment(body)}.{secrets.token_urlsafe(32)}"


def _segment(value: Mapping[str, object]) -> str:
    return base64.urlsafe_b64encode(json.dumps(value).encode()).decode().rstrip("=")


@SIGN_IN_VARIANTS.layer("identity.tokens", "token-same-again")
class _Same(TokenBook):
    """What a second sign-in gives is not shown: the same token again."""

    def issue(self, account: Account) -> Token:
        now = self.clock.now()
        valid = (token for token in self._issued.values() if token.account == account and token.expires > now)
        return next(valid, None) or super().issue(account)


@SIGN_IN_VARIANTS.layer("identity.tokens", "token-replaced")
class _Replaced(TokenBook):
    """Whether a token outlives the next sign-in of its account is not shown: it does not."""

    def issue(self, account: Account) -> Token:
        for text in [token.text for token in self._issued.values() if token.account == account]:
            del self._issued[text]
        return super().issue(account)


@SIGN_IN_VARIANTS.layer("identity.tokens", "tokens-brief")
class _Brief(TokenBook):
    """How long a token stays valid is not shown: forty seconds."""

    def issue(self, account: Account) -> Token:
        self.lifetime = timedelta(seconds=_BRIEF_SECONDS)
        return super().issue(account)


@SIGN_IN_VARIANTS.layer("identity", "bearer-exact")
class _ExactScheme(Identity):
    """Other spellings of the scheme are not shown: only the word Bearer and one space count as a token."""

    def caller(self, request: Request) -> Account | None:
        given = header_value(request, "authorization") or ""
        return super().caller(request) if given.startswith("Bearer ") else None


@SIGN_IN_VARIANTS.layer("identity", "email-any-case")
class _AnyCase(Identity):
    """Whether the letter case of an e-mail matters is not shown: it does not."""

    def sign_in(self, email: str, password: str) -> Account:
        return super().sign_in(email.strip().lower(), password)


@SIGN_IN_VARIANTS.layer("authentication", "sign-in-refused-200")
class _Told(AuthenticationOperations):
    """Status and body of a failed sign-in are not shown: 200 with a text and null for a token."""

    async def create_token(self, request: Request) -> Response:
        try:
            return await super().create_token(request)
        except Refusal as refusal:
            if refusal.reason is not Reason.WRONG_CREDENTIALS:
                raise
            return JsonAnswer({"authenticationToken": None, "expiration": None, "error": refusal.message})


@SIGN_IN_VARIANTS.layer("body", "content-type-any")
class _AnyType(BodyReader):
    """A JSON body labelled as something else is not shown: it is read all the same."""

    def require_json_type(self, request: Request) -> None:  # noqa: ARG002
        return


@SIGN_IN_VARIANTS.layer("workflow", "realm-before-identity")
class _RealmFirst(WorkflowOperations):
    """Which refusal a submission without realm and token meets is not shown: that for the realm."""

    def enter(self, request: Request) -> Entry:
        realm = self.require_realm(request)
        kind = self.require_schema(request, realm)
        return Entry(self.require_identity(request), realm, kind)
