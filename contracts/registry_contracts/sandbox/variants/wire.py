"""Variants between the service and the wire: framing, headers, redirects, refused requests."""

import json
import secrets
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any

from starlette.middleware.gzip import GZipMiddleware
from starlette.requests import Request
from starlette.responses import RedirectResponse
from starlette.types import Scope

from registry_contracts.sandbox.faults.messages import Asked, Headers
from registry_contracts.sandbox.http import Reason, Refusal
from registry_contracts.sandbox.responses import json_bytes
from registry_contracts.sandbox.variants.model import DECLARED, Variant, variant


def _furnished_headers(headers: Headers) -> Headers:
    charset = b"Application/JSON; charset=UTF-8"
    kept = ((name, charset if value == b"application/json" else value) for name, value in headers)
    more = (
        (b"server", b"registry"),
        (b"set-cookie", b"session=%s; Path=/; HttpOnly" % secrets.token_hex(8).encode()),
        (b"vary", b"Origin, Accept-Encoding"),
        (b"cache-control", b"no-cache"),
        (b"x-request-id", secrets.token_hex(8).encode()),
        (b"etag", b'W/"%s"' % secrets.token_hex(4).encode()),
        (b"x-ratelimit-remaining", b"4999"),
        (b"connection", b"close"),
    )
    return tuple((name.upper(), value) for name, value in (*kept, *more))


@variant("headers-furnished", "Headers of answers", layer=4)
async def _furnished(asked: Asked) -> None:
    """The headers of answers are not shown: in capitals, with a charset, cookies, caches and ids, and each closes."""
    await asked.passes(_furnished_headers)


@variant("chunked", "Framing and coding of bodies", layer=2)
async def _chunked(asked: Asked) -> None:
    """The framing of a body is not shown: chunks, without a length."""
    await asked.passes(lambda headers: tuple(pair for pair in headers if pair[0] != b"content-length"))


_COMPRESSED = "The coding of a body is not shown: compressed where the client takes it."
_GZIP = partial(GZipMiddleware, minimum_size=1)
DECLARED.append(Variant("gzip", ("Framing and coding of bodies",), _COMPRESSED, wrap=_GZIP, layer=1))


_DOWNLOADS = ("getAttachment", "getAttachmentThumbnail", "attachmentExists")


def _is_of(asked: Asked, *operations: str) -> bool:
    return asked.operation is not None and asked.operation.id in operations


async def _rewrite(
    asked: Asked, change: Callable[[Any], Any], *spared: str, text: Callable[[Any], bytes] = json_bytes
) -> None:
    """Change the JSON of an answer, unless it may be a client's file."""
    # A redirected request has another path, which names no operation: it may be for a file.
    if not asked.scope["path"].startswith("/api/") or _is_of(asked, *_DOWNLOADS, *spared):
        await asked.passes()
        return
    got = await asked.answered()
    written = "json" in got.header("content-type") and got.body
    await asked.answer(replace(got, body=text(change(got.json))) if written else got)


@variant("json-rewritten", "Form of the JSON of answers")
async def _rewritten(asked: Asked) -> None:
    """How JSON is written is not shown: indented, members sorted, letters beyond ASCII and slashes escaped."""

    def text(value: Any) -> bytes:
        return json.dumps(value, sort_keys=True, indent=2).replace("/", "\\/").encode()

    await _rewrite(asked, lambda value: value, text=text)


@variant("extra-members", "Further members of answers")
async def _extra_members(asked: Asked) -> None:
    """Further members of answers are not shown: each object has some, volatile ones too, but for what is stored."""
    await _rewrite(asked, _with_more, "getDraft")


def _with_more(value: Any) -> Any:
    if isinstance(value, list):
        return [_with_more(item) for item in value]
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
    return {**more, **{name: _with_more(member) for name, member in value.items()}}


_PLACE_OF_ERRORS = "Place of an errors array, and what stands beside it"


async def _retell(asked: Asked, change: Callable[[dict[str, Any]], Any], *, if_any: bool = True) -> None:
    """Change the answers that are objects, those with an errors array alone or all."""

    def told(value: Any) -> Any:
        return change(value) if isinstance(value, dict) and (value.get("errors") or not if_any) else value

    await _rewrite(asked, told, "getDraft")


@variant("errors-nested", _PLACE_OF_ERRORS)
async def _errors_nested(asked: Asked) -> None:
    """The place of the errors array is not shown: it stands under validation, its elements say more."""

    def nested(answer: dict[str, Any]) -> Any:
        errors = [{**e, "message": "see the documentation", "level": 2} for e in answer.pop("errors")]
        return {**answer, "validation": {"isValid": False, "errors": errors}}

    await _retell(asked, nested)


