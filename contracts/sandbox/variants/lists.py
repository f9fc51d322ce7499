"""Variants of the two lists: envelopes, sizes of pages, fields, and what is not a field."""

import json
from collections.abc import Sequence
from typing import Any

from sqlalchemy import Select, exists, null, true
from sqlalchemy.sql import ColumnElement
from starlette.requests import Request
from starlette.responses import Response

from contracts.sandbox.answers import Answers
from contracts.sandbox.drafts import DraftOperations
from contracts.sandbox.identity import Account, Identity
from contracts.sandbox.json_answer import JsonAnswer
from contracts.sandbox.listing import Listing, Page
from contracts.sandbox.metadata import Metadata
from contracts.sandbox.odata import Fields, ODataReader
from contracts.sandbox.query import query_value
from contracts.sandbox.records import DRAFT, Records
from contracts.sandbox.refusals import Refusal, forbidden
from contracts.sandbox.tables import LOCKS, VERSIONS
from contracts.sandbox.variants.model import Variant

_TERSE = frozenset({"identifier", "id", "schema", "filename"})


class _SearchEngine(Answers):
    """Items stand two levels down, between figures about the search."""

    def listed(self, items: Sequence[dict[str, Any]]) -> Response:
        found = {"numFound": len(items), "start": 0, "docs": list(items)}
        header = {"status": 0, "QTime": 3, "params": {"wt": "json"}}
        return JsonAnswer({"responseHeader": header, "response": found, "facet_counts": {}})


class _Linked(Answers):
    """Items stand beside links and figures of the page, and an array of warnings that is always empty."""

    def listed(self, items: Sequence[dict[str, Any]]) -> Response:
        page = {"count": len(items), "hasMore": False, "fields": ["identifier", "schema"]}
        return JsonAnswer({"links": {"self": "?"}, "page": page, "warnings": [], "results": list(items)})


class _PagesOfFive(Listing):
    """No page holds more than five items, whatever the request says."""

    def limit(self, page: Page) -> int:
        asked = super().limit(page)
        return 5 if asked < 0 else min(asked, 5)


class _WithDocuments(Listing):
    """Listed drafts carry their content, arrays and headers included."""

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


class _OpenFields(dict[str, ColumnElement[Any]]):
    """Fields of which any other is null, as OData has it for open types."""

    def __contains__(self, name: object) -> bool:
        return True

    def __missing__(self, name: str) -> ColumnElement[Any]:
        return null()


class _Open(Listing):
    """Reads expressions over any field."""

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


class _Ignoring(Listing):
    """Passes over what is no field."""

    def reader(self, fields: Fields) -> ODataReader:
        return _IgnoringReader(fields)


class _OwnOnly(DraftOperations):
    """A list without a collection is the caller's own as well."""

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


class _RestrictedReads(Identity):
    """An account without rights may not even read outside the workflow."""

    def require(self, request: Request) -> Account:
        account = super().require(request)
        if not account.may_write:
            raise forbidden("this account has no access")
        return account


VARIANTS = (
    Variant(
        "list-docs",
        "The envelope of a list is not shown: items stand under response.docs, as a search engine answers.",
        parts={"answers": _SearchEngine},
    ),
    Variant(
        "list-linked",
        "The envelope of a list is not shown: items stand under results, beside links, figures and an empty array.",
        parts={"answers": _Linked},
    ),
    Variant(
        "pages-of-five",
        "The largest page of a list is not shown: five items, even when $top asks for more.",
        parts={"listing": _PagesOfFive},
    ),
    Variant(
        "list-with-documents",
        "The fields of a listed draft are not shown: its whole content is among them.",
        parts={"listing": _WithDocuments},
    ),
    Variant(
        "metadata-terse",
        "The fields of drafts and attachments are not shown: identifier and schema, number and file name, no more.",
        parts={"metadata": _Terse, "listing": _TerseFields},
    ),
    Variant(
        "odata-open",
        "A field that no item carries is not shown: in filters and orders it counts as null.",
        parts={"listing": _Open},
    ),
    Variant(
        "odata-ignored",
        "A field that no item carries is not shown: a filter or an order by it is passed over.",
        parts={"listing": _Ignoring},
    ),
    Variant(
        "list-own-only",
        "Whose drafts a list without a collection holds is not shown: the caller's own.",
        parts={"drafts": _OwnOnly},
    ),
    Variant(
        "my-and-mydrafts-differ",
        "What sets my and mydrafts apart is not shown: mydrafts leaves out drafts that are locked for workflow.",
        parts={"drafts": _MyDiffers, "listing": _MyDiffersListing},
    ),
    Variant(
        "restricted-shut-out",
        "What an account without rights may read is not shown: nothing outside the workflow.",
        parts={"identity": _RestrictedReads},
    ),
)
"""Each answers lists in another way, or shows less of them."""
