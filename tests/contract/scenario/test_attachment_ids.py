"""Attachments are found under their own id and document only."""

from registry_contracts.cases import (
    Expect,
    Observer,
    World,
    contract,
    shape,
    shared_document,
    shared_documents,
    status,
)

READS = ("getAttachment", "getAttachmentThumbnail")


@contract("attachment-get-absent", "attachment-thumbnail-absent")
@contract("attachment-failure-status", operations=READS, requests=2)
def test_an_unknown_identifier_finds_nothing(world: World, expect: Expect, observe: Observer) -> None:
    """Neither an attachment nor its thumbnail is returned for an identifier that the document does not have."""
    path = shared_document(world).pictures[0].path | {"attachmentId": str(shared_documents.ABSENT)}
    got, preview = (world.author.send(operation, path=path) for operation in READS)
    expect("attachment-get-absent").refused(got)
    expect("attachment-thumbnail-absent").refused(preview)
    observe("attachment-failure-status", "getAttachment", shape(got))
    observe("attachment-failure-status", "getAttachmentThumbnail", shape(preview))


@contract("attachment-get-other-document", "attachment-thumbnail-other-document", requests=4)
@contract(relies_on=["attachment-get-absent", "attachment-thumbnail-absent"])
def test_an_attachment_of_another_document_is_not_given(world: World, expect: Expect) -> None:
    """Neither an attachment nor its thumbnail is returned under another document."""
    attachment, elsewhere = shared_documents.attachment_and_other(world)
    path = attachment.path | {"uid": elsewhere.uid}
    picture = shared_document(world).pictures[-1].path | {"uid": elsewhere.uid}
    expect("attachment-get-other-document").refused(world.author.get_attachment(path))
    seen = world.author.get_attachment_thumbnail(picture)
    expect("attachment-thumbnail-other-document").refused(seen)


@contract("attachment-name-disagrees", requests=3)
def test_a_name_that_does_not_go_with_the_identifier_is_observed(world: World, observe: Observer) -> None:
    """The document does not say how a file name that does not match the attachment identifier is answered."""
    path = shared_document(world).pictures[0].path | {"filename": "another-name.png"}
    observe("attachment-name-disagrees", "attachmentExists", status(world.author.attachment_exists(path)))
    observe("attachment-name-disagrees", "getAttachment", status(world.author.get_attachment(path)))
    preview = world.author.get_attachment_thumbnail(path)
    observe("attachment-name-disagrees", "getAttachmentThumbnail", status(preview))
