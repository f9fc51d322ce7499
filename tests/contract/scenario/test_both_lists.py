"""Both lists, of drafts and of a document's attachments: what each option does alone, and all of them together."""

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any

import pytest

from registry_contracts.cases import (
    Expect,
    World,
    contract,
    known_drafts,
    known_files,
    known_lists,
    lists,
    smoke,
)
from registry_contracts.cases.known_lists import KnownList
from registry_contracts.cases.list_questions import Questions

LISTS = ("listDrafts", "listAttachments")
Known = Callable[[World], KnownList]
all_drafts = partial(known_drafts, collection=None)
unsound_files = partial(known_files, sound=False)


def row(name: str, clause: str, known: Any, *others: Any, relies_on: Any = ()) -> Any:
    """One case: its id, its clause, the function that makes the list, further arguments, and preconditions."""
    return pytest.param(clause, known, *others, id=name, marks=contract(clause, relies_on=relies_on))


def of_both(
    what: str, drafts: Any = known_drafts, files: Any = known_files, *, relies_on: Any = ((), ())
) -> pytest.MarkDecorator:
    """One case for each list, with its clause, the function that makes the list, and the preconditions."""
    rows = [
        row("drafts", f"list-{what}", drafts, relies_on=relies_on[0]),
        row("files", f"attachment-list-{what}", files, relies_on=relies_on[1]),
    ]
    return pytest.mark.parametrize(("clause", "known"), rows)


@smoke("drafts", requests=2)
@pytest.mark.parametrize(
    ("clause", "known", "tops"),
    [
        row("drafts", "list-top", all_drafts, [4], relies_on=["list-answers"]),  # rows ask for one
        row("files", "attachment-list-top", unsound_files, [4, 1]),
    ],
)
@contract(operations=LISTS, requests=5.5)
def test_top_bounds_the_list(
    clause: str, known: Known, tops: list[int], world: World, expect: Expect
) -> None:
    """With top, a list returns at most that many items."""
    for top in tops:
        lists.claim_bounded(expect(clause), known(world).lister, top)


@smoke("drafts-skip")
@pytest.mark.parametrize(
    ("clause", "known", "cuts"),
    [
        row("drafts-skip", "list-skip", all_drafts, [(1, None), (5, None)]),
        row("files-skip", "attachment-list-skip", known_files, [(1, None), (5, None)]),
        row("drafts-skip-zero", "list-skip-zero", known_drafts, [(0, None)]),
        row("drafts-window", "list-top-and-skip", all_drafts, [(1, 2), (3, 1)]),
    ],
)
@contract(operations=LISTS, requests=4)
def test_skip_and_top_give_a_part_of_the_list(
    clause: str, known: Known, cuts: list[lists.Cut], world: World, expect: Expect
) -> None:
    """With skip, the list starts that many items later; it goes on to its end, or with top for that many items."""
    lists.claim_parts(expect(clause), known(world), *cuts)


@smoke("drafts")
@of_both("top-zero", all_drafts)
@contract(operations=LISTS, requests=1)
def test_a_top_of_zero_returns_nothing(clause: str, known: Known, world: World, expect: Expect) -> None:
    """With a top of zero, no item is returned; a refusal counts too."""
    lists.claim_no_items(expect(clause), known(world).lister.page(top=0))


@pytest.mark.parametrize(
    ("clause", "known"),
    [
        pytest.param(name, known, id=kind, marks=contract(name, f"{name}-empty"))
        for kind, name, known in (
            ("drafts", "list-skip-beyond", known_drafts),
            ("files", "attachment-list-skip-beyond", known_files),
        )
    ],
)
@contract(operations=LISTS, requests=2)
def test_skip_beyond_the_end_gives_nothing(clause: str, known: Known, world: World, expect: Expect) -> None:
    """With a skip beyond the end, no item is returned: the answer is an empty list, 204, or not found."""
    for page in lists.beyond_the_end(known(world)):
        lists.claim_no_items(expect(clause), page)
        lists.claim_empty(expect(f"{clause}-empty"), page)


@smoke(requests=2)
@pytest.mark.parametrize(
    ("clause", "known", "option"),
    [
        row("drafts-filter", "list-filter-heeded", known_drafts, "filter"),
        row("files-filter", "attachment-list-filter-heeded", unsound_files, "filter"),
        row("drafts-orderby", "list-orderby-heeded", known_drafts, "orderby"),
        row("files-orderby", "attachment-list-orderby-heeded", unsound_files, "orderby"),
    ],
)
@contract(operations=LISTS, requests=1.4)
def test_filters_and_orders_are_not_all_ignored(
    clause: str, known: Known, option: str, world: World, expect: Expect
) -> None:
    """For a field, "eq" with a value that no item has selects nothing, "ne" items; falling is not rising order."""
    known_lists.claim_heeded(expect(clause), known(world), option)


@smoke("drafts-rising", "files-rising")
@pytest.mark.parametrize(
    ("clause", "known", "falling"),
    [
        row("drafts-rising", "list-orderby", known_drafts, False),
        row("drafts-falling", "list-orderby-falling", known_drafts, True, relies_on=["list-orderby"]),
        row("files-rising", "attachment-list-orderby", known_files, False),
        row("files-falling", "attachment-list-orderby", known_files, True),
    ],
)
@contract(operations=LISTS, requests=1)
def test_items_come_in_the_order_asked_for(
    clause: str, known: Known, falling: bool, world: World, expect: Expect
) -> None:
    """With orderby on a field, the items come in ascending order of that field; with the word desc, in descending."""
    known_lists.claim_ordered(expect(clause), known(world), falling=falling)


@contract("attachment-list-orderby-meaning", requests=3, turns=True)
def test_numbers_come_in_the_order_of_their_values(world: World, expect: Expect) -> None:
    """With orderby on a field of numbers, the attachments come in the order of the numbers, not of their texts."""
    known_lists.claim_numbers_by_value(expect("attachment-list-orderby-meaning"), known_files(world))


@of_both("orderby-with-page", relies_on=(["list-orderby"], ["attachment-list-orderby"]))
@contract(operations=LISTS, requests=8.5)
def test_pages_of_an_ordered_list_are_in_order(
    clause: str, known: Known, world: World, expect: Expect
) -> None:
    """Orderby applies before skip and top: each page of three is that part of the whole list in falling order."""
    asked = known(world)
    falling = replace(asked, lister=asked.lister.with_fixed(orderby=asked.order(falling=True)))
    lists.claim_parts(expect(clause), falling, *lists.pages(asked, 3))


@contract("list-filter-meaning", "list-orderby-meaning", requests=14, turns=True)
def test_equal_texts_are_told_apart_by_a_second_key(world: World, expect: Expect) -> None:
    """A filter by a text with a doubled quote selects its drafts, and a second key orders drafts equal in the first."""
    Questions(partial(known_drafts, world), expect).claim_pairs()
