"""Filters on a field of a list's items, and malformed options."""

from collections.abc import Callable
from typing import Any

import pytest

from registry_contracts.cases import (
    Expect,
    Lister,
    World,
    attachments_of,
    claim_each_refused,
    contract,
    drafts_of,
    equals,
    known_drafts,
    known_files,
    known_lists,
    quoted,
)

#: Literals that are easily corrupted on their way, and equal no identifier.
DELICATE = {"quotes": "it's nobody's", "reserved": "a&b=c#d+e%20;f/g? никто 誰も"}
#: Option → values that are no OData expression, or no number.
MALFORMED = {
    "filter": ("((", "identifier eq 'open"),
    "orderby": ("((",),
    "top": ("ten", "[]"),
    "skip": ("ten", "[]"),
}


@contract("list-filter", requests=2)
@pytest.mark.parametrize("kind", list(DELICATE))
def test_a_filter_takes_any_text(kind: str, world: World, expect: Expect) -> None:
    """A literal may hold quotes, reserved URL characters, and any script."""
    drafts = known_drafts(world)
    drafts.need_filter()
    text, third = f"{drafts.filter_path} eq {quoted(DELICATE[kind])}", drafts.own[2]
    either = f"{text} or {equals(drafts.filter_path, third)}"
    known_lists.claim_picked(expect("list-filter"), drafts.lister, text, ())
    known_lists.claim_picked(expect("list-filter"), drafts.lister, either, [third])


@contract("attachment-list-filter", requests=3)
def test_a_filter_picks_what_is_equal(world: World, expect: Expect) -> None:
    """A filter returns all attachments that match, and no others."""
    files = known_files(world)
    for wanted in (files.own[:1], files.own[2:4]):
        asked = equals(files.filter_path, *wanted)
        known_lists.claim_picked(expect("attachment-list-filter"), files.lister, asked, wanted)
    nothing = equals(files.filter_path, "no file of this name")
    known_lists.claim_picked(expect("attachment-list-filter"), files.lister, nothing, ())


def my_drafts(world: World) -> Lister:
    """The author's drafts."""
    return drafts_of(world.author, "mydrafts")


def shared_files(world: World) -> Lister:
    """The attachments of the shared document."""
    return attachments_of(world.author, world.shared_document())


def row(clause: str, listed: Callable[[World], Lister], *options: str) -> Any:
    """A list with its clause and the options to try."""
    return pytest.param(clause, listed, options, id="-".join(options), marks=contract(clause))


@pytest.mark.parametrize(
    ("clause", "listed", "options"),
    [
        row("list-filter-malformed", my_drafts, "filter"),
        row("list-orderby-malformed", my_drafts, "orderby"),
        row("list-number-malformed", my_drafts, "top", "skip"),
        row("attachment-list-malformed", shared_files, *MALFORMED),
    ],
)
@contract(operations=["listDrafts", "listAttachments"], requests=4)
def test_a_malformed_option_is_refused(
    clause: str, listed: Callable[[World], Lister], options: tuple[str, ...], world: World, expect: Expect
) -> None:
    """A filter or orderby that is no OData expression is refused, and a top or skip that is no number."""
    asked = [{option: text} for option in options for text in MALFORMED[option]]
    pages = [listed(world).page(**{**option}) for option in asked]
    claim_each_refused(expect(clause), [page.exchange for page in pages])
