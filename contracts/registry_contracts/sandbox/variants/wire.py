"""Variants as middleware between the service and the wire: framing, headers, redirects, refused requests."""

import json
import re
import secrets
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any

from starlette.middleware.gzip import GZipMiddleware
from starlette.requests import Request
from starlette.responses import RedirectResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from registry_contracts.interface.description import load_description
from registry_contracts.sandbox.faults.messages import answer_with, ask
from registry_contracts.sandbox.http import Reason, Refusal
from registry_contracts.sandbox.responses import json_bytes
from registry_contracts.sandbox.variants.model import variant

Headers = list[tuple[bytes, bytes]]
_variant = partial(variant, between=True)


def _operation(scope: Scope) -> str:
    """Return the operationId of a request; empty if it is of no operation."""
    match = load_description().match(scope["method"], scope["raw_path"].decode("latin-1"))
    return match[0].id if match else ""


class Between:
    """Base of the middleware; passes everything on unchanged."""

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


@_variant("headers-furnished", "Headers of answers", layer=4)
class _Furnished(Between):
    """The headers of answers are not shown: in capitals, with a charset, cookies, caches and ids, and each closes."""

    def headers(self, headers: Headers) -> Headers:
        charset = b"Application/JSON; charset=UTF-8"
        kept = [(name, charset if value == b"application/json" else value) for name, value in headers]
        more = [
            (b"server", b"registry"),
            (b"set-cookie", b"session=%s; Path=/; HttpOnly" % secrets.token_hex(8).encode()),
            (b"vary", b"Origin, Accept-Encoding"),
            (b"cache-control", b"no-cache"),
            (b"x-request-id", secrets.token_hex(8).encode()),
            (b"etag", b'W/"%s"' % secrets.token_hex(4).encode()),
            (b"x-ratelimit-remaining", b"4999"),
            (b"connection", b"close"),
        ]
        return [(name.upper(), value) for name, value in kept + more]


@_variant("chunked", "Framing and coding of bodies", layer=2)
class _Chunked(Between):
    """The framing of a body is not shown: chunks, without a length."""

    def headers(self, headers: Headers) -> Headers:
        return [pair for pair in headers if pair[0] != b"content-length"]


@_variant("gzip", "Framing and coding of bodies", layer=1)
class _Compressed(GZipMiddleware):
    """The coding of a body is not shown: compressed where the client takes it."""

    def __init__(self, app: ASGIApp) -> None:
        super().__init__(app, minimum_size=1)


class _Rewriting(Between):
    """Base of middleware that rewrites the JSON of answers."""

    def rewritten(self, value: Any) -> bytes:
        """Return the text of a JSON value."""
        return json_bytes(value)

    def spares(self, scope: Scope) -> bool:
        """Tell whether an answer stays unchanged because it may be a client's file."""
        # A redirected request has another path, which names no operation: it may be for a file.
        return not str(scope["path"]).startswith("/api/") or _operation(scope) in _DOWNLOADS

    async def answer(self, scope: Scope, receive: Receive, send: Send) -> None:
        if self.spares(scope):
            await self.app(scope, receive, send)
            return
        got = await ask(self.app, scope, await Request(scope, receive).body())
        if "json" in got.header("content-type") and got.body:
            got = replace(got, body=self.rewritten(got.json))
        await answer_with(send, got, scope["method"])


@_variant("json-rewritten", "Form of the JSON of answers")
class _Rewritten(_Rewriting):
    """How JSON is written is not shown: indented, members sorted, letters beyond ASCII and slashes escaped."""

    def rewritten(self, value: Any) -> bytes:
        return json.dumps(value, sort_keys=True, indent=2).replace("/", "\\/").encode()


@_variant("extra-members", "Further members of answers")
class _ExtraMembers(_Rewriting):
    """Further members of answers are not shown: each object has some, volatile ones too, but for what is stored."""

    def rewritten(self, value: Any) -> bytes:
        return json_bytes(_furnished(value))

    def spares(self, scope: Scope) -> bool:
        return super().spares(scope) or _operation(scope) == "getDraft"


def _with_errors(value: Any, change: Callable[[dict[str, Any]], dict[str, Any]]) -> Any:
    """A JSON body with each element of its errors array changed."""
    if not isinstance(value, dict) or not isinstance(value.get("errors"), list):
        return value
    return value | {"errors": [change(error) for error in value["errors"]]}


@_variant("error-properties-in-capitals", "How a property of an error names a field")
class _CapitalProperties(_Rewriting):
    """How an error names its field is not shown: each name begins with a capital, as in `FirstName`."""

    def rewritten(self, value: Any) -> bytes:
        steps = re.compile(r"(?:^|(?<=[.]))[a-z]")
        return json_bytes(
            _with_errors(
                value,
                lambda error: error | {"property": steps.sub(lambda m: m[0].upper(), error["property"])},
            )
        )


@_variant("mandatory-as-any-of", "errors-code-mandatory-any-of")
class _MandatoryAnyOf(_Rewriting):
    """The set of mandatory fields is not shown: a field that is missing is one of it, and told by its code."""

    def rewritten(self, value: Any) -> bytes:
        code = {"Error.Mandatory": "Error.MandatoryAnyOf"}
        return json_bytes(
            _with_errors(value, lambda error: error | {"code": code.get(error["code"], error["code"])})
        )


