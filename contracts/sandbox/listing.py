"""Lists: a page of drafts or attachments, chosen by OData expressions.

Draft listing takes ``$filter``, ``$orderby``, ``$top``, ``$skip``; attachment listing takes the same names
without the dollar. Without an order, items come in the order of their creation; an order given by the client
is completed by it, so that pages neither repeat nor lose.
"""

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from sqlalchemy import Select, select
from sqlalchemy.exc import SQLAlchemyError
from sqlalchemy.sql import ColumnElement
from starlette.requests import Request

from contracts.sandbox.query import query_value
from contracts.sandbox.records import DRAFT, Records
from contracts.sandbox.refusals import bad_request
from contracts.sandbox.tables import ATTACHMENTS, VERSIONS

if TYPE_CHECKING:
    from contracts.sandbox.odata import Fields, ODataReader

_NUMBER = re.compile(r"[0-9]{1,20}", re.ASCII)
_MOST = 2**62


@dataclass(frozen=True)
class Page:
    """What a list request asks for.

    Attributes:
        filter: OData filter expression, or ``None``.
        orderby: OData ordering expression, or ``None``.
        top: maximum number of items, or ``None``.
        skip: number of items left out from the start.

    """

    filter: str | None
    orderby: str | None
    top: int | None
    skip: int


def page_request(request: Request, prefix: str) -> Page:
    """Return the page a request asks for.

    Args:
        request: the list request.
        prefix: what stands before the names: ``$`` for drafts, nothing for attachments.

    Raises:
        Refusal: top or skip is no whole number from 0 up.

    """
    return Page(
        query_value(request, f"{prefix}filter"),
        query_value(request, f"{prefix}orderby"),
        _whole_number(request, f"{prefix}top"),
        _whole_number(request, f"{prefix}skip") or 0,
    )


def _whole_number(request: Request, name: str) -> int | None:
    text = query_value(request, name)
    if text is None:
        return None
    if _NUMBER.fullmatch(text) is None:
        raise bad_request(f"{name} must be a whole number from 0 up")
    return min(int(text), _MOST)


class Listing:
    """Answers list queries.

    Args:
        default_top: items answered when the request gives no top; ``None`` answers all (silent).
        newest_first: default order (silent).

    """

    def __init__(self, *, default_top: int | None = None, newest_first: bool = False) -> None:
        self.default_top = default_top
        self.newest_first = newest_first

    def drafts(self, records: Records, realm: str, owner: str | None, page: Page) -> list[dict[str, Any]]:
        """Return a page of the drafts of a realm.

        Args:
            records: the open transaction.
            realm: the realm's name.
            owner: only this account's drafts; ``None``: everybody's.
            page: what the request asks for.

        Returns:
            The metadata of each draft, timestamps as moments.

        Raises:
            Refusal: an expression is faulty.

        """
        version = VERSIONS.c
        rows = select(
            version.sequence.label("sequence"),
            version.identifier,
            version.schema,
            version.realm,
            version.owner,
            version.created_on.label("createdOn"),
            version.updated_on.label("updatedOn"),
            version.size,
        ).where(version.state == DRAFT, version.realm == realm)
        if owner is not None:
            rows = rows.where(version.owner == owner)
        return self.page(records, rows, page)

    def attachments(self, records: Records, uid: str, page: Page) -> list[dict[str, Any]]:
        """Return a page of a document's attachments; arguments and faults as for ``drafts``."""
        attachment = ATTACHMENTS.c
        rows = select(
            attachment.id.label("sequence"),
            attachment.id,
            attachment.identifier,
            attachment.filename,
            attachment.content_type.label("contentType"),
            attachment.size,
            attachment.owner,
            attachment.created_on.label("createdOn"),
        ).where(attachment.identifier == uid)
        return self.page(records, rows, page)

    def page(self, records: Records, rows: Select[Any], page: Page) -> list[dict[str, Any]]:
        """Return the asked-for page of a query that labels its creation order ``sequence``."""
        source = rows.subquery()
        fields = {column.name: column for column in source.c if column.name != "sequence"}
        reader = self.reader(fields)
        query = select(*fields.values())
        if page.filter is not None:
            query = query.where(reader.condition(page.filter))
        asked = reader.order(page.orderby) if page.orderby is not None else []
        query = query.order_by(*asked, self.default_order(source.c.sequence))
        query = query.limit(self.limit(page)).offset(page.skip)
        try:
            return [dict(row) for row in records.connection.execute(query).mappings()]
        except (SQLAlchemyError, OverflowError, ValueError) as problem:
            raise bad_request("the list cannot be made from this filter or order") from problem

    def reader(self, fields: "Fields") -> "ODataReader":
        """Return the reader of OData expressions over the fields of a list."""
        from contracts.sandbox.odata import ODataReader  # noqa: PLC0415 - loaded when first needed

        return ODataReader(fields)

    def limit(self, page: Page) -> int:
        """Return how many items the page holds at most (-1 is SQLite's word for all)."""
        top = page.top if page.top is not None else self.default_top
        return -1 if top is None else top

    def default_order(self, created: ColumnElement[int]) -> ColumnElement[int]:
        """Return the order of items that the client's order leaves equal."""
        return created.desc() if self.newest_first else created.asc()
