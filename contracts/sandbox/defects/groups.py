"""Operations that share a duty, by their ids."""

TOKEN = ("createToken",)
CONTACTS = ("createContact", "updateContact")
DRAFTS = ("saveDraft", "getDraft", "getDraftInfo", "draftExists", "deleteDraft")
READING_DRAFTS = ("getDraft", "getDraftInfo", "draftExists")
LIST = ("listDrafts",)
ATTACHING = ("createAttachment", "persistTemporaryFile")
READING_ATTACHMENTS = ("attachmentExists", "getAttachment", "getAttachmentThumbnail")
LIST_ATTACHMENTS = ("listAttachments",)
CREATE = "createWorkflowRecord"
CREATE_WITH = "createWorkflowRecordWithIdentifier"
UPDATE = "updateWorkflowRecord"
WORKFLOW = (CREATE, CREATE_WITH, UPDATE)
PROTECTED = (*CONTACTS, *DRAFTS, *LIST, *ATTACHING, *LIST_ATTACHMENTS, *WORKFLOW)
"""Operations that need a token (Authentication 4)."""

JSON_BODIES = (*TOKEN, *CONTACTS, "saveDraft", *WORKFLOW)
"""Operations that take a JSON body."""


def kebab(name: str) -> str:
    """Return a camel-case name in kebab-case, for the name of a defect or a clause."""
    return "".join(f"-{letter.lower()}" if letter.isupper() else letter for letter in name)
