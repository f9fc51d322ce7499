"""OData expressions over the fields of a list: ``$filter`` and ``$orderby``.

The grammar of filters and its translation are odata-query's; here stands only what SQLite or the OData rules
need otherwise: plain substring search instead of LIKE (an underscore is no wildcard, case counts), moments in
UTC, and no more fields than the list shows. Orders are field names, which the library does not read.
"""

import logging
import re
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from odata_query import ast
from odata_query.exceptions import InvalidFieldException, ODataException
from odata_query.grammar import ODataLexer, ODataParser
from odata_query.sqlalchemy.core import AstToSqlAlchemyCoreVisitor
from sqlalchemy import DateTime, func, literal, or_
from sqlalchemy.exc import SQLAlchemyError
from sqlalchemy.sql import ColumnElement

from contracts.sandbox.refusals import bad_request

# The parser warns about every field it has no type for, which is all of ours.
logging.getLogger("odata_query").setLevel(logging.ERROR)

Fields = Mapping[str, ColumnElement[Any]]

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
    """Translates a parsed filter; the module's text says what differs from the library.

    Args:
        fields: the fields of the list, by name.

    """

    def __init__(self, fields: Fields) -> None:
        self.fields = fields

    def visit_Identifier(self, node: ast.Identifier) -> Any:  # noqa: N802 - the library's name
        if node.name not in self.fields:
            raise InvalidFieldException(node.name)
        return self.fields[node.name]

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
    """Reads the expressions of one list request.

    Args:
        fields: the fields of the list, by name.

    """

    def __init__(self, fields: Fields) -> None:
        self.fields = fields

    def condition(self, text: str) -> ColumnElement[bool]:
        """Return a filter as a condition.

        Raises:
            Refusal: the expression is faulty, too long, or no condition.

        """
        if len(text) > _LONGEST:
            raise bad_request(f"the filter is longer than {_LONGEST} characters")
        try:
            tree = ODataParser().parse(ODataLexer().tokenize(text))
            condition: ColumnElement[bool] = _Visitor(self.fields).visit(tree)
        except _UNREADABLE as problem:
            raise bad_request("the filter is no OData expression over the fields of the list") from problem
        if not _is_condition(tree):
            raise bad_request("the filter is no condition")
        return condition

    def order(self, text: str) -> list[ColumnElement[Any]]:
        """Return an order: fields separated by commas, each followed by nothing, asc or desc.

        Raises:
            Refusal: the expression is faulty.

        """
        return [self._key(part) for part in text.split(",")]

    def _key(self, text: str) -> ColumnElement[Any]:
        key = _ORDER.fullmatch(text)
        if key is None or key[1] not in self.fields:
            raise bad_request("the order must name fields of the list, each followed by nothing, asc or desc")
        field = self.fields[key[1]]
        return field.desc() if key[2] == "desc" else field.asc()


def _is_condition(tree: Any) -> bool:
    if isinstance(tree, ast.UnaryOp):
        return isinstance(tree.op, ast.Not) and _is_condition(tree.operand)
    if isinstance(tree, ast.Call):
        return tree.func.name.lower() in _TESTS
    return isinstance(tree, _CONDITIONS)
