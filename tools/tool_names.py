"""The names of the tools below that the suite uses, read from its sources."""

import ast
from collections.abc import Iterable, Iterator
from pathlib import Path

ROOT = Path(__file__).parents[1]
SOURCES = ("contracts", "tests/contract")
TOOLS = ("schemathesis", "hypothesis", "pytest", "xdist", "allure", "allure_commons", "requests")


def names_table() -> str:
    """Each tool with the names that the suite imports from it, then the hooks that it has."""
    trees = [ast.parse(path.read_text("utf-8")) for source in SOURCES for path in _modules(ROOT / source)]
    used = {name for tree in trees for name in _Names(tree).used()}
    longest = [name for name in used if not any(other.startswith(f"{name}.") for other in used)]
    lines = ["| tool | names |", "|---|---|"]
    for tool in TOOLS:
        own = sorted(name for name in longest if name.partition(".")[0] == tool)
        lines += [f"| {tool} | {_listed(name.partition('.')[2] for name in own)} |"] if own else []
    hooks = sorted({name for tree in trees for name in _hooks(tree)})
    return "\n".join([*lines, f"| hooks | {_listed(hooks)} |"])


def _listed(names: Iterable[str]) -> str:
    return ", ".join(f"`{name}`" for name in names)


def _modules(source: Path) -> list[Path]:
    return [source] if source.is_file() else sorted(source.rglob("*.py"))


def _hooks(tree: ast.Module) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef) and node.name.startswith("pytest_"):
            yield node.name


class _Names:
    """What a module calls the names that it imports, and which names it reads through them."""

    def __init__(self, tree: ast.Module) -> None:
        self._tree = tree
        self._imported: dict[str, str] = {}

    def used(self) -> Iterator[str]:
        for node in ast.walk(self._tree):
            if isinstance(node, ast.Import):
                self._imported |= {each.name: each.name for each in node.names if each.asname is None}
                self._imported |= {each.asname: each.name for each in node.names if each.asname}
            elif isinstance(node, ast.ImportFrom) and node.module:
                self._imported |= {
                    each.asname or each.name: f"{node.module}.{each.name}" for each in node.names
                }
        yield from self._imported.values()
        for node in ast.walk(self._tree):
            if isinstance(node, ast.Attribute) and (name := self._spelled(node)):
                yield name

    def _spelled(self, node: ast.expr) -> str | None:
        if isinstance(node, ast.Attribute):
            before = self._spelled(node.value)
            return before and f"{before}.{node.attr}"
        return self._imported.get(node.id) if isinstance(node, ast.Name) else None
