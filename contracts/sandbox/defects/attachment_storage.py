"""Defects of the list of attachments, thumbnails, the size limit, and files from temporary storage."""

from collections.abc import AsyncIterator, Callable
from typing import Any

from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from contracts.sandbox.accounts import Account
from contracts.sandbox.attachments import filename_in_path
from contracts.sandbox.database import ATTACHMENTS, Attachment, Records
from contracts.sandbox.defects.alteration import Handler, alter, around, edit, refuse
from contracts.sandbox.defects.list_collections import Rows
from contracts.sandbox.defects.registry import answers, defect, replaces
from contracts.sandbox.files import StoredFile, too_large
from contracts.sandbox.identifiers import decoded_segment
from contracts.sandbox.listing import Page
from contracts.sandbox.refusals import Reason, Refusal, bad_request, not_found
from contracts.sandbox.service import Service

_LIST = ["listAttachments"]
_THUMBNAIL = ["getAttachmentThumbnail"]
_NO_OPTION = Page(None, None, None, 0)


@defect("attachment-list-of-all-documents", clause="attachment-list-own-only", operations=_LIST)
def _(service: Service) -> None:
    """The list of a document's attachments goes on with those of all other documents."""
    _with_others(service, lambda _other, _uid: True)


@defect("attachment-list-of-alike-documents", clause="attachment-list-own-only", operations=_LIST)
def _(service: Service) -> None:
    """The list of attachments holds those of documents whose uid shares the first eleven characters."""
    _with_others(service, lambda other, uid: other[:11] == uid[:11])


def _with_others(service: Service, alike: Callable[[str, str], bool]) -> None:
    def attachments(faithful: Callable[..., Rows], records: Records, uid: str, page: Page) -> Rows:
        rows: Rows = [*faithful(records, uid, page)]
        if page == _NO_OPTION:
            every = records.connection.execute(
                ATTACHMENTS.select().with_only_columns(ATTACHMENTS.c.identifier)
            )
            for other in dict.fromkeys(every.scalars()):
                rows += faithful(records, other, page) if other != uid and alike(other, uid) else []
        return rows

    alter(service.listing, "attachments", attachments)


@replaces(
    "listing.attachments", "attachment-list-empty-refused", clause="attachment-list-empty", operations=_LIST
)
def _(_service: Service, faithful: Callable[..., Rows], records: Records, uid: str, page: Page) -> Rows:
    """The list of a document without attachments is refused with 404."""
    if not records.attachments.any_of(uid):
        raise not_found("there are no attachments")
    rows: Rows = faithful(records, uid, page)
    return rows


def _of_items(change: Callable[[dict[str, Any]], dict[str, Any]]) -> Callable[[Service], None]:
    return lambda service: edit(service, _LIST, lambda items: [change(item) for item in items])


_IDENTIFIERS: dict[str, tuple[str, Callable[[dict[str, Any]], dict[str, Any]]]] = {
    "attachment-listed-without-id": (
        "carries no number",
        lambda item: {name: value for name, value in item.items() if name not in {"id", "size"}},
    ),
    "attachment-listed-with-wrong-id": (
        "carries a number by which nothing is found",
        lambda item: {**item, "id": item["id"] + 1_000_000},
    ),
}
for _name, (_what, _change) in _IDENTIFIERS.items():
    defect(
        _name,
        clause="attachment-listed-identifier",
        operations=["createAttachment", "listAttachments"],
        sentence=f"A listed attachment {_what}.",
    )(_of_items(_change))


@defect(
    "attachment-needs-extension", clause="attachment-name-without-extension", operations=["createAttachment"]
)
def _(service: Service) -> None:
    """A file name without an extension is refused."""
    refuse(
        service,
        ["createAttachment"],
        bad_request,
        lambda request: "." not in request.path_params["filename"].replace("%2E", "."),
    )


@defect("thumbnail-not-found", clause="attachment-thumbnail-image", operations=_THUMBNAIL)
def _(service: Service) -> None:
    """No thumbnail is found, not even of a picture."""
    refuse(service, _THUMBNAIL, not_found)


