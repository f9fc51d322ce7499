"""Defects of JSON bodies, headers and versions, of repeated secrets, of server errors and of requests that hang."""

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
    CREATE_WITH,
    JSON_BODIES,
    LIST_ATTACHMENTS,
    READING_ATTACHMENTS,
    READING_DRAFTS,
    UPDATE,
    Change,
    Every,
    Handler,
    alter,
    answers,
    around,
    defect,
    edit,
    json_of,
    kebab,
    refuse,
)
from contracts.sandbox.defects.lists import query_of
from contracts.sandbox.http_requests import BodyReader, JsonBody, Reason, Refusal, header_value, not_found
from contracts.sandbox.service import Service

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


_MENDS: dict[str, tuple[str, Mend]] = {
    "trailing-comma": (
        "with a comma before a closing bracket",
        lambda text: re.sub(r",\s*([}\]])", r"\1", text),
    ),
    "comments": ("with comments", lambda text: _WITHOUT_COMMENTS.sub("", text)),
    "apostrophes": ("with apostrophes for quotation marks", lambda text: text.replace("'", '"')),
    "cut-short": ("that is cut short", _closed),
    "more-after-end": ("with more after its end", _first_value),
    "bare-keys": (
        "with keys without quotation marks",
        lambda text: re.sub(r"([{,]\s*)([A-Za-z]\w*)\s*:", r'\1"\2":', text),
    ),
}


def _mended(operation: str, mend: Mend) -> Change:
    """Return the change that mends malformed bodies of one operation before they are refused."""

    def change(service: Service) -> None:
        faithful_reader = BodyReader(service.body.limit)

        async def read(faithful: Callable[[Request], Any], request: Request) -> JsonBody:
            raw = await request.body()
            try:
                body: JsonBody = await faithful(request)
            except Refusal:
                if request.scope["operation_id"] != operation or _well_formed(raw):
                    raise
                return faithful_reader.parse(mend(raw.decode("utf-8", "replace")).encode())
            return body

        alter(service.body, "read", read)

    return change


def _well_formed(raw: bytes) -> bool:
    try:
        json.loads(raw)
    except (ValueError, RecursionError):
        return not raw
    return True


for _operation, _how, _name in (
    ("saveDraft", "trailing-comma", "draft-with-trailing-comma"),
    ("saveDraft", "cut-short", "draft-cut-short"),
    ("saveDraft", "more-after-end", "draft-with-more-after-end"),
    ("createContact", "apostrophes", "contact-with-apostrophes"),
    ("createContact", "trailing-comma", "contact-with-trailing-comma"),
    ("updateContact", "comments", "contact-with-comments"),
    ("updateContact", "cut-short", "contact-update-cut-short"),
    (CREATE, "cut-short", "submission-cut-short"),
    (CREATE_WITH, "more-after-end", "submission-with-more-after-end"),
    (UPDATE, "bare-keys", "submission-with-bare-keys"),
    (UPDATE, "trailing-comma", "submission-with-trailing-comma"),
):
    defect(
        f"malformed-{_name}",
        clause="malformed-json-refused",
        operations=[_operation],
        sentence=f"{_operation} accepts a body {_MENDS[_how][0]}.",
    )(_mended(_operation, _MENDS[_how][1]))


@answers("malformed-draft-refused-yet-stored", clause="malformed-json-refused", operations=["saveDraft"])
async def _(service: Service, faithful: Handler, request: Request) -> Response:
    """A draft that is not well formed is refused, yet an empty draft is stored under its uid."""
    raw = await request.body()
    try:
        return await faithful(request)
    except Refusal:
        if not _well_formed(raw) and (caller := service.identity.caller(request)) is not None:
            uid, realm = service.identifiers.from_path(request), service.realms.of_documents(request)
            schema = service.realms.schema(request, realm).name
            with service.storage.transaction() as records:
                service.drafts.keep(records, caller=caller, realm=realm, uid=uid, schema=schema, content="{}")
        raise


