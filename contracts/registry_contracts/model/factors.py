"""The factor table: every factor of a request in the interface document, as data.

One value of each factor is plain: it changes nothing. A refusing value names its clauses; the one that covers the
operation counts. For a value with `may`, the document does not say whether the request is accepted. If another value
also refuses the request, the service may name either reason.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cache
from typing import Final

from registry_contracts.interface.catalogue import Level, load_catalogue
from registry_contracts.interface.description import operations_with
from registry_contracts.model.dictionary import FILE_NAMES, PLACES_BY_LANGUAGE, TEXTS

CREATE, CREATE_NAMED, UPDATE = (
    "createWorkflowRecord",
    "createWorkflowRecordWithIdentifier",
    "updateWorkflowRecord",
)
WORKFLOW: Final = operations_with(family="workflow")
READS: Final = operations_with(family="draft", needs="draft", safe=True)
DRAFT_WRITES: Final = operations_with(family="draft", safe=False)
OF_FILES: Final = operations_with(family="attachment", needs="attachment")
OF_DOCUMENTS: Final = tuple(name for name in operations_with(family="attachment") if name not in OF_FILES)
CONTACTS: Final = operations_with(family="contact")
#: Operations whose accepted requests leave a permanent record, or whose effect cannot be read back.
STAYING: Final = (*WORKFLOW, "updateContact")
#: Operations in the table; signing in has no caller and no realm.
OPERATIONS: Final = (*WORKFLOW, *READS, *DRAFT_WRITES, "listDrafts", *OF_DOCUMENTS, *OF_FILES, *CONTACTS)
_WITH_JSON: Final = (*WORKFLOW, "saveDraft", *CONTACTS)
BY_UID: Final = (*READS, *DRAFT_WRITES, *OF_DOCUMENTS)

_NEEDS_TOKEN: Final = (
    "workflow-anonymous",
    *(f"draft-{word}-needs-token" for word in ("save", "get", "info", "exists", "delete")),
    *(f"attachment-{word}-needs-token" for word in ("create", "persist", "list")),
    *("list-needs-token", "contact-create-needs-token", "contact-update-needs-token"),
)
_NEVER_ISSUED: Final = ("workflow-invalid-token", "token-invalid-refused")
ABSENT: Final = ("draft-exists-absent", "draft-get-absent", "draft-info-absent")
DELETED: Final = ("draft-delete-removes", "draft-delete-content-gone", "draft-info-absent")


def covering(clauses: Iterable[str], operation: str) -> str:
    """The first of some clauses that covers an operation; empty if none does."""
    catalogue = load_catalogue()
    return next((name for name in clauses if operation in catalogue.clause(name).operations), "")


def is_must(clause: str) -> bool:
    """Whether a clause is a MUST."""
    return load_catalogue().clause(clause).level is Level.MUST


@dataclass(frozen=True)
class Value:
    """One value of a factor.

    Attributes:
        name: Used in row ids; unique in the table of an operation.
        words: For a finding, after "where".
        refuses: Clauses by which a request with it is refused.
        may: The document does not say whether a request with it is accepted.
        rights: The caller may lack rights and be refused for that.
        once: It resembles others, so it gets one row instead of all pairs.
        fault: The fault in the content, in the catalogue's notation; empty for none.
        operations: Operations that have it; empty for all of its factor.
    """

    name: str
    words: str = ""
    refuses: tuple[str, ...] = ()
    may: bool = False
    rights: bool = False
    once: bool = False
    fault: str = ""
    operations: tuple[str, ...] = ()

    def clause(self, operation: str) -> str:
        """The MUST by which a request of an operation with this value is refused; empty if there is none."""
        return covering(filter(is_must, self.refuses), operation)


@dataclass(frozen=True)
class Factor:
    """A factor of a request. The first value that an operation has is plain."""

    name: str
    operations: tuple[str, ...]
    values: tuple[Value, ...]

    def of(self, operation: str) -> tuple[Value, ...]:
        """The values that an operation has, except refusing ones without a MUST for it."""
        here = [each for each in self.values if operation in (each.operations or self.operations)]
        return tuple(each for each in here if not each.refuses or each.clause(operation))


CALLER: Final = Factor(
    "caller",
    OPERATIONS,
    (
        Value("author"),
        Value("caller_other", "another author calls", rights=True),
        Value("caller_nau", "the caller is NAU", rights=True),
        Value(
            "caller_restricted",
            "the caller may neither create nor update",
            ("workflow-create-rights", "workflow-update-rights"),
        ),
        Value("anonymous", "no token is sent", _NEEDS_TOKEN),
        Value("token_invented", "the token was never issued", _NEVER_ISSUED),
        Value("token_half", "half of a token is sent", _NEVER_ISSUED, once=True),
    ),
)
#: Callers without a valid token.
CREDENTIALS: Final = ("anonymous", "token_invented", "token_half")
REALM: Final = Factor(
    "realm",
    tuple(name for name in OPERATIONS if name not in (*OF_DOCUMENTS, *OF_FILES)),
    (
        Value("header"),
        Value("realm_in_query", "the query gives the realm", operations=WORKFLOW),
        Value("realm_twice", "header and query give the realm", operations=WORKFLOW),
        Value("realm_missing", "no realm is given", ("workflow-realm-missing",)),
        Value("realm_unknown", "the realm is unknown", ("workflow-realm-unknown",)),
        Value("realm_unknown_in_query", "the query gives an unknown realm", ("realm-query-unknown",)),
    ),
)
SCHEMA: Final = Factor(
    "schema",
    WORKFLOW,
    (Value("configured"), Value("schema_unknown", "the schema is unknown", ("workflow-schema-unknown",))),
)
STATE: Final = Factor(
    "state",
    (CREATE_NAMED, UPDATE, *READS, *DRAFT_WRITES, *OF_FILES),
    (
        Value("free", operations=(CREATE_NAMED, "saveDraft")),
        Value("open", operations=(UPDATE,)),
        Value("saved", "a draft is there", operations=(*READS, *DRAFT_WRITES)),
        Value("own_file", operations=OF_FILES),
        Value("in_use", "the identifier is in use", ("workflow-order-taken-before-validation",)),
        Value("unknown", "there is no such record", ("workflow-order-unknown-before-validation",)),
        Value("locked", "the record is locked", ("workflow-order-locked-before-validation",)),
        Value("never_saved", "no draft was saved", ABSENT, operations=READS),
        Value(
            "deleted",
            "the draft was deleted",
            DELETED,
            operations=READS,
        ),
        Value(
            "only_elsewhere", "the draft is one of another realm", ("realm-drafts-apart",), operations=READS
        ),
        Value(
            "only_twin", "a draft has the uid in other letter case", ("uid-case-sensitive",), operations=READS
        ),
        Value("only_longer", "a draft has a uid that goes on", ABSENT, operations=READS),
        Value("only_shorter", "a draft has the beginning of the uid", ABSENT, operations=READS),
        Value(
            "no_such_file",
            "the document has no such file",
            ("attachment-exists-absent", "attachment-get-absent", "attachment-thumbnail-absent"),
        ),
        Value(
            "file_of_another",
            "the file is another document's",
            tuple(f"attachment-{word}-other-document" for word in ("exists", "get", "thumbnail")),
        ),
    ),
)
#: States in which a faulty document is sent: the state is checked first, and a service that ignores it changes nothing.
STATE_FIRST: Final = ("in_use", "unknown", "locked")
#: States without a draft under the uid that is read.
ABSENT_STATES: Final = (
    "never_saved",
    "deleted",
    "only_elsewhere",
    "only_twin",
    "only_longer",
    "only_shorter",
)
#: States with an existing record, whose identifier cannot be chosen.
GIVEN_IDENTIFIER: Final = ("in_use", "locked", "open", *ABSENT_STATES[3:])
IDENTIFIER: Final = Factor(
    "identifier",
    (CREATE_NAMED, UPDATE, *BY_UID),
    (
        Value("ordinary"),
        Value("uid_of_11", "the identifier has 11 characters", operations=BY_UID),
        Value("uid_of_128", "the identifier has 128 characters", operations=BY_UID),
        # The rule is given for uids, not for the identifiers of submissions.
        Value("uid_of_128", "the identifier has 128 characters", may=True, operations=(CREATE_NAMED, UPDATE)),
        Value("uid_of_digits", "the identifier is of digits and signs", operations=BY_UID),
        Value("uid_of_record", "the document has no draft", operations=("listAttachments",)),
        Value("uid_encoded", "the identifier is percent-encoded", may=True),
    ),
)
FORM: Final = Factor(
    "form",
    _WITH_JSON,
    (
        Value("compact"),
        Value("charset", "the content type has a charset", may=True),
        Value("reordered", "the members are in reverse order"),
    ),
)
#: Members of a contact that are arrays.
ARRAYS: Final = ("phones", "faxes", "emails", "websites", "relevantDocuments")


#: Value of the body → the one mandatory member of a contact that it lacks.
LACKING: Final = {
    f"no_{name}_beside_all": name
    for name in (
        *("firstName", "lastName", "organization", "country"),
        *("emails", "type", "contactOrganization"),
    )
}


def _in_clauses(member: str) -> str:
    """A member's name in clause ids."""
    return re.sub("[A-Z]", lambda found: f"-{found[0].lower()}", member)


