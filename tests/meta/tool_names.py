"""The names of other tools that the suite uses, as its source has them; docs/tools.md lists them."""

import ast
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[2]
_SOURCES = (
    "contracts",
    "tests/contract",
    "conftest.py",
    "registry_contracts.py",
    "registry_contracts_pytest.py",
)
#: A tool's packages, and what its objects are called in our code; those of others are called otherwise.
_TOOLS: dict[str, tuple[tuple[str, ...], tuple[str, ...]]] = {
    "Schemathesis": (("schemathesis",), ("described", "described_operation", "drafts")),
    "Hypothesis": (("hypothesis",), ()),
    "pytest": (
        ("pytest", "_pytest"),
        (
            "config",
            "item",
            "session",
            "metafunc",
            "report",
            "reporter",
            "parser",
            "pluginmanager",
            "subtests",
        ),
    ),
    "pytest-xdist": (("xdist",), ("node",)),
    "Allure": (("allure", "allure_commons"), ("listener", "dynamic")),
    "requests": (("requests",), ()),
}


def names_by_tool() -> dict[str, list[str]]:
    """By tool what is imported of its packages, the hooks that are implemented, and members of its objects."""
    found: defaultdict[str, set[str]] = defaultdict(set)
    for path in sources():
        tree = ast.parse(path.read_text("utf-8"))
        imported = dict(_imported(tree))
        of_plugin = path.is_relative_to(ROOT / "contracts" / "plugin")
        of_description = "schemathesis" in imported
        for chain in _chains(tree):
            root, *members = chain
            for tool, (packages, objects) in _TOOLS.items():
                full = [*imported.get(root, "").split("."), *members]
                if full[0] in packages:
                    found[tool].add(".".join(full))
                elif (
                    members and root in objects and (of_description if tool == "Schemathesis" else of_plugin)
                ):
                    found[tool].add(f".{members[0]}")
        for node in ast.walk(tree) if of_plugin else ():
            if isinstance(node, ast.FunctionDef) and node.name.startswith("pytest_"):
                xdist = any(word in node.name for word in ("xdist", "node"))
                own = "contract" in node.name or any(
                    "specname" in ast.unparse(each) for each in node.decorator_list
                )
                found["pytest-xdist" if xdist else "pytest"] |= set() if own else {node.name}
    return {tool: sorted(found[tool], key=str.lstrip) for tool in _TOOLS}


def private(names: list[str]) -> list[str]:
    """Those that a tool keeps for itself."""
    return [name for name in names if any(part.startswith("_") for part in name.strip(".").split("."))]


def tool_tables() -> str:
    """The list of docs/tools.md."""
    told = names_by_tool().items()
    return (
        "\n\n".join(f"**{tool}**: {', '.join(f'`{name}`' for name in names)}" for tool, names in told) + "\n"
    )


def imports_a_tool(tree: ast.Module) -> bool:
    """Whether a module imports something of a tool's."""
    packages = {package for packages, _ in _TOOLS.values() for package in packages}
    return any(full.partition(".")[0] in packages for _, full in _imported(tree))


def sources() -> Iterator[Path]:
    """The modules of the suite."""
    for place in _SOURCES:
        path = ROOT / place
        yield from sorted(path.rglob("*.py")) if path.is_dir() else [path]


def _imported(tree: ast.Module) -> Iterator[tuple[str, str]]:
    """What each imported name stands for."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            firsts = (each.name.partition(".")[0] for each in node.names)
            yield from (
                (each.asname or first, each.name if each.asname else first)
                for each, first in zip(node.names, firsts, strict=True)
            )
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            yield from ((each.asname or each.name, f"{node.module}.{each.name}") for each in node.names)


def _chains(tree: ast.Module) -> Iterator[list[str]]:
    """Names with the members that are asked of them, each at its longest; of a call those of what it gives."""
    inner = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Attribute)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Name | ast.Attribute) and id(node) not in inner:
            members: list[str] = []
            current: ast.expr = node
            while isinstance(current, ast.Attribute):
                members.insert(0, current.attr)
                current = current.value
            if isinstance(current, ast.Call) and isinstance(current.func, ast.Name):
                current = current.func
            if isinstance(current, ast.Name):
                yield [current.id, *members]
