"""Defects of attachments: stored, read, listed, shown as thumbnails, limited, or persisted from temporary files."""

import asyncio
from collections.abc import AsyncIterator, Callable
from typing import Any

from sqlalchemy import Row, delete, select
from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from contracts.sandbox.authentication import Account
from contracts.sandbox.defects.declaration import (
    OVERLAP_SECONDS,
    Change,
    Handler,
    Operations,
    alter,
    alteration,
    alteration_at,
    answered,
    answers,
    defect,
    defects,
    edit,
    every,
    refuse,
    replaces,
)
from contracts.sandbox.defects.lists import Rows
from contracts.sandbox.documents import filename_in_path
from contracts.sandbox.http_requests import Reason, Refusal, bad_request, decoded_segment, not_found
from contracts.sandbox.listing import Page
from contracts.sandbox.service import Service
from contracts.sandbox.storage import (
    ATTACHMENTS,
    DRAFT,
    Attachment,
    Records,
    StoredFile,
    TemporaryFile,
    too_large,
)

#: What a defect gives of a file, in bytes.
_BLOCK = 32_768
#: The largest temporary file, in bytes, that a defect persists.
_SMALL = 10
_NO_OPTION = Page(None, None, None, 0)


def _latest(service: Service, test: Callable[[Attachment], bool]) -> Attachment | None:
    """Return the latest attachment of any document that passes a test, or ``None``."""
    with service.storage.transaction() as records:
        rows = records.connection.execute(ATTACHMENTS.select().order_by(ATTACHMENTS.c.id.desc())).all()
    attachments = (Attachment(**row._mapping) for row in rows)
    return next(filter(test, attachments), None)


def _first(service: Service, attachment: Attachment) -> Row[Any] | None:
    """Return the first attachment of the document to which one belongs."""
    query = ATTACHMENTS.select().where(ATTACHMENTS.c.identifier == attachment.identifier)
    with service.storage.transaction() as records:
        return records.connection.execute(query.order_by(ATTACHMENTS.c.id)).first()


@answers("attachment-refused-in-chm")
async def _(service: Service, faithful: Handler, request: Request) -> Response:
    uid = service.identifiers.from_path(request)
    with service.storage.transaction() as records:
        if records.version("chm-dev", uid, DRAFT) is not None:
            raise bad_request("this is refused")
    return await faithful(request)


@answers("attachment-text-only")
async def _(_service: Service, faithful: Handler, request: Request) -> Response:
    try:
        (await request.body()).decode("utf-8")
    except UnicodeDecodeError:
        raise bad_request("the file is no text") from None
    return await faithful(request)


@answers("attachment-large-refused")
async def _(_service: Service, faithful: Handler, request: Request) -> Response:
    if len(await request.body()) > 1_000_000:
        raise bad_request("the file is too large")
    return await faithful(request)


@replaces("attachments.add", "attachment-name-in-small-letters")
def _(
    _service: Service, faithful: Any, records: Records, caller: Account, uid: str, filename: str, *rest: Any
) -> Any:
    return faithful(records, caller, uid, filename.lower(), *rest)


@replaces("attachments.add", "attachment-extension-in-small-letters")
def _(
    _service: Service, faithful: Any, records: Records, caller: Account, uid: str, filename: str, *rest: Any
) -> Any:
    stem, dot, extension = filename.rpartition(".")
    return faithful(records, caller, uid, f"{stem}{dot}{extension.lower()}", *rest)


@replaces("attachments.add", "attachment-second-refused")
def _(_service: Service, faithful: Any, records: Records, caller: Account, uid: str, *rest: Any) -> Any:
    if records.attachments.any_of(uid):
        raise bad_request("the document has an attachment already")
    return faithful(records, caller, uid, *rest)


@replaces("attachments.add", "attachment-second-replaces")
def _(_service: Service, faithful: Any, records: Records, caller: Account, uid: str, *rest: Any) -> Any:
    records.connection.execute(delete(ATTACHMENTS).where(ATTACHMENTS.c.identifier == uid))
    return faithful(records, caller, uid, *rest)


@replaces("attachments.add", "attachment-eleventh-replaces-first")
def _(_service: Service, faithful: Any, records: Records, caller: Account, uid: str, *rest: Any) -> Any:
    here = ATTACHMENTS.c.identifier == uid
    numbers = select(ATTACHMENTS.c.id).where(here).order_by(ATTACHMENTS.c.id)
    held = list(records.connection.execute(numbers).scalars())
    if len(held) >= 10:
        records.connection.execute(delete(ATTACHMENTS).where(here, ATTACHMENTS.c.id == held[0]))
    return faithful(records, caller, uid, *rest)


