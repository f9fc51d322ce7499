"""Lists: a page of drafts or attachments, chosen by OData expressions.

Draft listing takes ``$filter``, ``$orderby``, ``$top``, ``$skip``; attachment listing takes the same names
without the dollar. Without an order, items come in the order of their creation; an order given by the client
is completed by it, so that pages neither repeat nor lose.
"""

import re
import sqlite3
import time
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any

from starlette.requests import Request

from registry_contracts.sandbox import odata
from registry_contracts.sandbox.habits import Habits
from registry_contracts.sandbox.http import bad_request, query_value
from registry_contracts.sandbox.responses import attachment_columns, is_shown, version_columns
from registry_contracts.sandbox.storage import Records, opened

_ORDER = re.compile(r"\s*([A-Za-z_]+)(?:\s+(asc|desc))?\s*", re.ASCII)
_NUMBER = re.compile(r"[0-9]{1,20}", re.ASCII)
_ORDERS = {
    "oldest": "sequence",
    "changed": "changed DESC, sequence DESC",
    "scrambled": "sequence * 7919 % 1009",
}
_MOST = 2**62
#: How old a late list is at least.
_LATE_SECONDS = 1.0


@dataclass(frozen=True)
class Page:
    """What a list request asks for: OData expressions, the most items, and how many are left out from the start."""

    filter: str | None
    orderby: str | None
    top: int | None
    skip: int


def page_request(request: Request, prefix: str, habits: Habits) -> Page:
    """Return the page a request asks for; refuse a top or skip that is no whole number from 0 up.

    ``prefix`` stands before the names: ``$`` for drafts, nothing for attachments.
    """

    def option(name: str) -> str | None:
        text = query_value(request, prefix + name)
        if text is None and habits.list_options_either_way:
            text = query_value(request, name if prefix else f"${name}")
        return None if habits.list_numbers_lenient and text == "" else text

    def number(name: str) -> int | None:
        text = option(name)
        faulty = text is not None and _NUMBER.fullmatch(text) is None
        if text is None or (faulty and habits.list_numbers_lenient):
            return None
        if faulty:
            raise bad_request(f"{prefix}{name} must be a whole number from 0 up")
        return min(int(text), _MOST)

    return Page(option("filter"), option("orderby"), number("top"), number("skip") or 0)


#: The title of a record, or a contact's last name; nothing for content that SQLite cannot read.
_TITLE = """CASE WHEN json_valid(content) THEN
    CAST(coalesce(json_extract(content, '$.title.en'), json_extract(content, '$.lastName')) AS TEXT) END"""
_OWNED = "instr(' ' || owner || ' ', ' ' || :owner || ' ')"
_UNLOCKED = """NOT EXISTS (SELECT 1 FROM locks
    WHERE locks.realm = versions.realm AND locks.identifier = versions.identifier AND :now < locks.until)"""


class Lists:
    """Answers list queries: rows by the names that are shown, moments not written yet."""

    def __init__(self, habits: Habits) -> None:
        self.habits = habits
        self._shown: Records | None = None
        self._next: tuple[float, Records] | None = None

    def drafts(
        self, records: Records, realm: str, owner: str | None, page: Page, *, with_locked: bool = True
    ) -> list[dict[str, Any]]:
        """Return a page of the drafts of a realm, or of one account's there; refuse a faulty expression."""
        columns = {
            "sequence": "sequence",
            "changed": "updated_on",
            **version_columns(self.habits),
            "title": _TITLE,
        }
        if self.habits.realm_in_capitals:
            columns["realm"] = "upper(realm)"
        rows = "FROM versions WHERE state = 'draft' AND realm = :realm"
        rows += "" if owner is None else f" AND {_OWNED}"
        rows += "" if with_locked else f" AND {_UNLOCKED}"
        return self.page(
            records, columns, rows, {"realm": realm, "owner": owner, "now": records.clock.now()}, page
        )

    def attachments(self, records: Records, uid: str, page: Page) -> list[dict[str, Any]]:
        """Return a page of a document's attachments; refuse a faulty expression."""
        columns = {"sequence": "id", "changed": "id", **attachment_columns(self.habits)}
        numbers = {"listed as others": "id * 7 + 3", "own": "row_number() OVER (ORDER BY id)"}
        columns[self.habits.attachment_id_member] = numbers.get(self.habits.attachment_numbers, "id")
        return self.page(records, columns, "FROM attachments WHERE identifier = :uid", {"uid": uid}, page)

    def page(
        self, records: Records, columns: dict[str, str], rows: str, values: Mapping[str, Any], page: Page
    ) -> list[dict[str, Any]]:
        """Return one page of rows; ``sequence`` and ``changed``, orders of creation and of change, are not shown."""
        if self.habits.lists_late:
            records = self._late(records)
        ending = "_s" if self.habits.list_names_apart else ""
        shown = [name for name in columns if name not in ("sequence", "changed")]
        fields = [name + ending for name in shown if is_shown(self.habits, name)]
        bound = {**values, "limit": self._limit(page), "skip": page.skip}
        condition = "1"
        if page.filter is not None:
            condition = odata.condition(page.filter, fields, self.habits.unknown_list_field, bound)
        order = ", ".join([*self._order(page.orderby, fields), _ORDERS[self.habits.list_order]])
        named = columns | {name + ending: columns[name] for name in shown}
        made = ", ".join(f'{column} AS "{name}"' for name, column in named.items())
        names = ", ".join(f'"{name}"' for name in shown)
        query = (
            f"SELECT {names} FROM (SELECT {made} {rows}) WHERE {condition} "  # noqa: S608 - values are bound
            f"ORDER BY {order} LIMIT :limit OFFSET :skip"
        )
        try:
            return [dict(row) for row in records.connection.execute(query, bound)]
        except (sqlite3.Error, OverflowError, ValueError) as error:
            raise bad_request("the list cannot be made from this filter or order") from error

    def _late(self, records: Records) -> Records:
        """Return a copy of what was stored a while ago."""
        now = time.monotonic()
        if self._next is None or now - self._next[0] >= _LATE_SECONDS:
            # Show the last copy from now on, and copy the present state for later.
            if self._shown is not None:
                self._shown.connection.close()
            self._shown = _copied(records) if self._next is None else self._next[1]
            self._next = now, _copied(records)
        return self._shown or records

    def _order(self, text: str | None, fields: Collection[str]) -> list[str]:
        """Return an order: fields separated by commas, each followed by nothing, asc or desc; refuse any other."""
        keys = []
        for part in () if text is None else text.split(","):
            key = _ORDER.fullmatch(part)
            if key is None or (key[1] not in fields and self.habits.unknown_list_field == "refused"):
                raise bad_request(
                    "the order must name fields of the list, each followed by nothing, asc or desc"
                )
            if key[1] in fields:
                keys.append(f'"{key[1]}" {key[2] or "asc"}')
        return keys

    def _limit(self, page: Page) -> int:
        """Return how many items the page holds at most (-1 is SQLite's word for all)."""
        largest = self.habits.list_largest_top
        if page.top is not None and largest is not None and page.top > largest:
            raise bad_request(f"at most {largest} items can be asked for")
        limits = (page.top, self.habits.list_largest_page)
        return min((limit for limit in limits if limit is not None), default=-1)


def _copied(records: Records) -> Records:
    """Return a copy of all that is stored."""
    copy = opened(":memory:")
    records.connection.backup(copy)
    return Records(copy, records.clock)
