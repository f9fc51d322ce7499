"""Both lists: any combination of options selects and orders the right items."""

from registry_contracts.cases import Deal, Expect, Properties, World, contract, known_drafts, known_files
from registry_contracts.cases.list_questions import Questions


@contract(
    "list-filter-meaning",
    "list-filter-with-top",
    "list-orderby-meaning",
    "list-top-and-skip",
    requests=5,
    dealt=22,
    nightly=60,
    last=True,
)
def test_any_combination_of_options_picks_what_it_says(
    world: World, expect: Expect, properties: Properties, deal: Deal
) -> None:
    """Nested filters, text functions, both orders, windows and collections together select the drafts that match."""
    Questions(known_drafts(world), expect).claim_answers(properties, deal)


@contract(
    "attachment-list-filter-meaning",
    "attachment-list-orderby-meaning",
    "attachment-list-pages-cover",
    requests=6,
    dealt=8,
    nightly=60,
)
def test_any_combination_of_options_picks_the_attachments_that_it_says(
    world: World, expect: Expect, properties: Properties, deal: Deal
) -> None:
    """Any combination of options, which have no dollar sign here, selects the attachments that match."""
    Questions(known_files(world), expect).claim_answers(properties, deal)