def _lacking() -> Iterator[Value]:
    """Bodies that lack one mandatory member and have all others."""
    for value, name in LACKING.items():
        clauses, fault = (f"contact-mandatory-{_in_clauses(name)}",), f"body.{name}:missing"
        words = f"{name} is missing and every other member is there"
        yield Value(value, words, clauses, once=True, fault=fault, operations=CONTACTS)


def _later_elements() -> Iterator[Value]:
    """A wrong type after valid values: in the second and last element of an array, and in a second language."""

    def value(name: str, place: str, words: str, step: str) -> Value:
        clauses, fault = (f"contact-kind-{_in_clauses(name)}",), f"body.{name}.{step}:wrong-kind"
        return Value(f"{name}_{place}", words, clauses, once=True, fault=fault, operations=CONTACTS)

    for name in ARRAYS:
        for at, place in enumerate(("second", "last"), 1):
            yield value(name, place, f"the {place} of {name} has a wrong kind", str(at))
    for name in PLACES_BY_LANGUAGE:
        yield value(name, "in_french", f"{name} has a wrong kind in its second language", "fr")


BODY: Final = Factor(
    "body",
    (*WORKFLOW, *CONTACTS),
    (
        Value("valid"),
        Value(
            "faulty", "every member has a wrong kind", ("workflow-document-validated",), fault="body.document"
        ),
        Value("no_document", "the document is missing", ("workflow-document-missing",)),
        Value(
            "no_last_name",
            "the last name is missing",
            ("contact-mandatory-last-name",),
            fault="body.lastName:missing",
        ),
        Value(
            "emails_no_array",
            "emails holds no texts",
            ("contact-kind-emails",),
            fault="body.emails:wrong-kind",
        ),
        *_lacking(),
        *_later_elements(),
    ),
)
BATCH: Final = Factor(
    "batch",
    WORKFLOW,
    (
        Value("no_batch"),
        Value("batch", "a batchId is given"),
        Value("batch_longest", "the batchId has 100 characters"),
        Value("batch_too_long", "the batchId has 101 characters", ("workflow-batch-too-long",)),
    ),
)
#: No short one: only the NAU account may send it, and with another reason it would hide that the service ignored that.
INFO: Final = Factor(
    "info",
    WORKFLOW,
    (
        Value("no_info"),
        Value("info_too_long", "the additionalInfo has 1001 characters", ("workflow-info-too-long",)),
    ),
)
QUESTION: Final = Factor(
    "question",
    ("listDrafts",),
    (
        Value("list_all"),
        Value("list_my", "the collection is my"),
        Value("list_mydrafts", "the collection is mydrafts"),
        Value("list_top", "$top is given"),
        Value("list_page", "$top and $skip are given"),
    ),
)
FILE: Final = Factor(
    "file",
    ("createAttachment",),
    (
        Value("text"),
        *(Value(name, words, may=True) for name, (words, _) in FILE_NAMES.items()),
    ),
)
#: The content of a draft: each of the last values has every class of texts, rotated over the members.
CONTENT: Final = Factor(
    "content",
    ("saveDraft",),
    (
        Value("every_field"),
        Value("mandatory_fields", "it has the mandatory fields only"),
        Value("accents_only", "of its letters only some with accents are not English", may=True),
        *(
            Value(f"texts_{turn}", f"its texts are troublesome (turn {turn})", may=True)
            for turn in range(len(TEXTS))
        ),
    ),
)
BYTES: Final = Factor(
    "bytes",
    ("createAttachment",),
    (
        Value("words"),
        Value("file_empty", "the file is empty", may=True),
        Value("all_bytes", "the file has bytes of every value"),
        Value("like_json", "the file looks like JSON"),
        Value("picture", "the file is a picture", may=True),
    ),
)
LENGTH: Final = Factor(
    "length",
    ("createAttachment",),
    (Value("announced"), Value("chunked", "the length of the file is not announced", may=True)),
)
FACTORS: Final = (
    *(STATE, CALLER, REALM, SCHEMA, IDENTIFIER, FORM, BODY, BATCH, INFO, QUESTION),
    *(CONTENT, FILE, BYTES, LENGTH),
)


