"""Variants that take another reading where the document can be read in two ways, and that take more than they must.

Where the suite has a clause of level should, these may earn an advisory; never a fail.

Variants that serve what the document does not speak of: realms elsewhere, options in another spelling, old files.

Variants that refuse what the document does not speak of: headers, parameters, empty texts, large pages, locks.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from sqlalchemy import update
from starlette.requests import Request
from starlette.responses import Response

from contracts.sandbox.accounts import Account
from contracts.sandbox.answers import Answers, JsonAnswer, json_text
from contracts.sandbox.attachments import AttachmentOperations
from contracts.sandbox.authentication import AuthenticationOperations
from contracts.sandbox.database import TEMPORARY_FILES, Attachment, Records
from contracts.sandbox.drafts import COLLECTIONS, DraftOperations
from contracts.sandbox.files import StoredFile
from contracts.sandbox.http_requests import BodyReader, JsonBody, header_value, query_value
from contracts.sandbox.listing import Listing, Page
from contracts.sandbox.record_types import Field, Kind, Realm, RealmBook, RecordType
from contracts.sandbox.refusals import Fault, Reason, Refusal, bad_request
from contracts.sandbox.validation import INVALID_VALUE, MANDATORY, Expectation, Faults, Path, Validator
from contracts.sandbox.variants.model import Variant
from contracts.sandbox.workflow import SubmissionCheck

_BYTE_ORDER_MARK = b"\xef\xbb\xbf"


class _OneAtATime(Validator):
    """Faults are told one at a time."""

    def faults(self, document: dict[str, Any], expectation: Expectation) -> list[Fault]:
        return super().faults(document, expectation)[:1]


class _Coarse(Answers):
    """Whatever is not a missing field is an invalid value."""

    def errors(self, faults: Sequence[Fault]) -> list[dict[str, str]]:
        coarse = [
            Fault(fault.code if fault.code == MANDATORY else INVALID_VALUE, fault.path) for fault in faults
        ]
        return super().errors(coarse)


class _UnknownFields(Validator):
    """Fields that the table does not have are let through."""

    def unknown_fields(self, document: dict[str, Any], kind: RecordType) -> Faults:  # noqa: ARG002
        yield from ()


class _AnyTerm(Validator):
    """Any term is as good as another."""

    def term_faults(self, field: Field, value: Any, path: Path) -> Faults:
        return super().term_faults(Field(field.name, Kind.TERM), value, path)


class _AnyCollection(DraftOperations):
    """A collection that is not known is passed over."""

    def collection_owner(self, request: Request, caller: Account) -> str | None:
        known = query_value(request, "collection") in {None, *COLLECTIONS}
        return super().collection_owner(request, caller) if known else None


class _AnyCaseRealms(RealmBook):
    """Realm names are read in any letter case, and so is the name of the query parameter."""

    def named(self, name: str) -> Realm | None:
        return super().named(name.lower())

    def given(self, request: Request) -> str | None:
        return super().given(request) or query_value(request, "realm") or None


class _QueryFirst(RealmBook):
    """The realm in the query counts before that in the header."""

    def given(self, request: Request) -> str | None:
        return query_value(request, "Realm") or super().given(request)


class _AnySchema(RealmBook):
    """A draft may be of a schema that nobody configured, or of none."""

    def schema(self, request: Request, realm: Realm) -> RecordType:
        try:
            return super().schema(request, realm)
        except Refusal:
            if not str(request.url.path).endswith("/versions/draft"):
                raise
            return RecordType(query_value(request, "schema") or "none", ())


class _AnyJson(BodyReader):
    """A draft may be any JSON value."""

    async def read_object(self, request: Request) -> JsonBody:
        draft = str(request.url.path).endswith("/versions/draft")
        return await (self.read(request) if draft else super().read_object(request))


class _Kind(BodyReader):
    """A byte order mark is passed over, and of two members of one name the last counts."""

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


class _AlwaysErrors(Answers):
    """Records that were written and refusals carry an errors array, empty where nothing is wrong."""

    def written(self, record: dict[str, Any], status: int) -> Response:
        return super().written({**record, "errors": []}, status)

    def refusal_body(self, status: int, message: str, faults: Sequence[Fault] = ()) -> dict[str, Any]:
        return {"errors": [], **super().refusal_body(status, message, faults)}


class _OnlyErrors(Answers):
    """Faulty content is answered with the errors array alone, and each element says more than it must."""

    def refusal(self, refusal: Refusal) -> Response:
        if not refusal.faults:
            return super().refusal(refusal)
        errors = [{**error, "parameters": None, "severity": 3} for error in self.errors(refusal.faults)]
        return JsonAnswer({"errors": errors}, self.status(refusal.reason))


READING_VARIANTS = (
    Variant(
        "faults-one-at-a-time",
        "Whether all faults are told at once is not stated: one at a time.",
        parts={"validator": _OneAtATime},
    ),
    Variant(
        "codes-coarse",
        "What triggers the codes is not shown: whatever is not a missing field is an invalid value.",
        parts={"answers": _Coarse},
    ),
    Variant(
        "unknown-fields-kept",
        "What a field that is not documented leads to is not stated: it is let through.",
        parts={"validator": _UnknownFields},
    ),
    Variant(
        "terms-open",
        "Which terms are known is not shown: any.",
        parts={"validator": _AnyTerm},
    ),
    Variant(
        "collections-open",
        "What another collection than my and mydrafts leads to is not stated: it is passed over.",
        parts={"drafts": _AnyCollection},
    ),
    Variant(
        "realm-any-case",
        "Whether the letter case of a realm matters is not shown: it does not.",
        parts={"realms": _AnyCaseRealms},
    ),
    Variant(
        "realm-query-first",
        "Which realm counts when header and query differ is not shown: that of the query.",
        parts={"realms": _QueryFirst},
    ),
    Variant(
        "draft-any-schema",
        "A draft without a schema or of an unknown one is not shown: it is saved.",
        parts={"realms": _AnySchema},
    ),
    Variant(
        "draft-any-json",
        "The body of a save is not shown: any JSON value.",
        parts={"body": _AnyJson},
    ),
    Variant(
        "json-lenient",
        "The edges of JSON are not shown: a byte order mark and members named twice are read.",
        parts={"body": _Kind},
    ),
    Variant(
        "errors-always",
        "An errors array where nothing is wrong with content is not shown: it is there, and empty.",
        parts={"answers": _AlwaysErrors},
    ),
    Variant(
        "errors-only",
        "What else the answer to faulty content holds is not shown: nothing, but each element says more.",
        parts={"answers": _OnlyErrors},
    ),
)
"""Each reads the document otherwise, or takes more than it must."""


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
        with self.context.storage.transaction() as records:
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
        if not (self.context.rights.may_create(caller) and records.owners_anywhere(uid)):
            super().require_right(records, caller, uid)


class _PlainType(AttachmentOperations):
    """A download is bytes to be saved, whatever the file is."""

    async def get(self, request: Request) -> Response:
        answer = await super().get(request)
        answer.headers["content-type"] = "application/octet-stream"
        return answer


def _parts(layer: type[AttachmentOperations]) -> Mapping[str, Any]:
    return {"attachments": layer}


OPENNESS_VARIANTS = (
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
        body = await self.context.body.read_object(request)
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
        if name is not None and self.context.realms.named(name) is None:
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
        with self.context.storage.transaction() as records:
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


STRICTNESS_VARIANTS = (
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


VARIANTS = (*READING_VARIANTS, *OPENNESS_VARIANTS, *STRICTNESS_VARIANTS)
