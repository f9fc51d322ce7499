"""Both lists: any combination of options selects and orders the right items."""

from collections.abc import Callable
from functools import partial

import pytest

from registry_contracts.cases import (
    Deal,
    Expect,
    KnownList,
    Properties,
    World,
    contract,
    known_drafts,
    known_files,
    smoke,
)
from registry_contracts.cases.list_questions import Questions

of_drafts = contract(
    "list-filter-meaning", "list-filter-with-top", "list-orderby-meaning", "list-top-and-skip", dealt=22
)
of_files = contract(
    "attachment-list-filter-meaning",
    "attachment-list-orderby-meaning",
    "attachment-list-pages-cover",
    dealt=8,
)


@smoke("drafts", requests=4)
@pytest.mark.parametrize(
    "known",
    [
        pytest.param(known_drafts, id="drafts", marks=of_drafts),
        pytest.param(known_files, id="files", marks=of_files),
    ],
)
@contract(operations=["listDrafts", "listAttachments"], requests=9, nightly=62, last=True)
def test_any_combination_of_options_picks_what_it_says(
    known: Callable[[World], KnownList], world: World, expect: Expect, properties: Properties, deal: Deal
) -> None:
    """Nested filters, text functions, both orders, windows and collections together select the items that match.

    The options of attachments have no dollar sign, and attachments have no collections.
    """
    Questions(partial(known, world), expect).claim_answers(properties, deal)
