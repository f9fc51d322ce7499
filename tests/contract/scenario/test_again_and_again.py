"""What holds once holds every time: the same calls often enough to meet what goes wrong one time in twenty."""

from contracts.cases import (
    Actor,
    Arrangement,
    Claims,
    Namespace,
    Samples,
    attachments,
    attachments_of,
    contract,
    drafts,
    drafts_of,
    lists,
    second_document,
)

#: One in twenty is met in so many with 95 %, and one that comes every twentieth time for certain.
TIMES = 60
LIVES = 40


@contract("draft-exists-present", profile="nightly", requests=62)
def test_a_draft_exists_every_time(author: Actor, arrange: Arrangement, claim: Claims) -> None:
    """The exists check finds a draft however often it is asked."""
    drafts.exists_each_time(claim("draft-exists-present"), author, arrange.draft(author).uid, TIMES)


@contract(
    "draft-save-creates",
    "draft-save-updates",
    "draft-delete-removes",
    operations=["saveDraft", "deleteDraft"],
    profile="nightly",
    requests=240,
)
def test_every_draft_is_created_updated_and_deleted(
    author: Actor, samples: Samples, fresh: Namespace, claim: Claims
) -> None:
    """One draft after another is there once it was saved, as it was saved last, and gone once it was deleted."""
    for uid in [fresh.uid() for _ in range(LIVES)]:
        drafts.completes_lifecycle(claim, author, samples, uid)


@contract("list-mydrafts-has-mine", profile="nightly", requests=63)
def test_mydrafts_holds_a_draft_every_time(author: Actor, arrange: Arrangement, claim: Claims) -> None:
    """A draft that was seen in the collection mydrafts is in it however often it is asked for."""
    uid, lister = arrange.draft(author).uid, drafts_of(author, "mydrafts")
    lists.claim_listed(claim("list-mydrafts-has-mine"), arrange, lister, uid)
    drafts.listed_each_time(claim("list-mydrafts-has-mine"), lister, uid, TIMES)


@contract("attachment-create-listed", operations=["listAttachments"], profile="nightly", requests=66)
def test_an_attachment_is_listed_every_time(author: Actor, arrange: Arrangement, claim: Claims) -> None:
    """An attachment that was seen in the list of its document is in it however often it is asked for."""
    attachment = second_document(arrange, author).attachments[0]
    attachments.listed(claim("attachment-create-listed", "listAttachments"), arrange, author, attachment)
    attached = attachments_of(author, attachment.uid)
    drafts.attached_each_time(
        claim("attachment-create-listed", "listAttachments"), attached, attachment, TIMES
    )
