"""Defects of filters, orders and paging, in the list of drafts and in the list of attachments."""

import re
from collections.abc import Callable
from dataclasses import replace

from starlette.requests import Request
from starlette.responses import Response

from contracts.sandbox.defects.alteration import Handler
from contracts.sandbox.defects.list_collections import (
    Ask,
    Choose,
    Rows,
    choose_rows,
    query_of,
    with_query,
    without_faulty,
)
from contracts.sandbox.defects.registry import Change, answers, defect
from contracts.sandbox.listing import Page
from contracts.sandbox.refusals import bad_request, not_found
from contracts.sandbox.service import Service


def _filter_ignored(ask: Ask, page: Page) -> Rows:
    if page.filter is None or page.top is not None:
        return ask(page)
    ask(page)  # what is no expression is refused all the same
    return ask(replace(page, filter=None))


def _match_lost(ask: Ask, page: Page) -> Rows:
    rows = ask(page)
    return rows[1:] if page.filter is not None and page.top is None else rows


def _order_ignored(ask: Ask, page: Page) -> Rows:
    if page.orderby is None or page.top is not None:
        return ask(page)
    ask(page)
    return sorted(ask(page), key=_by_creation)


def _by_creation(row: dict[str, object]) -> str:
    return f"{row['createdOn']}{row['identifier']}"


def _falls(page: Page) -> bool:
    return page.orderby is not None and page.orderby.strip().endswith(" desc")


def _falling_rises(ask: Ask, page: Page) -> Rows:
    if not _falls(page) or page.top is not None:
        return ask(page)
    return ask(replace(page, orderby=(page.orderby or "").strip().removesuffix(" desc")))


def _rising_falls(ask: Ask, page: Page) -> Rows:
    if page.orderby is None or _falls(page) or page.top is not None:
        return ask(page)
    return ask(replace(page, orderby=f"{page.orderby.strip().removesuffix(' asc')} desc"))


def _order_after_page(ask: Ask, page: Page) -> Rows:
    if page.orderby is None or page.top is None:
        return ask(page)
    whole = ask(replace(page, top=None, skip=0))
    chosen = ask(replace(page, orderby=None))
    return [row for row in whole if row in chosen]


def _filter_after_page(ask: Ask, page: Page) -> Rows:
    if page.filter is None or page.top is None:
        return ask(page)
    matching = ask(replace(page, top=None, skip=0))
    return [row for row in ask(replace(page, filter=None)) if row in matching]


def _filter_without_page(ask: Ask, page: Page) -> Rows:
    return ask(replace(page, top=None) if page.filter is not None else page)


_BOTH: dict[str, tuple[str, str, Choose]] = {
    "filter-ignored": ("filter", "A filter has no effect.", _filter_ignored),
    "filter-loses-match": ("filter", "A filter loses the first item that matches.", _match_lost),
    "order-ignored": ("orderby", "An order has no effect.", _order_ignored),
    "rising-falls": ("orderby", "Items come in falling order when a rising one is asked for.", _rising_falls),
    "order-after-page": (
        "orderby-with-page",
        "An order applies to the items of a page after they were chosen.",
        _order_after_page,
    ),
}
_DRAFTS: dict[str, tuple[str, str, Choose]] = {
    "falling-rises": (
        "orderby-falling",
        "Items come in rising order when a falling one is asked for.",
        _falling_rises,
    ),
    "filter-after-page": (
        "filter-with-top",
        "$top is applied before $filter, so that matches beyond the page are lost.",
        _filter_after_page,
    ),
    "filter-without-top": (
        "filter-with-top",
        "$top has no effect together with $filter.",
        _filter_without_page,
    ),
}


def _of(which: str, choose: Choose) -> Change:
    return lambda service: choose_rows(service, which, choose)


for _name, (_clause, _sentence, _choose) in {**_BOTH, **_DRAFTS}.items():
    defect(
        f"list-{_name}",
        clause=f"list-{_clause}",
        operations=["listDrafts"],
        sentence=f"In the list of drafts: {_sentence}",
    )(_of("drafts", _choose))

for _name, (_clause, _sentence, _choose) in _BOTH.items():
    defect(
        f"attachment-list-{_name}",
        clause=f"attachment-list-{_clause}",
        operations=["listAttachments"],
        sentence=f"In the list of attachments: {_sentence}",
    )(_of("attachments", _choose))

defect(
    "attachment-list-falling-rises",
    clause="attachment-list-orderby",
    operations=["listAttachments"],
    sentence="In the list of attachments items come in rising order when a falling one is asked for.",
)(_of("attachments", _falling_rises))


def _refusing(meant: Callable[[str], bool]) -> Choose:
    def choose(ask: Ask, page: Page) -> Rows:
        if page.filter is not None and meant(page.filter):
            raise bad_request("the filter cannot be read")
        return ask(page)

    return choose


