"""Defects of JSON bodies, headers and realms, of repeated secrets, of server errors and of requests that hang."""

import asyncio
import json
import re
from collections.abc import Awaitable, Callable
from typing import Any
from urllib.parse import unquote_to_bytes

from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse, Response

from contracts.sandbox.defects.declaration import (
    ATTACHING,
    CREATE,
    JSON_BODIES,
    LIST_ATTACHMENTS,
    READING_ATTACHMENTS,
    READING_DRAFTS,
    UPDATE,
    Change,
    Every,
    Handler,
    Operations,
    alter,
    alteration,
    alteration_at,
    answered,
    answers,
    defects,
    edit_for_request,
    edit_refusal,
    every,
    in_realm,
    json_of,
    kebab,
    refuse,
    replaces,
)
from contracts.sandbox.defects.lists import Drafts, Rows, query_of
from contracts.sandbox.http_requests import (
    BodyReader,
    JsonBody,
    Reason,
    Refusal,
    bad_request,
    header_value,
    not_found,
    query_value,
)
from contracts.sandbox.listing import Page
from contracts.sandbox.service import Service
from contracts.sandbox.storage import DRAFT, Records
from contracts.sandbox.workflow import Row

Mend = Callable[[str], str]

_WITHOUT_COMMENTS = re.compile(r"/\*.*?\*/|//[^\n\"]*$", re.DOTALL | re.MULTILINE)


def _closed(text: str) -> str:
    """Return a JSON text with what is missing at its end."""
    missing = []
    inside = False
    for place, letter in enumerate(text):
        if letter == '"' and text[place - 1 : place] != "\\":
            inside = not inside
        elif not inside and letter in "{[":
            missing.append("}" if letter == "{" else "]")
        elif not inside and letter in "}]" and missing:
            missing.pop()
    return text.rstrip().rstrip(",:") + ('"' if inside else "") + "".join(reversed(missing))


def _first_value(text: str) -> str:
    try:
        _, end = json.JSONDecoder().raw_decode(text.lstrip())
    except ValueError:
        return text
    return text.lstrip()[:end]


_MENDS: dict[str, Mend] = {
    "trailing-comma": lambda text: re.sub(r",\s*([}\]])", r"\1", text),
    "comments": lambda text: _WITHOUT_COMMENTS.sub("", text),
    "apostrophes": lambda text: text.replace("'", '"'),
    "cut-short": _closed,
    "more-after-end": _first_value,
    "bare-keys": lambda text: re.sub(r"([{,]\s*)([A-Za-z]\w*)\s*:", r'\1"\2":', text),
}


def malformed(raw: bytes) -> bool:
    """Tell whether a body is there and is not well-formed JSON."""
    try:
        json.loads(raw)
    except (ValueError, RecursionError):
        return bool(raw)
    return False


@alteration_at
def _mended(service: Service, operations: Operations, mend: Mend) -> None:
    """Mend malformed bodies before they are refused."""
    faithful_reader = BodyReader(service.body.limit)

    async def read(faithful: Callable[[Request], Any], request: Request) -> JsonBody:
        raw = await request.body()
        try:
            body: JsonBody = await faithful(request)
        except Refusal:
            if request.scope["operation_id"] not in operations or not malformed(raw):
                raise
            return faithful_reader.parse(mend(raw.decode("utf-8", "replace")).encode())
        return body

    alter(service.body, "read", read)


defects(
    {
        f"malformed-{record}-{'' if mend == 'cut-short' else 'with-'}{mend}": _mended(_MENDS[mend])
        for record, mend in (
            ("draft", "trailing-comma"),
            ("draft", "cut-short"),
            ("draft", "more-after-end"),
            ("draft", "bare-keys"),
            ("credentials", "trailing-comma"),
            ("contact", "cut-short"),
            ("contact", "apostrophes"),
            ("contact", "trailing-comma"),
            ("contact", "comments"),
            ("contact-update", "cut-short"),
            ("submission", "cut-short"),
            ("named-submission", "cut-short"),
            ("submission-update", "cut-short"),
        )
    }
)


@answers("malformed-draft-refused-yet-stored")
async def _(service: Service, faithful: Handler, request: Request) -> Response:
    raw = await request.body()
    try:
        return await faithful(request)
    except Refusal:
        if malformed(raw) and (caller := service.identity.caller(request)) is not None:
            uid, realm = service.identifiers.from_path(request), service.realms.of_documents(request)
            schema = service.realms.schema(request, realm).name
            with service.storage.transaction() as records:
                service.drafts.keep(records, caller=caller, realm=realm, uid=uid, schema=schema, content="{}")
        raise


