"""Variants of contacts and submissions: what counts as valid without a stated rule, refusals, locks and rights."""

import re
from collections.abc import Callable, Iterator, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

from sqlalchemy import select
from starlette.responses import PlainTextResponse, Response

from contracts.sandbox import validation
from contracts.sandbox.authentication import Account
from contracts.sandbox.documents import ContactOperations
from contracts.sandbox.habits import Answers, JsonAnswer, json_text
from contracts.sandbox.http import Fault, Reason, Refusal, forbidden
from contracts.sandbox.storage import DRAFT, LOCKS, PUBLISHED, Records, Version, new_version
from contracts.sandbox.validation import (
    CONTACT,
    INVALID_VALUE,
    UNSPECIFIED_LOCALE,
    Expectation,
    Faults,
    Field,
    Kind,
    Path,
    Realm,
    Validator,
)
from contracts.sandbox.variants.model import FAILED, Variants
from contracts.sandbox.workflow import Row, Submission, SubmissionCheck, WorkflowOperations

VARIANTS = Variants()

_FORMS = {
    "emails": re.compile(r"[^@\s]+@[^@\s]+\.[A-Za-z]+"),
    "phones": re.compile(r"[+0-9][0-9 ().-]{4,30}"),
    "faxes": re.compile(r"[+0-9][0-9 ().-]{4,30}"),
}
_ADDRESS = re.compile(r"https?://\S+")
_LANGUAGES = frozenset({"ar", "en", "es", "fr", "ru", "zh"})


@VARIANTS.layer("contact-put-creates", "contact-update-unknown")
class _PutCreates(ContactOperations):
    """Updating a contact that does not exist is not shown: it creates it."""

    def require_right(self, records: Records, caller: Account, realm: Realm, uid: str) -> None:
        if records.owner(realm.name, uid) is not None:
            super().require_right(records, caller, realm, uid)
        elif not self.context.rights.may_create(caller):
            raise forbidden("this account may not create contacts")


@VARIANTS.layer("contact-post-updates", "contact-identifier-taken")
class _PostUpdates(ContactOperations):
    """Creating a contact under an identifier in use is not shown: one's own contact is updated."""

    def new_identifier(self, records: Records, realm: Realm, document: dict[str, Any]) -> str:
        identifier = document.get("header", {}).get("identifier")
        present = records.version(realm.name, identifier, PUBLISHED) if identifier is not None else None
        if present is None or present.schema != CONTACT.name:
            return super().new_identifier(records, realm, document)
        return present.identifier

    def keep(self, records: Records, *, caller: Account, realm: Realm, identifier: str, body: Any) -> Version:
        owner = records.owner(realm.name, identifier)
        if owner is not None and not self.context.rights.may_update(caller, owner):
            raise Refusal(Reason.CONFLICT, "a record of this identifier exists in the realm")
        return super().keep(records, caller=caller, realm=realm, identifier=identifier, body=body)


@VARIANTS.layer("references-open", "contact-organization-unknown")
class _ReferencesOpen(ContactOperations):
    """A contactOrganization that points to no record is not shown: it is accepted."""

    def knows(self, records: Records, realm: Realm) -> Callable[[str], bool]:  # noqa: ARG002
        return lambda _identifier: True


@VARIANTS.layer("numbers-as-text", "contact-number-for-string", "workflow-document-content")
class _NumbersAsText(Validator):
    """Whether a number is read as text is not shown: it is."""

    def typed(self, value: Any, wanted: type, path: Path) -> Faults:
        number = isinstance(value, int | float) and not isinstance(value, bool)
        if not (wanted is str and number):
            yield from super().typed(value, wanted, path)


@VARIANTS.layer("nulls-absent", "contact-optional-null")
class _NullsAbsent(Validator):
    """Null in an optional field is not shown: it counts as left out."""

    def field_faults(self, field: Field, value: Any, given: bool, expectation: Expectation) -> Faults:
        yield from super().field_faults(field, value, given and value is not None, expectation)


@VARIANTS.layer("empty-values-absent", "contact-mandatory-empty")
class _EmptyAbsent(Validator):
    """Whether an empty text, object or array counts as left out is not shown: it does, whatever the field's kind."""

    def field_faults(self, field: Field, value: Any, given: bool, expectation: Expectation) -> Faults:
        empty = value in ("", {}, [])
        yield from super().field_faults(field, None if empty else value, given and not empty, expectation)


