"""Defects of the list of drafts, and of filters, orders and paging in both lists."""

import re
from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import Any
from urllib.parse import parse_qsl, urlencode

from starlette.requests import Request
from starlette.responses import Response

from contracts.sandbox.authentication import Account
from contracts.sandbox.database import DRAFT, Records, Version
from contracts.sandbox.defects.declaration import (
    Change,
    Every,
    Handler,
    When,
    alter,
    always,
    answers,
    around,
    defect,
    edit,
    in_realm,
    pretend,
    refuse,
    replaces,
)
from contracts.sandbox.documents import COLLECTIONS
from contracts.sandbox.http_requests import Refusal, bad_request, not_found
from contracts.sandbox.listing import Page
from contracts.sandbox.service import Service

Rows = list[dict[str, Any]]
Ask = Callable[[Page], Rows]
Choose = Callable[[Ask, Page], Rows]


def choose_rows(service: Service, which: str, choose: Choose, collection: bool | None = None) -> None:
    """Let ``choose`` give the rows of a page.

    Args:
        service: the service to alter.
        which: ``drafts`` or ``attachments``.
        choose: called with a function that asks the faithful list for a page, and the page asked for.
        collection: only lists of drafts with a collection, or only those without one; ``None``: all.

    """

    def instead(faithful: Callable[..., Rows], records: Records, *where: Any) -> Rows:
        *place, page = where
        if collection is not None and (place[1] is not None) != collection:
            return faithful(records, *where)
        return choose(lambda asked: faithful(records, *place, asked), page)

    alter(service.listing, which, instead)


def query_of(request: Request) -> dict[str, str]:
    """Return the query parameters of a request."""
    return dict(parse_qsl(request.scope["query_string"].decode("latin-1"), keep_blank_values=True))


def with_query(request: Request, query: dict[str, str]) -> Request:
    """Return the request with other query parameters."""
    return Request({**request.scope, "query_string": urlencode(query).encode()}, request.receive)


def without_faulty(
    service: Service, operation: str, names: Iterable[str], faulty: Callable[[str], bool] = lambda _: True
) -> None:
    """Answer a refused list as if the named options had not been given, where their values are faulty."""
    meant = frozenset(names)

    async def answer(faithful: Handler, request: Request) -> Response:
        try:
            return await faithful(request)
        except Refusal:
            query = query_of(request)
            kept = {name: value for name, value in query.items() if name not in meant or not faulty(value)}
            if kept == query:
                raise
            return await faithful(with_query(request, kept))

    around(service, [operation], answer)


_LIST = ["listDrafts"]


def _asks(collection: str | None) -> When:
    return lambda request: query_of(request).get("collection") == collection


def _rows(service: Service, when: When, change: Callable[[list[Any], Request], list[Any]]) -> None:
    """Change the items of the answers that ``when`` means and that are asked for without any other option."""

    def plain(request: Request) -> bool:
        return when(request) and not query_of(request).keys() - {"collection"}

    asked: list[Request] = []

    def meant(request: Request) -> bool:
        asked[:] = [request]
        return plain(request)

    edit(service, _LIST, lambda items: change(items, asked[0]), meant)


@defect("list-needs-collection", clause="list-answers", operations=_LIST)
def _(service: Service) -> None:
    """Listing drafts without a collection is refused."""
    refuse(service, _LIST, bad_request, _asks(None))


@defect("list-refused-without-options-in-bch", clause="list-answers", operations=_LIST, realms=["bch-dev"])
def _(service: Service) -> None:
    """In bch-dev listing drafts without any option is refused."""
    refuse(
        service, _LIST, bad_request, lambda request: in_realm("bch-dev")(request) and not query_of(request)
    )


@defect("list-gives-a-count", clause="list-answers", operations=_LIST)
def _(service: Service) -> None:
    """Without any option the list of drafts is just their number, in an object."""
    edit(service, _LIST, lambda items: {"count": len(items)}, lambda request: not query_of(request))


@defect("list-my-refused", clause="list-my-answers", operations=_LIST)
def _(service: Service) -> None:
    """The collection my is refused as unknown."""
    refuse(service, _LIST, bad_request, _asks("my"))


@defect("list-my-without-body", clause="list-my-has-mine", operations=_LIST)
def _(service: Service) -> None:
    """The collection my answers with success and no body."""
    pretend(service, _LIST, None, 204, _asks("my"))


def _lacking(when: When) -> Change:
    """Return the change that leaves the newest draft of the caller out, on whatever page; a filter finds it."""

    def change(service: Service) -> None:
        asking: list[str | None] = [None]

        def owner(faithful: Callable[..., str | None], request: Request, caller: Account) -> str | None:
            asking[0] = caller.name if when(request) else None
            found: str | None = faithful(request, caller)
            return found

        def drafts(
            faithful: Callable[..., Rows], records: Records, realm: str, owner: str | None, page: Page
        ) -> Rows:
            if asking[0] is None or page.filter is not None:
                rows: Rows = faithful(records, realm, owner, page)
                return rows
            rows = faithful(records, realm, owner, replace(page, top=None, skip=0))
            mine = [row for row in rows if row["owner"] == asking[0]]
            newest = max(mine, key=lambda row: (row["createdOn"], row["identifier"]), default=None)
            left = [row for row in rows if row is not newest][page.skip :]
            return left[: page.top]

        alter(service.drafts, "collection_owner", owner)
        alter(service.listing, "drafts", drafts)

    return change


