"""The suite uses other tools by their public names, which docs/tools.md lists."""

import ast

from tests.meta.tool_names import ROOT, imports_a_tool, names_by_tool, private, sources

#: As docs/tools.md says why.
ALLOWED = ["_pytest.runner.runtestprotocol"]
#: Of Python's own library, and of a class in the same module.
OF_NO_TOOL = (" os._exit", " super()._read_status", " self._timed._timeout")


def test_no_other_name_that_a_tool_keeps_for_itself_is_used() -> None:
    names = [name for of_tool in names_by_tool().values() for name in of_tool]
    assert private(names) == ALLOWED
    page = (ROOT / "docs" / "tools.md").read_text("utf-8")
    assert all(f"`{name}`" in page.partition("<!-- begin")[0] for name in ALLOWED)


def test_no_object_of_a_tool_is_asked_for_what_it_keeps_for_itself() -> None:
    trees = {path.relative_to(ROOT): ast.parse(path.read_text("utf-8")) for path in sources()}
    asked = [
        f"{path}: {ast.unparse(node)}"
        for path, tree in trees.items()
        for node in ast.walk(tree)
        if isinstance(node, ast.Attribute) and private([node.attr]) and imports_a_tool(tree)
        if not node.attr.startswith("__")
        if not (isinstance(node.value, ast.Name) and node.value.id in ("self", "cls"))
    ]
    assert [each for each in asked if not each.endswith(OF_NO_TOOL)] == []