@VARIANTS.layer("forms-checked", "contact-text-forms")
class _Forms(Validator):
    """Whether e-mail, telephone and web addresses are checked for their form is not shown: they are."""

    def value_faults(self, field: Field, value: Any, path: Path, expectation: Expectation) -> Faults:
        faults = list(super().value_faults(field, value, path, expectation))
        yield from faults
        text = value.get("url") if field.kind is Kind.LINK and isinstance(value, dict) else value
        form = _ADDRESS if field.kind is Kind.LINK else _FORMS.get(field.name)
        if form is not None and not faults and form.fullmatch(str(text)) is None:
            yield Fault(INVALID_VALUE, path)


@VARIANTS.layer("languages-six", "contact-language-key-unknown")
class _SixLanguages(Validator):
    """Which language codes are known is not shown: six."""

    def language_faults(self, language: str, path: Path) -> Faults:
        faults = list(super().language_faults(language, path))
        yield from faults
        if not faults and language.partition("-")[0].lower() not in _LANGUAGES:
            yield Fault(UNSPECIFIED_LOCALE, path)


@VARIANTS.layer(
    "header-ignored",
    "contact-header-disagrees",
    "contact-header-identifier-rule",
    "workflow-header-disagrees",
)
class _HeaderIgnored(Validator):
    """A header that disagrees with path or query is not shown: it is not compared."""

    def header_agreement(self, header: dict[str, Any], path: Path, expectation: Expectation) -> Faults:  # noqa: ARG002
        yield from ()


@VARIANTS.layer("header-whole", "contact-header-members")
class _HeaderWhole(Validator):
    """Which members a header has to carry is not shown: all three."""

    def header_faults(self, value: Any, path: Path, expectation: Expectation) -> Faults:
        yield from super().header_faults(value, path, expectation)
        if isinstance(value, dict):
            for member in ("identifier", "schema", "languages"):
                if member not in value:
                    yield from self.missing((*path, member))


@VARIANTS.layer("message-plain-text", "workflow-message-place")
class _PlainText(Answers):
    """The body that carries a message is not shown: it is the message itself as plain text."""

    def refusal(self, refusal: Refusal) -> Response:
        answer = super().refusal(refusal)
        if refusal.faults or answer.status_code == 204:
            return answer
        return PlainTextResponse(refusal.message + "\n", answer.status_code, _kept(answer))


@VARIANTS.layer("message-spaced", "workflow-message-place")
class _Spaced(Answers):
    """White space around a message is not shown: it is quoted, broken into lines and ends with a line break."""

    def refusal_body(self, status: int, message: str, faults: Sequence[Fault] = ()) -> dict[str, Any]:
        first, space, rest = message.partition(" ")
        return super().refusal_body(status, f"  “{first}{space and chr(10)}{rest}” \r\n", faults)


@VARIANTS.layer("errors-nested", "Place of an errors array, and what stands beside it")
class _Nested(Answers):
    """The place of the errors array is not shown: it stands under validation, its elements say more."""

    def refusal_body(self, status: int, message: str, faults: Sequence[Fault] = ()) -> dict[str, Any]:
        body = super().refusal_body(status, message)
        if faults:
            entries = [
                {**error, "message": "see the documentation", "level": 2} for error in self.errors(faults)
            ]
            body["validation"] = {"isValid": False, "errors": entries}
        return body


@VARIANTS.layer("refusals-without-body", *FAILED)
class _Bare(Answers):
    """Bodies of refusals outside the tables are not shown: they are empty."""

    def refusal(self, refusal: Refusal) -> Response:
        answer = super().refusal(refusal)
        if refusal.faults or refusal.status is not None:
            return answer
        return Response(status_code=answer.status_code, headers=_kept(answer))


@VARIANTS.layer("problem-json", *FAILED, "workflow-message-place")
class _Problem(Answers):
    """The shape of refusals is not shown: they are problem details, application/problem+json."""

    def refusal(self, refusal: Refusal) -> Response:
        answer = super().refusal(refusal)
        if answer.status_code == 204:
            return answer
        body = self.refusal_body(answer.status_code, refusal.message, refusal.faults)
        kind = "application/problem+json"
        return JsonAnswer(body, answer.status_code, _kept(answer), media_type=kind)

    def refusal_body(self, status: int, message: str, faults: Sequence[Fault] = ()) -> dict[str, Any]:
        body: dict[str, Any] = {
            "type": "about:blank",
            "title": "Refused",
            "status": status,
            "detail": message,
        }
        if faults:
            body["errors"] = self.errors(faults)
        return body


def _kept(answer: Response) -> dict[str, str]:
    """Return the headers of a refusal that do not describe its body."""
    described = ("content-type", "content-length")
    return {name: value for name, value in answer.headers.items() if name not in described}


LOCK_SECONDS = 2.0


