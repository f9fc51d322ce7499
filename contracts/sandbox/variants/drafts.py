"""Variants of draft versions and attachments: what is returned, what is accepted, names, previews and rights."""

import json
import re
from io import BytesIO
from itertools import count
from pathlib import Path
from typing import Any

from starlette.requests import Request
from starlette.responses import Response

from contracts.sandbox.authentication import Account
from contracts.sandbox.documents import AttachmentOperations, DraftOperations
from contracts.sandbox.habits import JsonAnswer, json_text
from contracts.sandbox.http import Fault, Reason, Refusal, bad_request, forbidden, not_found
from contracts.sandbox.storage import ATTACHMENTS, DRAFT, Attachment, Records, StoredFile, Thumbnails, Version
from contracts.sandbox.validation import CONTACT, INVALID_PROPERTY, INVALID_TYPE, Expectation, Realm
from contracts.sandbox.variants.model import Variants

VARIANTS = Variants()

_READINGS = count(1)


class _Given(DraftOperations):
    """Base of variants that give a draft back in another form."""

    async def get(self, request: Request) -> Response:
        return JsonAnswer(self.given(self._requested_draft(request)))

    def given(self, draft: Version) -> Any:
        """Return what is given for a draft."""
        raise NotImplementedError


@VARIANTS.layer("draft-wrapped", "draft-get-answer")
class _Wrapped(_Given):
    """The record that carries a draft is not shown: the content stands in it beside metadata."""

    def given(self, draft: Version) -> Any:
        info = self.context.metadata.of_version(draft)
        reading = {"readOn": self.context.clock.written(self.context.clock.now()), "reading": next(_READINGS)}
        return {**info, **reading, "state": "draft", "workingDocument": json.loads(draft.content)}


@VARIANTS.layer("draft-extended", "draft-get-answer")
class _Extended(_Given):
    """What a service adds to a draft is not shown: members of its own, and a header made whole."""

    def given(self, draft: Version) -> Any:
        content = json.loads(draft.content)
        header = content.get("header")
        header = header if isinstance(header, dict) else {}
        whole = {"identifier": draft.identifier, "schema": draft.schema, "languages": ["en"], **header}
        return {"_revision": 1, "_owner": draft.owner, **content, "header": {**whole, "version": 1}}


@VARIANTS.layer("draft-rewritten", "draft-get-answer")
class _Rewritten(DraftOperations):
    """The form of a draft's JSON is not shown: keys sorted, letters escaped, indented."""

    async def get(self, request: Request) -> Response:
        content = json.loads(self._requested_draft(request).content)
        text = json.dumps(content, sort_keys=True, indent=2, ensure_ascii=True)
        return Response(text, media_type="application/json")


class _Changed(DraftOperations):
    """Base of variants that look at what is saved; submissions were validated already and pass."""

    def keep(
        self, records: Records, *, caller: Account, realm: Realm, uid: str, schema: str, content: str
    ) -> Version:
        kept = self.taken(records, realm, uid, schema, content)
        return super().keep(records, caller=caller, realm=realm, uid=uid, schema=schema, content=kept)

    def taken(self, records: Records, realm: Realm, uid: str, schema: str, content: str) -> str:
        """Return what is stored for what was sent, both JSON texts."""
        raise NotImplementedError


class _OfWorkflow(_Changed):
    """Knows contacts, but takes none as a draft."""

    def taken(self, records: Records, realm: Realm, uid: str, schema: str, content: str) -> str:  # noqa: ARG002
        if schema == CONTACT.name:
            raise bad_request("drafts of contacts are not kept")
        return content


VARIANTS.add(
    "drafts-of-workflow",
    ("Schemas of drafts",),
    "Which schemas drafts may have is not shown: those of the workflow alone.",
    parts=(_OfWorkflow,),
    settings={"draft_schema": "workflow_schema", "draft_document": "workflow_document"},
)


@VARIANTS.layer("draft-nulls-dropped", "draft-save-body")
class _NullsDropped(_Changed):
    """Whether null stands for an absent field is not shown: it does, and is not kept."""

    def taken(self, records: Records, realm: Realm, uid: str, schema: str, content: str) -> str:  # noqa: ARG002
        return json_text(_without_nulls(json.loads(content)))


def _without_nulls(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _without_nulls(member) for name, member in value.items() if member is not None}
    return [_without_nulls(member) for member in value] if isinstance(value, list) else value