_LACKS = "lacks the newest draft of the caller."
for _name, _asked, _sentence in (
    ("mydrafts", "mydrafts", "The collection mydrafts"),
    ("my", "my", "The collection my"),
    ("plain", None, "Without a collection the list"),
):
    defect(
        f"list-{_name}-lacks-newest",
        clause=f"list-{_name}-has-mine",
        operations=_LIST,
        sentence=f"{_sentence} {_LACKS}",
    )(_lacking(_asks(_asked)))

defect(
    "list-mydrafts-lacks-newest-in-chm",
    clause="list-mydrafts-has-mine",
    operations=_LIST,
    realms=["chm-dev"],
    sentence=f"In chm-dev the collection mydrafts {_LACKS}",
)(_lacking(lambda request: _asks("mydrafts")(request) and in_realm("chm-dev")(request)))


@defect("list-mydrafts-empty-one-in-twenty", clause="list-mydrafts-has-mine", operations=_LIST)
def _(service: Service) -> None:
    """Every twentieth list of the collection mydrafts is empty."""
    rare = Every(20)
    _rows(service, lambda request: _asks("mydrafts")(request) and rare(), lambda _items, _request: [])


def _of_everybody(collection: str, *, realm: str | None = None) -> Change:
    def change(service: Service) -> None:
        def owner(faithful: Callable[..., str | None], request: Request, caller: Account) -> str | None:
            found: str | None = faithful(request, caller)
            meant = _asks(collection)(request) and (realm is None or in_realm(realm)(request))
            return None if meant else found

        alter(service.drafts, "collection_owner", owner)

    return change


for _collection, _realm in (("my", None), ("my", "bch-dev"), ("mydrafts", None)):
    _which = f"he collection {_collection} holds the drafts of all accounts."
    defect(
        f"list-{_collection}-of-everybody" + ("" if _realm is None else f"-in-{_realm[:3]}"),
        clause=f"list-{_collection}-without-others",
        operations=_LIST,
        realms=() if _realm is None else (_realm,),
        sentence=f"T{_which}" if _realm is None else f"In {_realm} t{_which}",
    )(_of_everybody(_collection, realm=_realm))


@replaces(
    "drafts.collection_owner", "list-any-collection", clause="list-collection-unknown", operations=_LIST
)
def _(
    _service: Service, faithful: Callable[..., str | None], request: Request, caller: Account
) -> str | None:
    """A collection that is neither my nor mydrafts is ignored."""
    asked = query_of(request).get("collection")
    return None if asked is not None and asked not in COLLECTIONS else faithful(request, caller)


@defect("list-updated-twice", clause="list-saved-twice", operations=_LIST)
def _(service: Service) -> None:
    """A draft that was saved again is listed twice."""

    def doubled(items: list[Any], _request: Request) -> list[Any]:
        return items + [item for item in items if item["createdOn"] != item["updatedOn"]]

    _rows(service, always, doubled)


def _haunted(collection: bool | None) -> Change:
    """Return the change that goes on listing deleted drafts; only with, or only without, a collection."""

    def change(service: Service) -> None:
        gone: dict[tuple[str, str], dict[str, Any]] = {}
        service.storage.records = _remembering(gone)

        def drafts(
            faithful: Callable[..., Rows], records: Records, realm: str, owner: str | None, page: Page
        ) -> Rows:
            rows: Rows = faithful(records, realm, owner, page)
            if page.skip or page.filter is not None or collection not in {None, owner is not None}:
                return rows
            ghosts = [
                each for each in gone.values() if each["realm"] == realm and owner in {None, each["owner"]}
            ]
            return (rows + ghosts)[: page.top]

        alter(service.listing, "drafts", drafts)

    return change


def _remembering(gone: dict[tuple[str, str], dict[str, Any]]) -> type[Records]:
    class Remembering(Records):
        """Remembers what it removes, as the list shows it."""

        def remove_draft(self, realm: str, identifier: str) -> None:
            before = self.version(realm, identifier, DRAFT)
            if before is not None:
                gone[realm, identifier] = _row(before)
            super().remove_draft(realm, identifier)

        def store(self, version: Version) -> Version:
            gone.pop((version.realm, version.identifier), None)
            return super().store(version)

    return Remembering


def _row(version: Version) -> dict[str, Any]:
    return {
        "identifier": version.identifier,
        "schema": version.schema,
        "realm": version.realm,
        "owner": version.owner,
        "createdOn": version.created_on,
        "updatedOn": version.updated_on,
        "size": version.size,
    }


for _name, _with, _sentence in (
    ("list-holds-deleted", None, "Deleted drafts are still listed."),
    ("list-collection-holds-deleted", True, "Deleted drafts are still listed in the collections."),
    ("list-plain-holds-deleted", False, "Deleted drafts are still listed when no collection is asked for."),
):
    defect(_name, clause="list-deleted-gone", operations=_LIST, sentence=_sentence)(_haunted(_with))


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
