"""Variants of identifiers, names and the written form of values.

Variants of the form in which things are named and shown: numbers, links, pictures, what a submission answers.

Variants of the texts that are taken: what JSON can carry and UTF-8 cannot.
"""

import json
import re
import uuid
from collections.abc import Mapping
from contextvars import ContextVar
from dataclasses import replace
from datetime import datetime
from io import BytesIO
from pathlib import Path
from typing import Any

from sqlalchemy import func, select
from sqlalchemy.sql import ColumnElement
from starlette.requests import Request
from starlette.responses import Response

from contracts.sandbox.accounts import Clock
from contracts.sandbox.answers import Answers, JsonAnswer, Metadata, json_bytes
from contracts.sandbox.attachments import AttachmentOperations, attachment_number
from contracts.sandbox.contacts import ContactOperations
from contracts.sandbox.database import ATTACHMENTS, DRAFT, Attachment, Records, Version
from contracts.sandbox.drafts import DraftOperations
from contracts.sandbox.files import Thumbnails
from contracts.sandbox.http_requests import BodyReader, JsonBody
from contracts.sandbox.identifiers import IdentifierRule
from contracts.sandbox.listing import Fields, Listing, ODataReader, Page
from contracts.sandbox.record_types import Realm
from contracts.sandbox.seeds import Seeds
from contracts.sandbox.variants.http import Rewriting
from contracts.sandbox.variants.model import Variant
from contracts.sandbox.workflow import Submission, WorkflowOperations

_LARGE = 4_000_000_000
_NANOSECONDS = re.compile(r"(\.\d{6})\d{1,3}")


class _RenamedFields(Listing):
    """Filters and orders know the fields by the names that are shown."""

    def reader(self, fields: Fields) -> ODataReader:
        renamed = {"identifier": "documentUid", "id": "_id"}
        return super().reader({renamed.get(name, name): column for name, column in fields.items()})


class _TextNumbers(Metadata):
    """An attachment's number is shown as text."""

    def of_row(self, row: Mapping[str, Any]) -> dict[str, Any]:
        return super().of_row({name: str(value) if name == "id" else value for name, value in row.items()})


class _LargeNumbers(Seeds):
    """Attachments are numbered beyond 32 bits."""

    def plant(self) -> None:
        super().plant()
        with self.context.storage.transaction() as records:
            run = records.connection.exec_driver_sql
            run("DELETE FROM sqlite_sequence WHERE name = 'attachments'")
            run("INSERT INTO sqlite_sequence (name, seq) VALUES ('attachments', ?)", (_LARGE,))


class _InLocation(Answers):
    """A write says in its Location header what came of it, and nothing in its body."""

    def written(self, record: dict[str, Any], status: int) -> Response:
        if status == 204:
            return super().written(record, status)
        place = f"/api/v2013/documents/{record.get(self.habits.identifier_member)}"
        if self.habits.attachment_id_member in record:
            place += f"/attachments/{record[self.habits.attachment_id_member]}"
        return Response(status_code=status, headers={"Location": place})


class _MintedContacts(ContactOperations):
    """A new contact is given an identifier, whatever its header says."""

    def new_identifier(self, records: Records, realm: Realm, document: dict[str, Any]) -> str:  # noqa: ARG002
        return self.context.identifiers.mint()


class _MintedRecords(WorkflowOperations):
    """A submission without an identifier in the path is given one, whatever its header says."""

    def check_identifier(self, submission: Submission, records: Records) -> str:
        if submission.path_identifier is None:
            return self.context.identifiers.mint()
        return super().check_identifier(submission, records)


class _Uuids(IdentifierRule):
    """New identifiers are UUIDs in capitals."""

    def mint(self) -> str:
        return str(uuid.uuid4()).upper()


class _CapitalRealms(Metadata):
    """Descriptions write the realm in capitals."""

    def of_row(self, row: Mapping[str, Any]) -> dict[str, Any]:
        shown = super().of_row(row)
        return {name: value.upper() if name == "realm" else value for name, value in shown.items()}


class _CapitalRealmFields(Listing):
    """Filters and orders know the realm as it is shown."""

    def reader(self, fields: Fields) -> ODataReader:
        realm: dict[str, ColumnElement[Any]] = (
            {"realm": func.upper(fields["realm"])} if "realm" in fields else {}
        )
        return super().reader({**fields, **realm})


class _Nanoseconds(Clock):
    """Nine digits, and the offset of UTC in figures."""

    def written(self, moment: datetime) -> str:
        return f"{moment:%Y-%m-%dT%H:%M:%S.%f}000+00:00"


class _NanosecondFilters(Listing):
    """Filters take the moments that are shown, which are finer than any clock of ours."""

    def reader(self, fields: Fields) -> ODataReader:
        reader = super().reader(fields)
        condition = reader.condition
        reader.condition = lambda text: condition(_NANOSECONDS.sub(r"\1", text))  # type: ignore[method-assign]
        return reader


