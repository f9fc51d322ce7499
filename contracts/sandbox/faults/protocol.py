"""Faults of HTTP and of realms: where a service breaks or hangs, answers as a whole, headers, secrets, realms."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from functools import partial
from itertools import product
from typing import Any, Final

from msgspec import structs

from contracts.interface.catalogue import load_catalogue
from contracts.sandbox.faults import effects as do
from contracts.sandbox.faults.conditions import NO_CONDITION, OFTEN
from contracts.sandbox.faults.effects import BROKEN
from contracts.sandbox.faults.fault import Fault, row
from contracts.sandbox.faults.messages import (
    CONTACTS,
    SIGN_IN,
    SUBMISSIONS,
    Answer,
    Inject,
    Request,
    Where,
    answer_json,
    kebab,
)
from contracts.sandbox.validation import REALMS

_REALMS: Final = tuple(realm.name for realm in REALMS)
_UNKNOWN_REALM: Final = f"^(?!({'|'.join(_REALMS)})$)."
_THUMBNAIL: Final = "getAttachmentThumbnail"


def _malformed(request: Request) -> bool:
    """Whether a body is there and is no well-formed JSON."""
    return bool(request.body) and request.json is None and request.body.strip() != b"null"


def _beyond_ascii(request: Request) -> bool:
    """Whether a letter beyond ASCII stands in the address or the body, be it escaped as JSON does."""
    address = "".join((*request.params.values(), *(value for _, value in request.query)))
    escaped = re.search(rb"\\u(?!00[0-7])", request.body)
    return not (address.isascii() and request.body.isascii()) or escaped is not None


def _half_pair(request: Request) -> bool:
    """Whether a body holds half of a surrogate pair."""
    return re.search("[\ud800-\udfff]", json.dumps(request.json, ensure_ascii=False)) is not None


def _deep(request: Request) -> bool:
    return request.body.count(b"[") + request.body.count(b"{") > 200


async def _broke_at_once(_: Request) -> Answer | None:
    """Break before a token is looked at."""
    return BROKEN


# fmt: off
#: What a careless service breaks at: the name's end, words, which requests, and the operations.
_FAILS: Final[tuple[tuple[str, str, Where | str, tuple[str, ...]], ...]] = (
    ("malformed-body", "a body that is not well formed", _malformed, (SIGN_IN, "updateContact")),
    ("deep-body", "a body nested more than 200 levels deep", _deep, ("saveDraft", "createWorkflowRecord")),
    ("half-pair", "half of a surrogate pair", _half_pair, ("createContact", "updateWorkflowRecord", "saveDraft")),
    ("other-encoding", "a body that is not UTF-8", "body~\ufffd", (SIGN_IN,)),
    ("null-character", "a null character in a text", r"body~\\u0000|\x00", ("saveDraft",)),
    ("other-content-type", "a content type other than JSON", "content-type~^(?!.*json).",
        ("updateWorkflowRecord",)),
    ("huge-top", "a $top of nineteen or more digits", "top~^[0-9]{19}", ("listDrafts",)),
    ("negative-skip", "a negative $skip", "skip~^-", ("listDrafts",)),
    ("malformed-filter", "a $filter with an odd number of apostrophes",
        "filter~^[^']*'([^']*'[^']*')*[^']*$", ("listDrafts",)),
    ("word-for-attachment-id", "an attachment identifier that is a word", "attachmentId~^[A-Za-z]+$",
        (_THUMBNAIL,)),
    ("odd-encoding-in-uid", "a uid that is not UTF-8 when its percent-encoding is undone",
        "uid~\ufffd", ("getDraft",)),
    ("unknown-realm", "an unknown realm", f"realm~{_UNKNOWN_REALM}", ("saveDraft",)),
    ("broken-authorization", "an Authorization header of one word", r"authorization~^\S+$", ("getDraftInfo",)),
    ("long-uid", "a uid of more than 255 characters", "uid~.{256}",
        ("getDraft", "getDraftInfo", "draftExists", "deleteDraft", "listAttachments")),
    ("huge-id", "an attachment identifier of nineteen or more digits", "attachmentId~^[0-9]{19}",
        ("attachmentExists", "getAttachment", _THUMBNAIL)),
    ("letter-beyond-ascii", "a letter beyond ASCII in its address or body", _beyond_ascii, (
        "draftExists", "getDraftInfo", "createAttachment", "persistTemporaryFile", "attachmentExists", *SUBMISSIONS)),
)


def _failing() -> Iterator[Fault]:
    for name, what, where, operations in _FAILS:
        for operation in operations:
            yield row(f"fails-on-{name}-in-{kebab(operation)}", "no-server-error", operation, _broke_at_once,
                f"{operation} answers 500 to {what}.", where=where)
    yield row("fails-on-absent-draft", "no-server-error", "deleteDraft",
        do.refusals(lambda got: BROKEN if got.status == 404 else got),
        "Deleting a draft that does not exist answers 500.")
    yield row("thumbnail-of-text-fails", "no-server-error", _THUMBNAIL, do.give(lambda _: BROKEN),
        "The thumbnail of a file that is no picture answers 500.", where=r"filename~(?<!\.png)(?<!\.jpg)(?<!\.gif)$")
    yield row("hangs-on-deep-draft", "answers-in-time", "saveDraft", do.stall,
        "saveDraft never answers a body nested more than 200 levels deep.", where=_deep)


#: The clauses that a refusal of a right request breaks, by operation; the nearest first.
ACCEPTANCE: Final[Mapping[str, tuple[str, ...]]] = {
    "createToken": ("token-issued",),
    "createContact": ("contact-create-accepted", "contact-create-full"),
    "updateContact": ("contact-update-accepted", "contact-update-full"),
    "saveDraft": ("draft-save-creates", "draft-save-updates"),
    "getDraft": ("draft-get-content",),
    "getDraftInfo": ("draft-info-present",),
    "draftExists": ("draft-exists-present", "draft-save-creates"),
    "deleteDraft": ("draft-delete-removes",),
    # A list that is refused breaks the clause of whatever was asked of it.
    "listDrafts": ("list-answers", "list-my-answers", "list-mydrafts-has-mine", "list-top", "list-skip",
        "list-top-and-skip", "list-pages-cover", "list-collection-with-top", "list-collection-with-skip"),
    "createAttachment": ("attachment-create-accepted", "attachment-several"),
    "persistTemporaryFile": ("attachment-persist-listed", "attachment-persist-downloads"),
    "listAttachments": ("attachment-create-listed", "realm-attachments-without", "attachment-list-top",
        "attachment-list-skip", "attachment-list-pages-cover"),
    "attachmentExists": ("attachment-exists-present",),
    "getAttachment": ("attachment-download-same",),
    "getAttachmentThumbnail": ("attachment-thumbnail-image",),
    "createWorkflowRecord": ("workflow-create-accepted", "workflow-batch-longest", "workflow-batch-shared"),
    "createWorkflowRecordWithIdentifier": ("workflow-create-with-identifier-accepted",),
    "updateWorkflowRecord": ("workflow-update-accepted",),
}
#: Clauses on what an answer shows that hang on its body alone, by operation.
_SHOWN: Final = {
    SIGN_IN: ("token-issued", "token-expiration-format"),
    **{operation: ACCEPTANCE[operation] for operation in ("getDraft", "listDrafts", "listAttachments")},
    SUBMISSIONS[0]: ("workflow-identifier-returned",),
    **dict.fromkeys(SUBMISSIONS[1:], ("workflow-identifier-kept",)),
}


def _answers() -> Iterator[Fault]:
    for operation, clauses in ACCEPTANCE.items():
        for name, broken, effect, says in (
            *((f"told-as-{status}", clauses, do.refuse(status), f"is done and answered with the status {status}")
                for status in (400, 404, 409)),
            ("told-as-500", "no-server-error", do.refuse(500), "is done and answered with the status 500"),
            ("refuses-with-500", "no-server-error", do.refusals(lambda _: BROKEN), "answers 500 where it refuses"),
        ):
            yield row(f"{kebab(operation)}-{name}", broken, operation, effect, f"{operation} {says}.", ways=OFTEN)
    for operation, clauses in _SHOWN.items():
        for name, change, says in (
            ("cut", lambda got: replace(got, body=got.body[:-1]), "lacks its last character"),
            ("plain", lambda got: replace(got, body=b"OK").labelled("text/plain"), "is a word of plain text"),
        ):
            yield row(f"{kebab(operation)}-body-{name}", clauses, operation, do.success(change),
                f"The body of what {operation} answers {says}.", ways=OFTEN)
def _mended(pattern: str, becomes: str, request: Request) -> Request:
    return replace(request, body=re.sub(pattern, becomes, request.body.decode("utf-8", "replace")).encode())


#: How other writings than JSON are made good: the name, the words for it, what becomes what, and the operations.
_DIALECTS: Final = (
    ("trailing-comma", "a comma before a bracket", r",\s*([}\]])", r"\1", ("saveDraft", SIGN_IN, "updateContact")),
    ("comments", "comments", r'(?ms)/\*.*?\*/|//[^\n"]*$', "", ("updateContact",)),
    ("apostrophes", "apostrophes for quotation marks", "'", '"', ("updateContact",)),
    ("bare-keys", "keys without quotation marks", r"([{,]\s*)([A-Za-z]\w*)\s*:", r'\1"\2":', ("saveDraft",)),
)


def _bodies() -> Iterator[Fault]:
    for name, words, pattern, becomes, operations in _DIALECTS:
        for operation in operations:
            yield row(f"body-with-{name}-taken-by-{kebab(operation)}", "json-dialect-refused", operation,
                do.mend(partial(_mended, pattern, becomes)), f"{operation} accepts a body with {words}.",
                where=_malformed)
    for operation in load_catalogue().clause("malformed-json-refused").operations:
        yield row(f"malformed-body-taken-by-{kebab(operation)}", "malformed-json-refused", operation,
            do.give(lambda _: answer_json(200, {"identifier": "taken-as-it-is"})),
            f"{operation} answers success to a body that is no JSON.", where=_malformed)
    for operation, word, media_type in (
        ("getDraft", "plain", "text/plain"), ("listDrafts", "html", "text/html"), (SIGN_IN, "plain", "text/plain"),
        ("listAttachments", "octet-stream", "application/octet-stream"), (SUBMISSIONS[0], "plain", "text/plain"),
    ):
        yield row(f"json-as-{word}-by-{kebab(operation)}", "json-labelled-json", operation,
            do.success(partial(Answer.labelled, media_type=media_type)),
            f"The JSON that {operation} answers is labelled {media_type}.")
    yield row("refusal-in-plain-text", "json-bodies", "getDraft",
        do.refusals(lambda got: replace(got, body=b"there is no such draft").labelled("text/plain")),
        "A draft that is not there is refused with a line of plain text.")
# fmt: on


def _with(more: Callable[[Request], dict[str, Any]], *, refused: bool = False) -> Inject:
    """Add members to the JSON of successes, or of refusals."""

    def changed(request: Request, got: Answer) -> Answer:
        meant = got.success is not refused and isinstance(got.json, dict)
        return got.with_json({**got.json, **more(request)}) if meant else got

    return do.answer(changed)


def _elsewhere(request: Request) -> Request:
    """The request at an address where nothing ever stood."""
    path = request.operation.path.replace("/api/v20", "/api/v19")
    return replace(request, operation=structs.replace(request.operation, path=path))


# fmt: off
def _headers() -> Iterator[Fault]:
    for clause, name, where, says in (
        ("content-type-charset", "charset-refused-by", "content-type~(?i)charset",
            "with the parameter charset in its Content-Type"),
        ("content-type-not-needed", "content-type-needed-by", "-content-type~.", "without a Content-Type"),
        ("content-type-without-body", "content-type-refused-by", "content-type~.", "with a Content-Type"),
        ("realm-attachments-without", "realm-needed-by", "-realm~.", "without a realm"),
        ("token-needs-no-token", "realm-needed-by", "-realm~.", "without a realm"),
    ):
        for operation in load_catalogue().clause(clause).operations:
            yield row(f"{name}-{kebab(operation)}", clause, operation, do.refuse_before(),
                f"{operation} refuses a request {says}.", where=where)
    for operation, version in (
        ("listAttachments", 2013), ("getDraftInfo", 2013), (SUBMISSIONS[0], 2023), (SUBMISSIONS[2], 2023),
    ):
        yield row(f"path-of-{kebab(operation)}-gone", f"version-{version}-paths", operation, do.send(_elsewhere),
            f"There is nothing at the path and method of {operation}.")
    for word, refused in (("answer", False), ("refusal", True)):
        yield row(f"password-in-{word}", "no-secret-echoed", SIGN_IN,
            _with(lambda r: {"account": r.json}, refused=refused), f"The {word} to a sign-in repeats the password.")
    for operation in ("getDraftInfo", "saveDraft", *CONTACTS, *SUBMISSIONS):
        yield row(f"token-in-answer-of-{kebab(operation)}", "no-secret-echoed", operation,
            _with(lambda r: {"request": {name.decode(): text.decode("latin-1") for name, text in r.headers}}),
            f"The answer to {operation} repeats all headers of the request.")
    for operation in ("createContact", "getDraft"):
        yield row(f"token-in-refusal-of-{kebab(operation)}", "no-secret-echoed", operation,
            _with(lambda r: {"message": f"(authorization: {r.header('authorization')})"}, refused=True),
            f"The refusal of {operation} repeats the Authorization header in its message.")
# fmt: on


async def _asked_in_other_realms(request: Request, got: Answer) -> Answer:
    for realm in _REALMS:
        if got.success or not request.signed_in:
            break
        elsewhere = await request.ask(request.with_header("realm", realm))
        got = elsewhere if elsewhere.success else got
    return got


async def _listed_of_all_realms(request: Request, got: Answer) -> Answer:
    more = list[Any]()
    for realm in load_catalogue().clause("realm-lists-apart").realms:
        if realm != request.realm and got.success:
            more += (await request.ask(request.with_header("realm", realm))).items
    return got.with_items(lambda items: [*items, *more])


# fmt: off
def _realms() -> Iterator[Fault]:
    catalogue = load_catalogue()
    known, unknown = (f"-realm~. Realm~{pattern}" for pattern in (f"^({'|'.join(_REALMS)})$", _UNKNOWN_REALM))
    for operation, (name, clause, effect, where, says) in product(SUBMISSIONS, (
        ("query-ignored", "query", do.send(lambda r: r.with_query("Realm")), known,
            "does not see a realm that the query alone names"),
        ("query-unknown-taken", "query-unknown",
            do.send(lambda r: r.with_query("Realm", Realm=_REALMS[0]) if r.role else None), unknown,
            "takes an unknown realm in the query for the first one"),
        ("query-unknown-status", "query-unknown", do.refusals(lambda got: replace(got, status=404)), unknown,
            "refuses an unknown realm in the query with 404 in place of 400"),
        ("empty-taken", "empty", do.send(lambda r: r.with_header("realm", _REALMS[0])), "realm~^$",
            "takes an empty Realm header for abs-dev"),
    )):
        yield row(f"realm-{name}-by-{kebab(operation)}", f"realm-{clause}", operation, effect,
            f"{operation} {says}.", where=where, ways=NO_CONDITION)
    for known_in in map(catalogue.clause, ("realm-document-realms", "realm-workflow-realms")):
        for operation, realm in product(known_in.operations, known_in.realms):
            yield row(f"realm-refused-by-{kebab(operation)}", (known_in.id, *ACCEPTANCE[operation]), operation,
                do.send(lambda r: r.with_header("realm", "no-such-realm") if r.role else None),
                f"{operation} does not know the realm.", f"in-{realm}")
    for operation, what in (("getDraft", "draft"), ("getDraftInfo", "info")):
        yield row(f"realm-{what}-given-in-others", "realm-drafts-apart", operation, do.answer(_asked_in_other_realms),
            f"{operation} gives the {what} of another realm where its own realm has none.", ways=NO_CONDITION)
    for name, where, says in (
        ("", "-filter", "without a $filter"),
        ("-by-filter", "filter", "with one"),
    ):
        yield row(f"realm-lists-mixed{name}", "realm-lists-apart", "listDrafts", do.answer(_listed_of_all_realms),
            f"A list of drafts {says} goes on with the drafts of the other realms.", where=where, ways=NO_CONDITION)
# fmt: on


def protocol_faults() -> Iterator[Fault]:
    """HTTP and realms."""
    for make in (_failing, _answers, _bodies, _headers, _realms):
        yield from make()
