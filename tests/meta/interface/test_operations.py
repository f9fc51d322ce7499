"""The description that other tools get: what it takes, and the command that writes it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import jsonschema_rs
import pytest
import yaml
from click.testing import CliRunner

from registry_contracts.cli.openapi import command
from registry_contracts.interface.description import load_description

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
def test_the_published_description_takes_what_is_not_ruled_out(schema: str, value: Any) -> None:
    assert takes(load_description().published, schema, value)
    assert not takes(load_description().bundle, schema, value)


@pytest.mark.parametrize(("name", "options"), [("r.yaml", []), ("r.txt", ["--format=json"])])
def test_the_command_writes_yaml_or_json(tmp_path: Path, name: str, options: list[str]) -> None:
    done = CliRunner().invoke(command, ["-o", str(tmp_path / name), *options], standalone_mode=False)
    text = (tmp_path / name).read_text("utf-8")
    assert (done.return_value, text.startswith("{")) == (0, name != "r.yaml")
    assert yaml.safe_load(text) == load_description().published
    assert not any(isinstance(event, yaml.AliasEvent) for event in yaml.parse(text))
