"""Defects of common sense: errors of the service's own making, requests that hang, and secrets in answers."""

import asyncio
import json
import re
from collections.abc import Awaitable, Callable
from typing import Any

from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from contracts.sandbox.defects.altering import Every, Handler, around, json_of
from contracts.sandbox.defects.groups import CREATE, CREATE_WITH, UPDATE
from contracts.sandbox.defects.pages import query_of
from contracts.sandbox.defects.registry import Change, defect
from contracts.sandbox.query import header_value
from contracts.sandbox.refusals import Refusal
from contracts.sandbox.service import Service

FOREVER = 3600.0
"""Seconds for which a request hangs: longer than any client waits."""

Test = Callable[[Request], Awaitable[bool]]
_REALMS = frozenset({"abs-dev", "bch-dev", "chm-dev", "ort-dev"})


async def _body(request: Request, test: Callable[[bytes], bool]) -> bool:
    return test(await request.body())


def _raw(test: Callable[[bytes], bool]) -> Test:
    return lambda request: _body(request, test)


def _malformed(raw: bytes) -> bool:
    try:
        json.loads(raw)
    except (ValueError, RecursionError):
        return bool(raw)
    return False


def _not_utf8(raw: bytes) -> bool:
    try:
        raw.decode("utf-8")
    except UnicodeDecodeError:
        return True
    return False


def _deep(raw: bytes) -> bool:
    return raw.count(b"[") + raw.count(b"{") > 200


def _half_pair(raw: bytes) -> bool:
    return re.search(rb"\\u[dD][89a-fA-F]", raw) is not None and b"\\u" in raw and not _paired(raw)


def _paired(raw: bytes) -> bool:
    try:
        json.dumps(json.loads(raw), ensure_ascii=False).encode("utf-8")
    except ValueError:
        return False
    return True


def _null_character(raw: bytes) -> bool:
    return b"\\u0000" in raw or b"\0" in raw


def _no_object(raw: bytes) -> bool:
    return raw.strip()[:1] not in {b"{", b""}


def _query(name: str, test: Callable[[str], bool]) -> Test:
    async def meant(request: Request) -> bool:
        return test(query_of(request).get(name, ""))

    return meant


def _segment(name: str, test: Callable[[str], bool]) -> Test:
    async def meant(request: Request) -> bool:
        return test(request.path_params[name])

    return meant


def _header(name: str, test: Callable[[str | None], bool]) -> Test:
    async def meant(request: Request) -> bool:
        return test(header_value(request, name))

    return meant


_FAILURES: dict[str, tuple[str, str, Test]] = {
    "fails-on-malformed-sign-in": ("createToken", "a body that is not well formed", _raw(_malformed)),
    "fails-on-malformed-contact": ("updateContact", "a body that is not well formed", _raw(_malformed)),
    "fails-on-deep-draft": ("saveDraft", "a body nested more than 200 levels deep", _raw(_deep)),
    "fails-on-deep-submission": (CREATE, "a body nested more than 200 levels deep", _raw(_deep)),
    "fails-on-half-pair": ("createContact", "a body with half of a surrogate pair", _raw(_half_pair)),
    "fails-on-half-pair-in-draft": ("saveDraft", "a body with half of a surrogate pair", _raw(_half_pair)),
    "fails-on-other-encoding": ("createToken", "a body that is not UTF-8", _raw(_not_utf8)),
    "fails-on-null-character": ("saveDraft", "a null character in a text", _raw(_null_character)),
    "fails-on-array-submission": (CREATE_WITH, "a body that is no object", _raw(_no_object)),
    "fails-on-array-draft": ("saveDraft", "a body that is no object", _raw(_no_object)),
    "fails-on-absent-contact": ("createContact", "an absent body", _raw(lambda raw: not raw)),
    "fails-on-other-content-type": (
        UPDATE,
        "a content type other than JSON",
        _header("content-type", lambda kind: "json" not in (kind or "json")),
    ),
    "fails-on-huge-top": (
        "listDrafts",
        "a $top of nineteen or more digits",
        _query("$top", lambda text: len(text) > 18 and text.isdecimal()),
    ),
    "fails-on-negative-skip": (
        "listDrafts",
        "a negative $skip",
        _query("$skip", lambda text: text.startswith("-")),
    ),
    "fails-on-malformed-filter": (
        "listDrafts",
        "a $filter with an odd number of apostrophes",
        _query("$filter", lambda text: text.count("'") % 2 == 1),
    ),
    "fails-on-word-for-top": (
        "listAttachments",
        "a top that is a word",
        _query("top", lambda text: bool(text) and not re.fullmatch(r"-?[0-9]+", text)),
    ),
    "fails-on-huge-attachment-id": (
        "getAttachment",
        "an attachment identifier of nineteen or more digits",
        _segment("attachmentId", lambda text: len(text) > 18 and text.isdecimal()),
    ),
    "fails-on-word-for-attachment-id": (
        "getAttachmentThumbnail",
        "an attachment identifier that is a word",
        _segment("attachmentId", str.isalpha),
    ),
    "fails-on-odd-encoding-in-uid": (
        "getDraft",
        "a uid that is not UTF-8 when its percent-encoding is undone",
        _segment("uid", lambda text: "%ff" in text.lower() or "%c3%28" in text.lower()),
    ),
    "fails-on-long-uid": (
        "getDraft",
        "a uid of more than 255 characters",
        _segment("uid", lambda text: len(text) > 255),
    ),
    "fails-on-apostrophe-in-uid": (
        "saveDraft",
        "an apostrophe in a uid",
        _segment("uid", lambda text: "%27" in text),
    ),
    "fails-on-unknown-realm": (
        "saveDraft",
        "an unknown realm",
        _header("realm", lambda name: name is not None and name not in _REALMS),
    ),
    "fails-on-broken-authorization": (
        "getDraftInfo",
        "an Authorization header of one word",
        _header("authorization", lambda text: text is not None and " " not in text),
    ),
}


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


@defect("fails-on-absent-draft", clause="no-server-error", operations=["deleteDraft"])
def _(service: Service) -> None:
    """Deleting a draft that does not exist answers 500."""

    async def answer(faithful: Handler, request: Request) -> Response:
        try:
            return await faithful(request)
        except Refusal as refusal:
            if service.answers.refusal(refusal).status_code != 404:
                raise
            return _broken()

    around(service, ["deleteDraft"], answer)


@defect("fails-one-in-twenty", clause="no-server-error", operations=["getDraft"])
def _(service: Service) -> None:
    """Every twentieth read of a draft answers 500."""
    rare = Every(20)

    async def answer(faithful: Handler, request: Request) -> Response:
        return _broken() if rare() else await faithful(request)

    around(service, ["getDraft"], answer)


@defect("thumbnail-of-text-fails", clause="no-server-error", operations=["getAttachmentThumbnail"])
def _(service: Service) -> None:
    """The thumbnail of a file that is no picture answers 500."""

    async def answer(faithful: Handler, request: Request) -> Response:
        found = service.attachments.found(request)
        return await faithful(request) if found.content_type.startswith("image/") else _broken()

    around(service, ["getAttachmentThumbnail"], answer)


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
)(_hanging("saveDraft", _raw(_deep)))
defect(
    "hangs-on-unknown-account",
    clause="answers-in-time",
    operations=["createToken"],
    sentence="createToken never answers an e-mail that belongs to no account.",
)(_hanging("createToken", _unknown_account))
