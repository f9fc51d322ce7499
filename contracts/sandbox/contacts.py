"""Contact records: create and update.

A contact is a document that is published at once. Its faults are all reported together, each with one of the
seven codes; ``contracts.sandbox.validation`` says what triggers which.
"""

from collections.abc import Callable
from typing import Any

from starlette.requests import Request
from starlette.responses import Response

from contracts.sandbox.accounts import Account
from contracts.sandbox.context import Context
from contracts.sandbox.database import PUBLISHED, Records, Version, new_version
from contracts.sandbox.http_requests import JsonBody
from contracts.sandbox.record_types import CONTACT, Realm, RecordType
from contracts.sandbox.refusals import Reason, Refusal, bad_request, forbidden, not_found
from contracts.sandbox.validation import Expectation


class ContactOperations:
    """Answers ``createContact`` and ``updateContact``.

    Args:
        context: what the operations share.

    """

    def __init__(self, context: Context) -> None:
        self.context = context

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