@answers("malformed-draft-ignored", clause="malformed-json-refused", operations=["saveDraft"])
async def _(service: Service, faithful: Handler, request: Request) -> Response:
    """A draft that is not well formed is answered with success and not stored."""
    raw = await request.body()
    try:
        return await faithful(request)
    except Refusal:
        if _well_formed(raw) or service.identity.caller(request) is None:
            raise
        return JSONResponse({"identifier": service.identifiers.from_path(request)})


def _relabelled(operation: str, label: str) -> Change:
    def change(service: Service) -> None:
        async def answer(faithful: Handler, request: Request) -> Response:
            response = await faithful(request)
            if response.body:
                response.headers["Content-Type"] = label
            return response

        around(service, [operation], answer)

    return change


for _operation, _label in (
    ("getDraft", "text/plain"),
    ("listDrafts", "text/html"),
    ("createToken", "text/plain"),
    ("listAttachments", "application/octet-stream"),
    (CREATE, "text/plain"),
):
    defect(
        f"json-as-{_label.partition('/')[2]}-by-{kebab(_operation)}",
        clause="json-labelled-json",
        operations=[_operation],
        sentence=f"The JSON that {_operation} answers is labelled {_label}.",
    )(_relabelled(_operation, _label))


@answers("refusal-labelled-text", clause="json-labelled-json", operations=["createContact"])
async def _(service: Service, faithful: Handler, request: Request) -> Response:
    """The errors of a faulty contact come as JSON labelled text/plain."""
    try:
        return await faithful(request)
    except Refusal as refusal:
        response = service.answers.refusal(refusal)
        response.headers["Content-Type"] = "text/plain"
        return response


@answers("refusal-in-plain-text", clause="json-bodies", operations=["getDraft"])
async def _(service: Service, faithful: Handler, request: Request) -> Response:
    """A draft that is not there is refused with a line of plain text."""
    try:
        return await faithful(request)
    except Refusal as refusal:
        response = service.answers.refusal(refusal)
        return PlainTextResponse(refusal.message, response.status_code)


@answers("saved-in-plain-text", clause="json-bodies", operations=["saveDraft"])
async def _(_service: Service, faithful: Handler, request: Request) -> Response:
    """The answer to a saved draft is the plain word saved."""
    return PlainTextResponse("saved", (await faithful(request)).status_code)


_WITHOUT_BODY = ("getDraft", "getDraftInfo", "draftExists", "deleteDraft", "listDrafts", *READING_ATTACHMENTS)


def _media_type(_: str) -> Refusal:
    return Refusal(Reason.MEDIA_TYPE, "the Content-Type cannot be used")


def _refusing(operation: str, when: Callable[[Request], bool]) -> Change:
    return lambda service: refuse(service, [operation], _media_type, when)


def _typed(request: Request) -> bool:
    return header_value(request, "content-type") is not None


def _untyped(request: Request) -> bool:
    return not _typed(request)


def _with_charset(request: Request) -> bool:
    return "charset" in (header_value(request, "content-type") or "").lower()


for _operation in _WITHOUT_BODY:
    defect(
        f"content-type-refused-by-{kebab(_operation)}",
        clause="content-type-without-body",
        operations=[_operation],
        sentence=f"{_operation} is refused when it carries a Content-Type header.",
    )(_refusing(_operation, _typed))

for _operation in (*LIST_ATTACHMENTS, *ATTACHING):
    defect(
        f"content-type-needed-by-{kebab(_operation)}",
        clause="content-type-not-needed",
        operations=[_operation],
        sentence=f"{_operation} is refused without a Content-Type header.",
    )(_refusing(_operation, _untyped))

for _operation in JSON_BODIES:
    defect(
        f"charset-refused-by-{kebab(_operation)}",
        clause="content-type-charset",
        operations=[_operation],
        sentence=f"{_operation} refuses a Content-Type with the parameter charset.",
    )(_refusing(_operation, _with_charset))


def _gone(operation: str) -> Change:
    return lambda service: refuse(service, [operation], lambda _: not_found("there is nothing at this path"))


