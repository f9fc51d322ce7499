"""The list of drafts where the document is silent: observed, never judged."""

from registry_contracts.cases import (
    Actor,
    Lister,
    Observer,
    World,
    comparison,
    contract,
    drafts_of,
    known_lists,
    readers,
    shape,
    status,
)
from registry_contracts.history.observed_facts import shape_of

OPTIONS = ("filter", "orderby", "top", "skip")


@contract("list-fields", "list-envelope", "list-default-order", "list-default-page", requests=2)
def test_the_plain_list_is_observed(world: World, observe: Observer) -> None:
    """The document does not show the fields, envelope, order and length of a list without options."""
    kept, drafts = known_lists.kept_drafts(world), drafts_of(world.author, "mydrafts")
    page = drafts.page()
    mine = [record for record in page.records or () if readers.names(record, kept[0])]
    orders = {"as saved": kept, "latest first": kept[::-1], "by uid": sorted(kept)}
    answered = shape(page.exchange)
    observe("list-fields", "listDrafts", {**answered, "body": shape_of(mine[0])} if mine else None)
    observe("list-envelope", "listDrafts", shape_of(page.exchange.answer.json)["body"])
    observe("list-default-order", "listDrafts", {"order": comparison.order_name(page.order_of(kept), orders)})
    observe("list-default-page", "listDrafts", {"items": comparison.page_length(page, len(kept))})


@contract("list-option-empty", "list-number-negative", profile="nightly", requests=7)
def test_empty_and_negative_options_are_observed(world: World, observe: Observer) -> None:
    """The document does not say what an empty option or a negative number does."""
    drafts = drafts_of(world.author, "mydrafts")
    empty = {option: status(drafts.page(**{option: ""}).exchange) for option in OPTIONS}
    empty["collection"] = status(drafts_of(world.author, "").page().exchange)
    negative = {option: status(drafts.page(**{option: -1}).exchange) for option in ("top", "skip")}
    observe("list-option-empty", "listDrafts", empty)
    observe("list-number-negative", "listDrafts", negative)


@contract("list-options-without-dollar", requests=1)
def test_options_without_the_dollar_are_observed(world: World, observe: Observer) -> None:
    """The document does not say what options without the dollar sign do."""
    known_lists.kept_drafts(world)
    page = Lister(world.author, "listDrafts", "", {}, {"collection": "mydrafts"}).page(top=1)
    seen = {"status": status(page.exchange), "bounded": page.size == 1}
    observe("list-options-without-dollar", "listDrafts", seen)


@contract("list-by-restricted", requests=1)
def test_listing_by_an_account_without_rights_is_observed(restricted: Actor, observe: Observer) -> None:
    """The document does not say how a list of drafts by an account without rights is answered."""
    observe("list-by-restricted", "listDrafts", status(drafts_of(restricted, "my").page().exchange))
