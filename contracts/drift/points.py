"""Which silent clause speaks of an answer: the place where its status and its shape are noted."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

_DRAFTS: Final = ("saveDraft", "getDraft", "getDraftInfo", "draftExists", "deleteDraft")
_UPLOADS: Final = ("createAttachment", "persistTemporaryFile", "listAttachments")
_DOWNLOADS: Final = ("attachmentExists", "getAttachment", "getAttachmentThumbnail")
_CONTACTS: Final = ("createContact", "updateContact")
_WORKFLOW: Final = ("createWorkflowRecord", "createWorkflowRecordWithIdentifier", "updateWorkflowRecord")

#: Operation → the silent clause about the status of its success.
SUCCESS_STATUS: Final[Mapping[str, str]] = MappingProxyType(
    {
        "createToken": "token-success-status",
        "listDrafts": "list-success-status",
        **dict.fromkeys(_CONTACTS, "contact-success-status"),
        **dict.fromkeys(_DRAFTS, "draft-success-status"),
        **dict.fromkeys((*_UPLOADS, *_DOWNLOADS), "attachment-success-status"),
        **dict.fromkeys(_WORKFLOW, "workflow-success-status"),
    }
)

#: Operation → the silent clause about the body of its success, where it is not the one about the status.
_SUCCESS_BODY: Final[Mapping[str, str]] = MappingProxyType(
    {
        "createContact": "contact-create-answer",
        "updateContact": "contact-update-answer",
        "saveDraft": "draft-save-answer",
        "getDraft": "draft-get-answer",
        "getDraftInfo": "draft-info-answer",
        "deleteDraft": "draft-delete-answer",
        "listDrafts": "list-fields",
        "listAttachments": "attachment-fields",
        "createAttachment": "attachment-create-answer",
        "persistTemporaryFile": "attachment-persist-answer",
        **dict.fromkeys(_WORKFLOW, "workflow-answer"),
    }
)

_REFUSAL: Final[Mapping[str, str]] = MappingProxyType(
    {
        "createToken": "token-failure-answer",
        "listDrafts": "list-failure-status",
        **dict.fromkeys(_CONTACTS, "errors-status"),
        **dict.fromkeys(_DRAFTS, "draft-failure-status"),
        **dict.fromkeys((*_UPLOADS, *_DOWNLOADS), "attachment-failure-status"),
        **dict.fromkeys(_WORKFLOW, "workflow-message-place"),
    }
)
#: Operations whose refusal for want of a token has a silent clause of its own.
_CLOSED: Final = frozenset({*_CONTACTS, *_DRAFTS, "listDrafts", *_UPLOADS})
_UID_RULED: Final = frozenset({"updateContact", *_DRAFTS, *_UPLOADS, *_DOWNLOADS})


def success_clause(operation: str) -> str:
    """Return the id of the silent clause about the body that an accepted request is answered with."""
    return _SUCCESS_BODY.get(operation, SUCCESS_STATUS[operation])


def refusal_clause(operation: str, *, tokenless: bool, uid_valid: bool) -> str:
    """Return the id of the silent clause about a refusal.

    Args:
        tokenless: no valid token came with the request.
        uid_valid: the uid in the path obeys the uid rule, or there is none.
    """
    if not uid_valid and operation in _UID_RULED:
        return "uid-refusal-answer"
    if tokenless and operation in _CLOSED:
        return "token-missing-answer"
    return _REFUSAL[operation]


def operations() -> tuple[str, ...]:
    """Return every operation that has a place for its answers."""
    return tuple(SUCCESS_STATUS)
