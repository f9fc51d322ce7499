"""Variants that refuse what the document does not speak of: headers, parameters, empty texts, large pages, locks."""

import json
from collections.abc import Iterator
from typing import Any, Final

from starlette.requests import Request
from starlette.responses import Response

from contracts.sandbox.attachments import AttachmentOperations
from contracts.sandbox.authentication import AuthenticationOperations
from contracts.sandbox.body import BodyReader, JsonBody
from contracts.sandbox.drafts import DraftOperations
from contracts.sandbox.listing import Listing, Page
from contracts.sandbox.query import header_value
from contracts.sandbox.realms import Realm
from contracts.sandbox.records import Records
from contracts.sandbox.refusals import Fault, Reason, Refusal, bad_request
from contracts.sandbox.submissions import SubmissionCheck
from contracts.sandbox.validation import INVALID_VALUE
from contracts.sandbox.variants.model import Variant

_MOST: Final = 50
_FEWEST_FACTS: Final = frozenset({"email", "password"})


class _JsonWanted(BodyReader):
    """Whoever does not take JSON is told so."""

    async def read(self, request: Request) -> JsonBody:
        _refuse_other_wishes(request)
        return await super().read(request)


class _JsonWantedOfLists(DraftOperations):
    """Lists are JSON or nothing."""

    async def list(self, request: Request) -> Response:
        _refuse_other_wishes(request)
        return await super().list(request)


def _refuse_other_wishes(request: Request) -> None:
    wishes = header_value(request, "accept") or "*/*"
    if not any(kind in wishes for kind in ("application/json", "application/*", "*/*")):
        raise Refusal(Reason.MEDIA_TYPE, "only application/json is served")


class _ExactCredentials(AuthenticationOperations):
    """Signing in takes e-mail and password, and nothing else."""

    async def create_token(self, request: Request) -> Response:
        await request.body()  # kept, so that it can be read again
        body = await self.service.body.read_object(request)
        if not body.value.keys() <= _FEWEST_FACTS:
            raise bad_request("only email and password are read")
        return await super().create_token(request)


class _Bounded(Listing):
    """A page of more than fifty is too much to ask for."""

    def limit(self, page: Page) -> int:
        if page.top is not None and page.top > _MOST:
            raise bad_request(f"at most {_MOST} items can be asked for")
        return super().limit(page)


class _NoEmptyTexts(SubmissionCheck):
    """An additionalInfo or a batchId that is there says something."""

    def text_faults(self, body: dict[str, Any], member: str) -> Iterator[Fault]:
        yield from super().text_faults(body, member)
        if body.get(member) == "":
            yield Fault(INVALID_VALUE, (member,))


class _RealmOnFiles(AttachmentOperations):
    """A realm that comes with a file has to exist."""

    def _look(self, request: Request) -> None:
        name = header_value(request, "realm")
        if name is not None and self.service.realms.named(name) is None:
            raise bad_request("the realm is not configured")

    async def create(self, request: Request) -> Response:
        self._look(request)
        return await super().create(request)

    async def list(self, request: Request) -> Response:
        self._look(request)
        return await super().list(request)

    def found(self, request: Request) -> Any:
        self._look(request)
        return super().found(request)


class _LockedDrafts(DraftOperations):
    """The draft of a locked record stays as it is until the workflow ends."""

    def _look(self, request: Request) -> None:
        _, uid, realm = self._addressed(request)
        with self.service.storage.transaction() as records:
            if records.is_locked(realm.name, uid):
                raise Refusal(Reason.CONFLICT, "the record is locked")

    async def save(self, request: Request) -> Response:
        self._look(request)
        return await super().save(request)

    async def delete(self, request: Request) -> Response:
        self._look(request)
        return await super().delete(request)


class _SchemaStays(DraftOperations):
    """A draft keeps the schema it was first saved with."""

    def keep(self, records: Records, *, realm: Realm, uid: str, schema: str, **more: Any) -> Any:
        for state in ("draft", "published"):
            there = records.version(realm.name, uid, state)
            if there is not None and there.schema != schema:
                raise Refusal(Reason.CONFLICT, f"the record is of the schema {there.schema}")
        return super().keep(records, realm=realm, uid=uid, schema=schema, **more)


class _OwnSchemaOnly(DraftOperations):
    """A draft whose header names another schema than the query is refused."""

    def keep(self, records: Records, *, schema: str, content: str, **more: Any) -> Any:
        named = header_of(content).get("schema", schema)
        if named != schema:
            raise bad_request("header and query name different schemas")
        return super().keep(records, schema=schema, content=content, **more)


def header_of(content: str) -> dict[str, Any]:
    """Return the header of a record, empty where it has none."""
    value = json.loads(content)
    header = value.get("header") if isinstance(value, dict) else None
    return header if isinstance(header, dict) else {}


VARIANTS = (
    Variant(
        "accept-strict",
        "An Accept header that leaves out JSON is not shown: the request is refused.",
        parts={"body": _JsonWanted, "drafts": _JsonWantedOfLists},
    ),
    Variant(
        "credentials-exact",
        "Further members in a sign-in request are not shown: they are refused.",
        parts={"authentication": _ExactCredentials},
    ),
    Variant(
        "pages-bounded",
        "How many items a list returns at most is not shown: asking for more than fifty is refused.",
        parts={"listing": _Bounded},
    ),
    Variant(
        "empty-texts-refused",
        "An empty additionalInfo or batchId is not shown: it is refused.",
        parts={"submissions": _NoEmptyTexts},
    ),
    Variant(
        "attachment-realms-known",
        "A Realm header on attachment operations is not shown: it has to name a known realm.",
        parts={"attachments": _RealmOnFiles},
    ),
    Variant(
        "locked-draft-stays",
        "Saving or deleting the draft of a locked record is not shown: it is refused.",
        parts={"drafts": _LockedDrafts},
    ),
    Variant(
        "draft-schema-stays",
        "Saving a draft under another schema than before is not shown: it is refused.",
        parts={"drafts": _SchemaStays},
    ),
    Variant(
        "draft-schema-agrees",
        "A draft whose header names another schema than the query is not shown: it is refused.",
        parts={"drafts": _OwnSchemaOnly},
    ),
)
"""Each refuses more."""
