"""Faults of HTTP and of realms: where a service breaks or hangs, answers as a whole, headers, secrets, realms."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from typing import Any, Final

from msgspec import structs

from registry_contracts.interface.catalogue import load_catalogue
from registry_contracts.sandbox.faults import effects as do
from registry_contracts.sandbox.faults.effects import BROKEN
from registry_contracts.sandbox.faults.fault import Rows, each
from registry_contracts.sandbox.faults.messages import Answer, Inject, Request, answer_json
from registry_contracts.sandbox.faults.places import ACCOUNTS, CONTACTS, SIGN_IN, SUBMISSIONS
from registry_contracts.sandbox.validation import REALMS

_KNOWN: Final = f"({'|'.join(realm.name for realm in REALMS)})$"
#: The query alone names a realm, and one that there is not.
_IN_QUERY, _UNKNOWN_IN_QUERY = f"-realm~. Realm~^{_KNOWN}", f"-realm~. Realm~^(?!{_KNOWN})."
_THUMBNAIL: Final = "getAttachmentThumbnail"
#: A body is nested more than 200 levels deep, or is there and is no well-formed JSON.
_DEEP: Final = r"body~([\[{][^\[{]*){201}"
_MALFORMED: Final = r"body~. json~^null$ -body~^\s*null\s*\Z"


def _beyond_ascii(request: Request) -> bool:
    """Whether a letter beyond ASCII stands in the address or the body, be it escaped as JSON does."""
    address = "".join((*request.params.values(), *(value for _, value in request.query)))
    escaped = re.search(rb"\\u(?!00[0-7])", request.body)
    return not (address.isascii() and request.body.isascii()) or escaped is not None


def _mended(pattern: str, becomes: str) -> Inject:
    """Take a body in which a pattern stands as if another text stood there."""
    return do.mend(
        lambda r: [replace(r, body=re.sub(pattern, becomes, r.body.decode("utf-8", "replace")).encode())]
    )


def _told(name: str, value: Callable[[Request], Any], *, refused: bool = False) -> Inject:
    """Add a member to the JSON of successes, or of refusals."""
    return do.answer(lambda r, got: got if got.success is refused else got.with_member(name, value(r)))


def _elsewhere(request: Request) -> Request:
    """The request at an address where nothing ever stood."""
    path = request.operation.path.replace("/api/v20", "/api/v19")
    return replace(request, operation=structs.replace(request.operation, path=path))


def _in_others(request: Request) -> list[Request]:
    """The request in all other realms."""
    return [request.with_header("realm", realm.name) for realm in REALMS if realm.name != request.realm]


async def with_those_of_others(request: Request, got: Answer) -> Answer:
    """A list of drafts, and behind it those of all other realms."""
    lists = [await request.ask(other) for other in _in_others(request)] if got.success else []
    return got.with_items([*got.items, *(item for other in lists for item in other.items)])


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
_REALM = Rows("realm-", "realm-")
ROWS: Final = (
    # What a careless service breaks at.
    *each(lambda name, what, where, operations:
        _SERVER(f"fails-on-{name}-in-*", "", do.give(do.always(BROKEN), to_anyone=True), f"* answers 500 to {what}",
            where, at=operations),
        ("malformed-body", "a body that is not well formed", _MALFORMED, (SIGN_IN, "updateContact")),
        ("deep-body", "a body nested more than 200 levels deep", _DEEP, ("saveDraft", "createWorkflowRecord")),
        ("half-pair", "half of a surrogate pair", r"json~[\ud800-\udfff]",
            ("createContact", "updateWorkflowRecord", "saveDraft")),
        ("other-encoding", "a body that is not UTF-8", "body~\ufffd", SIGN_IN),
        ("null-character", "a null character in a text", r"body~\\u0000|\x00", "saveDraft"),
        ("other-content-type", "a content type other than JSON", "content-type~^(?!.*json).",
            "updateWorkflowRecord"),
        ("huge-top", "a $top of nineteen or more digits", "top~^[0-9]{19}", "listDrafts"),
        ("negative-skip", "a negative $skip", "skip~^-", "listDrafts"),
        ("malformed-filter", "a $filter with an odd number of apostrophes",
            "filter~^[^']*'([^']*'[^']*')*[^']*$", "listDrafts"),
        ("word-for-attachment-id", "an attachment identifier that is a word", "attachmentId~^[A-Za-z]+$",
            _THUMBNAIL),
        ("odd-encoding-in-uid", "a uid that is not UTF-8 when its percent-encoding is undone", "uid~\ufffd",
            "getDraft"),
        ("unknown-realm", "an unknown realm", f"realm~^(?!{_KNOWN}).", "saveDraft"),
        ("broken-authorization", "an Authorization header of one word", r"authorization~^\S+$", "getDraftInfo"),
        ("long-uid", "a uid of more than 255 characters", "uid~.{256}",
            ("getDraft", "getDraftInfo", "draftExists", "deleteDraft", "listAttachments")),
        ("huge-id", "an attachment identifier of nineteen or more digits", "attachmentId~^[0-9]{19}",
            ("attachmentExists", "getAttachment", _THUMBNAIL)),
        ("letter-beyond-ascii", "a letter beyond ASCII in its address or body", _beyond_ascii, ("draftExists",
            "getDraftInfo", "createAttachment", "persistTemporaryFile", "attachmentExists", *SUBMISSIONS)),
    ),
    _ANY("hangs-on-deep-draft", "answers-in-time", do.stall,
        "saveDraft never answers a body nested more than 200 levels deep", _DEEP, at="saveDraft"),
    # What is done and answered otherwise, and bodies that are no JSON, or are taken though they are none.
    *each(lambda status:
        _ANY(f"*-told-as-{status}", ACCEPTANCE, do.refuse(status), f"* is done and answered with the status {status}",
            at=(*ACCEPTANCE,)),
        400, 404, 409,
    ),
    _SERVER("*-told-as-500", "", do.refuse(500), "* is done and answered with the status 500", at=(*ACCEPTANCE,)),
    _SERVER("*-refuses-with-500", "", do.refusals(do.always(BROKEN)), "* answers 500 where it refuses",
        at=(*ACCEPTANCE,)),
    *each(lambda name, change, says:
        _ANY(f"*-body-{name}", _SHOWN, do.success(change), f"The body of what * answers {says}"),
        ("cut", lambda got: replace(got, body=got.body[:-1]), "lacks its last character"),
        # What is put right by asking again cannot be told from what the way does.
        ("plain", lambda got: replace(got, body=b"OK").with_header("content-type", "text/plain"),
            "is a word of plain text"),
    ),
    *each(lambda name, words, pattern, becomes, operations: _ANY(f"body-with-{name}-taken-by-*", "json-dialect-refused",
            _mended(pattern, becomes), f"* accepts a body with {words}", _MALFORMED, at=operations),
        ("trailing-comma", "a comma before a bracket", r",\s*([}\]])", r"\1",
            ("saveDraft", SIGN_IN, "updateContact")),
        ("comments", "comments", r'(?ms)/\*.*?\*/|//[^\n"]*$', "", "updateContact"),
        ("apostrophes", "apostrophes for quotation marks", "'", '"', "updateContact"),
        ("bare-keys", "keys without quotation marks", r"([{,]\s*)([A-Za-z]\w*)\s*:", r'\1"\2":', "saveDraft"),
    ),
    _ANY("malformed-body-taken-by-*", "malformed-json-refused",
        do.give(do.always(answer_json(200, {"identifier": "taken-as-it-is"}))),
        "* answers success to a body that is no JSON", _MALFORMED,
        # Whether a sign-in that gives no token may be a success is not shown.
        at=tuple(name for name in load_catalogue().clause("malformed-json-refused").operations if name != SIGN_IN)),
    _ANY("malformed-body-signs-in", "malformed-json-refused", do.send(lambda r: r.signing_in(ACCOUNTS["author"])),
        "A body that is no JSON signs the author in", _MALFORMED, at=SIGN_IN),
    *each(lambda word, media_type, operations: _ANY(f"json-as-{word}-by-*", "json-labelled-json",
            do.success(partial(Answer.with_header, name="content-type", value=media_type)),
            f"The JSON that * answers is labelled {media_type}", at=operations),
        ("plain", "text/plain", ("getDraft", SIGN_IN, SUBMISSIONS[0])), ("html", "text/html", "listDrafts"),
        ("octet-stream", "application/octet-stream", "listAttachments"),
    ),
    _ANY("refusal-in-plain-text", "json-bodies",
        do.refusals(lambda got: replace(got, body=b"there is no such draft").with_header("content-type", "text/plain")),
        "A draft that is not there is refused with a line of plain text", at="getDraft"),
    # Headers, addresses and secrets.
    *each(lambda clause, name, where, says:
        _ANY(f"{name}-*", clause, do.refuse_before(), f"* refuses a request {says}", where),
        ("content-type-charset", "charset-refused-by", "content-type~(?i)charset",
            "with the parameter charset in its Content-Type"),
        ("content-type-not-needed", "content-type-needed-by", "-content-type~.", "without a Content-Type"),
        ("content-type-without-body", "content-type-refused-by", "content-type~.", "with a Content-Type"),
        ("realm-attachments-without", "realm-needed-by", "-realm~.", "without a realm"),
        ("token-needs-no-token", "realm-needed-by", "-realm~.", "without a realm"),
    ),
    *each(lambda version, operations: _ANY("path-of-*-gone", f"version-{version}-paths", do.send(_elsewhere),
            "There is nothing at the path and method of *", at=operations),
        (2013, ("listAttachments", "getDraftInfo")), (2023, SUBMISSIONS[::2]),
    ),
    *each(lambda word:
        _ANY(f"password-in-{word}", "no-secret-echoed", _told("account", lambda r: r.json, refused=word == "refusal"),
            f"The {word} to a sign-in repeats the password", at=SIGN_IN),
        "answer", "refusal",
    ),
    _ANY("token-in-answer-of-*", "no-secret-echoed",
        _told("request", lambda r: {name.decode(): text.decode("latin-1") for name, text in r.headers}),
        "The answer to * repeats all headers of the request",
        at=("getDraftInfo", "saveDraft", *CONTACTS, *SUBMISSIONS)),
    _ANY("token-in-refusal-of-*", "no-secret-echoed",
        _told("message", lambda r: f"(authorization: {r.header('authorization')})", refused=True),
        "The refusal of * repeats the Authorization header in its message", at=("createContact", "getDraft")),
    # Realms that are not seen, not known, or mixed up.
    *each(lambda name, clause, effect, where, says:
        _REALM(f"{name}-by-*", clause, effect, f"* {says}", where, at=SUBMISSIONS),
        ("query-ignored", "query", do.send(lambda r: r.with_options(Realm=None)), _IN_QUERY,
            "does not see a realm that the query alone names"),
        ("query-unknown-taken", "query-unknown",
            do.send(lambda r: r.with_options(Realm="abs-dev") if r.role else None),
            _UNKNOWN_IN_QUERY, "takes an unknown realm in the query for the first one"),
        ("query-unknown-status", "query-unknown", do.refusals(lambda got: replace(got, status=404)),
            _UNKNOWN_IN_QUERY, "refuses an unknown realm in the query with 404 in place of 400"),
        ("empty-taken", "empty", do.send(lambda r: r.with_header("realm", "abs-dev")), "realm~^$",
            "takes an empty Realm header for abs-dev"),
    ),
    *(
        _ANY("realm-refused-by-*", {o: (clause.id, *ACCEPTANCE[o]) for o in clause.operations},
            do.send(lambda r: r.with_header("realm", "no-such-realm") if r.role else None),
            "* does not know the realm", when=f"in-{realm}")
        for clause in map(load_catalogue().clause, ("realm-document-realms", "realm-workflow-realms"))
        for realm in clause.realms
    ),
    *each(lambda operation, what: _REALM(f"{what}-given-in-others", "drafts-apart", do.mend(_in_others),
            f"{operation} gives the {what} of another realm where its own realm has none", at=operation),
        ("getDraft", "draft"), ("getDraftInfo", "info")),
    *each(lambda operation, what: _REALM(f"draft-{what}-in-all", "drafts-apart", do.afterwards(_in_others),
            f"{operation} does in every realm what it does in one", at=operation),
        ("saveDraft", "saved"), ("deleteDraft", "deleted")),
    *each(lambda name, where, says: _REALM(f"lists-mixed{name}", "lists-apart", do.answer(with_those_of_others),
            f"A list of drafts {says} goes on with the drafts of the other realms", where, at="listDrafts"),
        ("", "-filter", "without a $filter"), ("-by-filter", "filter", "with one"),
    ),
)
# fmt: on