def _answered(make: Callable[[bytes], Response]) -> Callable[[Service], None]:
    def change(service: Service) -> None:
        async def answer(faithful: Handler, request: Request) -> Response:
            return make(bytes((await faithful(request)).body))

        around(service, _THUMBNAIL, answer)

    return change


_PREVIEWS: dict[str, tuple[str, Callable[[bytes], Response]]] = {
    "thumbnail-json": ("a JSON object", lambda _: JSONResponse({"thumbnail": "pending"})),
    "thumbnail-text": (
        "a text labelled as PNG",
        lambda _: Response("no preview yet", media_type="image/png"),
    ),
    "thumbnail-empty": ("nothing, labelled as PNG", lambda _: Response(b"", media_type="image/png")),
    "thumbnail-page": (
        "a page that shows the picture",
        lambda _: Response("<html><img src='.'></html>", media_type="text/html"),
    ),
    "thumbnail-mislabelled": (
        "a picture labelled as JSON",
        lambda image: Response(image, media_type="application/json"),
    ),
}
for _name, (_what, _make) in _PREVIEWS.items():
    defect(
        _name,
        clause="attachment-thumbnail-image",
        operations=_THUMBNAIL,
        sentence=f"The thumbnail of a picture is {_what}.",
    )(_answered(_make))


@defect("thumbnail-same-for-all", clause="attachment-thumbnail-own", operations=_THUMBNAIL)
def _(service: Service) -> None:
    """All pictures have the same plain thumbnail."""
    alter(
        service.thumbnails, "draw", lambda _faithful, _path, _filename: service.thumbnails.tile("picture.png")
    )


@replaces("attachments.found", "thumbnail-of-first", clause="attachment-thumbnail-own", operations=_THUMBNAIL)
def _(service: Service, faithful: Callable[[Request], Attachment], request: Request) -> Attachment:
    """The thumbnail of every attachment shows the first one of the document."""
    asked: Attachment = faithful(request)
    if request.scope["operation_id"] not in _THUMBNAIL:
        return asked
    query = ATTACHMENTS.select().where(ATTACHMENTS.c.identifier == asked.identifier)
    with service.storage.transaction() as records:
        first = records.connection.execute(query.order_by(ATTACHMENTS.c.id)).first()
    return asked if first is None else Attachment(**first._mapping)


@defect("thumbnail-of-first-drawn", clause="attachment-thumbnail-own", operations=_THUMBNAIL)
def _(service: Service) -> None:
    """The thumbnails of all attachments of one document are the one that was asked for first."""
    drawn: dict[str, bytes] = {}

    async def answer(faithful: Handler, request: Request) -> Response:
        response = await faithful(request)
        image = drawn.setdefault(request.path_params["uid"], bytes(response.body))
        return Response(image, media_type="image/png")

    around(service, _THUMBNAIL, answer)


_CREATE = ["createAttachment"]
_PERSIST = ["persistTemporaryFile"]
Receive = Callable[[AsyncIterator[bytes], int | None], Any]


def _receive(service: Service, change: Callable[[int], int | None], *, announced: bool = False) -> None:
    """Let uploads be read under another limit.

    Args:
        service: the service to alter.
        change: makes the other limit, in bytes, of the faithful one.
        announced: bodies that announce a length above the limit are let through to be read.

    """

    async def receive(faithful: Receive, pieces: AsyncIterator[bytes], limit: int | None) -> StoredFile:
        stored: StoredFile = await faithful(pieces, None if limit is None else change(limit))
        return stored

    alter(service.files, "receive", receive)
    if announced:
        alter(service.attachments, "refuse_announced_size", lambda *_: None)


@defect("attachment-size-unlimited", clause="attachment-size-above", operations=_CREATE)
def _(service: Service) -> None:
    """A file above the limit is accepted."""
    _receive(service, lambda _: None, announced=True)


