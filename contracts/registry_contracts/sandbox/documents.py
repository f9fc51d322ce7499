"""The handlers of signing in, contacts, drafts and attachments, and the context that all handlers share.

The interface document lists no Realm header for attachments, so the sandbox looks for a document in all realms. Adding
needs the right to change the document; listing needs a token; exists, get and thumbnail are open (silent). The creation
of temporary files is "not shown": the sandbox has some from the start.
"""

import json
import mimetypes
import re
import time
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import FileResponse, Response

from registry_contracts.errors import UsageError
from registry_contracts.sandbox.authentication import Account, Identity, may_update
from registry_contracts.sandbox.habits import Habits, Settings
from registry_contracts.sandbox.http import (
    BodyReader,
    JsonBody,
    Problem,
    Reason,
    Refusal,
    attachment_number,
    bad_request,
    conflict,
    decoded_segment,
    filename_in_path,
    forbidden,
    header_value,
    identifier_in_path,
    is_identifier,
    new_identifier,
    not_found,
    query_value,
)
from registry_contracts.sandbox.lists import Lists, page_request
from registry_contracts.sandbox.responses import NO_CONTENT, REDIRECTS, Responses, json_response, json_text
from registry_contracts.sandbox.storage import (
    DRAFT,
    PUBLISHED,
    Attachment,
    Clock,
    FileStore,
    Records,
    Storage,
    StoredFile,
    Version,
    thumbnail,
    too_large,
)
from registry_contracts.sandbox.validation import (
    CONTACT,
    Expectation,
    Realm,
    RealmBook,
    RecordType,
    Validator,
    header_of,
)


class Context:
    """What the handlers of one sandbox share: an object for each rule, the storage and the files."""

    def __init__(self, settings: Settings, habits: Habits) -> None:
        self.settings = settings
        self.habits = habits
        self.clock = Clock(habits.timestamp_digits, habits.timestamp_offset)
        self.responses = Responses(habits, self.clock)
        self.identity = Identity(self.clock, habits)
        self.realms = RealmBook(habits)
        self.body = BodyReader(habits)
        self.validator = Validator(habits)
        self.lists = Lists(habits)
        #: Makes the problems that are reported from a body and those that were found; faults put another in place.
        self.judged: Callable[[dict[str, Any], list[Problem]], list[Problem]] = lambda _, problems: problems
        self._refused: set[tuple[str, str]] = set()
        self.files = FileStore(settings.data)
        try:
            self.storage = Storage(settings.data, self.clock)
        except UsageError:
            self.files.close()
            raise

    def close(self) -> None:
        """Close the database and remove what was only for this process."""
        self.storage.close()
        self.files.close()

    def knows(self, records: Records, realm: Realm) -> Callable[[str], bool]:
        """Return the test for whether a record exists in the realm, for references."""
        return lambda identifier: records.owner(realm.name, identifier) is not None

    def in_use(self, records: Records, realm: Realm, identifier: str) -> bool:
        """Tell whether an identifier names a record of the realm, or of any realm if the habit says so."""
        elsewhere = self.habits.identifiers_over_realms and records.owners_anywhere(identifier)
        return bool(elsewhere) or records.owner(realm.name, identifier) is not None

    def note_refused(self, realm: Realm, identifier: Any) -> None:
        """Note that a record was refused for its content; the identifier stays taken if the habit says so."""
        if self.habits.refused_identifiers_stay_taken and isinstance(identifier, str):
            self._refused.add((realm.name, identifier))

    def taken(self, records: Records, realm: Realm, identifier: str) -> bool:
        """Tell whether no record can be created under an identifier."""
        return (realm.name, identifier) in self._refused or self.in_use(records, realm, identifier)


class Handlers:
    """Base of the handlers, each for some of the operations."""

    def __init__(self, context: Context) -> None:
        self.context = context
        self.habits = context.habits

    def _addressed(self, request: Request) -> tuple[Account, str, Realm]:
        """Return the caller, the uid and the realm of a request for a contact or a draft."""
        caller = self.context.identity.require(request)
        uid = identifier_in_path(request)
        return caller, uid, self.context.realms.of_documents(request)


