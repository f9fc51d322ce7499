"""Accounts and operations of the sandbox, by what they are for."""

import re
from typing import Final

#: The sandbox's accounts: role and password by e-mail address.
ACCOUNTS: Final = {
    f"{role}@sandbox.test": (role, f"sandbox-{role}") for role in ("author", "other", "restricted", "nau")
}
SIGN_IN: Final = "createToken"
DRAFTS: Final = ("saveDraft", "getDraft", "draftExists", "deleteDraft", "getDraftInfo")
SUBMISSIONS: Final = ("createWorkflowRecord", "createWorkflowRecordWithIdentifier", "updateWorkflowRecord")
NAMED_SUBMISSIONS: Final = SUBMISSIONS[1:]
CONTACTS: Final = ("createContact", "updateContact")
FILES: Final = (
    *("createAttachment", "persistTemporaryFile", "listAttachments"),
    *("attachmentExists", "getAttachment", "getAttachmentThumbnail"),
)


def kebab(name: str) -> str:
    """Write a name in camel case with hyphens, as names of faults and clauses have it."""
    return re.sub(r"(?<!^)(?=[A-Z])", "-", name).lower()
