"""Filters and orders of the list of drafts, by a field that is learnt from its items."""

import pytest

from contracts.cases import (
    Actor,
    Arrangement,
    Claims,
    Observer,
    claim_each_refused,
    contract,
    drafts_of,
    drawn_lists,
    equals,
    list_fields,
    lists,
    quoted,
    shape,
    smoke,
)

#: Literals that are easily broken on their way, and equal no identifier.
DELICATE = {"quotes": "it's nobody's", "reserved": "a&b=c#d+e%20;f/g? никто 誰も"}


@smoke(requests=11)
@contract("list-filter-heeded", requests=3.5)
def test_not_every_filter_is_passed_over(author: Actor, arrange: Arrangement, claim: Claims) -> None:
    """A $filter is read: by some field that the items carry it has an effect."""
    list_fields.drafts_heed_filters(claim("list-filter-heeded"), arrange, author)


@smoke()
@contract("list-orderby-heeded", requests=2)
def test_not_every_order_is_passed_over(author: Actor, arrange: Arrangement, claim: Claims) -> None:
    """An $orderby is read: by some field that the items carry it has an effect, and the one that was asked for."""
    list_fields.drafts_heed_orders(claim("list-orderby-heeded"), arrange, author)


@contract("list-filter", requests=1)
def test_a_filter_picks_what_is_equal(author: Actor, arrange: Arrangement, claim: Claims) -> None:
    """With a $filter only the items that match are returned, and a match is not lost."""
    field, drafts = list_fields.draft_field(arrange, author), drafts_of(author, "mydrafts")
    list_fields.picks(claim("list-filter"), drafts, equals(field.filter_path, field.own[0]), field.own[:1])


@contract("list-filter", requests=2)
@pytest.mark.parametrize("kind", list(DELICATE))
def test_a_filter_takes_any_text(kind: str, author: Actor, arrange: Arrangement, claim: Claims) -> None:
    """A literal may hold quotes, characters reserved in addresses, and any script."""
    field, drafts = list_fields.draft_field(arrange, author), drafts_of(author, "mydrafts")
    list_fields.relies_on_filter(drafts, field)
    path, literal = field.filter_path, quoted(DELICATE[kind])
    list_fields.picks(claim("list-filter"), drafts, f"{path} eq {literal}", ())
    list_fields.picks(
        claim("list-filter"), drafts, f"{path} eq {literal} or {equals(path, field.own[2])}", field.own[2:3]
    )


@smoke()
@contract("list-filter-meaning", "list-orderby-meaning", "list-top-and-skip", requests=2)
def test_all_options_hold_together(author: Actor, arrange: Arrangement, claim: Claims) -> None:
    """A $filter of many operators, a falling $orderby, $skip and $top in one request give the part that they say."""
    drawn_lists.DrawnLists.of_drafts(arrange, author, claim).hold_with_every_option()


@contract("list-orderby", requests=1)
def test_items_come_in_rising_order(author: Actor, arrange: Arrangement, claim: Claims) -> None:
    """With $orderby on a field the items come in rising order of it."""
    field = list_fields.draft_field(arrange, author)
    list_fields.ordered(claim("list-orderby"), drafts_of(author, "mydrafts"), field)


@contract("list-orderby-falling", requests=1)
def test_items_come_in_falling_order(author: Actor, arrange: Arrangement, claim: Claims) -> None:
    """With $orderby on a field and the word desc, the items come in falling order of it."""
    field, drafts = list_fields.draft_field(arrange, author), drafts_of(author, "mydrafts")
    list_fields.relies_on_order(arrange, drafts, field)
    list_fields.ordered(claim("list-orderby-falling"), drafts, field, falling=True)


@contract("list-orderby-with-page", requests=9)
def test_pages_of_an_ordered_list_are_in_order(author: Actor, arrange: Arrangement, claim: Claims) -> None:
    """$orderby applies before $skip and $top, so that pages taken together are in order."""
    field, drafts = list_fields.draft_field(arrange, author), drafts_of(author, "mydrafts")
    list_fields.relies_on_order(arrange, drafts, field)
    lists.relies_on_windows(arrange, drafts, field.narrowed(drafts))
    order = f"{field.order_path} desc"
    own = field.narrowed(drafts.with_fixed(orderby=order))
    lists.pages_in_order(claim("list-orderby-with-page"), drafts.with_fixed(orderby=order), 3, own=own)


@contract("list-filter-malformed", "list-failure-status", requests=2)
def test_a_malformed_filter_is_refused(author: Actor, claim: Claims, observe: Observer) -> None:
    """A $filter that is no OData expression is refused."""
    texts = ("((", "identifier eq 'open")
    exchanges = [drafts_of(author, "mydrafts").page(filter=text).exchange for text in texts]
    claim_each_refused(claim("list-filter-malformed"), exchanges)
    observe("list-failure-status", "listDrafts", shape(exchanges[0]))


@contract("list-orderby-malformed", requests=2)
def test_a_malformed_orderby_is_refused(author: Actor, claim: Claims) -> None:
    """An $orderby that is no OData expression is refused."""
    texts = ("((", "identifier sideways down")
    exchanges = [drafts_of(author, "mydrafts").page(orderby=text).exchange for text in texts]
    claim_each_refused(claim("list-orderby-malformed"), exchanges)