Ask = Callable[[Records, str, Page], Rows]


@alteration
def _plain_list(service: Service, change: Callable[[Rows, Ask, Records, str], Rows]) -> None:
    """Change the rows of a list of attachments without options.

    Args:
        change: called with the rows, and the faithful list with its records and uid.

    """

    def attachments(faithful: Ask, records: Records, uid: str, page: Page) -> Rows:
        rows = [*faithful(records, uid, page)]
        return change(rows, faithful, records, uid) if page == _NO_OPTION else rows

    alter(service.listing, "attachments", attachments)


def _listed(change: Callable[[Rows], Rows]) -> Change:
    return _plain_list(lambda rows, *_: change(rows))


def _with_others(alike: Callable[[str, str], bool]) -> Change:
    """Return the change that lists the attachments of other documents too, those with an alike uid."""

    def change(rows: Rows, ask: Ask, records: Records, uid: str) -> Rows:
        identifiers = records.connection.execute(
            ATTACHMENTS.select().with_only_columns(ATTACHMENTS.c.identifier)
        ).scalars()
        for other in dict.fromkeys(identifiers):
            rows += ask(records, other, _NO_OPTION) if other != uid and alike(other, uid) else []
        return rows

    return _plain_list(change)


@replaces("listing.attachments", "attachment-list-empty-refused")
def _(_service: Service, faithful: Ask, records: Records, uid: str, page: Page) -> Rows:
    if not records.attachments.any_of(uid):
        raise bad_request("there are no attachments")
    return faithful(records, uid, page)


def _items(change: Callable[[dict[str, Any]], dict[str, Any]]) -> Change:
    return edit(lambda items: [change(item) for item in items], at=["listAttachments"])


def _content(change: Callable[[bytes], bytes]) -> Change:
    """Return the change of the bytes of a download."""

    async def answer(service: Service, faithful: Handler, request: Request) -> Response:
        response = await faithful(request)
        attachment = service.attachments.requested(request)
        content = change(service.files.path(attachment.file_key).read_bytes())
        return Response(content, response.status_code, media_type=attachment.content_type)

    return answered(answer)


def _thumbnail(make: Callable[[bytes], Response]) -> Change:
    async def answer(_service: Service, faithful: Handler, request: Request) -> Response:
        return make(bytes((await faithful(request)).body))

    return answered(answer)


def _without_extension(request: Request) -> bool:
    return "." not in request.path_params["filename"].replace("%2E", ".")


defects(
    {
        "attachment-list-lacks-first": _listed(lambda rows: rows[1:]),
        "attachment-list-lacks-large": _listed(
            lambda rows: [row for row in rows if row["size"] <= 64 * 1024]
        ),
        "attachment-list-empty-one-in-twenty": every(
            20, lambda rare: _listed(lambda rows: [] if rare() else rows)
        ),
        "attachment-list-of-all-documents": _with_others(lambda _other, _uid: True),
        "attachment-list-of-longer-uids": _with_others(lambda other, uid: other.startswith(uid)),
        "attachment-list-of-alike-documents": _with_others(lambda other, uid: other[:11] == uid[:11]),
        "attachment-listed-without-id": _items(
            lambda item: {name: value for name, value in item.items() if name not in {"id", "size"}}
        ),
        "attachment-listed-with-wrong-id": _items(lambda item: {**item, "id": item["id"] + 1_000_000}),
        "attachment-line-ends": _content(lambda content: content.replace(b"\r\n", b"\n")),
        "attachment-high-bytes": _content(
            lambda content: bytes(byte if byte < 128 else 63 for byte in content)
        ),
        "attachment-null-bytes": _content(lambda content: content.replace(b"\0", b"")),
        "attachment-cut": _content(lambda content: content[: 64 * 1024]),
        "attachment-mark-dropped": _content(lambda content: content.removeprefix(b"\xef\xbb\xbf")),
        "attachment-last-newline-dropped": _content(lambda content: content.removesuffix(b"\n")),
        "attachment-download-empty": _content(lambda _: b""),
        "attachment-never-exists": refuse(not_found),
        "attachment-needs-extension": refuse(bad_request, _without_extension),
        "thumbnail-not-found": refuse(not_found),
        "thumbnail-json": _thumbnail(lambda _: JSONResponse({"thumbnail": "pending"})),
        "thumbnail-text": _thumbnail(lambda _: Response("no preview yet", media_type="image/png")),
        "thumbnail-empty": _thumbnail(lambda _: Response(b"", media_type="image/png")),
        "thumbnail-page": _thumbnail(
            lambda _: Response("<html><img src='.'></html>", media_type="text/html")
        ),
        "thumbnail-mislabelled": _thumbnail(lambda image: Response(image, media_type="application/json")),
    }
)


