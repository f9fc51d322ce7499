"""The list of a document's attachments: filter, orderby, top and skip, written without a dollar sign."""

import pytest

from contracts.cases import (
    Expect,
    Observer,
    World,
    attachments_of,
    claim_each_refused,
    contract,
    equals,
    known_files,
    list_questions,
    lists,
    shared_documents,
    smoke,
    status,
)

ALL = 6


@smoke("4", requests=2)
@contract("attachment-list-top", requests=1.5)
@pytest.mark.parametrize("top", [1, 4])
def test_top_bounds_the_list(top: int, world: World, expect: Expect) -> None:
    """With top no more attachments are returned than it says."""
    attached = shared_documents.shared_document_list(world, repeats=True)
    lists.claim_bounded(expect("attachment-list-top"), attached, top)


@contract("attachment-list-skip", requests=5)
def test_skip_shifts_the_list(world: World, expect: Expect) -> None:
    """With skip the list starts as many items later as it says, up to the last one."""
    files = known_files(world)
    lists.claim_parts(expect("attachment-list-skip"), files, (1, None), (3, None), (5, None))


@contract(
    "attachment-list-skip-beyond",
    "attachment-list-skip-beyond-empty",
    "attachment-success-status",
    requests=2.5,
)
@pytest.mark.parametrize("skip", [ALL, 1000])
def test_skip_beyond_the_end_gives_no_attachment(
    skip: int, world: World, expect: Expect, observe: Observer
) -> None:
    """With a skip that leaves nothing over no attachment is returned."""
    files = known_files(world)
    lists.need_parts(files, (1, None))
    page = files.lister.page(skip=skip)
    observe("attachment-success-status", "listAttachments", {"nothing left": status(page.exchange)})
    lists.claim_no_items(expect("attachment-list-skip-beyond"), page)
    lists.claim_empty(expect("attachment-list-skip-beyond-empty"), page)


@contract("attachment-list-pages-cover", requests=6, unrest=True)
def test_pages_neither_repeat_nor_lose(world: World, expect: Expect) -> None:
    """Pages of attachments taken with skip and top neither repeat an attachment nor lose one."""
    files = known_files(world)
    files.need_top()
    lists.need_parts(files, (1, None))
    lists.claim_pages_cover(expect("attachment-list-pages-cover"), files, 2, items=ALL)


@contract("attachment-list-top-zero", requests=1)
def test_a_top_of_zero_returns_nothing(world: World, expect: Expect) -> None:
    """With a top of zero no attachment is returned; a refusal returns none."""
    files = known_files(world)
    files.need_top()
    lists.claim_no_items(expect("attachment-list-top-zero"), files.lister.page(top=0))


@smoke(requests=4)
@contract("attachment-list-filter-heeded", requests=0)
def test_not_every_filter_is_passed_over(world: World, expect: Expect) -> None:
    """A filter is read: by some field that the attachments carry it has an effect."""
    files = known_files(world, sound=False)
    list_questions.claim_filters_heeded(expect("attachment-list-filter-heeded"), files)


@smoke(requests=2)
@contract("attachment-list-orderby-heeded", requests=0)
def test_not_every_order_is_passed_over(world: World, expect: Expect) -> None:
    """An orderby is read: by some field that the attachments carry it has an effect."""
    files = known_files(world, sound=False)
    list_questions.claim_orders_heeded(expect("attachment-list-orderby-heeded"), files)


@contract("attachment-list-filter", requests=3)
def test_a_filter_picks_what_is_equal(world: World, expect: Expect) -> None:
    """With a filter only the attachments that match are returned, and a match is not lost."""
    files = known_files(world)
    for wanted in (files.own[:1], files.own[2:4]):
        asked = equals(files.filter_path, *wanted)
        list_questions.claim_picked(expect("attachment-list-filter"), files.lister, asked, wanted)
    nothing = equals(files.filter_path, "no file of this name")
    list_questions.claim_picked(expect("attachment-list-filter"), files.lister, nothing, ())


@smoke("rising")
@contract("attachment-list-orderby", requests=1)
@pytest.mark.parametrize("falling", [False, True], ids=["rising", "falling"])
def test_attachments_come_in_the_order_asked_for(falling: bool, world: World, expect: Expect) -> None:
    """With orderby the attachments come in the order asked for, rising or falling."""
    files = known_files(world)
    list_questions.claim_ordered(expect("attachment-list-orderby"), files, falling=falling)


@contract("attachment-list-orderby-with-page", requests=8)
def test_pages_of_an_ordered_list_are_in_order(world: World, expect: Expect) -> None:
    """Orderby applies before skip and top, so that pages taken together are in order."""
    files = known_files(world)
    files.need_order()
    lists.need_parts(files, (1, 2))
    lists.claim_pages_in_order(expect("attachment-list-orderby-with-page"), files, 2, items=ALL)


@smoke(requests=3)
@contract(
    "attachment-list-filter-meaning",
    "attachment-list-orderby-meaning",
    "attachment-list-pages-cover",
    requests=2,
)
def test_all_options_hold_together(world: World, expect: Expect) -> None:
    """A filter of many operators, a falling order, skip and top in one request give the part that they say."""
    list_questions.Questions(lambda _: known_files(world), expect).claim_all_options()


@contract("attachment-list-malformed", requests=5)
def test_malformed_options_are_refused(world: World, expect: Expect) -> None:
    """A filter or orderby that is no OData expression, and a top or skip that is no number, is refused."""
    attached = attachments_of(world.author, world.shared_document())
    filters = [attached.page(filter=text) for text in ("((", "filename eq 'open")]
    orders = [attached.page(orderby=text) for text in ("((",)]
    numbers = [attached.page(**{option: "ten"}) for option in ("top", "skip")]
    pages = [*filters, *orders, *numbers]
    claim_each_refused(expect("attachment-list-malformed"), [page.exchange for page in pages])
