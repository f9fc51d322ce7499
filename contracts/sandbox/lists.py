"""Lists: a page of drafts or attachments, chosen by OData expressions.

Draft listing takes ``$filter``, ``$orderby``, ``$top``, ``$skip``; attachment listing takes the same names
without the dollar. Without an order, items come in the order of their creation; an order given by the client
is completed by it, so that pages neither repeat nor lose. The grammar of filters and its translation are
odata-query's; here stands only what SQLite or the OData rules need otherwise: plain substring search instead of
LIKE (an underscore is no wildcard, case counts), moments in UTC, and no more fields than the list shows.
"""

import logging
import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from odata_query import ast
from odata_query.exceptions import InvalidFieldException, ODataException
from odata_query.grammar import ODataLexer, ODataParser
from odata_query.sqlalchemy.core import AstToSqlAlchemyCoreVisitor
from sqlalchemy import DateTime, Select, Text, case, cast, exists, func, literal, null, or_, select, true
from sqlalchemy.exc import SQLAlchemyError
from sqlalchemy.sql import ColumnElement
from starlette.requests import Request

from contracts.sandbox.habits import Habits
from contracts.sandbox.http import bad_request, query_value
from contracts.sandbox.responses import is_shown
from contracts.sandbox.storage import ATTACHMENTS, DRAFT, LOCKS, VERSIONS, Records

# The parser warns about every field it has no type for, which is all of ours.
logging.getLogger("odata_query").setLevel(logging.ERROR)

Fields = Mapping[str, ColumnElement[Any]]

#: Digits of a second that no moment of ours has.
_FINER = re.compile(r"(\.\d{6})\d{1,6}")
_ORDER = re.compile(r"\s*([A-Za-z_]+)(?:\s+(asc|desc))?\s*", re.ASCII)
_LONGEST = 8192
_CONDITIONS = (ast.Compare, ast.BoolOp, ast.Boolean)
_TESTS = frozenset({"contains", "startswith", "endswith"})
_UNREADABLE = (
    ODataException,
    SQLAlchemyError,
    ValueError,
    TypeError,
    AttributeError,
    ArithmeticError,
    NotImplementedError,
    RecursionError,
)


class _Visitor(AstToSqlAlchemyCoreVisitor):
    """Translates a parsed filter; ``unknown``: it names what is no field of the list."""

    def __init__(self, fields: Fields, *, open_fields: bool) -> None:
        self.fields = fields
        self.open_fields = open_fields
        self.unknown = False

    def visit_Identifier(self, node: ast.Identifier) -> Any:  # noqa: N802 - the library's name
        if node.name in self.fields:
            return self.fields[node.name]
        if not self.open_fields:
            raise InvalidFieldException(node.name)
        self.unknown = True
        return null()

    def visit_DateTime(self, node: ast.DateTime) -> Any:  # noqa: N802 - the library's name
        moment: datetime = node.py_val
        return literal(moment.astimezone(UTC).replace(tzinfo=None) if moment.tzinfo else moment)

    def visit_Compare(self, node: ast.Compare) -> Any:  # noqa: N802 - the library's name
        # A moment may be written as a string too, just as the list shows it.
        field = self.fields.get(node.left.name) if isinstance(node.left, ast.Identifier) else None
        if field is not None and isinstance(field.type, DateTime) and isinstance(node.right, ast.String):
            node = ast.Compare(node.comparator, node.left, ast.DateTime(node.right.val))
        return super().visit_Compare(node)

    def func_concat(self, *args: Any) -> Any:
        first, *others = [self.visit(argument) for argument in args]
        for other in others:
            first = first.op("||")(other)
        return first

    def func_indexof(self, first: Any, second: Any) -> Any:
        return func.instr(self.visit(first), self.visit(second)) - 1

    def _substr_function(self, field: Any, substr: Any, func: str) -> Any:
        tests = {"contains": _contains, "startswith": _starts, "endswith": _ends}
        return tests[func](self.visit(field), self.visit(substr))


def _contains(text: Any, part: Any) -> Any:
    return func.instr(text, part) > 0


def _starts(text: Any, part: Any) -> Any:
    return func.substr(text, 1, func.length(part)) == part


def _ends(text: Any, part: Any) -> Any:
    return or_(func.length(part) == 0, func.substr(text, -func.length(part)) == part)


class ODataReader:
    """Reads the expressions of one list request over the fields of the list.

    ``unknown`` says what becomes of another field: ``refused``, ``null``, or ``ignored``.
    """

    def __init__(self, fields: Fields, unknown: str) -> None:
        self.fields = fields
        self.unknown = unknown

    def condition(self, text: str) -> ColumnElement[bool]:
        """Return a filter as a condition; refuse one that is faulty, too long, or no condition."""
        if len(text) > _LONGEST:
            raise bad_request(f"the filter is longer than {_LONGEST} characters")
        visitor = _Visitor(self.fields, open_fields=self.unknown != "refused")
        try:
            tree = ODataParser().parse(ODataLexer().tokenize(_FINER.sub(r"\1", text)))
            condition: ColumnElement[bool] = visitor.visit(tree)
        except _UNREADABLE as error:
            raise bad_request("the filter is no OData expression over the fields of the list") from error
        if not _is_condition(tree):
            raise bad_request("the filter is no condition")
        return true() if visitor.unknown and self.unknown == "ignored" else condition

    def order(self, text: str) -> list[ColumnElement[Any]]:
        """Return an order: fields separated by commas, each followed by nothing, asc or desc; refuse any other."""
        return [self._key(part) for part in text.split(",")]

    def _key(self, text: str) -> ColumnElement[Any]:
        key = _ORDER.fullmatch(text)
        if key is None or (key[1] not in self.fields and self.unknown == "refused"):
            raise bad_request("the order must name fields of the list, each followed by nothing, asc or desc")
        field = self.fields.get(key[1], null())
        return field.desc() if key[2] == "desc" else field.asc()


