"""Filters and orders of the list of drafts, by a field that is learnt from its items."""

from functools import partial

import pytest

from contracts.cases import (
    Expect,
    Observer,
    World,
    claim_each_refused,
    contract,
    drafts_of,
    equals,
    known_drafts,
    known_lists,
    list_questions,
    lists,
    quoted,
    shape,
    smoke,
)

#: Literals that are easily broken on their way, and equal no identifier.
DELICATE = {"quotes": "it's nobody's", "reserved": "a&b=c#d+e%20;f/g? никто 誰も"}


@smoke(requests=0)
@contract("list-filter-heeded", requests=3.5)
def test_not_every_filter_is_passed_over(world: World, expect: Expect) -> None:
    """A $filter is read: by some field that the items carry it has an effect."""
    known_lists.claim_filters_heeded(expect("list-filter-heeded"), known_drafts(world))


@smoke()
@contract("list-orderby-heeded", requests=2)
def test_not_every_order_is_passed_over(world: World, expect: Expect) -> None:
    """An $orderby is read: by some field that the items carry it has an effect."""
    known_lists.claim_orders_heeded(expect("list-orderby-heeded"), known_drafts(world))


@contract("list-filter", requests=2)
@pytest.mark.parametrize("kind", list(DELICATE))
def test_a_filter_takes_any_text(kind: str, world: World, expect: Expect) -> None:
    """A literal may hold quotes, characters reserved in addresses, and any script."""
    drafts = known_drafts(world)
    drafts.need_filter()
    text, third = f"{drafts.filter_path} eq {quoted(DELICATE[kind])}", drafts.own[2]
    either = f"{text} or {equals(drafts.filter_path, third)}"
    known_lists.claim_picked(expect("list-filter"), drafts.lister, text, ())
    known_lists.claim_picked(expect("list-filter"), drafts.lister, either, [third])


@smoke(requests=2)
@contract("list-filter-meaning", "list-orderby-meaning", "list-top-and-skip", requests=2)
def test_all_options_hold_together(world: World, expect: Expect) -> None:
    """A $filter of many operators, a falling $orderby, $skip and $top in one request give the part that they say."""
    drafts = partial(known_drafts, world)
    list_questions.Questions(drafts, expect).claim_all_options()


@smoke()
@contract("list-orderby", requests=1)
def test_items_come_in_rising_order(world: World, expect: Expect) -> None:
    """With $orderby on a field the items come in rising order of it."""
    known_lists.claim_ordered(expect("list-orderby"), known_drafts(world))


@contract("list-orderby-falling", requests=1)
def test_items_come_in_falling_order(world: World, expect: Expect) -> None:
    """With $orderby on a field and the word desc, the items come in falling order of it."""
    drafts = known_drafts(world)
    drafts.need_order()
    known_lists.claim_ordered(expect("list-orderby-falling"), drafts, falling=True)


@contract("list-orderby-with-page", requests=9)
def test_pages_of_an_ordered_list_are_in_order(world: World, expect: Expect) -> None:
    """$orderby applies before $skip and $top, so that pages taken together are in order."""
    drafts = known_drafts(world)
    drafts.need_order()
    lists.need_parts(drafts, (1, 2))
    lists.claim_pages_in_order(expect("list-orderby-with-page"), drafts, 3)


@contract("list-filter-malformed", "list-failure-status", requests=2)
def test_a_malformed_filter_is_refused(world: World, expect: Expect, observe: Observer) -> None:
    """A $filter that is no OData expression is refused."""
    texts = ("((", "identifier eq 'open")
    exchanges = [drafts_of(world.author, "mydrafts").page(filter=text).exchange for text in texts]
    claim_each_refused(expect("list-filter-malformed"), exchanges)
    observe("list-failure-status", "listDrafts", shape(exchanges[0]))


@contract("list-orderby-malformed", requests=2)
def test_a_malformed_orderby_is_refused(world: World, expect: Expect) -> None:
    """An $orderby that is no OData expression is refused."""
    texts = ("((", "identifier sideways down")
    exchanges = [drafts_of(world.author, "mydrafts").page(orderby=text).exchange for text in texts]
    claim_each_refused(expect("list-orderby-malformed"), exchanges)
