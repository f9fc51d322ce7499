"""Variants of the envelope around a list, as well-known conventions have it, and of the answer that carries it."""

import hashlib
from collections.abc import Sequence
from typing import Any

from sqlalchemy import func, type_coerce
from sqlalchemy.sql import ColumnElement
from sqlalchemy.types import Integer
from starlette.responses import Response

from contracts.sandbox.answers import Answers
from contracts.sandbox.json_answer import JsonAnswer
from contracts.sandbox.listing import Listing
from contracts.sandbox.variants.model import Variant

Items = Sequence[dict[str, Any]]


class _Hal(Answers):
    """Items are embedded, each with links of its own."""

    def listed(self, items: Items) -> Response:
        linked = [{**item, "_links": {"self": {"href": f"#{number}"}}} for number, item in enumerate(items)]
        links = {"self": {"href": "?page=0"}, "curies": [{"name": "doc", "href": "/rels/{rel}"}]}
        page = {"size": len(items), "totalElements": len(items), "totalPages": 1, "number": 0}
        return JsonAnswer({"_embedded": {"records": linked}, "_links": links, "page": page})


class _JsonApi(Answers):
    """Items are resource objects: type, id, and everything under attributes."""

    def listed(self, items: Items) -> Response:
        data = [{"type": "records", "id": self._id(item), "attributes": item} for item in items]
        body = {"jsonapi": {"version": "1.1"}, "data": data, "included": [], "meta": {"total": len(data)}}
        return JsonAnswer(body)

    def _id(self, item: dict[str, Any]) -> str:
        number = item.get(self.habits.attachment_id_member)
        return str(item.get(self.habits.identifier_member) if number is None else number)


class _OldOData(Answers):
    """Items stand under d.results, their number as text."""

    def listed(self, items: Items) -> Response:
        return JsonAnswer({"d": {"results": list(items), "__count": str(len(items))}})


class _Hits(Answers):
    """Items are the sources of hits, each with a score."""

    def listed(self, items: Items) -> Response:
        hits = [{"_index": "records", "_score": 1.0, "_source": item} for item in items]
        total = {"value": len(hits), "relation": "eq"}
        return JsonAnswer({"took": 4, "timed_out": False, "hits": {"total": total, "hits": hits}})


class _Edges(Answers):
    """Items are nodes at the ends of edges, each with a cursor."""

    def listed(self, items: Items) -> Response:
        edges = [{"cursor": f"c{number:04d}", "node": item} for number, item in enumerate(items)]
        page = {"hasNextPage": False, "endCursor": None}
        return JsonAnswer({"edges": edges, "pageInfo": page, "totalCount": len(edges)})


class _Beside(Answers):
    """Beside the items stand links and figures that are arrays of objects too."""

    def listed(self, items: Items) -> Response:
        links = [{"rel": rel, "href": f"?page={rel}", "method": "GET"} for rel in ("self", "first", "last")]
        facets = [{"field": "schema", "count": len(items)}]
        return JsonAnswer({"links": links, "facets": facets, "items": list(items), "total": len(items)})


class _Partial(Answers):
    """A list is a part of a whole: 206, with its range told in a header."""

    def listed(self, items: Items) -> Response:
        answer = super().listed(items)
        answer.status_code = 206
        answer.headers["Content-Range"] = f"items 0-{max(0, len(items) - 1)}/*"
        return answer


class _NothingListed(Answers):
    """A list without items has no content either."""

    def listed(self, items: Items) -> Response:
        return super().listed(items) if items else Response(status_code=204)


class _Hashed(Listing):
    """Items that nobody ordered come in an order that means nothing, but always in the same."""

    def default_order(self, created: ColumnElement[int]) -> ColumnElement[int]:
        return type_coerce(func.scrambled(created), Integer)

    def page(self, records: Any, *rest: Any) -> list[dict[str, Any]]:
        connection = records.connection.connection.driver_connection
        connection.create_function("scrambled", 1, _scrambled, deterministic=True)
        return super().page(records, *rest)


def _scrambled(number: int) -> int:
    return int.from_bytes(hashlib.sha256(str(number).encode()).digest()[:6], "big")


VARIANTS = (
    Variant(
        "list-hal",
        "The envelope of a list is not shown: items are embedded, with links (HAL).",
        parts={"answers": _Hal},
    ),
    Variant(
        "list-json-api",
        "The envelope of a list is not shown: items are resource objects (JSON:API).",
        parts={"answers": _JsonApi},
    ),
    Variant(
        "list-odata-old",
        "The envelope of a list is not shown: items stand under d.results (OData 2).",
        parts={"answers": _OldOData},
    ),
    Variant(
        "list-hits",
        "The envelope of a list is not shown: items are the sources of hits.",
        parts={"answers": _Hits},
    ),
    Variant(
        "list-edges",
        "The envelope of a list is not shown: items are nodes of edges.",
        parts={"answers": _Edges},
    ),
    Variant(
        "list-beside-links",
        "The envelope of a list is not shown: links and figures beside the items are arrays of objects.",
        parts={"answers": _Beside},
    ),
    Variant(
        "list-partial",
        "The status of a list is not shown: 206, with the range in a header.",
        parts={"answers": _Partial},
    ),
    Variant(
        "list-empty-204",
        "The answer to a list without items is not shown: 204 and no body.",
        parts={"answers": _NothingListed},
    ),
    Variant(
        "list-scrambled",
        "The order of a list without an ordering expression is not shown: one that means nothing.",
        parts={"listing": _Hashed},
    ),
)
"""Each hands out lists otherwise."""
