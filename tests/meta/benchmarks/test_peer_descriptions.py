"""What the tools are given: the description of a realm, and the copy with exact statuses."""

import json
import re
from pathlib import Path
from typing import Any

import pytest

from benchmarks.peers.descriptions import ANONYMOUS, SUCCESS, exact, of_realm, operations
from benchmarks.peers.example_files import without_examples, write_examples
from contracts.interface.description import load_description


@pytest.fixture(scope="module")
def described() -> dict[str, Any]:
    return of_realm("bch-dev")


@pytest.fixture(scope="module")
def copied(described: dict[str, Any]) -> dict[str, Any]:
    return exact(described)


def test_a_realm_has_all_operations_and_the_token(described: dict[str, Any]) -> None:
    assert {operation["operationId"] for _, _, operation in operations(described)} == set(SUCCESS)
    assert set(SUCCESS) == set(load_description().operations)


def test_the_realm_without_documents_has_the_workflow_and_the_token() -> None:
    names = {operation["operationId"] for _, _, operation in operations(exact(of_realm("ort-dev")))}
    assert "createToken" in names
    assert "updateWorkflowRecord" in names
    assert "saveDraft" not in names


def test_the_copy_has_exact_statuses_only(copied: dict[str, Any]) -> None:
    for _, _, operation in operations(copied):
        assert all(re.fullmatch("[24][0-9]{2}", status) for status in operation["responses"])
        answered = [status for status in operation["responses"] if status.startswith("2")]
        assert answered == [str(SUCCESS[operation["operationId"]])]


def test_the_copy_asks_for_the_realm_in_the_header_alone(copied: dict[str, Any]) -> None:
    realms = [
        (parameter["in"], parameter["required"])
        for _, _, operation in operations(copied)
        for parameter in operation["parameters"]
        if parameter["name"] == "Realm"
    ]
    assert set(realms) == {("header", True)}


def test_the_copy_leaves_the_description_alone(described: dict[str, Any]) -> None:
    before = json.dumps(described)
    exact(described)
    assert json.dumps(described) == before


def test_each_operation_gets_an_example_file(copied: dict[str, Any], tmp_path: Path) -> None:
    write_examples(copied, tmp_path)
    saved = json.loads((tmp_path / "saveDraft.json").read_text(encoding="utf-8"))
    assert {path.stem for path in tmp_path.iterdir()} == {*SUCCESS, f"createContact-{ANONYMOUS}"}
    assert saved["http-request"]["path"].endswith("/example-draft-bch-dev/versions/draft")
    assert saved["http-request"]["headers"]["Realm"] == "bch-dev"
    assert saved["http-response"]["status"] == 201


def test_no_example_is_left_beside_the_files(copied: dict[str, Any]) -> None:
    stripped = without_examples(copied)
    for _, _, operation in operations(stripped):
        assert not any("example" in key for parameter in operation["parameters"] for key in parameter)
        for content in operation.get("requestBody", {}).get("content", {}).values():
            assert not any("example" in key for key in content)


def test_a_new_contact_may_leave_its_identifier_to_the_service(
    copied: dict[str, Any], tmp_path: Path
) -> None:
    write_examples(copied, tmp_path)
    named, anonymous = (
        json.loads((tmp_path / f"createContact{mark}.json").read_text(encoding="utf-8"))["http-request"][
            "body"
        ]
        for mark in ("", f"-{ANONYMOUS}")
    )
    assert named["header"]["identifier"] == "example-contact-bch-dev"
    assert {**named, "header": {**named["header"], "identifier": None}} == {
        **anonymous,
        "header": {**anonymous["header"], "identifier": None},
    }
    assert "identifier" not in anonymous["header"]
