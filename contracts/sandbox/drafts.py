"""Draft versions: save, get, info, exists, delete and list.

A draft belongs to one realm: the same uid in two realms is two drafts. Anyone signed in may read a draft;
saving and deleting is for the owner of the record (silent; the workflow rows speak of such rights).
"""

from starlette.requests import Request
from starlette.responses import Response

from contracts.sandbox.accounts import Account
from contracts.sandbox.answers import JsonAnswer
from contracts.sandbox.context import Context
from contracts.sandbox.database import DRAFT, Records, Version, new_version
from contracts.sandbox.http_requests import query_value
from contracts.sandbox.listing import page_request
from contracts.sandbox.record_types import Realm
from contracts.sandbox.refusals import Reason, Refusal, bad_request, forbidden, not_found

COLLECTIONS = frozenset({"my", "mydrafts"})
_NO_DRAFT = "there is no draft of this document in the realm"


class DraftOperations:
    """Answers the six draft operations.

    Args:
        context: what the operations share.

    """

    def __init__(self, context: Context) -> None:
        self.context = context

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
        return self.context.answers.content(self._found(request).content)

    async def info(self, request: Request) -> Response:
        """Answer the metadata of the draft."""
        return JsonAnswer(self.context.metadata.of_version(self._found(request)))

    async def exists(self, request: Request) -> Response:
        """Tell whether a draft exists, without content."""
        found = self._found(request)
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
        """Return whose drafts the collection asks for; ``None``: everybody's.

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

    def _found(self, request: Request) -> Version:
        _, uid, realm = self._addressed(request)
        with self.context.storage.transaction() as records:
            draft = records.version(realm.name, uid, DRAFT)
        if draft is None:
            raise not_found(_NO_DRAFT)
        return draft
