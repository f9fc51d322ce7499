"""Facts about operations stand in the OpenAPI description, once."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

from contracts.interface.description import load_description, operations_with, where_in_words

CONTRACTS = Path(__file__).parents[3] / "contracts"
#: Modules that may name several operations together, and why.
TABLES = {
    "cases/described_inputs.py": "what a link of the description leads to",
    "cases/requests.py": "a maker of requests for each operation",
    "checks/http.py": "a clause for each operation",
    "history/observed_facts.py": "a clause for each operation",
    "checks/sequences.py": "a clause for each reading operation",
    "manual/sandbox_setup.py": "an observation of an upload and of the list after it",
    "manual/readiness.py": "the steps of a draft's life, in their order",
}


def collections_of_operations(path: Path) -> Iterator[int]:
    """Lines on which a module writes two or more operations into one collection."""
    known = load_description().operations.keys()
    tree = ast.parse(path.read_text(encoding="utf-8"))
    # Names that are bound side by side are no collection.
    bound = {
        id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Assign) and _side_by_side(node)
    }
    for node in ast.walk(tree):
        if isinstance(node, ast.Set | ast.Tuple | ast.List | ast.Dict) and id(node) not in bound:
            members = node.keys if isinstance(node, ast.Dict) else node.elts
            if (
                len(
                    {each.value for each in members if isinstance(each, ast.Constant) and each.value in known}
                )
                > 1
            ):
                yield node.lineno


def _side_by_side(node: ast.Assign) -> bool:
    return any(isinstance(target, ast.Tuple) for target in node.targets)


def test_no_module_keeps_a_list_of_operations_of_its_own() -> None:
    modules = {path.relative_to(CONTRACTS).as_posix(): path for path in CONTRACTS.rglob("*.py")}
    judged = {name: path for name, path in modules.items() if not name.startswith(("sandbox/", "interface/"))}
    lists = {name: lines for name, path in judged.items() if (lines := list(collections_of_operations(path)))}
    assert lists.keys() == TABLES.keys(), lists


@pytest.mark.parametrize(
    ("facts", "expected"),
    [
        ({"stores": "draft"}, "saveDraft"),
        ({"removes": "draft"}, "deleteDraft"),
        ({"stores": "contact"}, "createContact updateContact"),
        ({"stores": "attachment"}, "createAttachment persistTemporaryFile"),
        (
            {"family": "workflow"},
            "createWorkflowRecord createWorkflowRecordWithIdentifier updateWorkflowRecord",
        ),
        ({"permanent": True, "family": "contact"}, "createContact"),
        ({"assigns_identifier": True}, "createContact createWorkflowRecord"),
        ({"names_new": True}, "saveDraft createWorkflowRecordWithIdentifier"),
        ({"needs": "draft", "safe": True}, "getDraft draftExists getDraftInfo"),
        ({"answers": "file"}, "getAttachment attachmentExists getAttachmentThumbnail"),
        ({"answers": "list"}, "listDrafts listAttachments"),
        ({"lists_content_type": False}, "listAttachments createAttachment persistTemporaryFile"),
    ],
)
def test_operations_are_told_apart_by_their_facts(facts: dict[str, object], expected: str) -> None:
    assert set(operations_with(**facts)) == set(expected.split())


@pytest.mark.parametrize(
    ("operation", "realms", "says"),
    [
        ("saveDraft", ["abs-dev", "bch-dev"], "in abs-dev, bch-dev"),
        ("saveDraft", ["any"], "without a known realm"),
        ("saveDraft", [None], "without a known realm"),
        ("createToken", ["any"], "whatever the realm"),
        (None, ["any"], "whatever the realm"),
    ],
)
def test_where_something_was_asked_for_is_told_alike_everywhere(
    operation: str | None, realms: list[str | None], says: str
) -> None:
    assert where_in_words(operation, realms) == says


def test_what_an_operation_stores_or_removes_is_no_read() -> None:
    for operation in load_description().operations.values():
        assert not (operation.safe and (operation.stores or operation.removes)), operation.id
        assert operation.family == "workflow" or operation.stores in (None, "draft", operation.family)
