"""Variants of the two lists: envelopes, sizes of pages, fields, orders, and a list that lags a second behind."""

import hashlib
import json
import uuid
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any, Final

from sqlalchemy import MetaData, Select, Table, exists, func, null, true, type_coerce
from sqlalchemy.schema import Column
from sqlalchemy.sql import ColumnElement, visitors
from sqlalchemy.types import Integer
from starlette.requests import Request
from starlette.responses import Response

from contracts.sandbox.app import Seeds
from contracts.sandbox.authentication import Account, Identity
from contracts.sandbox.documents import DraftOperations
from contracts.sandbox.habits import Answers, JsonAnswer, Metadata
from contracts.sandbox.http import Refusal, forbidden, query_value
from contracts.sandbox.lists import Fields, Listing, ODataReader, Page
from contracts.sandbox.storage import ATTACHMENTS, DRAFT, LOCKS, VERSIONS, Records
from contracts.sandbox.variants.model import Variants

VARIANTS = Variants()

_TERSE = frozenset({"identifier", "id", "schema", "filename"})


@VARIANTS.layer("pages-of-five", "attachment-list-default", "list-default-page")
class _PagesOfFive(Listing):
    """The largest page of a list is not shown: five items, even when $top asks for more."""

    def limit(self, page: Page) -> int:
        requested = super().limit(page)
        return 5 if requested < 0 else min(requested, 5)


@VARIANTS.layer("list-with-documents", "list-fields")
class _WithDocuments(Listing):
    """The fields of a listed draft are not shown: its whole content is among them."""

    def drafts(self, records: Records, realm: str, owner: str | None, page: Page) -> list[dict[str, Any]]:
        rows = super().drafts(records, realm, owner, page)
        for row in rows:
            draft = records.version(realm, row["identifier"], DRAFT)
            row["document"] = json.loads(draft.content) if draft is not None else None
        return rows


class _Terse(Metadata):
    """Descriptions hold next to nothing, and cannot be filtered or ordered by more."""

    def of_row(self, row: Any) -> dict[str, Any]:
        return super().of_row({name: value for name, value in row.items() if name in _TERSE})


class _TerseFields(Listing):
    """Filters and orders know the fields that are shown."""

    def reader(self, fields: Fields) -> ODataReader:
        return super().reader({name: column for name, column in fields.items() if name in _TERSE})


VARIANTS.add(
    "metadata-terse",
    ("attachment-fields", "draft-info-answer", "list-fields"),
    "The fields of drafts and attachments are not shown: identifier and schema, number and file name, no more.",
    parts=(_Terse, _TerseFields),
)


class _OpenFields(dict[str, ColumnElement[Any]]):
    """Fields of which any other is null, as OData has it for open types."""

    def __contains__(self, name: object) -> bool:
        return True

    def __missing__(self, name: str) -> ColumnElement[Any]:
        return null()


@VARIANTS.layer("odata-open", "list-fields")
class _Open(Listing):
    """A field that no item carries is not shown: in filters and orders it counts as null."""

    def reader(self, fields: Fields) -> ODataReader:
        return super().reader(_OpenFields(fields))


class _IgnoringReader(ODataReader):
    """A filter by something that is no field is as good as none."""

    def condition(self, text: str) -> ColumnElement[bool]:
        try:
            return super().condition(text)
        except Refusal:
            # Raises again for what is no OData expression over any fields.
            ODataReader(_OpenFields(self.fields)).condition(text)
            return true()

    def order(self, text: str) -> list[ColumnElement[Any]]:
        return ODataReader(_OpenFields(self.fields)).order(text)


@VARIANTS.layer("odata-ignored", "list-fields")
class _Ignoring(Listing):
    """A field that no item carries is not shown: a filter or an order by it is passed over."""

    def reader(self, fields: Fields) -> ODataReader:
        return _IgnoringReader(fields)


@VARIANTS.layer("list-own-only", "Whose drafts a list without a collection holds")
class _OwnOnly(DraftOperations):
    """Whose drafts a list without a collection holds is not shown: the caller's own."""

    def collection_owner(self, request: Request, caller: Account) -> str | None:
        super().collection_owner(request, caller)
        return caller.name


class _Unsubmitted(str):
    """An owner of whose drafts only those that are not locked are asked for."""

    __slots__ = ()


class _UnsubmittedPage(Page):
    """A page of drafts that are not locked."""


class _MyDiffers(DraftOperations):
    """Tells the two collections apart."""

    def collection_owner(self, request: Request, caller: Account) -> str | None:
        owner = super().collection_owner(request, caller)
        return _Unsubmitted(owner) if owner and query_value(request, "collection") == "mydrafts" else owner


