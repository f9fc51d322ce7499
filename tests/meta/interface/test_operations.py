"""Facts about operations stand in the OpenAPI description, once; the description that other tools get."""

from __future__ import annotations

import ast
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import jsonschema_rs
import pytest
import yaml
from click.testing import CliRunner
from openapi_spec_validator import validate

from registry_contracts.cli.openapi import command
from registry_contracts.interface.description import load_description
from registry_contracts.interface.operations import follow
from tests.meta.client_tour import exchanges

CONTRACTS = Path(__file__).parents[3] / "contracts" / "registry_contracts"
#: Modules that may name several operations together, and why.
TABLES = {
    "cases/described_inputs.py": "what a link of the description leads to",
    "checks/trackers.py": "the two ways to ask for a file itself",
}


COLLECTIONS = (ast.Set, ast.Tuple, ast.List, ast.Dict)


def collections_of_operations(path: Path) -> Iterator[int]:
    """Lines on which a module writes two or more operations into one collection; names bound side by side are none."""
    known = load_description().operations.keys()
    nodes = list(ast.walk(ast.parse(path.read_text(encoding="utf-8"))))
    assignments = (node for node in nodes if isinstance(node, ast.Assign))
    bound = {id(node.value) for node in assignments if isinstance(node.targets[0], ast.Tuple)}
    for node in nodes:
        if isinstance(node, COLLECTIONS) and id(node) not in bound:
            members = node.keys if isinstance(node, ast.Dict) else node.elts
            if len({each.value for each in members if isinstance(each, ast.Constant)} & known) > 1:
                yield node.lineno


def test_no_module_keeps_a_list_of_operations_of_its_own() -> None:
    modules = {path.relative_to(CONTRACTS).as_posix(): path for path in CONTRACTS.rglob("*.py")}
    judged = {name: path for name, path in modules.items() if not name.startswith(("sandbox/", "interface/"))}
    lists = {name: lines for name, path in judged.items() if (lines := list(collections_of_operations(path)))}
    assert lists.keys() == TABLES.keys(), lists


CONTACT = load_description().bundle["components"]["examples"]["AbsContact"]["value"]
#: Schema and what the interface document does not rule out, though the suite reads it in one way or knows no such code.
NOT_RULED_OUT: tuple[tuple[str, Any], ...] = (
    ("LString", {"English": "text"}),
    ("ValidationErrorCode", "Error.OfALaterVersion"),
    ("Token", {"authenticationToken": "t", "expiration": "20260131T120000,5Z"}),
    ("Contact", CONTACT | {"nickname": "W"}),
    ("TemporaryFileId", "a+b"),
    ("Refusal", "Realm is not configured, please provide valid realm."),
    ("Refusal", None),
    ("Refusal", ["text"]),
)


def takes(document: dict[str, Any], schema: str, value: Any) -> bool:
    reference = {"$ref": f"#/components/schemas/{schema}", "components": document["components"]}
    return jsonschema_rs.Draft202012Validator(reference, validate_formats=True).is_valid(value)


@pytest.mark.parametrize(("schema", "value"), NOT_RULED_OUT)
def test_it_takes_what_the_document_does_not_rule_out_and_the_suite_judges_exactly(
    schema: str, value: Any
) -> None:
    assert takes(load_description().published, schema, value)
    assert not takes(load_description().bundle, schema, value)


def test_both_have_the_same_operations_and_every_difference_is_marked() -> None:
    assert '"x-judged-as"' not in json.dumps(load_description().bundle)
    schema = load_description().bundle["components"]["parameters"]["ContactSchema"]
    assert schema["required"] is True
    assert "required" not in load_description().published["components"]["parameters"]["ContactSchema"]
    validate(load_description().published)


@pytest.mark.parametrize("operation", load_description().operations.values(), ids=lambda each: each.id)
def test_every_answer_with_a_body_has_an_example(operation: Any) -> None:
    published = load_description().published
    responses = published["paths"][operation.path][operation.method.lower()]["responses"]
    for status, response in responses.items():
        for media in follow(published, response).get("content", {}).values():
            assert media["examples"], (operation.id, status)


def test_the_sandbox_s_statuses_stand_beside_the_ranges_that_they_are_examples_of() -> None:
    description, answered = load_description(), set()
    for exchange in exchanges():
        matched = description.match(exchange.method, urlsplit(exchange.url).path)
        answered |= {(matched[0].id, str(exchange.status))} if matched else set()
    assert len(answered) > 30
    for name, operation in description.operations.items():
        path, method = operation.path, operation.method.lower()
        shown, judged = (
            document["paths"][path][method]["responses"]
            for document in (description.published, description.bundle)
        )
        assert shown.keys() >= {*judged, *(status for each, status in answered if each == name)}, name
        assert all(shown[each] == shown[f"{each[0]}XX"] for each in shown.keys() - judged.keys()), name
        # Nothing is judged by a status that the document does not give.
        assert {each for each in judged if each.isdigit()} == (
            {"400", "403"} if "Workflow" in name else set()
        )


@pytest.mark.parametrize(("name", "options"), [("r.yaml", []), ("r.txt", ["--format=json"])])
def test_the_command_writes_one_file_in_the_form_that_is_asked_for(
    tmp_path: Path, name: str, options: list[str]
) -> None:
    done = CliRunner().invoke(command, ["-o", str(tmp_path / name), *options], standalone_mode=False)
    text = (tmp_path / name).read_text("utf-8")
    assert (done.return_value, text.startswith("{")) == (0, name != "r.yaml")
    assert yaml.safe_load(text) == load_description().published
    assert not any(isinstance(event, yaml.AliasEvent) for event in yaml.parse(text))
