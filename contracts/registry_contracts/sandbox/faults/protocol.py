"""Faults of HTTP and of realms: crashes, malformed bodies, headers, paths, secrets, and realms that are mixed up."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from typing import Final

from msgspec import structs

from registry_contracts.sandbox.faults import effects as do
from registry_contracts.sandbox.faults.fault import Rows, each
from registry_contracts.sandbox.faults.messages import Answer, Inject, Request, answer_json
from registry_contracts.sandbox.faults.places import KNOWN_REALM, NAMED_SUBMISSIONS, SIGN_IN, TYPES, kebab

_NAMED, _UPDATE = NAMED_SUBMISSIONS
#: A body is nested more than 200 levels deep, or is there and is no well-formed JSON.
_DEEP: Final = r"body~([\[{][^\[{]*){201}"
_MALFORMED: Final = r"body~. json~^null$ -body~^\s*null\s*\Z"


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


#: Tests for requests, each with what a fault says of them.
_CHARSET: Final = ("content-type~(?i)charset", "with the parameter charset in its Content-Type")
_WITH_TYPE: Final = ("content-type~.", "with a Content-Type")
_NO_REALM: Final = ("-realm~.", "without a realm")
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
_ANY, _REALM = Rows("", ""), Rows("realm-", "realm-")
ROWS: Final = (
    _ANY("hangs-on-deep-draft", "answers-in-time", do.stall,
        "saveDraft never answers a body nested more than 200 levels deep", _DEEP, at="saveDraft"),
    # Bodies that are no JSON, or are taken though they are none.
    _ANY("body-with-trailing-comma-taken", "json-dialect-refused", _mended(r",\s*([}\]])", r"\1"),
        "createToken accepts a body with a comma before a bracket", _MALFORMED, at=SIGN_IN),
    *each(lambda operation: _ANY(f"malformed-body-taken-by-{kebab(operation)}", "malformed-json-refused",
            do.give(do.always(answer_json(200, {"identifier": "taken-as-it-is"}))),
            f"{operation} answers success to a body that is no JSON", _MALFORMED, at=operation),
        # Whether a sign-in that gives no token may be a success is not shown.
        "createContact", "saveDraft"),
    _ANY("json-as-plain", "json-labelled-json",
        do.success(partial(Answer.with_header, name="content-type", value="text/plain")),
        "The JSON that createToken answers is labelled text/plain", at=SIGN_IN),
    _ANY("refusal-in-plain-text", "json-bodies",
        do.refusals(lambda got: replace(got, body=b"there is no such draft").with_header("content-type", "text/plain")),
        "A draft that is not there is refused with a line of plain text", at="getDraft"),
    # Headers, addresses and secrets.
    *each(lambda clause, name, where, says, operation: _ANY(f"{name}-by-{kebab(operation)}", clause,
            do.refuse_before(), f"{operation} refuses a request {says}", where, at=operation),
        ("content-type-charset", "charset-refused", *_CHARSET, "updateContact"),
        ("content-type-charset", "charset-refused", *_CHARSET, "createWorkflowRecord"),
        ("content-type-not-needed", "content-type-needed", "-content-type~.", "without a Content-Type",
            "createAttachment"),
        ("content-type-without-body", "content-type-refused", *_WITH_TYPE, "getDraftInfo"),
        ("content-type-without-body", "content-type-refused", *_WITH_TYPE, "getAttachment"),
        ("realm-attachments-without", "realm-needed", *_NO_REALM, "attachmentExists"),
        ("realm-attachments-without", "realm-needed", *_NO_REALM, "getAttachment"),
    ),
    *each(lambda version, operation: _ANY(f"path-of-{kebab(operation)}-gone", f"version-{version}-paths",
            do.send(_elsewhere), f"There is nothing at the path and method of {operation}", at=operation),
        (2013, "getDraftInfo"), (2023, _UPDATE)),
    _ANY("password-in-answer", "no-secret-echoed", do.answer(lambda r, got: got.with_member("account", r.json) if
        got.success else got), "The answer to a sign-in repeats the password",
        at=SIGN_IN),
    # Realms that are not seen, not known, or mixed up.
    _REALM("query-ignored", "query", do.send(lambda r: r.with_options(Realm=None)),
        "updateWorkflowRecord does not see a realm that the query alone names", f"-realm~. Realm~{KNOWN_REALM}",
        at=_UPDATE),
    _REALM("empty-taken", "empty", do.send(lambda r: r.with_header("realm", "abs-dev")),
        "createWorkflowRecordWithIdentifier takes an empty Realm header for abs-dev", "realm~^$", at=_NAMED),
    *each(lambda clause, operation, realm: _ANY(f"realm-refused-by-{kebab(operation)}",
            (clause, *ACCEPTANCE[operation]),
            do.send(lambda r: r.with_header("realm", "no-such-realm") if r.role else None),
            f"{operation} does not know the realm", at=operation).under(f"in-{realm}"),
        ("realm-document-realms", "getDraft", "bch-dev"), ("realm-workflow-realms", _UPDATE, "ort-dev")),
)
# fmt: on
