"""Parts of the list of drafts: $top, $skip, and both together, with a collection and without one."""

import pytest

from contracts.cases import (
    Expect,
    World,
    claim_each_refused,
    contract,
    drafts_of,
    known_drafts,
    lists,
    smoke,
)
from contracts.cases.known_lists import kept_drafts

#: Larger than what any page holds by itself.
AMPLE = 1000
COLLECTIONS = ("my", "mydrafts")


@smoke("1")
@contract("list-top", requests=1, unrest=True)
@pytest.mark.parametrize("top", [1, 3])
def test_top_bounds_the_list(top: int, world: World, expect: Expect) -> None:
    """With $top no more items are returned than it says."""
    kept_drafts(world)
    lists.claim_bounded(expect("list-top"), drafts_of(world.author), top)


@smoke("mydrafts")
@contract("list-collection-with-top", requests=2.5)
@pytest.mark.parametrize("collection", COLLECTIONS)
def test_top_bounds_a_collection(collection: str, world: World, expect: Expect) -> None:
    """$top bounds the number of items also together with a collection."""
    kept_drafts(world)
    known_drafts(world, None).need_top()
    drafts = drafts_of(world.author, collection)
    world.once(f"list of {drafts.label}", drafts.needed)
    lists.claim_bounded(expect("list-collection-with-top"), drafts, 4)


@smoke()
@contract("list-skip", requests=4)
def test_skip_shifts_the_list(world: World, expect: Expect) -> None:
    """With $skip the list starts as many items later as it says."""
    lists.claim_parts(expect("list-skip"), known_drafts(world, None), (1, None), (3, None))


@contract("list-collection-with-skip", requests=5.5)
@pytest.mark.parametrize("collection", COLLECTIONS)
def test_skip_shifts_a_collection(collection: str, world: World, expect: Expect) -> None:
    """$skip leaves out items from the start also together with a collection."""
    lists.need_parts(known_drafts(world, None), (1, None))
    drafts = known_drafts(world, collection)
    lists.claim_parts(expect("list-collection-with-skip"), drafts, (1, None), (3, None))


@contract("list-skip-zero", requests=3)
def test_skip_of_zero_changes_nothing(world: World, expect: Expect) -> None:
    """With a $skip of zero the list starts where it starts without the option."""
    lists.claim_parts(expect("list-skip-zero"), known_drafts(world), (0, None))


@contract("list-skip-beyond", "list-skip-beyond-empty", requests=4)
def test_skip_beyond_the_end_gives_no_item(world: World, expect: Expect) -> None:
    """With a $skip larger than the number of drafts no item is returned."""
    drafts = known_drafts(world)
    lists.need_parts(drafts, (1, None))
    page = drafts.lister.page(skip=lists.BEYOND)
    lists.claim_no_items(expect("list-skip-beyond"), page)
    lists.claim_empty(expect("list-skip-beyond-empty"), page)


@contract("list-top-and-skip", requests=6, unrest=True)
@pytest.mark.parametrize("collection", [None, "my"], ids=["plain", "my"])
def test_skip_and_top_give_a_window(collection: str | None, world: World, expect: Expect) -> None:
    """$skip and $top together give the window that starts after the skipped items and is no longer than $top."""
    drafts = known_drafts(world, collection)
    drafts.need_top()
    lists.need_parts(drafts, (1, None))
    lists.claim_parts(expect("list-top-and-skip"), drafts, (1, 2), (3, 1))


@contract("list-pages-cover", requests=18, unrest=True)
@pytest.mark.parametrize("collection", [None, "mydrafts"], ids=["plain", "mydrafts"])
def test_pages_neither_repeat_nor_lose(collection: str | None, world: World, expect: Expect) -> None:
    """Pages taken one after another from a list at rest neither repeat an item nor lose one, nor do those of twenty."""
    drafts = known_drafts(world, collection)
    lists.need_parts(drafts, (1, 2))
    lists.claim_pages_cover(expect("list-pages-cover"), drafts, 3)
    lists.claim_long_pages(expect("list-pages-cover"), drafts)


@smoke()
@contract("list-top-zero", requests=1)
def test_a_top_of_zero_returns_nothing(world: World, expect: Expect) -> None:
    """With a $top of zero no item is returned; a refusal returns none."""
    kept_drafts(world)
    known_drafts(world, None).need_top()
    lists.claim_no_items(expect("list-top-zero"), drafts_of(world.author).page(top=0))


@contract("list-top-ample", requests=2)
@pytest.mark.parametrize("collection", [None, "mydrafts"], ids=["plain", "mydrafts"])
def test_an_ample_top_loses_nothing(collection: str | None, world: World, expect: Expect) -> None:
    """A $top larger than the number of drafts succeeds and loses none of those a plain list holds."""
    kept, drafts = kept_drafts(world), drafts_of(world.author, collection)
    plain, ample = drafts.page(), drafts.page(top=AMPLE)
    lost = [uid for uid in kept if plain.names(uid) and not ample.names(uid) and plain.size < AMPLE]
    expect("list-top-ample").accepted(ample.exchange)
    expect("list-top-ample").holds(
        not lost,
        plain.exchange,
        ample.exchange,
        expected="the drafts of the plain list",
        seen=f"lost: {lost}",
    )


@contract("list-number-malformed", requests=2)
@pytest.mark.parametrize("option", ["top", "skip"])
def test_what_is_no_number_is_refused(option: str, world: World, expect: Expect) -> None:
    """A $top or $skip that is no number is refused."""
    drafts = drafts_of(world.author, "mydrafts")
    exchanges = [drafts.page(**{option: text}).exchange for text in ("ten", "[]")]
    claim_each_refused(expect("list-number-malformed"), exchanges)
