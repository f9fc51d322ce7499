"""The catalogue is honest: it covers every operation, its cases exist, and its page is up to date.

Every rule has a twin that breaks a copy of the catalogue or of the list of cases and sees the rule object.
"""

import dataclasses
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from contracts.errors import SuiteError
from contracts.interface.catalogue import Catalogue, Clause, Level
from contracts.interface.clause_table import cases_by_clause, check, render
from contracts.interface.description import Description
from contracts.interface.operations import DOCUMENT_REALMS, follow
from contracts.settings.target import ACCOUNT_ROLES, AttachmentSettings, RealmSettings

CHECKOUT = Path(__file__).parents[3]
CASES = CHECKOUT / "tests" / "contract"
PAGE = CHECKOUT / "docs" / "clauses.md"
Cases = Mapping[str, tuple[str, ...]]


@pytest.fixture(scope="module")
def cases() -> Cases:
    return cases_by_clause(CASES, CHECKOUT / "pyproject.toml")


def without(catalogue: Catalogue, operation: str) -> Catalogue:
    """Leave out the clauses of an operation."""
    return Catalogue(clause for clause in catalogue if operation not in clause.operations)


def changed(catalogue: Catalogue, clause_id: str, **changes: Any) -> Catalogue:
    """Change one clause."""
    return Catalogue(
        dataclasses.replace(clause, **changes) if clause.id == clause_id else clause for clause in catalogue
    )


# The rules: each lists what breaks it.


def operations_without_clauses(catalogue: Catalogue, description: Description) -> list[str]:
    return [name for name in description.operations if not catalogue.by_operation(name)]


def must_without_cases(catalogue: Catalogue, cases: Cases) -> list[str]:
    return [clause.id for clause in catalogue.must if not clause.untested and not cases.get(clause.id)]


def cases_of_unknown_clauses(catalogue: Catalogue, cases: Cases) -> list[str]:
    return [
        f"{name} names {clause}"
        for clause, names in cases.items()
        if clause not in catalogue
        for name in names
    ]


def untestable_yet_tested(catalogue: Catalogue, cases: Cases) -> list[str]:
    return [clause.id for clause in catalogue if clause.untested and cases.get(clause.id)]


def without_a_quote(catalogue: Iterable[Clause]) -> list[str]:
    """Clauses that can be contradicted, yet quote no sentence of the document, though they are not common sense."""
    firm = (clause for clause in catalogue if clause.level is not Level.SILENT)
    return [clause.id for clause in firm if not clause.quote and clause.source != "Common sense"]


def needs_nothing_meets(catalogue: Iterable[Clause]) -> list[str]:
    known = {f"realm.{key}" for key in RealmSettings.__dataclass_fields__}
    known |= {f"attachments.{key}" for key in AttachmentSettings.__dataclass_fields__}
    known |= {f"account.{role}" for role in ACCOUNT_ROLES}
    return [f"{clause.id}: {need}" for clause in catalogue for need in clause.needs if need not in known]


def needs_out_of_place(catalogue: Iterable[Clause]) -> list[str]:
    """Needs of a contact or of any realm in a clause that is also judged where there are none."""
    return [
        f"{clause.id}: {need}"
        for clause in catalogue
        for need in clause.needs
        if (need.startswith("realm.") and "any" in clause.realms)
        or (re.match(r"realm\.(contact|country)", need) and not set(clause.realms) <= set(DOCUMENT_REALMS))
    ]


def faults_of_two_levels(catalogue: Iterable[Clause]) -> list[str]:
    levels: dict[tuple[str, str], set[Level]] = defaultdict(set)
    for clause in catalogue:
        for operation in clause.operations:
            for fault in clause.faults:
                levels[operation, fault].add(clause.level)
    return [f"{operation} {fault}" for (operation, fault), found in levels.items() if len(found) > 1]


def protected_without_a_clause_on_tokens(catalogue: Catalogue, description: Description) -> list[str]:
    return [
        name
        for name, operation in description.operations.items()
        if operation.protected
        and getattr(catalogue.for_fault(name, "header.Authorization:missing"), "level", None)
        is not Level.MUST
    ]


def body_faults_of_no_member(catalogue: Catalogue, description: Description) -> list[str]:
    """Faults whose first member of the body is described for none of the operations of their clause."""
    return [
        f"{clause.id}: {fault}"
        for clause in catalogue
        for fault in clause.faults
        if (member := re.match(r"body\.(\w+)", fault))
        and not any(member[1] in body_members(description, name) for name in clause.operations)
    ]


def body_members(description: Description, operation_id: str) -> set[str]:
    operation = description.operations[operation_id]
    node = description.bundle["paths"][operation.path][operation.method.lower()]
    body = follow(description.bundle, node.get("requestBody", {}))
    schema = body.get("content", {}).get("application/json", {}).get("schema", {})
    return set(_properties(description.bundle, schema))


def _properties(bundle: Mapping[str, Any], schema: Any) -> Iterator[str]:
    schema = follow(bundle, schema)
    yield from schema.get("properties", {})
    for part in schema.get("allOf", []):
        yield from _properties(bundle, part)


# The catalogue keeps the rules.


def test_every_operation_has_clauses(catalogue: Catalogue, description: Description) -> None:
    assert operations_without_clauses(catalogue, description) == []


