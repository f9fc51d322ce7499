"""Parts of a list: pages of both lists, $top and $skip of drafts with a collection and without one."""

import pytest

from registry_contracts.cases import (
    Deal,
    Expect,
    World,
    contract,
    drafts_of,
    known_drafts,
    known_files,
    lists,
    smoke,
)
from registry_contracts.cases.known_lists import kept_drafts

#: Larger than any default page.
AMPLE = 1000
#: More than any usual page, even one of a hundred.
MANY = 122


@smoke()
@contract("list-collection-with-top", requests=2.5)
def test_top_bounds_a_collection(world: World, deal: Deal, expect: Expect) -> None:
    """$top limits the number of items together with a collection too."""
    kept_drafts(world)
    for collection in deal(lists.COLLECTIONS):
        drafts = drafts_of(world.author, collection)
        world.once(f"list of {drafts.label}", drafts.needed)
        lists.claim_bounded(expect("list-collection-with-top"), drafts, 4)


@contract("list-collection-with-skip", requests=4)
def test_skip_shifts_a_collection(world: World, deal: Deal, expect: Expect) -> None:
    """$skip leaves out the first items together with a collection too."""
    for collection in deal(lists.COLLECTIONS):
        drafts = known_drafts(world, collection)
        lists.claim_parts(expect("list-collection-with-skip"), drafts, (1, None), (3, None))


@contract("list-pages-cover", requests=18, turns=True)
def test_pages_of_a_long_list_neither_repeat_nor_lose(world: World, expect: Expect) -> None:
    """The pages of a list of twenty drafts neither repeat nor lose one, even after ten and more items."""
    lists.claim_long_pages(expect("list-pages-cover"), known_drafts(world))


@contract("attachment-list-pages-cover", requests=6, turns=True)
def test_pages_of_attachments_neither_repeat_nor_lose(world: World, expect: Expect) -> None:
    """Pages of attachments by skip and top neither repeat nor lose one."""
    lists.claim_pages_cover(expect("attachment-list-pages-cover"), known_files(world), 2)


@contract("list-top-ample", relies_on=["list-answers"], requests=2)
@pytest.mark.parametrize("collection", [None, "mydrafts"], ids=["plain", "mydrafts"])
def test_an_ample_top_loses_nothing(collection: str | None, world: World, expect: Expect) -> None:
    """A $top larger than the number of drafts is accepted, and loses none of a plain list's drafts."""
    kept, drafts = kept_drafts(world), drafts_of(world.author, collection)
    plain, ample = drafts.page(), drafts.page(top=AMPLE)
    lost = [uid for uid in kept if plain.names(uid) and not ample.names(uid) and plain.size < AMPLE]
    expect("list-top-ample").accepted(ample.exchange)
    expected, seen = "the drafts of the plain list", f"lost: {lost}"
    expect("list-top-ample").holds(not lost, plain.exchange, ample.exchange, expected=expected, seen=seen)


@contract("list-pages-cover", profile="nightly", requests=420, turns=True)
def test_pages_of_many_drafts_hold_each_once(world: World, expect: Expect) -> None:
    """Consecutive pages of twenty, of one and of two hold each of many drafts once."""
    more = [world.draft().uid for _ in range(MANY)]
    for number, size in ((MANY // 2, 20), (MANY // 2, 1), (MANY, 2)):
        lists.claim_long_pages(expect("list-pages-cover"), known_drafts(world), more[:number], size=size)
