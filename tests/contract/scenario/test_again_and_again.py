"""What holds once holds every time: the same calls often enough to meet what goes wrong one time in sixty.

Drafts and their collection are asked for so often in `stateful/`.
"""

from contracts.cases import (
    Expect,
    KnownList,
    World,
    attach,
    attachments,
    attachments_of,
    contents,
    contract,
    drawn_contents,
    known_drafts,
    known_files,
    lists,
    upload,
    usable,
)

#: What comes once in sixty times, or with sixty items, is met for certain.
TIMES = 61
LOOKS = {
    "attachmentExists": "attachment-exists-present",
    "getAttachmentThumbnail": "attachment-thumbnail-image",
}


@contract(*LOOKS.values(), operations=LOOKS, profile="nightly", requests=TIMES, unrest=True)
def test_an_attachment_is_found_every_time(world: World, expect: Expect, operation: str) -> None:
    """A picture that is there is found and previewed however often it is asked for."""
    picture = attach(world.author, world.document(), "red.png", contents.RED)
    for _ in range(TIMES):
        expect(LOOKS[operation], operation).accepted(world.author.send(operation, path=picture.path))


@contract("attachment-create-listed", operations=["listAttachments"], profile="nightly", requests=66)
def test_an_attachment_is_listed_every_time(world: World, expect: Expect) -> None:
    """An attachment that was seen in the list of its document is in it however often it is asked for."""
    attachment = attach(world.author, world.document(), "listed.txt", b"listed\n")
    listing = expect("attachment-create-listed", "listAttachments")
    attachments.claim_listed(listing, world, attachment, again=TIMES)


@contract(
    "attachment-create-accepted",
    "attachment-several",
    "attachment-list-pages-cover",
    profile="nightly",
    requests=195,
    unrest=True,
)
def test_a_document_holds_many_attachments(world: World, expect: Expect) -> None:
    """The first of many attachments comes back with its bytes each time; pages of one hold each that was taken once."""
    uid = world.document()
    first = attach(world.author, uid, "0.txt", b"first\n")
    sent = [upload(world.author, uid, f"{number}.txt", b"another\n") for number in range(1, TIMES)]
    while not usable(sent[-1]).success and len(sent) > 1:
        sent.pop()  # how many a document takes is not shown
    for created in sent[:-1]:
        expect("attachment-create-accepted").accepted(created)
    for _ in range(TIMES):
        attachments.claim_same_bytes(expect("attachment-several", "getAttachment"), world, first)
    attachments.claim_listed(expect("attachment-several", "listAttachments"), world, first)
    files = KnownList(
        world, attachments_of(world.author, uid), tuple(f"{number}.txt" for number in range(len(sent)))
    )
    lists.claim_pages_cover(expect("attachment-list-pages-cover"), files, 1)


@contract(
    *drawn_contents.CLAUSES, operations=["saveDraft", "getDraft"], profile="nightly", requests=TIMES + 3
)
def test_any_content_is_given_every_time(world: World, expect: Expect) -> None:
    """A draft with all values that are lost anywhere is given whole however often it is read."""
    drafts = drawn_contents.DrawnDrafts(world, expect, reads=TIMES)
    drafts.claim_come_back(drawn_contents.EVERYTHING[:1])


@contract("draft-save-updates", "draft-get-content", profile="nightly", requests=2 * TIMES, turns=True)
def test_every_save_is_given_to_the_next_read(world: World, expect: Expect) -> None:
    """Each of many saves of a draft is what the next read gives."""
    uid = world.draft().uid
    for number in range(TIMES):
        document = world.samples.draft(uid, middleName=f"Save {number}")
        expect("draft-save-updates", "saveDraft").accepted(world.save(uid, document))
        expect("draft-get-content").shows(world.author.get_draft(uid), document)


@contract("list-pages-cover", profile="nightly", requests=420, turns=True)
def test_pages_of_a_long_list_hold_every_draft(world: World, expect: Expect) -> None:
    """Pages of twenty, of one and of two, taken one after another hold each of many drafts once."""
    more = [world.draft().uid for _ in range(2 * TIMES)]
    for drafts, size in ((TIMES, 20), (TIMES, 1), (len(more), 2)):
        lists.claim_long_pages(expect("list-pages-cover"), known_drafts(world), more[:drafts], size=size)


@contract("list-pages-cover", "attachment-list-pages-cover", profile="nightly", requests=210)
def test_pages_cover_a_list_every_time(world: World, expect: Expect) -> None:
    """Pages of either list neither repeat nor lose an item however often they are taken."""
    drafts, files = known_drafts(world), known_files(world)
    for _ in range(TIMES // 5):  # six pages each time
        lists.claim_pages_cover(expect("list-pages-cover"), drafts, 2)
        lists.claim_pages_cover(expect("attachment-list-pages-cover"), files, 2)
