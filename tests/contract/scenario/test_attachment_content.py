"""Attachments come back byte for byte; the document is silent on names and types."""

from registry_contracts.cases import (
    Deal,
    Expect,
    Observer,
    World,
    attachment_ids,
    attachments,
    attachments_of,
    contents,
    contract,
    document_for_uploads,
    done,
    shared_document,
    status,
    upload,
)

MEBIBYTE = 1024**2
#: A file of this size is read in several pieces.
MORE_THAN_A_BLOCK = 70_000
#: JSON that changes when it is parsed and written again.
DATA = b'{ "b" : 1.0,\r\n  "a" : [ 2 ] }\n'
#: Sizes of large files in bytes, each above a common undocumented limit.
LARGE = {"13 MiB": 13 * MEBIBYTE, "1.1 MB": 1_100_000, "5 MiB": 5 * MEBIBYTE + 1}


@contract("attachment-create-accepted", "attachment-exists-present")
@contract("attachment-download-same", "attachment-create-listed", requests=4, turns=True)
def test_a_large_file_comes_back(world: World, expect: Expect, deal: Deal) -> None:
    """A file of some mebibytes is accepted, comes back whole, and is listed; each realm sends another file."""
    size = world.author.uploadable(max(deal(LARGE).values()))
    taken, there = expect("attachment-create-accepted"), expect("attachment-exists-present")
    claims = taken, there, expect("attachment-download-same", "getAttachment")
    attachment = attachments.claim_large(claims, world, f"{world.uid()}.bin", size)
    attachments.claim_listed(expect("attachment-create-listed", "listAttachments"), world, attachment)


@contract("attachment-download-same", requests=11, turns=True)
def test_a_file_sent_in_chunks_comes_back(world: World, expect: Expect) -> None:
    """A file sent without Content-Length comes back whole; so do two files of one name, if accepted."""
    same = expect("attachment-download-same", "getAttachment")
    content, sent = contents.content(150_000, seed=7), contents.Chunks(150_000, seed=7)
    path = {"uid": document_for_uploads(world), "filename": f"{world.uid()}.bin"}
    created = world.author.send("createAttachment", path=path, body=sent)
    done(created)
    sought = attachment_ids.Attachment(path["uid"], 0, path["filename"], content)
    made = attachment_ids.found(world.author, sought, created, len(content))
    attachments.claim_same_bytes(same, world, made)
    attachments.claim_each_of_two_served(same, world, f"{world.uid()}.txt")


@contract("attachment-name-unusual", "attachment-sent-type", "attachment-download-same")
@contract(requests=11, turns=True)
def test_unusual_names_and_types_are_observed(world: World, expect: Expect, observe: Observer) -> None:
    """The document does not say which names are allowed, and what a Content-Type does; what is found has its bytes."""
    uid, same = world.document(), expect("attachment-download-same", "getAttachment")
    seen = {}
    for what, name in contents.UNUSUAL_NAMES.items():
        content = contents.START + contents.content(MORE_THAN_A_BLOCK, seed=len(name)) + contents.END
        seen[what] = attachments.claim_kept_if_taken(same, world, uid, name, content)
    observe("attachment-name-unusual", "createAttachment", seen)
    headers = {"Content-Type": "application/json"}
    typed = attachments.claim_kept_if_taken(same, world, uid, "typed.json", DATA, headers)
    observe("attachment-sent-type", "createAttachment", {"application/json": typed})


@contract("attachment-empty-file", requests=4)
def test_an_empty_file_is_observed(world: World, observe: Observer) -> None:
    """The document does not say how an empty file is answered."""
    uid = world.document()
    empty = upload(world.author, uid, "empty.txt", b"")
    seen = {"status": status(empty), "listed": attachments_of(world.author, uid).page().size}
    observe("attachment-empty-file", "createAttachment", seen)


@contract("attachment-download-type", "attachment-success-status", requests=1)
def test_what_a_download_comes_with_is_observed(world: World, observe: Observer) -> None:
    """The document does not show the type, the file name header and the redirects of a download."""
    attachment = shared_document(world).attachments[0]
    answer = world.author.get_attachment(attachment.path).answer
    named = "content-disposition" in answer.headers
    seen = {"type": answer.media_type, "named": named, "redirects": answer.hops}
    observe("attachment-download-type", "getAttachment", seen)
    observe("attachment-success-status", "getAttachment", answer.status)
