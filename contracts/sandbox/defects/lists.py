"""Defects of the list of drafts, and of filters, orders and paging in both lists."""

import re
from collections.abc import Callable
from dataclasses import replace
from typing import Any
from urllib.parse import parse_qsl, urlencode

from sqlalchemy import select
from starlette.requests import Request
from starlette.responses import Response

from contracts.sandbox.authentication import Account
from contracts.sandbox.defects.declaration import (
    Change,
    Every,
    Handler,
    When,
    alter,
    alteration,
    answered,
    answers,
    defects,
    edit,
    every,
    in_realm,
    pretend,
    refuse,
    replaces,
)
from contracts.sandbox.documents import COLLECTIONS
from contracts.sandbox.http_requests import Refusal, bad_request
from contracts.sandbox.listing import Page
from contracts.sandbox.service import Service
from contracts.sandbox.storage import DRAFT, VERSIONS, Records, Version

Rows = list[dict[str, Any]]
#: The faithful list of drafts: rows of a realm and an owner, as a page of it.
Drafts = Callable[..., Rows]
Ask = Callable[[Page], Rows]
Choose = Callable[[Ask, Page], Rows]


@alteration
def _choose_rows(service: Service, which: str, choose: Choose, collection: bool | None = None) -> None:
    """Let ``choose`` give the rows of a page.

    Args:
        which: ``drafts`` or ``attachments``.
        choose: called with a function that asks the faithful list for a page, and the page asked for.
        collection: only lists of drafts with a collection, or only those without one; ``None``: all.

    """

    def instead(faithful: Drafts, records: Records, *where: Any) -> Rows:
        *place, page = where
        if collection is not None and (place[1] is not None) != collection:
            return faithful(records, *where)
        return choose(lambda asked: faithful(records, *place, asked), page)

    alter(service.listing, which, instead)


def query_of(request: Request) -> dict[str, str]:
    """Return the query parameters of a request."""
    return dict(parse_qsl(request.scope["query_string"].decode("latin-1"), keep_blank_values=True))


def _with_query(request: Request, query: dict[str, str]) -> Request:
    return Request({**request.scope, "query_string": urlencode(query).encode()}, request.receive)


def _without_faulty(option: str, faulty: Callable[[str], bool] = lambda _: True) -> Change:
    """Answer a refused list as if an option had not been given, where its value is faulty."""

    async def answer(_service: Service, faithful: Handler, request: Request) -> Response:
        try:
            return await faithful(request)
        except Refusal:
            query = query_of(request)
            if option not in query or not faulty(query.pop(option)):
                raise
            return await faithful(_with_query(request, query))

    return answered(answer)


def _asks(collection: str | None) -> When:
    return lambda request: query_of(request).get("collection") == collection


def _both(*tests: When) -> When:
    return lambda request: all(test(request) for test in tests)


def _without_query(request: Request) -> bool:
    return not query_of(request)


def _plain(request: Request) -> bool:
    return not query_of(request).keys() - {"collection"}


def _no_items(rare: Every) -> Change:
    return edit(lambda _items: [], lambda request: _asks("mydrafts")(request) and rare() and _plain(request))


@alteration
def _lacking_newest(service: Service, when: When) -> None:
    """Leave the newest draft of the caller out, on whatever page; a filter finds it."""
    asking: list[str | None] = [None]

    def owner(faithful: Callable[..., str | None], request: Request, caller: Account) -> str | None:
        asking[0] = caller.name if when(request) else None
        return faithful(request, caller)

    def drafts(faithful: Drafts, records: Records, realm: str, owner: str | None, page: Page) -> Rows:
        if asking[0] is None or page.filter is not None:
            return faithful(records, realm, owner, page)
        rows = faithful(records, realm, owner, replace(page, top=None, skip=0))
        mine = [row for row in rows if row["owner"] == asking[0]]
        newest = max(mine, key=lambda row: (row["createdOn"], row["identifier"]), default=None)
        left = [row for row in rows if row is not newest][page.skip :]
        return left[: page.top]

    alter(service.drafts, "collection_owner", owner)
    alter(service.listing, "drafts", drafts)


