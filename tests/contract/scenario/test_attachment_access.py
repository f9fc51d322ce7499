"""Access to attachments: creating and listing need a token; the document does not say more."""

import pytest

from registry_contracts.cases import (
    Actor,
    Observer,
    World,
    attachments_of,
    contract,
    document_for_uploads,
    shape,
    shared_document,
    status,
    upload,
)


@contract("attachment-exists-token", "attachment-get-token", "attachment-thumbnail-token", requests=3)
def test_reading_attachments_without_a_token_is_observed(
    world: World, anonymous: Actor, observe: Observer
) -> None:
    """The document does not say whether exists, get and thumbnail need a token."""
    path = shared_document(world).pictures[0].path
    reads = {"attachmentExists": "exists", "getAttachment": "get", "getAttachmentThumbnail": "thumbnail"}
    for operation, word in reads.items():
        observe(f"attachment-{word}-token", operation, status(anonymous.send(operation, path=path)))


@pytest.mark.parametrize(
    ("clause", "role"),
    [
        pytest.param(clause, role, id=role, marks=contract(clause))
        for clause, role in (("attachment-of-another", "other"), ("attachment-by-restricted", "restricted"))
    ],
)
@contract(operations=["listAttachments", "createAttachment"], profile="nightly", requests=2.7)
def test_another_account_is_observed(
    request: pytest.FixtureRequest, world: World, observe: Observer, clause: str, role: str
) -> None:
    """The document does not say whether another account, or one without rights, may list or create attachments."""
    uid, by = document_for_uploads(world), request.getfixturevalue(role)
    observe(clause, "listAttachments", status(attachments_of(by, uid).page().exchange))
    observe(clause, "createAttachment", status(upload(by, uid, f"{world.uid()}.txt", b"x")))


@contract("attachment-document-unknown", "attachment-failure-status", requests=2)
def test_a_document_that_does_not_exist_is_observed(world: World, observe: Observer) -> None:
    """The document does not say how a service answers uploads to, or lists of, a document that does not exist."""
    uid = world.uid()
    created, page = upload(world.author, uid, "lost.txt", b"lost\n"), attachments_of(world.author, uid).page()
    observe("attachment-document-unknown", "createAttachment", status(created))
    observe("attachment-document-unknown", "listAttachments", status(page.exchange))
    observe("attachment-failure-status", "createAttachment", shape(created))