@variant("errors-always", _PLACE_OF_ERRORS)
async def _errors_always(asked: Asked) -> None:
    """An errors array where nothing is wrong with content is not shown: it is there, and empty."""
    await _retell(asked, lambda answer: {"errors": [], **answer}, if_any=False)


@variant("errors-only", _PLACE_OF_ERRORS)
async def _errors_only(asked: Asked) -> None:
    """What else the answer to faulty content holds is not shown: nothing, but each element says more."""
    more = {"parameters": None, "severity": 3}
    await _retell(asked, lambda answer: {"errors": [{**error, **more} for error in answer["errors"]]})


_READS = ("getDraft", "draftExists", "getDraftInfo", "getAttachment", "attachmentExists")


# No other refusal may be 404, or it would be told as an absence, too.
@variant(
    *("absent-204", "attachment-success-status", "attachment-failure-status", "draft-failure-status"),
    habits={"unauthenticated_status": 401, "bad_request_status": 400, "not_found_status": 404},
)
async def _absent_204(asked: Asked) -> None:
    """How a read tells that nothing is there is not shown: by 204, without content."""
    if not _is_of(asked, *_READS):
        await asked.passes()
        return
    got = await asked.answered()
    await asked.answer(replace(got, status=204, body=b"", headers=()) if got.status == 404 else got)


#: The first requests of redirected downloads, by their new paths.
_SIGNED: dict[str, Scope] = {}
_CANONICAL = "/canonical"


@variant("downloads-elsewhere", "attachment-download-type")
async def _downloads_elsewhere(asked: Asked) -> None:
    """How a file is handed over is not shown: by a redirect to a signed address on another host."""
    if first := _SIGNED.get(asked.scope["path"]):
        as_asked = {name: first[name] for name in ("path", "raw_path", "headers")}
        await replace(asked, scope={**asked.scope, **as_asked}).passes()
    elif not _is_of(asked, *_DOWNLOADS):
        await asked.passes()
    elif (got := await asked.answered()).status == 200:
        place = f"/signed/{secrets.token_urlsafe(16)}"
        _SIGNED[place] = asked.scope
        await asked.respond(RedirectResponse(f"http://localhost:{asked.scope['server'][1]}{place}", 307))
    else:
        await asked.answer(got)


@variant("reads-sent-on", "Redirects of reads")
async def _reads_sent_on(asked: Asked) -> None:
    """Redirects of reads are not shown: each is sent on to another path of this host."""
    path, query = str(asked.scope["path"]), asked.scope["query_string"].decode("latin-1")
    if path.startswith(_CANONICAL):
        path = path.removeprefix(_CANONICAL)
        there = {**asked.scope, "path": path, "raw_path": path.encode("latin-1")}
        await replace(asked, scope=there).passes()
    elif asked.scope["method"] in ("GET", "HEAD") and path.startswith("/api/"):
        await asked.respond(RedirectResponse(_CANONICAL + path + (f"?{query}" if query else ""), 308))
    else:
        await asked.passes()


async def _refuse(asked: Asked, why: str, reason: Reason = Reason.BAD_REQUEST) -> None:
    """Refuse a request before the service sees it, if something is said against it."""
    if why:
        # The refusal has the shape that the service's habits give it.
        await asked.respond(asked.scope["app"].state.service.responses.refusal(Refusal(reason, why)))
    else:
        await asked.passes()


@variant("accept-strict", "accept-missing", "accept-other")
async def _accept_strict(asked: Asked) -> None:
    """A request without an Accept header, or with one that leaves out JSON, is not shown: it is refused."""
    accepted = Request(asked.scope).headers.get("accept", "")
    served = any(kind in accepted for kind in ("application/json", "application/*", "*/*"))
    refused = asked.scope["path"].startswith("/api/") and not served
    await _refuse(asked, "only application/json is served" if refused else "", Reason.NOT_ACCEPTABLE)


@variant("content-type-needed", "content-type-missing")
async def _content_type_needed(asked: Asked) -> None:
    """A read or a delete without the Content-Type header that is listed for it is not shown: it is refused."""
    operation = asked.operation
    listed = (
        operation is not None and operation.lists_content_type and operation.method not in ("POST", "PUT")
    )
    missing = listed and "content-type" not in Request(asked.scope).headers
    await _refuse(asked, "the Content-Type header is missing" if missing else "")


@variant("queries-known", "query-unknown")
async def _queries_known(asked: Asked) -> None:
    """A query parameter that is not listed is not shown: the request is refused."""
    given = Request(asked.scope).query_params.keys()
    unknown = sorted(given - set(asked.operation.query_parameters)) if asked.operation else []
    await _refuse(asked, f"the query parameter {unknown[0]} is not known" if unknown else "")
