"""The list of drafts: whatever combination of options it takes, it picks and orders what it was asked for."""

from contracts.cases import Actor, Arrangement, Claims, Properties, contract, drawn_lists


@contract(*drawn_lists.CLAUSES, requests=16, last=True)
def test_any_combination_of_options_picks_what_it_says(
    author: Actor, arrange: Arrangement, claim: Claims, properties: Properties
) -> None:
    """Filters of any depth, both orders, windows and collections together give what the drafts themselves say."""
    drafts = drawn_lists.DrawnLists(author, arrange, claim)
    properties.hold(drawn_lists.questions(), drafts.is_answered, requests=16, each=1, first=drawn_lists.FIRST)