@defect("attachment-size-announced-only", clause="attachment-size-above", operations=_CREATE)
def _(service: Service) -> None:
    """A file above the limit is accepted when its length was not announced."""
    _receive(service, lambda _: None)


@answers("attachment-size-above-kept", clause="attachment-size-above", operations=_CREATE)
async def _(service: Service, faithful: Handler, request: Request) -> Response:
    """A file above the limit causes an error, yet the attachment appears with no bytes."""
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


@defect("attachment-size-above-cut", clause="attachment-size-above", operations=_CREATE)
def _(service: Service) -> None:
    """A file above the limit is accepted and cut at the limit."""

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


@defect("attachment-size-half", clause="attachment-size-within", operations=_CREATE)
def _(service: Service) -> None:
    """A file above half the limit is refused."""
    _receive(service, lambda limit: limit // 2)


@answers("attachment-size-within-cut", clause="attachment-size-within", operations=["getAttachment"])
async def _(service: Service, faithful: Handler, request: Request) -> Response:
    """The download of a file above half the limit gives the first half of its bytes."""
    response = await faithful(request)
    found = service.attachments.found(request)
    if found.size <= service.settings.size_limit // 2:
        return response
    content = service.files.path(found.file_key).read_bytes()[: found.size // 2]
    return Response(content, media_type=found.content_type)


@defect("attachment-size-at-limit-refused", clause="attachment-size-at-limit", operations=_CREATE)
def _(service: Service) -> None:
    """A file of exactly the limit is refused."""
    _receive(service, lambda limit: limit - 1)


@defect("persisted-not-listed", clause="attachment-persist-listed", operations=_PERSIST)
def _(service: Service) -> None:
    """A temporary file that was persisted is not in the list of attachments."""
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


@answers("persisted-nowhere", clause="attachment-persist-listed", operations=_PERSIST)
async def _(service: Service, _faithful: Handler, request: Request) -> Response:
    """Persisting a temporary file succeeds, and no attachment appears."""
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


@answers(
    "persisted-empty",
    clause="attachment-persist-downloads",
    operations=["persistTemporaryFile", "getAttachment"],
    at=["getAttachment"],
)
async def _(service: Service, faithful: Handler, request: Request) -> Response:
    """The download of a temporary file that was persisted is empty."""
    response = await faithful(request)
    found = service.attachments.found(request)
    return Response(media_type=found.content_type) if found.filename.startswith("temporary-") else response


def _made_up(
    service: Service, test: Callable[[str], bool], *, refused: bool = False, real: bool = True
) -> None:
    """Make an empty attachment of an unknown temporary file whose id passes ``test``."""

    async def answer(faithful: Handler, request: Request) -> Response:
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

    around(service, _PERSIST, answer)


def _safe(file_id: str) -> bool:
    return file_id.replace("-", "").replace("_", "").replace(".", "").isalnum() and file_id.isascii()


@defect("persisted-unknown", clause="attachment-persist-unknown", operations=_PERSIST)
def _(service: Service) -> None:
    """Persisting a temporary file that was never uploaded succeeds, with an empty attachment."""
    _made_up(service, _safe)


@defect("persisted-unknown-without-effect", clause="attachment-persist-unknown", operations=_PERSIST)
def _(service: Service) -> None:
    """Persisting a temporary file that was never uploaded succeeds, and no attachment appears."""
    _made_up(service, _safe, real=False)


@defect("persisted-unknown-though-refused", clause="attachment-persist-unknown", operations=_PERSIST)
def _(service: Service) -> None:
    """Persisting a temporary file that was never uploaded is refused, yet an empty attachment appears."""
    _made_up(service, _safe, refused=True)


@defect("persisted-unsafe-id", clause="attachment-temporary-characters", operations=_PERSIST)
def _(service: Service) -> None:
    """A temporary file identifier with characters that are not safe in a URL is accepted."""
    _made_up(service, lambda file_id: not _safe(file_id) and bool(file_id))