@answers("malformed-draft-ignored")
async def _(service: Service, faithful: Handler, request: Request) -> Response:
    raw = await request.body()
    try:
        return await faithful(request)
    except Refusal:
        if not malformed(raw) or service.identity.caller(request) is None:
            raise
        return JSONResponse({"identifier": service.identifiers.from_path(request)})


def _labelled(label: str) -> Change:
    async def answer(_service: Service, faithful: Handler, request: Request) -> Response:
        response = await faithful(request)
        if response.body:
            response.headers["Content-Type"] = label
        return response

    return answered(answer)


@answers("refusal-labelled-text")
async def _(service: Service, faithful: Handler, request: Request) -> Response:
    try:
        return await faithful(request)
    except Refusal as refusal:
        response = service.answers.refusal(refusal)
        response.headers["Content-Type"] = "text/plain"
        return response


@answers("refusal-in-plain-text")
async def _(service: Service, faithful: Handler, request: Request) -> Response:
    try:
        return await faithful(request)
    except Refusal as refusal:
        response = service.answers.refusal(refusal)
        return PlainTextResponse(refusal.message, response.status_code)


@answers("saved-in-plain-text")
async def _(_service: Service, faithful: Handler, request: Request) -> Response:
    return PlainTextResponse("saved", (await faithful(request)).status_code)


def _media_type(_: str) -> Refusal:
    return Refusal(Reason.MEDIA_TYPE, "the Content-Type cannot be used")


def _typed(request: Request) -> bool:
    return header_value(request, "content-type") is not None


def _untyped(request: Request) -> bool:
    return not _typed(request)


def _with_charset(request: Request) -> bool:
    return "charset" in (header_value(request, "content-type") or "").lower()


def _gone(_: str) -> Refusal:
    return not_found("there is nothing at this path")


_WITHOUT_BODY = ("getDraft", "getDraftInfo", "draftExists", "deleteDraft", "listDrafts", *READING_ATTACHMENTS)
_TYPE_NOT_NEEDED = (*LIST_ATTACHMENTS, *ATTACHING)
defects(
    {
        "json-as-plain-by-get-draft": _labelled("text/plain"),
        "json-as-html-by-list-drafts": _labelled("text/html"),
        "json-as-plain-by-create-token": _labelled("text/plain"),
        "json-as-octet-stream-by-list-attachments": _labelled("application/octet-stream"),
        "json-as-plain-by-create-workflow-record": _labelled("text/plain"),
        **{f"content-type-refused-by-{kebab(name)}": refuse(_media_type, _typed) for name in _WITHOUT_BODY},
        **{
            f"content-type-needed-by-{kebab(name)}": refuse(_media_type, _untyped)
            for name in _TYPE_NOT_NEEDED
        },
        **{f"charset-refused-by-{kebab(name)}": refuse(_media_type, _with_charset) for name in JSON_BODIES},
        **{
            f"path-of-{kebab(name)}-gone": refuse(_gone)
            for name in ("listAttachments", "getDraftInfo", CREATE, UPDATE)
        },
    }
)


def _token(request: Request) -> str:
    return (header_value(request, "authorization") or "").partition(" ")[2]


@answers("password-in-refusal")
async def _(_service: Service, faithful: Handler, request: Request) -> Response:
    value = await json_of(request)
    try:
        return await faithful(request)
    except Refusal as refusal:
        password = value.get("password") if isinstance(value, dict) else None
        if isinstance(password, str) and password:
            raise Refusal(refusal.reason, f"{password!r} is not the password") from None
        raise


@answers("password-in-answer")
async def _(_service: Service, faithful: Handler, request: Request) -> Response:
    value = await json_of(request)
    response = await faithful(request)
    body: dict[str, Any] = json.loads(bytes(response.body))
    return JSONResponse({**body, "account": value}, response.status_code)


async def _in_refusals(_service: Service, faithful: Handler, request: Request) -> Response:
    try:
        return await faithful(request)
    except Refusal as refusal:
        if not _token(request):
            raise
        message = f"{refusal.message} (authorization: {header_value(request, 'authorization')})"
        raise Refusal(refusal.reason, message, faults=refusal.faults, status=refusal.status) from None


