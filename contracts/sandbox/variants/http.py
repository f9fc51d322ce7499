"""Variants of the frame of an exchange: framing, headers, encodings, pace, redirects, tokens and credentials.

They stand between the service and the wire, or sign in and look at credentials otherwise.
"""

import asyncio
import json
import secrets
from collections.abc import Iterable
from dataclasses import replace
from datetime import timedelta
from typing import Any, Final

from starlette.middleware.gzip import GZipMiddleware
from starlette.requests import Request
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from contracts.sandbox.authentication import Account, AuthenticationOperations, Identity, Token, TokenBook
from contracts.sandbox.habits import JsonAnswer, json_bytes
from contracts.sandbox.http import BodyReader, Reason, Refusal, header_value
from contracts.sandbox.variants.model import Variants
from contracts.sandbox.workflow import Entry, WorkflowOperations

VARIANTS = Variants()

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


@VARIANTS.wire("charset", "Headers of answers", layer=3)
class _Charset(Between):
    """Parameters of a content type are not shown: JSON names its charset."""

    def headers(self, headers: Headers) -> Headers:
        kind = b"application/json"
        return [
            (name, b"Application/JSON; charset=UTF-8" if value == kind else value) for name, value in headers
        ]


@VARIANTS.wire("header-capitals", "Headers of answers", layer=4)
class _CapitalHeaders(Between):
    """The spelling of header names is not shown: capitals."""

    def headers(self, headers: Headers) -> Headers:
        return [(name.upper(), value) for name, value in headers]


@VARIANTS.wire("connections-closed", "Connections and pace", layer=3)
class _Closing(Between):
    """Keeping connections is not shown: each is closed."""

    def headers(self, headers: Headers) -> Headers:
        return [*headers, (b"connection", b"close")]


@VARIANTS.wire("headers-furnished", "Headers of answers", layer=3)
class _Furnished(Between):
    """Further headers are not shown: cookies, caches, request ids and validators come with every answer."""

    def headers(self, headers: Headers) -> Headers:
        return [
            *headers,
            (b"server", b"registry"),
            (b"set-cookie", b"session=%s; Path=/; HttpOnly" % secrets.token_hex(8).encode()),
            (b"vary", b"Origin, Accept-Encoding"),
            (b"cache-control", b"no-cache"),
            (b"x-request-id", secrets.token_hex(8).encode()),
            (b"etag", b'W/"%s"' % secrets.token_hex(4).encode()),
        ]


@VARIANTS.wire("chunked", "Framing and coding of bodies", layer=2)
class _Chunked(Between):
    """The framing of a body is not shown: chunks, without a length."""

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


@VARIANTS.wire("slow", "Connections and pace")
class _Slow(Between):
    """How long an answer takes is not shown: 150 ms longer."""

    async def answer(self, scope: Scope, receive: Receive, send: Send) -> None:
        await asyncio.sleep(SLOW_SECONDS)
        await super().answer(scope, receive, send)


@VARIANTS.wire("gzip", "Framing and coding of bodies", layer=1)
class _Compressed(GZipMiddleware):
    """The coding of a body is not shown: compressed where the client takes it."""

    def __init__(self, app: ASGIApp) -> None:
        super().__init__(app, minimum_size=1)


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


@VARIANTS.wire("extra-members", "Further members of answers")
class _ExtraMembers(Rewriting):
    """Further members of answers are not shown: every JSON object has some, but for what clients stored."""

    def applies(self, scope: Scope, start: Message) -> bool:
        # Seen from outside, what is redirected stands under another path and names no operation: it may be a file.
        api = str(scope["path"]).startswith("/api/")
        stored = not api or scope.get("operation_id") in {"getDraft", *_DOWNLOADS}
        return super().applies(scope, start) and not stored

    def rewritten(self, scope: Scope, status: int, body: bytes) -> tuple[int, bytes]:  # noqa: ARG002
        return status, json_bytes(_furnished(json.loads(body))) if body else body


def _furnished(value: Any) -> Any:
    if isinstance(value, list):
        return [_furnished(item) for item in value]
    if not isinstance(value, dict):
        return value
    more = {
        "$type": "record",
        "took": secrets.randbelow(10**6) / 1000,
        "links": {"self": "/", "help": ["/docs"]},
        "tags": [],
        "_extra": {},
        "deleted": None,
    }
    return {**more, **{name: _furnished(member) for name, member in value.items()}}


@VARIANTS.wire("head-204", "attachment-success-status", "draft-success-status")
class _HeadNoContent(Rewriting):
    """The status of an exists check that finds something is not shown: 204."""

    def applies(self, scope: Scope, start: Message) -> bool:
        return bool(start) and scope["method"] == "HEAD" and start["status"] == 200

    def rewritten(self, scope: Scope, status: int, body: bytes) -> tuple[int, bytes]:  # noqa: ARG002
        return 204, b""


