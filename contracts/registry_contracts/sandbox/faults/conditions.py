"""Conditions: when a fault acts.

Most are values of the factor table. The tests combine them in requests; here the sandbox recognises them in a request
and in its storage.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cache, partial
from typing import Final

from registry_contracts.errors import UsageError
from registry_contracts.interface.catalogue import Level, load_catalogue
from registry_contracts.interface.description import operations_with
from registry_contracts.interface.operations import WORKFLOW_REALMS
from registry_contracts.sandbox.faults import held
from registry_contracts.sandbox.faults.messages import Request, Where, given
from registry_contracts.sandbox.faults.places import (
    CONTACTS,
    KNOWN_REALM,
    NAMED_SUBMISSIONS,
    SUBMISSIONS,
    TYPES,
    kebab,
)
from registry_contracts.sandbox.http import Problem
from registry_contracts.sandbox.validation import CONTACT, Expectation, Kind

#: The fault acts from the n-th request on that meets all other conditions, counted for each identifier.
COUNTED: Final = ("from-2", "from-3")
_NAMED, _UPDATE = NAMED_SUBMISSIONS
#: So many members has a contact with all 26 fields but a few.
_NEARLY_ALL: Final = 20
_READS: Final = operations_with(family="draft", needs="draft", safe=True)
_WRITES: Final = operations_with(family="draft", safe=False)
_OF_FILES: Final = operations_with(family="attachment", needs="attachment")
_OF_DOCUMENTS: Final = tuple(name for name in operations_with(family="attachment") if name not in _OF_FILES)
_BY_UID: Final = (*_READS, *_WRITES, *_OF_DOCUMENTS)
#: Operations with factors; signing in has neither caller nor realm.
OPERATIONS: Final = (*SUBMISSIONS, *_READS, *_WRITES, "listDrafts", *_OF_DOCUMENTS, *_OF_FILES, *CONTACTS)


@dataclass(frozen=True)
class Condition:
    """A condition of a fault.

    Attributes:
        name: Follows the `@` of a fault's name.
        says: In words, after "where".
        acts: Whether a request meets it.
        factor: Its factor; empty for a condition outside the factor table.
        operations: Operations that have this value.
        refuses: Clauses that say that a request with it is refused.
        taken: Clauses that say that a request with it is accepted, beside those of every request.
        unlike: Clauses about requests with another value of the same factor.
        may: The document does not say whether a request with it is accepted.
    """

    name: str
    says: str
    acts: Callable[[Request], object]
    factor: str = ""
    operations: tuple[str, ...] = ()
    refuses: tuple[str, ...] = ()
    taken: tuple[str, ...] = ()
    unlike: tuple[str, ...] = ()
    may: bool = False

    def refusing(self, operation: str) -> tuple[str, ...]:
        """The must clauses that say that an operation refuses a request with it."""
        return musts(self.refuses, operation)


def musts(clauses: Iterable[str], operation: str = "") -> tuple[str, ...]:
    """The must clauses among some; only those that cover an operation, if one is given."""
    known = (load_catalogue().clause(name) for name in clauses)
    return tuple(
        c.id for c in known if c.level is Level.MUST and (not operation or operation in c.operations)
    )


def _invented(request: Request, *, half: bool) -> bool:
    """Whether a bearer token was never issued; `half`: it is the beginning of an issued one."""
    token, issued = request.bearer, request.memory.service.identity.issued
    if token is None or request.role:
        return False
    return half is (len(token) > 3 and any(text.startswith(token) for text in issued))


def problems_of(request: Request) -> list[Problem]:
    """What is wrong with the record that a request sends; nothing is known without a record, or under no schema."""
    kind = TYPES.get(request.realm, {}).get(request.text("schema") or "")
    if kind is None or not isinstance(request.record, dict):
        return []
    expected = Expectation(kind, request.uid or None, lambda _: True)
    return request.memory.service.validator.problems(request.record, expected)


def _faulty(request: Request) -> bool:
    """Whether every member of a document but its header is invalid by the schema."""
    wrong = {problem.path[0] for problem in problems_of(request)}
    return bool(wrong) and len(request.record) > 1 and wrong >= request.record.keys() - {"header"}


def _reordered(request: Request) -> bool:
    """Whether a member that usually comes first comes last, or the last name before the first."""
    names = list(request.member)
    named = [name for name in names if name in ("firstName", "lastName")]
    return len(names) > 1 and (names[-1] in ("document", "header") or named == ["lastName", "firstName"])


def _no_texts(request: Request) -> bool:
    emails = request.member.get("emails", [""])
    return not (isinstance(emails, list) and all(isinstance(email, str) for email in emails))


def _file(request: Request, *, of_other: bool = False) -> bool:
    """Whether a request names a file that does not exist; `of_other`: one of another document."""
    file = held.file_of(request)
    numbered = request.params.get("attachmentId", "").isdecimal()
    return numbered and (file is not None and file.identifier != request.uid if of_other else file is None)


def _text(name: str, least: int, most: int = 10**9) -> Where:
    """Make a test for bodies with a text of so many characters in a member."""
    return lambda r: isinstance(text := r.member.get(name), str) and least <= len(text) <= most


def _in(realm: str, request: Request) -> bool:
    return request.realm in ("", realm)


def _from(number: int, request: Request) -> bool:
    return request.memory.met_by_uid[request.uid] >= number


def _wrong_kind_at(name: str, at: int, request: Request) -> bool:
    """Whether only the item at a place of an array, or the text in a language, has a wrong kind."""
    value = request.member.get(name)
    items = list(value.values()) if isinstance(value, dict) else value
    if not isinstance(items, list) or len(items) < 2:
        return False
    return [place for place, item in enumerate(items) if isinstance(item, list)] == [at]


def _lacks(name: str, request: Request) -> bool:
    """Whether a member is missing although nearly all others are there."""
    return name not in request.member and len(request.member) >= _NEARLY_ALL


def _of_contacts() -> Iterator[Condition]:
    """A mandatory member is missing, or a value of a wrong kind follows valid ones."""
    of_contacts = partial(Condition, operations=CONTACTS)
    for name in (field.name for field in CONTACT.fields if field.mandatory):
        says, clause = f"{name} is missing beside every other member", f"contact-mandatory-{kebab(name)}"
        yield of_contacts(f"no_{name}_beside_all", says, partial(_lacks, name), refuses=(clause,))
    for field in CONTACT.fields:
        name, kind = field.name, (f"contact-kind-{kebab(field.name)}",)
        for at, place in ((1, "second"), (2, "last")) if field.many else ():
            says, acts = f"the {place} of {name} has a wrong kind", partial(_wrong_kind_at, name, at)
            yield of_contacts(f"{name}_{place}", says, acts, refuses=kind)
        if field.kind is Kind.LSTRING:
            says, acts = f"{name} has a wrong kind in its second language", partial(_wrong_kind_at, name, 1)
            yield of_contacts(f"{name}_in_french", says, acts, refuses=kind)


# fmt: off
_ABSENT, _DELETED = ("draft-exists-absent",), ("draft-delete-removes", "draft-delete-content-gone")
_TOKEN: Final = tuple(c.id for c in load_catalogue() if c.id.endswith(("-needs-token", "workflow-anonymous")))
_NEVER_ISSUED: Final = ("workflow-invalid-token", "token-invalid-refused")


_VALUES: Final[Mapping[str, tuple[tuple[str, ...], tuple[Condition, ...]]]] = {
    "state": ((_NAMED, _UPDATE, *_READS, *_WRITES, *_OF_FILES), (
        Condition("free", "the identifier is free", lambda r: not held.there(r),
            operations=(_NAMED, "saveDraft"),
            unlike=("draft-save-updates",)),
        Condition("open", "the record is not locked", lambda r: held.there(r) and not r.held.is_locked(*r.key),
            operations=(_UPDATE,)),
        Condition("saved", "the draft is there", lambda r: held.draft_of(r) is not None,
            operations=(*_READS, *_WRITES), unlike=("draft-save-creates",)),
        Condition("own_file", "the file belongs to the document",
            lambda r: (file := held.file_of(r)) is not None and file.identifier == r.uid, operations=_OF_FILES),
        Condition("in_use", "the identifier is in use", held.there,
            refuses=("workflow-identifier-taken", "workflow-order-taken-before-validation", "workflow-created-exists")),
        Condition("unknown", "there is no such record", lambda r: not held.there(r),
            refuses=("workflow-identifier-unknown", "workflow-order-unknown-before-validation")),
        Condition("locked", "the record is locked", lambda r: r.held.is_locked(*r.key),
            refuses=("workflow-locked-record", "workflow-order-locked-before-validation")),
        Condition("never_saved", "no draft was saved",
            lambda r: held.without_draft(r) and r.uid not in r.memory.deleted, operations=_READS, refuses=_ABSENT),
        Condition("deleted", "the draft was deleted", lambda r: held.without_draft(r) and r.uid in r.memory.deleted
                and r.memory.deleted[r.uid].realm == r.realm,
            operations=_READS, refuses=_DELETED),
        Condition("only_elsewhere", "only another realm has the draft",
            partial(held.only, "other_realm"), operations=_READS, refuses=("realm-drafts-apart",)),
        Condition("only_twin", "only a draft with another letter case exists",
            partial(held.only, "twin"), operations=_READS, refuses=("uid-case-sensitive",)),
        Condition("only_longer", "a draft has a longer uid that begins with it",
            partial(held.only, "beginning"), operations=_READS, refuses=_ABSENT),
        Condition("only_shorter", "a draft has a shorter uid that begins it",
            partial(held.only, "going_on"), operations=_READS, refuses=_ABSENT),
        Condition("no_such_file", "the document has no such file", _file, refuses=("attachment-exists-absent",)),
        Condition("file_of_another", "the file belongs to another document", lambda r: _file(r, of_other=True),
            refuses=("attachment-exists-other-document",)),
    )),
    "caller": (OPERATIONS, (
        Condition("author", "the author calls", given("role~^author$")),
        Condition("caller_other", "another author calls", given("role~^other$")),
        Condition("caller_nau", "the caller is NAU", given("role~^nau$")),
        Condition("caller_restricted", "the caller may neither create nor update", given("role~^restricted$"),
            refuses=("workflow-create-rights", "workflow-update-rights")),
        Condition("anonymous", "no token is sent", given("-authorization~."), refuses=_TOKEN),
        Condition("token_invented", "the token was never issued", lambda r: _invented(r, half=False),
            refuses=_NEVER_ISSUED),
        Condition("token_half", "half of a token is sent", lambda r: _invented(r, half=True), refuses=_NEVER_ISSUED),
    )),
    "realm": (tuple(name for name in OPERATIONS if name not in (*_OF_DOCUMENTS, *_OF_FILES)), (
        Condition("header", "the header gives the realm", given(f"realm~{KNOWN_REALM} -Realm")),
        Condition("realm_in_query", "the query gives the realm", given(f"-realm Realm~{KNOWN_REALM}"),
            operations=SUBMISSIONS, taken=("realm-query",)),
        Condition("realm_twice", "header and query give the realm", given(f"realm~{KNOWN_REALM} Realm~{KNOWN_REALM}"),
            operations=SUBMISSIONS),
        Condition("realm_missing", "no realm is given", given("-realm -Realm"), refuses=("workflow-realm-missing",)),
        Condition("realm_unknown", "the realm is unknown", given(f"realm~. -realm~{KNOWN_REALM}"),
            refuses=("workflow-realm-unknown",)),
        Condition("realm_unknown_in_query", "the query gives an unknown realm",
            given(f"-realm Realm~. -Realm~{KNOWN_REALM}"), refuses=("realm-query-unknown",)),
    )),
    "schema": (SUBMISSIONS, (
        Condition("configured", "the schema is configured", lambda r: r.text("schema") in TYPES.get(r.realm, ())),
        Condition("schema_unknown", "the schema is unknown",
            lambda r: r.realm in TYPES and r.text("schema") not in TYPES[r.realm],
            refuses=("workflow-schema-unknown",)),
    )),
    "identifier": ((_NAMED, _UPDATE, *_BY_UID), (
        Condition("ordinary", "the identifier is ordinary", given(r"uid~^[\w-]{12,127}\Z -path~% -uid~^[0-9_-]+\Z")),
        Condition("uid_of_11", "the identifier has 11 characters", given(r"uid~^[\w-]{11}\Z"), operations=_BY_UID,
            taken=("uid-shortest", "uid-any-kind", "uid-files-at-the-edges")),
        Condition("uid_of_128", "the identifier has 128 characters", given(r"uid~^[\w-]{128}\Z"), may=True,
            taken=("uid-longest", "uid-any-kind", "uid-files-at-the-edges")),
        Condition("uid_of_digits", "the identifier has only digits and signs", given(r"uid~^[0-9_-]{11,128}\Z"),
            operations=_BY_UID, taken=("uid-digits-only", "uid-hyphens-only", "uid-any-kind")),
        Condition("uid_of_record", "the document has no draft", held.has_no_draft, operations=("listAttachments",)),
        Condition("uid_encoded", "the identifier is percent-encoded", given(r"path~% uid~^[\w-]{11,128}\Z"), may=True),
    )),
    "form": ((*SUBMISSIONS, "saveDraft", *CONTACTS), (
        Condition("compact", "the body is plain",
            lambda r: not _reordered(r) and "charset" not in r.header("content-type")),
        Condition("charset", "the content type has a charset", given("content-type~(?i)charset"), may=True),
        Condition("reordered", "the members are in reverse order", _reordered),
    )),
    "body": ((*SUBMISSIONS, *CONTACTS), (
        Condition("valid", "the content is valid", lambda r: not _faulty(r)),
        Condition("faulty", "every member has a wrong kind", _faulty, refuses=("workflow-document-validated",)),
        Condition("no_document", "the document is missing", given("json~^{ -json~\"document\":"),
            refuses=("workflow-document-missing",)),
        Condition("no_last_name", "the last name is missing", lambda r: r.member.keys() >= {"firstName"}
            and "lastName" not in r.member, refuses=("contact-mandatory-last-name",)),
        Condition("emails_no_array", "emails holds no texts", _no_texts, refuses=("contact-kind-emails",)),
        *_of_contacts(),
    )),
    "batch": (SUBMISSIONS, (
        Condition("no_batch", "no batchId is given", lambda r: "batchId" not in r.member),
        Condition("batch", "a batchId is given", _text("batchId", 1, 99), taken=("workflow-batch-shared",)),
        Condition("batch_longest", "the batchId has 100 characters", _text("batchId", 100, 100),
            taken=("workflow-batch-longest", "workflow-batch-characters")),
        Condition("batch_too_long", "the batchId has 101 characters", _text("batchId", 101),
            refuses=("workflow-batch-too-long",)),
    )),
    "info": (SUBMISSIONS, (
        Condition("no_info", "no additionalInfo is given", lambda r: "additionalInfo" not in r.member),
        Condition("info_too_long", "the additionalInfo has 1001 characters", _text("additionalInfo", 1001),
            refuses=("workflow-info-too-long",)),
    )),
    "question": (("listDrafts",), (
        Condition("list_all", "all drafts are listed", lambda r: not r.options),
        Condition("list_my", "the collection is my", given("collection~^my$")),
        Condition("list_mydrafts", "the collection is mydrafts", given("collection~^mydrafts$")),
        Condition("list_top", "$top is given", given("top -skip")),
        Condition("list_page", "$top and $skip are given", given("top skip")),
    )),
    "file": (("createAttachment",), (
        Condition("text", "the file name is an ordinary one", given(r"filename~^[\w-]+[.][a-z]+\Z")),
        Condition("file_without_extension", "the file name has no extension", given("-filename~[.]"), may=True),
        Condition("file_of_dots", "the file name has several dots", given(r"filename~[.].*[.]"), may=True),
        Condition("file_in_capitals", "the file name has an extension in capitals", given(r"filename~[.][A-Z]+\Z"),
            may=True),
        Condition("file_of_spaces", "the file name has spaces", given(r"filename~[\x20]"), may=True),
        Condition("file_of_signs", "the file name has signs of addresses", given("filename~[+&%;#]"), may=True),
        Condition("file_of_quotes", "the file name has quotes", given("filename~[\"']"), may=True),
        Condition("file_in_other_script", "the file name is in another script",
            lambda r: not r.params["filename"].isascii(), may=True),
    )),
    "bytes": (("createAttachment",), (
        Condition("words", "the file has words", lambda r: r.body.isascii() and r.body[:1].isalpha()),
        Condition("file_empty", "the file is empty", lambda r: not r.body, may=True),
        Condition("all_bytes", "the file has bytes of every value", lambda r: len({*r.body}) == 256),
        Condition("like_json", "the file looks like JSON", lambda r: r.body[:1] in (b"{", b"[")),
        Condition("picture", "the file is a picture", lambda r: r.body.startswith(b"\x89PNG"), may=True),
    )),
    "length": (("createAttachment",), (
        Condition("announced", "the length of the file is announced", given("content-length~.")),
        Condition("chunked", "the length of the file is not announced", given("-content-length~."), may=True),
    )),
}
_OWN: Final = (
    *(Condition(f"in-{realm}", f"the realm is {realm}", partial(_in, realm))
        for realm in WORKFLOW_REALMS),
    *(Condition(name, f"it is request {name[-1]} or later of an identifier",
        partial(_from, int(name[-1])), unlike=("draft-save-creates",),
        taken=("attachment-several",)) for name in COUNTED),
)
# fmt: on
_ROWS: Final = (
    *(
        replace(value, factor=factor, operations=value.operations or operations)
        for factor, (operations, values) in _VALUES.items()
        for value in values
    ),
    *_OWN,
)
CONDITIONS: Final[Mapping[str, Condition]] = {row.name: row for row in _ROWS}


@cache
def table(operation: str) -> dict[str, tuple[Condition, ...]]:
    """The factors of an operation, each with its values; the plain value comes first."""
    found: dict[str, tuple[Condition, ...]] = {}
    for row in _ROWS:
        if operation in row.operations and (not row.refuses or row.refusing(operation)):
            found[row.factor] = (*found.get(row.factor, ()), row)
    return found


def conditions_of(name: str) -> list[Condition]:
    """Read conditions with `+` between; none where the fault always acts.

    Raises:
        UsageError: there is none of this name.
    """
    parts = name.split("+") if name else []
    if unknown := [part for part in parts if part not in CONDITIONS]:
        raise UsageError(f"unknown condition '{unknown[0]}' of a fault; there are {', '.join(CONDITIONS)}")
    return [CONDITIONS[part] for part in parts]
