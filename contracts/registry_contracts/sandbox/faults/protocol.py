"""Faults of HTTP and of realms: crashes, malformed bodies, headers, paths, secrets, and realms that are mixed up."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from typing import Final

from msgspec import structs

from registry_contracts.interface.catalogue import load_catalogue
from registry_contracts.sandbox.faults import effects as do
from registry_contracts.sandbox.faults.effects import BROKEN
from registry_contracts.sandbox.faults.fault import Rows, each
from registry_contracts.sandbox.faults.messages import Answer, Inject, Request, answer_json
from registry_contracts.sandbox.faults.places import (
    KNOWN_REALM,
    NAMED_SUBMISSIONS,
    SIGN_IN,
    SUBMISSIONS,
    TYPES,
)

#: The query alone names a realm.
_IN_QUERY: Final = f"-realm~. Realm~{KNOWN_REALM}"
#: A body is nested more than 200 levels deep, or is there and is no well-formed JSON.
_DEEP: Final = r"body~([\[{][^\[{]*){201}"
_MALFORMED: Final = r"body~. json~^null$ -body~^\s*null\s*\Z"


def _beyond_ascii(request: Request) -> bool:
    """Whether address or body hold a letter beyond ASCII; JSON may escape it."""
    address = "".join((*request.params.values(), *(value for _, value in request.query)))
    escaped = re.search(rb"\\u(?!00[0-7])", request.body)
    return not (address.isascii() and request.body.isascii()) or escaped is not None


def _mended(pattern: str, becomes: str) -> Inject:
    """Accept a refused body after replacing what a pattern finds in it."""
    return do.mend(
        lambda r: [replace(r, body=re.sub(pattern, becomes, r.body.decode("utf-8", "replace")).encode())]
    )


def _elsewhere(request: Request) -> Request:
    """The request at a path that does not exist."""
    path = request.operation.path.replace("/api/v20", "/api/v19")
    return replace(request, operation=structs.replace(request.operation, path=path))


async def with_those_of_others(request: Request, got: Answer) -> Answer:
    """Append the drafts of all other realms to a list of drafts."""
    others = [realm for realm in TYPES if realm != request.realm] if got.success else []
    lists = [await request.ask(request.with_header("realm", realm)) for realm in others]
    return got.with_items([*got.items, *(item for other in lists for item in other.items)])


# fmt: off
#: The clauses that a refused right request breaks, by operation; the most direct first.
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
_ANY, _SERVER = Rows("", ""), Rows("", "no-server-error")
_REALM = Rows("realm-", "realm-")
ROWS: Final = (
    # What a careless service breaks at.
    *each(lambda name, what, where, operations:
        _SERVER(f"fails-on-{name}-in-*", "", do.give(do.always(BROKEN), to_anyone=True), f"* answers 500 to {what}",
            where, at=operations),
        ("malformed-body", "a body that is not well formed", _MALFORMED, "updateContact"),
        ("huge-top", "a $top of nineteen or more digits", "top~^[0-9]{19}", "listDrafts"),
        ("letter-beyond-ascii", "a letter beyond ASCII in its address or body", _beyond_ascii, "createAttachment"),
    ),
    _ANY("hangs-on-deep-draft", "answers-in-time", do.stall,
        "saveDraft never answers a body nested more than 200 levels deep", _DEEP, at="saveDraft"),
    # Bodies that are no JSON, or are taken though they are none.
    *each(lambda name, words, pattern, becomes, operations: _ANY(f"body-with-{name}-taken-by-*", "json-dialect-refused",
            _mended(pattern, becomes), f"* accepts a body with {words}", _MALFORMED, at=operations),
        ("trailing-comma", "a comma before a bracket", r",\s*([}\]])", r"\1",
            ("saveDraft", SIGN_IN, "updateContact")),
    ),
    _ANY("malformed-body-taken-by-*", "malformed-json-refused",
        do.give(do.always(answer_json(200, {"identifier": "taken-as-it-is"}))),
        "* answers success to a body that is no JSON", _MALFORMED,
        # Whether a sign-in that gives no token may be a success is not shown.
        at=tuple(name for name in load_catalogue().clause("malformed-json-refused").operations if name != SIGN_IN)),
    _ANY("json-as-plain-by-*", "json-labelled-json", do.success(partial(Answer.with_header, name="content-type",
            value="text/plain")), "The JSON that * answers is labelled text/plain", at=("getDraft", SIGN_IN)),
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
    _ANY("password-in-answer", "no-secret-echoed", do.answer(lambda r, got: got.with_member("account", r.json) if
        got.success else got), "The answer to a sign-in repeats the password",
        at=SIGN_IN),
    # Realms that are not seen, not known, or mixed up.
    *each(lambda name, clause, effect, where, says:
        _REALM(f"{name}-by-*", clause, effect, f"* {says}", where, at=NAMED_SUBMISSIONS),
        ("query-ignored", "query", do.send(lambda r: r.with_options(Realm=None)), _IN_QUERY,
            "does not see a realm that the query alone names"),
        ("empty-taken", "empty", do.send(lambda r: r.with_header("realm", "abs-dev")), "realm~^$",
            "takes an empty Realm header for abs-dev"),
    ),
    *(
        _ANY("realm-refused-by-*", (clause, *ACCEPTANCE[operation]),
            do.send(lambda r: r.with_header("realm", "no-such-realm") if r.role else None),
            "* does not know the realm", at=operation, when=f"in-{realm}")
        for clause, operation in (("realm-document-realms", "getDraft"), ("realm-workflow-realms", SUBMISSIONS[2]))
        for realm in load_catalogue().clause(clause).realms
    ),
)
# fmt: on
