"""Rows of HTTP and of realms: requests at which a service breaks or hangs, bodies, headers, secrets, realms."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from functools import partial
from types import MappingProxyType
from typing import Any, Final

from contracts.interface.catalogue import load_catalogue
from contracts.sandbox.faults.effects import (
    BROKEN,
    answer,
    answer_refusal,
    instead,
    labelled,
    mend,
    refuse_before,
    send,
    signed_in,
    stall,
)
from contracts.sandbox.faults.fault import (
    ACCOUNTS,
    SUBMISSIONS,
    Answer,
    Below,
    Fault,
    Inject,
    Memory,
    Request,
    Where,
    items_of,
    kebab,
    row,
    with_items,
)
from contracts.sandbox.faults.http import (
    REALM_NAMES,
    SIGN_IN,
    malformed,
    realm_in_query_alone,
    realm_in_query_ignored,
)

_BROKE: Final = instead(BROKEN)


def _beyond_ascii(request: Request, _: Memory) -> bool:
    """Whether a letter beyond ASCII stands in the address or the body, be it escaped as JSON does."""
    address = "".join((*request.params.values(), *(value for _, value in request.query)))
    escaped = re.search(rb"\\u(?!00[0-7])", request.body)
    return not (address.isascii() and request.body.isascii()) or escaped is not None


def _no_utf8(request: Request, _: Memory) -> bool:
    return request.body.decode("utf-8", "replace").encode() != request.body


def _half_pair(request: Request, _: Memory) -> bool:
    """Whether a body holds half of a surrogate pair."""
    return re.search("[\ud800-\udfff]", json.dumps(request.json, ensure_ascii=False)) is not None


def _deep(request: Request, _: Memory) -> bool:
    return request.body.count(b"[") + request.body.count(b"{") > 200


def _null_character(request: Request, _: Memory) -> bool:
    return b"\\u0000" in request.body or b"\0" in request.body


def _no_object(request: Request, _: Memory) -> bool:
    return request.body.strip()[:1] not in (b"{", b"")


def _no_body(request: Request, _: Memory) -> bool:
    return not request.body


def _unknown_account(request: Request, _: Memory) -> bool:
    email = request.json.get("email") if isinstance(request.json, dict) else None
    return isinstance(email, str) and bool(email) and email not in ACCOUNTS


def _text(where: str, name: str, pattern: str) -> Where:
    """Requests of which a parameter of the path, an option of the query or a header is of a form."""

    def meant(request: Request, _: Memory) -> bool:
        texts: dict[str, Mapping[Any, Any]] = {
            "path": request.params,
            "query": dict(request.query),
            "header": {key.decode(): text.decode("latin-1") for key, text in request.headers},
        }
        text = texts[where].get(name)
        return text is not None and re.search(pattern, text, re.DOTALL) is not None

    return meant


_UNKNOWN_REALM: Final = f"^(?!({'|'.join(REALM_NAMES)})$)."
# fmt: off
#: What a careless service breaks at: the name's end, words, which requests, and the operations.
_FAILS: Final[tuple[tuple[str, str, Where, tuple[str, ...]], ...]] = (
    ("on-malformed-sign-in", "a body that is not well formed", malformed, (SIGN_IN,)),
    ("on-malformed-contact", "a body that is not well formed", malformed, ("updateContact",)),
    ("on-deep-draft", "a body nested more than 200 levels deep", _deep, ("saveDraft",)),
    ("on-deep-submission", "a body nested more than 200 levels deep", _deep, ("createWorkflowRecord",)),
    ("on-half-pair", "half of a surrogate pair", _half_pair, ("createContact",)),
    ("on-half-pair-in-update", "half of a surrogate pair", _half_pair, ("updateWorkflowRecord",)),
    ("on-half-pair-in-draft", "half of a surrogate pair", _half_pair, ("saveDraft",)),
    ("on-other-encoding", "a body that is not UTF-8", _no_utf8, (SIGN_IN,)),
    ("on-null-character", "a null character in a text", _null_character, ("saveDraft",)),
    ("on-array-submission", "a body that is no object", _no_object, ("createWorkflowRecordWithIdentifier",)),
    ("on-array-draft", "a body that is no object", _no_object, ("saveDraft",)),
    ("on-absent-contact", "an absent body", _no_body, ("createContact",)),
    ("on-other-content-type", "a content type other than JSON", _text("header", "content-type", "^(?!.*json)."),
        ("updateWorkflowRecord",)),
    ("on-huge-top", "a $top of nineteen or more digits", _text("query", "$top", "^[0-9]{19}"), ("listDrafts",)),
    ("on-negative-skip", "a negative $skip", _text("query", "$skip", "^-"), ("listDrafts",)),
    ("on-malformed-filter", "a $filter with an odd number of apostrophes",
        _text("query", "$filter", "^[^']*'([^']*'[^']*')*[^']*$"), ("listDrafts",)),
    ("on-word-for-top", "a top that is a word", _text("query", "top", "^[^-0-9]"), ("listAttachments",)),
    ("on-word-for-attachment-id", "an attachment identifier that is a word",
        _text("path", "attachmentId", "^[A-Za-z]+$"), ("getAttachmentThumbnail",)),
    ("on-odd-encoding-in-uid", "a uid that is not UTF-8 when its percent-encoding is undone",
        _text("path", "uid", "\ufffd"), ("getDraft",)),
    ("on-apostrophe-in-uid", "an apostrophe in a uid", _text("path", "uid", "'"), ("saveDraft",)),
    ("on-unknown-realm", "an unknown realm", _text("header", "realm", _UNKNOWN_REALM), ("saveDraft",)),
    ("on-broken-authorization", "an Authorization header of one word",
        _text("header", "authorization", "^[^ ]+$"), ("getDraftInfo",)),
    ("on-long-uid-in-{}", "a uid of more than 255 characters", _text("path", "uid", ".{256}"),
        ("getDraft", "getDraftInfo", "draftExists", "deleteDraft", "listAttachments")),
    ("on-huge-id-in-{}", "an attachment identifier of nineteen or more digits",
        _text("path", "attachmentId", "^[0-9]{19}"), ("attachmentExists", "getAttachment", "getAttachmentThumbnail")),
    ("beyond-ascii-in-{}", "a letter beyond ASCII in its address or body", _beyond_ascii,
        ("draftExists", "getDraftInfo", "createAttachment", "persistTemporaryFile", "attachmentExists", *SUBMISSIONS)),
)


def _failing_rows() -> Iterator[Fault]:
    for name, what, where, operations in _FAILS:
        for operation in operations:
            yield row(f"fails-{name.format(kebab(operation))}", "no-server-error", operation, _broke_at_once,
                f"{operation} answers 500 to {what}.", where=where)
    yield row("fails", "no-server-error", "getDraft", _BROKE, "getDraft answers 500.", "one-in-twenty")
    yield row("fails-on-absent-draft", "no-server-error", "deleteDraft",
        answer_refusal(lambda _, got: BROKEN if got.status == 404 else got),
        "Deleting a draft that does not exist answers 500.")
    yield row("thumbnail-of-text-fails", "no-server-error", "getAttachmentThumbnail", _BROKE,
        "The thumbnail of a file that is no picture answers 500.",
        where=_text("path", "filename", r"(?<!\.png)(?<!\.jpg)(?<!\.gif)$"))
    yield row("hangs-on-deep-draft", "answers-in-time", "saveDraft", stall,
        "saveDraft never answers a body nested more than 200 levels deep.", where=_deep)
    yield row("hangs-on-unknown-account", "answers-in-time", SIGN_IN, stall,
        "createToken never answers an e-mail that belongs to no account.", where=_unknown_account)
# fmt: on


async def _broke_at_once(_request: Request, _below: Below, _: Memory) -> Answer | None:
    """The service breaks before it looks at a token."""
    return BROKEN


def _closed(text: str) -> str:
    """A JSON text with what is missing at its end."""
    bare = re.sub(r'"(\\.|[^"\\])*"', "", text)
    inside = bare.count('"') % 2 == 1
    missing: list[str] = []
    for letter in re.sub('"[^"]*$', "", bare):
        if letter in "{[":
            missing.append("}" if letter == "{" else "]")
        elif letter in "}]" and missing:
            missing.pop()
    return text.rstrip().rstrip(",:") + '"' * inside + "".join(reversed(missing))


def _first_value(text: str) -> str:
    try:
        return text.lstrip()[: json.JSONDecoder().raw_decode(text.lstrip())[1]]
    except ValueError:
        return text


# fmt: off
#: How malformed JSON is made good: by the end of the name, the words for it, the repair.
_MENDS: Final[Mapping[str, tuple[str, Callable[[str], str]]]] = MappingProxyType({
    "cut-short": ("that is cut short", _closed),
    "with-trailing-comma": ("with a comma before a bracket", lambda text: re.sub(r",\s*([}\]])", r"\1", text)),
    "with-comments": ("with comments", lambda text: re.sub(r'(?ms)/\*.*?\*/|//[^\n"]*$', "", text)),
    "with-apostrophes": ("with apostrophes for quotation marks", lambda text: text.replace("'", '"')),
    "with-more-after-end": ("with more after its end", _first_value),
    "with-bare-keys": ("with keys without quotation marks",
        lambda text: re.sub(r"([{,]\s*)([A-Za-z]\w*)\s*:", r'\1"\2":', text)),
})
_SHORT, _DIALECT = "malformed-json-refused", "json-dialect-refused"
#: What each operation takes of it: how its body is called, the clause, and the kinds.
_MENDED: Final[tuple[tuple[str, str, str, tuple[str, ...]], ...]] = (
    ("draft", "saveDraft", _SHORT, ("cut-short",)),
    ("contact", "createContact", _SHORT, ("cut-short",)),
    ("contact-update", "updateContact", _SHORT, ("cut-short",)),
    ("submission", "createWorkflowRecord", _SHORT, ("cut-short",)),
    ("named-submission", "createWorkflowRecordWithIdentifier", _SHORT, ("cut-short",)),
    ("submission-update", "updateWorkflowRecord", _SHORT, ("cut-short",)),
    ("draft", "saveDraft", _DIALECT, ("with-trailing-comma", "with-more-after-end", "with-bare-keys")),
    ("credentials", SIGN_IN, _DIALECT, ("with-trailing-comma",)),
    ("contact", "updateContact", _DIALECT, ("with-apostrophes", "with-trailing-comma", "with-comments")),
)
#: Operations whose JSON is labelled as something else.
_LABELS: Final = (
    ("getDraft", "text/plain", "plain"),
    ("listDrafts", "text/html", "html"),
    (SIGN_IN, "text/plain", "plain"),
    ("listAttachments", "application/octet-stream", "octet-stream"),
    ("createWorkflowRecord", "text/plain", "plain"),
)
# fmt: on


def _mended(repair: Callable[[str], str]) -> Inject:
    return mend(
        lambda request: replace(request, body=repair(request.body.decode("utf-8", "replace")).encode())
    )


async def _empty_draft_stored(request: Request, below: Below, _: Memory) -> Answer | None:
    """A body is refused, and an empty object is stored all the same."""
    got = await below(request)
    await below(request.with_json({}))
    return got


def _relabelled(media_type: str, _: Request, got: Answer) -> Answer:
    return labelled(got, media_type) if got.success and got.body else got


def _worded(text: str, _: Request, got: Answer) -> Answer:
    return labelled(replace(got, body=text.encode()), "text/plain")


# fmt: off
def _body_rows() -> Iterator[Fault]:
    for body, operation, clause, kinds in _MENDED:
        for kind in kinds:
            words, repair = _MENDS[kind]
            yield row(f"malformed-{body}-{kind}", clause, operation, _mended(repair),
                f"{operation} accepts a body {words}.", where=malformed)
    yield row("malformed-draft-refused-yet-stored", _SHORT, "saveDraft", _empty_draft_stored,
        "A draft that is not well formed is refused, yet an empty draft is stored under its uid.",
        where=lambda request, memory: malformed(request, memory) and signed_in(request))
    for operation, media_type, word in _LABELS:
        yield row(f"json-as-{word}-by-{kebab(operation)}", "json-labelled-json", operation,
            answer(partial(_relabelled, media_type)), f"The JSON that {operation} answers is labelled {media_type}.")
    yield row("refusal-labelled-text", "json-labelled-json", "createContact",
        answer_refusal(lambda _, got: labelled(got, "text/plain")),
        "The errors of a faulty contact come as JSON labelled text/plain.")
    yield row("refusal-in-plain-text", "json-bodies", "getDraft",
        answer_refusal(partial(_worded, "there is no such draft")),
        "A draft that is not there is refused with a line of plain text.")
    yield row("saved-in-plain-text", "json-bodies", "saveDraft",
        answer(lambda request, got: _worded("saved", request, got) if got.success else got),
        "The answer to a saved draft is the plain word saved.")
# fmt: on


def _authorization(request: Request) -> str:
    return request.header("authorization")


def _with(more: Callable[[Request], dict[str, Any]], *, refusals: bool = False) -> Inject:
    """Add members to the JSON of successes, or of refusals."""
    return answer(
        lambda request, got: (
            got.with_json({**got.json, **more(request)})
            if got.success is not refusals and isinstance(got.json, dict)
            else got
        )
    )


def _headers_of(request: Request) -> dict[str, Any]:
    return {"request": {name.decode(): value.decode("latin-1") for name, value in request.headers}}


def _elsewhere(request: Request) -> Request:
    """The request at an address where nothing ever stood."""
    path = request.operation.path.replace("/api/v20", "/api/v19")
    return replace(request, operation=replace(request.operation, path=path))


def _session_header(request: Request, got: Answer) -> Answer:
    token = _authorization(request).rpartition(" ")[2].encode("latin-1")
    return replace(got, headers=(*got.headers, (b"x-session", token)))


# fmt: off
def _header_rows() -> Iterator[Fault]:
    for operation in load_catalogue().clause("content-type-charset").operations:
        yield row(f"charset-refused-by-{kebab(operation)}", "content-type-charset", operation,
            refuse_before(status=415), f"{operation} refuses a Content-Type with the parameter charset.",
            where=_text("header", "content-type", "(?i)charset"))
    for operation, clause in (
        ("listAttachments", "version-2013-paths"),
        ("getDraftInfo", "version-2013-paths"),
        ("createWorkflowRecord", "version-2023-paths"),
        ("updateWorkflowRecord", "version-2023-paths"),
    ):
        yield row(f"path-of-{kebab(operation)}-gone", clause, operation, send(_elsewhere),
            f"There is nothing at the path and method of {operation}.")
    yield row("password-in-answer", "no-secret-echoed", SIGN_IN, _with(lambda request: {"account": request.json}),
        "The answer to signing in repeats the password beside the token.")
    yield row("token-in-header", "no-secret-echoed", "listDrafts", answer(_session_header),
        "A header of the list of drafts repeats the token of the request.")
    yield row("token-in-submission-answer", "no-secret-echoed", "updateWorkflowRecord", _with(_headers_of),
        "The answer to an accepted update repeats all headers of the request.")
    for what, operation in (("contact", "createContact"), ("draft", "getDraft")):
        yield row(f"token-in-refusal-of-{what}", "no-secret-echoed", operation,
            _with(lambda request: {"message": f"(authorization: {_authorization(request)})"}, refusals=True),
            f"The refusal of a {what} repeats the Authorization header in its message.")
# fmt: on


def _in_query_of(*, known: bool) -> Where:
    """Submissions whose realm stands in the query alone, and is known but for the first, or unknown."""

    def meant(request: Request, memory: Memory) -> bool:
        right = request.realm in REALM_NAMES[1:] if known else request.realm not in REALM_NAMES
        return realm_in_query_alone(request, memory) and right

    return meant


def _realm_empty(request: Request, _: Memory) -> bool:
    return (b"realm", b"") in request.headers and not request.realm


def _filtered(request: Request, _: Memory) -> bool:
    return "$filter" in dict(request.query)


async def _asked_in_other_realms(request: Request, below: Below, _: Memory) -> Answer | None:
    """What is not there is looked for in the other realms."""
    got = await below(request)
    for realm in REALM_NAMES:
        if got.success or not signed_in(request):
            break
        elsewhere = await below(request.with_header("realm", realm))
        got = elsewhere if elsewhere.success else got
    return got


async def _listed_of_all_realms(request: Request, below: Below, _: Memory) -> Answer | None:
    """A list goes on with the items of the other realms."""
    got, more = await below(request), list[Any]()
    for realm in load_catalogue().clause("realm-lists-apart").realms:
        if realm != request.realm and got.success:
            more += items_of((await below(request.with_header("realm", realm))).json) or []
    return with_items(got, lambda items: [*items, *more])


# fmt: off
def _realm_rows() -> Iterator[Fault]:
    missing = load_catalogue().clause("workflow-realm-missing").message or ""
    told_404 = answer_refusal(lambda _, got: replace(got, status=404))
    yield row("realm-query-only-abs", "realm-query", SUBMISSIONS, realm_in_query_ignored,
        "A realm in the query counts only when it is abs-dev.", where=_in_query_of(known=True))
    yield row("realm-query-unknown-status", "realm-query-unknown", SUBMISSIONS, told_404,
        "An unknown realm in the query is refused with 404 in place of 400.", where=_in_query_of(known=False))
    yield row("realm-query-unknown-message", "realm-query-unknown", SUBMISSIONS,
        answer_refusal(lambda _, got: got.with_json({"message": missing})),
        "An unknown realm in the query is refused with the message for a missing one.",
        where=_in_query_of(known=False))
    yield row("realm-empty-taken-for-first", "realm-empty", SUBMISSIONS,
        send(lambda request: request.with_header("realm", REALM_NAMES[0])),
        "An empty Realm header is taken for abs-dev.", where=_realm_empty)
    yield row("realm-empty-status", "realm-empty", SUBMISSIONS, told_404,
        "An empty Realm header is refused with 404 in place of 400.", where=_realm_empty)
    yield row("realm-draft-given-in-others", "realm-drafts-apart", "getDraft", _asked_in_other_realms,
        "getDraft gives the draft of another realm where its own realm has none.")
    yield row("realm-lists-mixed", "realm-lists-apart", "listDrafts", _listed_of_all_realms,
        "The list of drafts of one realm goes on with the drafts of the others.",
        where=lambda request, memory: not _filtered(request, memory))
    yield row("realm-lists-mixed-by-filter", "realm-lists-apart", "listDrafts", _listed_of_all_realms,
        "The list of drafts with a $filter holds those of all realms that match.", where=_filtered)
# fmt: on


def protocol_rows() -> Iterator[Fault]:
    """Each clause of HTTP and of realms, broken alone."""
    yield from _failing_rows()
    yield from _body_rows()
    yield from _header_rows()
    yield from _realm_rows()