_TEXTS: dict[str, tuple[str, Callable[[str], bool]]] = {
    "apostrophe": ("an apostrophe, which is doubled in it", lambda text: "''" in text),
    "ampersand": ("an ampersand", lambda text: "&" in text),
    "other-script": ("characters beyond ASCII", lambda text: not text.isascii()),
}
for _name, (_what, _meant) in _TEXTS.items():
    defect(
        f"list-filter-refuses-{_name}",
        clause="list-filter",
        operations=["listDrafts"],
        sentence=f"A $filter is refused when its text holds {_what}.",
    )(_of("drafts", _refusing(_meant)))


@defect("list-filter-ignored-without-collection", clause="list-filter", operations=["listDrafts"])
def _(service: Service) -> None:
    """Without a collection a $filter has no effect."""
    choose_rows(service, "drafts", _filter_ignored, collection=False)


def _no_number(text: str) -> bool:
    return re.fullmatch(r"-?[0-9]+", text) is None


def _ignoring(operation: str, *names: str, faulty: Callable[[str], bool] = lambda _: True) -> Change:
    return lambda service: without_faulty(service, operation, names, faulty)


_MALFORMED = (
    ("list-malformed-filter-ignored", "list-filter-malformed", "listDrafts", ("$filter",)),
    ("list-malformed-order-ignored", "list-orderby-malformed", "listDrafts", ("$orderby",)),
    ("attachment-list-malformed-filter-ignored", "attachment-list-malformed", "listAttachments", ("filter",)),
    ("attachment-list-malformed-order-ignored", "attachment-list-malformed", "listAttachments", ("orderby",)),
)
for _name, _clause, _operation, _names in _MALFORMED:
    defect(
        _name,
        clause=_clause,
        operations=[_operation],
        sentence=f"{_operation} ignores a {_names[0]} that is no OData expression.",
    )(_ignoring(_operation, *_names))

_NUMBERS = (
    ("list-top-no-number-ignored", "list-number-malformed", "listDrafts", ("$top",)),
    ("list-skip-no-number-ignored", "list-number-malformed", "listDrafts", ("$skip",)),
    ("attachment-list-top-no-number-ignored", "attachment-list-malformed", "listAttachments", ("top",)),
)
for _name, _clause, _operation, _names in _NUMBERS:
    defect(
        _name,
        clause=_clause,
        operations=[_operation],
        sentence=f"{_operation} ignores a {_names[0]} that is no number.",
    )(_ignoring(_operation, *_names, faulty=_no_number))


def _first(page: Page) -> bool:
    return page.top is not None and page.top > 0 and page.skip == 0


def _top_ignored(ask: Ask, page: Page) -> Rows:
    return ask(replace(page, top=None) if _first(page) else page)


def _top_one_more(ask: Ask, page: Page) -> Rows:
    return ask(replace(page, top=page.top + 1) if page.top and _first(page) else page)


def _top_at_least_five(ask: Ask, page: Page) -> Rows:
    return ask(replace(page, top=max(page.top, 5)) if page.top and _first(page) else page)


def _only_skip(page: Page) -> bool:
    return page.top is None and page.skip > 0


def _skip_ignored(ask: Ask, page: Page) -> Rows:
    return ask(replace(page, skip=0) if _only_skip(page) and _reaches(ask, page) else page)


def _reaches(ask: Ask, page: Page) -> bool:
    return page.skip < len(ask(replace(page, top=None, skip=0)))


def _skip_one_less(ask: Ask, page: Page) -> Rows:
    return ask(replace(page, skip=page.skip - 1) if _only_skip(page) and _reaches(ask, page) else page)


def _skip_one_more(ask: Ask, page: Page) -> Rows:
    return ask(replace(page, skip=page.skip + 1) if _only_skip(page) else page)


def _last_row_beyond(ask: Ask, page: Page) -> Rows:
    rows = ask(page)
    return rows if rows or not page.skip or page.top is not None else ask(replace(page, skip=0))[-1:]


def _refused_beyond(ask: Ask, page: Page) -> Rows:
    rows = ask(page)
    if not rows and page.skip and not _reaches(ask, page):
        raise not_found("there is no such page")
    return rows


def _skip_counts_pages(ask: Ask, page: Page) -> Rows:
    return ask(replace(page, skip=page.skip * page.top) if page.top and page.skip else page)


def _top_before_skip(ask: Ask, page: Page) -> Rows:
    if not page.top or not page.skip:
        return ask(page)
    return ask(replace(page, skip=0))[page.skip :]


def _later_page(page: Page) -> bool:
    """Tell whether it is the second page or one after it, of several items: any other window is none of a series."""
    top = page.top or 0
    return top > 1 and page.skip > 0 and page.skip % top == 0


def _edge_repeated(ask: Ask, page: Page) -> Rows:
    return ask(replace(page, skip=page.skip - 1) if _later_page(page) else page)


def _edge_lost(ask: Ask, page: Page) -> Rows:
    return ask(replace(page, skip=page.skip + 1) if _later_page(page) else page)


