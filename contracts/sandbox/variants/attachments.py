"""Variants of attachments: names, empty files, previews, rights, documents that are not there."""

import re
from io import BytesIO
from pathlib import Path

from starlette.requests import Request
from starlette.responses import Response

from contracts.sandbox.attachments import AttachmentOperations
from contracts.sandbox.authentication import Account
from contracts.sandbox.database import ATTACHMENTS, Attachment, Records
from contracts.sandbox.files import StoredFile, Thumbnails
from contracts.sandbox.http_requests import Reason, Refusal, bad_request, forbidden, not_found
from contracts.sandbox.variants.model import Variants

VARIANTS = Variants()

_PLAIN_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}", re.ASCII)


@VARIANTS.layer("attachments", "empty-file-refused")
class _NoEmptyFiles(AttachmentOperations):
    """An attachment without bytes is not shown: it is refused."""

    def add(
        self, records: Records, caller: Account, uid: str, filename: str, stored: StoredFile
    ) -> Attachment:
        if stored.size == 0:
            raise bad_request("the file is empty")
        return super().add(records, caller, uid, filename, stored)


@VARIANTS.layer("attachments", "file-names-plain")
class _PlainNamesOnly(AttachmentOperations):
    """Spaces, letters beyond ASCII and long file names are not shown: they are refused."""

    def add(
        self, records: Records, caller: Account, uid: str, filename: str, stored: StoredFile
    ) -> Attachment:
        if _PLAIN_NAME.fullmatch(filename) is None:
            raise bad_request("the file name holds characters that are not allowed, or too many")
        return super().add(records, caller, uid, filename, stored)


@VARIANTS.layer("attachments", "file-names-changed")
class _Renaming(AttachmentOperations):
    """Spaces, letters beyond ASCII and long file names are not shown: the file is given a plain name."""

    def add(
        self, records: Records, caller: Account, uid: str, filename: str, stored: StoredFile
    ) -> Attachment:
        plain = re.sub(r"[^A-Za-z0-9._-]", "_", filename)[-64:]
        return super().add(records, caller, uid, plain, stored)


@VARIANTS.layer("attachments", "file-names-unread")
class _NumberOnly(AttachmentOperations):
    """A file name that does not go with the attachment identifier is not shown: it is not looked at."""

    def found(self, request: Request) -> Attachment:
        try:
            return super().found(request)
        except Refusal as refusal:
            if refusal.reason is not Reason.NOT_FOUND:
                raise
            return self._of_number(request, refusal)

    def _of_number(self, request: Request, refusal: Refusal) -> Attachment:
        uid, number = self.context.identifiers.from_path(request), int(request.path_params["attachmentId"])
        here = (ATTACHMENTS.c.id == number % 2**63, ATTACHMENTS.c.identifier == uid)
        with self.context.storage.transaction() as records:
            row = records.connection.execute(ATTACHMENTS.select().where(*here)).one_or_none()
        if row is None:
            raise refusal
        return Attachment(**row._mapping)


@VARIANTS.layer("attachments", "file-names-unique")
class _NamesUnique(AttachmentOperations):
    """A second attachment of the same name is not shown: it is refused."""

    def add(
        self, records: Records, caller: Account, uid: str, filename: str, stored: StoredFile
    ) -> Attachment:
        here = (ATTACHMENTS.c.identifier == uid, ATTACHMENTS.c.filename == filename)
        if records.connection.execute(ATTACHMENTS.select().where(*here)).first() is not None:
            raise Refusal(Reason.CONFLICT, "an attachment of this name exists")
        return super().add(records, caller, uid, filename, stored)


@VARIANTS.layer("attachments", "attachments-of-anything")
class _AnyDocument(AttachmentOperations):
    """Attachments of a document that does not exist are not shown: they are taken, and listed as none before."""

    def require_right(self, records: Records, caller: Account, uid: str) -> None:
        if records.owners_anywhere(uid):
            super().require_right(records, caller, uid)
        elif not self.context.rights.may_create(caller):
            raise forbidden("this account may not add attachments")

    async def list(self, request: Request) -> Response:
        try:
            return await super().list(request)
        except Refusal as refusal:
            if refusal.reason is not Reason.NOT_FOUND:
                raise
            return self.context.answers.listed([])


@VARIANTS.layer("attachments", "thumbnails-of-pictures")
class _PicturesOnly(AttachmentOperations):
    """The thumbnail of a file that is no image is not shown: there is none."""

    async def thumbnail(self, request: Request) -> Response:
        if not self.found(request).content_type.startswith("image/"):
            raise not_found("there is no preview of this file")
        return await super().thumbnail(request)


class _Jpeg(AttachmentOperations):
    """Previews are JPEG pictures."""

    async def thumbnail(self, request: Request) -> Response:
        answer = await super().thumbnail(request)
        return Response(answer.body, media_type="image/jpeg")


class _JpegThumbnails(Thumbnails):
    """Draws previews as JPEG pictures."""

    def draw(self, path: Path, filename: str) -> bytes:
        from PIL import Image  # noqa: PLC0415 - loaded when the first preview is asked for

        with Image.open(BytesIO(super().draw(path, filename))) as image:
            buffer = BytesIO()
            image.convert("RGB").save(buffer, "JPEG")
            return buffer.getvalue()


VARIANTS.add(
    "thumbnails-jpeg",
    "The format of a thumbnail is not shown: JPEG.",
    parts={"attachments": _Jpeg, "thumbnails": _JpegThumbnails},
)
