"""Both lists, of drafts and of a document's attachments: what each option does alone, and all of them together."""

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any

import pytest

from registry_contracts.cases import (
    Expect,
    Lister,
    Observer,
    World,
    contract,
    known_drafts,
    known_files,
    known_lists,
    list_questions,
    lists,
    shared_documents,
    smoke,
    status,
)
from registry_contracts.cases.known_lists import KnownList

LISTS = ("listDrafts", "listAttachments")
#: Attachments of the shared document.
ALL = 6
Known = Callable[[World], KnownList]
all_drafts = partial(known_drafts, collection=None)
unsound_files = partial(known_files, sound=False)


def of_both(
    what: str, drafts: Any = known_drafts, files: Any = known_files, *, relies_on: Any = ((), ())
) -> pytest.MarkDecorator:
    """One case for each list, with its clause, the function that makes the list, and the preconditions."""
    rows = (f"list-{what}", drafts), (f"attachment-list-{what}", files)
    params = [
        pytest.param(*row, id=name, marks=contract(row[0], relies_on=others))
        for name, row, others in zip(("drafts", "files"), rows, relies_on, strict=True)
    ]
    return pytest.mark.parametrize(("clause", "known"), params)


@smoke("1-drafts", requests=2)
@of_both(
    "top",
    lambda world: all_drafts(world).lister,
    partial(shared_documents.shared_document_list, repeats=True),
    relies_on=(["list-answers"], []),
)
@contract(operations=LISTS, requests=3.2)
@pytest.mark.parametrize("top", [1, 4])
def test_top_bounds_the_list(
    top: int, clause: str, known: Callable[[World], Lister], world: World, expect: Expect
) -> None:
    """With top, a list returns at most that many items."""
    lists.claim_bounded(expect(clause), known(world), top)


@smoke("drafts")
@of_both("skip", all_drafts)
@contract(operations=LISTS, requests=4)
def test_skip_shifts_the_list(clause: str, known: Known, world: World, expect: Expect) -> None:
    """With skip, the list starts that many items later, up to the last one."""
    lists.claim_parts(expect(clause), known(world), (1, None), (5, None))


@smoke("drafts")
@of_both("top-zero", all_drafts, relies_on=(["list-top"], ["attachment-list-top"]))
@contract(operations=LISTS, requests=1)
def test_a_top_of_zero_returns_nothing(clause: str, known: Known, world: World, expect: Expect) -> None:
    """With a top of zero, no item is returned; a refusal counts too."""
    lists.claim_no_items(expect(clause), known(world).lister.page(top=0))


@contract("list-skip-beyond", "list-skip-beyond-empty", requests=4)
@contract(relies_on=["list-collection-with-skip"])
def test_skip_beyond_the_end_gives_no_draft(world: World, expect: Expect) -> None:
    """With a skip larger than the number of drafts, no item is returned."""
    page = known_drafts(world).lister.page(skip=lists.BEYOND)
    lists.claim_no_items(expect("list-skip-beyond"), page)
    lists.claim_empty(expect("list-skip-beyond-empty"), page)


@contract("attachment-list-skip-beyond", "attachment-list-skip-beyond-empty", requests=2.5)
@contract("attachment-success-status", relies_on=["attachment-list-skip"])
@pytest.mark.parametrize("skip", [ALL, 1000])
def test_skip_beyond_the_end_gives_no_attachment(
    skip: int, world: World, expect: Expect, observe: Observer
) -> None:
    """With a skip beyond the end of the list, no attachment is returned."""
    page = known_files(world).lister.page(skip=skip)
    observe("attachment-success-status", "listAttachments", {"nothing left": status(page.exchange)})
    lists.claim_no_items(expect("attachment-list-skip-beyond"), page)
    lists.claim_empty(expect("attachment-list-skip-beyond-empty"), page)


@smoke(requests=2)
@of_both("filter-heeded", files=unsound_files)
@contract(operations=LISTS, requests=1.8)
def test_not_every_filter_is_passed_over(clause: str, known: Known, world: World, expect: Expect) -> None:
    """A filter on at least one of the items' fields has an effect."""
    known_lists.claim_heeded(expect(clause), known(world), "filter")


@smoke(requests=2)
@of_both("orderby-heeded", files=unsound_files)
@contract(operations=LISTS, requests=1)
def test_not_every_order_is_passed_over(clause: str, known: Known, world: World, expect: Expect) -> None:
    """An orderby on at least one of the items' fields has an effect."""
    known_lists.claim_heeded(expect(clause), known(world), "orderby")


@smoke()
@of_both("orderby")
@contract(operations=LISTS, requests=1)
def test_items_come_in_rising_order(clause: str, known: Known, world: World, expect: Expect) -> None:
    """With orderby on a field, the items come in ascending order of that field."""
    known_lists.claim_ordered(expect(clause), known(world))


@contract("attachment-list-orderby", requests=1)
def test_attachments_come_in_falling_order(world: World, expect: Expect) -> None:
    """With orderby on a field and the word desc, the attachments come in descending order of that field."""
    known_lists.claim_ordered(expect("attachment-list-orderby"), known_files(world), falling=True)


@contract("attachment-list-orderby-meaning", requests=3, turns=True)
def test_numbers_come_in_the_order_of_their_values(world: World, expect: Expect) -> None:
    """With orderby on a field of numbers, the attachments come in the order of the numbers, not of their texts."""
    known_lists.claim_numbers_by_value(expect("attachment-list-orderby-meaning"), known_files(world))


@contract("list-orderby-falling", relies_on=["list-orderby"], requests=1)
def test_drafts_come_in_falling_order(world: World, expect: Expect) -> None:
    """With $orderby on a field and the word desc, the drafts come in descending order of that field."""
    known_lists.claim_ordered(expect("list-orderby-falling"), known_drafts(world), falling=True)


@of_both(
    "orderby-with-page",
    relies_on=(["list-orderby", "list-top-and-skip"], ["attachment-list-orderby", "attachment-list-skip"]),
)
@contract(operations=LISTS, requests=8.5)
def test_pages_of_an_ordered_list_are_in_order(
    clause: str, known: Known, world: World, expect: Expect
) -> None:
    """Orderby applies before skip and top, so consecutive pages are in order."""
    asked = known(world)
    falling = replace(asked, lister=asked.lister.with_fixed(orderby=asked.order(falling=True)))
    lists.claim_parts(expect(clause), falling, *lists.pages(asked, 3))


@smoke(requests=4)
@contract("list-filter-meaning", "list-orderby-meaning", "list-top-and-skip", requests=3)
def test_all_options_hold_together_for_drafts(world: World, expect: Expect) -> None:
    """A filter of many operators, either order, skip and top together select the right drafts."""
    list_questions.Questions(partial(known_drafts, world), expect).claim_all_options()


@smoke(requests=4)
@contract("attachment-list-filter-meaning", "attachment-list-orderby-meaning", requests=3)
@contract("attachment-list-pages-cover")
def test_all_options_hold_together_for_attachments(world: World, expect: Expect) -> None:
    """A filter of many operators, either order, skip and top together select the right attachments."""
    list_questions.Questions(lambda _: known_files(world), expect).claim_all_options()
