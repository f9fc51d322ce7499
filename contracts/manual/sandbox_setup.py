"""How an embedded sandbox can be set up: with defects, variants and weathers, or like an observed service."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final, NamedTuple

from contracts.errors import UsageError
from contracts.evidence.observations import read_observations
from contracts.history.observed_facts import OR, Facts, Value, read_facts
from contracts.settings.target import ANY_REALM, DOCUMENT_REALMS


@dataclass(frozen=True)
class Breakage:
    """A defect, a variant or a weather, as a list shows it; only a defect breaks a clause."""

    name: str
    sentence: str
    clause: str = ""
    operations: tuple[str, ...] = ()


def defects() -> Sequence[Breakage] | None:
    """Every defect; None where the sandbox is not installed."""
    try:
        from contracts.sandbox.defects import ALL  # noqa: PLC0415 - an optional extra, and slow to import
    except ModuleNotFoundError:
        return None
    return [Breakage(defect.name, defect.sentence, defect.clause, defect.operations) for defect in ALL]


def variants() -> Sequence[Breakage] | None:
    """Every variant; None where the sandbox is not installed."""
    try:
        from contracts.sandbox.variants import ALL  # noqa: PLC0415 - as above
    except ModuleNotFoundError:
        return None
    return [Breakage(variant.name, variant.sentence) for variant in ALL.values()]


def weathers() -> Sequence[Breakage] | None:
    """Every weather; None where the sandbox is not installed."""
    try:
        from contracts.sandbox.weather import ALL  # noqa: PLC0415 - as above
    except ModuleNotFoundError:
        return None
    return [Breakage(kind.name, kind.sentence) for kind in ALL.values()]


def installed(breakages: Sequence[Breakage] | None) -> Sequence[Breakage]:
    """Insist on the sandbox.

    Raises:
        UsageError: it is not installed.
    """
    if breakages is None:
        raise UsageError("the sandbox is not installed: pip install 'registry-contracts[sandbox]'")
    return breakages


#: What became of a request, as observations write it: taken, refused, refused for its content.
_TAKEN: Final = r"2\d\d|303"
_REFUSED: Final = r"4\d\d|refused.*"
_ERRORS: Final = r"\d{3} errors.*|refused.*"
_SOME: Final = r".+"


class _Sign(NamedTuple):
    """What a variant shows: a fact of a clause and operation, and the value that gives it away; patterns throughout.

    `lacking` is a fact whose absence gives it away where the clause was observed; `unless` is a variant whose own sign
    stands before this one, and which explains it.
    """

    variant: str
    clause: str
    operation: str
    fact: str
    value: str = _SOME
    lacking: str = ""
    unless: str = ""


def _member(path: str) -> str:
    """A member of an answer that was a success."""
    return rf"2\d\d body{path}"


_CREATE: Final = "createWorkflowRecord"
_LIST: Final = ("list-fields|attachment-fields", "listDrafts|listAttachments")
_REFUSAL: Final = ("token-missing-answer", "getDraft|listDrafts|listAttachments|deleteDraft|saveDraft")
_FAULTY: Final = ("errors-status", "createContact|updateContact")
_MESSAGES: Final = r"\d{3} body\.messages(\[\]\S*)?"
_FAULTS_OPEN: Final = ("contact-mandatory-empty", "updateContact")

#: Of the signs of one variant, each is enough.
_SIGNS: Final[tuple[_Sign, ...]] = (
    # Between the service and the wire, the outermost first: two redirects are those of a read and of its file.
    _Sign("extra-members-everywhere", "token-success-status", "createToken", _member(r"\._etag")),
    _Sign("extra-members", "token-success-status", "createToken", r"2\d\d body\.apiVersion"),
    _Sign("reads-sent-on", "attachment-download-type", "getAttachment", "redirects", "2"),
    # Attachments
    _Sign("attachments-closed", "attachment-get-token", "getAttachment", "seen", _REFUSED),
    _Sign("file-names-unique", "attachment-name-taken", "createAttachment", "status", _REFUSED),
    _Sign(
        "file-names-replaced", "attachment-name-taken", "createAttachment", "the first still there", "false"
    ),
    _Sign("file-names-unread", "attachment-name-disagrees", "getAttachment", "seen", _TAKEN),
    _Sign("file-names-plain", "attachment-name-unusual", "createAttachment", "script and length", _REFUSED),
    # No attachment is found under any number: a plain name would not have been changed.
    _Sign(
        "attachment-id-not-listed", "attachment-sent-type", "createAttachment", "application/json", "renamed"
    ),
    _Sign(
        "file-names-changed",
        "attachment-name-unusual",
        "createAttachment",
        ".*",
        "changed|renamed",
        unless="attachment-id-not-listed",
    ),
    _Sign("empty-file-refused", "attachment-empty-file", "createAttachment", "status", _REFUSED),
    _Sign("uploads-not-json", "attachment-sent-type", "createAttachment", "application/json", _REFUSED),
    _Sign("downloads-plain", "attachment-download-type", "getAttachment", "type", "application/octet-stream"),
    _Sign("downloads-redirected", "attachment-download-type", "getAttachment", "redirects", "[1-9].*"),
    _Sign("thumbnails-jpeg", "attachment-thumbnail-form", "getAttachmentThumbnail", "type", "image/jpeg"),
    _Sign("thumbnails-webp", "attachment-thumbnail-form", "getAttachmentThumbnail", "type", "image/webp"),
    _Sign("thumbnails-gif", "attachment-thumbnail-form", "getAttachmentThumbnail", "type", "image/gif"),
    _Sign(
        "thumbnails-of-pictures", "attachment-thumbnail-form", "getAttachmentThumbnail", "of a text", _REFUSED
    ),
    _Sign("attachments-of-anything", "attachment-document-unknown", "createAttachment", "seen", _TAKEN),
    _Sign(
        "attachments-beyond-drafts", "attachment-failure-status", "createAttachment", "on a draft", _REFUSED
    ),
    _Sign("attachments-by-anybody", "attachment-of-another", "createAttachment", "seen", _TAKEN),
    # A file that lasted is refused only for its name, which the document has by then.
    _Sign(
        "temporary-files-last", "attachment-persist-twice", "persistTemporaryFile", "seen", rf"{_TAKEN}|409"
    ),
    _Sign("file-names-unique", "attachment-persist-twice", "persistTemporaryFile", "seen", "409"),
    _Sign("attachment-options-dollar", "attachment-list-options-with-dollar", ".*", "bounded", "true"),
    _Sign("list-numbers-lenient", "attachment-list-option-empty", ".*", "negative", _TAKEN),
    _Sign("attachment-number-alone", "attachment-create-answer", ".*", _member(""), "integer|string"),
    # Beside attributes, as in JSON:API, an identifier is a text anyway.
    _Sign("attachment-id-text", "attachment-fields", ".*", _member(r"\S*\.attributes\._?id"), "string"),
    _Sign(
        "attachment-id-text",
        "attachment-fields",
        ".*",
        _member(r"\S*\._?id"),
        "string",
        _member(r"\S*\.attributes"),
    ),
    _Sign("attachment-id-in-link", "attachment-fields", ".*", _member(r"\S*\.(url|length)")),
    _Sign("attachment-realms-known", "realm-on-attachments", "getAttachment", "unknown realm", _REFUSED),
    # Contacts
    _Sign("empty-text-missing", *_FAULTS_OPEN, "firstName", _ERRORS),
    _Sign("numbers-as-text", "contact-number-for-string", ".*", "firstName", _TAKEN),
    _Sign("nulls-absent", "contact-optional-null", ".*", "middleName", _TAKEN),
    _Sign("languages-six", "contact-language-key-unknown", ".*", "organization", _ERRORS),
    _Sign("contact-terms-own", "contact-type-values", ".*", "type", _ERRORS),
    _Sign("contact-terms-own", "errors-code-invalid-value", "createContact", "seen", ".*UnexpectedTerm.*"),
    _Sign("terms-open", *_FAULTS_OPEN, "country", _TAKEN),
    _Sign("unknown-fields-kept", *_FAULTY, "unknown field", _TAKEN),
    _Sign("references-open", "contact-organization-unknown", ".*", "none", _TAKEN),
    _Sign("forms-checked", "contact-text-forms", ".*", "emails", _ERRORS),
    _Sign("terms-closed", "contact-further-members", ".*", "websites", _ERRORS),
    _Sign("header-whole", "contact-header-members", ".*", "languages", _ERRORS),
    _Sign("header-ignored", "contact-header-disagrees", "updateContact", "identifier", "false"),
    _Sign("header-ignored", "contact-header-identifier-rule", "createContact", "characters", "false"),
    _Sign("contacts-minted", "contact-identifier-origin", ".*", "seen", "given"),
    # A record that was refused for its content went before, under the same identifier.
    _Sign("refused-contacts-stay-taken", "contact-identifier-origin", "createContact", "seen", "refused"),
    _Sign("identifiers-uuid", "contact-create-answer", ".*", _member(r"\S*"), "string uuid"),
    _Sign(
        "identifiers-uuid", "workflow-answer", _CREATE, _member(r"\S*(identifier|documentUid)"), "string uuid"
    ),
    _Sign("contact-post-updates", "contact-identifier-taken", ".*", "seen", _TAKEN),
    _Sign("contact-put-creates", "contact-update-unknown", ".*", "seen", rf"{_TAKEN}|\d+ errors"),
    _Sign("contacts-shared", "contact-update-by-another", ".*", "seen", rf"{_TAKEN}|\d+ errors"),
    _Sign(
        "contacts-by-restricted", "contact-by-restricted", "createContact", "seen", rf"{_TAKEN}|\d+ errors"
    ),
    _Sign("contacts-have-drafts", "contact-read-back", ".*", "seen", _TAKEN),
    # Drafts
    _Sign("draft-any-json", "draft-save-body", "saveDraft", "array", rf"{_TAKEN}|kept"),
    _Sign("draft-any-schema", "draft-save-schema-missing", "saveDraft", "seen", _TAKEN),
    _Sign("draft-valid-only", "draft-save-incomplete", "saveDraft", "mandatory missing", _REFUSED),
    _Sign(
        "draft-content-answered",
        "draft-save-answer",
        "saveDraft",
        _member(""),
        ".*object",
        _member(r"\.(identifier|documentUid|draft|errors)"),
    ),
    # Faults that are told with a success stand beside what was saved; a faulty draft that had a header shows no more.
    _Sign("draft-content-answered", "draft-save-answer", "saveDraft", _member(r"\.firstName")),
    _Sign("list-with-documents", *_LIST, _member(r"\S*\.document")),
    _Sign("draft-faults-told", "draft-save-answer", "saveDraft", _member(r"\.draft")),
    _Sign("locked-draft-hidden", "draft-of-locked-record", "getDraft", "seen", _REFUSED),
    _Sign("save-see-other", "draft-success-status", "saveDraft", "create", "303"),
    _Sign("head-204", "draft-success-status", "draftExists", "seen", "204"),
    _Sign("draft-wrapped", "draft-get-answer", "getDraft", "seen", "workingDocument"),
    _Sign("draft-extended", "draft-get-answer", "getDraft", _member(r"\._(revision|owner)")),
    _Sign("metadata-terse", "draft-info-answer", ".*", _member(r"\.schema"), _SOME, _member(r"\S*createdOn")),
    _Sign("half-pairs-kept", "draft-(save|info)-answer", ".*", _member(r"\S*\.oddTexts\S*")),
    _Sign(
        "ids-renamed",
        "draft-info-answer|contact-(create|update)-answer|workflow-answer",
        ".*",
        _member(r"\S*\.documentUid"),
    ),
    # Errors and messages
    _Sign(
        "errors-nested",
        "errors-status|contact-(create|update)-answer|workflow-(answer|message-place)",
        ".*",
        r"\d{3} body\.\S*validation\.errors",
    ),
    _Sign(
        "errors-only",
        "errors-status|contact-(create|update)-answer|workflow-(answer|message-place)",
        ".*",
        r"\d{3} body\.\S*errors\[\]\.severity",
    ),
    _Sign("errors-always", "attachment-(create|persist)-answer", ".*", _member(r"\.errors")),
    _Sign("errors-always", *_REFUSAL, r"4\d\d body\.errors"),
    # Rows of the table are told with a body where other refusals have none; 403 is none of faulty content.
    _Sign("errors-always", "workflow-message-place", ".*", r"403 body\.errors"),
    _Sign("problem-json", *_REFUSAL, r"4\d\d type", "application/problem.json"),
    # What is told of a fault that was planted is that of another one alone; a reference to nothing may be none.
    _Sign(
        "faults-one-at-a-time",
        "errors-code-invalid-value",
        "(create|update)Contact",
        "seen",
        "",
        unless="references-open",
    ),
    _Sign("refusals-without-body", *_REFUSAL, r"4\d\d body", "empty"),
    _Sign("message-plain-text", *_REFUSAL, r"4\d\d body", "text|not JSON"),
    _Sign("message-under-error", *_REFUSAL, r"4\d\d body\.error(\.\S*)?"),
    _Sign("message-under-error", *_FAULTY, r"\d{3} body\.error(\.\S*)?"),
    _Sign("message-under-error", "contact-update-answer", "updateContact", r"2\d\d body\.error(\.\S*)?"),
    _Sign("message-in-array", *_REFUSAL, r"4\d\d body\.(messages|errors)\[\]\S*|4\d\d body\[\]"),
    # Where refusals are plain text, those with an errors array are JSON all the same.
    _Sign("message-in-array", "errors-status|contact-create-answer|workflow-answer", ".*", _MESSAGES),
    # HTTP
    _Sign("content-type-any", "content-type-other", "saveDraft", "fault .*", _TAKEN),
    _Sign(
        "content-type-optional",
        "content-type-missing",
        "createToken",
        "seen",
        _TAKEN,
        unless="content-type-any",
    ),
    _Sign("accept-needed", "accept-missing", "listDrafts|listAttachments", "seen", _REFUSED),
    _Sign("accept-strict", "accept-other", "listDrafts|listAttachments", "seen", _REFUSED),
    _Sign("queries-known", "query-unknown", "listDrafts|listAttachments", "seen", _REFUSED),
    _Sign("methods-hidden", "method-other", ".*", ".*", "404"),
    _Sign("versions-alike", "version-other", "listDrafts|listAttachments", "seen", _TAKEN),
    # Lists
    _Sign("list-docs", *_LIST, _member(r"\.response\.docs")),
    _Sign("list-linked", *_LIST, _member(r"\.results")),
    _Sign("list-hal", *_LIST, _member(r"\._embedded")),
    _Sign("list-json-api", *_LIST, _member(r"\.jsonapi")),
    _Sign("list-odata-old", *_LIST, _member(r"\.d")),
    _Sign("list-hits", *_LIST, _member(r"\.hits")),
    _Sign("list-edges", *_LIST, _member(r"\.edges")),
    _Sign("list-odata", *_LIST, _member(r"\.value")),
    _Sign("list-beside-links", *_LIST, _member(r"\.facets")),
    _Sign("list-items", *_LIST, _member(r"\.items"), _SOME, _member(r"\.facets")),
    _Sign("list-items-volatile", "list-fields|attachment-fields", ".*", _member(r"\S*\.receipt")),
    _Sign("list-partial", "(list|attachment)-success-status", "list.*", "seen|status", r".*206.*"),
    _Sign("list-empty-204", *_LIST, "204 body", "empty"),
    _Sign("list-empty-204", "attachment-success-status", "listAttachments", "nothing left", "204"),
    _Sign("list-empty-404", "attachment-success-status", "listAttachments", "nothing left", "4.."),
    _Sign("pages-of-five", "list-default-page", "listDrafts", "items", "5"),
    _Sign("list-options-plain-too", "list-options-without-dollar", "listDrafts", "bounded", "true"),
    _Sign("collections-open", "list-failure-status", "listDrafts", "unknown collection", _TAKEN),
    # Realms
    # An unknown realm is 400 by the table, so that another status is about what comes after the realm.
    _Sign("realm-any-case", "realm-letter-case", "createWorkflowRecord", "value", "(?!400).*"),
    # Signing in
    _Sign("token-same-again", "token-second-sign-in", "createToken", "same token", "true"),
    _Sign("bearer-exact", "token-bearer-spelling", "listDrafts", "small letters", _REFUSED),
    _Sign("ticket-scheme", "token-bearer-spelling", "listDrafts", "another scheme", _TAKEN),
    _Sign("credentials-exact", "token-unknown-member", "createToken", "seen", _REFUSED),
    _Sign(
        "sign-in-refused-200",
        "token-success-status",
        "createToken",
        r"2\d\d body\.authenticationToken",
        ".*null.*",
    ),
    # Submissions
    _Sign("info-for-nau-only", "workflow-info-from-others", ".*", "text", r"\d+ errors for .*"),
    _Sign("empty-texts-refused", "workflow-batch-empty", ".*", "empty", r"\d+ errors for .*"),
    _Sign("submission-nulls-absent", "workflow-(info|batch)-empty", ".*", "null", r"\d+ errors|2\d\d"),
    _Sign("refused-records-stay-taken", "workflow-document-content", ".*Identifier", "nothing", r"4\d\d"),
    _Sign("records-minted", "workflow-identifier-origin", ".*", "seen", "given"),
    _Sign("drafts-not-existing", "workflow-draft-only-record", "updateWorkflowRecord", "seen", ".*unknown"),
    _Sign("locked-before-taken", "workflow-taken-against-locked", ".*", "seen", ".*locked.*"),
    _Sign("realm-before-identity", "workflow-identity-against-realm", ".*", "seen", ".*realm-missing"),
    _Sign("authors-update-all", "workflow-update-by-another", ".*", "seen", rf"{_TAKEN}|\d+ errors"),
    _Sign("submissions-publish", "workflow-submitted-state", ".*", "seen", "open"),
    _Sign("submissions-furnished", "workflow-answer", ".*", _member(r"\.workflow\S*")),
)

#: What becomes of a draft that is saved with another schema than before.
_SCHEMA: Final = ("draft-save-schema-unknown", "saveDraft", "another")
_NO_SCHEMA: Final = ("draft-save-schema-missing", "saveDraft", "seen")

#: What becomes of a temporary file that is kept a second time, where the name is the document's by then.
_TAKEN_NAME: Final = ("attachment-persist-twice", "persistTemporaryFile", "seen")
_READ_ELSEWHERE: Final = ("realm-missing-draft", "getDraft", "missing")
_IN_QUERY: Final = ("realm-query-elsewhere", "getDraft", "seen")
_UPDATED_ELSEWHERE: Final = (
    ("realm-missing-contact", "updateContact", "fault header.Realm:missing"),
    ("realm-unknown-contact", "updateContact", "fault header.Realm:unknown-value"),
)
_DRAFT_ELSEWHERE: Final = ("realm-missing-draft", "saveDraft", "missing")
#: The name of one that was kept, seen only where it is found again.
_PERSISTED_NAME: Final = ("attachment-persist-name", "persistTemporaryFile", "seen")


def _for_each(clause: str, operations: str, name: str = "status") -> tuple[tuple[str, str, str], ...]:
    """The same fact of several operations."""
    return tuple((clause, operation, name) for operation in operations.split())


_SUBMITTING: Final = "createWorkflowRecord createWorkflowRecordWithIdentifier updateWorkflowRecord"
#: Habit that is a status → where observations tell it, the first that does counts.
_STATUSES: Final[Mapping[str, tuple[tuple[str, str, str], ...]]] = {
    "token_status": (("token-success-status", "createToken", "seen"),),
    "contact_created_status": _for_each("contact-success-status", "createContact", "seen")
    # Where permanent records ran out before a contact was created for it, what other cases were answered tells.
    + _for_each("contact-success-status", "createContact"),
    "contact_updated_status": (("contact-success-status", "updateContact", "seen"),),
    "draft_created_status": (("draft-success-status", "saveDraft", "create"),),
    "draft_updated_status": (("draft-success-status", "saveDraft", "update"),),
    "draft_deleted_status": (("draft-success-status", "deleteDraft", "seen"),),
    "attachment_created_status": (("attachment-success-status", "createAttachment", "seen"),),
    "attachment_persisted_status": (("attachment-success-status", "persistTemporaryFile", "status"),),
    "workflow_created_status": (
        ("workflow-success-status", "createWorkflowRecordWithIdentifier", "seen"),
        ("workflow-success-status", "createWorkflowRecord", "status"),
    ),
    "workflow_updated_status": (("workflow-success-status", "updateWorkflowRecord", "status"),),
    "unauthenticated_status": _for_each(
        "token-missing-answer", "getDraft listDrafts saveDraft listAttachments createAttachment createContact"
    ),
    "wrong_credentials_status": (
        ("token-failure-answer", "createToken", "status"),
        ("token-email-letter-case", "createToken", "seen"),
    ),
    "forbidden_status": (
        ("draft-by-restricted", "saveDraft", "seen"),
        *_for_each("contact-by-restricted", "updateContact createContact", "seen"),
        ("contact-update-by-another", "updateContact", "seen"),
    ),
    "not_found_status": (
        ("attachment-failure-status", "getAttachment", "status"),
        *_for_each("draft-failure-status", "getDraftInfo getDraft"),
        *_for_each("attachment-document-unknown", "listAttachments createAttachment", "seen"),
        ("contact-read-back", "updateContact", "seen"),
    ),
    "delete_missing_status": _for_each("draft-delete-absent", "deleteDraft", "never"),
    "bad_request_status": _for_each(
        "uid-refusal-answer", "getDraft saveDraft deleteDraft getDraftInfo listAttachments createAttachment"
    ),
    "validation_status": (
        *_for_each("errors-status", _SUBMITTING, "seen"),
        *((*_FAULTS_OPEN, field) for field in ("emails", "organization", "country")),
        ("contact-number-for-string", "updateContact", "phones"),
        *_for_each("workflow-document-content", _SUBMITTING, "nothing"),
    ),
    "too_large_status": (("attachment-size-answer", "createAttachment", "seen"),),
    "conflict_status": (
        ("contact-identifier-taken", "createContact", "seen"),
        _SCHEMA,
        ("attachment-failure-status", "createAttachment", "on a draft"),
    ),
    "media_type_status": (
        ("attachment-sent-type", "createAttachment", "application/json"),
        ("content-type-other", "createToken", "nonsense"),
        *_for_each("accept-other", "listDrafts listAttachments", "seen"),
    ),
}
#: Parts of the names of habits that are statuses of refusals.
_REFUSING: Final = (
    "unauthenticated",
    "wrong",
    "forbidden",
    "not_found",
    "bad_request",
    "too_large",
    "conflict",
    "media_type",
)
#: What accounts without rights are answered where nothing shows it.
_FORBIDDEN: Final = "403"
#: Its status may be that of a success, or of a refusal.
_DELETED: Final = "delete_missing_status"
#: From how many on statuses say something of those that were not seen.
_FEW: Final = 8
_OTHER_TYPE: Final = "fault header.Content-Type:unknown-value"
_CREATING: Final = {
    "contact-create-answer": "createContact",
    "attachment-create-answer": "createAttachment",
}
#: Members that stand in every object of a service that furnishes them, but for reads that are sent on.
_FURNISHING: Final = frozenset({"_etag", "apiVersion"})
_SIGNED: Final = "downloads-redirected"
_TERMS: Final = "contact-terms-own"
_TERMS_200: Final = "contact-terms-own-200"
#: Refuse a request before the service reads it, each with where its refusals are seen.
_HTTP_REFUSALS: Final[Mapping[str, tuple[str, str]]] = {
    "accept-needed": ("list-failure-status", "listDrafts"),
    "accept-strict": ("list-failure-status", "listDrafts"),
    "queries-known": ("errors-status", "createContact"),
}
_NAMED: Final = "createWorkflowRecordWithIdentifier"
_WRAPPING: Final = "workingDocument"
_FEWEST_PAGE: Final = "5"
#: Silent points about a realm of no use, and the variant that passes it over.
_REALMS: Final = (
    ("realm-unknown-draft-read", "realm-unknown-read"),
    ("realm-unknown-draft-save", "realm-unknown-written"),
    ("realm-unknown-contact", "realm-unknown-written"),
    ("realm-ort-on-draft", "reporting-drafts"),
    ("realm-ort-on-contact", "reporting-drafts"),
)
#: Clauses that are read beside signs and statuses.
_READ_BESIDE: Final = frozenset(
    {"list-envelope", "realm-missing-draft", "workflow-unknown-member", "workflow-header-disagrees"}
    | {"token-lifetime", "draft-of-another", "list-by-restricted", "token-email-letter-case"}
    | {"uid-on-contact-create", "draft-save-schema-unknown", "realm-header-against-query"}
    | {"list-default-order", "attachment-list-default", "realm-missing-contact", "realm-query-elsewhere"}
    | {clause for clause, _ in _REALMS}
)
_OF_REALM: Final = re.compile(r"seen|missing|fault header\.Realm:.+")
_STATUS: Final = re.compile(r"(?:refused with )?([1-5]\d\d)( errors.*)?")


@dataclass(frozen=True)
class Imitation:
    """How a sandbox is set up to answer as a service did.

    Attributes:
        options: Options of the sandbox.
        lines: What was set, a line for each silent point.
        unread: Silent clauses that were observed and that no knob is read from.
    """

    options: tuple[str, ...]
    lines: tuple[str, ...]
    unread: tuple[str, ...]


def imitate(path: Path, realm: str | None = None) -> Imitation:
    """Read the `observations.json` of a run, and set up a sandbox like the service that it observed.

    Args:
        realm: Whose observations count; by default the first one that has documents.

    Raises:
        UsageError: the file cannot be used.
    """
    facts = read_facts(read_observations(path))
    realms = [name for name in DOCUMENT_REALMS if any(place.realm == name for place in facts)]
    chosen = realm or next(iter(realms), "")
    return _Reading(facts, chosen).imitation()


class _Reading:
    """What the facts of one realm say of every knob."""

    def __init__(self, facts: Facts, realm: str) -> None:
        self._realm = realm
        self._facts = {
            (place.clause, place.operation): {name: _text(value) for name, value in values.items()}
            for place, values in facts.items()
            if place.realm in (realm, ANY_REALM)
        }

    def imitation(self) -> Imitation:
        options: list[str] = []
        lines: list[str] = []
        for variant, clause, shown in self._variants():
            options.append(f"--variant={variant}")
            lines.append(f"{clause}: {variant} ({shown})")
        habits = list(self._habits())
        for clause, name in self._by_comparison({habit: value for _, habit, value in habits}):
            if f"--variant={name}" not in options:
                options.append(f"--variant={name}")
                lines.append(f"{clause}: {name}")
        if f"--variant={_TERMS_200}" in options:
            # It is the other one and something more; a sandbox cannot be set up with both.
            options = [option for option in options if option != f"--variant={_TERMS}"]
            lines = [line for line in lines if f": {_TERMS} (" not in line]
        inside = {f"--variant={name}" for name in self._furnished()}
        # A file that is sent on twice is sent to where it is read first, and from there to its signed address.
        twice = self._fact("attachment-download-type", "getAttachment", "redirects") == "2"
        innermost = f"--variant={_SIGNED}" if twice else ""
        options.sort(
            key=lambda option: (
                3 if option == innermost else 2 * (option in inside) or "extra-members" in option
            )
        )
        for clause, name, value in habits:
            options.append(f"--habit={name}={value}")
            lines.append(f"{clause}: {name} = {value}")
        lifetime = self._facts.get(("token-lifetime", "createToken"), {}).get("seconds", "")
        if lifetime.isdigit():
            options.append(f"--token-lifetime={lifetime}")
            lines.append(f"token-lifetime: {lifetime} seconds")
        return Imitation(tuple(options), tuple(lines), tuple(self._unread()))

    def _variants(self) -> Iterator[tuple[str, str, str]]:
        """The variants that are seen, each by its first sign, with the clause and what shows it there."""
        names: set[str] = set()
        for sign in _SIGNS:
            shown = None if names & {sign.variant, sign.unless} else self._seen(sign)
            if shown is not None:
                names.add(sign.variant)
                yield sign.variant, *shown

    def _seen(self, sign: _Sign) -> tuple[str, str] | None:
        """The clause where a sign is seen, and what was seen there, for people."""
        for (clause, operation), facts in self._facts.items():
            if not re.fullmatch(sign.clause, clause) or not re.fullmatch(sign.operation, operation):
                continue
            if sign.lacking and any(re.fullmatch(sign.lacking, name) for name in facts):
                continue
            for name, value in facts.items():
                if re.fullmatch(sign.fact, name) and re.fullmatch(sign.value, value):
                    return clause, f"{operation} {name}: {value or 'nothing'}"
        return None

    def _names(self, clause: str, operation: str) -> Iterator[str]:
        """The names of the facts of every clause and operation that the patterns fit."""
        for place, facts in self._facts.items():
            if re.fullmatch(clause, place[0]) and re.fullmatch(operation, place[1]):
                yield from facts

    def _fact(self, clause: str, operation: str, name: str) -> str:
        return self._facts.get((clause, operation), {}).get(name, "")

    def _habits(self) -> Iterator[tuple[str, str, str]]:
        """Clause, habit and value of each fact that is a figure or a name."""
        yield from self._statuses()
        yield from self._members()
        yield from self._defaults()

    def _statuses(self) -> Iterator[tuple[str, str, str]]:
        """Clause, habit and value of each fact that is a status."""
        statuses: dict[str, str] = {}
        any_type = re.fullmatch(_TAKEN, self._fact("content-type-other", "saveDraft", _OTHER_TYPE))
        for habit, places in _STATUSES.items():
            for place in places:
                if any_type and place[0] == "content-type-other":
                    continue  # it was read, and refused for something else
                match = _STATUS.fullmatch(self._without_faults(*place))
                if not match or not _fits(habit, match[1], faulty=match[2] is not None):
                    continue
                others = statuses.get("bad_request_status"), statuses.get("validation_status")
                if place == _SCHEMA and match[1] in others:
                    continue  # refused as what makes no sense or is faulty: a conflict is told otherwise
                bare = (
                    place[:2] == ("draft-success-status", "saveDraft")
                    and match[1] == "200"
                    and self._tells_of_nothing()
                )
                statuses[habit] = "204" if bare else match[1]
                yield place[0], habit, statuses[habit]
                break
        alike = {status for habit, status in statuses.items() if habit.startswith(_REFUSING)}
        if len(alike) == 1 and len(statuses) > _FEW:
            # Where every refusal that was seen has one status, so have those that were not.
            for habit in _STATUSES.keys() - statuses.keys():
                if habit.startswith(_REFUSING):
                    yield _STATUSES[habit][0][0], habit, next(iter(alike))

    def _tells_of_nothing(self) -> bool:
        """Whether faults of a draft are told beside an answer that is empty."""
        return self._fact("draft-save-answer", "saveDraft", "200 body.draft") == "null"

    def _without_faults(self, clause: str, operation: str, name: str) -> str:
        """A status, without that of faulty content where several were seen."""
        faulty = self._fact("errors-status", _CREATE, "seen").partition(" ")[0]
        seen = self._fact(clause, operation, name).split(OR)
        return OR.join(status for status in seen if len(seen) == 1 or status != faulty)

    def _by_comparison(self, habits: Mapping[str, str]) -> Iterator[tuple[str, str]]:
        """Clause and variant where a status tells something only beside those of other refusals."""
        missing, forbidden = habits.get("not_found_status"), habits.get("forbidden_status", _FORBIDDEN)
        seen = self._fact("draft-of-another", "getDraft", "seen")
        if re.fullmatch(r"4\d\d", seen):
            hidden = seen == missing != forbidden
            yield "draft-of-another", "others-drafts-hidden" if hidden else "others-drafts-refused"
        yield from self._beside_facts(habits)
        yield from self._lists_late()
        # What is no object is refused for its content, so that only its kind was of no account.
        array, invalid = self._fact("draft-save-body", "saveDraft", "array"), habits.get("validation_status")
        if array and array == invalid != habits.get("bad_request_status"):
            yield "draft-save-body", "draft-any-json"
        asked = self._fact("realm-header-against-query", "createWorkflowRecord", "unknown in the query")
        if asked and asked != habits.get("validation_status"):
            yield "realm-header-against-query", "realm-query-first"
        if self._order() == "other":
            yield "list-default-order", "list-scrambled"
        listed = self._fact("list-by-restricted", "listDrafts", "seen")
        nothing = self._fact("attachment-success-status", "listAttachments", "nothing left")
        if listed == forbidden != nothing:
            yield "list-by-restricted", "restricted-shut-out"
        elif listed in {missing, "404"}:
            # An account that may not create has no drafts.
            yield "list-by-restricted", "list-empty-404"
        if self._fact("attachment-of-another", "listAttachments", "seen") == forbidden != missing:
            yield "attachment-of-another", "attachments-private"
        yield from self._by_sign_in(habits)
        yield from self._realms(habits.get("bad_request_status", ""))
        yield from self._created_elsewhere(habits)

    def _realms(self, refused: str) -> Iterator[tuple[str, str]]:
        """Clause and variant where a realm of no use was passed over: what came of it is not how it is refused.

        Args:
            refused: The status with which a request that makes no sense is refused.
        """
        for clause, variant in _REALMS:
            if self._passes_over(clause, refused):
                yield clause, variant
        missing, elsewhere = self._fact(*_READ_ELSEWHERE), self._fact(*_IN_QUERY)
        if elsewhere != missing and re.fullmatch(_TAKEN, elsewhere):
            yield _IN_QUERY[0], "realm-in-any-query"

    def _created_elsewhere(self, habits: Mapping[str, str]) -> Iterator[tuple[str, str]]:
        """Clause and variant where an update without a realm of its own was judged by content in the default one."""
        seen = (
            [self._fact(*place) for place in _UPDATED_ELSEWHERE] if self._realm != DOCUMENT_REALMS[0] else []
        )
        invalid = habits.get("validation_status")
        if invalid in seen and invalid != habits.get("bad_request_status"):
            yield _UPDATED_ELSEWHERE[0][0], "contact-put-creates"

    def _lists_late(self) -> Iterator[tuple[str, str]]:
        """Clause and variant where what was just attached was not listed."""
        empty = self._facts.get(("attachment-empty-file", "createAttachment"), {})
        # Fewer than none is a list that cannot be read, such as one of nothing that is answered with a refusal.
        if empty.get("listed") in {"0", "-1"} and re.fullmatch(_TAKEN, empty.get("status", "")):
            yield "attachment-empty-file", "lists-late"
        made, listed = (
            self._fact("attachment-document-unknown", operation, "seen")
            for operation in ("createAttachment", "listAttachments")
        )
        lists = self._facts.get(("attachment-success-status", "listAttachments"), {})
        uploaded = self._fact("attachment-success-status", "createAttachment", "seen")
        on_draft = self._fact("attachment-failure-status", "createAttachment", "on a draft")
        if re.fullmatch(_TAKEN, uploaded) and lists and "seen" not in lists and not on_draft.isdigit():
            # No list ever showed what had been taken, nor was one spared for want of records that take files.
            yield "attachment-success-status", "lists-late"
        if re.fullmatch(_TAKEN, made) and listed == lists.get("nothing left", "") != lists.get("seen", ""):
            yield "attachment-document-unknown", "lists-late"

    def _by_sign_in(self, habits: Mapping[str, str]) -> Iterator[tuple[str, str]]:
        """Clause and variant where the status of a sign-in tells whether the credentials were read."""
        # Where wrong credentials are told to be wrong without the label of JSON, they were read.
        unlabelled = self._fact("content-type-missing", "createToken", "seen")
        labelled_otherwise = self._fact("content-type-other", "createToken", "nonsense")
        if unlabelled and unlabelled == habits.get("wrong_credentials_status") != labelled_otherwise:
            yield "content-type-missing", "content-type-optional"
        wrong = habits.get("wrong_credentials_status")
        saved = self._fact("content-type-other", "saveDraft", _OTHER_TYPE)
        if (
            labelled_otherwise
            and not saved
            and labelled_otherwise == wrong != habits.get("bad_request_status")
        ):
            yield "content-type-other", "content-type-any"
        # Where a refusal to sign in is a 200, it is no sign of a sign-in.
        if self._fact("token-email-letter-case", "createToken", "seen") == habits.get("token_status"):
            yield "token-email-letter-case", "email-any-case"

    def _members_of(self, clause: str) -> set[str]:
        """The members of the objects that successes of a clause answer with."""
        paths = (name for (of, _), values in self._facts.items() if of == clause for name in values)
        return {path.partition(" body.")[2] for path in paths}

    def _beside_facts(self, habits: Mapping[str, str]) -> Iterator[tuple[str, str]]:
        """Clause and variant where two observations together tell."""
        info = self._members_of("draft-info-answer")
        if info and not info & _FURNISHING and self._members_of("token-success-status") & _FURNISHING:
            yield "draft-info-answer", "reads-sent-on"
        if self._is_bare("contact-create-answer") and self._is_in_location():
            yield "contact-identifier-origin", "id-in-location"
        created = "contact-identifier-origin", "contact-success-status"
        origin, taken = (self._fact(clause, "createContact", "seen") for clause in created)
        if taken and origin == "none" and not self._fact(created[1], "updateContact", "seen"):
            # Its identifier is nowhere, the given one included, so that no contact could be updated.
            yield created[0], "contacts-minted"
        codes = any(path.endswith("errors[].code") for path in self._members_of("contact-update-answer"))
        # Where no contact could be updated, those of an account without rights were told of their content.
        faulty = self._fact("errors-status", _CREATE, "seen")
        judged = self._fact("contact-by-restricted", "createContact", "seen") == "200 errors"
        if (codes or (faulty and judged)) and not faulty.startswith("200"):
            yield "contact-update-answer" if codes else "contact-by-restricted", _TERMS_200
            if self._fact("errors-code-invalid-value", "createContact", "seen") == "Error.InvalidValue":
                yield "errors-code-invalid-value", "codes-coarse"
        yield from self._drafts_refused(habits)
        if self._is_unlisted():
            yield _PERSISTED_NAME[0], "attachment-id-not-listed"
        uids = self._facts.get(("uid-on-contact-create", "createContact"), {})
        if uids and uids.get("valid") == uids.get("without") != uids.get("invalid"):
            yield "uid-on-contact-create", "contact-uid-from-query"

    def _drafts_refused(self, habits: Mapping[str, str]) -> Iterator[tuple[str, str]]:
        """Clause and variant where drafts are refused for their content, or for another schema than before."""
        body = self._facts.get(("draft-save-body", "saveDraft"), {})
        faults_told = "draft" in self._members_of("draft-save-answer")
        # Without a realm a draft is one of the default realm, where the terms of its own one may be others.
        elsewhere = self._realm_is_optional() and re.fullmatch(_REFUSED, self._fact(*_DRAFT_ELSEWHERE))
        refused = body.get("taken.draft-get-content") == "false" or bool(elsewhere)
        # What is refused for its content may be answered as a success, but not as what is saved anew.
        invalid = habits.get("validation_status", "")
        if invalid not in (habits.get("bad_request_status"), habits.get("draft_created_status"), ""):
            saved = (_DRAFT_ELSEWHERE, ("realm-unknown-draft-save", "saveDraft", "seen"))
            refused |= invalid in (body.get("array"), *(self._fact(*place) for place in saved))
        if refused and not faults_told:
            yield "draft-save-body", "draft-valid-only"
            if body.get("taken.draft-values-kept") == "true":
                yield "draft-save-body", "unknown-fields-kept"
            return
        text_taken = body.get("taken.draft-text-kept") == "true"
        if text_taken and not body.get("taken.draft-values-kept") and not faults_told:
            # Values were saved in fields that no schema has.
            yield "draft-save-body", "draft-known-fields-only"
            return
        another = self._fact(*_SCHEMA)
        if not re.fullmatch(_REFUSED, another):
            return
        failures = self._facts.get(("draft-failure-status", "saveDraft"), {})
        faulty = any(re.fullmatch(r"4\d\d body\.\S*errors\[\]", name) for name in failures)
        # A draft without a schema would not agree with its header, either.
        agrees = another == habits.get("bad_request_status") and not re.fullmatch(
            _TAKEN, self._fact(*_NO_SCHEMA)
        )
        stays = "draft-schema-agrees" if agrees else "draft-schema-stays"
        yield "draft-save-schema-unknown", "draft-valid-only" if faulty else stays
        if faulty and body.get("taken.draft-values-kept") == "true":
            yield "draft-save-body", "unknown-fields-kept"

    def _furnished(self) -> Iterator[str]:
        """The variants whose answers the members that a service furnishes are added to, so that they stand inside."""
        if not self._members_of("draft-info-answer") & _FURNISHING:
            yield "reads-sent-on"
        submitted = self._members_of("workflow-answer")
        if submitted & _FURNISHING or any(
            f"workflow.{name}" in path for name in _FURNISHING for path in submitted
        ):
            yield "submissions-furnished"
        yield from (name for name, place in _HTTP_REFUSALS.items() if self._refusals_are_furnished(*place))

    def _refusals_are_furnished(self, clause: str, operation: str) -> bool:
        """Whether each refusal of an operation has the members that a service furnishes."""
        kinds = self._facts.get((clause, operation), {})
        bodies = [
            name for name, kind in kinds.items() if re.fullmatch(r"4\d\d body", name) and kind == "object"
        ]
        return all(
            any("optional" not in kinds.get(f"{body}.{member}", "optional") for member in _FURNISHING)
            for body in bodies
        )

    def _is_bare(self, clause: str) -> bool:
        """Whether what is made is answered without a body, though with a status that may have one."""
        written = self._facts.get((clause, _CREATING[clause]), {})
        # Beside an empty body there may be refusals that come with a status of success.
        return any(
            re.fullmatch(r"20[^4] body", name) and "empty" in value.split(OR)
            for name, value in written.items()
        )

    def _is_in_location(self) -> bool:
        """Whether an answer without a body told an identifier; no other place than the header is left for it."""
        read = self._fact("attachment-success-status", "getAttachment", "seen")
        named = self._fact("contact-identifier-origin", "createContact", "seen") in {"header", "given"}
        return named or bool(read and self._is_unlisted())

    def _is_unlisted(self) -> bool:
        """Whether a file that was kept without a word of its number was not found in the list."""
        kept = self._facts.get(("attachment-persist-answer", "persistTemporaryFile"), {})
        return "204 body" in kept and not self._fact(*_PERSISTED_NAME)

    def _members(self) -> Iterator[tuple[str, str, str]]:
        """Names of members, and whether there are any."""
        for clause in ("contact-create-answer", "attachment-create-answer"):
            if self._is_bare(clause) and not self._is_in_location():
                yield clause, "write_answers_record", "false"
                break
        holder = self._fact("draft-get-answer", "getDraft", "seen")
        if re.fullmatch(r"\w+", holder) and holder not in ("nowhere", _WRAPPING):
            yield "draft-get-answer", "draft_member", holder
        arrays = (re.fullmatch(r"20[06] body\.(\w+)\[\]", name) for name in self._names(*_LIST))
        held = {match[1] for match in arrays if match}
        if len(held) == 1 and not any(self._seen(sign) for sign in _SIGNS if sign.clause == _LIST[0]):
            yield "list-envelope", "list_member", held.pop()

    def _defaults(self) -> Iterator[tuple[str, str, str]]:
        """What counts where a request does not say."""
        if self._realm_is_optional():
            yield "realm-missing-draft", "realm_required", "false"
        if re.fullmatch(r"\d+ errors", self._fact("workflow-unknown-member", _NAMED, "unknown")):
            yield "workflow-unknown-member", "unknown_submission_members_refused", "false"
        disagreeing = (
            *_for_each("workflow-header-disagrees", _SUBMITTING, "seen"),
            *_for_each("contact-header-disagrees", "createContact updateContact", "schema"),
        )
        if any(self._fact(*place) == "false" for place in disagreeing):
            yield "workflow-header-disagrees", "header_schema_must_agree", "false"
        order = self._order()
        if "latest" in order:
            yield "list-default-order", "newest_first", "true"
        items = self._fact("list-default-page", "listDrafts", "items")
        if items.isdigit() and items != _FEWEST_PAGE:
            yield "list-default-page", "list_default_top", items

    def _order(self) -> str:
        """The order of a list without an ordering expression; pages of few drafts do not tell it."""
        return self._fact("list-default-order", "listDrafts", "order") or self._fact(
            "attachment-list-default", "listAttachments", "order"
        )

    def _realm_is_optional(self) -> bool:
        """Whether a request without a realm was not refused for that."""
        refused = next((status for _, habit, status in self._statuses() if habit == "bad_request_status"), "")
        return any(
            self._passes_over(clause, refused) for clause in ("realm-missing-draft", "realm-missing-contact")
        )

    def _passes_over(self, clause: str, refused: str) -> bool:
        """Whether some request of a clause about realms was not refused as one that makes no sense."""
        return any(
            _passed(status, refused)
            for (of, _), facts in self._facts.items()
            for name, status in facts.items()
            if of == clause and _OF_REALM.fullmatch(name)
        )

    def _unread(self) -> Iterator[str]:
        """Clauses that were observed and that nothing here reads."""
        clauses = {place[0] for places in _STATUSES.values() for place in places} | _READ_BESIDE
        for clause in sorted({clause for clause, _ in self._facts} - clauses):
            if not any(re.fullmatch(sign.clause, clause) for sign in _SIGNS):
                yield clause


def _fits(habit: str, status: str, *, faulty: bool) -> bool:
    """Whether a status can be that of a habit: of a refusal, of faulty content, or of a success."""
    if habit.startswith(_REFUSING):
        return status >= "400" and not faulty
    return (
        (faulty or status >= "400") if habit == "validation_status" else status < "300" or habit == _DELETED
    )


def _passed(seen: str, refused: str) -> bool:
    """Whether a request was not refused as one that makes no sense.

    Args:
        refused: The status of those that are; empty where none was seen.
    """
    return bool(re.fullmatch(_TAKEN, seen)) or bool(seen and refused and seen.partition(" ")[0] != refused)


def _text(value: Value) -> str:
    return value if isinstance(value, str) else OR.join(value)
