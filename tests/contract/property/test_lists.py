"""Both lists: any combination of options selects and orders the right items."""

from functools import partial

from registry_contracts.cases import (
    Deal,
    Expect,
    Properties,
    World,
    contract,
    known_drafts,
    known_files,
    list_questions,
)


@contract(
    "list-filter-meaning",
    "list-filter-with-top",
    "list-orderby-meaning",
    "list-top-and-skip",
    requests=12,
    dealt=22,
    nightly=71,
    last=True,
)
def test_any_combination_of_options_picks_what_it_says(
    world: World, expect: Expect, properties: Properties, deal: Deal
) -> None:
    """Nested filters, both orders, windows and collections together select the drafts that match.

    So do text functions, doubled quotes in a literal, and orders by two keys.
    """
    drafts = partial(known_drafts, world)
    questions = list_questions.Questions(drafts, expect)
    questions.claim_answers(properties, deal)
    questions.claim_pairs()


@contract(
    "attachment-list-filter-meaning",
    "attachment-list-orderby-meaning",
    "attachment-list-pages-cover",
    requests=25,
    dealt=8,
    nightly=60,
)
def test_any_combination_of_options_picks_the_attachments_that_it_says(
    world: World, expect: Expect, properties: Properties, deal: Deal
) -> None:
    """Any combination of options, which have no dollar sign here, selects the attachments that match."""
    files = list_questions.Questions(lambda _: known_files(world), expect)
    files.claim_answers(properties, deal)
