"""Variants that ask for more than the document shows, or take more: vocabularies, rights, spellings, empty lists."""

from collections.abc import Mapping, Sequence
from contextvars import ContextVar
from datetime import datetime
from http import HTTPStatus
from typing import Any
from urllib.parse import urlencode

from starlette.requests import Request
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from contracts.interface.description import load_description
from contracts.sandbox.app import Seeds
from contracts.sandbox.authentication import Account, AuthenticationOperations, Identity
from contracts.sandbox.documents import AttachmentOperations, ContactOperations, DraftOperations
from contracts.sandbox.habits import Answers, json_text
from contracts.sandbox.http import (
    BodyReader,
    Fault,
    Reason,
    Refusal,
    bad_request,
    forbidden,
    header_value,
    query_value,
)
from contracts.sandbox.storage import DRAFT, PUBLISHED, Records, Version, new_version
from contracts.sandbox.validation import (
    CONTACT,
    INVALID_PROPERTY,
    MANDATORY,
    MANDATORY_ANY_OF,
    UNEXPECTED_TERM,
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
from contracts.sandbox.variants.http import Between, Rewriting
from contracts.sandbox.variants.model import Variants
from contracts.sandbox.variants.records import beyond_draft
from contracts.sandbox.workflow import Row, Submission, SubmissionCheck, WorkflowOperations

VARIANTS = Variants()

#: Terms that no description or settings name.
_TERMS = frozenset({"CT-100", "CT-200", "CT-300"})
_OWN_TERMS = ("type", "addressType", "gender", "organizationType")
_OWN_TERMS_CONTACT = {
    "type": "CT-100",
    "addressType": "CT-200",
    "gender": {"identifier": "CT-300"},
    "organizationType": {"identifier": "CT-100"},
}
_DATA_KINDS = (Kind.TERM, Kind.LINK, Kind.REFERENCE)


class _OwnTerms(Validator):
    """Knows its own terms alone, in each field whose allowed values are not shown."""

    def value_faults(self, field: Field, value: Any, path: Path, expectation: Expectation) -> Faults:
        faults = list(super().value_faults(field, value, path, expectation))
        yield from faults
        term = value.get("identifier") if isinstance(value, dict) else value
        if field.name in _OWN_TERMS and expectation.kind.name == CONTACT.name and not faults:
            yield from () if term in _TERMS else (Fault(UNEXPECTED_TERM, path),)


VARIANTS.add(
    "contact-terms-own",
    (
        "contact-type-values",
        "contact-address-type-values",
        "contact-gender-values",
        "contact-optional-term-values",
    ),
    "The allowed values of type, addressType, gender and organizationType are not shown: three codes of its own.",
    parts=(_OwnTerms,),
    contact=_OWN_TERMS_CONTACT,
)


@VARIANTS.layer("terms-closed", "contact-further-members")
class _Closed(Validator):
    """Further members of terms, links and references are not shown: they are refused."""

    def value_faults(self, field: Field, value: Any, path: Path, expectation: Expectation) -> Faults:
        yield from super().value_faults(field, value, path, expectation)
        if field.kind in _DATA_KINDS and isinstance(value, dict):
            reported = "url" if field.kind is Kind.LINK else "identifier"
            for name in value:
                if name != reported:
                    yield Fault(INVALID_PROPERTY, (*path, name))


@VARIANTS.layer("any-of-as-mandatory", "errors-code-mandatory-any-of")
class _NoSets(Validator):
    """What Error.MandatoryAnyOf stands for is not shown: an empty mandatory field is a missing one."""

    def nothing_of_the_set(self, path: Path, field: Field, value: Any) -> Faults:
        for fault in super().nothing_of_the_set(path, field, value):
            yield Fault(MANDATORY if fault.code == MANDATORY_ANY_OF else fault.code, fault.path)


@VARIANTS.layer("refused-contacts-stay-taken", "Identifiers of refused records")
class _ContactsStayTaken(ContactOperations):
    """What becomes of the identifier of a contact that was refused is not shown: it stays taken."""

    def refuse_faults(self, document: dict[str, Any], expectation: Expectation) -> None:
        try:
            super().refuse_faults(document, expectation)
        except Refusal:
            if _identifier(document):
                self._taken().add(_identifier(document))
            raise

    def new_identifier(self, records: Records, realm: Realm, document: dict[str, Any]) -> str:
        if _identifier(document) in self._taken():
            raise Refusal(Reason.CONFLICT, "the identifier was used before")
        return super().new_identifier(records, realm, document)

    def _taken(self) -> set[str]:
        taken: set[str] = self.__dict__.setdefault("_taken_identifiers", set())
        return taken


def _identifier(document: Mapping[str, Any]) -> str:
    header = document.get("header")
    identifier = header.get("identifier") if isinstance(header, dict) else None
    return identifier if isinstance(identifier, str) else ""


@VARIANTS.layer("refused-records-stay-taken", "Identifiers of refused records")
class _RecordsStayTaken(WorkflowOperations):
    """What becomes of the identifier of a submission that was refused is not shown: it stays taken."""

    def validate(self, submission: Submission, records: Records) -> None:
        try:
            super().validate(submission, records)
        except Refusal:
            if submission.creating and submission.path_identifier is not None:
                self._taken().add((submission.realm.name, submission.path_identifier))
            raise

    def check_identifier(self, submission: Submission, records: Records) -> str:
        identifier = super().check_identifier(submission, records)
        if submission.creating and (submission.realm.name, identifier) in self._taken():
            raise Row.IN_USE.refusal()
        return identifier

    def _taken(self) -> set[tuple[str, str]]:
        taken: set[tuple[str, str]] = self.__dict__.setdefault("_taken_identifiers", set())
        return taken


@VARIANTS.layer("list-empty-404", "list-envelope", "list-success-status")
class _NothingFound(Answers):
    """The answer to a list without items is not shown: 404, as for anything that is not there."""

    def listed(self, items: Sequence[dict[str, Any]]) -> Response:
        if items:
            return super().listed(items)
        return self.refusal(Refusal(Reason.NOT_FOUND, "nothing was found", status=HTTPStatus.NOT_FOUND))


@VARIANTS.layer("attachments-beyond-drafts", "Attachments of a document that is a draft still")
class _MoreThanDrafts(AttachmentOperations):
    """Whether a document that is only a draft takes attachments is not shown: it has to be submitted first."""

    def require_right(self, records: Records, caller: Account, uid: str) -> None:
        super().require_right(records, caller, uid)
        realms = self.context.realms.realms
        if not any(beyond_draft(records, realm, uid) for realm in realms):
            raise Refusal(Reason.CONFLICT, "this document is a draft still")


_FILES_OF = tuple(f"sandbox-files-{{realm}}-{number:02}" for number in range(1, 41))


class _OnlyPublished(AttachmentOperations):
    """A document has to have a published version."""

    def require_right(self, records: Records, caller: Account, uid: str) -> None:
        super().require_right(records, caller, uid)
        realms = self.context.realms.realms
        if all(records.version(realm, uid, PUBLISHED) is None for realm in realms):
            raise Refusal(Reason.CONFLICT, "this document is not published")


class _PublishedSeeds(Seeds):
    """Plants published records of the author's, beside the others."""

    def plant_records(self, records: Records, realm: Realm, moment: datetime) -> None:
        super().plant_records(records, realm, moment)
        for name in _FILES_OF if CONTACT.name in realm.types else ():
            records.store(
                new_version(
                    realm=realm.name,
                    identifier=name.format(realm=realm.name),
                    state=PUBLISHED,
                    schema=next(iter(realm.types)),
                    owner="author",
                    content="{}",
                    moment=moment,
                )
            )


VARIANTS.add(
    "attachments-of-published",
    ("Attachments of a document that is a draft still",),
    "Which documents take attachments is not shown: those with a published version, of which it has some.",
    parts=(_OnlyPublished, _PublishedSeeds),
    settings={"attachment_identifiers": _FILES_OF},
)


@VARIANTS.layer("ticket-scheme", "token-bearer-spelling")
class _Ticket(Identity):
    """A token under a scheme of another name is not shown: Ticket and Token are taken beside Bearer."""

    def caller(self, request: Request) -> Account | None:
        scheme, _, token = (header_value(request, "authorization") or "").partition(" ")
        named = scheme in ("Ticket", "Token")
        return self.tokens.holder(token.strip()) if named else super().caller(request)


@VARIANTS.layer("message-realm-capitals", "workflow-message-place")
class _RealmInMessage(WorkflowOperations):
    """How a message writes the realm in the place of ${realm} is not shown: in capitals."""

    def require_schema(self, request: Request, realm: Realm) -> RecordType:
        try:
            return super().require_schema(request, realm)
        except Refusal:
            raise Row.SCHEMA_UNKNOWN.refusal(realm.name.upper()) from None


@VARIANTS.layer("errors-reversed", "Order and number of the elements of an errors array")
class _Reversed(Answers):
    """The order of an errors array is not shown: the last fault comes first."""

    def errors(self, faults: Sequence[Fault]) -> list[dict[str, str]]:
        return super().errors(faults)[::-1]


@VARIANTS.layer("contacts-by-restricted", "contact-by-restricted")
class _RestrictedContacts(ContactOperations):
    """Whether an account without rights may create contacts is not shown: it may, as every account with a token."""

    def require_creator(self, caller: Account) -> None:
        pass


@VARIANTS.layer("contacts-shared", "contact-update-by-another")
class _AuthorsShare(ContactOperations):
    """Whether one account may update the contact of another is not shown: every author may."""

    def require_right(self, records: Records, caller: Account, realm: Realm, uid: str) -> None:
        try:
            super().require_right(records, caller, realm, uid)
        except Refusal as refusal:
            if refusal.reason is not Reason.FORBIDDEN or not self.context.rights.may_create(caller):
                raise


@VARIANTS.layer("contacts-have-drafts", "contact-read-back")
class _ContactDrafts(ContactOperations):
    """Whether the draft operations show a contact is not shown: it has a draft of the same content."""

    def keep(self, records: Records, *, caller: Account, realm: Realm, identifier: str, body: Any) -> Version:
        stored = super().keep(records, caller=caller, realm=realm, identifier=identifier, body=body)
        moment = self.context.clock.now()
        records.store(
            new_version(
                realm=realm.name,
                identifier=identifier,
                state=DRAFT,
                schema=CONTACT.name,
                owner=caller.name,
                content=body.text,
                moment=moment,
            )
        )
        return stored


_QUERY_UID: ContextVar[str | None] = ContextVar("_QUERY_UID", default=None)


@VARIANTS.layer("contact-uid-from-query", "uid-on-contact-create")
class _UidFromQuery(ContactOperations):
    """The use of a uid parameter for creating a contact is not shown: one in the query names the new record."""

    async def create(self, request: Request) -> Response:
        uid = query_value(request, "uid")
        if uid is not None and not self.context.identifiers.holds(uid):
            raise bad_request("the uid breaks the identifier rule")
        mark = _QUERY_UID.set(uid)
        try:
            return await super().create(request)
        finally:
            _QUERY_UID.reset(mark)

    def new_identifier(self, records: Records, realm: Realm, document: dict[str, Any]) -> str:
        uid = _QUERY_UID.get()
        if uid is None:
            return super().new_identifier(records, realm, document)
        return super().new_identifier(records, realm, {**document, "header": {"identifier": uid}})


@VARIANTS.layer("attachments-private", "attachment-of-another")
class _PrivateFiles(AttachmentOperations):
    """Whether one account may list the attachments of another's document is not shown: it may not."""

    async def list(self, request: Request) -> Response:
        caller = self.context.identity.require(request)
        uid = self.context.identifiers.from_path(request)
        with self.context.storage.transaction() as records:
            owners = records.owners_anywhere(uid)
        if owners and caller.name not in owners:
            raise forbidden("this document is another account's")
        return await super().list(request)


@VARIANTS.layer("uploads-not-json", "attachment-sent-type")
class _NoJsonFiles(AttachmentOperations):
    """What the Content-Type of a file leads to is not shown: one that is sent as JSON is refused."""

    async def create(self, request: Request) -> Response:
        if "json" in (header_value(request, "content-type") or ""):
            raise Refusal(Reason.MEDIA_TYPE, "send the file in binary form")
        return await super().create(request)


def _lenient(request: Request, prefix: str) -> Request:
    """The request without options that are empty and numbers that are negative."""
    numbers = (f"{prefix}top", f"{prefix}skip")
    return _asking(
        request,
        [
            (name, value)
            for name, value in request.query_params.multi_items()
            if value and not (name in numbers and value.startswith("-"))
        ],
    )


def _asking(request: Request, pairs: Sequence[tuple[str, str]]) -> Request:
    return Request({**request.scope, "query_string": urlencode(pairs).encode()}, request.receive)


class _LenientDrafts(DraftOperations):
    async def list(self, request: Request) -> Response:
        return await super().list(_lenient(request, "$"))


class _LenientAttachments(AttachmentOperations):
    async def list(self, request: Request) -> Response:
        return await super().list(_lenient(request, ""))


VARIANTS.add(
    "list-numbers-lenient",
    ("attachment-list-option-empty", "list-number-negative", "list-option-empty"),
    "A negative number or an option without a value is not shown: as if it were not there.",
    parts=(_LenientDrafts, _LenientAttachments),
)


@VARIANTS.layer("list-options-plain-too", "list-options-without-dollar")
class _PlainOptions(DraftOperations):
    """Options of the draft list without the dollar sign are not shown: they are read."""

    async def list(self, request: Request) -> Response:
        names = {"top", "skip", "filter", "orderby"}
        given = request.query_params.multi_items()
        pairs = [(f"${name}" if name in names else name, value) for name, value in given]
        return await super().list(_asking(request, pairs))


@VARIANTS.layer("content-type-optional", "content-type-missing")
class _NoTypeNeeded(BodyReader):
    """A JSON body without a Content-Type is not shown: it is read."""

    def require_json_type(self, request: Request) -> None:
        if header_value(request, "content-type") is not None:
            super().require_json_type(request)


class _Asking(Between):
    """Base of what refuses requests before the service sees them."""

    def refuses(self, scope: Scope) -> str:  # noqa: ARG002
        """Say why a request is refused; empty when it is not."""
        return ""

    async def answer(self, scope: Scope, receive: Receive, send: Send) -> None:
        why = self.refuses(scope)
        if not why:
            await super().answer(scope, receive, send)
            return
        # As the service would: in the shapes that its habits give.
        refusal = scope["app"].state.service.answers.refusal(bad_request(why))
        await refusal(scope, receive, send)


@VARIANTS.wire("accept-needed", "accept-missing")
class _AcceptNeeded(_Asking):
    """A request without an Accept header is not shown: it is refused."""

    def refuses(self, scope: Scope) -> str:
        api = str(scope["path"]).startswith("/api/")
        given = any(name == b"accept" for name, _ in scope["headers"])
        return "" if given or not api else "the Accept header is missing"


@VARIANTS.wire("content-type-needed", "content-type-missing")
class _ContentTypeNeeded(_Asking):
    """A read or a delete without the Content-Type header that is listed for it is not shown: it is refused."""

    def refuses(self, scope: Scope) -> str:
        match = load_description().match(scope["method"], scope["raw_path"].decode("latin-1"))
        given = any(name == b"content-type" for name, _ in scope["headers"])
        if given or match is None or not match[0].lists_content_type or scope["method"] in ("POST", "PUT"):
            return ""
        return "the Content-Type header is missing"


@VARIANTS.wire("queries-known", "query-unknown")
class _KnownQueries(_Asking):
    """A query parameter that is not listed is not shown: the request is refused."""

    def refuses(self, scope: Scope) -> str:
        match = load_description().match(scope["method"], scope["raw_path"].decode("latin-1"))
        if match is None:
            return ""
        names = Request(scope).query_params.keys()
        unknown = sorted(names - set(match[0].query_parameters))
        return f"the query parameter {unknown[0]} is not known" if unknown else ""


@VARIANTS.wire("methods-hidden", "method-other")
class _MethodsHidden(Rewriting):
    """A method that is not listed for a path is not shown: 404."""

    def applies(self, scope: Scope, start: Any) -> bool:
        return bool(start) and start["status"] == 405 and scope["method"] != "HEAD"

    def rewritten(self, scope: Scope, status: int, body: bytes) -> tuple[int, bytes]:  # noqa: ARG002
        return 404, body


@VARIANTS.wire("versions-alike", "version-other")
class _OneVersion(Between):
    """What an operation gives under the prefix of the other version is not shown: the same."""

    async def answer(self, scope: Scope, receive: Receive, send: Send) -> None:
        path = str(scope["raw_path"].decode("latin-1"))
        other = (
            path.replace("/api/v2023/", "/api/v2013/", 1)
            if "/v2023/" in path
            else path.replace("/api/v2013/", "/api/v2023/", 1)
        )
        match = load_description().match
        if match(scope["method"], path) is None and match(scope["method"], other) is not None:
            scope = {**scope, "raw_path": other.encode("latin-1"), "path": other}
        await super().answer(scope, receive, send)


@VARIANTS.wire("identifier-empty", "An empty identifier behind a slash")
class _EmptyIdentifier(Between):
    """A submission with an empty identifier behind the slash is not shown: it is one without."""

    async def answer(self, scope: Scope, receive: Receive, send: Send) -> None:
        path = str(scope["raw_path"].decode("latin-1"))
        bare = path.removesuffix("/")
        found = load_description().match(scope["method"], bare)
        if bare != path and found is not None and found[0].id == "createWorkflowRecord":
            scope = {**scope, "raw_path": bare.encode("latin-1"), "path": bare}
        await super().answer(scope, receive, send)


@VARIANTS.layer("realm-unknown-written", "realm-unknown-contact", "realm-unknown-draft-save")
class _UnknownRealmWritten(RealmBook):
    """Saving a contact or a draft under an unknown realm is not shown: it is saved in the default realm."""

    def of_documents(self, request: Request) -> Realm:
        name = header_value(request, "realm")
        if name and self.named(name) is None and request.method in ("POST", "PUT"):
            return self.realms[self.default]
        return super().of_documents(request)


@VARIANTS.layer("batches-wait", "workflow-batch-effect")
class _BatchesWait(WorkflowOperations):
    """How the records of a batch are published together is not shown: none is locked before the batch is complete."""

    def initiate(self, submission: Submission, identifier: str, records: Records) -> None:
        if not submission.body.get("batchId"):
            super().initiate(submission, identifier, records)


@VARIANTS.layer("submission-numbers-as-text", "workflow-document-content")
class _NumberTexts(SubmissionCheck):
    """Whether a number is read as text in a submission is not shown: it is, within the same limit."""

    def text_faults(self, body: dict[str, Any], member: str) -> Any:
        value = body.get(member)
        number = isinstance(value, int | float) and not isinstance(value, bool)
        return super().text_faults({**body, member: json_text(value)} if number else body, member)


@VARIANTS.layer("sign-in-email-checked", "token-failure-answer")
class _FormOfEmail(AuthenticationOperations):
    """Status and body of a failed sign-in are not shown: an e-mail without an at sign is a malformed request."""

    async def create_token(self, request: Request) -> Response:
        await request.body()  # kept, so that it can be read again
        body = await self.body.read_object(request)
        email = body.value.get("email")
        if isinstance(email, str) and email and "@" not in email:
            raise bad_request("the e-mail is none")
        return await super().create_token(request)
