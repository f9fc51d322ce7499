"""OData filters as conditions of SQLite: the grammar and most of the translation are odata-query's.

Here stands what SQLite or the OData rules need otherwise: values are bound, substrings are searched plainly instead of
with LIKE (an underscore is no wildcard, case counts), moments are in UTC, and there are no more fields than the list
shows.
"""

import logging
import re
from collections.abc import Collection
from datetime import UTC, datetime
from typing import Any

from odata_query import ast
from odata_query.exceptions import InvalidFieldException, ODataException
from odata_query.grammar import ODataLexer, ODataParser
from odata_query.sql.sqlite import AstToSqliteSqlVisitor

from registry_contracts.sandbox.http import bad_request
from registry_contracts.sandbox.storage import sql_moment

# The parser warns about every field it has no type for, which is all of ours.
logging.getLogger("odata_query").setLevel(logging.ERROR)

#: Digits of a second that no moment of ours has.
_FINER = re.compile(r"(\.\d{6})\d{1,6}")
_LONGEST = 8192
_CONDITIONS = (ast.Compare, ast.BoolOp, ast.Boolean)
_TESTS = frozenset({"contains", "startswith", "endswith"})
_UNREADABLE = (
    *(ODataException, ValueError, TypeError, AttributeError),
    *(ArithmeticError, NotImplementedError, RecursionError),
)


class _Visitor(AstToSqliteSqlVisitor):
    """Translates a parsed filter; ``unknown``: it names what is no field of the list."""

    def __init__(self, fields: Collection[str], values: dict[str, Any], *, open_fields: bool) -> None:
        super().__init__()
        self.fields = fields
        self.values = values
        self.open_fields = open_fields
        self.unknown = False

    def bound(self, value: str) -> str:
        """Return the name of a parameter that stands for a value."""
        name = f"filter{len(self.values)}"
        self.values[name] = value
        return f":{name}"

    def visit_Identifier(self, node: ast.Identifier) -> str:  # noqa: N802 - the library's name
        if node.name in self.fields:
            return f'"{node.name}"'
        if not self.open_fields:
            raise InvalidFieldException(node.name)
        self.unknown = True
        return "NULL"

    def visit_String(self, node: ast.String) -> str:  # noqa: N802 - the library's name
        return self.bound(node.val)

    def visit_DateTime(self, node: ast.DateTime) -> str:  # noqa: N802 - the library's name
        moment: datetime = node.py_val
        return self.bound(
            sql_moment(moment.astimezone(UTC).replace(tzinfo=None) if moment.tzinfo else moment)
        )

    def visit_Compare(self, node: ast.Compare) -> str:  # noqa: N802 - the library's name
        # A moment may be written as a string too, just as the list shows it.
        moment = isinstance(node.left, ast.Identifier) and node.left.name.endswith("On")
        if moment and isinstance(node.right, ast.String):
            node = ast.Compare(node.comparator, node.left, ast.DateTime(node.right.val))
        return f"({super().visit_Compare(node)})"

    def visit_BinOp(self, node: ast.BinOp) -> str:  # noqa: N802 - the library's name
        return f"({super().visit_BinOp(node)})"

    def visit_UnaryOp(self, node: ast.UnaryOp) -> str:  # noqa: N802 - the library's name
        return f"({super().visit_UnaryOp(node)})"

    def visit_USub(self, _node: ast.USub) -> str:  # noqa: N802 - the library's name
        return "-"

    def sqlfunc_concat(self, *args: Any) -> str:
        return f"({super().sqlfunc_concat(*args)})"

    def sqlfunc_second(self, moment: Any) -> str:
        return f"CAST(strftime('%S', {self.visit(moment)}) AS INTEGER)"

    def sqlfunc_indexof(self, *args: Any) -> str:
        text, part = map(self.visit, args)
        return f"(instr({text}, {part}) - 1)"

    def sqlfunc_contains(self, *args: Any) -> str:
        text, part = map(self.visit, args)
        return f"(instr({text}, {part}) > 0)"

    def sqlfunc_startswith(self, *args: Any) -> str:
        text, begin = map(self.visit, args)
        return f"(substr({text}, 1, length({begin})) = {begin})"

    def sqlfunc_endswith(self, *args: Any) -> str:
        text, end = map(self.visit, args)
        return f"(length({end}) = 0 OR substr({text}, -length({end})) = {end})"


def condition(text: str, fields: Collection[str], unknown: str, values: dict[str, Any]) -> str:
    """Return a filter as a condition, whose values are added to ``values``; refuse a faulty one, or no condition.

    ``unknown`` says what becomes of a field that is not of the list: ``refused``, ``null``, or ``ignored``.
    """
    if len(text) > _LONGEST:
        raise bad_request(f"the filter is longer than {_LONGEST} characters")
    visitor = _Visitor(fields, values, open_fields=unknown != "refused")
    try:
        tree = ODataParser().parse(ODataLexer().tokenize(_FINER.sub(r"\1", text)))
        found: str = visitor.visit(tree)
    except _UNREADABLE as error:
        raise bad_request("the filter is no OData expression over the fields of the list") from error
    if not _is_condition(tree):
        raise bad_request("the filter is no condition")
    return "1" if visitor.unknown and unknown == "ignored" else found


def _is_condition(tree: Any) -> bool:
    if isinstance(tree, ast.UnaryOp):
        return isinstance(tree.op, ast.Not) and _is_condition(tree.operand)
    if isinstance(tree, ast.Call):
        return tree.func.name.lower() in _TESTS
    return isinstance(tree, _CONDITIONS)
