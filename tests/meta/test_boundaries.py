"""Who may import whom: the boundaries of the design."""

import ast
import os
import re
import sys
from pathlib import Path

from tests.meta.program import CHECKOUT, finished

#: Ways to a connection that a case or a helper could be tempted by.
SENDERS = frozenset(
    {"requests", "httpx", "urllib3", "http", "socket", "aiohttp", "urllib.request", "schemathesis"}
)


def imported_modules(path: Path) -> set[str]:
    """The modules that a module imports, or imports from."""
    nodes = list(ast.walk(ast.parse(path.read_text(encoding="utf-8"))))
    plain = {alias.name for node in nodes if isinstance(node, ast.Import) for alias in node.names}
    return plain | {node.module or "" for node in nodes if isinstance(node, ast.ImportFrom)}


def test_every_boundary_is_kept() -> None:
    linter = "from importlinter.cli import lint_imports_command; lint_imports_command()"
    command = [sys.executable, "-c", linter, "--config", str(CHECKOUT / ".importlinter"), "--no-cache"]
    environment = {**os.environ, "PYTHONPATH": str(CHECKOUT / "contracts"), "COLUMNS": "200"}
    ended = finished(command, CHECKOUT, environment)
    assert ended.code == 0, ended
    assert re.search(r"[1-9]\d* kept, 0 broken", ended.out), ended


def test_cases_import_nothing_that_sends() -> None:
    cases = (CHECKOUT / "tests" / "contract").rglob("*.py")
    imported = {path.name: imported_modules(path) for path in cases}
    beginnings = {
        name: {part.partition(".")[0] for part in parts} | parts for name, parts in imported.items()
    }
    assert {name: found for name, parts in beginnings.items() if (found := parts & SENDERS)} == {}


def test_schemathesis_is_used_by_its_documented_interface_alone() -> None:
    names = set().union(*map(imported_modules, (CHECKOUT / "contracts").rglob("*.py")))
    assert {name for name in names if name.partition(".")[0] == "schemathesis"} == {"schemathesis"}