@alteration
def _of_all_accounts(service: Service, when: When) -> None:
    """Take no notice of whose drafts the requests ask for that ``when`` means."""

    def owner(faithful: Callable[..., str | None], request: Request, caller: Account) -> str | None:
        faithful_owner = faithful(request, caller)
        return None if when(request) else faithful_owner

    alter(service.drafts, "collection_owner", owner)


@replaces("drafts.collection_owner", "list-any-collection")
def _(
    _service: Service, faithful: Callable[..., str | None], request: Request, caller: Account
) -> str | None:
    collection = query_of(request).get("collection")
    unknown = collection is not None and collection not in COLLECTIONS
    return None if unknown else faithful(request, caller)


def removed_drafts(service: Service) -> dict[tuple[str, str], Version]:
    """Return the drafts that were deleted and not saved again, by realm and uid; it fills as requests come."""
    removed: dict[tuple[str, str], Version] = {}

    class Remembering(Records):
        """Remembers what it removes."""

        def remove_draft(self, realm: str, identifier: str) -> None:
            before = self.version(realm, identifier, DRAFT)
            if before is not None:
                removed[realm, identifier] = before
            super().remove_draft(realm, identifier)

        def store(self, version: Version) -> Version:
            removed.pop((version.realm, version.identifier), None)
            return super().store(version)

    service.storage.records = Remembering
    return removed


@alteration
def _deleted_listed(service: Service, collection: bool | None) -> None:
    """Go on listing deleted drafts; only with, or only without, a collection."""
    removed = removed_drafts(service)

    def drafts(faithful: Drafts, records: Records, realm: str, owner: str | None, page: Page) -> Rows:
        rows: Rows = faithful(records, realm, owner, page)
        if page.skip or page.filter is not None or collection not in {None, owner is not None}:
            return rows
        deleted = [
            {name: getattr(draft, attribute) for name, attribute in _LISTED.items()}
            for draft in removed.values()
            if draft.realm == realm and owner in {None, draft.owner}
        ]
        return (rows + deleted)[: page.top]

    alter(service.listing, "drafts", drafts)


_LISTED = {
    **{name: name for name in ("identifier", "schema", "realm", "owner")},
    "createdOn": "created_on",
    "updatedOn": "updated_on",
    "size": "size",
}


defects(
    {
        "list-needs-collection": refuse(bad_request, _asks(None)),
        "list-refused-without-options-in-bch": refuse(
            bad_request, _both(in_realm("bch-dev"), _without_query)
        ),
        "list-gives-a-count": edit(lambda items: {"count": len(items)}, _without_query),
        "list-my-refused": refuse(bad_request, _asks("my")),
        "list-my-without-body": pretend(None, 204, _asks("my")),
        "list-mydrafts-lacks-newest": _lacking_newest(_asks("mydrafts")),
        "list-mydrafts-lacks-newest-in-chm": _lacking_newest(_both(_asks("mydrafts"), in_realm("chm-dev"))),
        "list-my-lacks-newest": _lacking_newest(_asks("my")),
        "list-plain-lacks-newest": _lacking_newest(_asks(None)),
        "list-mydrafts-lacks-updated": edit(
            lambda items: [item for item in items if item["createdOn"] == item["updatedOn"]],
            _asks("mydrafts"),
        ),
        "list-mydrafts-empty-one-in-twenty": every(20, _no_items),
        "list-my-of-everybody": _of_all_accounts(_asks("my")),
        "list-my-of-everybody-in-bch": _of_all_accounts(_both(_asks("my"), in_realm("bch-dev"))),
        "list-collection-lost-with-filter": _of_all_accounts(
            lambda request: {"collection", "$filter"} <= query_of(request).keys()
        ),
        "list-mydrafts-of-everybody": _of_all_accounts(_asks("mydrafts")),
        "list-updated-twice": edit(
            lambda items: items + [item for item in items if item["createdOn"] != item["updatedOn"]], _plain
        ),
        "list-holds-deleted": _deleted_listed(None),
        "list-collection-holds-deleted": _deleted_listed(True),
        "list-plain-holds-deleted": _deleted_listed(False),
    }
)


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
    return sorted(ask(page), key=lambda row: f"{row['createdOn']}{row['identifier']}")


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


def _asc_falls(ask: Ask, page: Page) -> Rows:
    order = (page.orderby or "").strip()
    return ask(
        replace(page, orderby=f"{order.removesuffix(' asc')} desc") if order.endswith(" asc") else page
    )


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