def _order_turns(ask: Ask, page: Page) -> Rows:
    if not _later_page(page) or page.orderby is not None:
        return ask(page)
    return ask(replace(page, top=None, skip=0))[::-1][page.skip :][: page.top]


def _zero_is_all(ask: Ask, page: Page) -> Rows:
    return ask(replace(page, top=None) if page.top == 0 else page)


_PAGING: dict[str, tuple[str, str, Choose]] = {
    "top-ignored": ("top", "The first page holds all items, whatever top says.", _top_ignored),
    "top-one-more": ("top", "The first page holds one item more than top says.", _top_one_more),
    "top-at-least-five": ("top", "A top from one to four gives up to five items.", _top_at_least_five),
    "skip-ignored": ("skip", "skip without top leaves nothing out.", _skip_ignored),
    "skip-one-less": ("skip", "skip without top leaves out one item less.", _skip_one_less),
    "skip-one-more": ("skip", "skip without top leaves out one item more.", _skip_one_more),
    "skip-beyond-last-item": (
        "skip-beyond",
        "A skip beyond the end gives the last item.",
        _last_row_beyond,
    ),
    "skip-beyond-refused": ("skip-beyond", "A skip beyond the end is refused.", _refused_beyond),
    "edge-repeated": ("pages-cover", "A page begins with the last item of the page before.", _edge_repeated),
    "edge-lost": ("pages-cover", "The item that follows a page is on no page.", _edge_lost),
    "order-turns": ("pages-cover", "From the second page on items are taken in falling order.", _order_turns),
    "top-zero-is-all": ("top-zero", "A top of zero gives all items.", _zero_is_all),
}

_ONE_BY_ONE: dict[str, tuple[str, str, Choose]] = {
    "skip-counts-pages": (
        "list-top-and-skip",
        "With $top, $skip counts pages in place of items.",
        _skip_counts_pages,
    ),
    "top-before-skip": (
        "list-top-and-skip",
        "$top is applied before $skip, so that the window is shorter than it says.",
        _top_before_skip,
    ),
}


for _name, (_clause, _sentence, _choose) in _PAGING.items():
    defect(
        f"list-{_name}",
        clause=f"list-{_clause}",
        operations=["listDrafts"],
        sentence=f"In the list of drafts: {_sentence}",
    )(_of("drafts", _choose))
    defect(
        f"attachment-list-{_name}",
        clause=f"attachment-list-{_clause}",
        operations=["listAttachments"],
        sentence=f"In the list of attachments: {_sentence}",
    )(_of("attachments", _choose))

for _name, (_clause, _sentence, _choose) in _ONE_BY_ONE.items():
    defect(f"list-{_name}", clause=_clause, operations=["listDrafts"], sentence=_sentence)(
        _of("drafts", _choose)
    )


@defect("list-collection-top-ignored", clause="list-collection-with-top", operations=["listDrafts"])
def _(service: Service) -> None:
    """$top has no effect together with a collection."""
    choose_rows(service, "drafts", lambda ask, page: ask(replace(page, top=None)), collection=True)


@defect("list-collection-skip-ignored", clause="list-collection-with-skip", operations=["listDrafts"])
def _(service: Service) -> None:
    """$skip has no effect together with a collection."""
    choose_rows(service, "drafts", lambda ask, page: ask(replace(page, skip=0)), collection=True)


@defect("list-collection-after-page", clause="list-collection-with-skip", operations=["listDrafts"])
def _(service: Service) -> None:
    """$skip together with a collection leaves out twice as many items."""
    choose_rows(service, "drafts", lambda ask, page: ask(replace(page, skip=2 * page.skip)), collection=True)


def _ample_refused(ask: Ask, page: Page) -> Rows:
    everything = len(ask(replace(page, top=None, skip=0)))
    if page.top is not None and page.top > everything + page.skip and page.filter is None:
        raise bad_request("$top is larger than the list")
    return ask(page)


@defect("list-top-ample-refused", clause="list-top-ample", operations=["listDrafts"])
def _(service: Service) -> None:
    """Without a collection, a $top larger than the number of drafts is refused."""
    choose_rows(service, "drafts", _ample_refused, collection=False)


@defect("list-collection-top-ample-refused", clause="list-top-ample", operations=["listDrafts"])
def _(service: Service) -> None:
    """Together with a collection, a $top larger than the number of its drafts is refused."""
    choose_rows(service, "drafts", _ample_refused, collection=True)


@answers("list-skip-zero-is-one", clause="list-skip-zero", operations=["listDrafts"])
async def _(_service: Service, faithful: Handler, request: Request) -> Response:
    """A $skip of zero leaves out one item, as if items were counted from one."""
    query = query_of(request)
    if query.get("$skip") == "0" and "$top" not in query:
        return await faithful(with_query(request, {**query, "$skip": "1"}))
    return await faithful(request)
