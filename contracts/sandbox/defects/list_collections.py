"""Defects of what the list of drafts holds: too little, too much, or nothing at all."""

from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import Any
from urllib.parse import parse_qsl, urlencode

from starlette.requests import Request
from starlette.responses import Response

from contracts.sandbox.accounts import Account
from contracts.sandbox.database import DRAFT, Records, Version
from contracts.sandbox.defects.alteration import (
    Every,
    Handler,
    When,
    alter,
    always,
    around,
    edit,
    in_realm,
    pretend,
    refuse,
)
from contracts.sandbox.defects.registry import Change, defect, replaces
from contracts.sandbox.drafts import COLLECTIONS
from contracts.sandbox.listing import Page
from contracts.sandbox.refusals import Refusal, bad_request
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
