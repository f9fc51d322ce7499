"""Contact records (create and update) and draft versions (save, get, info, exists, delete and list)."""

from collections.abc import Callable
from typing import Any

from starlette.requests import Request
from starlette.responses import Response

from contracts.sandbox.answers import JsonAnswer
from contracts.sandbox.authentication import Account
from contracts.sandbox.context import Operations
from contracts.sandbox.http_requests import (
    JsonBody,
    Reason,
    Refusal,
    bad_request,
    forbidden,
    not_found,
    query_value,
)
from contracts.sandbox.listing import page_request
from contracts.sandbox.record_types import CONTACT, Expectation, Realm, RecordType
from contracts.sandbox.storage import DRAFT, PUBLISHED, Records, Version, new_version


class ContactOperations(Operations):
    """Answers ``createContact`` and ``updateContact``."""

    async def create(self, request: Request) -> Response:
        """Store a new contact, under ``header.identifier`` or else an identifier of our making."""
        context = self.context
        caller = context.identity.require(request)
        realm = context.realms.of_documents(request)
        kind = self.require_schema(request, realm)
        if not context.rights.may_create(caller):
            raise forbidden("this account may not create contacts")
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
        found = self._requested_draft(request)
        if self.context.habits.head_length:
            return self.context.answers.content(found.content)
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
