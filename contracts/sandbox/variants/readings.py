"""Variants that read the document in its other way, serve more than it speaks of, or refuse what it leaves open.

Where the suite has a clause of level should, these may earn an advisory; never a fail.
"""

import json
from collections.abc import Iterator, Sequence
from typing import Any, Final

from sqlalchemy import update
from starlette.requests import Request
from starlette.responses import Response

from contracts.sandbox.authentication import Account, AuthenticationOperations
from contracts.sandbox.documents import COLLECTIONS, AttachmentOperations, DraftOperations
from contracts.sandbox.habits import Answers, JsonAnswer, json_text
from contracts.sandbox.http import (
    BodyReader,
    Fault,
    JsonBody,
    Reason,
    Refusal,
    bad_request,
    header_value,
    query_value,
)
from contracts.sandbox.lists import Listing, Page
from contracts.sandbox.storage import TEMPORARY_FILES, Attachment, Records, StoredFile
from contracts.sandbox.validation import (
    INVALID_VALUE,
    MANDATORY,
    Expectation,
    Faults,
    Field,
    Kind,
    Path,
    Realm,
    RealmBook,
    RecordType,
    Validator,
)
from contracts.sandbox.variants.model import Variants
from contracts.sandbox.workflow import SubmissionCheck

VARIANTS = Variants()

_BYTE_ORDER_MARK = b"\xef\xbb\xbf"


@VARIANTS.layer("faults-one-at-a-time", "Order and number of the elements of an errors array")
class _OneAtATime(Validator):
    """Whether all faults are told at once is not stated: one at a time."""

    def faults(self, document: dict[str, Any], expectation: Expectation) -> list[Fault]:
        return super().faults(document, expectation)[:1]


@VARIANTS.layer("codes-coarse", "errors-code-invalid-value")
class _Coarse(Answers):
    """What triggers the codes is not shown: whatever is not a missing field is an invalid value."""

    def errors(self, faults: Sequence[Fault]) -> list[dict[str, str]]:
        coarse = [
            Fault(fault.code if fault.code == MANDATORY else INVALID_VALUE, fault.path) for fault in faults
        ]
        return super().errors(coarse)


@VARIANTS.layer("unknown-fields-kept", "workflow-document-content")
class _UnknownFields(Validator):
    """What a field that is not documented leads to is not stated: it is let through."""

    def unknown_fields(self, document: dict[str, Any], kind: RecordType) -> Faults:  # noqa: ARG002
        yield from ()


@VARIANTS.layer("terms-open", "contact-optional-term-values")
class _AnyTerm(Validator):
    """Which terms are known is not shown: any."""

    def term_faults(self, field: Field, value: Any, path: Path) -> Faults:
        return super().term_faults(Field(field.name, Kind.TERM), value, path)


@VARIANTS.layer("collections-open", "Another collection than my and mydrafts")
class _AnyCollection(DraftOperations):
    """What another collection than my and mydrafts leads to is not stated: it is passed over."""

    def collection_owner(self, request: Request, caller: Account) -> str | None:
        known = query_value(request, "collection") in {None, *COLLECTIONS}
        return super().collection_owner(request, caller) if known else None


@VARIANTS.layer("realm-any-case", "realm-letter-case")
class _AnyCaseRealms(RealmBook):
    """Whether the letter case of a realm matters is not shown: it does not."""

    def named(self, name: str) -> Realm | None:
        return super().named(name.lower())

    def given(self, request: Request) -> str | None:
        return super().given(request) or query_value(request, "realm") or None


@VARIANTS.layer("realm-query-first", "realm-header-against-query")
class _QueryFirst(RealmBook):
    """Which realm counts when header and query differ is not shown: that of the query."""

    def given(self, request: Request) -> str | None:
        return query_value(request, "Realm") or super().given(request)


@VARIANTS.layer("draft-any-schema", "draft-save-schema-missing", "draft-save-schema-unknown")
class _AnySchema(RealmBook):
    """A draft without a schema or of an unknown one is not shown: it is saved."""

    def schema(self, request: Request, realm: Realm) -> RecordType:
        try:
            return super().schema(request, realm)
        except Refusal:
            if not str(request.url.path).endswith("/versions/draft"):
                raise
            return RecordType(query_value(request, "schema") or "none", ())


@VARIANTS.layer("draft-any-json", "draft-save-body")
class _AnyJson(BodyReader):
    """The body of a save is not shown: any JSON value."""

    async def read_object(self, request: Request) -> JsonBody:
        draft = str(request.url.path).endswith("/versions/draft")
        return await (self.read(request) if draft else super().read_object(request))


