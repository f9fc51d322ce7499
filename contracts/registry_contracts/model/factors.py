"""The factor table: every circumstance of a request that the interface document speaks of, as data.

One value of each factor is plain: it changes nothing. A value that refuses names the clauses that say so; the one that
covers the operation counts. Of a value that `may` refuse, the document does not say whether a request with it is
accepted. If another value refuses the request as well, the service may name either reason.
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
#: Operations whose rows the table makes; signing in has no caller and no realm.
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
    """The first of some clauses that covers an operation; empty where none does."""
    catalogue = load_catalogue()
    return next((name for name in clauses if operation in catalogue.clause(name).operations), "")


def is_must(clause: str) -> bool:
    """Whether a clause is a must."""
    return load_catalogue().clause(clause).level is Level.MUST


@dataclass(frozen=True)
class Value:
    """One value of a factor.

    Attributes:
        name: As in the ids of rows; unique in the table of an operation.
        words: For a finding, behind "where".
        refuses: Clauses by which a request with it is refused.
        may: Whether a request with it is taken is not shown.
        rights: It may lack the right to what it asks for, and be told so.
        once: It resembles others, so one row is made for it instead of all pairs.
        fault: What it does to the content, in the catalogue's notation; empty for nothing.
        operations: Those that have it; none for all of its factor.
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
        """The must clause by which a request of an operation with this value is refused; empty where none says so."""
        return covering(filter(is_must, self.refuses), operation)


@dataclass(frozen=True)
class Factor:
    """A circumstance of a request. The first of its values that an operation has is plain."""

    name: str
    operations: tuple[str, ...]
    values: tuple[Value, ...]

    def of(self, operation: str) -> tuple[Value, ...]:
        """The values that an operation has, but for those of which nothing is promised there."""
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
#: Callers that are nobody.
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
#: States in which a faulty document is sent: the state comes first, and a service that passes it over changes nothing.
TOLD_FIRST: Final = ("in_use", "unknown", "locked")
#: States in which there is no draft under the uid that is read.
ABSENT_STATES: Final = (
    "never_saved",
    "deleted",
    "only_elsewhere",
    "only_twin",
    "only_longer",
    "only_shorter",
)
#: States in which the record is one that is there: its identifier has the form that it has.
GIVEN_IDENTIFIER: Final = ("in_use", "locked", "open", *ABSENT_STATES[3:])
IDENTIFIER: Final = Factor(
    "identifier",
    (CREATE_NAMED, UPDATE, *BY_UID),
    (
        Value("ordinary"),
        Value("uid_of_11", "the identifier has 11 characters", operations=BY_UID),
        Value("uid_of_128", "the identifier has 128 characters", may=True),
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


#: Mandatory members of a contact, by the value of the body that lacks the one and has all others.
LACKING: Final = {
    f"no_{name}_beside_all": name
    for name in (
        *("firstName", "lastName", "organization", "country"),
        *("emails", "type", "contactOrganization"),
    )
}


def _in_clauses(member: str) -> str:
    """The name of a member as clauses have it."""
    return re.sub("[A-Z]", lambda found: f"-{found[0].lower()}", member)


def _lacking() -> Iterator[Value]:
    """Every member of a contact but a mandatory one."""
    for value, name in LACKING.items():
        clauses, fault = (f"contact-mandatory-{_in_clauses(name)}",), f"body.{name}:missing"
        words = f"{name} is missing beside every other member"
        yield Value(value, words, clauses, once=True, fault=fault, operations=CONTACTS)


def _later_elements() -> Iterator[Value]:
    """A wrong kind behind right ones: at the second element and at the last of an array, and in a second language."""

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
#: A short one is taken from the NAU account alone, and beside a reason it would hide that this was passed over.
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
#: What is sent in a draft: each of the last ones has every class of texts, each time at another place.
CONTENT: Final = Factor(
    "content",
    ("saveDraft",),
    (
        Value("every_field"),
        Value("mandatory_fields", "it has the mandatory fields only"),
        Value("accents_only", "of its letters only some with accents are not English"),
        *(Value(f"texts_{turn}", f"its texts are troublesome (turn {turn})") for turn in range(len(TEXTS))),
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
        Value("picture", "the file is a picture"),
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
    """The factors of an operation, each with its values there, the plain one first."""
    return {each.name: each.of(operation) for each in FACTORS if operation in each.operations}


@cache
def value_named(operation: str, name: str) -> Value:
    """A value of an operation by its name."""
    return next(each for values in table(operation).values() for each in values if each.name == name)


def refusing(operation: str) -> Iterator[tuple[str, Value]]:
    """Each value for which requests of an operation are refused, with its factor."""
    for factor, values in table(operation).items():
        yield from ((factor, each) for each in values if each.refuses)


#: How a draft that something is done to can be near another one, which has to stay as it was; the first is plain.
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
#: What is done to it, with the operation.
DEEDS: Final = {"save": "saveDraft", "save_again": "saveDraft", "delete": "deleteDraft"}
DELETE_ABSENT: Final = "delete_absent"
#: Relations by the identifier alone: all that a draft can have which is not there.
OF_IDENTIFIERS: Final = ("twin", "beginning", "going_on", "lookalike", "other_realm")
#: How a file that is sent can be near one of another document.
FILE_RELATIONS: Final = {
    "same_name": "the files have the same name",
    "same_content": "the files have the same content",
    "same_file": "the files have the same name and content",
    "name_goes_on": "its name goes on behind the other's",
    "on_twin": "the uids of the documents differ in letter case only",
    "on_lookalike": "the uid of its document has an underscore where the other has a letter",
}


def clause_of_neighbours(deed: str, relation: str) -> str:
    """The clause by which something done to a draft leaves one alone that is near it."""
    apart = {"twin": "uid-case-sensitive", "other_realm": "realm-drafts-apart"}
    word = "delete" if deed == DELETE_ABSENT or DEEDS[deed] == "deleteDraft" else "save"
    return apart.get(relation, f"draft-{word}-spares-others")
