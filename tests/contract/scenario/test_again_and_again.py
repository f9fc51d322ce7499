"""What holds once holds every time: the same calls often enough to meet what goes wrong one time in twenty."""

from contracts.cases import (
    Expect,
    World,
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
def test_a_draft_exists_every_time(world: World, expect: Expect) -> None:
    """The exists check finds a draft however often it is asked."""
    uid = world.draft().uid
    for _ in range(TIMES):
        expect("draft-exists-present").accepted(world.author.draft_exists(uid))


@contract(
    "draft-save-creates",
    "draft-save-updates",
    "draft-delete-removes",
    operations=["saveDraft", "deleteDraft"],
    profile="nightly",
    requests=240,
)
def test_every_draft_is_created_updated_and_deleted(world: World, expect: Expect) -> None:
    """One draft after another is there once it was saved, as it was saved last, and gone once it was deleted."""
    for uid in [world.uid() for _ in range(LIVES)]:
        drafts.claim_life(expect, world, uid)


@contract("list-mydrafts-has-mine", profile="nightly", requests=63)
def test_mydrafts_holds_a_draft_every_time(world: World, expect: Expect) -> None:
    """A draft that was seen in the collection mydrafts is in it however often it is asked for."""
    uid, lister = world.draft().uid, drafts_of(world.author, "mydrafts")
    lists.claim_listed(expect("list-mydrafts-has-mine"), world, lister, uid)
    drafts.claim_listed_each_time(expect("list-mydrafts-has-mine"), lister, uid, TIMES)


@contract("attachment-create-listed", operations=["listAttachments"], profile="nightly", requests=66)
def test_an_attachment_is_listed_every_time(world: World, expect: Expect) -> None:
    """An attachment that was seen in the list of its document is in it however often it is asked for."""
    attachment = second_document(world).attachments[0]
    attachments.claim_listed(expect("attachment-create-listed", "listAttachments"), world, attachment)
    attached = attachments_of(world.author, attachment.uid)
    drafts.claim_attached_each_time(
        expect("attachment-create-listed", "listAttachments"), attached, attachment, TIMES
    )
