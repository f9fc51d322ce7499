"""Operations on documents: contact records, draft versions, attachments, and what all operations share.

The interface document lists no Realm header for attachments, so a document is looked for over all realms. Adding needs
the right to change the document; listing needs a token; exists, get and thumbnail are open (silent). The creation of
temporary files is "not shown", so the sandbox has its own operation, outside the interface.
"""

import mimetypes
import re
import secrets
from collections.abc import Callable
from typing import Any

from starlette.requests import Request
from starlette.responses import FileResponse, Response
from starlette.types import Receive, Scope, Send

from contracts.sandbox.authentication import Account, Identity, Rights, TokenBook
from contracts.sandbox.habits import Answers, Clock, Habits, JsonAnswer, Metadata, Settings
from contracts.sandbox.http import (
    BodyReader,
    IdentifierRule,
    JsonBody,
    Reason,
    Refusal,
    bad_request,
    decoded_segment,
    forbidden,
    not_found,
    query_value,
)
from contracts.sandbox.layers import Layers
from contracts.sandbox.lists import Listing, page_request
from contracts.sandbox.storage import (
    DRAFT,
    PUBLISHED,
    Attachment,
    FileStore,
    Records,
    Storage,
    StoredFile,
    TemporaryFile,
    Thumbnails,
    Version,
    new_version,
    too_large,
)
from contracts.sandbox.validation import CONTACT, Expectation, Realm, RealmBook, RecordType, Validator


class Context:
    """What the operations of one sandbox share; each rule is a small object and an attribute here.

    Args:
        settings: where data is kept, and the limits.
        habits: choices where the document is silent.
        layers: what is laid over the classes of the parts.

    Raises:
        UsageError: the data folder cannot be used.

    """

    def __init__(self, settings: Settings, habits: Habits, layers: Layers) -> None:
        over = layers.over
        self.settings = settings
        self.habits = habits
        self.clock = over(Clock)(habits.timestamp_digits)
        self.answers = over(Answers)(habits)
        self.metadata = over(Metadata)(habits, self.clock)
        self.identifiers = over(IdentifierRule)()
        self.identity = over(Identity)(over(TokenBook)(self.clock, settings.token_lifetime))
        self.rights = over(Rights)()
        self.realms = over(RealmBook)(required=habits.realm_required, default=habits.default_realm)
        self.body = over(BodyReader)(settings.json_limit)
        self.validator = over(Validator)(self.identifiers, habits)
        self.listing = over(Listing)(default_top=habits.list_default_top, newest_first=habits.newest_first)
        self.thumbnails = over(Thumbnails)(habits.thumbnail_pixels)
        self.files = FileStore(settings.data)
        self.storage = Storage(settings.data, over(Records))


class Operations:
    """Base of the classes that answer operations."""

    def __init__(self, context: Context) -> None:
        self.context = context


class ContactOperations(Operations):
    """Answers ``createContact`` and ``updateContact``."""

    async def create(self, request: Request) -> Response:
        """Store a new contact, under ``header.identifier`` or else an identifier of our making."""
        context = self.context
        caller = context.identity.require(request)
        realm = context.realms.of_documents(request)
        kind = self.require_schema(request, realm)
        self.require_creator(caller)
        body = await context.body.read_object(request)
        with context.storage.transaction() as records:
            self.refuse_faults(body.value, Expectation(kind, None, self.knows(records, realm)))
            identifier = self.new_identifier(records, realm, body.value)
            stored = self.keep(records, caller=caller, realm=realm, identifier=identifier, body=body)
        return self._written(stored, context.habits.contact_created_status)

    async def update(self, request: Request) -> Response:
        """Replace a contact of the caller's own."""
        context = self.context
        caller = context.identity.require(request)
        uid = context.identifiers.from_path(request)
        realm = context.realms.of_documents(request)
        kind = self.require_schema(request, realm)
        with context.storage.transaction() as records:
            self.require_right(records, caller, realm, uid)
        body = await context.body.read_object(request)
        with context.storage.transaction() as records:
            self.require_right(records, caller, realm, uid)
            self.refuse_faults(body.value, Expectation(kind, uid, self.knows(records, realm)))
            stored = self.keep(records, caller=caller, realm=realm, identifier=uid, body=body)
        return self._written(stored, context.habits.contact_updated_status)

    def require_creator(self, caller: Account) -> None:
        """Refuse a caller who may not create contacts."""
        if not self.context.rights.may_create(caller):
            raise forbidden("this account may not create contacts")

    def require_schema(self, request: Request, realm: Realm) -> RecordType:
        """Return the record type of the request, which must be the contact's.

        Raises:
            Refusal: missing, not configured for the realm, or a record type of documents.

        """
        kind = self.context.realms.schema(request, realm)
        if kind.name != CONTACT.name:
            raise bad_request("this operation takes contact records; submit others to the workflow endpoint")
        return kind

    def require_right(self, records: Records, caller: Account, realm: Realm, uid: str) -> None:
        """Refuse an update of a contact that is not there, or not the caller's.

        Raises:
            Refusal: 404 without a contact of that uid in the realm, 403 without the right.

        """
        contact = records.version(realm.name, uid, PUBLISHED)
        if contact is None or contact.schema != CONTACT.name:
            raise not_found("there is no contact of this uid in the realm")
        if not self.context.rights.may_update(caller, contact.owner):
            raise forbidden("this account may not change this contact")

    def refuse_faults(self, document: dict[str, Any], expectation: Expectation) -> None:
        """Refuse a faulty contact with every fault at once."""
        faults = self.context.validator.faults(document, expectation)
        if faults:
            raise Refusal(Reason.INVALID_CONTENT, "The contact is not valid.", faults=faults)

    def knows(self, records: Records, realm: Realm) -> Callable[[str], bool]:
        """Return the test for whether a record exists in the realm, for references."""
        return lambda identifier: records.owner(realm.name, identifier) is not None

    def new_identifier(self, records: Records, realm: Realm, document: dict[str, Any]) -> str:
        """Return the identifier of a new contact.

        Raises:
            Refusal: the header names an identifier that is in use.

        """
        identifier: str | None = document.get("header", {}).get("identifier")
        if identifier is None:
            return self.context.identifiers.mint()
        if records.owner(realm.name, identifier) is not None:
            raise Refusal(Reason.CONFLICT, "a record of this identifier exists in the realm")
        return identifier

    def keep(
        self, records: Records, *, caller: Account, realm: Realm, identifier: str, body: JsonBody
    ) -> Version:
        """Store a contact and return it."""
        return records.store(
            new_version(
                realm=realm.name,
                identifier=identifier,
                state=PUBLISHED,
                schema=CONTACT.name,
                owner=caller.name,
                content=body.text,
                moment=self.context.clock.now(),
            )
        )

    def _written(self, stored: Version, status: int) -> Response:
        return self.context.answers.written(self.context.metadata.of_version(stored), status)