class _MyDiffersListing(Listing):
    """Leaves out what is locked where that is asked for."""

    def drafts(self, records: Records, realm: str, owner: str | None, page: Page) -> list[dict[str, Any]]:
        if isinstance(owner, _Unsubmitted):
            owner, page = str(owner), _UnsubmittedPage(**vars(page))
        return super().drafts(records, realm, owner, page)

    def page(self, records: Records, rows: Select[Any], page: Page) -> list[dict[str, Any]]:
        if isinstance(page, _UnsubmittedPage):
            same = (LOCKS.c.realm == VERSIONS.c.realm) & (LOCKS.c.identifier == VERSIONS.c.identifier)
            rows = rows.where(~exists().where(same).correlate(VERSIONS))
        return super().page(records, rows, page)


#: The owner of no draft.
_NO_ACCOUNT: Final = "no account"


@VARIANTS.layer("my-without-drafts", "What sets my and mydrafts apart")
class _MyWithoutDrafts(DraftOperations):
    """What the collection my holds is not shown: finished records, and no draft."""

    def collection_owner(self, request: Request, caller: Account) -> str | None:
        owner = super().collection_owner(request, caller)
        return _NO_ACCOUNT if query_value(request, "collection") == "my" else owner


VARIANTS.add(
    "my-and-mydrafts-differ",
    ("What sets my and mydrafts apart",),
    "What sets my and mydrafts apart is not shown: mydrafts leaves out drafts that are locked for workflow.",
    parts=(_MyDiffers, _MyDiffersListing),
)


@VARIANTS.layer(
    "restricted-shut-out",
    "attachment-by-restricted",
    "contact-by-restricted",
    "draft-by-restricted",
    "list-by-restricted",
)
class _RestrictedReads(Identity):
    """What an account without rights may read is not shown: nothing outside the workflow."""

    def require(self, request: Request) -> Account:
        account = super().require(request)
        if not account.may_write:
            raise forbidden("this account has no access")
        return account


LATE_SECONDS = 1.0
_NOW = "((julianday('now') - 2440587.5) * 86400.0)"
_COPIES: dict[Table, Table] = {
    table: table.to_metadata(MetaData(), name=f"late_{table.name}") for table in (VERSIONS, ATTACHMENTS)
}


def _statements(table: Table, copy: Table) -> list[str]:
    """Return the SQL that makes the copy of a table, its log of changes and the triggers that fill it."""
    name, key = table.name, next(iter(table.primary_key)).name
    names = [column.name for column in table.c]
    columns, values = ", ".join(names), ", ".join(f"new.{column}" for column in names)
    due = f"{_NOW} + {LATE_SECONDS}"
    return [
        f"CREATE TABLE IF NOT EXISTS {copy.name} AS SELECT * FROM {name}",  # noqa: S608
        f"CREATE TABLE IF NOT EXISTS {copy.name}_log AS SELECT 0.0 AS due, 0 AS gone, * FROM {name} WHERE 0",  # noqa: S608
        *(
            f"CREATE TRIGGER IF NOT EXISTS {copy.name}_{event} AFTER {event} ON {name} BEGIN "  # noqa: S608
            f"INSERT INTO {copy.name}_log (due, gone, {columns}) VALUES ({due}, 0, {values}); END"
            for event in ("insert", "update")
        ),
        f"CREATE TRIGGER IF NOT EXISTS {copy.name}_delete AFTER DELETE ON {name} BEGIN "  # noqa: S608
        f"INSERT INTO {copy.name}_log (due, gone, {key}) VALUES ({due}, 1, old.{key}); END",
    ]


def _apply_due(records: Records, table: Table, copy: Table) -> None:
    """Bring the copy of a table up to the state it is meant to show by now."""
    key = next(iter(table.primary_key)).name
    columns = ", ".join(column.name for column in table.c)
    latest = f"SELECT max(rowid) FROM {copy.name}_log WHERE due <= {_NOW} GROUP BY {key}"  # noqa: S608
    run = records.connection.exec_driver_sql
    run(
        f"DELETE FROM {copy.name} WHERE {key} IN "  # noqa: S608
        f"(SELECT {key} FROM {copy.name}_log WHERE rowid IN ({latest}))"
    )
    run(
        f"INSERT INTO {copy.name} ({columns}) SELECT {columns} FROM {copy.name}_log "  # noqa: S608
        f"WHERE rowid IN ({latest}) AND gone = 0"
    )
    run(
        f"DELETE FROM {copy.name}_log WHERE rowid <= (SELECT max(rowid) FROM {copy.name}_log WHERE due <= {_NOW})"  # noqa: S608
    )


