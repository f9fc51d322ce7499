"""What holds once holds every time: the same calls often enough to meet what goes wrong one time in sixty.

Drafts and their collection are asked for so often in `stateful/`.
"""

from itertools import cycle, islice

from registry_contracts.cases import (
    Actor,
    Expect,
    KnownList,
    OrdinaryRequests,
    World,
    attach,
    attachments,
    attachments_of,
    claim_answered_in_time,
    contents,
    contract,
    drafts,
    drawn_contents,
    identifiers,
    known_drafts,
    known_files,
    lists,
)

#: What comes once in sixty times, or with sixty items, is met for certain.
TIMES = 61
REFUSING = (
    "saveDraft",
    "getDraft",
    "getDraftInfo",
    "draftExists",
    "createAttachment",
    "attachmentExists",
    "getAttachment",
    "getAttachmentThumbnail",
)
ANSWERED = ("answers-in-time", "no-server-error")
LOOKS = {
    "attachmentExists": "attachment-exists-present",
    "getAttachmentThumbnail": "attachment-thumbnail-image",
}


@contract(*LOOKS.values(), operations=LOOKS, profile="nightly", requests=TIMES + 1)
def test_an_attachment_is_found_every_time(world: World, expect: Expect, operation: str) -> None:
    """A picture that is there is found and previewed however often it is asked for."""
    picture = attach(world.author, world.document(), "red.png", contents.RED)
    attachments.preview(world, picture)  # until it is made
    for _ in range(TIMES):
        expect(LOOKS[operation], operation).accepted(world.author.send(operation, path=picture.path))


@contract("uid-forbidden-characters", operations=REFUSING, profile="nightly", requests=TIMES + 2, turns=True)
def test_a_spoilt_identifier_is_refused_every_time(
    world: World, another: Actor | None, ordinary: OrdinaryRequests, expect: Expect, operation: str
) -> None:
    """A uid that breaks the rule is refused however often it is sent, to one account and the other."""
    misses = identifiers.NearMisses(operation, world, ordinary, expect)
    for account in islice(cycle((world.author, another)), TIMES):
        misses.claim_refused(identifiers.ONE_SIGN, account)


@contract(
    *ANSWERED, operations=["deleteDraft", "listAttachments"], profile="nightly", requests=TIMES, turns=True
)
def test_what_is_not_there_is_answered_every_time(
    world: World, another: Actor | None, expect: Expect, operation: str
) -> None:
    """To ask for a draft that is not there is no server error however often two accounts do so."""
    uid, accounts = world.uid(), filter(None, (world.author, another))
    asked = (each.send(operation, path={"uid": uid}) for each in islice(cycle(accounts), TIMES))
    claim_answered_in_time(expect("answers-in-time", operation), asked, world.author.list_drafts)


@contract(
    "attachment-create-listed",
    operations=["listAttachments"],
    profile="nightly",
    requests=132,
    turns=True,
)
def test_an_attachment_is_listed_every_time(world: World, expect: Expect) -> None:
    """An attachment that was seen in the list of its document is in it however often it is asked for."""
    attachment = attach(world.author, world.document(), "listed.txt", b"listed\n")
    listing = expect("attachment-create-listed", "listAttachments")
    attachments.claim_listed(listing, world, attachment, again=TIMES)


@contract(
    "attachment-create-accepted",
    "attachment-download-same",
    "attachment-several",
    "attachment-list-pages-cover",
    profile="nightly",
    requests=440,
    turns=True,
)
def test_a_document_holds_many_attachments(world: World, expect: Expect) -> None:
    """Each of many attachments comes back with its bytes, the first each time; pages of two hold each once."""
    uid = world.document()
    files = drawn_contents.many_files(world, 2 * TIMES)
    first = attach(world.author, uid, *files.popitem())
    for _ in range(TIMES):
        attachments.claim_same_bytes(expect("attachment-download-same", "getAttachment"), world, first)
    taken = attachments.claim_each_kept(expect, world, first, files)
    known = KnownList(world, attachments_of(world.author, uid), tuple(taken))
    lists.claim_pages_cover(expect("attachment-list-pages-cover"), known, 2)


@contract(
    *drawn_contents.CLAUSES,
    operations=["saveDraft", "getDraft"],
    profile="nightly",
    requests=2 * TIMES + 4,
    turns=True,
)
def test_any_content_is_given_every_time(world: World, another: Actor | None, expect: Expect) -> None:
    """A draft with all values that are lost anywhere is given whole however often its account reads it."""
    holder = drawn_contents.DrawnDrafts(world, expect, another, reads=TIMES)
    holder.claim_come_back(drawn_contents.EVERYTHING[-1:])


@contract(
    *drawn_contents.CLAUSES,
    operations=["saveDraft", "getDraft"],
    profile="nightly",
    requests=4 * TIMES,
    turns=True,
)
def test_every_save_is_given_to_the_next_read(world: World, another: Actor | None, expect: Expect) -> None:
    """Each of many saves of a draft, by either account, is what the next read gives."""
    for account in filter(None, (world.author, another)):
        holder = drawn_contents.DrawnDrafts(world, expect, by=account)
        holder.claim_come_back(drawn_contents.many(TIMES))


@contract(
    "draft-get-content",
    operations=["saveDraft", "getDraft"],
    profile="nightly",
    requests=4 * TIMES + 4,
    turns=True,
)
def test_a_document_of_another_schema_is_kept_every_time(
    world: World, another: Actor | None, expect: Expect
) -> None:
    """A document of the realm's workflow schema comes back whole each time that it is saved, by either account."""
    for account in filter(None, (world.author, another)):
        uid = world.uid()
        for content in (*drawn_contents.many(TIMES), drawn_contents.EVERYTHING[-1]):
            saved, document = drawn_contents.saved_beside_everything(world, uid, content, account)
            drafts.claim_kept_if_accepted(
                expect("draft-get-content"), saved, account.get_draft(uid), document
            )


@contract("list-pages-cover", profile="nightly", requests=420, turns=True)
def test_pages_of_a_long_list_hold_every_draft(world: World, expect: Expect) -> None:
    """Pages of twenty, of one and of two, taken one after another hold each of many drafts once."""
    more = [world.draft().uid for _ in range(2 * TIMES)]
    for number, size in ((TIMES, 20), (TIMES, 1), (len(more), 2)):
        lists.claim_long_pages(expect("list-pages-cover"), known_drafts(world), more[:number], size=size)


@contract("list-pages-cover", "attachment-list-pages-cover", profile="nightly", requests=310, turns=True)
def test_pages_cover_a_list_every_time(world: World, expect: Expect) -> None:
    """Pages of either list neither repeat nor lose an item however often they are taken."""
    times = TIMES // 2  # two later pages each time, at least
    lists.claim_pages_cover(expect("list-pages-cover"), known_drafts(world), 2, again=times)
    lists.claim_pages_cover(expect("attachment-list-pages-cover"), known_files(world), 2, again=times)
