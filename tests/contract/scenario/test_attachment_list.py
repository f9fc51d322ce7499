"""The list of a document's attachments: filter, orderby, top and skip, written without a dollar sign."""

import pytest

from contracts.cases import (
    Actor,
    Arrangement,
    Claims,
    Observer,
    attachments_of,
    claim_each_refused,
    contract,
    drawn_lists,
    equals,
    list_fields,
    lists,
    quoted,
    shared_documents,
    smoke,
    status,
)

ALL = 6


@smoke("1")
@contract("attachment-list-top", requests=1.5)
@pytest.mark.parametrize("top", [1, 4])
def test_top_bounds_the_list(top: int, author: Actor, arrange: Arrangement, claim: Claims) -> None:
    """With top no more attachments are returned than it says."""
    attached = shared_documents.shared_document_list(arrange, author, repeats=True)
    lists.claim_bounded(claim("attachment-list-top"), attached, top)


@contract("attachment-list-skip", requests=5)
def test_skip_shifts_the_list(author: Actor, arrange: Arrangement, claim: Claims) -> None:
    """With skip the list starts as many items later as it says, up to the last one."""
    attached = shared_documents.shared_document_list(arrange, author)
    lists.starts_later(claim("attachment-list-skip"), attached, 1, 3, 5)


@contract(
    "attachment-list-skip-beyond",
    "attachment-list-skip-beyond-empty",
    "attachment-success-status",
    requests=2.5,
)
@pytest.mark.parametrize("skip", [ALL, 1000])
def test_skip_beyond_the_end_gives_no_attachment(
    skip: int, author: Actor, arrange: Arrangement, claim: Claims, observe: Observer
) -> None:
    """With a skip that leaves nothing over no attachment is returned."""
    attached = shared_documents.shared_document_list(arrange, author)
    lists.relies_on_skip(arrange, attached)
    page = attached.page(skip=skip)
    observe("attachment-success-status", "listAttachments", {"nothing left": status(page.exchange)})
    lists.no_items(claim("attachment-list-skip-beyond"), page)
    lists.empty(claim("attachment-list-skip-beyond-empty"), page)


@contract("attachment-list-pages-cover", requests=6)
def test_pages_neither_repeat_nor_lose(author: Actor, arrange: Arrangement, claim: Claims) -> None:
    """Pages of attachments taken with skip and top neither repeat an attachment nor lose one."""
    attached = shared_documents.shared_document_list(arrange, author)
    lists.relies_on_top(arrange, attached)
    lists.relies_on_skip(arrange, attached)
    lists.pages_cover(claim("attachment-list-pages-cover"), attached, 2, items=ALL)


@contract("attachment-list-top-zero", requests=1)
def test_a_top_of_zero_gives_an_empty_list(author: Actor, arrange: Arrangement, claim: Claims) -> None:
    """With a top of zero the list of attachments is empty."""
    attached = shared_documents.shared_document_list(arrange, author)
    lists.relies_on_top(arrange, attached)
    lists.empty(claim("attachment-list-top-zero"), attached.page(top=0))


@smoke()
@contract("attachment-list-filter-heeded", requests=0)
def test_not_every_filter_is_passed_over(author: Actor, arrange: Arrangement, claim: Claims) -> None:
    """A filter is read: by some field that the attachments carry it has an effect."""
    list_fields.files_heed_filters(claim("attachment-list-filter-heeded"), arrange, author)


@smoke()
@contract("attachment-list-orderby-heeded", requests=0)
def test_not_every_order_is_passed_over(author: Actor, arrange: Arrangement, claim: Claims) -> None:
    """An orderby is read: by some field that the attachments carry it has an effect, and the one asked for."""
    list_fields.files_heed_orders(claim("attachment-list-orderby-heeded"), arrange, author)


@contract("attachment-list-filter", requests=3)
def test_a_filter_picks_what_is_equal(author: Actor, arrange: Arrangement, claim: Claims) -> None:
    """With a filter only the attachments that match are returned, and a match is not lost."""
    field, attached = (
        list_fields.file_field(arrange, author),
        shared_documents.shared_document_list(arrange, author),
    )
    path, own = field.filter_path, field.own
    list_fields.picks(claim("attachment-list-filter"), attached, equals(path, own[0]), own[:1])
    list_fields.picks(claim("attachment-list-filter"), attached, equals(path, *own[2:4]), own[2:4])
    list_fields.picks(
        claim("attachment-list-filter"), attached, f"{path} eq {quoted('no file of this name')}", ()
    )


@contract("attachment-list-filter", requests=2)
def test_a_filter_takes_quotes_and_reserved_characters(
    author: Actor, arrange: Arrangement, claim: Claims
) -> None:
    """A literal may hold quotes and characters that are reserved in addresses."""
    field, attached = (
        list_fields.file_field(arrange, author),
        shared_documents.shared_document_list(arrange, author),
    )
    list_fields.relies_on_filter(attached, field)
    expression = f"{field.filter_path} eq {quoted(chr(39) + 'a&b=c#d+e%20')}"
    list_fields.picks(claim("attachment-list-filter"), attached, expression, ())
    list_fields.picks(
        claim("attachment-list-filter"),
        attached,
        f"{expression} or {equals(field.filter_path, field.own[1])}",
        field.own[1:2],
    )


@contract("attachment-list-orderby", requests=1)
@pytest.mark.parametrize("falling", [False, True], ids=["rising", "falling"])
def test_attachments_come_in_the_order_asked_for(
    falling: bool, author: Actor, arrange: Arrangement, claim: Claims
) -> None:
    """With orderby the attachments come in the order asked for, rising or falling."""
    field, attached = (
        list_fields.file_field(arrange, author),
        shared_documents.shared_document_list(arrange, author),
    )
    list_fields.ordered(claim("attachment-list-orderby"), attached, field, falling=falling)


@contract("attachment-list-orderby-with-page", requests=8)
def test_pages_of_an_ordered_list_are_in_order(author: Actor, arrange: Arrangement, claim: Claims) -> None:
    """Orderby applies before skip and top, so that pages taken together are in order."""
    field, attached = (
        list_fields.file_field(arrange, author),
        shared_documents.shared_document_list(arrange, author),
    )
    list_fields.relies_on_order(arrange, attached, field)
    lists.relies_on_windows(arrange, attached)
    by_name = attached.with_fixed(orderby=f"{field.order_path} desc")
    lists.pages_in_order(claim("attachment-list-orderby-with-page"), by_name, 2, items=ALL)


@smoke()
@contract(
    "attachment-list-filter-meaning",
    "attachment-list-orderby-meaning",
    "attachment-list-pages-cover",
    requests=2,
)
def test_all_options_hold_together(author: Actor, arrange: Arrangement, claim: Claims) -> None:
    """A filter of many operators, a falling order, skip and top in one request give the part that they say."""
    drawn_lists.DrawnLists.of_files(arrange, author, claim).hold_with_every_option()


@contract("attachment-list-malformed", requests=5)
def test_malformed_options_are_refused(author: Actor, arrange: Arrangement, claim: Claims) -> None:
    """A filter or orderby that is no OData expression, and a top or skip that is no number, is refused."""
    attached = attachments_of(author, arrange.shared_document(author))
    filters = [attached.page(filter=text) for text in ("((", "filename eq 'open")]
    orders = [attached.page(orderby=text) for text in ("((",)]
    numbers = [attached.page(**{option: "ten"}) for option in ("top", "skip")]
    pages = [*filters, *orders, *numbers]
    claim_each_refused(claim("attachment-list-malformed"), [page.exchange for page in pages])
