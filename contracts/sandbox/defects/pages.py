"""How defects change a list: the rows of a page, and the query that asks for it."""

from collections.abc import Callable, Iterable
from typing import Any
from urllib.parse import parse_qsl, urlencode

from starlette.requests import Request
from starlette.responses import Response

from contracts.sandbox.defects.altering import Handler, alter, around
from contracts.sandbox.listing import Page
from contracts.sandbox.records import Records
from contracts.sandbox.refusals import Refusal
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