class _LateLock(WorkflowOperations):
    """The workflow takes a while to begin, and only then locks."""

    def initiate(self, submission: Submission, identifier: str, records: Records) -> None:
        if isinstance(records, _LockTimes) and records.lock_time(submission.realm.name, identifier) is None:
            moment = self.context.clock.now() + timedelta(seconds=LOCK_SECONDS)
            records.lock(submission.realm.name, identifier, submission.caller.name, moment)


class _LockTimes(Records):
    """A lock counts from its moment on."""

    def is_locked(self, realm: str, identifier: str) -> bool:
        moment = self.lock_time(realm, identifier)
        return moment is not None and moment <= datetime.now(UTC).replace(tzinfo=None)

    def lock_time(self, realm: str, identifier: str) -> datetime | None:
        """Return from when on a record is locked, or ``None``."""
        here = (LOCKS.c.realm == realm, LOCKS.c.identifier == identifier)
        return self.connection.execute(select(LOCKS.c.locked_on).where(*here)).scalar_one_or_none()


VARIANTS.add(
    "lock-late",
    ("workflow-submitted-state",),
    "When a submission locks its record is not shown: two seconds later.",
    parts=(_LateLock, _LockTimes),
)


@VARIANTS.layer("submissions-publish", "workflow-submitted-state")
class _AtOnce(WorkflowOperations):
    """Whether a submission locks its record is not shown: it is published at once, and free again."""

    def initiate(self, submission: Submission, identifier: str, records: Records) -> None:
        records.store(
            new_version(
                realm=submission.realm.name,
                identifier=identifier,
                state=PUBLISHED,
                schema=submission.kind.name,
                owner=submission.caller.name,
                content=json_text(submission.body["document"]),
                moment=self.context.clock.now(),
            )
        )


@VARIANTS.layer("drafts-not-existing", "workflow-draft-only-record")
class _DraftsFree(WorkflowOperations):
    """Whether a document that has only a draft exists for the workflow is not shown: it does not."""

    def check_identifier(self, submission: Submission, records: Records) -> str:
        identifier = submission.given_identifier(self.context.identifiers)
        if identifier is None or not _only_draft(records, submission.realm.name, identifier):
            return super().check_identifier(submission, records)
        if not submission.creating:
            raise Row.NOT_EXISTING.refusal()
        return identifier


def _only_draft(records: Records, realm: str, identifier: str) -> bool:
    there = records.version(realm, identifier, DRAFT) is not None
    return there and not beyond_draft(records, realm, identifier)


def beyond_draft(records: Records, realm: str, identifier: str) -> bool:
    """Whether a record was submitted or published; a lock that is still to come counts too."""
    here = (LOCKS.c.realm == realm, LOCKS.c.identifier == identifier)
    submitted = records.connection.execute(select(LOCKS).where(*here)).first() is not None
    return submitted or records.version(realm, identifier, PUBLISHED) is not None


@VARIANTS.layer("locked-before-taken", "workflow-taken-against-locked")
class _LockedFirst(WorkflowOperations):
    """Which refusal creating under the identifier of a locked record meets is not shown: that of the lock."""

    def check_identifier(self, submission: Submission, records: Records) -> str:
        identifier = submission.given_identifier(self.context.identifiers)
        if identifier is not None and records.is_locked(submission.realm.name, identifier):
            raise Row.LOCKED.refusal()
        return super().check_identifier(submission, records)


@VARIANTS.layer("info-for-nau-only", "workflow-info-from-others")
class _InfoForNau(SubmissionCheck):
    """additionalInfo from an account without the NAU role is not shown: it is refused."""

    def faults(self, submission: Submission, records: Records) -> list[Fault]:
        all_faults = super().faults(submission, records)
        faulty = {fault.path[0] for fault in all_faults}
        unasked = "additionalInfo" in submission.body and not submission.caller.holds_nau
        if unasked and "additionalInfo" not in faulty:
            all_faults.append(Fault(validation.INVALID_PROPERTY, ("additionalInfo",)))
        return all_faults


@VARIANTS.layer("submission-nulls-absent", "workflow-info-empty", "workflow-batch-empty")
class _NullsOptional(SubmissionCheck):
    """Null for additionalInfo or batchId is not shown: it counts as left out."""

    def text_faults(self, body: dict[str, Any], member: str) -> Iterator[Fault]:
        if body.get(member) is not None:
            yield from super().text_faults(body, member)


@VARIANTS.layer("authors-update-all", "workflow-update-by-another")
class _UpdatesAll(WorkflowOperations):
    """Whether one author may update the record of another is not shown: every author may."""

    def create_securities(self, submission: Submission, identifier: str, records: Records) -> None:
        if submission.creating or not self.context.rights.may_create(submission.caller):
            super().create_securities(submission, identifier, records)