@VARIANTS.layer("json-lenient", "draft-save-body")
class _Kind(BodyReader):
    """The edges of JSON are not shown: a byte order mark and members named twice are read."""

    def parse(self, raw: bytes) -> JsonBody:
        plain = raw.removeprefix(_BYTE_ORDER_MARK)
        try:
            return super().parse(plain)
        except Refusal:
            return super().parse(_single_names(plain))


def _single_names(raw: bytes) -> bytes:
    """Return a JSON text in which no object names a member twice; what is no JSON stays as it is."""
    try:
        return json_text(json.loads(raw)).encode()
    except (ValueError, RecursionError):
        return raw


@VARIANTS.layer("errors-always", "Place of an errors array, and what stands beside it")
class _AlwaysErrors(Answers):
    """An errors array where nothing is wrong with content is not shown: it is there, and empty."""

    def written(self, record: dict[str, Any], status: int) -> Response:
        return super().written({**record, "errors": []}, status)

    def refusal_body(self, status: int, message: str, faults: Sequence[Fault] = ()) -> dict[str, Any]:
        return {"errors": [], **super().refusal_body(status, message, faults)}


@VARIANTS.layer("errors-only", "Place of an errors array, and what stands beside it")
class _OnlyErrors(Answers):
    """What else the answer to faulty content holds is not shown: nothing, but each element says more."""

    def refusal(self, refusal: Refusal) -> Response:
        if not refusal.faults:
            return super().refusal(refusal)
        errors = [{**error, "parameters": None, "severity": 3} for error in self.errors(refusal.faults)]
        return JsonAnswer({"errors": errors}, self.status(refusal.reason))


_READS = ("GET", "HEAD", "DELETE")


@VARIANTS.layer("realm-in-any-query", "realm-query-elsewhere")
class _RealmInAnyQuery(RealmBook):
    """A realm in the query of contact and draft operations is not shown: it is read."""

    def of_documents(self, request: Request) -> Realm:
        name = query_value(request, "Realm")
        realm = self.named(name) if name and not header_value(request, "realm") else None
        return realm if realm is not None and realm.holds_documents else super().of_documents(request)


@VARIANTS.layer("realm-unknown-read", "realm-unknown-draft-read")
class _UnknownRealmRead(RealmBook):
    """Reading drafts under an unknown realm is not shown: it reads those of the default realm."""

    def of_documents(self, request: Request) -> Realm:
        name = header_value(request, "realm")
        if name and self.named(name) is None and request.method in _READS:
            return self.realms[self.default]
        return super().of_documents(request)


@VARIANTS.layer("reporting-drafts", "realm-ort-on-contact", "realm-ort-on-draft")
class _ReportingRealm(RealmBook):
    """Contact and draft operations in the reporting realm are not shown: they are served."""

    def of_documents(self, request: Request) -> Realm:
        realm = self.named(header_value(request, "realm") or "")
        if realm is None or realm.holds_documents:
            return super().of_documents(request)
        contact = self.realms[self.default].types["contact"]
        return Realm(realm.name, {**realm.types, "contact": contact})


@VARIANTS.layer("attachment-options-dollar", "attachment-list-options-with-dollar")
class _DollarToo(AttachmentOperations):
    """Options of the attachment list with a dollar sign are not shown: they are read."""

    async def list(self, request: Request) -> Response:
        plain = request.scope["query_string"].replace(b"%24", b"$").replace(b"$", b"")
        return await super().list(Request({**request.scope, "query_string": plain}, request.receive))


@VARIANTS.layer("temporary-files-last", "attachment-persist-twice")
class _FilesLast(AttachmentOperations):
    """Persisting a temporary file a second time is not shown: it makes another attachment."""

    async def persist(self, request: Request) -> Response:
        answer = await super().persist(request)
        file_id = str(request.path_params["tempFileId"])
        with self.context.storage.transaction() as records:
            here = TEMPORARY_FILES.c.id == file_id
            records.connection.execute(update(TEMPORARY_FILES).where(here).values(used=False))
        return answer


@VARIANTS.layer("temporary-files-renamed", "attachment-persist-name")
class _FilesRenamed(AttachmentOperations):
    """The name of a persisted temporary file is not shown: it gets another."""

    def add(
        self, records: Records, caller: Account, uid: str, filename: str, stored: StoredFile
    ) -> Attachment:
        here = TEMPORARY_FILES.c.file_key == stored.key
        temporary = records.connection.execute(TEMPORARY_FILES.select().where(here)).first()
        name = f"upload-{filename}" if temporary is not None else filename
        return super().add(records, caller, uid, name, stored)


@VARIANTS.layer("attachments-by-anybody", "attachment-of-another")
class _AnybodyAttaches(AttachmentOperations):
    """Whether one account may attach files to the document of another is not shown: it may."""

    def require_right(self, records: Records, caller: Account, uid: str) -> None:
        if not (self.context.rights.may_create(caller) and records.owners_anywhere(uid)):
            super().require_right(records, caller, uid)