def _is_condition(tree: Any) -> bool:
    if isinstance(tree, ast.UnaryOp):
        return isinstance(tree.op, ast.Not) and _is_condition(tree.operand)
    if isinstance(tree, ast.Call):
        return tree.func.name.lower() in _TESTS
    return isinstance(tree, _CONDITIONS)


_NUMBER = re.compile(r"[0-9]{1,20}", re.ASCII)
_MOST = 2**62


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
        return None if habits.list_options_lenient and text == "" else text

    def number(name: str) -> int | None:
        text = option(name)
        if text is None or (habits.list_options_lenient and text.startswith("-")):
            return None
        if _NUMBER.fullmatch(text) is None:
            raise bad_request(f"{prefix}{name} must be a whole number from 0 up")
        return min(int(text), _MOST)

    return Page(option("filter"), option("orderby"), number("top"), number("skip") or 0)


def _title_of(content: ColumnElement[str]) -> ColumnElement[str | None]:
    """Return the title of a record, or a contact's last name; nothing for content that SQLite cannot read."""
    title = func.coalesce(*(func.json_extract(content, path) for path in ("$.title.en", "$.lastName")))
    return case((func.json_valid(content) == 1, cast(title, Text)), else_=None)


class Lists:
    """Answers list queries: rows by the names that are shown, moments not written yet."""

    def __init__(self, habits: Habits) -> None:
        self.habits = habits

    def drafts(
        self, records: Records, realm: str, owner: str | None, page: Page, *, with_locked: bool = True
    ) -> list[dict[str, Any]]:
        """Return a page of the drafts of a realm, or of one account's there; refuse a faulty expression."""
        version = VERSIONS.c
        rows = select(
            version.sequence.label("sequence"),
            version.identifier.label(self.habits.identifier_member),
            version.schema,
            (func.upper(version.realm) if self.habits.realm_capitals else version.realm).label("realm"),
            version.owner,
            _title_of(version.content).label("title"),
            version.created_on.label("createdOn"),
            version.updated_on.label("updatedOn"),
            version.size,
        ).where(version.state == DRAFT, version.realm == realm)
        if owner is not None:
            rows = rows.where(version.owner == owner)
        if not with_locked:
            lock = (LOCKS.c.realm == version.realm) & (LOCKS.c.identifier == version.identifier)
            rows = rows.where(~exists().where(lock).correlate(VERSIONS))
        return self.page(records, rows, page)

    def attachments(self, records: Records, uid: str, page: Page) -> list[dict[str, Any]]:
        """Return a page of a document's attachments; refuse a faulty expression."""
        attachment = ATTACHMENTS.c
        rows = select(
            attachment.id.label("sequence"),
            self.number().label(self.habits.attachment_id_member),
            attachment.identifier.label(self.habits.identifier_member),
            attachment.filename,
            attachment.content_type.label("contentType"),
            attachment.size,
            attachment.owner,
            attachment.created_on.label("createdOn"),
        ).where(attachment.identifier == uid)
        return self.page(records, rows, page)

    def number(self) -> ColumnElement[int]:
        """Return the number that a list tells of an attachment; one of the storage's own where it is not to be told."""
        return ATTACHMENTS.c.id + 0 if self.habits.attachment_id_listed else ATTACHMENTS.c.id * 7 + 3

    def page(self, records: Records, rows: Select[Any], page: Page) -> list[dict[str, Any]]:
        """Return one page of a query that labels its creation order ``sequence``; an order given is completed by it."""
        source = rows.subquery()
        columns = {column.name: column for column in source.c if column.name != "sequence"}
        fields = {name: column for name, column in columns.items() if is_shown(self.habits, name)}
        reader = ODataReader(fields, self.habits.unknown_list_field)
        query = select(*columns.values())
        if page.filter is not None:
            query = query.where(reader.condition(page.filter))
        order = reader.order(page.orderby) if page.orderby is not None else []
        query = query.order_by(*order, self._default_order(source.c.sequence))
        query = query.limit(self._limit(page)).offset(page.skip)
        try:
            return [dict(row) for row in records.connection.execute(query).mappings()]
        except (SQLAlchemyError, OverflowError, ValueError) as error:
            raise bad_request("the list cannot be made from this filter or order") from error

    def _limit(self, page: Page) -> int:
        """Return how many items the page holds at most (-1 is SQLite's word for all)."""
        habits = self.habits
        if (
            page.top is not None
            and habits.list_largest_top is not None
            and page.top > habits.list_largest_top
        ):
            raise bad_request(f"at most {habits.list_largest_top} items can be asked for")
        limits = (page.top if page.top is not None else habits.list_default_top, habits.list_largest_page)
        return min((limit for limit in limits if limit is not None), default=-1)

    def _default_order(self, created: ColumnElement[int]) -> ColumnElement[int]:
        if self.habits.list_scrambled:
            return created * 7919 % 1009
        return created.desc() if self.habits.newest_first else created.asc()
