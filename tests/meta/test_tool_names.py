"""The suite uses other tools by their public names."""

import ast
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[2]
TOOLS = {"schemathesis", "hypothesis", "pytest", "_pytest", "xdist", "allure", "allure_commons", "requests"}
#: As docs/tools.md says why.
ALLOWED = {"_pytest.runner.runtestprotocol"}
#: Of Python's own library, and of a class in the same module.
OF_NO_TOOL = (" os._exit", " super()._read_status", " self._timed._timeout")


def imported(tree: ast.AST) -> set[str]:
    """What a module imports of a tool's."""
    names = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            names |= {each.name for each in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            names |= {f"{node.module}.{each.name}" for each in node.names}
    return {name for name in names if name.partition(".")[0] in TOOLS}


def is_private(name: str) -> bool:
    """Whether somebody keeps a name for himself."""
    return any(part.startswith("_") and not part.startswith("__") for part in name.split("."))


def private_members(tree: ast.AST) -> Iterator[str]:
    """Members that are kept for itself by what is asked for them."""
    for node in ast.walk(tree):
        own = isinstance(node, ast.Attribute) and ast.unparse(node.value) in ("self", "cls")
        if isinstance(node, ast.Attribute) and is_private(node.attr) and not own:
            yield ast.unparse(node)


def test_no_name_that_a_tool_keeps_for_itself_is_used() -> None:
    paths = [
        *ROOT.glob("*.py"),
        *(ROOT / "contracts").rglob("*.py"),
        *(ROOT / "tests/contract").rglob("*.py"),
    ]
    trees = {path.relative_to(ROOT): ast.parse(path.read_text("utf-8")) for path in paths}
    used = {path: names for path, tree in trees.items() if (names := imported(tree))}
    assert {name for names in used.values() for name in names if is_private(name)} == ALLOWED
    asked = [f"{path}: {member}" for path in used for member in private_members(trees[path])]
    assert [each for each in asked if not each.endswith(OF_NO_TOOL)] == []
    page = (ROOT / "docs" / "tools.md").read_text("utf-8")
    assert all(f"`{name}`" in page for name in ALLOWED)
