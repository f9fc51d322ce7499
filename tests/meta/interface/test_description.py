"""The OpenAPI description is valid, complete and as exact as the document; each realm has its own."""

from collections.abc import Iterator
from typing import Any

import jsonschema_rs
import pytest
import yaml
from openapi_spec_validator import validate

from contracts.interface.description import Description, load_description
from contracts.interface.location import openapi_directory
from contracts.interface.operations import METHODS, follow, parameters_of

DOCUMENTS = "/api/v2013/documents"
WORKFLOW = "/api/v2023/documents/schemas"
OPERATIONS = {
    "createToken": ("POST", "/api/v2013/authentication/token"),
    "createContact": ("POST", DOCUMENTS),
    "updateContact": ("PUT", f"{DOCUMENTS}/{{uid}}"),
    "saveDraft": ("PUT", f"{DOCUMENTS}/{{uid}}/versions/draft"),
    "getDraft": ("GET", f"{DOCUMENTS}/{{uid}}/versions/draft"),
    "getDraftInfo": ("GET", f"{DOCUMENTS}/{{uid}}/versions/draft/info"),
    "draftExists": ("HEAD", f"{DOCUMENTS}/{{uid}}/versions/draft"),
    "deleteDraft": ("DELETE", f"{DOCUMENTS}/{{uid}}/versions/draft"),
    "listDrafts": ("GET", "/api/v2013/document-drafts"),
    "createAttachment": ("POST", f"{DOCUMENTS}/{{uid}}/attachments/{{filename}}"),
    "persistTemporaryFile": ("POST", f"{DOCUMENTS}/{{uid}}/attachments/persist-temporary/{{tempFileId}}"),
    "listAttachments": ("GET", f"{DOCUMENTS}/{{uid}}/attachments"),
    "attachmentExists": ("HEAD", f"{DOCUMENTS}/{{uid}}/attachments/{{attachmentId}}/{{filename}}"),
    "getAttachment": ("GET", f"{DOCUMENTS}/{{uid}}/attachments/{{attachmentId}}/{{filename}}"),
    "getAttachmentThumbnail": (
        "GET",
        f"{DOCUMENTS}/{{uid}}/attachments/{{attachmentId}}/{{filename}}/thumbnail",
    ),
    "createWorkflowRecord": ("POST", f"{WORKFLOW}/{{schema}}"),
    "createWorkflowRecordWithIdentifier": ("POST", f"{WORKFLOW}/{{schema}}/{{identifier}}"),
    "updateWorkflowRecord": ("PUT", f"{WORKFLOW}/{{schema}}/{{identifier}}"),
}
SILENT_ON_TOKENS = {"attachmentExists", "getAttachment", "getAttachmentThumbnail"}
DEVELOPMENT_REALMS = ["abs-dev", "bch-dev", "chm-dev", "ort-dev"]


@pytest.fixture(scope="module")
def description() -> Description:
    return load_description()


def walk(node: Any) -> Iterator[dict[str, Any]]:
    if isinstance(node, dict):
        yield node
    for value in node.values() if isinstance(node, dict) else node if isinstance(node, list) else ():
        yield from walk(value)