@cache
def table(operation: str) -> dict[str, tuple[Value, ...]]:
    """The factors of an operation with their values, the plain one first."""
    return {each.name: each.of(operation) for each in FACTORS if operation in each.operations}


@cache
def value_named(operation: str, name: str) -> Value:
    """A value of an operation by its name."""
    return next(each for values in table(operation).values() for each in values if each.name == name)


def refusing(operation: str) -> Iterator[tuple[str, Value]]:
    """Each refusing value of an operation, with its factor."""
    for factor, values in table(operation).items():
        yield from ((factor, each) for each in values if each.refuses)


#: How a changed draft can resemble another one, which must stay unchanged; the first is plain.
RELATIONS: Final = {
    "unrelated": "",
    "equal_content": "both have the same content",
    "twin": "their uids differ in letter case only",
    "beginning": "its uid is the beginning of the other's",
    "going_on": "its uid goes on behind the other's",
    "lookalike": "its uid has an underscore where the other has a letter",
    "other_realm": "it has the same uid in another realm",
    "of_other_account": "the other is of another account and has the same content",
}
#: What is done to it → the operation.
DEEDS: Final = {"save": "saveDraft", "save_again": "saveDraft", "delete": "deleteDraft"}
DELETE_ABSENT: Final = "delete_absent"
#: Relations by identifier only; a draft that does not exist can have no others.
OF_IDENTIFIERS: Final = ("twin", "beginning", "going_on", "lookalike", "other_realm")
#: How an uploaded file can resemble one of another document.
FILE_RELATIONS: Final = {
    "same_name": "the files have the same name",
    "same_content": "the files have the same content",
    "same_file": "the files have the same name and content",
    "name_goes_on": "its name goes on behind the other's",
    "on_twin": "the uids of the documents differ in letter case only",
    "on_lookalike": "the uid of its document has an underscore where the other has a letter",
}


def clause_of_neighbours(deed: str, relation: str) -> str:
    """The clause that protects a draft when a similar one is changed."""
    apart = {"twin": "uid-case-sensitive", "other_realm": "realm-drafts-apart"}
    word = "delete" if deed == DELETE_ABSENT or DEEDS[deed] == "deleteDraft" else "save"
    return apart.get(relation, f"draft-{word}-spares-others")
