"""Operations of the interface and accounts of the sandbox, by what they are for."""

import re
from typing import Final

from registry_contracts.sandbox import authentication

#: The sandbox's accounts by their names.
ACCOUNTS: Final = {account.name: account for account in authentication.ACCOUNTS}
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
