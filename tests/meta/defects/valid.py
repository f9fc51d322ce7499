"""One valid request of each operation, on fresh data; each may be sent with one thing changed."""

from collections.abc import Callable

from tests.meta.defects.samples import (
    DOCUMENTS,
    PASSWORDS,
    TOKEN,
    attachments_path,
    contact,
    draft_path,
    record,
    submission_path,
)
from tests.meta.defects.wire import Request
from tests.meta.defects.witness import VALID, Witness

Maker = Callable[[Witness, str], Request]


def valid(operation: str) -> Callable[[Maker], Maker]:
    """Register the decorated maker of a valid request."""

    def register(maker: Maker) -> Maker:
        VALID[operation] = maker
        return maker

    return register


def _reading(witness: Witness, method: str, realm: str, more: str = "") -> Request:
    uid = witness.saved(realm=realm)
    return witness.make(method, f"{attachments_path(uid)}/{witness.attached(uid)}/a.txt{more}", realm=None)


@valid("createToken")
def create_token(witness: Witness, _realm: str) -> Request:
    body = {"email": "author@sandbox.test", "password": PASSWORDS["author"]}
    return witness.make("POST", TOKEN, body, role=None, realm=None)


@valid("createContact")
def create_contact(witness: Witness, realm: str) -> Request:
    return witness.make("POST", DOCUMENTS, contact(realm), query={"schema": "contact"}, realm=realm)


@valid("updateContact")
def update_contact(witness: Witness, realm: str) -> Request:
    uid = witness.contact_made(realm)
    return witness.make("PUT", f"{DOCUMENTS}/{uid}", contact(realm), query={"schema": "contact"}, realm=realm)


@valid("saveDraft")
def save_draft(witness: Witness, realm: str) -> Request:
    return witness.make("PUT", draft_path(witness.uid()), {"a": 1}, query={"schema": "contact"}, realm=realm)


@valid("getDraft")
def get_draft(witness: Witness, realm: str) -> Request:
    return witness.make("GET", draft_path(witness.saved(realm=realm)), realm=realm)


@valid("getDraftInfo")
def get_draft_info(witness: Witness, realm: str) -> Request:
    return witness.make("GET", draft_path(witness.saved(realm=realm)) + "/info", realm=realm)


@valid("draftExists")
def draft_exists(witness: Witness, realm: str) -> Request:
    return witness.make("HEAD", draft_path(witness.saved(realm=realm)), realm=realm)


@valid("deleteDraft")
def delete_draft(witness: Witness, realm: str) -> Request:
    return witness.make("DELETE", draft_path(witness.saved(realm=realm)), realm=realm)


@valid("listDrafts")
def list_drafts(witness: Witness, realm: str) -> Request:
    return witness.make("GET", "/api/v2013/document-drafts", realm=realm)


@valid("createAttachment")
def create_attachment(witness: Witness, realm: str) -> Request:
    return witness.make(
        "POST", f"{attachments_path(witness.saved(realm=realm))}/a.txt", b"content", realm=None
    )


@valid("persistTemporaryFile")
def persist_temporary_file(witness: Witness, realm: str) -> Request:
    path = f"{attachments_path(witness.saved(realm=realm))}/persist-temporary/{witness.temporary()}"
    return witness.make("POST", path, realm=None)


@valid("listAttachments")
def list_attachments(witness: Witness, realm: str) -> Request:
    uid = witness.saved(realm=realm)
    witness.attached(uid)
    return witness.make("GET", attachments_path(uid), realm=None)


@valid("attachmentExists")
def attachment_exists(witness: Witness, realm: str) -> Request:
    return _reading(witness, "HEAD", realm)


@valid("getAttachment")
def get_attachment(witness: Witness, realm: str) -> Request:
    return _reading(witness, "GET", realm)


@valid("getAttachmentThumbnail")
def get_attachment_thumbnail(witness: Witness, realm: str) -> Request:
    return _reading(witness, "GET", realm, "/thumbnail")


@valid("createWorkflowRecord")
def create_workflow_record(witness: Witness, realm: str) -> Request:
    return witness.make("POST", submission_path(realm), {"document": record(realm)}, realm=realm)


@valid("createWorkflowRecordWithIdentifier")
def create_workflow_record_with_identifier(witness: Witness, realm: str) -> Request:
    path = submission_path(realm, witness.uid())
    return witness.make("POST", path, {"document": record(realm)}, realm=realm)


@valid("updateWorkflowRecord")
def update_workflow_record(witness: Witness, realm: str) -> Request:
    path = submission_path(realm, witness.updatable(realm))
    return witness.make("PUT", path, {"document": record(realm)}, realm=realm)
