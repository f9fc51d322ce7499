"""Both lists: whatever combination of options they take, they pick and order what they were asked for."""

from contracts.cases import Actor, Arrangement, Claims, Deal, Properties, contract, drawn_lists


@contract("list-filter-meaning", "list-filter-with-top", "list-orderby-meaning", requests=16, last=True)
def test_any_combination_of_options_picks_what_it_says(
    author: Actor, arrange: Arrangement, claim: Claims, properties: Properties, deal: Deal
) -> None:
    """Filters of any depth, both orders, windows and collections together give what the drafts themselves say."""
    drafts = drawn_lists.DrawnLists.of_drafts(arrange, author, claim)
    drafts.are_answered(properties, deal, drawn_lists.FIRST_OF_DRAFTS)


@contract("attachment-list-filter-meaning", "attachment-list-orderby-meaning", requests=12)
def test_any_combination_of_options_picks_the_attachments_that_it_says(
    author: Actor, arrange: Arrangement, claim: Claims, properties: Properties, deal: Deal
) -> None:
    """Options without a dollar sign have the meaning of those with one."""
    files = drawn_lists.DrawnLists.of_files(arrange, author, claim)
    files.are_answered(properties, deal, drawn_lists.FIRST_OF_FILES)
