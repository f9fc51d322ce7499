"""Filters on a field of a list's items, and malformed options."""

import pytest

from registry_contracts.cases import (
    Expect,
    Observer,
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
    shape,
)

#: Literals that are easily corrupted on their way, and equal no identifier.
DELICATE = {"quotes": "it's nobody's", "reserved": "a&b=c#d+e%20;f/g? никто 誰も"}


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


@contract("list-filter-malformed", "list-failure-status", requests=2)
def test_a_malformed_filter_is_refused(world: World, expect: Expect, observe: Observer) -> None:
    """A $filter that is no OData expression is refused."""
    texts = ("((", "identifier eq 'open")
    exchanges = [drafts_of(world.author, "mydrafts").page(filter=text).exchange for text in texts]
    claim_each_refused(expect("list-filter-malformed"), exchanges)
    observe("list-failure-status", "listDrafts", shape(exchanges[0]))


@contract("list-orderby-malformed", requests=2)
def test_a_malformed_orderby_is_refused(world: World, expect: Expect) -> None:
    """An $orderby that is no OData expression is refused."""
    texts = ("((", "identifier sideways down")
    exchanges = [drafts_of(world.author, "mydrafts").page(orderby=text).exchange for text in texts]
    claim_each_refused(expect("list-orderby-malformed"), exchanges)


@contract("attachment-list-malformed", requests=5)
def test_malformed_options_are_refused(world: World, expect: Expect) -> None:
    """A filter or orderby that is no OData expression, and a top or skip that is no number, is refused."""
    attached = attachments_of(world.author, world.shared_document())
    filters = [attached.page(filter=text) for text in ("((", "filename eq 'open")]
    orders = [attached.page(orderby=text) for text in ("((",)]
    numbers = [attached.page(**{option: "ten"}) for option in ("top", "skip")]
    pages = [*filters, *orders, *numbers]
    claim_each_refused(expect("attachment-list-malformed"), [page.exchange for page in pages])