@VARIANTS.wire("downloads-elsewhere", "attachment-download-type")
class _Redirecting(Between):
    """How a file is handed over is not shown: by a redirect to a signed address on another host."""

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
                    await _redirect(307, self._address(scope), send)
                    return
            if not redirected:
                await send(message)

        await self.app(scope, receive, altered)

    def _address(self, scope: Scope) -> str:
        signature = secrets.token_urlsafe(16)
        self._signed[signature] = scope
        return f"http://localhost:{scope['server'][1]}{_SIGNED}{signature}"


async def _redirect(status: int, place: str, send: Send) -> None:
    headers = [(b"location", place.encode("latin-1")), (b"content-length", b"0")]
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": b""})


@VARIANTS.wire("reads-sent-on", "Redirects of reads")
class _Canonical(Between):
    """Redirects of reads are not shown: each is sent on to another path of this host."""

    async def answer(self, scope: Scope, receive: Receive, send: Send) -> None:
        path, query = str(scope["path"]), scope["query_string"].decode("latin-1")
        if path.startswith(_CANONICAL):
            path = path.removeprefix(_CANONICAL)
            await self.app({**scope, "path": path, "raw_path": path.encode("latin-1")}, receive, send)
        elif scope["method"] in ("GET", "HEAD") and path.startswith("/api/"):
            await _redirect(308, _CANONICAL + path + (f"?{query}" if query else ""), send)
        else:
            await self.app(scope, receive, send)


def _is_json(headers: Iterable[tuple[bytes, bytes]]) -> bool:
    return any(name == b"content-type" and b"json" in value for name, value in headers)


"""Each answers otherwise than the service it stands before."""


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


@VARIANTS.layer("tokens-short", "Form of a token")
class _Short(_Book):
    """The form of a token is not shown: ten hexadecimal digits."""

    def text(self, token: Token) -> str:  # noqa: ARG002
        return secrets.token_hex(5)


@VARIANTS.layer("tokens-long", "Form of a token")
class _Long(_Book):
    """The form of a token is not shown: two thousand characters, with all signs a bearer token may have."""

    def text(self, token: Token) -> str:  # noqa: ARG002
        return f"{secrets.token_urlsafe(1500)}.~+/{secrets.token_hex(8)}=="


@VARIANTS.layer("token-same-again", "token-second-sign-in")
class _Same(TokenBook):
    """What a second sign-in gives is not shown: the same token again."""

    def issue(self, account: Account) -> Token:
        now = self.clock.now()
        valid = (token for token in self._issued.values() if token.account == account and token.expires > now)
        return next(valid, None) or super().issue(account)


@VARIANTS.layer("token-replaced", "token-second-sign-in")
class _Replaced(TokenBook):
    """Whether a token outlives the next sign-in of its account is not shown: it does not."""

    def issue(self, account: Account) -> Token:
        for text in [token.text for token in self._issued.values() if token.account == account]:
            del self._issued[text]
        return super().issue(account)


@VARIANTS.layer("tokens-brief", "token-lifetime")
class _Brief(TokenBook):
    """How long a token stays valid is not shown: forty seconds."""

    def issue(self, account: Account) -> Token:
        self.lifetime = timedelta(seconds=_BRIEF_SECONDS)
        return super().issue(account)


@VARIANTS.layer("bearer-exact", "token-bearer-spelling")
class _ExactScheme(Identity):
    """Other spellings of the scheme are not shown: only the word Bearer and one space count as a token."""

    def caller(self, request: Request) -> Account | None:
        given = header_value(request, "authorization") or ""
        return super().caller(request) if given.startswith("Bearer ") else None


@VARIANTS.layer("email-any-case", "token-email-letter-case")
class _AnyCase(Identity):
    """Whether the letter case of an e-mail matters is not shown: it does not."""

    def sign_in(self, email: str, password: str) -> Account:
        return super().sign_in(email.strip().lower(), password)


@VARIANTS.layer("sign-in-refused-200", "token-failure-answer")
class _Told(AuthenticationOperations):
    """Status and body of a failed sign-in are not shown: 200 with a text and null for a token."""

    async def create_token(self, request: Request) -> Response:
        try:
            return await super().create_token(request)
        except Refusal as refusal:
            if refusal.reason is not Reason.WRONG_CREDENTIALS:
                raise
            return JsonAnswer({"authenticationToken": None, "expiration": None, "error": refusal.message})


@VARIANTS.layer("content-type-any", "content-type-other")
class _AnyType(BodyReader):
    """A JSON body labelled as something else is not shown: it is read all the same."""

    def require_json_type(self, request: Request) -> None:  # noqa: ARG002
        return


@VARIANTS.layer("realm-before-identity", "workflow-identity-against-realm")
class _RealmFirst(WorkflowOperations):
    """Which refusal a submission without realm and token meets is not shown: that for the realm."""

    def enter(self, request: Request) -> Entry:
        realm = self.require_realm(request)
        kind = self.require_schema(request, realm)
        return Entry(self.require_identity(request), realm, kind)