class SignIn(Handlers):
    """Answers ``createToken``."""

    async def create_token(self, request: Request) -> Response:
        """Answer a new token and its expiration (Authentication 1 and 2)."""
        credentials = (await self.context.body.read_object(request)).value
        email, password = credentials.get("email"), credentials.get("password")
        if self.habits.numbers_as_text:
            email, password = (
                str(each) if type(each) in (int, float) else each for each in (email, password)
            )
        if not isinstance(email, str) or not isinstance(password, str):
            raise bad_request("email and password must be given, both as strings")
        if self.habits.credentials_exact and len(credentials) > 2:
            raise bad_request("only email and password are read")
        identity = self.context.identity
        token = identity.issue(identity.sign_in(email, password))
        expiration = self.context.clock.written(token.expires)
        answer = {"authenticationToken": token.text, "expiration": expiration}
        return json_response(answer, self.habits.token_status, {"Cache-Control": "no-store"})


class Contacts(Handlers):
    """Answers ``createContact`` and ``updateContact``."""

    async def create(self, request: Request) -> Response:
        """Store a new contact under ``header.identifier``, else under a new identifier."""
        context = self.context
        caller = context.identity.require(request)
        realm = context.realms.of_documents(request)
        self.require_schema(request, realm)
        if not (caller.may_write or self.habits.contacts_by_restricted):
            raise forbidden("this account may not create contacts")
        body = await context.body.read_object(request)
        named = self.named(request, body.value)
        with context.storage.transaction() as records:
            self.validate(records, realm, None, body.value)
            identifier = new_identifier(self.habits) if named is None else named
            if context.taken(records, realm, identifier):
                self.require_own_to_update(records, caller, realm, identifier)
            stored = self.keep(records, caller, realm, identifier, body)
        return self.written(stored, self.habits.contact_created_status)

    async def update(self, request: Request) -> Response:
        """Replace a contact of the caller's own."""
        context = self.context
        caller, uid, realm = self._addressed(request)
        self.require_schema(request, realm)
        body = await context.body.read_object(request)
        with context.storage.transaction() as records:
            self.require_right(records, caller, realm, uid)
            self.validate(records, realm, uid, body.value)
            stored = self.keep(records, caller, realm, uid, body)
        return self.written(stored, self.habits.contact_updated_status)

    def written(self, contact: Version, status: int) -> Response:
        """Return the response that tells of a contact that was kept."""
        more = {"contact": json.loads(contact.content)} if self.habits.contact_content_answered else {}
        return self.context.responses.written(contact, status, **more)

    @property
    def states(self) -> list[str]:
        """The versions that a contact has; the last one counts."""
        return self.habits.contact_versions.split()

    def require_schema(self, request: Request, realm: Realm) -> None:
        """Refuse a record type that is missing, not configured for the realm, or not the contact's."""
        if self.habits.contact_schema_optional and query_value(request, "schema") is None:
            return
        if self.context.realms.schema(request, realm).name != CONTACT.name:
            raise bad_request("this operation takes contact records; submit others to the workflow endpoint")

    def require_right(self, records: Records, caller: Account, realm: Realm, uid: str) -> None:
        """Refuse an update of a contact that is not there, or not the caller's."""
        if self.habits.contact_put_creates and not self.context.in_use(records, realm, uid):
            if not caller.may_write:
                raise forbidden("this account may not create contacts")
            return
        contact = records.version(realm.name, uid, self.states[-1])
        if contact is None or contact.schema != CONTACT.name:
            raise not_found("there is no contact of this uid in the realm")
        if not may_update(caller, contact.owner, shared=self.habits.contacts_shared):
            raise forbidden("this account may not change this contact")

    def validate(self, records: Records, realm: Realm, uid: str | None, document: dict[str, Any]) -> None:
        """Refuse a faulty contact with every problem at once."""
        problems = self.problems(records, realm, uid, document)
        if problems:
            self.context.note_refused(realm, header_of(document).get("identifier"))
            raise Refusal(Reason.INVALID_CONTENT, "The contact is not valid.", problems=problems)

    def problems(
        self, records: Records, realm: Realm, uid: str | None, document: dict[str, Any]
    ) -> list[Problem]:
        """Return every problem of a contact."""
        knows = (lambda _: True) if self.habits.references_open else self.context.knows(records, realm)
        found = self.context.validator.problems(document, Expectation(CONTACT, uid, knows))
        return self.context.judged(document, found)

    def named(self, request: Request, document: dict[str, Any]) -> str | None:
        """Return the identifier that a request names for a new contact."""
        uid = query_value(request, "uid") if self.habits.contact_uid_from_query else None
        if uid is None:
            return None if self.habits.contacts_minted else header_of(document).get("identifier")
        if not is_identifier(uid):
            raise bad_request("the uid breaks the identifier rule")
        return uid

    def require_own_to_update(self, records: Records, caller: Account, realm: Realm, identifier: str) -> None:
        """Refuse to create under an identifier in use, unless the habit takes it for an update of the caller's own."""
        present = records.version(realm.name, identifier, self.states[-1])
        own = present is not None and present.schema == CONTACT.name and may_update(caller, present.owner)
        if not (own and self.habits.contact_post_updates):
            raise conflict("a record of this identifier exists in the realm")

    def keep(
        self, records: Records, caller: Account, realm: Realm, identifier: str, body: JsonBody
    ) -> Version:
        """Store a contact and return it."""
        what = {"schema": CONTACT.name, "owner": caller.name, "content": body.text}
        return [records.store(realm.name, identifier, state, **what) for state in self.states][-1]


