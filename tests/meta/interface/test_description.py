"""The OpenAPI description is valid, complete and as exact as the document; other tools get one that takes more."""

from collections.abc import Iterator
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

DOCUMENTS = "/api/v2013/documents"
BASE = "http://127.0.0.1:8080/registry"
ODD_VALUES = ["a/b", "%2F", "..", ".", "a?b#c", "a+b c", "Kä-ß", "文書", "line\n", "%zz", "{uid}", "\x00"]
SILENT_ON_TOKENS = {"attachmentExists", "getAttachment", "getAttachmentThumbnail"}
DEVELOPMENT_REALMS = ["abs-dev", "bch-dev", "chm-dev", "ort-dev"]


DESCRIPTION = load_description()


def walk(node: Any) -> Iterator[dict[str, Any]]:
    if isinstance(node, dict):
        yield node
    for value in node.values() if isinstance(node, dict) else node if isinstance(node, list) else ():
        yield from walk(value)


def examples_of(node: dict[str, Any]) -> list[Any]:
    named = [follow(DESCRIPTION.bundle, each)["value"] for each in node.get("examples", {}).values()]
    return [node["example"], *named] if "example" in node else named


def test_description_is_valid_openapi() -> None:
    validate(DESCRIPTION.bundle)


def test_realms_and_protection_follow_the_document() -> None:
    for name, operation in DESCRIPTION.operations.items():
        workflow = "WorkflowRecord" in name
        expected = ("any",) if name == "createToken" else tuple(DEVELOPMENT_REALMS[: 4 if workflow else 3])
        assert operation.realms == expected, name
        protected = None if name in SILENT_ON_TOKENS else name != "createToken"
        assert operation.protected is protected, name
        attachment = "ttachment" in name or name == "persistTemporaryFile"
        assert operation.takes_realm is (name != "createToken" and not attachment), name
        assert operation.safe is (operation.method in {"GET", "HEAD"}), name


def test_declared_security_says_what_x_protected_says() -> None:
    meant: dict[object, Any] = {True: [{"bearer": []}], False: [], "silent": [{}, {"bearer": []}]}
    for node in walk(DESCRIPTION.bundle["paths"]):
        if "x-protected" in node:
            assert node["security"] == meant[node["x-protected"]], node["operationId"]


def test_every_parameter_and_body_has_an_example_and_all_fit_their_schemas() -> None:
    nodes = list(walk(DESCRIPTION.bundle))
    parameters = [node for node in nodes if {"in", "schema"} <= node.keys()]
    bodies = [each for node in nodes for each in node.get("requestBody", {}).get("content", {}).values()]
    assert min(len(parameters), len(bodies)) > 5
    assert [node for node in (*parameters, *bodies) if not examples_of(node)] == []
    components = {"components": DESCRIPTION.bundle["components"]}
    judged = 0
    for node in nodes:
        if isinstance(node.get("schema"), dict) and ({"example", "examples"} & node.keys()):
            validator = jsonschema_rs.Draft202012Validator(node["schema"] | components, validate_formats=True)
            for example in examples_of(node):
                assert list(validator.iter_errors(example)) == [], example
                judged += 1
    assert judged > 50


@pytest.mark.parametrize("name", DESCRIPTION.operations)
def test_url_and_match_are_each_others_reverse(name: str) -> None:
    operation = DESCRIPTION.operations[name]
    for value in ODD_VALUES:
        values = dict.fromkeys(operation.path_parameters, value)
        url = operation.url(BASE + "/", **values)
        assert DESCRIPTION.match(operation.method, url.removeprefix(BASE)) == (operation, values)
    found = DESCRIPTION.match("put", f"{DOCUMENTS}/a%2Fb%FF/versions/draft?schema=contact")
    assert found == (DESCRIPTION.operations["saveDraft"], {"uid": "a/b\ufffd"})


CONTACT = DESCRIPTION.bundle["components"]["examples"]["AbsContact"]["value"]
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
    assert takes(DESCRIPTION.published, schema, value)
    assert not takes(DESCRIPTION.bundle, schema, value)


@pytest.mark.parametrize(("name", "options"), [("r.yaml", []), ("r.txt", ["--format=json"])])
def test_the_command_writes_yaml_or_json(tmp_path: Path, name: str, options: list[str]) -> None:
    done = CliRunner().invoke(command, ["-o", str(tmp_path / name), *options], standalone_mode=False)
    text = (tmp_path / name).read_text("utf-8")
    assert (done.return_value, text.startswith("{")) == (0, name != "r.yaml")
    assert yaml.safe_load(text) == DESCRIPTION.published
    assert not any(isinstance(event, yaml.AliasEvent) for event in yaml.parse(text))
