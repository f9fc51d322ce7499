"""Variants of identifiers, names, and the written form of numbers, links, pictures and texts."""

import json
import re
import uuid
from collections.abc import Mapping
from contextvars import ContextVar
from dataclasses import replace
from datetime import datetime
from typing import Any

from sqlalchemy import Select, func, select
from sqlalchemy.sql import ColumnElement
from starlette.requests import Request
from starlette.responses import Response

from contracts.sandbox.app import Seeds
from contracts.sandbox.documents import (
    AttachmentOperations,
    ContactOperations,
    DraftOperations,
    attachment_number,
)
from contracts.sandbox.habits import Answers, Clock, JsonAnswer, Metadata, json_bytes
from contracts.sandbox.http import BodyReader, IdentifierRule, JsonBody
from contracts.sandbox.lists import Fields, Listing, ODataReader, Page
from contracts.sandbox.storage import ATTACHMENTS, Attachment, Records
from contracts.sandbox.validation import Realm
from contracts.sandbox.variants.http import Rewriting
from contracts.sandbox.variants.model import WRITTEN, Variants
from contracts.sandbox.workflow import Submission, WorkflowOperations

VARIANTS = Variants()

_LARGE = 4_000_000_000
_NANOSECONDS = re.compile(r"(\.\d{6})\d{1,3}")


class _RenamedFields(Listing):
    """Filters and orders know the fields by the names that are shown."""

    def reader(self, fields: Fields) -> ODataReader:
        renamed = {"identifier": "documentUid", "id": "_id"}
        return super().reader({renamed.get(name, name): column for name, column in fields.items()})


VARIANTS.add(
    "ids-renamed",
    ("attachment-fields", *WRITTEN),
    "The members that carry identifiers are not shown: documentUid, and _id for attachments.",
    habits={"identifier_member": "documentUid", "attachment_id_member": "_id"},
    parts=(_RenamedFields,),
)


@VARIANTS.layer("attachment-id-text", "attachment-fields")
class _TextNumbers(Metadata):
    """The form of an attachment's identifier in answers is not shown: it is text."""

    def of_row(self, row: Mapping[str, Any]) -> dict[str, Any]:
        return super().of_row({name: str(value) if name == "id" else value for name, value in row.items()})


@VARIANTS.layer("attachment-id-large", "attachment-fields")
class _LargeNumbers(Seeds):
    """How attachments are numbered is not shown: beyond 32 bits."""

    def plant(self) -> None:
        super().plant()
        with self.context.storage.transaction() as records:
            run = records.connection.exec_driver_sql
            run("DELETE FROM sqlite_sequence WHERE name = 'attachments'")
            run("INSERT INTO sqlite_sequence (name, seq) VALUES ('attachments', ?)", (_LARGE,))


@VARIANTS.layer("id-in-location", *WRITTEN)
class _InLocation(Answers):
    """Where the answer to a write names what it made is not shown: in the Location header alone."""

    def written(self, record: dict[str, Any], status: int) -> Response:
        if status == 204:
            return super().written(record, status)
        place = f"/api/v2013/documents/{record.get(self.habits.identifier_member)}"
        if self.habits.attachment_id_member in record:
            place += f"/attachments/{record[self.habits.attachment_id_member]}"
        return Response(status_code=status, headers={"Location": place})


@VARIANTS.layer("contacts-minted", "contact-identifier-origin")
class _MintedContacts(ContactOperations):
    """Whether a new contact takes the identifier of its header is not shown: it is given another."""

    def new_identifier(self, records: Records, realm: Realm, document: dict[str, Any]) -> str:  # noqa: ARG002
        return self.context.identifiers.mint()


@VARIANTS.layer("records-minted", "workflow-identifier-origin")
class _MintedRecords(WorkflowOperations):
    """Whether a submission without identifier takes that of its header is not shown: it is given another."""

    def check_identifier(self, submission: Submission, records: Records) -> str:
        if submission.path_identifier is None:
            return self.context.identifiers.mint()
        return super().check_identifier(submission, records)


@VARIANTS.layer("identifiers-uuid", "contact-identifier-origin", "workflow-identifier-origin")
class _Uuids(IdentifierRule):
    """The form of identifiers that the service makes is not shown: UUIDs in capitals."""

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


VARIANTS.add(
    "realm-in-capitals",
    ("draft-info-answer", "How answers write a realm"),
    "How answers write the realm is not shown: in capitals.",
    parts=(_CapitalRealms, _CapitalRealmFields),
)


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


VARIANTS.add(
    "timestamps-nano",
    ("draft-info-answer", "Digits and offset of a timestamp"),
    "Digits and offset of a timestamp are not shown: nine digits and +00:00.",
    habits={"timestamp_digits": 6},
    parts=(_Nanoseconds, _NanosecondFilters),
)


