"""Defects of common sense: errors of the service's own making, and requests that hang."""

import asyncio
import json
import re
from collections.abc import Awaitable, Callable
from typing import Any
from urllib.parse import unquote_to_bytes

from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from contracts.sandbox.defects.alteration import Every, Handler, around, json_of
from contracts.sandbox.defects.list_collections import query_of
from contracts.sandbox.defects.registry import (
    CREATE,
    CREATE_WITH,
    LIST_ATTACHMENTS,
    READING_ATTACHMENTS,
    READING_DRAFTS,
    UPDATE,
    Change,
    answers,
    defect,
    kebab,
)
from contracts.sandbox.http_requests import header_value
from contracts.sandbox.refusals import Refusal
from contracts.sandbox.service import Service

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