for _operation, _clause in (
    ("listAttachments", "version-2013-paths"),
    ("getDraftInfo", "version-2013-paths"),
    (CREATE, "version-2023-paths"),
    (UPDATE, "version-2023-paths"),
):
    defect(
        f"path-of-{kebab(_operation)}-gone",
        clause=_clause,
        operations=[_operation],
        sentence=f"There is nothing at the path and method of {_operation}.",
    )(_gone(_operation))


def _token(request: Request) -> str:
    return (header_value(request, "authorization") or "").partition(" ")[2]


@answers("password-in-refusal", clause="no-secret-echoed", operations=["createToken"])
async def _(_service: Service, faithful: Handler, request: Request) -> Response:
    """The refusal of a wrong password repeats the password."""
    value = await json_of(request)
    try:
        return await faithful(request)
    except Refusal as refusal:
        password = value.get("password") if isinstance(value, dict) else None
        if isinstance(password, str) and password:
            raise Refusal(refusal.reason, f"{password!r} is not the password") from None
        raise


@answers("password-in-answer", clause="no-secret-echoed", operations=["createToken"])
async def _(_service: Service, faithful: Handler, request: Request) -> Response:
    """The answer to signing in repeats the password beside the token."""
    value = await json_of(request)
    response = await faithful(request)
    body: dict[str, Any] = json.loads(bytes(response.body))
    return JSONResponse({**body, "account": value}, response.status_code)


@defect("token-in-info", clause="no-secret-echoed", operations=["getDraftInfo"])
def _(service: Service) -> None:
    """The info of a draft repeats the token of the request."""
    asked: list[Request] = []

    def remember(request: Request) -> bool:
        asked[:] = [request]
        return True

    edit(service, ["getDraftInfo"], lambda body: {**body, "session": _token(asked[0])}, remember)


def _in_refusals(service: Service, operation: str) -> None:
    async def answer(faithful: Handler, request: Request) -> Response:
        try:
            return await faithful(request)
        except Refusal as refusal:
            if not _token(request):
                raise
            message = f"{refusal.message} (authorization: {header_value(request, 'authorization')})"
            raise Refusal(refusal.reason, message, faults=refusal.faults, status=refusal.status) from None

    around(service, [operation], answer)


@defect("token-in-refusal-of-draft", clause="no-secret-echoed", operations=["getDraft"])
def _(service: Service) -> None:
    """The refusal of a draft that cannot be read repeats the Authorization header."""
    _in_refusals(service, "getDraft")


@defect("token-in-refusal-of-contact", clause="no-secret-echoed", operations=["createContact"])
def _(service: Service) -> None:
    """The refusal of a faulty contact repeats the Authorization header in its message."""
    _in_refusals(service, "createContact")


@answers("token-in-header", clause="no-secret-echoed", operations=["listDrafts"])
async def _(_service: Service, faithful: Handler, request: Request) -> Response:
    """A header of the list of drafts repeats the token of the request."""
    response = await faithful(request)
    response.headers["X-Session"] = _token(request)
    return response


@defect("token-in-submission-answer", clause="no-secret-echoed", operations=[UPDATE])
def _(service: Service) -> None:
    """The answer to an accepted update repeats all headers of the request."""
    asked: list[Request] = []

    def remember(request: Request) -> bool:
        asked[:] = [request]
        return True

    edit(service, [UPDATE], lambda body: {**body, "request": dict(asked[0].headers)}, remember)


Test = Callable[[Request], Awaitable[bool]]


async def _body(request: Request, test: Callable[[bytes], bool]) -> bool:
    return test(await request.body())


def raw(test: Callable[[bytes], bool]) -> Test:
    """Return the test of a request by the bytes of its body."""
    return lambda request: _body(request, test)


def malformed(raw: bytes) -> bool:
    """Tell whether a body is there and is not well-formed JSON."""
    try:
        json.loads(raw)
    except (ValueError, RecursionError):
        return bool(raw)
    return False


def not_utf8(raw: bytes) -> bool:
    """Tell whether a body is not UTF-8."""
    try:
        raw.decode("utf-8")
    except UnicodeDecodeError:
        return True
    return False


