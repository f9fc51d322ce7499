"""Defects of the size limit of attachments, and of files from temporary storage."""

from collections.abc import AsyncIterator, Callable
from typing import Any

from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from contracts.sandbox.attachment_records import Attachment
from contracts.sandbox.attachments import filename_in_path
from contracts.sandbox.defects.altering import Handler, alter, around
from contracts.sandbox.defects.registry import defect
from contracts.sandbox.files import StoredFile, too_large
from contracts.sandbox.identifiers import decoded_segment
from contracts.sandbox.identity import Account
from contracts.sandbox.listing import Page
from contracts.sandbox.records import Records
from contracts.sandbox.refusals import Reason, Refusal
from contracts.sandbox.service import Service

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


@defect("attachment-size-above-kept", clause="attachment-size-above", operations=_CREATE)
def _(service: Service) -> None:
    """A file above the limit causes an error, yet the attachment appears with no bytes."""

    async def answer(faithful: Handler, request: Request) -> Response:
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

    around(service, _CREATE, answer)


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


@defect("attachment-size-within-cut", clause="attachment-size-within", operations=["getAttachment"])
def _(service: Service) -> None:
    """The download of a file above half the limit gives the first half of its bytes."""

    async def answer(faithful: Handler, request: Request) -> Response:
        response = await faithful(request)
        found = service.attachments.found(request)
        if found.size <= service.settings.size_limit // 2:
            return response
        content = service.files.path(found.file_key).read_bytes()[: found.size // 2]
        return Response(content, media_type=found.content_type)

    around(service, ["getAttachment"], answer)


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


@defect("persisted-nowhere", clause="attachment-persist-listed", operations=_PERSIST)
def _(service: Service) -> None:
    """Persisting a temporary file succeeds, and no attachment appears."""

    async def answer(_faithful: Handler, request: Request) -> Response:
        _temporary(service, request)
        return JSONResponse({"id": 1_000_000}, 201)

    around(service, _PERSIST, answer)


def _temporary(service: Service, request: Request) -> None:
    """Refuse what the faithful handler refuses before it looks for the file, and unknown files."""
    caller, uid = service.identity.require(request), service.identifiers.from_path(request)
    file_id = decoded_segment(request.path_params["tempFileId"]) or ""
    with service.storage.transaction() as records:
        service.attachments.require_right(records, caller, uid)
        if records.attachments.temporary_file(file_id) is None:
            raise Refusal(Reason.NOT_FOUND, "there is no unused temporary file of this id")


@defect(
    "persisted-empty",
    clause="attachment-persist-downloads",
    operations=["persistTemporaryFile", "getAttachment"],
)
def _(service: Service) -> None:
    """The download of a temporary file that was persisted is empty."""

    async def answer(faithful: Handler, request: Request) -> Response:
        response = await faithful(request)
        found = service.attachments.found(request)
        return (
            Response(media_type=found.content_type) if found.filename.startswith("temporary-") else response
        )

    around(service, ["getAttachment"], answer)


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
