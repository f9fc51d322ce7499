"""Access to attachments: creating and listing need a token; the document does not say more."""

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
    exists, got = (
        anonymous.send(operation, path=path) for operation in ("attachmentExists", "getAttachment")
    )
    observe("attachment-exists-token", "attachmentExists", status(exists))
    observe("attachment-get-token", "getAttachment", status(got))
    preview = anonymous.get_attachment_thumbnail(path)
    observe("attachment-thumbnail-token", "getAttachmentThumbnail", status(preview))


@contract("attachment-of-another", profile="nightly", requests=2.7)
def test_the_document_of_another_account_is_observed(world: World, other: Actor, observe: Observer) -> None:
    """The document does not say whether an account may list or create attachments of another account's document."""
    uid = document_for_uploads(world)
    observe("attachment-of-another", "listAttachments", status(attachments_of(other, uid).page().exchange))
    observe(
        "attachment-of-another", "createAttachment", status(upload(other, uid, f"{world.uid()}.txt", b"x"))
    )


@contract("attachment-by-restricted", profile="nightly", requests=2)
def test_an_account_without_rights_is_observed(world: World, restricted: Actor, observe: Observer) -> None:
    """The document does not say how attachment operations answer an account without rights."""
    uid = document_for_uploads(world)
    observe(
        "attachment-by-restricted", "listAttachments", status(attachments_of(restricted, uid).page().exchange)
    )
    observe(
        "attachment-by-restricted",
        "createAttachment",
        status(upload(restricted, uid, f"{world.uid()}.txt", b"x")),
    )


@contract("attachment-document-unknown", "attachment-failure-status", requests=2)
def test_a_document_that_does_not_exist_is_observed(world: World, observe: Observer) -> None:
    """The document does not say how a service answers uploads to, or lists of, a document that does not exist."""
    uid = world.uid()
    created, page = upload(world.author, uid, "lost.txt", b"lost\n"), attachments_of(world.author, uid).page()
    observe("attachment-document-unknown", "createAttachment", status(created))
    observe("attachment-document-unknown", "listAttachments", status(page.exchange))
    observe("attachment-failure-status", "createAttachment", shape(created))