def deep(raw: bytes) -> bool:
    """Tell whether a body opens more than 200 brackets."""
    return raw.count(b"[") + raw.count(b"{") > 200


def half_pair(raw: bytes) -> bool:
    """Tell whether a body holds half of a surrogate pair."""
    return re.search(rb"\\u[dD][89a-fA-F]", raw) is not None and b"\\u" in raw and not _paired(raw)


def _paired(raw: bytes) -> bool:
    try:
        json.dumps(json.loads(raw), ensure_ascii=False).encode("utf-8")
    except ValueError:
        return False
    return True


def null_character(raw: bytes) -> bool:
    """Tell whether a body holds a null character, escaped or not."""
    return b"\\u0000" in raw or b"\0" in raw


def no_object(raw: bytes) -> bool:
    """Tell whether a body is there and begins like something else than an object."""
    return raw.strip()[:1] not in {b"{", b""}


def query(name: str, test: Callable[[str], bool]) -> Test:
    """Return the test of a request by one of its query parameters; an absent one counts as empty."""

    async def meant(request: Request) -> bool:
        return test(query_of(request).get(name, ""))

    return meant


def segment(name: str, test: Callable[[str], bool]) -> Test:
    """Return the test of a request by one of its path parameters, as it came over the wire."""

    async def meant(request: Request) -> bool:
        return test(request.path_params[name])

    return meant


def header(name: str, test: Callable[[str | None], bool]) -> Test:
    """Return the test of a request by one of its headers."""

    async def meant(request: Request) -> bool:
        return test(header_value(request, name))

    return meant


FOREVER = 3600.0
"""Seconds for which a request hangs: longer than any client waits."""


_REALMS = frozenset({"abs-dev", "bch-dev", "chm-dev", "ort-dev"})


_FAILURES: dict[str, tuple[str, str, Test]] = {
    "fails-on-malformed-sign-in": ("createToken", "a body that is not well formed", raw(malformed)),
    "fails-on-malformed-contact": ("updateContact", "a body that is not well formed", raw(malformed)),
    "fails-on-deep-draft": ("saveDraft", "a body nested more than 200 levels deep", raw(deep)),
    "fails-on-deep-submission": (CREATE, "a body nested more than 200 levels deep", raw(deep)),
    "fails-on-half-pair": ("createContact", "a body with half of a surrogate pair", raw(half_pair)),
    "fails-on-half-pair-in-update": (UPDATE, "a body with half of a surrogate pair", raw(half_pair)),
    "fails-on-half-pair-in-draft": ("saveDraft", "a body with half of a surrogate pair", raw(half_pair)),
    "fails-on-other-encoding": ("createToken", "a body that is not UTF-8", raw(not_utf8)),
    "fails-on-null-character": ("saveDraft", "a null character in a text", raw(null_character)),
    "fails-on-array-submission": (CREATE_WITH, "a body that is no object", raw(no_object)),
    "fails-on-array-draft": ("saveDraft", "a body that is no object", raw(no_object)),
    "fails-on-absent-contact": ("createContact", "an absent body", raw(lambda raw: not raw)),
    "fails-on-other-content-type": (
        UPDATE,
        "a content type other than JSON",
        header("content-type", lambda kind: "json" not in (kind or "json")),
    ),
    "fails-on-huge-top": (
        "listDrafts",
        "a $top of nineteen or more digits",
        query("$top", lambda text: len(text) > 18 and text.isdecimal()),
    ),
    "fails-on-negative-skip": (
        "listDrafts",
        "a negative $skip",
        query("$skip", lambda text: text.startswith("-")),
    ),
    "fails-on-malformed-filter": (
        "listDrafts",
        "a $filter with an odd number of apostrophes",
        query("$filter", lambda text: text.count("'") % 2 == 1),
    ),
    "fails-on-word-for-top": (
        "listAttachments",
        "a top that is a word",
        query("top", lambda text: bool(text) and not re.fullmatch(r"-?[0-9]+", text)),
    ),
    "fails-on-word-for-attachment-id": (
        "getAttachmentThumbnail",
        "an attachment identifier that is a word",
        segment("attachmentId", str.isalpha),
    ),
    "fails-on-odd-encoding-in-uid": (
        "getDraft",
        "a uid that is not UTF-8 when its percent-encoding is undone",
        segment("uid", lambda text: not_utf8(unquote_to_bytes(text))),
    ),
    "fails-on-apostrophe-in-uid": (
        "saveDraft",
        "an apostrophe in a uid",
        segment("uid", lambda text: b"'" in unquote_to_bytes(text)),
    ),
    "fails-on-unknown-realm": (
        "saveDraft",
        "an unknown realm",
        header("realm", lambda name: name is not None and name not in _REALMS),
    ),
    "fails-on-broken-authorization": (
        "getDraftInfo",
        "an Authorization header of one word",
        header("authorization", lambda text: text is not None and " " not in text),
    ),
}
_LONG_UID = ("a uid of more than 255 characters", segment("uid", lambda text: len(text) > 255))
_HUGE_ID = (
    "an attachment identifier of nineteen or more digits",
    segment("attachmentId", lambda text: len(text) > 18 and text.isdecimal()),
)
for _operation in (*READING_DRAFTS, "deleteDraft", *LIST_ATTACHMENTS):
    _FAILURES[f"fails-on-long-uid-in-{kebab(_operation)}"] = (_operation, *_LONG_UID)
