"""The life of an attachment: created, listed, checked, downloaded; several of them, and none."""

import itertools

from contracts.cases import (
    Actor,
    Arrangement,
    Claims,
    Deal,
    Namespace,
    Observer,
    arrangement,
    attach,
    attachments,
    attachments_of,
    contents,
    contract,
    done,
    drafts,
    lists,
    second_document,
    shape,
    shared_document,
    shared_documents,
    smoke,
    upload,
)


@contract("attachment-create-accepted", "attachment-create-answer")
@smoke()
@contract("attachment-success-status", operations=["createAttachment"], requests=1)
def test_a_file_can_be_attached(
    author: Actor, arrange: Arrangement, fresh: Namespace, claim: Claims, observe: Observer
) -> None:
    """A file sent in binary form is accepted as an attachment of a document."""
    name = f"{fresh.uid()}.txt"
    created = attachments.taken(claim("attachment-create-accepted"), arrange, author, name, b"a note\n" * 70)
    observe("attachment-success-status", "createAttachment", created.answer.status)
    observe("attachment-create-answer", "createAttachment", shape(created))


@contract("attachment-create-accepted", operations=["createAttachment"], requests=1)
def test_a_picture_can_be_attached(
    author: Actor, arrange: Arrangement, fresh: Namespace, claim: Claims
) -> None:
    """A picture, of which the document gives previews, is accepted in binary form."""
    picture = contents.png(20, 120, 200)
    attachments.taken(claim("attachment-create-accepted"), arrange, author, f"{fresh.uid()}.png", picture)


@contract("attachment-create-listed", "attachment-exists-present", "attachment-download-same", requests=3)
def test_an_attachment_is_listed_found_and_downloaded(
    author: Actor, arrange: Arrangement, claim: Claims
) -> None:
    """An attachment that was created is in the list, exists, and gives back its bytes."""
    attachment = second_document(arrange, author).attachments[0]
    attachments.listed(claim("attachment-create-listed", "listAttachments"), arrange, author, attachment)
    claim("attachment-exists-present").accepted(author.send("attachmentExists", path=attachment.path))
    attachments.downloads(claim("attachment-download-same", "getAttachment"), author, attachment)


@contract("attachment-exists-present", requests=2)
def test_each_of_several_attachments_exists(author: Actor, arrange: Arrangement, claim: Claims) -> None:
    """The exists check succeeds for the first attachment of a document, and for the last."""
    first, *_, last = shared_document(arrange, author).attachments
    claim("attachment-exists-present").accepted(author.send("attachmentExists", path=first.path))
    claim("attachment-exists-present").accepted(author.send("attachmentExists", path=last.path))


@contract("attachment-several", requests=5)
def test_several_attachments_keep_apart(author: Actor, arrange: Arrangement, claim: Claims) -> None:
    """A document holds several attachments of different names, each listed and each with its own bytes."""
    attachments.takes_several(claim("attachment-several", "createAttachment"), arrange, author)
    shared_documents.relies_on_listing(arrange, author)
    first, second, *_, last = shared_document(arrange, author).attachments
    attachments.listed(claim("attachment-several", "listAttachments"), arrange, author, first, second, last)
    attachments.downloads(claim("attachment-several", "getAttachment"), author, first)
    attachments.downloads(claim("attachment-several", "getAttachment"), author, second)
    attachments.downloads(claim("attachment-several", "getAttachment"), author, last)


@contract("attachment-several", requests=10, dealt=8)
def test_the_first_attachment_stays_while_others_are_added(
    author: Actor, arrange: Arrangement, claim: Claims, deal: Deal
) -> None:
    """The first of several attachments is listed, and comes back with its bytes, however many follow it."""
    shared_documents.relies_on_listing(arrange, author)
    count = max(deal({"three": 3, "thirteen": 13, "seven": 7}).values())
    attachments.stays_beside(claim, arrange, author, count)


@contract("attachment-create-listed", operations=["listAttachments"], requests=13)
def test_a_list_that_was_given_before_shows_what_was_attached_since(
    author: Actor, arrange: Arrangement, claim: Claims
) -> None:
    """Each attachment is in the list that is asked for after it was created, and in those after that."""
    uid, listing = arrange.document(author), claim("attachment-create-listed", "listAttachments")
    for name in ("first.txt", "second.txt", "third.txt", "fourth.txt"):
        done(upload(author, uid, name, name.encode()))
        latest = attachments.without_id(uid, name)
        attachments.listed(listing, arrange, author, latest)
    drafts.attached_each_time(listing, attachments_of(author, uid), latest, 3)


@contract("attachment-list-own-only", requests=2)
def test_a_document_lists_its_own_attachments_only(
    author: Actor, arrange: Arrangement, claim: Claims
) -> None:
    """A document lists no attachment of another one, though the uid of the one begins that of the other."""
    for own, other in itertools.permutations(
        (shared_document(arrange, author), second_document(arrange, author))
    ):
        attachments.lists_no_foreign_files(claim("attachment-list-own-only"), author, own, other)


@contract("attachment-listed-identifier", requests=1)
def test_a_listed_attachment_carries_its_identifier(
    author: Actor, arrange: Arrangement, claim: Claims
) -> None:
    """A listed attachment carries an integer that serves as its identifier in the other operations."""
    attachment = shared_document(arrange, author).attachments[2]
    numbers, exchange = attachments.numbers_listed(author, attachment)
    claim("attachment-listed-identifier", "listAttachments").holds(
        attachment.id in numbers,
        exchange,
        expected=f"the identifier {attachment.id} in the listed record",
        seen=f"the numbers {numbers}",
    )


@contract("attachment-list-empty", requests=4)
def test_a_document_without_attachments_has_an_empty_list(
    author: Actor, arrange: Arrangement, claim: Claims
) -> None:
    """The list of attachments of a document that has none is empty, be it told by a list, by 204 or by 404."""
    shared_documents.lists_own_only(arrange, author)
    lists.claim_empty(claim("attachment-list-empty"), attachments_of(author, arrange.document(author)).page())


@contract("attachment-name-without-extension", requests=1)
def test_a_name_needs_no_extension(
    author: Actor, arrange: Arrangement, fresh: Namespace, claim: Claims
) -> None:
    """A file name without an extension is accepted, and the attachment is found under it."""
    attachments.taken(
        claim("attachment-name-without-extension"), arrange, author, fresh.uid(), contents.content(60)
    )


@contract("attachment-name-taken", profile="nightly", requests=7)
def test_a_second_attachment_of_the_same_name_is_observed(
    author: Actor, arrange: Arrangement, observe: Observer
) -> None:
    """What creating a second attachment of the same name leads to is not shown."""
    uid = arrange.document(author)
    first = attach(author, uid, "twice.txt", b"first\n")
    again = upload(author, uid, "twice.txt", b"second\n")
    count = attachments_of(author, uid).page().size
    seen = {
        "status": again.answer.status,
        "listed": count,
        "the first still there": arrangement.works(author, first),
    }
    observe("attachment-name-taken", "createAttachment", seen)
