"""Who may import whom: the boundaries of the design, and proof that the check would see them broken."""

import ast
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

CHECKOUT = Path(__file__).parents[2]
LINTER = ("-c", "from importlinter.cli import lint_imports_command; lint_imports_command()")
#: Ways to a connection that a case or a helper could be tempted by.
SENDERS = frozenset(
    {"requests", "httpx", "urllib3", "http", "socket", "aiohttp", "urllib.request", "schemathesis"}
)


def imported_modules(path: Path) -> set[str]:
    """The modules that a module imports, or imports from."""
    nodes = list(ast.walk(ast.parse(path.read_text(encoding="utf-8"))))
    plain = {alias.name for node in nodes if isinstance(node, ast.Import) for alias in node.names}
    return plain | {node.module or "" for node in nodes if isinstance(node, ast.ImportFrom)}


def lint(root: Path) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, *LINTER, "--config", str(root / ".importlinter"), "--no-cache"]
    environment = {**os.environ, "PYTHONPATH": str(root / "contracts"), "COLUMNS": "200"}
    return subprocess.run(command, cwd=root, env=environment, capture_output=True, text=True, check=False)


def test_every_boundary_is_kept() -> None:
    ended = lint(CHECKOUT)
    assert ended.returncode == 0, ended.stdout
    assert "0 broken" in ended.stdout


@pytest.fixture(scope="module")
def copy(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the library to break boundaries in."""
    root = tmp_path_factory.mktemp("boundaries")
    shutil.copytree(CHECKOUT / "contracts", root / "contracts", ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy2(CHECKOUT / ".importlinter", root)
    return root


def test_every_boundary_is_seen_when_it_is_broken(copy: Path) -> None:
    breaches = {
        "interface/location.py": "import registry_contracts.checks.outcomes",
        "sandbox/habits.py": "import registry_contracts.exchanges.exchange",
        "settings/guard.py": "import registry_contracts.sandbox.authentication",
        "cases/sample_records.py": "import requests",
        "checks/http.py": "import starlette",
    }
    for name, line in breaches.items():
        with (copy / "contracts" / "registry_contracts" / name).open("a", encoding="utf-8") as file:
            file.write(f"\n{line}  # noqa\n")
    ended = lint(copy)
    assert ended.returncode == 1
    assert f"0 kept, {len(breaches)} broken" in ended.stdout, ended.stdout


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
