"""Variants of identifiers, names and the written form of values."""

import re
import uuid
from collections.abc import Mapping
from datetime import datetime
from typing import Any

from sqlalchemy import func
from sqlalchemy.sql import ColumnElement
from starlette.responses import Response

from contracts.sandbox.answers import Answers
from contracts.sandbox.clock import Clock
from contracts.sandbox.contacts import ContactOperations
from contracts.sandbox.identifiers import IdentifierRule
from contracts.sandbox.listing import Listing
from contracts.sandbox.metadata import Metadata
from contracts.sandbox.odata import Fields, ODataReader
from contracts.sandbox.realms import Realm
from contracts.sandbox.records import Records
from contracts.sandbox.seeds import Seeds
from contracts.sandbox.submissions import Submission
from contracts.sandbox.variants.model import Variant
from contracts.sandbox.workflow import WorkflowOperations

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
        with self.service.storage.transaction() as records:
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
        return self.service.identifiers.mint()


class _MintedRecords(WorkflowOperations):
    """A submission without an identifier in the path is given one, whatever its header says."""

    def check_identifier(self, submission: Submission, records: Records) -> str:
        if submission.path_identifier is None:
            return self.service.identifiers.mint()
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


VARIANTS = (
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