@alteration_at
def _instead(
    service: Service, operations: Operations, other: Callable[[Service, Attachment], Attachment | None]
) -> None:
    """Serve another attachment in place of the one that was found, if ``other`` gives one."""

    def found(faithful: Callable[[Request], Attachment], request: Request) -> Attachment:
        attachment: Attachment = faithful(request)
        meant = request.scope["operation_id"] in operations
        return (other(service, attachment) if meant else None) or attachment

    alter(service.attachments, "requested", found)


def _latest_of_document(service: Service, attachment: Attachment) -> Attachment | None:
    return _latest(service, lambda other: other.identifier == attachment.identifier)


def _first_of_document(service: Service, attachment: Attachment) -> Attachment | None:
    first = _first(service, attachment)
    return None if first is None else Attachment(**first._mapping)


@answers("attachment-exists-only-first")
async def _(service: Service, faithful: Handler, request: Request) -> Response:
    attachment = service.attachments.requested(request)
    first = _first(service, attachment)
    if first is not None and first.id != attachment.id:
        raise not_found("there is no such attachment of this document")
    return await faithful(request)


@replaces("thumbnails.draw", "thumbnail-same-for-all")
def _(service: Service, *_: object) -> bytes:
    return service.thumbnails.tile("picture.png")


@defect("thumbnail-of-first-drawn")
def _(service: Service) -> None:
    drawn: dict[str, bytes] = {}

    async def answer(_service: Service, faithful: Handler, request: Request) -> Response:
        response = await faithful(request)
        image = drawn.setdefault(request.path_params["uid"], bytes(response.body))
        return Response(image, media_type="image/png")

    answered(answer)(service, ("getAttachmentThumbnail",))


Finds = Callable[[Attachment, Request], bool]


def _found_by(test: Finds, meant: Callable[[str], bool] = str.isdecimal) -> Change:
    """Return the change that finds an attachment in another way when the faithful one finds none.

    Args:
        test: tells whether an attachment will do for a request.
        meant: tells of the attachment identifier in the path whether it is meant.

    """

    async def answer(service: Service, faithful: Handler, request: Request) -> Response:
        if not meant(request.path_params["attachmentId"]) or _there(service, request):
            return await faithful(request)
        service.identifiers.from_path(request)
        other = _latest(service, lambda attachment: test(attachment, request))
        if other is None:
            return await faithful(request)
        params = {**request.path_params, "attachmentId": str(other.id), "uid": other.identifier}
        params["filename"] = other.filename
        return await faithful(Request({**request.scope, "path_params": params}, request.receive))

    return answered(answer)


def _there(service: Service, request: Request) -> bool:
    number = request.path_params["attachmentId"]
    if not number.isdecimal() or len(number) > 18:
        return False
    place = (service.identifiers.from_path(request), int(number), filename_in_path(request))
    with service.storage.transaction() as records:
        return records.attachments.attachment(*place) is not None


def _same_document(attachment: Attachment, request: Request) -> bool:
    return attachment.identifier == str(request.path_params["uid"])


def _same_number(attachment: Attachment, request: Request) -> bool:
    return str(attachment.id) == request.path_params["attachmentId"] and not _same_document(
        attachment, request
    )


def _number_before_tail(attachment: Attachment, request: Request) -> bool:
    digits = request.path_params["attachmentId"].partition(".")[0].rstrip("abcdefghijklmnopqrstuvwxyz-")
    return _same_document(attachment, request) and str(attachment.id) == digits


_READS = ("exists", "get", "thumbnail")
defects(
    {
        "attachment-download-of-latest": _instead(_latest_of_document),
        "thumbnail-of-first": _instead(_first_of_document),
        **{f"attachment-{read}-any-number": _found_by(_same_document) for read in _READS},
        **{f"attachment-{read}-by-word": _found_by(_same_document, str.isalpha) for read in _READS},
        "attachment-exists-in-other-document": _found_by(_same_number),
        "attachment-get-from-other-document": _found_by(_same_number),
        "attachment-thumbnail-from-other-document": _found_by(_same_number),
        "attachment-get-by-number-and-tail": _found_by(
            _number_before_tail, lambda text: not text.isdecimal()
        ),
    }
)


Receive = Callable[[AsyncIterator[bytes], int | None], Any]


