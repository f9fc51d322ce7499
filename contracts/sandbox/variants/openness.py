"""Variants that serve what the document does not speak of: realms elsewhere, options in another spelling, old files."""

from collections.abc import Mapping
from typing import Any

from sqlalchemy import update
from starlette.requests import Request
from starlette.responses import Response

from contracts.sandbox.attachment_records import Attachment
from contracts.sandbox.attachments import AttachmentOperations
from contracts.sandbox.files import StoredFile
from contracts.sandbox.identity import Account
from contracts.sandbox.query import header_value, query_value
from contracts.sandbox.realms import Realm, RealmBook
from contracts.sandbox.records import Records
from contracts.sandbox.tables import TEMPORARY_FILES
from contracts.sandbox.variants.model import Variant

_READS = ("GET", "HEAD", "DELETE")


class _RealmInAnyQuery(RealmBook):
    """Contact and draft operations read the realm from the query too."""

    def of_documents(self, request: Request) -> Realm:
        name = query_value(request, "Realm")
        realm = self.named(name) if name and not header_value(request, "realm") else None
        return realm if realm is not None and realm.holds_documents else super().of_documents(request)


class _UnknownRealmRead(RealmBook):
    """Whoever reads under a realm that does not exist sees the default one."""

    def of_documents(self, request: Request) -> Realm:
        name = header_value(request, "realm")
        if name and self.named(name) is None and request.method in _READS:
            return self.realms[self.default]
        return super().of_documents(request)


class _ReportingRealm(RealmBook):
    """The reporting realm has drafts and contacts as the others have."""

    def of_documents(self, request: Request) -> Realm:
        realm = self.named(header_value(request, "realm") or "")
        if realm is None or realm.holds_documents:
            return super().of_documents(request)
        contact = self.realms[self.default].types["contact"]
        return Realm(realm.name, {**realm.types, "contact": contact})


class _DollarToo(AttachmentOperations):
    """The options of the attachment list are read with a dollar sign too."""

    async def list(self, request: Request) -> Response:
        plain = request.scope["query_string"].replace(b"%24", b"$").replace(b"$", b"")
        return await super().list(Request({**request.scope, "query_string": plain}, request.receive))


class _FilesLast(AttachmentOperations):
    """A temporary file stays in temporary storage when it was made an attachment."""

    async def persist(self, request: Request) -> Response:
        answer = await super().persist(request)
        file_id = str(request.path_params["tempFileId"])
        with self.service.storage.transaction() as records:
            here = TEMPORARY_FILES.c.id == file_id
            records.connection.execute(update(TEMPORARY_FILES).where(here).values(used=False))
        return answer


class _FilesRenamed(AttachmentOperations):
    """A temporary file is given another name when it is made an attachment."""

    def add(
        self, records: Records, caller: Account, uid: str, filename: str, stored: StoredFile
    ) -> Attachment:
        here = TEMPORARY_FILES.c.file_key == stored.key
        temporary = records.connection.execute(TEMPORARY_FILES.select().where(here)).first()
        name = f"upload-{filename}" if temporary is not None else filename
        return super().add(records, caller, uid, name, stored)


class _AnybodyAttaches(AttachmentOperations):
    """Whoever may write may attach files to any document."""

    def require_right(self, records: Records, caller: Account, uid: str) -> None:
        if not (self.service.rights.may_create(caller) and records.owners_anywhere(uid)):
            super().require_right(records, caller, uid)


class _PlainType(AttachmentOperations):
    """A download is bytes to be saved, whatever the file is."""

    async def get(self, request: Request) -> Response:
        answer = await super().get(request)
        answer.headers["content-type"] = "application/octet-stream"
        return answer


def _parts(layer: type[AttachmentOperations]) -> Mapping[str, Any]:
    return {"attachments": layer}


VARIANTS = (
    Variant(
        "realm-in-any-query",
        "A realm in the query of contact and draft operations is not shown: it is read.",
        parts={"realms": _RealmInAnyQuery},
    ),
    Variant(
        "realm-unknown-read",
        "Reading drafts under an unknown realm is not shown: it reads those of the default realm.",
        parts={"realms": _UnknownRealmRead},
    ),
    Variant(
        "reporting-drafts",
        "Contact and draft operations in the reporting realm are not shown: they are served.",
        parts={"realms": _ReportingRealm},
    ),
    Variant(
        "attachment-options-dollar",
        "Options of the attachment list with a dollar sign are not shown: they are read.",
        parts=_parts(_DollarToo),
    ),
    Variant(
        "temporary-files-last",
        "Persisting a temporary file a second time is not shown: it makes another attachment.",
        parts=_parts(_FilesLast),
    ),
    Variant(
        "temporary-files-renamed",
        "The name of a persisted temporary file is not shown: it gets another.",
        parts=_parts(_FilesRenamed),
    ),
    Variant(
        "attachments-by-anybody",
        "Whether one account may attach files to the document of another is not shown: it may.",
        parts=_parts(_AnybodyAttaches),
    ),
    Variant(
        "downloads-plain",
        "The type of a download is not shown: bytes, whatever the file is.",
        parts=_parts(_PlainType),
    ),
)
"""Each serves more."""