@answers("token-in-header")
async def _(_service: Service, faithful: Handler, request: Request) -> Response:
    response = await faithful(request)
    response.headers["X-Session"] = _token(request)
    return response


defects(
    {
        "token-in-info": edit_for_request(lambda body, request: {**body, "session": _token(request)}),
        "token-in-submission-answer": edit_for_request(
            lambda body, request: {**body, "request": dict(request.headers)}
        ),
        "token-in-refusal-of-draft": answered(_in_refusals),
        "token-in-refusal-of-contact": answered(_in_refusals),
    }
)


Test = Callable[[Request], Awaitable[bool]]


def _raw(test: Callable[[bytes], bool]) -> Test:
    """Return the test of a request by the bytes of its body."""

    async def meant(request: Request) -> bool:
        return test(await request.body())

    return meant


def _not_utf8(raw: bytes) -> bool:
    try:
        raw.decode("utf-8")
    except UnicodeDecodeError:
        return True
    return False


def _deep(raw: bytes) -> bool:
    """Tell whether a body opens more than 200 brackets."""
    return raw.count(b"[") + raw.count(b"{") > 200


def _half_pair(raw: bytes) -> bool:
    """Tell whether a body holds half of a surrogate pair."""
    if re.search(rb"\\u[dD][89a-fA-F]", raw) is None:
        return False
    try:
        json.dumps(json.loads(raw), ensure_ascii=False).encode("utf-8")
    except ValueError:
        return True
    return False


def _no_object(raw: bytes) -> bool:
    """Tell whether a body is there and begins like something else than an object."""
    return raw.strip()[:1] not in {b"{", b""}


def _query(name: str, test: Callable[[str], bool]) -> Test:
    """Return the test of a request by one of its query parameters; an absent one counts as empty."""

    async def meant(request: Request) -> bool:
        return test(query_of(request).get(name, ""))

    return meant


def _segment(name: str, test: Callable[[str], bool]) -> Test:
    """Return the test of a request by one of its path parameters, as it came over the wire."""

    async def meant(request: Request) -> bool:
        return test(request.path_params[name])

    return meant


def _header(name: str, test: Callable[[str | None], bool]) -> Test:
    """Return the test of a request by one of its headers."""

    async def meant(request: Request) -> bool:
        return test(header_value(request, name))

    return meant


def _broken() -> Response:
    return JSONResponse({"statusCode": 500, "message": "internal error"}, 500)


def _fails(test: Test) -> Change:
    async def answer(_service: Service, faithful: Handler, request: Request) -> Response:
        return _broken() if await test(request) else await faithful(request)

    return answered(answer)


def _hangs(test: Test) -> Change:
    async def answer(_service: Service, faithful: Handler, request: Request) -> Response:
        if await test(request):
            await asyncio.sleep(FOREVER)
        return await faithful(request)

    return answered(answer)


FOREVER = 3600.0
"""Seconds for which a request hangs: longer than any client waits."""
_REALMS = frozenset({"abs-dev", "bch-dev", "chm-dev", "ort-dev"})
_LONG_UID = _segment("uid", lambda text: len(text) > 255)
_LONG_NUMBER: Callable[[str], bool] = lambda text: len(text) > 18 and text.isdecimal()  # noqa: E731
_UID_READERS = (*READING_DRAFTS, "deleteDraft", *LIST_ATTACHMENTS)


_ESCAPED_BEYOND_ASCII = re.compile(rb"\\u(?!00[0-7])")


async def _beyond_ascii(request: Request) -> bool:
    """Whether a letter beyond ASCII stands in the address or the body, be it escaped as JSON does."""
    address, body = unquote_to_bytes(f"{request.url.path}?{request.url.query}"), await request.body()
    return not (address + body).isascii() or _ESCAPED_BEYOND_ASCII.search(body) is not None


_FAILING_BEYOND_ASCII = (
    "draftExists",
    "getDraftInfo",
    "createAttachment",
    "persistTemporaryFile",
    "attachmentExists",
    "createWorkflowRecord",
    "createWorkflowRecordWithIdentifier",
    "updateWorkflowRecord",
)


async def _unknown_account(request: Request) -> bool:
    value: Any = await json_of(request)
    email = value.get("email") if isinstance(value, dict) else None
    return isinstance(email, str) and bool(email) and not email.endswith("@sandbox.test")