@VARIANTS.layer("draft-known-fields-only", "draft-save-incomplete")
class _KnownOnly(_Changed):
    """What a draft may hold is not shown: only fields of its schema."""

    def taken(self, records: Records, realm: Realm, uid: str, schema: str, content: str) -> str:  # noqa: ARG002
        kind, document = realm.types.get(schema), json.loads(content)
        # Of a schema that the realm does not know no field is known to be wrong.
        members = document if kind is not None and isinstance(document, dict) else ()
        unknown = [name for name in members if kind is not None and kind.field(name) is None]
        if unknown:
            faults = [Fault(INVALID_PROPERTY, (name,)) for name in unknown]
            raise Refusal(Reason.INVALID_CONTENT, "The draft has unknown fields.", faults=faults)
        return content


class _ValidOnly(_Changed):
    """A draft that is not complete and valid is refused."""

    def taken(self, records: Records, realm: Realm, uid: str, schema: str, content: str) -> str:
        faults = self.faults(records, realm, uid, schema, content)
        if faults:
            raise Refusal(Reason.INVALID_CONTENT, "The draft is not valid.", faults=faults)
        return content

    def faults(self, records: Records, realm: Realm, uid: str, schema: str, content: str) -> list[Fault]:
        """Return the faults of a draft; none under a schema that the realm does not know."""

        def knows(identifier: str) -> bool:
            return records.owner(realm.name, identifier) is not None

        kind, document = realm.types.get(schema), json.loads(content)
        if kind is None:
            return []
        if not isinstance(document, dict):
            return [Fault(INVALID_TYPE, ("document",))]
        return self.context.validator.faults(document, Expectation(kind, uid, knows))


VARIANTS.add(
    "draft-valid-only",
    ("draft-save-incomplete",),
    "Whether a draft has to be complete is not shown: it has to be valid by its schema.",
    parts=(_ValidOnly,),
)


@VARIANTS.layer("draft-faults-told", "draft-save-incomplete", "draft-save-answer")
class _FaultsTold(_ValidOnly):
    """The answer to a saved draft is not shown: it holds an errors array of what is still to be done."""

    async def save(self, request: Request) -> Response:
        answer = await super().save(request)
        _, uid, realm = self._addressed(request)
        with self.context.storage.transaction() as records:
            draft = records.version(realm.name, uid, DRAFT)
            faults = draft and self.faults(records, realm, uid, draft.schema, draft.content)
        body = {
            "draft": json.loads(bytes(answer.body) or b"null"),
            "errors": self.context.answers.errors(faults or []),
        }
        return JsonAnswer(body, 200 if answer.status_code == 204 else answer.status_code)

    def taken(self, records: Records, realm: Realm, uid: str, schema: str, content: str) -> str:  # noqa: ARG002
        return content


@VARIANTS.layer("draft-content-answered", "draft-save-answer")
class _ContentAnswered(DraftOperations):
    """The answer to a saved draft is not shown: it is the content."""

    async def save(self, request: Request) -> Response:
        answer = await super().save(request)
        content = self.context.answers.content(self._requested_draft(request).content)
        content.status_code = 200 if answer.status_code == 204 else answer.status_code
        return content


@VARIANTS.layer("others-drafts-hidden", "draft-of-another")
class _Hidden(DraftOperations):
    """Whether one account may read the draft of another is not shown: it is answered as if it were not there."""

    def _requested_draft(self, request: Request) -> Version:
        draft = super()._requested_draft(request)
        if draft.owner != self.context.identity.require(request).name:
            raise not_found("there is no such draft of yours")
        return draft


@VARIANTS.layer("locked-draft-hidden", "draft-of-locked-record")
class _LockedHidden(DraftOperations):
    """Whether the draft of a locked record can be read is not shown: it cannot."""

    def _requested_draft(self, request: Request) -> Version:
        draft = super()._requested_draft(request)
        with self.context.storage.transaction() as records:
            locked = records.is_locked(draft.realm, draft.identifier)
        if locked:
            raise not_found("this record is under way")
        return draft


_PLAIN_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}", re.ASCII)


@VARIANTS.layer("empty-file-refused", "attachment-empty-file")
class _NoEmptyFiles(AttachmentOperations):
    """An attachment without bytes is not shown: it is refused."""

    def add(
        self, records: Records, caller: Account, uid: str, filename: str, stored: StoredFile
    ) -> Attachment:
        if stored.size == 0:
            raise bad_request("the file is empty")
        return super().add(records, caller, uid, filename, stored)


