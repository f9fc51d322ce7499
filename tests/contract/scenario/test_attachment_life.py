"""The life of an attachment: created, listed, checked, downloaded; several of them, and none."""

import itertools

from registry_contracts.cases import (
    Deal,
    Expect,
    KnownList,
    Observer,
    World,
    attach,
    attachment_ids,
    attachments,
    attachments_of,
    contents,
    contract,
    drawn_contents,
    lists,
    require,
    second_document,
    shape,
    shared_document,
    smoke,
    upload,
)

#: More than any usual page, even one of a hundred.
MANY = 122


@smoke(requests=3)
@contract("attachment-create-accepted", "attachment-create-answer")
@contract("attachment-success-status", operations=["createAttachment"], requests=1)
def test_a_file_can_be_attached(world: World, expect: Expect, observe: Observer) -> None:
    """The shared document accepts a file that is sent in binary form."""
    name = f"{world.uid()}.txt"
    created = attachments.claim_taken(expect("attachment-create-accepted"), world, name, b"a note\n" * 70)
    observe("attachment-success-status", "createAttachment", created.answer.status)
    observe("attachment-create-answer", "createAttachment", shape(created))


@contract("attachment-create-listed", "attachment-exists-present", "attachment-download-same")
@contract(requests=3, turns=True)
def test_an_attachment_is_listed_found_and_downloaded(world: World, expect: Expect) -> None:
    """A created attachment is listed, exists, and downloads with its bytes."""
    attachment = second_document(world).attachments[0]
    attachments.claim_listed(expect("attachment-create-listed", "listAttachments"), world, attachment)
    expect("attachment-exists-present").accepted(world.author.attachment_exists(attachment.path))
    attachments.claim_same_bytes(expect("attachment-download-same", "getAttachment"), world, attachment)


@contract("attachment-several", requests=6, dealt=23)
@contract(relies_on=["attachment-create-listed", "attachment-download-same"])
def test_the_first_attachment_stays_while_others_are_added(world: World, expect: Expect, deal: Deal) -> None:
    """A document accepts a second attachment; the first stays listed and keeps its bytes when more follow."""
    uid, several = world.document(), expect("attachment-several", "createAttachment")
    first = attach(world.author, uid, "attachment-1.txt", b"1", promise="attachment-create-accepted")
    several.accepted(upload(world.author, uid, "attachment-2.txt", b"2"))
    # The document does not say how many attachments are accepted.
    for number in range(3, 1 + max(deal({"three": 3, "thirteen": 13, "seven": 7}).values())):
        upload(world.author, uid, f"attachment-{number}.txt", str(number).encode())
    attachments.claim_same_bytes(expect("attachment-several", "getAttachment"), world, first)
    attachments.claim_listed(expect("attachment-several", "listAttachments"), world, first)


@contract("attachment-create-accepted", "attachment-several", "attachment-list-pages-cover")
@contract(profile="nightly", requests=380, turns=True)
def test_a_document_holds_many_attachments(world: World, expect: Expect) -> None:
    """Of 122 files that are sent to a document, each accepted one downloads with its bytes, and is listed once."""
    uid, files = world.document(), drawn_contents.many_files(world, MANY)
    first = attach(world.author, uid, *files.popitem())
    taken = attachments.claim_each_kept(expect, world, first, files)
    known = KnownList(world, attachments_of(world.author, uid), tuple(taken))
    lists.claim_pages_cover(expect("attachment-list-pages-cover"), known, 2)


@smoke(requests=8)
@contract("attachment-list-own-only", requests=8)
def test_a_document_lists_its_own_attachments_only(world: World, expect: Expect) -> None:
    """A document lists no attachment of another one, even if one uid begins with the other."""
    for own, other in itertools.permutations((shared_document(world), second_document(world))):
        attachments.claim_own_only(expect("attachment-list-own-only"), world, own, other)


@contract("attachment-listed-identifier", requests=1)
def test_a_listed_attachment_carries_its_identifier(world: World, expect: Expect) -> None:
    """A listed attachment holds an integer that works as its identifier in the other operations."""
    attachment = shared_document(world).attachments[2]
    page = attachments_of(world.author, attachment.path["uid"]).page()
    record = next((each for each in page.records or () if attachment_ids.lists(each, attachment)), None)
    require(record is not None, "listAttachments", f"does not list {attachment.filename}")
    numbers = attachment_ids.ids_in(record, len(attachment.content))
    claim, held = expect("attachment-listed-identifier", "listAttachments"), attachment.id in numbers
    expected, seen = f"the identifier {attachment.id} in the listed record", f"the numbers {numbers}"
    claim.holds(held, page.exchange, expected=expected, seen=seen)


@contract("attachment-list-empty", relies_on=["attachment-list-own-only"], requests=4)
def test_a_document_without_attachments_has_an_empty_list(world: World, expect: Expect) -> None:
    """A document without attachments has an empty list: an empty array, 204 or 404."""
    lists.claim_empty(expect("attachment-list-empty"), attachments_of(world.author, world.document()).page())


@contract("attachment-name-without-extension", requests=1)
def test_a_name_needs_no_extension(world: World, expect: Expect) -> None:
    """A file name without an extension is accepted, and the attachment is found under it."""
    taken = expect("attachment-name-without-extension")
    attachments.claim_taken(taken, world, world.uid(), contents.content(60))


@contract("attachment-name-taken", profile="nightly", requests=7)
def test_a_second_attachment_of_the_same_name_is_observed(world: World, observe: Observer) -> None:
    """The document does not say how a second attachment of the same name is answered."""
    uid = world.document()
    first = attach(world.author, uid, "twice.txt", b"first\n")
    again = upload(world.author, uid, "twice.txt", b"second\n")
    there = attachment_ids.works(world.author, first)
    count = attachments_of(world.author, uid).page().size
    seen = {"status": again.answer.status, "listed": count, "the first still there": there}
    observe("attachment-name-taken", "createAttachment", seen)
