"""Attachments of documents: create, persist from temporary storage, list, exists, get and thumbnail.

The document lists no Realm header for them, so a document is looked for over all realms. Adding needs the
right to change the document; listing needs a token; exists, get and thumbnail are open (silent). The creation
of temporary files is "not shown", so the sandbox has its own operation, outside the interface.
"""

import mimetypes
import re
import secrets

from starlette.requests import Request
from starlette.responses import FileResponse, Response
from starlette.types import Receive, Scope, Send

from contracts.sandbox.answers import JsonAnswer
from contracts.sandbox.authentication import Account
from contracts.sandbox.context import Operations
from contracts.sandbox.http_requests import bad_request, decoded_segment, forbidden, not_found
from contracts.sandbox.listing import page_request
from contracts.sandbox.storage import Attachment, Records, StoredFile, TemporaryFile, too_large

_NUMBER = re.compile(r"[0-9]+", re.ASCII)
_MOST_DIGITS = 18
# The library's own table, not the machine's: the same answer everywhere.
_TYPES = mimetypes.MimeTypes(filenames=())


class WholeFile(FileResponse):
    """A stored file, always answered whole (ranges: not shown)."""

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Send the file (ASGI)."""
        headers = [(name, value) for name, value in scope["headers"] if name != b"range"]
        await super().__call__({**scope, "headers": headers}, receive, send)


class AttachmentOperations(Operations):
    """Answers the six attachment operations."""

    async def create(self, request: Request) -> Response:
        """Store the body as a new attachment of a document that exists."""
        context = self.context
        caller = context.identity.require(request)
        uid = context.identifiers.from_path(request)
        filename = filename_in_path(request)
        with context.storage.transaction() as records:
            self.require_right(records, caller, uid)
        limit = context.settings.size_limit
        self.refuse_announced_size(request, limit)
        stored = await context.files.receive(request.stream(), limit)
        with context.storage.transaction() as records:
            attachment = self.add(records, caller, uid, filename, stored)
        return self._written(attachment, context.habits.attachment_created_status)

    async def persist(self, request: Request) -> Response:
        """Make a temporary file an attachment; it cannot be used a second time."""
        context = self.context
        caller = context.identity.require(request)
        uid = context.identifiers.from_path(request)
        file_id = decoded_segment(request.path_params["tempFileId"]) or ""
        with context.storage.transaction() as records:
            self.require_right(records, caller, uid)
            temporary = records.attachments.temporary_file(file_id)
            if temporary is None or temporary.used:
                raise not_found("there is no unused temporary file of this id")
            records.attachments.use_up(file_id)
            stored = StoredFile(temporary.file_key, temporary.size)
            attachment = self.add(records, caller, uid, temporary.filename, stored)
        return self._written(attachment, context.habits.attachment_persisted_status)

    async def list(self, request: Request) -> Response:
        """Answer a page of a document's attachments."""
        context = self.context
        context.identity.require(request)
        uid = context.identifiers.from_path(request)
        page = page_request(request, prefix="")
        with context.storage.transaction() as records:
            if not records.owners_anywhere(uid) and not records.attachments.any_of(uid):
                raise not_found("there is no document of this uid")
            rows = context.listing.attachments(records, uid, page)
        return context.answers.listed([context.metadata.of_row(row) for row in rows])

    async def exists(self, request: Request) -> Response:
        """Tell whether the attachment belongs to the document, without its content."""
        attachment = self.requested(request)
        if self.context.habits.head_length:
            return self._whole(attachment)
        return Response(media_type=attachment.content_type)

    async def get(self, request: Request) -> Response:
        """Answer the bytes of the attachment."""
        return self._whole(self.requested(request))

    async def thumbnail(self, request: Request) -> Response:
        """Answer a preview image of the attachment."""
        attachment = self.requested(request)
        path = self.context.files.path(attachment.file_key)
        image = await self.context.thumbnails.of(path, attachment.filename)
        return Response(image, media_type="image/png")

    def require_right(self, records: Records, caller: Account, uid: str) -> None:
        """Refuse a document that is not there, or that the caller may not change.

        Raises:
            Refusal: no record of that uid in any realm, or none that the caller may update.

        """
        owners = records.owners_anywhere(uid)
        if not owners:
            raise not_found("there is no document of this uid")
        if not any(self.context.rights.may_update(caller, owner) for owner in owners):
            raise forbidden("this account may not add attachments to this document")

    def refuse_announced_size(self, request: Request, limit: int) -> None:
        """Refuse a body whose announced length is over the limit, before it is read."""
        announced = request.headers.get("content-length", "")
        if announced.isdigit() and int(announced) > limit:
            raise too_large(limit)

    def add(
        self, records: Records, caller: Account, uid: str, filename: str, stored: StoredFile
    ) -> Attachment:
        """Record a stored file as an attachment and return it with its number."""
        attachment = Attachment(
            id=0,
            identifier=uid,
            filename=filename,
            content_type=_TYPES.guess_type(filename, strict=False)[0] or "application/octet-stream",
            size=stored.size,
            owner=caller.name,
            created_on=self.context.clock.now(),
            file_key=stored.key,
        )
        return records.attachments.add(attachment)

    def requested(self, request: Request) -> Attachment:
        """Return the attachment the path names.

        Raises:
            Refusal: uid or number are malformed, or document, number and name do not belong together.

        """
        if not self.context.habits.attachments_open:
            self.context.identity.require(request)
        uid = self.context.identifiers.from_path(request)
        number = attachment_number(request)
        filename = filename_in_path(request)
        with self.context.storage.transaction() as records:
            attachment = records.attachments.attachment(uid, number, filename)
        if attachment is None:
            raise not_found("there is no such attachment of this document")
        return attachment

    def _written(self, attachment: Attachment, status: int) -> Response:
        row = {
            "id": attachment.id,
            "identifier": attachment.identifier,
            "filename": attachment.filename,
            "contentType": attachment.content_type,
            "size": attachment.size,
            "owner": attachment.owner,
            "createdOn": attachment.created_on,
        }
        return self.context.answers.written(self.context.metadata.of_row(row), status)

    def _whole(self, attachment: Attachment) -> Response:
        return WholeFile(
            self.context.files.path(attachment.file_key),
            media_type=attachment.content_type,
            filename=attachment.filename,
            headers={"Accept-Ranges": "none"},
        )


