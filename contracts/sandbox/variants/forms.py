"""Variants of the form in which things are named and shown: numbers, links, pictures, what a submission answers."""

import json
import uuid
from collections.abc import Mapping
from dataclasses import replace
from io import BytesIO
from pathlib import Path
from typing import Any

from sqlalchemy import func, select
from starlette.requests import Request
from starlette.responses import Response

from contracts.sandbox.answers import Answers
from contracts.sandbox.attachment_records import Attachment
from contracts.sandbox.attachments import AttachmentOperations, attachment_number
from contracts.sandbox.drafts import DraftOperations
from contracts.sandbox.json_answer import JsonAnswer, json_bytes
from contracts.sandbox.listing import Listing, Page
from contracts.sandbox.metadata import Metadata
from contracts.sandbox.records import Records
from contracts.sandbox.tables import ATTACHMENTS
from contracts.sandbox.thumbnails import Thumbnails
from contracts.sandbox.variants.bodies import Rewriting
from contracts.sandbox.variants.model import Variant

_SUBMITTING = frozenset(
    {"createWorkflowRecord", "createWorkflowRecordWithIdentifier", "updateWorkflowRecord"}
)


class _LinkOnly(Metadata):
    """An attachment is described by its name, its size and its address."""

    def of_row(self, row: Mapping[str, Any]) -> dict[str, Any]:
        if "filename" not in row:
            return super().of_row(row)
        address = f"/api/v2013/documents/{row['identifier']}/attachments/{row['id']}/{row['filename']}"
        return {"name": row["filename"], "length": row["size"], "url": address}


class _NumberAlone(Answers):
    """The answer to a created attachment is its number."""

    def written(self, record: dict[str, Any], status: int) -> Response:
        number = record.get(self.habits.attachment_id_member)
        if number is None or status == 204:
            return super().written(record, status)
        return JsonAnswer(number, status)


class _NumberedRows(Listing):
    """A listed attachment is numbered among those of its document."""

    def attachments(self, records: Records, uid: str, page: Page) -> list[dict[str, Any]]:
        attachment = ATTACHMENTS.c
        rows = select(
            attachment.id.label("sequence"),
            func.row_number().over(order_by=attachment.id).label("id"),
            attachment.identifier,
            attachment.filename,
            attachment.size,
            attachment.created_on.label("createdOn"),
        ).where(attachment.identifier == uid)
        return self.page(records, rows, page)


class _Numbered(AttachmentOperations):
    """Attachments are numbered anew in each document, from 1."""

    def found(self, request: Request) -> Attachment:
        wanted = attachment_number(request)
        uid = self.service.identifiers.from_path(request)
        number = dict(enumerate(self._numbers(uid), start=1)).get(wanted, 0)
        return super().found(_with_number(request, number))

    def _written(self, attachment: Attachment, status: int) -> Response:
        place = self._numbers(attachment.identifier).index(attachment.id) + 1
        return super()._written(replace(attachment, id=place), status)

    def _numbers(self, uid: str) -> list[int]:
        here = select(ATTACHMENTS.c.id).where(ATTACHMENTS.c.identifier == uid).order_by(ATTACHMENTS.c.id)
        with self.service.storage.transaction() as records:
            return list(records.connection.execute(here).scalars())


def _with_number(request: Request, number: int) -> Request:
    path = {**request.path_params, "attachmentId": str(number)}
    return Request({**request.scope, "path_params": path}, request.receive)


class _SeeOther(DraftOperations):
    """A save answers where to look at what came of it."""

    async def save(self, request: Request) -> Response:
        await super().save(request)
        return Response(status_code=303, headers={"Location": f"{request.scope['path']}/info"})


class _Thumbnail(AttachmentOperations):
    """Base of previews in another format."""

    media_type = ""

    async def thumbnail(self, request: Request) -> Response:
        answer = await super().thumbnail(request)
        return Response(answer.body, media_type=self.media_type)


class _Drawn(Thumbnails):
    """Base of previews drawn in another format."""

    form = ""

    def draw(self, path: Path, filename: str) -> bytes:
        from PIL import Image  # noqa: PLC0415 - loaded when the first preview is asked for

        with Image.open(BytesIO(super().draw(path, filename))) as image:
            buffer = BytesIO()
            image.convert("RGB").save(buffer, self.form)
            return buffer.getvalue()


class _WebpThumbnail(_Thumbnail):
    media_type = "image/webp"


class _WebpDrawn(_Drawn):
    form = "WEBP"


class _GifThumbnail(_Thumbnail):
    media_type = "image/gif"


class _GifDrawn(_Drawn):
    form = "GIF"


class _Furnished(Rewriting):
    """The answer to a submission names the workflow, its activities and the record's earlier versions too."""

    def applies(self, scope: Any, start: Any) -> bool:
        submitted = scope.get("operation_id") in _SUBMITTING and start.get("status", 500) < 300
        return submitted and super().applies(scope, start)

    def rewritten(self, scope: Any, status: int, body: bytes) -> tuple[int, bytes]:  # noqa: ARG002
        record = json.loads(body) if body else None
        if not isinstance(record, dict):
            return status, body
        workflow = {"_id": uuid.uuid4().hex[:24], "state": "running", "activities": [{"name": "review"}]}
        whole = {"workflow": workflow, "correlationId": str(uuid.uuid4()), "document": record}
        return status, json_bytes(whole)


VARIANTS = (
    Variant(
        "attachment-id-in-link",
        "The fields of a listed attachment are not shown: its number stands in its address only.",
        parts={"metadata": _LinkOnly},
    ),
    Variant(
        "attachment-number-alone",
        "The answer to a created attachment is not shown: it is a number and nothing else.",
        parts={"answers": _NumberAlone},
    ),
    Variant(
        "attachment-id-per-document",
        "How attachments are numbered is not shown: anew in each document.",
        parts={"attachments": _Numbered, "listing": _NumberedRows},
    ),
    Variant(
        "save-see-other",
        "The status of a saved draft is not shown: 303, with the address of its info.",
        parts={"drafts": _SeeOther},
    ),
    Variant(
        "thumbnails-webp",
        "The format of a thumbnail is not shown: WebP.",
        parts={"attachments": _WebpThumbnail, "thumbnails": _WebpDrawn},
    ),
    Variant(
        "thumbnails-gif",
        "The format of a thumbnail is not shown: GIF.",
        parts={"attachments": _GifThumbnail, "thumbnails": _GifDrawn},
    ),
    Variant(
        "submissions-furnished",
        "The answer to a submission beyond its identifier is not shown: it tells of the workflow first.",
        wrap=_Furnished,
    ),
)
"""Each shows things in another form."""
