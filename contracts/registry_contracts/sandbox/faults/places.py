"""Operations of the interface by what they are for, and the sandbox's accounts, realms and schemas."""

import re
from typing import Final

from registry_contracts.sandbox import authentication
from registry_contracts.sandbox.validation import REALMS

#: The sandbox's accounts by their names.
ACCOUNTS: Final = {account.name: account for account in authentication.ACCOUNTS}
#: The record types of each realm by their schemas.
TYPES: Final = {realm.name: realm.types for realm in REALMS}
SCHEMAS: Final = frozenset(schema for types in TYPES.values() for schema in types)
#: Patterns of a configured realm, and of a schema that some realm has.
KNOWN_REALM: Final = f"^({'|'.join(TYPES)})$"
KNOWN_SCHEMA: Final = f"^({'|'.join(sorted(SCHEMAS))})$"
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