def attachment_number(request: Request) -> int:
    """Return the attachment identifier in the path, an integer.

    Raises:
        Refusal: it is no integer, or larger than any we gave.

    """
    text = decoded_segment(request.path_params["attachmentId"]) or ""
    if _NUMBER.fullmatch(text) is None:
        raise bad_request("attachmentId must be an integer")
    if len(text) > _MOST_DIGITS:
        raise not_found("there is no such attachment of this document")
    return int(text)


def filename_in_path(request: Request) -> str:
    """Return the file name in the path.

    Raises:
        Refusal: it cannot be decoded, or is no name of a single file.

    """
    name = decoded_segment(request.path_params["filename"])
    if name is None:
        raise bad_request("filename must be percent-encoded UTF-8")
    if name in {".", ".."} or any(sign in "/\\" or ord(sign) < 32 or ord(sign) == 127 for sign in name):
        raise bad_request("filename must be the name of one file, without slashes or control characters")
    return name


class TemporaryOperations(Operations):
    """Answers ``POST /sandbox/temporary-files/{filename}``."""

    async def create(self, request: Request) -> Response:
        """Keep the body as a temporary file, without a size limit, and answer its ``tempFileId``."""
        context = self.context
        filename = filename_in_path(request)
        stored = await context.files.receive(request.stream(), limit=None)
        file_id = secrets.token_urlsafe(12)
        with context.storage.transaction() as records:
            kept = TemporaryFile(file_id, filename, stored.size, stored.key)
            records.attachments.add_temporary_files([kept])
        return JsonAnswer({"tempFileId": file_id}, status_code=201)
