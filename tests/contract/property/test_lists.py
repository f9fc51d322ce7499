"""Both lists: whatever combination of options they take, they pick and order what they were asked for."""

from contracts.cases import (
    Actor,
    Arrangement,
    Claims,
    Deal,
    Namespace,
    Properties,
    Samples,
    contract,
    drawn_lists,
    long_lists,
    smoke,
)


@contract(
    "list-filter-meaning",
    "list-filter-with-top",
    "list-orderby-meaning",
    requests=12,
    dealt=22,
    nightly=71,
    last=True,
)
def test_any_combination_of_options_picks_what_it_says(
    author: Actor,
    arrange: Arrangement,
    samples: Samples,
    fresh: Namespace,
    claim: Claims,
    properties: Properties,
    deal: Deal,
) -> None:
    """Filters of any depth, both orders, windows and collections together give what the drafts themselves say.

    So do functions of texts, quotes that are doubled in a literal, and orders of two keys.
    """
    drafts = drawn_lists.DrawnLists.of_drafts(arrange, author, claim)
    drafts.are_answered(properties, deal, drawn_lists.FIRST_OF_DRAFTS)
    more = long_lists.LongList(arrange, author, samples, fresh)
    more.knows_functions(claim("list-filter-meaning"), deal)
    more.knows_quotes(claim("list-filter-meaning"))
    more.orders_by_two_keys(claim("list-orderby-meaning"))


@smoke(requests=26)
@contract(
    "attachment-list-filter-meaning", "attachment-list-orderby-meaning", requests=25, dealt=8, nightly=60
)
def test_any_combination_of_options_picks_the_attachments_that_it_says(
    author: Actor, arrange: Arrangement, claim: Claims, properties: Properties, deal: Deal
) -> None:
    """Options without a dollar sign have the meaning of those with one."""
    files = drawn_lists.DrawnLists.of_files(arrange, author, claim)
    files.are_answered(properties, deal, drawn_lists.FIRST_OF_FILES)