@VARIANTS.layer("file-names-plain", "attachment-name-unusual")
class _PlainNamesOnly(AttachmentOperations):
    """Spaces, letters beyond ASCII and long file names are not shown: they are refused."""

    def add(
        self, records: Records, caller: Account, uid: str, filename: str, stored: StoredFile
    ) -> Attachment:
        if _PLAIN_NAME.fullmatch(filename) is None:
            raise bad_request("the file name holds characters that are not allowed, or too many")
        return super().add(records, caller, uid, filename, stored)


@VARIANTS.layer("file-names-changed", "attachment-name-unusual")
class _Renaming(AttachmentOperations):
    """Spaces, letters beyond ASCII and long file names are not shown: the file is given a plain name."""

    def add(
        self, records: Records, caller: Account, uid: str, filename: str, stored: StoredFile
    ) -> Attachment:
        plain = re.sub(r"[^A-Za-z0-9._-]", "_", filename)[-64:]
        return super().add(records, caller, uid, plain, stored)


@VARIANTS.layer("file-names-unread", "attachment-name-disagrees")
class _NumberOnly(AttachmentOperations):
    """A file name that does not go with the attachment identifier is not shown: it is not looked at."""

    def requested(self, request: Request) -> Attachment:
        try:
            return super().requested(request)
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


@VARIANTS.layer("file-names-unique", "attachment-name-taken")
class _NamesUnique(AttachmentOperations):
    """A second attachment of the same name is not shown: it is refused."""

    def add(
        self, records: Records, caller: Account, uid: str, filename: str, stored: StoredFile
    ) -> Attachment:
        here = (ATTACHMENTS.c.identifier == uid, ATTACHMENTS.c.filename == filename)
        if records.connection.execute(ATTACHMENTS.select().where(*here)).first() is not None:
            raise Refusal(Reason.CONFLICT, "an attachment of this name exists")
        return super().add(records, caller, uid, filename, stored)


@VARIANTS.layer("file-names-numbered", "attachment-name-taken")
class _NamesNumbered(AttachmentOperations):
    """A second attachment of the same name is not shown: it is given another name."""

    def add(
        self, records: Records, caller: Account, uid: str, filename: str, stored: StoredFile
    ) -> Attachment:
        here = (ATTACHMENTS.c.identifier == uid, ATTACHMENTS.c.filename == filename)
        earlier = len(records.connection.execute(ATTACHMENTS.select().where(*here)).all())
        name = f"{earlier + 1}-{filename}" if earlier else filename
        return super().add(records, caller, uid, name, stored)


@VARIANTS.layer("file-names-replaced", "attachment-name-taken")
class _NamesReplaced(AttachmentOperations):
    """A second attachment of the same name is not shown: it takes the place of the first."""

    def add(
        self, records: Records, caller: Account, uid: str, filename: str, stored: StoredFile
    ) -> Attachment:
        here = (ATTACHMENTS.c.identifier == uid, ATTACHMENTS.c.filename == filename)
        records.connection.execute(ATTACHMENTS.delete().where(*here))
        return super().add(records, caller, uid, filename, stored)


@VARIANTS.layer("attachments-of-anything", "attachment-document-unknown")
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


@VARIANTS.layer("thumbnails-of-pictures", "attachment-thumbnail-form")
class _PicturesOnly(AttachmentOperations):
    """The thumbnail of a file that is no image is not shown: there is none."""

    async def thumbnail(self, request: Request) -> Response:
        if not self.requested(request).content_type.startswith("image/"):
            raise not_found("there is no preview of this file")
        return await super().thumbnail(request)


class _JpegAnswered(AttachmentOperations):
    async def thumbnail(self, request: Request) -> Response:
        answer = await super().thumbnail(request)
        return Response(answer.body, media_type="image/jpeg")


class _JpegDrawn(Thumbnails):
    def draw(self, path: Path, filename: str) -> bytes:
        from PIL import Image  # noqa: PLC0415 - loaded when the first preview is asked for

        with Image.open(BytesIO(super().draw(path, filename))) as image:
            buffer = BytesIO()
            image.convert("RGB").save(buffer, "JPEG")
            return buffer.getvalue()


VARIANTS.add(
    "thumbnails-jpeg",
    ("attachment-thumbnail-form",),
    "The format of a thumbnail is not shown: JPEG.",
    parts=(_JpegAnswered, _JpegDrawn),
)