def _read_rarely(rare: Every) -> Change:
    async def answer(_service: Service, faithful: Handler, request: Request) -> Response:
        return _broken() if rare() else await faithful(request)

    return answered(answer)


defects(
    {
        "fails-on-malformed-sign-in": _fails(_raw(malformed)),
        "fails-on-malformed-contact": _fails(_raw(malformed)),
        "fails-on-deep-draft": _fails(_raw(_deep)),
        "fails-on-deep-submission": _fails(_raw(_deep)),
        "fails-on-half-pair": _fails(_raw(_half_pair)),
        "fails-on-half-pair-in-update": _fails(_raw(_half_pair)),
        "fails-on-half-pair-in-draft": _fails(_raw(_half_pair)),
        "fails-on-other-encoding": _fails(_raw(_not_utf8)),
        "fails-on-null-character": _fails(_raw(lambda raw: b"\\u0000" in raw or b"\0" in raw)),
        "fails-on-array-submission": _fails(_raw(_no_object)),
        "fails-on-array-draft": _fails(_raw(_no_object)),
        "fails-on-absent-contact": _fails(_raw(lambda raw: not raw)),
        "fails-on-other-content-type": _fails(
            _header("content-type", lambda kind: "json" not in (kind or "json"))
        ),
        "fails-on-huge-top": _fails(_query("$top", _LONG_NUMBER)),
        "fails-on-negative-skip": _fails(_query("$skip", lambda text: text.startswith("-"))),
        "fails-on-malformed-filter": _fails(_query("$filter", lambda text: text.count("'") % 2 == 1)),
        "fails-on-word-for-top": _fails(
            _query("top", lambda text: bool(text) and not re.fullmatch(r"-?[0-9]+", text))
        ),
        "fails-on-word-for-attachment-id": _fails(_segment("attachmentId", str.isalpha)),
        "fails-on-odd-encoding-in-uid": _fails(
            _segment("uid", lambda text: _not_utf8(unquote_to_bytes(text)))
        ),
        "fails-on-apostrophe-in-uid": _fails(_segment("uid", lambda text: b"'" in unquote_to_bytes(text))),
        "fails-on-unknown-realm": _fails(
            _header("realm", lambda name: name is not None and name not in _REALMS)
        ),
        "fails-on-broken-authorization": _fails(
            _header("authorization", lambda text: text is not None and " " not in text)
        ),
        **{f"fails-on-long-uid-in-{kebab(name)}": _fails(_LONG_UID) for name in _UID_READERS},
        **{
            f"fails-on-huge-id-in-{kebab(name)}": _fails(_segment("attachmentId", _LONG_NUMBER))
            for name in READING_ATTACHMENTS
        },
        **{f"fails-beyond-ascii-in-{kebab(name)}": _fails(_beyond_ascii) for name in _FAILING_BEYOND_ASCII},
        "fails-one-in-twenty": every(20, _read_rarely),
        "hangs-on-deep-draft": _hangs(_raw(_deep)),
        "hangs-on-unknown-account": _hangs(_unknown_account),
    }
)


@answers("fails-on-absent-draft")
async def _(service: Service, faithful: Handler, request: Request) -> Response:
    try:
        return await faithful(request)
    except Refusal as refusal:
        if service.answers.refusal(refusal).status_code != 404:
            raise
        return _broken()


@answers("thumbnail-of-text-fails")
async def _(service: Service, faithful: Handler, request: Request) -> Response:
    attachment = service.attachments.requested(request)
    return await faithful(request) if attachment.content_type.startswith("image/") else _broken()


_FIRST = "abs-dev"


def _unknown(_: str) -> Refusal:
    return bad_request("the realm is not configured")


def _row_unknown(_: str) -> Refusal:
    return Row.REALM_UNKNOWN.refusal()


def has_realm_header(request: Request) -> bool:
    """Tell whether a request has a Realm header that is not empty."""
    return bool(header_value(request, "realm"))


def _without_header(request: Request) -> bool:
    return not has_realm_header(request)


def _empty(request: Request) -> bool:
    return header_value(request, "realm") == ""


def _is_realm(service: Service, realm: str | None) -> bool:
    return realm in service.realms.realms


@alteration
def realm_given(service: Service, change: Callable[[Service, Request, str | None], str | None]) -> None:
    """Let ``change`` say which realm a workflow request names, from the request and the faithful answer."""
    alter(service.realms, "given", lambda faithful, request: change(service, request, faithful(request)))


