"""The modules of checks, and where a line of them stands: the statement that is run when the line is."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Final

JUDGING: Final = Path("contracts") / "checks"
#: Their own tests, which know services that no variant plays.
OWN_TESTS: Final = "tests/meta/checks"
#: Where a line stands that is in no function: it has run before any trial.
MODULE_LEVEL: Final = ""

_FUNCTIONS: Final = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)


def place(path: Path, line: int) -> str:
    """Name what a line belongs to: the module, and the first line of the statement or lambda around it.

    Args:
        line: From 1; one in the head of a compound statement belongs to the head alone.
    """
    around = [(first, last) for first, last in _spans(path) if first <= line <= last]
    narrowest = min(around, key=lambda span: span[1] - span[0], default=None)
    return f"{path.stem}:{narrowest[0] if narrowest else MODULE_LEVEL}"


@cache
def _spans(path: Path) -> tuple[tuple[int, int], ...]:
    """First and last line of each statement within a function, and of each lambda."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    functions = [node for node in ast.walk(tree) if isinstance(node, _FUNCTIONS)]
    return tuple(dict.fromkeys(span for function in functions for span in _inside(function)))


def _inside(function: ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda) -> Iterator[tuple[int, int]]:
    if isinstance(function, ast.Lambda):
        yield function.body.lineno, function.body.end_lineno or function.body.lineno
        return
    for statement in function.body:
        for node in ast.walk(statement):
            if isinstance(node, ast.stmt):
                yield node.lineno, _last_line(node)


def _last_line(statement: ast.stmt) -> int:
    """The last line of a statement, or of its head where it holds others."""
    body = getattr(statement, "body", None)
    last = statement.end_lineno or statement.lineno
    return max(statement.lineno, body[0].lineno - 1) if body else last