_SUBMITTING = frozenset(
    {"createWorkflowRecord", "createWorkflowRecordWithIdentifier", "updateWorkflowRecord"}
)


@VARIANTS.layer("attachment-id-in-link", "attachment-fields")
class _LinkOnly(Metadata):
    """The fields of a listed attachment are not shown: its number stands in its address only."""

    def of_row(self, row: Mapping[str, Any]) -> dict[str, Any]:
        if "filename" not in row:
            return super().of_row(row)
        address = f"/api/v2013/documents/{row['identifier']}/attachments/{row['id']}/{row['filename']}"
        return {"name": row["filename"], "length": row["size"], "url": address}


@VARIANTS.layer("attachment-number-alone", "attachment-create-answer")
class _NumberAlone(Answers):
    """The answer to a created attachment is not shown: it is a number and nothing else."""

    def written(self, record: dict[str, Any], status: int) -> Response:
        number = record.get(self.habits.attachment_id_member)
        if number is None or status == 204:
            return super().written(record, status)
        return JsonAnswer(number, status)


class _NumberedRows(Listing):
    """A listed attachment is numbered among those of its document."""

    def attachments(self, records: Records, uid: str, page: Page) -> list[dict[str, Any]]:
        return self.page(
            records, self._numbered(uid, func.row_number().over(order_by=ATTACHMENTS.c.id)), page
        )

    def _numbered(self, uid: str, number: ColumnElement[int]) -> Select[Any]:
        attachment = ATTACHMENTS.c
        return select(
            attachment.id.label("sequence"),
            number.label("id"),
            attachment.identifier,
            attachment.filename,
            attachment.content_type.label("contentType"),
            attachment.size,
            attachment.owner,
            attachment.created_on.label("createdOn"),
        ).where(attachment.identifier == uid)


class _InnerNumbers(_NumberedRows):
    """A listed attachment tells a number of the storage's, by which nothing is served."""

    def attachments(self, records: Records, uid: str, page: Page) -> list[dict[str, Any]]:
        return self.page(records, self._numbered(uid, ATTACHMENTS.c.id * 7 + 3), page)


VARIANTS.add(
    "attachment-id-not-listed",
    ("attachment-fields",),
    "The fields of a listed attachment are not shown: only the answer to an upload tells the number to read it by.",
    habits={"attachment_persisted_status": 204},
    parts=(_InnerNumbers,),
)


class _Numbered(AttachmentOperations):
    """Attachments are numbered anew in each document, from 1."""

    def requested(self, request: Request) -> Attachment:
        wanted = attachment_number(request)
        uid = self.context.identifiers.from_path(request)
        number = dict(enumerate(self._numbers(uid), start=1)).get(wanted, 0)
        return super().requested(_with_number(request, number))

    def _written(self, attachment: Attachment, status: int) -> Response:
        place = self._numbers(attachment.identifier).index(attachment.id) + 1
        return super()._written(replace(attachment, id=place), status)

    def _numbers(self, uid: str) -> list[int]:
        here = select(ATTACHMENTS.c.id).where(ATTACHMENTS.c.identifier == uid).order_by(ATTACHMENTS.c.id)
        with self.context.storage.transaction() as records:
            return list(records.connection.execute(here).scalars())


VARIANTS.add(
    "attachment-id-per-document",
    ("attachment-fields",),
    "How attachments are numbered is not shown: anew in each document.",
    parts=(_Numbered, _NumberedRows),
)


def _with_number(request: Request, number: int) -> Request:
    path = {**request.path_params, "attachmentId": str(number)}
    return Request({**request.scope, "path_params": path}, request.receive)


@VARIANTS.layer("save-see-other", "draft-success-status")
class _SeeOther(DraftOperations):
    """The status of a saved draft is not shown: 303, with the address of its info."""

    async def save(self, request: Request) -> Response:
        await super().save(request)
        return Response(status_code=303, headers={"Location": f"{request.scope['path']}/info"})


@VARIANTS.wire("submissions-furnished", "workflow-answer")
class _Furnished(Rewriting):
    """The answer to a submission beyond its identifier is not shown: it tells of the workflow first."""

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


_SAVING_DRAFT: ContextVar[bool] = ContextVar("_SAVING_DRAFT", default=False)


@VARIANTS.layer("half-pairs-kept", "draft-save-body")
class _HalfPairsTaken(BodyReader):
    """Whether half of a surrogate pair is text is not shown: a draft keeps it."""

    async def read(self, request: Request) -> JsonBody:
        mark = _SAVING_DRAFT.set(request.scope.get("operation_id") == "saveDraft")
        try:
            return await super().read(request)
        finally:
            _SAVING_DRAFT.reset(mark)

    def refuse_surrogates(self, text: str, value: Any) -> None:
        # What is validated or signed in with may hold none.
        if not _SAVING_DRAFT.get():
            super().refuse_surrogates(text, value)