def _query_ignored(meant: Callable[[Request, str | None], bool]) -> Change:
    """Return the change that takes no notice of a known realm in the query of the requests that are meant."""
    return realm_given(
        lambda service, request, realm: (
            None
            if _without_header(request) and _is_realm(service, realm) and meant(request, realm)
            else realm
        )
    )


def _unknown_in_query_is_first(service: Service, request: Request, realm: str | None) -> str | None:
    unknown = _without_header(request) and not _is_realm(service, query_value(request, "Realm") or None)
    return _FIRST if realm is not None and unknown else realm


def _of_rows(change: Callable[[Refusal], Refusal], *rows: Row) -> Callable[[Refusal], Refusal]:
    """Return the change of a refusal that is one of some rows of the workflow table."""
    messages = {row.value[1] for row in rows}
    return lambda refusal: change(refusal) if refusal.message in messages else refusal


def _not_found(refusal: Refusal) -> Refusal:
    return Refusal(Reason.STATED, refusal.message, status=404)


defects(
    {
        **{
            f"realm-{realm}-not-for-{operation}": refuse(_unknown, in_realm(f"{realm}-dev"))
            for realm, operation in (
                ("bch", "create-contact"),
                ("abs", "update-contact"),
                ("bch", "save-draft"),
                ("chm", "draft-exists"),
                ("chm", "delete-draft"),
                ("abs", "list-drafts"),
            )
        },
        "realm-ort-not-for-create-workflow-record": refuse(_row_unknown, in_realm("ort-dev")),
        "realm-chm-not-for-create-workflow-record-with-identifier": refuse(_row_unknown, in_realm("chm-dev")),
        "realm-ort-not-for-update-workflow-record": refuse(_row_unknown, in_realm("ort-dev")),
        "realm-query-ignored": _query_ignored(lambda _request, _realm: True),
        "realm-query-ignored-on-update": _query_ignored(
            lambda request, _: request.scope["operation_id"] == UPDATE
        ),
        "realm-query-only-abs": _query_ignored(lambda _, realm: realm != _FIRST),
        "realm-query-unknown-status": edit_refusal(
            _of_rows(_not_found, Row.REALM_UNKNOWN), when=_without_header
        ),
        "realm-query-unknown-message": edit_refusal(
            _of_rows(lambda _: Row.REALM_MISSING.refusal(), Row.REALM_UNKNOWN), when=_without_header
        ),
        "realm-query-unknown-taken-for-first": realm_given(_unknown_in_query_is_first),
        **{
            f"realm-needed-by-{kebab(operation)}": refuse(bad_request, _without_header)
            for operation in (*ATTACHING, "listAttachments", *READING_ATTACHMENTS)
        },
        "realm-empty-taken-for-first": realm_given(
            lambda _, request, realm: realm or (_FIRST if _empty(request) else None)
        ),
        "realm-empty-status": edit_refusal(
            _of_rows(_not_found, Row.REALM_MISSING, Row.REALM_UNKNOWN), when=_empty
        ),
    }
)


@answers("realm-draft-given-in-others", "getDraft")
async def _(service: Service, faithful: Handler, request: Request) -> Response:
    try:
        return await faithful(request)
    except Refusal:
        service.identity.require(request)
        uid = service.identifiers.from_path(request)
        with service.storage.transaction() as records:
            versions = [records.version(realm, uid, DRAFT) for realm in service.realms.realms]
        draft = next((version for version in versions if version is not None), None)
        if draft is None:
            raise
        return service.answers.content(draft.content)


@replaces("listing.drafts", "realm-lists-mixed-by-filter")
def _(
    service: Service, faithful: Drafts, records: Records, realm: str, owner: str | None, page: Page
) -> Rows:
    others = [] if page.filter is None else [name for name in service.realms.realms if name != realm]
    return [row for name in (realm, *others) for row in faithful(records, name, owner, page)]


@replaces("listing.drafts", "realm-lists-mixed")
def _(
    service: Service, faithful: Drafts, records: Records, realm: str, owner: str | None, page: Page
) -> Rows:
    if page.filter is not None or page.orderby is not None:
        return faithful(records, realm, owner, page)
    rows = [*faithful(records, realm, owner, Page(None, None, None, 0))]
    for other in service.realms.realms:
        rows += faithful(records, other, owner, Page(None, None, None, 0)) if other != realm else []
    return rows[page.skip : None if page.top is None else page.skip + page.top]