for _operation in READING_ATTACHMENTS:
    _FAILURES[f"fails-on-huge-id-in-{kebab(_operation)}"] = (_operation, *_HUGE_ID)


def _broken() -> Response:
    return JSONResponse({"statusCode": 500, "message": "internal error"}, 500)


def _failing(operation: str, test: Test) -> Change:
    def change(service: Service) -> None:
        async def answer(faithful: Handler, request: Request) -> Response:
            return _broken() if await test(request) else await faithful(request)

        around(service, [operation], answer)

    return change


for _name, (_operation, _what, _test) in _FAILURES.items():
    defect(
        _name,
        clause="no-server-error",
        operations=[_operation],
        sentence=f"{_operation} answers 500 to {_what}.",
    )(_failing(_operation, _test))


@answers("fails-on-absent-draft", clause="no-server-error", operations=["deleteDraft"])
async def _(service: Service, faithful: Handler, request: Request) -> Response:
    """Deleting a draft that does not exist answers 500."""
    try:
        return await faithful(request)
    except Refusal as refusal:
        if service.answers.refusal(refusal).status_code != 404:
            raise
        return _broken()


@defect("fails-one-in-twenty", clause="no-server-error", operations=["getDraft"])
def _(service: Service) -> None:
    """Every twentieth read of a draft answers 500."""
    rare = Every(20)

    async def answer(faithful: Handler, request: Request) -> Response:
        return _broken() if rare() else await faithful(request)

    around(service, ["getDraft"], answer)


@answers("thumbnail-of-text-fails", clause="no-server-error", operations=["getAttachmentThumbnail"])
async def _(service: Service, faithful: Handler, request: Request) -> Response:
    """The thumbnail of a file that is no picture answers 500."""
    found = service.attachments.found(request)
    return await faithful(request) if found.content_type.startswith("image/") else _broken()


async def _unknown_account(request: Request) -> bool:
    value: Any = await json_of(request)
    email = value.get("email") if isinstance(value, dict) else None
    return isinstance(email, str) and bool(email) and not email.endswith("@sandbox.test")


def _hanging(operation: str, test: Test) -> Change:
    def change(service: Service) -> None:
        async def answer(faithful: Handler, request: Request) -> Response:
            if await test(request):
                await asyncio.sleep(FOREVER)
            return await faithful(request)

        around(service, [operation], answer)

    return change


defect(
    "hangs-on-deep-draft",
    clause="answers-in-time",
    operations=["saveDraft"],
    sentence="saveDraft never answers a body nested more than 200 levels deep.",
)(_hanging("saveDraft", raw(deep)))
defect(
    "hangs-on-unknown-account",
    clause="answers-in-time",
    operations=["createToken"],
    sentence="createToken never answers an e-mail that belongs to no account.",
)(_hanging("createToken", _unknown_account))
