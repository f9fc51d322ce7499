"""Defects of JSON bodies, headers and versions, and of answers that repeat a password or a token."""

import json
import re
from collections.abc import Callable
from typing import Any

from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse, Response

from contracts.sandbox.defects.alteration import Handler, alter, around, edit, json_of, refuse
from contracts.sandbox.defects.registry import (
    ATTACHING,
    CREATE,
    CREATE_WITH,
    JSON_BODIES,
    LIST_ATTACHMENTS,
    READING_ATTACHMENTS,
    UPDATE,
    Change,
    answers,
    defect,
    kebab,
)
from contracts.sandbox.http_requests import BodyReader, JsonBody, header_value
from contracts.sandbox.refusals import Reason, Refusal, not_found
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