@alteration
def _receive(service: Service, change: Callable[[int], int | None], *, announced: bool = False) -> None:
    """Let uploads be read under another limit.

    Args:
        change: makes the other limit, in bytes, of the faithful one.
        announced: bodies that announce a length above the limit are let through to be read.

    """

    async def receive(faithful: Receive, pieces: AsyncIterator[bytes], limit: int | None) -> StoredFile:
        stored: StoredFile = await faithful(pieces, None if limit is None else change(limit))
        return stored

    alter(service.files, "receive", receive)
    if announced:
        alter(service.attachments, "refuse_announced_size", lambda *_: None)


@answers("attachment-size-above-kept")
async def _(service: Service, faithful: Handler, request: Request) -> Response:
    try:
        return await faithful(request)
    except Refusal as refusal:
        if refusal.message != too_large(service.settings.size_limit).message:
            raise
        uid, caller = service.identifiers.from_path(request), service.identity.require(request)
        with service.storage.transaction() as records:
            empty = service.files.keep(b"")
            service.attachments.add(records, caller, uid, filename_in_path(request), empty)
        raise


@defect("attachment-bytes-of-overlapping-upload")
def _(service: Service) -> None:
    last: list[StoredFile] = []

    async def receive(faithful: Receive, pieces: AsyncIterator[bytes], limit: int | None) -> StoredFile:
        last[:] = [await faithful(pieces, limit)]
        await asyncio.sleep(OVERLAP_SECONDS)
        return last[0]

    alter(service.files, "receive", receive)


@defect("attachment-size-above-cut")
def _(service: Service) -> None:
    async def receive(faithful: Receive, pieces: AsyncIterator[bytes], limit: int | None) -> StoredFile:
        stored: StoredFile = await faithful(pieces if limit is None else _cut(pieces, limit), limit)
        return stored

    alter(service.files, "receive", receive)
    alter(service.attachments, "refuse_announced_size", lambda *_: None)


async def _cut(pieces: AsyncIterator[bytes], limit: int) -> AsyncIterator[bytes]:
    left = limit
    async for piece in pieces:
        yield piece[:left]
        left -= min(left, len(piece))


