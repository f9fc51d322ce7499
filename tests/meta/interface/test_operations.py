"""Facts about operations stand in the OpenAPI description, once; the description that other tools get."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import jsonschema_rs
import pytest
import yaml
from click.testing import CliRunner
from openapi_spec_validator import validate

from registry_contracts.cli.openapi import command
from registry_contracts.interface.description import load_description
from registry_contracts.interface.operations import follow

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


@pytest.mark.parametrize(("name", "options"), [("r.yaml", []), ("r.txt", ["--format=json"])])
def test_the_command_writes_one_file_in_the_form_that_is_asked_for(
    tmp_path: Path, name: str, options: list[str]
) -> None:
    done = CliRunner().invoke(command, ["-o", str(tmp_path / name), *options], standalone_mode=False)
    text = (tmp_path / name).read_text("utf-8")
    assert (done.return_value, text.startswith("{")) == (0, name != "r.yaml")
    assert yaml.safe_load(text) == load_description().published
    assert not any(isinstance(event, yaml.AliasEvent) for event in yaml.parse(text))