def _filter_reads(pattern: str, instead: str) -> Choose:
    """Read what a pattern finds in a filter as something else; what is no expression is refused all the same."""

    def choose(ask: Ask, page: Page) -> Rows:
        if page.filter is None:
            return ask(page)
        ask(page)
        return ask(replace(page, filter=re.sub(pattern, instead, page.filter)))

    return choose


def _filter_lost_with_order(ask: Ask, page: Page) -> Rows:
    rows = ask(page)
    return rows if page.orderby is None else ask(replace(page, filter=None))


def _order_lost_with_top(ask: Ask, page: Page) -> Rows:
    rows = ask(page)
    return rows if page.top is None else ask(replace(page, orderby=None))


def _second_key_ignored(ask: Ask, page: Page) -> Rows:
    return ask(page if page.orderby is None else replace(page, orderby=page.orderby.split(",")[0]))


#: Characters of a filter that is not long.
_LONG_FILTER = 200
#: From how many items on a list counts as long.
_LONG = 16


def _long_filter_ignored(ask: Ask, page: Page) -> Rows:
    return ask(
        page if page.filter is None or len(page.filter) <= _LONG_FILTER else replace(page, filter=None)
    )


def _skip_far_one_more(ask: Ask, page: Page) -> Rows:
    return ask(replace(page, skip=page.skip + 1) if page.skip >= _LONG else page)


def _long_loses_one(ask: Ask, page: Page) -> Rows:
    everything = ask(replace(page, top=None, skip=0))
    if len(everything) < _LONG or page.top is None:
        return ask(page)
    left = everything[: _LONG - 1] + everything[_LONG:]
    return left[page.skip :][: page.top]


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
        raise bad_request("the skip is beyond the end of the list")
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


def _ample_refused(ask: Ask, page: Page) -> Rows:
    everything = len(ask(replace(page, top=None, skip=0)))
    if page.top is not None and page.top > everything + page.skip and page.filter is None:
        raise bad_request("$top is larger than the list")
    return ask(page)


def _refuses_filter(test: Callable[[str], bool]) -> Choose:
    def choose(ask: Ask, page: Page) -> Rows:
        if page.filter is not None and test(page.filter):
            raise bad_request("the filter cannot be read")
        return ask(page)

    return choose


def _of_drafts(choose: Choose, collection: bool | None = None) -> Change:
    return _choose_rows("drafts", choose, collection)


def _no_number(text: str) -> bool:
    return re.fullmatch(r"-?[0-9]+", text) is None


