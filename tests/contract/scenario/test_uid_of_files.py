"""Uids of documents with attachments: shortest, longest, and in other letter case."""

from functools import partial

from registry_contracts.cases import (
    Deal,
    Expect,
    World,
    attachment_ids,
    attachments,
    contents,
    contract,
    identifiers,
    shared_documents,
    upload,
)

CHAIN = ("createAttachment", "listAttachments", "attachmentExists", "getAttachment", "getAttachmentThumbnail")

#: Length of a uid → its ending.
EDGES = {"11": "", "128": "--x_y_"}


@contract("uid-files-at-the-edges", operations=CHAIN, requests=0, dealt=27)
@contract(relies_on=["attachment-create-listed", "attachment-exists-present"])
@contract(relies_on=["attachment-download-same", "attachment-thumbnail-image"])
def test_a_document_at_the_end_of_the_range_has_attachments(world: World, expect: Expect, deal: Deal) -> None:
    """A picture is attached, listed, found, downloaded and previewed under a uid of 11 or of 128 characters."""
    edges = partial(expect, "uid-files-at-the-edges")
    for length, ending in deal(EDGES).items():
        uid = world.document(world.uid(int(length) - len(ending)) + ending, named=True)
        created = upload(world.author, uid, "edge.png", contents.RED)
        edges("createAttachment").accepted(created)
        sought = attachment_ids.Attachment(uid, 0, "edge.png", contents.RED)
        picture = attachment_ids.found(world.author, sought, created, len(contents.RED))
        edges("attachmentExists").accepted(world.author.attachment_exists(picture.path))
        attachments.claim_same_bytes(edges("getAttachment"), world, picture)
        attachments.claim_listed(edges("listAttachments"), world, picture)
        edges("getAttachmentThumbnail").accepted(attachments.preview(world, picture))


@contract("uid-files-case-sensitive")
@contract(operations=("listAttachments", "attachmentExists", "getAttachment"))
@contract(relies_on=("attachment-exists-absent", "attachment-get-absent"), requests=4)
def test_files_are_not_found_in_other_letter_case(world: World, expect: Expect) -> None:
    """An attachment is not found, downloaded or listed under the uid of its document in other letter case."""
    attachment = shared_documents.second_document(world).attachments[0]
    uid = identifiers.other_case(world.fresh, attachment.uid)
    path = attachment.path | {"uid": uid}
    for operation in ("attachmentExists", "getAttachment"):
        expect("uid-files-case-sensitive", operation).refused(world.author.send(operation, path=path))
    listed = world.author.list_attachments(uid)
    attachments.claim_none_listed(
        expect("uid-files-case-sensitive", "listAttachments"), world, attachment.uid, [listed]
    )