def test_twin_an_operation_without_clauses_is_named(catalogue: Catalogue, description: Description) -> None:
    assert "deleteDraft" in operations_without_clauses(without(catalogue, "deleteDraft"), description)


def test_every_must_clause_has_a_case_or_a_reason(catalogue: Catalogue, cases: Cases) -> None:
    assert must_without_cases(catalogue, cases) == []


def test_twin_a_must_clause_without_a_case_is_named(catalogue: Catalogue) -> None:
    everything = {clause.id: ("test_module.py::test_case",) for clause in catalogue}
    assert must_without_cases(catalogue, everything) == []
    assert must_without_cases(catalogue, everything | {"uid-hyphen": ()}) == ["uid-hyphen"]
    assert "workflow-initiated" in must_without_cases(
        changed(catalogue, "workflow-initiated", untested=None), {}
    )


def test_every_case_names_known_clauses(catalogue: Catalogue, cases: Cases) -> None:
    assert cases_of_unknown_clauses(catalogue, cases) == []


def test_twin_a_case_with_an_unknown_clause_is_named(catalogue: Catalogue) -> None:
    problems = cases_of_unknown_clauses(catalogue, {"uid-hyphn": ("test_uid.py::test_hyphen",)})
    assert problems == ["test_uid.py::test_hyphen names uid-hyphn"]


def test_no_clause_is_both_tested_and_called_untestable(catalogue: Catalogue, cases: Cases) -> None:
    assert untestable_yet_tested(catalogue, cases) == []


def test_twin_a_tested_clause_called_untestable_is_named(catalogue: Catalogue) -> None:
    broken = changed(catalogue, "uid-hyphen", untested="too dull")
    assert untestable_yet_tested(broken, {"uid-hyphen": ("a.py::b",)}) == ["uid-hyphen"]


def test_every_clause_that_can_be_contradicted_quotes_the_document(catalogue: Catalogue) -> None:
    assert without_a_quote(catalogue) == []
    limit = catalogue.clause("uid-too-short")
    assert (limit.source, limit.quote) == (
        "Limits",
        "uid length | All operations with uid | 11 to 128 characters",
    )


def test_twin_a_clause_without_a_quote_is_named(catalogue: Catalogue) -> None:
    assert without_a_quote(changed(catalogue, "uid-hyphen", quote="")) == ["uid-hyphen"]


def test_every_need_is_a_setting_or_an_account(catalogue: Catalogue) -> None:
    assert needs_nothing_meets(catalogue) == []


def test_twin_a_need_that_nothing_meets_is_named(catalogue: Catalogue) -> None:
    broken = changed(catalogue, "uid-hyphen", needs=("realm.contact_shema",))
    assert needs_nothing_meets(broken) == ["uid-hyphen: realm.contact_shema"]


def test_needs_fit_the_realms_of_their_clause(catalogue: Catalogue) -> None:
    assert needs_out_of_place(catalogue) == []


def test_twin_a_need_out_of_place_is_named(catalogue: Catalogue) -> None:
    broken = changed(catalogue, "workflow-anonymous", needs=("realm.contact_schema",))
    assert needs_out_of_place(broken) == ["workflow-anonymous: realm.contact_schema"]


def test_no_fault_is_both_forbidden_and_left_open(catalogue: Catalogue) -> None:
    assert faults_of_two_levels(catalogue) == []


def test_twin_a_fault_at_two_levels_is_named(catalogue: Catalogue) -> None:
    broken = changed(catalogue, "uid-too-long", faults=("path.uid:too-short",), level=Level.SILENT)
    assert "saveDraft path.uid:too-short" in faults_of_two_levels(broken)


def test_every_protected_operation_must_have_a_token(catalogue: Catalogue, description: Description) -> None:
    assert protected_without_a_clause_on_tokens(catalogue, description) == []


def test_twin_a_protected_operation_without_that_clause_is_named(
    catalogue: Catalogue, description: Description
) -> None:
    broken = changed(catalogue, "draft-get-needs-token", faults=())
    assert protected_without_a_clause_on_tokens(broken, description) == ["getDraft"]


def test_faults_of_bodies_name_described_members(catalogue: Catalogue, description: Description) -> None:
    assert body_faults_of_no_member(catalogue, description) == []


def test_twin_a_fault_of_no_member_is_named(catalogue: Catalogue, description: Description) -> None:
    broken = changed(catalogue, "contact-kind-type", faults=("body.typ:wrong-kind",))
    assert body_faults_of_no_member(broken, description) == ["contact-kind-type: body.typ:wrong-kind"]


def test_the_page_is_up_to_date(catalogue: Catalogue, cases: Cases) -> None:
    check(PAGE, render(catalogue, cases))


def test_twin_a_stale_or_missing_page_is_refused(catalogue: Catalogue, cases: Cases, tmp_path: Path) -> None:
    page = tmp_path / "clauses.md"
    with pytest.raises(SuiteError, match=r"clauses.md is not what .* write it with"):
        check(page, render(catalogue, cases))
    page.write_text(render(catalogue, cases), encoding="utf-8")
    with pytest.raises(SuiteError):
        check(page, render(changed(catalogue, "uid-hyphen", wording="Hyphens are fine."), cases))
    with pytest.raises(SuiteError):
        check(page, render(catalogue, {**cases, "uid-hyphen": ("test_new.py::test_hyphen",)}))