COLLECTIONS = frozenset({"my", "mydrafts"})
_NO_DRAFT = "there is no draft of this document in the realm"


class DraftOperations(Operations):
    """Answers the six draft operations."""

    async def save(self, request: Request) -> Response:
        """Create the draft, or replace it; its content is stored as it came, without validation."""
        context = self.context
        caller, uid, realm = self._addressed(request)
        kind = context.realms.schema(request, realm)
        body = await context.body.read_object(request)
        with context.storage.transaction() as records:
            self.require_right(records, caller, realm, uid)
            created = records.version(realm.name, uid, DRAFT) is None
            stored = self.keep(
                records, caller=caller, realm=realm, uid=uid, schema=kind.name, content=body.text
            )
        habits = context.habits
        status = habits.draft_created_status if created else habits.draft_updated_status
        return context.answers.written(context.metadata.of_version(stored), status)

    async def get(self, request: Request) -> Response:
        """Answer the full content of the draft."""
        return self.context.answers.content(self._requested_draft(request).content)

    async def info(self, request: Request) -> Response:
        """Answer the metadata of the draft."""
        return JsonAnswer(self.context.metadata.of_version(self._requested_draft(request)))

    async def exists(self, request: Request) -> Response:
        """Tell whether a draft exists, without content."""
        draft = self._requested_draft(request)
        if self.context.habits.head_length:
            return self.context.answers.content(draft.content)
        return Response(media_type="application/json")

    async def delete(self, request: Request) -> Response:
        """Remove the draft version only; a published version stays."""
        context = self.context
        caller, uid, realm = self._addressed(request)
        with context.storage.transaction() as records:
            present = records.version(realm.name, uid, DRAFT)
            if present is None:
                raise Refusal(Reason.DELETE_MISSING, _NO_DRAFT)
            self.require_right(records, caller, realm, uid)
            records.remove_draft(realm.name, uid)
        return context.answers.written(
            context.metadata.of_version(present), context.habits.draft_deleted_status
        )

    async def list(self, request: Request) -> Response:
        """Answer a page of the realm's drafts; a collection narrows it to the caller's own."""
        context = self.context
        caller = context.identity.require(request)
        realm = context.realms.of_documents(request)
        page = page_request(request, prefix="$")
        owner = self.collection_owner(request, caller)
        with context.storage.transaction() as records:
            rows = context.listing.drafts(records, realm.name, owner, page)
        return context.answers.listed([context.metadata.of_row(row) for row in rows])

    def collection_owner(self, request: Request, caller: Account) -> str | None:
        """Return whose drafts the collection asks for; ``None``: all accounts'.

        Raises:
            Refusal: the collection is neither ``my`` nor ``mydrafts``.

        """
        collection = query_value(request, "collection")
        if collection is None:
            return None
        if collection not in COLLECTIONS:
            raise bad_request("collection must be my or mydrafts")
        return caller.name

    def require_right(self, records: Records, caller: Account, realm: Realm, uid: str) -> None:
        """Refuse a caller who may not create this record, or not change it.

        Raises:
            Refusal: the account may not write, or another account owns the record.

        """
        owner = records.owner(realm.name, uid)
        rights = self.context.rights
        if owner is None and not rights.may_create(caller):
            raise forbidden("this account may not create drafts")
        if owner is not None and not rights.may_update(caller, owner):
            raise forbidden("this account may not change this draft")

    def keep(
        self, records: Records, *, caller: Account, realm: Realm, uid: str, schema: str, content: str
    ) -> Version:
        """Store a draft's JSON text and return the draft."""
        return records.store(
            new_version(
                realm=realm.name,
                identifier=uid,
                state=DRAFT,
                schema=schema,
                owner=caller.name,
                content=content,
                moment=self.context.clock.now(),
            )
        )

    def _addressed(self, request: Request) -> tuple[Account, str, Realm]:
        context = self.context
        caller = context.identity.require(request)
        uid = context.identifiers.from_path(request)
        return caller, uid, context.realms.of_documents(request)

    def _requested_draft(self, request: Request) -> Version:
        _, uid, realm = self._addressed(request)
        with self.context.storage.transaction() as records:
            draft = records.version(realm.name, uid, DRAFT)
        if draft is None:
            raise not_found(_NO_DRAFT)
        return draft


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
        path = self.context.files.path(attachment.file_key)
        return WholeFile(
            path,
            stat_result=path.stat(),
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
