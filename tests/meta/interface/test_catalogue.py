"""The catalogue covers every operation, its cases exist, it answers the suite's questions, and a mistake is told."""

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from registry_contracts.cases.preconditions import PROBES
from registry_contracts.errors import SuiteError
from registry_contracts.interface.catalogue import Catalogue, Level, load_catalogue
from registry_contracts.interface.description import load_description
from registry_contracts.interface.known_cases import known_cases, relied_on
from registry_contracts.interface.operations import DOCUMENT_REALMS, WORKFLOW_REALMS, follow
from registry_contracts.settings.target import ACCOUNT_ROLES, AttachmentSettings, RealmSettings

OPERATIONS = load_description().operations
BUNDLE = load_description().bundle
#: Headers that concern operations besides Realm, which the description lists where it applies.
HEADERS = {"header.Accept", "header.Authorization", "header.Content-Type"}


def test_every_must_has_a_case_or_a_reason_and_not_both(catalogue: Catalogue) -> None:
    cases = known_cases()
    assert cases.keys() <= {clause.id for clause in catalogue}
    assert [
        clause.id for clause in catalogue.must if bool(clause.untested) is bool(cases.get(clause.id))
    ] == []


def test_what_cases_rely_on_is_a_clause_that_has_a_probe(catalogue: Catalogue) -> None:
    assert {clause for clauses in relied_on().values() for clause in clauses} == PROBES.keys()
    assert all(clause in catalogue for clause in PROBES)


def test_what_can_be_contradicted_quotes_the_document_or_is_common_sense(catalogue: Catalogue) -> None:
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