_IN_BOTH_LISTS: dict[str, Choose] = {
    "filter-ignored": _filter_ignored,
    "filter-loses-match": _match_lost,
    "filter-refuses-apostrophe": _refuses_filter(lambda text: "''" in text),
    "filter-refuses-ampersand": _refuses_filter(lambda text: "&" in text),
    "order-ignored": _order_ignored,
    "rising-falls": _rising_falls,
    "falling-rises": _falling_rises,
    "asc-falls": _asc_falls,
    "order-after-page": _order_after_page,
    "ge-leaves-out-equals": _filter_reads(r"\bge\b", "gt"),
    "not-ignored": _filter_reads(r"\bnot \(", "("),
    "or-of-the-first-two": _filter_reads(r"^([^()]+? or [^()]+?) or .*$", r"\1"),
    "or-binds-like-and": _filter_reads(r"\(([^()]+ or [^()]+) and ([^()]+)\)", r"((\1) and \2)"),
    "startswith-within": _filter_reads(r"\bstartswith\(", "contains("),
    "filter-lost-with-order": _filter_lost_with_order,
    "order-lost-with-top": _order_lost_with_top,
    "top-ignored": _top_ignored,
    "top-one-more": _top_one_more,
    "top-at-least-five": _top_at_least_five,
    "skip-ignored": _skip_ignored,
    "skip-one-less": _skip_one_less,
    "skip-one-more": _skip_one_more,
    "skip-beyond-last-item": _last_row_beyond,
    "skip-beyond-refused": _refused_beyond,
    "edge-repeated": _edge_repeated,
    "edge-lost": _edge_lost,
    "order-turns": _order_turns,
    "top-zero-is-all": _zero_is_all,
}
_IN_LISTS_OF_DRAFTS: dict[str, Choose] = {
    "second-key-ignored": _second_key_ignored,
    "doubled-quote-kept": _filter_reads("'" * 2, "'" * 4),
    "skip-far-one-more": _skip_far_one_more,
    "long-loses-one": _long_loses_one,
    "tolower-changes-nothing": _filter_reads(r"tolower\(([^()]*)\)", r"\1"),
    "long-filter-ignored": _long_filter_ignored,
    "filter-refuses-other-script": _refuses_filter(lambda text: not text.isascii()),
}
defects({f"list-{name}": _of_drafts(choose) for name, choose in _IN_LISTS_OF_DRAFTS.items()})
defects({f"list-{name}": _of_drafts(choose) for name, choose in _IN_BOTH_LISTS.items()})
defects(
    {
        f"attachment-list-{name}": _choose_rows("attachments", choose)
        for name, choose in _IN_BOTH_LISTS.items()
    }
)
defects(
    {
        "list-filter-after-page": _of_drafts(_filter_after_page),
        "list-filter-without-top": _of_drafts(_filter_without_page),
        "list-filter-ignored-without-collection": _of_drafts(_filter_ignored, collection=False),
        "list-malformed-filter-ignored": _without_faulty("$filter"),
        "list-malformed-order-ignored": _without_faulty("$orderby"),
        "list-top-no-number-ignored": _without_faulty("$top", _no_number),
        "list-skip-no-number-ignored": _without_faulty("$skip", _no_number),
        "attachment-list-malformed-filter-ignored": _without_faulty("filter"),
        "attachment-list-malformed-order-ignored": _without_faulty("orderby"),
        "attachment-list-top-no-number-ignored": _without_faulty("top", _no_number),
        "list-skip-counts-pages": _of_drafts(_skip_counts_pages),
        "list-top-before-skip": _of_drafts(_top_before_skip),
        "list-collection-top-ignored": _of_drafts(
            lambda ask, page: ask(replace(page, top=None)), collection=True
        ),
        "list-collection-skip-ignored": _of_drafts(
            lambda ask, page: ask(replace(page, skip=0)), collection=True
        ),
        "list-collection-after-page": _of_drafts(
            lambda ask, page: ask(replace(page, skip=2 * page.skip)), collection=True
        ),
        "list-top-ample-refused": _of_drafts(_ample_refused, collection=False),
        "list-collection-top-ample-refused": _of_drafts(_ample_refused, collection=True),
    }
)


@answers("list-skip-zero-is-one")
async def _(_service: Service, faithful: Handler, request: Request) -> Response:
    query = query_of(request)
    if query.get("$skip") == "0" and "$top" not in query:
        return await faithful(_with_query(request, {**query, "$skip": "1"}))
    return await faithful(request)


@replaces("listing.drafts", "list-mydrafts-with-published")
def _(_: Service, faithful: Drafts, records: Records, realm: str, owner: str | None, page: Page) -> Rows:
    if owner is None or page.filter is not None or page.orderby is not None:
        return faithful(records, realm, owner, page)
    rows = faithful(records, realm, owner, replace(page, top=None, skip=0))
    more = _published_only(records, realm, owner)
    return [*rows, *more][page.skip :][: page.top]


def _published_only(records: Records, realm: str, owner: str | None) -> Rows:
    """Return the rows of an account's published records that have no draft."""
    version = VERSIONS.c
    published = select(
        version.identifier,
        version.schema,
        version.realm,
        version.owner,
        version.created_on.label("createdOn"),
        version.updated_on.label("updatedOn"),
        version.size,
    ).where(version.realm == realm, version.owner == owner, version.state != DRAFT)
    rows = [dict(row) for row in records.connection.execute(published).mappings()]
    return [row for row in rows if records.version(realm, row["identifier"], DRAFT) is None]


@replaces("listing.drafts", "list-with-published")
def _(_: Service, faithful: Drafts, records: Records, realm: str, owner: str | None, page: Page) -> Rows:
    rows = faithful(records, realm, owner, page)
    if page.filter is not None or page.orderby is not None or page.skip:
        return rows
    without = _published_only(records, realm, owner)
    return [*without[:2], *rows][: page.top]