NAME_VARIANTS = (
    Variant(
        "ids-renamed",
        "The members that carry identifiers are not shown: documentUid, and _id for attachments.",
        habits={"identifier_member": "documentUid", "attachment_id_member": "_id"},
        parts={"listing": _RenamedFields},
    ),
    Variant(
        "attachment-id-text",
        "The form of an attachment's identifier in answers is not shown: it is text.",
        parts={"metadata": _TextNumbers},
    ),
    Variant(
        "attachment-id-large",
        "How attachments are numbered is not shown: beyond 32 bits.",
        parts={"seeds": _LargeNumbers},
    ),
    Variant(
        "id-in-location",
        "Where the answer to a write names what it made is not shown: in the Location header alone.",
        parts={"answers": _InLocation},
    ),
    Variant(
        "contacts-minted",
        "Whether a new contact takes the identifier of its header is not shown: it is given another.",
        parts={"contacts": _MintedContacts},
    ),
    Variant(
        "records-minted",
        "Whether a submission without identifier takes that of its header is not shown: it is given another.",
        parts={"workflow": _MintedRecords},
    ),
    Variant(
        "identifiers-uuid",
        "The form of identifiers that the service makes is not shown: UUIDs in capitals.",
        parts={"identifiers": _Uuids},
    ),
    Variant(
        "realm-in-capitals",
        "How answers write the realm is not shown: in capitals.",
        parts={"metadata": _CapitalRealms, "listing": _CapitalRealmFields},
    ),
    Variant(
        "timestamps-nano",
        "Digits and offset of a timestamp are not shown: nine digits and +00:00.",
        habits={"timestamp_digits": 6},
        parts={"clock": _Nanoseconds, "listing": _NanosecondFilters},
    ),
)
"""Each names or writes something otherwise."""


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
        uid = self.context.identifiers.from_path(request)
        number = dict(enumerate(self._numbers(uid), start=1)).get(wanted, 0)
        return super().found(_with_number(request, number))

    def _written(self, attachment: Attachment, status: int) -> Response:
        place = self._numbers(attachment.identifier).index(attachment.id) + 1
        return super()._written(replace(attachment, id=place), status)

    def _numbers(self, uid: str) -> list[int]:
        here = select(ATTACHMENTS.c.id).where(ATTACHMENTS.c.identifier == uid).order_by(ATTACHMENTS.c.id)
        with self.context.storage.transaction() as records:
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


FORM_VARIANTS = (
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


_HALF = re.compile("[\ud800-\udfff]")
_SAVING_DRAFT: ContextVar[bool] = ContextVar("_SAVING_DRAFT", default=False)


class _HalfPairsTaken(BodyReader):
    """The text of a draft may hold half of a surrogate pair; what is validated or signed in with may not."""

    async def read(self, request: Request) -> JsonBody:
        mark = _SAVING_DRAFT.set(request.scope.get("operation_id") == "saveDraft")
        try:
            return await super().read(request)
        finally:
            _SAVING_DRAFT.reset(mark)

    def refuse_surrogates(self, text: str, value: Any) -> None:
        if not _SAVING_DRAFT.get():
            super().refuse_surrogates(text, value)


class _HalfPairsDescribed(Metadata):
    """The description of a draft, which a save is answered with too, shows its members that hold half of a pair."""

    def of_version(self, version: Version) -> dict[str, Any]:
        return {**super().of_version(version), **_odd(version.content)}


class _HalfPairsListed(Listing):
    """A listed draft shows them too."""

    def drafts(self, records: Records, realm: str, owner: str | None, page: Page) -> list[dict[str, Any]]:
        rows = super().drafts(records, realm, owner, page)
        for row in rows:
            draft = records.version(realm, row["identifier"], DRAFT)
            row.update(_odd(draft.content) if draft is not None else {})
        return rows


def _odd(content: str) -> dict[str, Any]:
    """The outermost members of a JSON object that hold half of a pair, under one name; nothing when none does."""
    value = json.loads(content)
    members = value.items() if isinstance(value, dict) else ()
    found = {name: member for name, member in members if _HALF.search(name) or _holds_half(member)}
    return {"oddTexts": found} if found else {}


def _holds_half(value: Any) -> bool:
    return isinstance(value, str) and _HALF.search(value) is not None


TEXT_VARIANTS = (
    Variant(
        "half-pairs-kept",
        "Whether half of a surrogate pair is text is not shown: a draft keeps it, and description and list show it.",
        parts={"body": _HalfPairsTaken, "metadata": _HalfPairsDescribed, "listing": _HalfPairsListed},
    ),
)
"""Each takes texts that others refuse."""


VARIANTS = (*NAME_VARIANTS, *FORM_VARIANTS, *TEXT_VARIANTS)