COLLECTIONS = frozenset({"my", "mydrafts"})
#: The owner of no draft.
_NOBODY = "no account"
_NO_DRAFT = "there is no draft of this document in the realm"


class Drafts(Handlers):
    """Answers the six draft operations."""

    async def save(self, request: Request) -> Response:
        """Create the draft, or replace it; its content is stored as it came, without validation."""
        context = self.context
        caller, uid, realm = self._addressed(request)
        kind = context.realms.schema(request, realm, known=not self.habits.draft_any_schema)
        read = context.body.read if self.habits.draft_any_json else context.body.read_object
        body = await read(request, half_pairs=self.habits.half_pairs_kept)
        with context.storage.transaction() as records:
            self.require_right(records, caller, realm, uid, shared=bool(self.habits.drafts_shared))
            self.require_unlocked(records, realm, uid)
            created = records.version(realm.name, uid, DRAFT) is None
            content = self.taken(records, realm, uid, kind, body)
            problems = self.problems(records, realm, uid, kind, body.value)
            if problems and self.habits.draft_faults == "refused":
                raise Refusal(Reason.INVALID_CONTENT, "The draft is not valid.", problems=problems)
            before = records.owner(realm.name, uid) or caller.name
            records.store(realm.name, uid, DRAFT, schema=kind.name, owner=before, content=content)
            after = {"passed": caller.name, "joined": " ".join(dict.fromkeys([*before.split(), caller.name]))}
            stored = records.hand_over(realm.name, uid, after.get(self.habits.drafts_shared, before))
        status = self.habits.draft_created_status if created else self.habits.draft_updated_status
        if self.habits.draft_content_answered and status < REDIRECTS.start:
            answer = context.responses.draft(stored)
            answer.status_code = 200 if status == NO_CONTENT else status
            return answer
        if self.habits.draft_faults == "told":
            told = {
                "draft": context.responses.described(stored),
                "errors": context.responses.errors(problems),
            }
            return json_response(told, 200 if status in (NO_CONTENT, *REDIRECTS) else status)
        location = f"{request.scope['path']}/info"
        return context.responses.written(stored, status, location)

    def taken(self, records: Records, realm: Realm, uid: str, kind: RecordType, body: JsonBody) -> str:
        """Return the JSON text to store; refuse what is not accepted as a draft."""
        if self.habits.contact_drafts_refused and kind.name == CONTACT.name:
            raise bad_request("drafts of contacts are not kept")
        versions = (records.version(realm.name, uid, state) for state in (DRAFT, PUBLISHED))
        before = {version.schema for version in versions if version is not None}
        if self.habits.draft_schema_stays and before - {kind.name}:
            raise conflict("the record is of another schema")
        if self.habits.draft_schema_agrees and header_of(body.value).get("schema", kind.name) != kind.name:
            raise bad_request("header and query name different schemas")
        text = json_text(_without_nulls(body.value)) if self.habits.draft_nulls_dropped else body.text
        return _normalised(text) if self.habits.forms_normalised else text

    def problems(
        self, records: Records, realm: Realm, uid: str, kind: RecordType, value: Any
    ) -> list[Problem]:
        """Return the problems of a draft if the habit asks; none under a schema that the realm does not know."""
        if self.habits.draft_faults == "kept" or kind.name not in realm.types or not isinstance(value, dict):
            return []
        return self.context.validator.problems(
            value, Expectation(kind, uid, self.context.knows(records, realm))
        )

    async def get(self, request: Request) -> Response:
        """Answer the full content of the draft."""
        return self.context.responses.draft(self.requested(request))

    async def info(self, request: Request) -> Response:
        """Answer the metadata of the draft."""
        try:
            draft = self.requested(request)
        except Refusal as refusal:
            if refusal.reason is not Reason.NOT_FOUND or self.habits.info_of_nothing == "refused":
                raise
            if self.habits.info_of_nothing == "204":
                return Response(status_code=NO_CONTENT)
            uid = self._addressed(request)[1]
            told = {self.habits.identifier_member: uid, "exists": False, "askedOn": time.time()}
            return json_response(told if self.habits.info_of_nothing == "told" else None)
        info = self.context.responses.described(draft)
        if self.habits.info_whole:
            info = {"data": {**info, "body": json.loads(draft.content)}}
        return json_response(info)

    async def exists(self, request: Request) -> Response:
        """Tell whether a draft exists, without content."""
        responses = self.context.responses
        return responses.existing(responses.draft(self.requested(request)))

    async def delete(self, request: Request) -> Response:
        """Remove the draft version only; a published version stays."""
        context = self.context
        caller, uid, realm = self._addressed(request)
        with context.storage.transaction() as records:
            present = records.version(realm.name, uid, DRAFT)
            if present is None:
                raise Refusal(Reason.DELETE_MISSING, _NO_DRAFT)
            self.require_right(records, caller, realm, uid, shared=self.habits.drafts_deleted_by_all)
            self.require_unlocked(records, realm, uid)
            records.remove_draft(realm.name, uid)
        return context.responses.written(present, self.habits.draft_deleted_status)

    async def list(self, request: Request) -> Response:
        """Answer a page of the realm's drafts; a collection narrows it to the caller's own."""
        context = self.context
        caller = context.identity.require(request)
        realm = context.realms.of_documents(request)
        page = page_request(request, "$", self.habits)
        collection = query_value(request, "collection")
        owner = self.owner_asked_for(collection, caller)
        with_locked = not self.habits.my_and_mydrafts_differ or collection != "mydrafts"
        with context.storage.transaction() as records:
            rows = context.lists.drafts(records, realm.name, owner, page, with_locked=with_locked)
            for row in rows if self.habits.list_with_documents else ():
                draft = records.version(realm.name, row[self.habits.identifier_member], DRAFT)
                row["document"] = draft and json.loads(draft.content)
        return context.responses.listed(rows)

    def owner_asked_for(self, collection: str | None, caller: Account) -> str | None:
        """Return whose drafts a collection holds, ``None`` for all accounts'; refuse an unknown collection."""
        if collection not in {None, *COLLECTIONS} and not self.habits.collections_open:
            raise bad_request("collection must be my or mydrafts")
        if collection == "my" and self.habits.my_without_drafts:
            return _NOBODY
        return caller.name if collection in COLLECTIONS or self.habits.list_own_only else None

    def require_right(
        self, records: Records, caller: Account, realm: Realm, uid: str, *, shared: bool
    ) -> None:
        """Refuse a caller who may not create or change this record; `shared`: authors may change each other's."""
        owner = records.owner(realm.name, uid)
        if owner is None and not caller.may_write:
            raise forbidden("this account may not create drafts")
        if owner is None and self.context.in_use(records, realm, uid):
            raise conflict("a record of this identifier exists in another realm")
        if owner is not None and not may_update(caller, owner, shared=shared):
            raise forbidden("this account may not change this draft")

    def require_unlocked(self, records: Records, realm: Realm, uid: str) -> None:
        """Refuse a write to the draft of a locked record if the habit says so."""
        if self.habits.locked_draft_stays and records.is_locked(realm.name, uid):
            raise conflict("the record is locked")

    def requested(self, request: Request) -> Version:
        """Return the draft that a request names; refuse where there is none that the caller may read."""
        caller, uid, realm = self._addressed(request)
        with self.context.storage.transaction() as records:
            draft = records.version(realm.name, uid, DRAFT)
            hidden = self.habits.locked_draft_hidden and records.is_locked(realm.name, uid)
        other = draft is not None and not caller.owns(draft.owner)
        if draft is None or hidden or (other and self.habits.others_drafts == "hidden"):
            raise not_found(_NO_DRAFT)
        if other and self.habits.others_drafts == "refused" and request.method != "HEAD":
            raise forbidden("this draft is another account's")
        return draft


