"""What holds once holds every time: the same calls often enough to meet what goes wrong one time in twenty."""

from contracts.cases import (
    Expect,
    World,
    attachments,
    contract,
    drafts_of,
    lists,
    second_document,
)

#: One in twenty is met in so many with 95 %, and one that comes every twentieth time for certain.
TIMES = 60


@contract("list-mydrafts-has-mine", profile="nightly", requests=63)
def test_mydrafts_holds_a_draft_every_time(world: World, expect: Expect) -> None:
    """A draft that was seen in the collection mydrafts is in it however often it is asked for."""
    uid, lister = world.draft().uid, drafts_of(world.author, "mydrafts")
    lists.claim_listed(expect("list-mydrafts-has-mine"), world, lister, uid, again=TIMES)


@contract("attachment-create-listed", operations=["listAttachments"], profile="nightly", requests=66)
def test_an_attachment_is_listed_every_time(world: World, expect: Expect) -> None:
    """An attachment that was seen in the list of its document is in it however often it is asked for."""
    attachment = second_document(world).attachments[0]
    listing = expect("attachment-create-listed", "listAttachments")
    attachments.claim_listed(listing, world, attachment, again=TIMES)