class _LateSeeds(Seeds):
    """Sets up the copies before anything is written."""

    def plant(self) -> None:
        with self.context.storage.transaction() as records:
            for table, copy in _COPIES.items():
                for statement in _statements(table, copy):
                    records.connection.exec_driver_sql(statement)
        super().plant()


class _LateListing(Listing):
    """Reads the copies in place of the tables."""

    def page(self, records: Records, rows: Select[Any], page: Page) -> list[dict[str, Any]]:
        for table, copy in _COPIES.items():
            _apply_due(records, table, copy)
        late: Any = visitors.replacement_traverse(rows, {}, _late)
        return super().page(records, late, page)


VARIANTS.add(
    "lists-late",
    ("When a change shows in a list",),
    "When a change shows in a list is not shown: drafts and attachments come and go a second later.",
    parts=(_LateSeeds, _LateListing),
)


def _late(element: Any, **_: Any) -> Any:
    if isinstance(element, Column) and element.table in _COPIES:
        return _COPIES[element.table].c[element.name]
    return _COPIES.get(element) if isinstance(element, Table) else None


Items = Sequence[dict[str, Any]]


@VARIANTS.layer("list-hal", "list-envelope")
class _Hal(Answers):
    """The envelope of a list is not shown: items are embedded, with links (HAL)."""

    def listed(self, items: Items) -> Response:
        linked = [{**item, "_links": {"self": {"href": f"#{number}"}}} for number, item in enumerate(items)]
        links = {"self": {"href": "?page=0"}, "curies": [{"name": "doc", "href": "/rels/{rel}"}]}
        page = {"size": len(items), "totalElements": len(items), "totalPages": 1, "number": 0}
        return JsonAnswer({"_embedded": {"records": linked}, "_links": links, "page": page})


@VARIANTS.layer("list-edges", "list-envelope")
class _Edges(Answers):
    """The envelope of a list is not shown: items are nodes of edges."""

    def listed(self, items: Items) -> Response:
        edges = [{"cursor": f"c{number:04d}", "node": item} for number, item in enumerate(items)]
        page = {"hasNextPage": False, "endCursor": None}
        return JsonAnswer({"edges": edges, "pageInfo": page, "totalCount": len(edges)})


@VARIANTS.layer("list-beside-links", "list-envelope")
class _Beside(Answers):
    """The envelope of a list is not shown: items under a name of its own, links and figures beside them as arrays."""

    def listed(self, items: Items) -> Response:
        links = [{"rel": rel, "href": f"?page={rel}", "method": "GET"} for rel in ("self", "first", "last")]
        facets = [{"field": "schema", "count": len(items)}]
        return JsonAnswer({"links": links, "facets": facets, "found": list(items), "total": len(items)})


@VARIANTS.layer("list-partial", "attachment-success-status", "list-success-status")
class _Partial(Answers):
    """The status of a list is not shown: 206, with the range in a header."""

    def listed(self, items: Items) -> Response:
        answer = super().listed(items)
        answer.status_code = 206
        answer.headers["Content-Range"] = f"items 0-{max(0, len(items) - 1)}/*"
        return answer


@VARIANTS.layer("list-empty-204", "list-envelope", "list-success-status")
class _NothingListed(Answers):
    """The answer to a list without items is not shown: 204 and no body."""

    def listed(self, items: Items) -> Response:
        return super().listed(items) if items else Response(status_code=204)


@VARIANTS.layer("list-scrambled", "attachment-list-default", "list-default-order")
class _Hashed(Listing):
    """The order of a list without an ordering expression is not shown: one that means nothing."""

    def default_order(self, created: ColumnElement[int]) -> ColumnElement[int]:
        return type_coerce(func.scrambled(created), Integer)

    def page(self, records: Any, *rest: Any) -> list[dict[str, Any]]:
        connection = records.connection.connection.driver_connection
        connection.create_function("scrambled", 1, _scrambled, deterministic=True)
        return super().page(records, *rest)


@VARIANTS.layer("list-items-volatile", "Further members of a listed item")
class _Volatile(Listing):
    """Further members of a listed item are not shown: when it was read, and a receipt, another each time."""

    def page(self, records: Records, rows: Select[Any], page: Page) -> list[dict[str, Any]]:
        page_rows = super().page(records, rows, page)
        return [{**row, "readOn": datetime.now(UTC), "receipt": str(uuid.uuid4())} for row in page_rows]


def _scrambled(number: int) -> int:
    return int.from_bytes(hashlib.sha256(str(number).encode()).digest()[:6], "big")
