"""The catalogue covers every operation, its cases exist, it answers the suite's questions, and a mistake is told.

The OpenAPI description is valid, complete and as exact as the document; other tools get one that takes more.
"""

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import jsonschema_rs
import pytest
import yaml
from openapi_spec_validator import validate

from registry_contracts.cases.preconditions import PROBES
from registry_contracts.errors import SuiteError
from registry_contracts.interface.catalogue import Catalogue, Level, load_catalogue
from registry_contracts.interface.description import load_description
from registry_contracts.interface.known_cases import known_cases, relied_on
from registry_contracts.interface.operations import DOCUMENT_REALMS, WORKFLOW_REALMS, follow
from registry_contracts.settings.target import ACCOUNT_ROLES, AttachmentSettings, RealmSettings
from tests.meta.program import RunCommand

DESCRIPTION = load_description()
OPERATIONS, BUNDLE = DESCRIPTION.operations, DESCRIPTION.bundle
#: Headers that concern operations besides Realm, which the description lists where it applies.
HEADERS = {"header.Accept", "header.Authorization", "header.Content-Type"}


def test_every_must_has_a_case_or_a_reason_and_not_both(catalogue: Catalogue) -> None:
    cases = known_cases()
    assert cases.keys() <= {clause.id for clause in catalogue}
    for clause in catalogue.must:
        assert bool(clause.untested) is not bool(cases.get(clause.id)), clause.id


def test_what_cases_rely_on_is_a_clause_that_has_a_probe(catalogue: Catalogue) -> None:
    assert {clause for clauses in relied_on().values() for clause in clauses} == PROBES.keys()
    assert all(clause in catalogue for clause in PROBES)


def test_every_must_and_should_quotes_the_document_or_is_common_sense(catalogue: Catalogue) -> None:
    firm = [clause for clause in catalogue if clause.level is not Level.SILENT]
    assert [clause.id for clause in firm if not clause.quote and clause.source != "Common sense"] == []
    limit = catalogue.clause("uid-too-short")
    quote = "uid length | All operations with uid | 11 to 128 characters"
    assert (limit.source, limit.quote) == ("Limits", quote)


def test_every_need_is_a_setting_that_each_realm_of_the_clause_may_have(catalogue: Catalogue) -> None:
    met = {f"realm.{key}" for key in RealmSettings.__dataclass_fields__}
    met |= {f"attachments.{key}" for key in AttachmentSettings.__dataclass_fields__}
    met |= {f"account.{role}" for role in ACCOUNT_ROLES}
    for clause in catalogue:
        for need in clause.needs:
            assert need in met, clause.id
            assert not (need.startswith("realm.") and "any" in clause.realms), clause.id
            of_contacts = re.match(r"realm\.(contact|country)", need)
            assert not of_contacts or set(clause.realms) <= set(DOCUMENT_REALMS), clause.id


def test_a_fault_has_one_level_and_the_members_that_it_names_are_described(catalogue: Catalogue) -> None:
    levels: dict[tuple[str, str], set[Level]] = defaultdict(set)
    for clause in catalogue:
        assert set(clause.realms) <= {"any", *WORKFLOW_REALMS}, clause.id
        known = set[str]().union(*map(described, clause.operations))
        for fault in clause.faults:
            place = re.match(r"\w+\.[^.:*]+", fault)
            assert not place or place[0] in known, (clause.id, fault)
            for operation in clause.operations:
                levels[operation, fault].add(clause.level)
    assert {place: found for place, found in levels.items() if len(found) > 1} == {}


def test_a_missing_token_contradicts_a_must_wherever_one_is_asked_for(catalogue: Catalogue) -> None:
    for name, operation in OPERATIONS.items():
        clause = catalogue.for_fault(name, "header.Authorization:missing")
        assert not operation.protected or (clause and clause.level is Level.MUST), name


def described(operation_id: str) -> set[str]:
    """The parameters, headers and members of the body of an operation, behind their places."""
    operation = OPERATIONS[operation_id]
    body = follow(BUNDLE, BUNDLE["paths"][operation.path][operation.method.lower()].get("requestBody", {}))
    members = _properties(body.get("content", {}).get("application/json", {}).get("schema", {}))
    named = {f"{each.place}.{each.name}" for each in operation.parameters}
    return named | HEADERS | {f"body.{name}" for name in members}


def _properties(node: Any) -> Iterator[str]:
    schema: Mapping[str, Any] = follow(BUNDLE, node)
    yield from schema.get("properties", {})
    for part in schema.get("allOf", []):
        yield from _properties(part)


