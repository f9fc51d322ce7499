"""Faults of HTTP and of realms: where a service breaks or hangs, answers as a whole, headers, secrets, realms."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from itertools import product
from typing import Any, Final

from msgspec import structs

from contracts.interface.catalogue import load_catalogue
from contracts.sandbox.faults import effects as do
from contracts.sandbox.faults.conditions import NO_CONDITION, OFTEN
from contracts.sandbox.faults.effects import BROKEN
from contracts.sandbox.faults.fault import Fault, Rows
from contracts.sandbox.faults.messages import Answer, Request, answer_json
from contracts.sandbox.faults.places import CONTACTS, SIGN_IN, SUBMISSIONS, kebab
from contracts.sandbox.validation import REALMS

_REALMS: Final = tuple(realm.name for realm in REALMS)
_KNOWN_REALM, _UNKNOWN_REALM = f"^({'|'.join(_REALMS)})$", f"^(?!({'|'.join(_REALMS)})$)."
#: The query alone names a realm.
_IN_QUERY: Final = "-realm~. Realm~{}"
_THUMBNAIL: Final = "getAttachmentThumbnail"
#: A body is there and is no well-formed JSON.
_MALFORMED: Final = r"body~. json~^null$ -body~^\s*null\s*\Z"


def _beyond_ascii(request: Request) -> bool:
    """Whether a letter beyond ASCII stands in the address or the body, be it escaped as JSON does."""
    address = "".join((*request.params.values(), *(value for _, value in request.query)))
    escaped = re.search(rb"\\u(?!00[0-7])", request.body)
    return not (address.isascii() and request.body.isascii()) or escaped is not None


def _deep(request: Request) -> bool:
    return request.body.count(b"[") + request.body.count(b"{") > 200


def _mended(pattern: str, becomes: str, request: Request) -> Request:
    return replace(request, body=re.sub(pattern, becomes, request.body.decode("utf-8", "replace")).encode())


@do.effect
async def _with(
    request: Request, more: Callable[[Request], dict[str, Any]], *, refused: bool = False
) -> Answer | None:
    """Add members to the JSON of successes, or of refusals."""
    got = await request.ask()
    meant = got.success is not refused and isinstance(got.json, dict)
    return got.with_json({**got.json, **more(request)}) if meant else got


def _elsewhere(request: Request) -> Request:
    """The request at an address where nothing ever stood."""
    path = request.operation.path.replace("/api/v20", "/api/v19")
    return replace(request, operation=structs.replace(request.operation, path=path))


async def _asked_in_other_realms(request: Request, got: Answer) -> Answer:
    for realm in _REALMS:
        if got.success or not request.signed_in:
            break
        elsewhere = await request.ask(request.with_header("realm", realm))
        got = elsewhere if elsewhere.success else got
    return got


async def _done_in_all_realms(request: Request, got: Answer) -> Answer:
    for realm in _REALMS:
        if got.success and realm != request.realm:
            await request.ask(request.with_header("realm", realm))
    return got


async def _listed_of_all_realms(request: Request, got: Answer) -> Answer:
    more = list[Any]()
    for realm in load_catalogue().clause("realm-lists-apart").realms:
        if realm != request.realm and got.success:
            more += (await request.ask(request.with_header("realm", realm))).items
    return got.with_items(lambda items: [*items, *more])


async def _broke_at_once(_: Request) -> Answer | None:
    """Break before a token is looked at."""
    return BROKEN


# fmt: off
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
_ANY, _SERVER = Rows("", ""), Rows("", "no-server-error")
_REALM = Rows("realm-", "realm-", ways=NO_CONDITION)
#: What a careless service breaks at.
_BREAKS: Final = (
    *(
        each
        for name, what, where, operations in (
            ("malformed-body", "a body that is not well formed", _MALFORMED, (SIGN_IN, "updateContact")),
            ("deep-body", "a body nested more than 200 levels deep", _deep, ("saveDraft", "createWorkflowRecord")),
            ("half-pair", "half of a surrogate pair", r"json~[\ud800-\udfff]",
                ("createContact", "updateWorkflowRecord", "saveDraft")),
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
            ("odd-encoding-in-uid", "a uid that is not UTF-8 when its percent-encoding is undone", "uid~\ufffd",
                ("getDraft",)),
            ("unknown-realm", "an unknown realm", f"realm~{_UNKNOWN_REALM}", ("saveDraft",)),
            ("broken-authorization", "an Authorization header of one word", r"authorization~^\S+$", ("getDraftInfo",)),
            ("long-uid", "a uid of more than 255 characters", "uid~.{256}",
                ("getDraft", "getDraftInfo", "draftExists", "deleteDraft", "listAttachments")),
            ("huge-id", "an attachment identifier of nineteen or more digits", "attachmentId~^[0-9]{19}",
                ("attachmentExists", "getAttachment", _THUMBNAIL)),
            ("letter-beyond-ascii", "a letter beyond ASCII in its address or body", _beyond_ascii, ("draftExists",
                "getDraftInfo", "createAttachment", "persistTemporaryFile", "attachmentExists", *SUBMISSIONS)),
        )
        for each in _SERVER(f"fails-on-{name}-in-*", "", _broke_at_once, f"* answers 500 to {what}", where,
            at=operations).each()
    ),
    _SERVER("fails-on-absent-draft", "", do.refusals(lambda got: BROKEN if got.status == 404 else got),
        "Deleting a draft that does not exist answers 500", at="deleteDraft"),
    _SERVER("thumbnail-of-text-fails", "", do.give(lambda _: BROKEN),
        "The thumbnail of a file that is no picture answers 500", r"filename~(?<!\.png)(?<!\.jpg)(?<!\.gif)$",
        at=_THUMBNAIL),
    _ANY("hangs-on-deep-draft", "answers-in-time", do.stall,
        "saveDraft never answers a body nested more than 200 levels deep", _deep, at="saveDraft"),
)
#: What is done and answered otherwise, and bodies that are no JSON, or are taken though they are none.
_ANSWERS: Final = (
    *(
        _ANY(f"{kebab(operation)}-{name}", broken, effect, f"{operation} {says}", at=operation, ways=OFTEN)
        for operation, clauses in ACCEPTANCE.items()
        for name, broken, effect, says in (
            *((f"told-as-{status}", clauses, do.refuse(status), f"is done and answered with the status {status}")
                for status in (400, 404, 409)),
            ("told-as-500", ("no-server-error",), do.refuse(500), "is done and answered with the status 500"),
            ("refuses-with-500", ("no-server-error",), do.refusals(lambda _: BROKEN),
                "answers 500 where it refuses"),
        )
    ),
    *(
        _ANY(f"{kebab(operation)}-body-{name}", clauses, do.success(change),
            f"The body of what {operation} answers {says}", at=operation, ways=OFTEN)
        for operation, clauses in _SHOWN.items()
        for name, change, says in (
            ("cut", lambda got: replace(got, body=got.body[:-1]), "lacks its last character"),
            ("plain", lambda got: replace(got, body=b"OK").labelled("text/plain"), "is a word of plain text"),
        )
    ),
    *(
        each
        for name, words, pattern, becomes, operations in (
            ("trailing-comma", "a comma before a bracket", r",\s*([}\]])", r"\1",
                ("saveDraft", SIGN_IN, "updateContact")),
            ("comments", "comments", r'(?ms)/\*.*?\*/|//[^\n"]*$', "", ("updateContact",)),
            ("apostrophes", "apostrophes for quotation marks", "'", '"', ("updateContact",)),
            ("bare-keys", "keys without quotation marks", r"([{,]\s*)([A-Za-z]\w*)\s*:", r'\1"\2":',
                ("saveDraft",)),
        )
        for each in _ANY(f"body-with-{name}-taken-by-*", "json-dialect-refused",
            do.mend(partial(_mended, pattern, becomes)), f"* accepts a body with {words}", _MALFORMED,
            at=operations).each()
    ),
    *_ANY("malformed-body-taken-by-*", "malformed-json-refused",
        do.give(lambda _: answer_json(200, {"identifier": "taken-as-it-is"})),
        "* answers success to a body that is no JSON", _MALFORMED).each(),
    *(
        _ANY(f"json-as-{word}-by-{kebab(operation)}", "json-labelled-json",
            do.success(partial(Answer.labelled, media_type=media_type)),
            f"The JSON that {operation} answers is labelled {media_type}", at=operation)
        for operation, word, media_type in (
            ("getDraft", "plain", "text/plain"), ("listDrafts", "html", "text/html"), (SIGN_IN, "plain", "text/plain"),
            ("listAttachments", "octet-stream", "application/octet-stream"), (SUBMISSIONS[0], "plain", "text/plain"),
        )
    ),
    _ANY("refusal-in-plain-text", "json-bodies",
        do.refusals(lambda got: replace(got, body=b"there is no such draft").labelled("text/plain")),
        "A draft that is not there is refused with a line of plain text", at="getDraft"),
)
#: Headers, addresses and secrets.
_HEADERS: Final = (
    *(
        each
        for clause, name, where, says in (
            ("content-type-charset", "charset-refused-by", "content-type~(?i)charset",
                "with the parameter charset in its Content-Type"),
            ("content-type-not-needed", "content-type-needed-by", "-content-type~.", "without a Content-Type"),
            ("content-type-without-body", "content-type-refused-by", "content-type~.", "with a Content-Type"),
            ("realm-attachments-without", "realm-needed-by", "-realm~.", "without a realm"),
            ("token-needs-no-token", "realm-needed-by", "-realm~.", "without a realm"),
        )
        for each in _ANY(f"{name}-*", clause, do.refuse_before(), f"* refuses a request {says}", where).each()
    ),
    *(
        each
        for version, operations in ((2013, ("listAttachments", "getDraftInfo")), (2023, SUBMISSIONS[::2]))
        for each in _ANY("path-of-*-gone", f"version-{version}-paths", do.send(_elsewhere),
            "There is nothing at the path and method of *", at=operations).each()
    ),
    *(
        _ANY(f"password-in-{word}", "no-secret-echoed", _with(lambda r: {"account": r.json}, refused=word == "refusal"),
            f"The {word} to a sign-in repeats the password", at=SIGN_IN)
        for word in ("answer", "refusal")
    ),
    *_ANY("token-in-answer-of-*", "no-secret-echoed",
        _with(lambda r: {"request": {name.decode(): text.decode("latin-1") for name, text in r.headers}}),
        "The answer to * repeats all headers of the request",
        at=("getDraftInfo", "saveDraft", *CONTACTS, *SUBMISSIONS)).each(),
    *_ANY("token-in-refusal-of-*", "no-secret-echoed",
        _with(lambda r: {"message": f"(authorization: {r.header('authorization')})"}, refused=True),
        "The refusal of * repeats the Authorization header in its message", at=("createContact", "getDraft")).each(),
)
#: Realms that are not seen, not known, or mixed up.
_MISTAKEN_REALMS: Final = (
    *(
        each
        for name, clause, effect, where, says in (
            ("query-ignored", "query", do.send(lambda r: r.with_query("Realm")), _IN_QUERY.format(_KNOWN_REALM),
                "does not see a realm that the query alone names"),
            ("query-unknown-taken", "query-unknown",
                do.send(lambda r: r.with_query("Realm", Realm=_REALMS[0]) if r.role else None),
                _IN_QUERY.format(_UNKNOWN_REALM), "takes an unknown realm in the query for the first one"),
            ("query-unknown-status", "query-unknown", do.refusals(lambda got: replace(got, status=404)),
                _IN_QUERY.format(_UNKNOWN_REALM), "refuses an unknown realm in the query with 404 in place of 400"),
            ("empty-taken", "empty", do.send(lambda r: r.with_header("realm", _REALMS[0])), "realm~^$",
                "takes an empty Realm header for abs-dev"),
        )
        for each in _REALM(f"{name}-by-*", clause, effect, f"* {says}", where, at=SUBMISSIONS).each()
    ),
    *(
        _ANY(f"realm-refused-by-{kebab(operation)}", (clause.id, *ACCEPTANCE[operation]),
            do.send(lambda r: r.with_header("realm", "no-such-realm") if r.role else None),
            f"{operation} does not know the realm", at=operation).under(f"in-{realm}")
        for clause in map(load_catalogue().clause, ("realm-document-realms", "realm-workflow-realms"))
        for operation, realm in product(clause.operations, clause.realms)
    ),
    *(
        _REALM(f"{what}-given-in-others", "drafts-apart", do.answer(_asked_in_other_realms),
            f"{operation} gives the {what} of another realm where its own realm has none", at=operation)
        for operation, what in (("getDraft", "draft"), ("getDraftInfo", "info"))
    ),
    *(
        _REALM(f"draft-{what}-in-all", "drafts-apart", do.answer(_done_in_all_realms),
            f"{operation} does in every realm what it does in one", at=operation)
        for operation, what in (("saveDraft", "saved"), ("deleteDraft", "deleted"))
    ),
    *(
        _REALM(f"lists-mixed{name}", "lists-apart", do.answer(_listed_of_all_realms),
            f"A list of drafts {says} goes on with the drafts of the other realms", where, at="listDrafts")
        for name, where, says in (("", "-filter", "without a $filter"), ("-by-filter", "filter", "with one"))
    ),
)
# fmt: on
#: Faults of HTTP and of realms.
PROTOCOL: Final[tuple[Fault, ...]] = (*_BREAKS, *_ANSWERS, *_HEADERS, *_MISTAKEN_REALMS)