def bodies_and_parameters(document: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield every parameter and media type of every request, with a name for it."""
    for path, item in document["paths"].items():
        for method in item.keys() & set(METHODS):
            operation = item[method]
            for parameter in parameters_of(document, item, operation):
                yield f"{operation['operationId']} {parameter['in']} {parameter['name']}", parameter
            for media in operation.get("requestBody", {}).get("content", {}).values():
                yield f"{operation['operationId']} {path} body", media


def examples_of(document: dict[str, Any], node: dict[str, Any]) -> list[Any]:
    named = [follow(document, example)["value"] for example in node.get("examples", {}).values()]
    return [node["example"], *named] if "example" in node else named


def test_description_is_valid_openapi(description: Description) -> None:
    validate(description.bundle)


def test_every_operation_of_the_document_is_described(description: Description) -> None:
    described = {name: (each.method, each.path) for name, each in description.operations.items()}
    assert described == OPERATIONS


def test_bundle_points_only_into_itself(description: Description) -> None:
    references = [node["$ref"] for node in walk(description.bundle) if isinstance(node.get("$ref"), str)]
    assert references
    assert all(reference.startswith("#/components/") for reference in references)
    assert all(follow(description.bundle, {"$ref": reference}) for reference in set(references))


def test_files_avoid_what_some_readers_cannot_read() -> None:
    """Aliases are read as empty by one reader, and prefixItems with items: false breaks another."""
    for file in openapi_directory().rglob("*.yaml"):
        text = file.read_text("utf-8")
        assert not any(isinstance(event, yaml.AliasEvent) for event in yaml.parse(text)), file
        assert "prefixItems" not in text, file


def test_realms_and_protection_follow_the_document(description: Description) -> None:
    for name, operation in description.operations.items():
        workflow = "WorkflowRecord" in name
        expected = ("any",) if name == "createToken" else tuple(DEVELOPMENT_REALMS[: 4 if workflow else 3])
        assert operation.realms == expected, name
        protected = None if name in SILENT_ON_TOKENS else name != "createToken"
        assert operation.protected is protected, name
        attachment = "ttachment" in name or name == "persistTemporaryFile"
        assert operation.takes_realm is (name != "createToken" and not attachment), name
        assert operation.safe is (operation.method in {"GET", "HEAD"}), name


def test_declared_security_says_what_x_protected_says(description: Description) -> None:
    meant: dict[object, list[dict[str, list[str]]]] = {
        True: [{"bearer": []}],
        False: [],
        "silent": [{}, {"bearer": []}],
    }
    for node in walk(description.bundle["paths"]):
        if "x-protected" in node:
            assert node["security"] == meant[node["x-protected"]], node["operationId"]


def test_contact_has_the_fields_of_the_table(description: Description) -> None:
    contact = description.bundle["components"]["schemas"]["Contact"]
    assert len(contact["properties"]) == 26
    mandatory = {"firstName", "lastName", "organization", "country", "emails", "type", "contactOrganization"}
    assert set(contact["required"]) == mandatory


@pytest.mark.parametrize(
    ("uid", "right"),
    [
        ("a" * 10, False),
        ("a" * 11, True),
        ("Z9_-" * 32, True),
        ("a" * 129, False),
        ("-" * 11, True),
        ("aaaaa]aaaaaa", False),
        ("aaaaa^aaaaaa", False),
        ("ä" * 11, False),
        ("a" * 11 + "\n", False),
    ],
)
def test_uid_schema_is_the_rule_in_words(description: Description, uid: str, right: bool) -> None:
    schema = description.bundle["components"]["schemas"]["Uid"]
    assert jsonschema_rs.is_valid(schema, uid) is right


def test_every_parameter_and_body_has_an_example(description: Description) -> None:
    found = list(bodies_and_parameters(description.bundle))
    assert len(found) > 18
    assert [name for name, node in found if not examples_of(description.bundle, node)] == []


def test_examples_fit_their_schemas(description: Description) -> None:
    components = {"components": description.bundle["components"]}
    judged = 0
    for node in walk(description.bundle):
        if isinstance(node.get("schema"), dict) and ({"example", "examples"} & node.keys()):
            validator = jsonschema_rs.Draft202012Validator(node["schema"] | components, validate_formats=True)
            for example in examples_of(description.bundle, node):
                assert list(validator.iter_errors(example)) == [], example
                judged += 1
    assert judged > 50


@pytest.mark.parametrize("realm", [*DEVELOPMENT_REALMS, "any"])
def test_description_of_a_realm_has_its_operations_only(description: Description, realm: str) -> None:
    document = description.for_realm(realm)
    validate(document)
    kept = {node["operationId"] for node in walk(document["paths"]) if "x-realms" in node}
    assert kept == {name for name, each in description.operations.items() if realm in each.realms}
    assert len(kept) == {"ort-dev": 3, "any": 1}.get(realm, 17)


@pytest.mark.parametrize("realm", DEVELOPMENT_REALMS)
def test_description_of_a_realm_speaks_of_that_realm_only(description: Description, realm: str) -> None:
    document = description.for_realm(realm)
    seen = 0
    for name, node in bodies_and_parameters(document):
        if node.get("name") == "Realm":
            assert node["schema"]["enum"] == [realm], name
            seen += 1
        examples = examples_of(document, node)
        assert len(examples) == 1, name
        assert not any(other in repr(examples) for other in DEVELOPMENT_REALMS if other != realm), name
    assert seen >= 6