@pytest.mark.parametrize(
    ("operation", "fault", "clause"),
    [
        ("saveDraft", "path.uid:too-short", "uid-too-short"),
        ("createContact", "body.header.languages.1:wrong-kind", "contact-kind-header"),
        ("updateWorkflowRecord", "header.Authorization:malformed", "workflow-invalid-token"),
        ("createWorkflowRecord", "body.document.title:wrong-kind", "workflow-document-content"),
        ("createContact", "path.uid:too-short", None),
    ],
)
def test_a_fault_finds_its_most_specific_clause(
    catalogue: Catalogue, operation: str, fault: str, clause: str | None
) -> None:
    assert catalogue.for_fault(operation, fault) is (catalogue.clause(clause) if clause else None)


GOOD = """\
- id: one-clause
  level: must
  operations: [saveDraft]
  source: Limits
  wording: Something holds.
"""


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (GOOD + GOOD, r"small.yaml:6: the id one-clause is already used at small.yaml:1"),
        (GOOD + "  colour: red\n", r"small.yaml:1: one-clause: unknown key 'colour'; known are "),
        (GOOD.replace("must", "should"), r"one-clause: a should, and no other level, needs"),
        (GOOD.replace("saveDraft", "safeDraft"), r"one-clause: did you mean 'saveDraft'"),
        (GOOD.replace("  source: Limits\n", ""), r"one-clause: Object missing required field `source`"),
    ],
)
def test_a_mistake_is_told_in_one_line_with_its_place(tmp_path: Path, text: str, message: str) -> None:
    (tmp_path / "small.yaml").write_text(text, encoding="utf-8")
    with pytest.raises(SuiteError, match=message) as caught:
        load_catalogue(tmp_path)
    assert "\n" not in str(caught.value)


DOCUMENTS = "/api/v2013/documents"
BASE = "http://127.0.0.1:8080/registry"
ODD_VALUES = ["a/b", "%2F", "..", ".", "a?b#c", "a+b c", "Kä-ß", "文書", "line\n", "%zz", "{uid}", "\x00"]
SILENT_ON_TOKENS = {"attachmentExists", "getAttachment", "getAttachmentThumbnail"}
DEVELOPMENT_REALMS = ["abs-dev", "bch-dev", "chm-dev", "ort-dev"]


def walk(node: Any) -> Iterator[dict[str, Any]]:
    if isinstance(node, dict):
        yield node
    for value in node.values() if isinstance(node, dict) else node if isinstance(node, list) else ():
        yield from walk(value)


def examples_of(node: dict[str, Any]) -> list[Any]:
    named = [follow(BUNDLE, each)["value"] for each in node.get("examples", {}).values()]
    return [node["example"], *named] if "example" in node else named


def test_description_is_valid_openapi() -> None:
    validate(BUNDLE)


def test_realms_and_protection_follow_the_document() -> None:
    for name, operation in OPERATIONS.items():
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
    for node in walk(BUNDLE["paths"]):
        if "x-protected" in node:
            assert node["security"] == meant[node["x-protected"]], node["operationId"]


def test_every_parameter_and_body_has_an_example_and_all_fit_their_schemas() -> None:
    nodes = list(walk(BUNDLE))
    parameters = [node for node in nodes if {"in", "schema"} <= node.keys()]
    bodies = [each for node in nodes for each in node.get("requestBody", {}).get("content", {}).values()]
    assert min(len(parameters), len(bodies)) > 5
    assert [node for node in (*parameters, *bodies) if not examples_of(node)] == []
    components = {"components": BUNDLE["components"]}
    judged = 0
    for node in nodes:
        if isinstance(node.get("schema"), dict) and ({"example", "examples"} & node.keys()):
            validator = jsonschema_rs.Draft202012Validator(node["schema"] | components, validate_formats=True)
            for example in examples_of(node):
                assert list(validator.iter_errors(example)) == [], example
                judged += 1
    assert judged > 50


@pytest.mark.parametrize("name", OPERATIONS)
def test_url_and_match_are_each_others_reverse(name: str) -> None:
    operation = OPERATIONS[name]
    for value in ODD_VALUES:
        values = dict.fromkeys(operation.path_parameters, value)
        url = operation.url(BASE + "/", **values)
        assert DESCRIPTION.match(operation.method, url.removeprefix(BASE)) == (operation, values)
    found = DESCRIPTION.match("put", f"{DOCUMENTS}/a%2Fb%FF/versions/draft?schema=contact")
    assert found == (OPERATIONS["saveDraft"], {"uid": "a/b\ufffd"})


CONTACT = BUNDLE["components"]["examples"]["AbsContact"]["value"]
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
    assert not takes(BUNDLE, schema, value)


@pytest.mark.parametrize(("name", "options"), [("r.yaml", []), ("r.txt", ["--format=json"])])
def test_the_command_writes_yaml_or_json(run_command: RunCommand, name: str, options: list[str]) -> None:
    ended = run_command("openapi", "-o", name, *options)
    text = Path(name).read_text("utf-8")
    assert (ended.code, text.startswith("{")) == (0, name != "r.yaml")
    assert yaml.safe_load(text) == DESCRIPTION.published
    assert not any(isinstance(event, yaml.AliasEvent) for event in yaml.parse(text))
