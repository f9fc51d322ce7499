"""Attachments are found under their own id and document only."""

from contracts.cases import (
    Actor,
    Arrangement,
    Claims,
    Observer,
    contract,
    shape,
    shared_document,
    shared_documents,
    status,
)

READS = ("attachmentExists", "getAttachment", "getAttachmentThumbnail")
#: What is absent is asked for so often: an answer may be right the first time only.
AGAIN = 5


@contract("attachment-exists-absent", "attachment-get-absent", "attachment-thumbnail-absent")
@contract("attachment-failure-status", operations=READS, requests=7)
def test_an_unknown_identifier_finds_nothing(
    author: Actor, arrange: Arrangement, claim: Claims, observe: Observer
) -> None:
    """An identifier that the document does not have is not found, whatever the name beside it."""
    path = shared_document(arrange, author).pictures[0].path | {"attachmentId": str(shared_documents.ABSENT)}
    got, preview = (author.send(operation, path=path) for operation in READS[1:])
    claim("attachment-get-absent").refused(got)
    claim("attachment-thumbnail-absent").refused(preview)
    observe("attachment-failure-status", "getAttachment", shape(got))
    observe("attachment-failure-status", "getAttachmentThumbnail", shape(preview))
    for number in range(AGAIN):
        absent = path | {"attachmentId": str(shared_documents.ABSENT - number)}
        claim("attachment-exists-absent").refused(author.send("attachmentExists", path=absent))


@contract("attachment-exists-other-document", requests=14)
def test_an_attachment_of_another_document_does_not_exist(
    author: Actor, arrange: Arrangement, claim: Claims
) -> None:
    """The exists check does not succeed for an attachment of another document, not under a name both have.

    Nor when it is asked again.
    """
    shared_documents.relies_on_absence(arrange, author, "attachmentExists")
    attachment, elsewhere = shared_documents.attachment_elsewhere(arrange, author)
    for uid in (elsewhere.uid, *[arrange.document(author)] * AGAIN):
        path = attachment.path | {"uid": uid}
        claim("attachment-exists-other-document").refused(author.send("attachmentExists", path=path))


@contract("attachment-get-other-document", "attachment-thumbnail-other-document", requests=4)
def test_an_attachment_of_another_document_is_not_given(
    author: Actor, arrange: Arrangement, claim: Claims
) -> None:
    """Neither an attachment nor its thumbnail is given through another document."""
    shared_documents.relies_on_absence(arrange, author, "getAttachment")
    shared_documents.relies_on_absence(arrange, author, "getAttachmentThumbnail")
    attachment, elsewhere = shared_documents.attachment_elsewhere(arrange, author)
    path = attachment.path | {"uid": elsewhere.uid}
    picture = shared_document(arrange, author).pictures[-1].path | {"uid": elsewhere.uid}
    claim("attachment-get-other-document").refused(author.send("getAttachment", path=path))
    seen = author.send("getAttachmentThumbnail", path=picture)
    claim("attachment-thumbnail-other-document").refused(seen)


@contract("attachment-id-integer", "attachment-id-thumbnail", requests=3)
def test_what_is_no_integer_finds_nothing(author: Actor, arrange: Arrangement, claim: Claims) -> None:
    """An identifier that is no integer finds no attachment, not even when it begins with the right one."""
    shared_documents.relies_on_absence(arrange, author, "attachmentExists")
    shared_documents.relies_on_absence(arrange, author, "getAttachment")
    picture = shared_document(arrange, author).pictures[0]
    path = picture.path | {"attachmentId": f"{picture.id}x"}
    exists, got, preview = (author.send(operation, path=path) for operation in READS)
    claim("attachment-id-thumbnail").refused(preview)
    claim("attachment-id-integer", "attachmentExists").refused(exists)
    claim("attachment-id-integer", "getAttachment").refused(got)


@contract("attachment-name-disagrees", requests=3)
def test_a_name_that_does_not_go_with_the_identifier_is_observed(
    author: Actor, arrange: Arrangement, observe: Observer
) -> None:
    """What a file name that does not go with the attachment identifier leads to is not shown."""
    path = shared_document(arrange, author).pictures[0].path | {"filename": "another-name.png"}
    observe(
        "attachment-name-disagrees", "attachmentExists", status(author.send("attachmentExists", path=path))
    )
    observe("attachment-name-disagrees", "getAttachment", status(author.send("getAttachment", path=path)))
    preview = author.send("getAttachmentThumbnail", path=path)
    observe("attachment-name-disagrees", "getAttachmentThumbnail", status(preview))