@answers("attachment-size-within-cut")
async def _(service: Service, faithful: Handler, request: Request) -> Response:
    response = await faithful(request)
    attachment = service.attachments.requested(request)
    if attachment.size <= service.settings.size_limit // 2:
        return response
    content = service.files.path(attachment.file_key).read_bytes()[: attachment.size // 2]
    return Response(content, media_type=attachment.content_type)


@defect("persisted-not-listed")
def _(service: Service) -> None:
    persisted: set[int] = set()

    def add(
        faithful: Callable[..., Attachment],
        records: Records,
        caller: Account,
        uid: str,
        name: str,
        stored: StoredFile,
    ) -> Attachment:
        attachment: Attachment = faithful(records, caller, uid, name, stored)
        if name.startswith("temporary-"):
            persisted.add(attachment.id)
        return attachment

    def attachments(faithful: Callable[..., list[Any]], records: Records, uid: str, page: Page) -> list[Any]:
        return [row for row in faithful(records, uid, page) if row["id"] not in persisted]

    alter(service.attachments, "add", add)
    alter(service.listing, "attachments", attachments)


@answers("persisted-nowhere")
async def _(service: Service, _faithful: Handler, request: Request) -> Response:
    _temporary(service, request)
    return JSONResponse({"id": 1_000_000}, 201)


def _temporary(service: Service, request: Request) -> None:
    """Refuse what the faithful handler refuses before it looks for the file, and unknown files."""
    caller, uid = service.identity.require(request), service.identifiers.from_path(request)
    file_id = decoded_segment(request.path_params["tempFileId"]) or ""
    with service.storage.transaction() as records:
        service.attachments.require_right(records, caller, uid)
        if records.attachments.temporary_file(file_id) is None:
            raise Refusal(Reason.NOT_FOUND, "there is no unused temporary file of this id")


@answers("attachment-of-four-megabytes-refused")
async def _(_service: Service, faithful: Handler, request: Request) -> Response:
    if int(request.headers.get("content-length", "0")) > 4_000_000:
        raise bad_request("the file is too large")
    return await faithful(request)


@answers("thumbnail-of-text-is-the-text")
async def _(service: Service, faithful: Handler, request: Request) -> Response:
    attachment = service.attachments.requested(request)
    if not attachment.filename.endswith(".txt"):
        return await faithful(request)
    content = service.files.path(attachment.file_key).read_bytes()
    return Response(content, media_type=attachment.content_type)


@answers("persist-large-refused")
async def _(service: Service, faithful: Handler, request: Request) -> Response:
    temporary = _temporary_file(service, request)
    if temporary is not None and temporary.size > _SMALL:
        raise too_large(_SMALL)
    return await faithful(request)


def _temporary_file(service: Service, request: Request) -> TemporaryFile | None:
    file_id = decoded_segment(request.path_params["tempFileId"]) or ""
    with service.storage.transaction() as records:
        return records.attachments.temporary_file(file_id)


@defect("persisted-bytes-of-the-first")
def _(service: Service) -> None:
    first: list[StoredFile] = []

    def add(faithful: Callable[..., Attachment], *place: Any) -> Attachment:
        *where, filename, stored = place
        if filename.startswith("temporary-"):
            first.append(stored)
            stored = first[0]
        return faithful(*where, filename, stored)

    alter(service.attachments, "add", add)


@answers("attachment-exists-not-when-large")
async def _(service: Service, faithful: Handler, request: Request) -> Response:
    response = await faithful(request)
    if service.attachments.requested(request).size > 100_000:
        raise not_found("there is no such attachment")
    return response


@answers("attachment-of-a-name-is-the-first", "getAttachment")
async def _(service: Service, faithful: Handler, request: Request) -> Response:
    await faithful(request)
    attachment = service.attachments.requested(request)
    same = ATTACHMENTS.select().where(
        ATTACHMENTS.c.identifier == attachment.identifier, ATTACHMENTS.c.filename == attachment.filename
    )
    with service.storage.transaction() as records:
        first = records.connection.execute(same.order_by(ATTACHMENTS.c.id)).first()
    key = attachment.file_key if first is None else first.file_key
    return Response(service.files.path(key).read_bytes(), media_type=attachment.content_type)


@defect("download-cut-from-the-second-on")
def _(service: Service) -> None:
    given: set[int] = set()

    async def get(faithful: Handler, request: Request) -> Response:
        attachment = service.attachments.requested(request)
        if attachment.id not in given:
            given.add(attachment.id)
            return await faithful(request)
        content = service.files.path(attachment.file_key).read_bytes()[:_BLOCK]
        return Response(content, media_type=attachment.content_type)

    alter(service.attachments, "get", get)


@answers("persisted-empty", "getAttachment")
async def _(service: Service, faithful: Handler, request: Request) -> Response:
    response = await faithful(request)
    attachment = service.attachments.requested(request)
    persisted = attachment.filename.startswith("temporary-")
    return Response(media_type=attachment.content_type) if persisted else response


@answers("persisted-not-found", "getAttachment", "attachmentExists")
async def _(service: Service, faithful: Handler, request: Request) -> Response:
    if service.attachments.requested(request).filename.startswith("temporary-"):
        raise not_found("there is no such attachment")
    return await faithful(request)


def _made_up(test: Callable[[str], bool], *, refused: bool = False, real: bool = True) -> Change:
    """Return the change that makes an empty attachment of an unknown temporary file whose id passes ``test``."""

    async def answer(service: Service, faithful: Handler, request: Request) -> Response:
        try:
            return await faithful(request)
        except Refusal as refusal:
            caller, uid = service.identity.caller(request), service.identifiers.from_path(request)
            file_id = decoded_segment(request.path_params["tempFileId"]) or ""
            if refusal.reason is not Reason.NOT_FOUND or caller is None or not test(file_id):
                raise
            with service.storage.transaction() as records:
                service.attachments.require_right(records, caller, uid)
                if real:
                    service.attachments.add(records, caller, uid, "unknown.bin", service.files.keep(b""))
            if refused:
                raise
            return JSONResponse({"id": 1_000_000}, 201)

    return answered(answer)


def _safe(file_id: str) -> bool:
    return file_id.replace("-", "").replace("_", "").replace(".", "").isalnum() and file_id.isascii()


defects(
    {
        "attachment-size-unlimited": _receive(lambda _: None, announced=True),
        "attachment-size-announced-only": _receive(lambda _: None),
        "attachment-size-half": _receive(lambda limit: limit // 2),
        "attachment-size-at-limit-refused": _receive(lambda limit: limit - 1),
        "persisted-unknown": _made_up(_safe),
        "persisted-unknown-without-effect": _made_up(_safe, real=False),
        "persisted-unknown-though-refused": _made_up(_safe, refused=True),
        "persisted-unsafe-id": _made_up(lambda file_id: not _safe(file_id) and bool(file_id)),
    }
)