def _without_nulls(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _without_nulls(member) for name, member in value.items() if member is not None}
    return [_without_nulls(member) for member in value] if isinstance(value, list) else value


def _normalised(text: str) -> str:
    """Write the e-mails and hosts in a JSON text in small letters, and hosts without their usual port."""
    text = re.sub(r'"[^"\s\\]+@[^"\s\\]+"', lambda found: found[0].lower(), text)
    host = r'"https://[^"/:\\]+(:443)?(?=/)'
    return re.sub(host, lambda found: found[0].lower().removesuffix(":443"), text)


# The library's own table, not the machine's: the same answer everywhere.
_TYPES = mimetypes.MimeTypes(filenames=())


_PLAIN_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}", re.ASCII)


class Attachments(Handlers):
    """Answers the six attachment operations."""

    async def create(self, request: Request) -> Response:
        """Store the body as a new attachment of a document that exists."""
        context = self.context
        caller = context.identity.require(request)
        uid = self._document(request)
        filename = filename_in_path(request)
        if self.habits.uploads_not_json and "json" in (header_value(request, "content-type") or ""):
            raise Refusal(Reason.MEDIA_TYPE, "send the file in binary form")
        with context.storage.transaction() as records:
            self.require_right(records, caller, uid)
        limit = context.settings.size_limit
        announced = request.headers.get("content-length", "")
        if announced.isdigit() and int(announced) > limit:
            raise too_large(limit)
        stored = await context.files.receive(request.stream(), limit)
        if self.habits.download_type == "sent":
            stored = replace(stored, sent_type=header_value(request, "content-type"))
        with context.storage.transaction() as records:
            attachment = self.add(records, caller, uid, filename, stored)
        return self.written(attachment, self.habits.attachment_created_status)

    async def persist(self, request: Request) -> Response:
        """Make a temporary file an attachment; it cannot be used a second time."""
        context = self.context
        caller = context.identity.require(request)
        uid = identifier_in_path(request)
        file_id = decoded_segment(request.path_params["tempFileId"]) or ""
        with context.storage.transaction() as records:
            self.require_right(records, caller, uid)
            if self.habits.temporary_files_of not in ("", caller.name):
                raise forbidden("the temporary file is another account's")
            temporary = records.temporary_file(file_id)
            if temporary is None or temporary.used:
                raise not_found("there is no unused temporary file of this id")
            if not self.habits.temporary_files_last:
                records.use_up(file_id)
            stored = StoredFile(temporary.file_key, temporary.size)
            filename = self.habits.temporary_file_prefix + temporary.filename
            attachment = self.add(records, caller, uid, filename, stored)
        return self.written(attachment, self.habits.attachment_persisted_status)

    async def list(self, request: Request) -> Response:
        """Answer a page of a document's attachments."""
        context = self.context
        caller = context.identity.require(request)
        uid = self._document(request)
        page = page_request(request, "", self.habits)
        with context.storage.transaction() as records:
            owners = records.owners_anywhere(uid)
            if not (owners or records.attachments(uid) or self.habits.attachments_of_anything):
                raise not_found("there is no document of this uid")
            own = any(caller.owns(owner) for owner in owners)
            if owners and not own and self.habits.attachments_private:
                raise forbidden("this document is another account's")
            rows = context.lists.attachments(records, uid, page)
        return context.responses.listed(rows)

    async def exists(self, request: Request) -> Response:
        """Tell whether the attachment belongs to the document, without its content."""
        return self.context.responses.existing(self._whole(self.requested(request)))

    async def get(self, request: Request) -> Response:
        """Answer the bytes of the attachment."""
        return self._whole(self.requested(request))

    async def thumbnail(self, request: Request) -> Response:
        """Answer a preview image of the attachment."""
        attachment = self.requested(request)
        age = (self.context.clock.now() - attachment.created_on).total_seconds()
        late = age < self.habits.thumbnail_delay
        if late or (self.habits.thumbnails_of_pictures and not attachment.content_type.startswith("image/")):
            raise not_found("there is no preview of this file")
        path, form = self.context.files.path(attachment.file_key), self.habits.thumbnail_format
        image = await run_in_threadpool(thumbnail, path, form)
        return Response(image, media_type=f"image/{form.lower()}")

    def require_right(self, records: Records, caller: Account, uid: str) -> None:
        """Refuse a document that no realm has, or that the caller may not change."""
        owners = records.owners_anywhere(uid)
        if not owners and not self.habits.attachments_of_anything:
            raise not_found("there is no document of this uid")
        owned = any(may_update(caller, owner, shared=self.habits.attachments_by_anybody) for owner in owners)
        if not (owned or (not owners and caller.may_write)):
            raise forbidden("this account may not add attachments to this document")
        realms = self.context.realms.realms
        submitted = any(records.submitted(realm, uid) for realm in realms)
        published = any(records.version(realm, uid, PUBLISHED) for realm in realms)
        if not {"submitted": submitted, "published": published}.get(self.habits.attachments_of, True):
            raise conflict("this document takes no attachments yet")

    def add(
        self, records: Records, caller: Account, uid: str, filename: str, stored: StoredFile
    ) -> Attachment:
        """Record a stored file as an attachment and return it with its number."""
        if stored.size == 0 and self.habits.empty_file_refused:
            raise bad_request("the file is empty")
        if self.habits.file_names == "plain" and _PLAIN_NAME.fullmatch(filename) is None:
            raise bad_request("the file name holds characters that are not allowed, or too many")
        if self.habits.file_names == "changed":
            filename = re.sub(r"[^A-Za-z0-9._-]", "_", filename)[-64:]
        earlier = [other for other in records.attachments(uid) if other.filename == filename]
        if earlier and self.habits.second_file_of_a_name == "refused":
            raise conflict("an attachment of this name exists")
        if earlier and self.habits.second_file_of_a_name == "numbered":
            filename = f"{len(earlier) + 1}-{filename}"
        if self.habits.second_file_of_a_name == "replaced":
            for other in earlier:
                records.remove_attachment(other.id)
        overwritten = earlier and self.habits.second_file_of_a_name == "overwritten"
        attachment = Attachment(
            id=earlier[0].id if overwritten else 0,
            identifier=uid,
            filename=filename,
            content_type=stored.sent_type
            or _TYPES.guess_type(filename, strict=False)[0]
            or "application/octet-stream",
            size=stored.size,
            owner=caller.name,
            created_on=self.context.clock.now(),
            file_key=stored.key,
        )
        added = records.add_attachment(attachment)
        if self.habits.attachments_with_previews:
            files = self.context.files
            preview = files.keep(thumbnail(files.path(stored.key), "PNG"))
            beside = replace(added, id=0, filename=f"{filename}.preview.png", content_type="image/png")
            records.add_attachment(replace(beside, size=preview.size, file_key=preview.key))
        return added

    def requested(self, request: Request) -> Attachment:
        """Return the attachment of the path; refuse if document, number and name do not belong together."""
        if self.habits.attachments_closed:
            self.context.identity.require(request)
        uid = self._document(request)
        number = attachment_number(request)
        filename = filename_in_path(request)
        with self.context.storage.transaction() as records:
            if self.habits.attachment_numbers == "own":
                number = dict(enumerate((other.id for other in records.attachments(uid)), 1)).get(number, 0)
            attachment = records.attachment(uid, number, None if self.habits.file_names_unread else filename)
        if attachment is None:
            raise not_found("there is no such attachment of this document")
        return attachment

    def written(self, attachment: Attachment, status: int) -> Response:
        """Return the response that tells of a new attachment."""
        if self.habits.attachment_numbers == "own":
            with self.context.storage.transaction() as records:
                numbers = [other.id for other in records.attachments(attachment.identifier)]
            attachment = replace(attachment, id=numbers.index(attachment.id) + 1)
        return self.context.responses.written(attachment, status)

    def _document(self, request: Request) -> str:
        realm = header_value(request, "realm") if self.habits.attachment_realms_known else None
        if realm is not None and self.context.realms.named(realm) is None:
            raise bad_request("the realm is not configured")
        return identifier_in_path(request)

    def _whole(self, attachment: Attachment) -> Response:
        path = self.context.files.path(attachment.file_key)
        of_its_own = self.habits.download_type in (None, "sent")
        return FileResponse(
            path,
            stat_result=path.stat(),
            media_type=attachment.content_type if of_its_own else self.habits.download_type,
            filename=attachment.filename if of_its_own else None,
        )