@VARIANTS.layer("downloads-plain", "attachment-download-type")
class _PlainType(AttachmentOperations):
    """The type of a download is not shown: bytes, whatever the file is."""

    async def get(self, request: Request) -> Response:
        answer = await super().get(request)
        answer.headers["content-type"] = "application/octet-stream"
        return answer


_MOST: Final = 50
_FEWEST_FACTS: Final = frozenset({"email", "password"})


class _JsonWanted(BodyReader):
    """A request that does not accept JSON is refused."""

    async def read(self, request: Request) -> JsonBody:
        _refuse_other_wishes(request)
        return await super().read(request)


class _JsonWantedOfLists(DraftOperations):
    """Lists are JSON or nothing."""

    async def list(self, request: Request) -> Response:
        _refuse_other_wishes(request)
        return await super().list(request)


VARIANTS.add(
    "accept-strict",
    ("accept-other",),
    "An Accept header that leaves out JSON is not shown: the request is refused.",
    parts=(_JsonWanted, _JsonWantedOfLists),
)


def _refuse_other_wishes(request: Request) -> None:
    accepted = header_value(request, "accept") or "*/*"
    if not any(kind in accepted for kind in ("application/json", "application/*", "*/*")):
        raise Refusal(Reason.MEDIA_TYPE, "only application/json is served")


@VARIANTS.layer("credentials-exact", "token-unknown-member")
class _ExactCredentials(AuthenticationOperations):
    """Further members in a sign-in request are not shown: they are refused."""

    async def create_token(self, request: Request) -> Response:
        await request.body()  # kept, so that it can be read again
        body = await self.body.read_object(request)
        if not body.value.keys() <= _FEWEST_FACTS:
            raise bad_request("only email and password are read")
        return await super().create_token(request)


@VARIANTS.layer("pages-bounded", "attachment-list-default", "list-default-page")
class _Bounded(Listing):
    """How many items a list returns at most is not shown: asking for more than fifty is refused."""

    def limit(self, page: Page) -> int:
        if page.top is not None and page.top > _MOST:
            raise bad_request(f"at most {_MOST} items can be asked for")
        return super().limit(page)


@VARIANTS.layer("empty-texts-refused", "workflow-info-empty", "workflow-batch-empty")
class _NoEmptyTexts(SubmissionCheck):
    """An empty additionalInfo or batchId is not shown: it is refused."""

    def text_faults(self, body: dict[str, Any], member: str) -> Iterator[Fault]:
        yield from super().text_faults(body, member)
        if body.get(member) == "":
            yield Fault(INVALID_VALUE, (member,))


@VARIANTS.layer("attachment-realms-known", "realm-on-attachments")
class _RealmOnFiles(AttachmentOperations):
    """A Realm header on attachment operations is not shown: it has to name a known realm."""

    def _look(self, request: Request) -> None:
        name = header_value(request, "realm")
        if name is not None and self.context.realms.named(name) is None:
            raise bad_request("the realm is not configured")

    async def create(self, request: Request) -> Response:
        self._look(request)
        return await super().create(request)

    async def list(self, request: Request) -> Response:
        self._look(request)
        return await super().list(request)

    def requested(self, request: Request) -> Any:
        self._look(request)
        return super().requested(request)


@VARIANTS.layer("locked-draft-stays", "draft-of-locked-record")
class _LockedDrafts(DraftOperations):
    """Saving or deleting the draft of a locked record is not shown: it is refused."""

    def _look(self, request: Request) -> None:
        _, uid, realm = self._addressed(request)
        with self.context.storage.transaction() as records:
            if records.is_locked(realm.name, uid):
                raise Refusal(Reason.CONFLICT, "the record is locked")

    async def save(self, request: Request) -> Response:
        self._look(request)
        return await super().save(request)

    async def delete(self, request: Request) -> Response:
        self._look(request)
        return await super().delete(request)


@VARIANTS.layer("draft-schema-stays", "draft-save-schema-unknown")
class _SchemaStays(DraftOperations):
    """Saving a draft under another schema than before is not shown: it is refused."""

    def keep(self, records: Records, *, realm: Realm, uid: str, schema: str, **more: Any) -> Any:
        for state in ("draft", "published"):
            there = records.version(realm.name, uid, state)
            if there is not None and there.schema != schema:
                raise Refusal(Reason.CONFLICT, f"the record is of the schema {there.schema}")
        return super().keep(records, realm=realm, uid=uid, schema=schema, **more)


@VARIANTS.layer("draft-schema-agrees", "draft-save-schema-unknown")
class _OwnSchemaOnly(DraftOperations):
    """A draft whose header names another schema than the query is not shown: it is refused."""

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