@_variant("absent-204", "attachment-success-status", "attachment-failure-status", "draft-failure-status")
class _AbsentAsNoContent(Between):
    """How a read tells that nothing is there is not shown: by 204, without content."""

    async def answer(self, scope: Scope, receive: Receive, send: Send) -> None:
        if _operation(scope) not in _OF_WHAT_MAY_BE_ABSENT:
            await self.app(scope, receive, send)
            return
        got = await ask(self.app, scope, await Request(scope, receive).body())
        absent = got.status == 404
        await answer_with(
            send, replace(got, status=204, body=b"", headers=()) if absent else got, scope["method"]
        )


def _furnished(value: Any) -> Any:
    if isinstance(value, list):
        return [_furnished(item) for item in value]
    if not isinstance(value, dict):
        return value
    more = {
        "$type": "record",
        "took": secrets.randbelow(10**6) / 1000,
        "receipt": secrets.token_hex(8),
        "links": {"self": "/", "help": ["/docs"]},
        "tags": [],
        "_extra": {},
        "deleted": None,
    }
    return {**more, **{name: _furnished(member) for name, member in value.items()}}


_SIGNED = "/signed/"
_CANONICAL = "/canonical"
_OF_WHAT_MAY_BE_ABSENT = frozenset(
    {"getDraft", "draftExists", "getDraftInfo", "getAttachment", "attachmentExists"}
)
_DOWNLOADS = frozenset({"getAttachment", "getAttachmentThumbnail", "attachmentExists"})


@_variant("downloads-elsewhere", "attachment-download-type")
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
        if _operation(scope) not in _DOWNLOADS:
            await self.app(scope, receive, send)
            return
        got = await ask(self.app, scope, b"")
        if got.status == 200:
            await RedirectResponse(self._address(scope), 307)(scope, receive, send)
        else:
            await answer_with(send, got, scope["method"])

    def _address(self, scope: Scope) -> str:
        signature = secrets.token_urlsafe(16)
        self._signed[signature] = scope
        return f"http://localhost:{scope['server'][1]}{_SIGNED}{signature}"


@_variant("reads-sent-on", "Redirects of reads")
class _Canonical(Between):
    """Redirects of reads are not shown: each is sent on to another path of this host."""

    async def answer(self, scope: Scope, receive: Receive, send: Send) -> None:
        path, query = str(scope["path"]), scope["query_string"].decode("latin-1")
        if path.startswith(_CANONICAL):
            path = path.removeprefix(_CANONICAL)
            await self.app({**scope, "path": path, "raw_path": path.encode("latin-1")}, receive, send)
        elif scope["method"] in ("GET", "HEAD") and path.startswith("/api/"):
            place = _CANONICAL + path + (f"?{query}" if query else "")
            await RedirectResponse(place, 308)(scope, receive, send)
        else:
            await self.app(scope, receive, send)


class _Asking(Between):
    """Base of middleware that refuses requests before the service sees them."""

    reason = Reason.BAD_REQUEST

    def refuses(self, scope: Scope) -> str:  # noqa: ARG002
        """Say why a request is refused; empty when it is not."""
        return ""

    async def answer(self, scope: Scope, receive: Receive, send: Send) -> None:
        why = self.refuses(scope)
        if not why:
            await super().answer(scope, receive, send)
            return
        # The refusal has the shape that the service's habits give it.
        refusal = scope["app"].state.service.responses.refusal(Refusal(self.reason, why))
        await refusal(scope, receive, send)


@_variant("accept-strict", "accept-missing", "accept-other")
class _AcceptStrict(_Asking):
    """A request without an Accept header, or with one that leaves out JSON, is not shown: it is refused."""

    reason = Reason.NOT_ACCEPTABLE

    def refuses(self, scope: Scope) -> str:
        accepted = Request(scope).headers.get("accept", "")
        served = any(kind in accepted for kind in ("application/json", "application/*", "*/*"))
        return (
            "" if served or not str(scope["path"]).startswith("/api/") else "only application/json is served"
        )


@_variant("content-type-needed", "content-type-missing")
class _ContentTypeNeeded(_Asking):
    """A read or a delete without the Content-Type header that is listed for it is not shown: it is refused."""

    def refuses(self, scope: Scope) -> str:
        operation = load_description().operations.get(_operation(scope))
        given = any(name == b"content-type" for name, _ in scope["headers"])
        if (
            given
            or operation is None
            or not operation.lists_content_type
            or operation.method in ("POST", "PUT")
        ):
            return ""
        return "the Content-Type header is missing"


@_variant("queries-known", "query-unknown")
class _KnownQueries(_Asking):
    """A query parameter that is not listed is not shown: the request is refused."""

    def refuses(self, scope: Scope) -> str:
        operation = load_description().operations.get(_operation(scope))
        known = set(operation.query_parameters) if operation else set(Request(scope).query_params)
        unknown = sorted(Request(scope).query_params.keys() - known)
        return f"the query parameter {unknown[0]} is not known" if unknown else ""
