"""Defects of filters and orders, in the list of drafts and in the list of attachments."""

import re
from collections.abc import Callable
from dataclasses import replace

from contracts.sandbox.defects.pages import Ask, Choose, Rows, choose_rows, without_faulty
from contracts.sandbox.defects.registry import Change, defect
from contracts.sandbox.listing import Page
from contracts.sandbox.refusals import bad_request
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
