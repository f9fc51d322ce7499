"""The catalogue is honest: it covers every operation, its cases exist, and its page is up to date.

Every rule has a twin that breaks a copy of the catalogue or of the list of cases and sees the rule object.
"""

import dataclasses
import re
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from contracts.errors import SuiteError
from contracts.interface.catalogue import Catalogue, Level, load_catalogue
from contracts.interface.clause_table import cases_by_clause, check, render
from contracts.interface.description import Description
from contracts.interface.operations import DOCUMENT_REALMS, follow
from contracts.settings.target import ACCOUNT_ROLES, AttachmentSettings, RealmSettings

CHECKOUT = Path(__file__).parents[3]
CASES = CHECKOUT / "tests" / "contract"
PAGE = CHECKOUT / "docs" / "clauses.md"
Cases = Mapping[str, tuple[str, ...]]


class Known(NamedTuple):
    """What the rules are about."""

    catalogue: Catalogue
    description: Description
    cases: Cases

    def without(self, operation: str) -> "Known":
        """Leave out the clauses of an operation."""
        kept = (clause for clause in self.catalogue if operation not in clause.operations)
        return self._replace(catalogue=Catalogue(kept))

    def changed(self, clause_id: str, **changes: Any) -> "Known":
        """Change one clause."""
        clauses = (
            dataclasses.replace(clause, **changes) if clause.id == clause_id else clause
            for clause in self.catalogue
        )
        return self._replace(catalogue=Catalogue(clauses))

    def with_case(self, clause_id: str, *names: str) -> "Known":
        """Give a clause these cases and no other."""
        return self._replace(cases={**self.cases, clause_id: names})


@pytest.fixture(scope="module")
def known(description: Description) -> Known:
    return Known(load_catalogue(), description, cases_by_clause(CASES, CHECKOUT / "pyproject.toml"))


# The rules: each lists what breaks it.


def operations_without_clauses(known: Known) -> list[str]:
    return [name for name in known.description.operations if not known.catalogue.by_operation(name)]


def must_without_cases(known: Known) -> list[str]:
    musts = (clause for clause in known.catalogue.must if not clause.untested)
    return [clause.id for clause in musts if not known.cases.get(clause.id)]


def cases_of_unknown_clauses(known: Known) -> list[str]:
    unknown = {clause: names for clause, names in known.cases.items() if clause not in known.catalogue}
    return [f"{name} names {clause}" for clause, names in unknown.items() for name in names]


def untestable_yet_tested(known: Known) -> list[str]:
    return [clause.id for clause in known.catalogue if clause.untested and known.cases.get(clause.id)]


def without_a_quote(known: Known) -> list[str]:
    """Clauses that can be contradicted, yet quote no sentence of the document, though they are not common sense."""
    firm = (clause for clause in known.catalogue if clause.level is not Level.SILENT)
    return [clause.id for clause in firm if not clause.quote and clause.source != "Common sense"]


def needs_nothing_meets(known: Known) -> list[str]:
    met = {f"realm.{key}" for key in RealmSettings.__dataclass_fields__}
    met |= {f"attachments.{key}" for key in AttachmentSettings.__dataclass_fields__}
    met |= {f"account.{role}" for role in ACCOUNT_ROLES}
    return [f"{clause.id}: {need}" for clause in known.catalogue for need in clause.needs if need not in met]


def needs_out_of_place(known: Known) -> list[str]:
    """Needs of a contact or of any realm in a clause that is also judged where there are none."""
    return [
        f"{clause.id}: {need}"
        for clause in known.catalogue
        for need in clause.needs
        if (need.startswith("realm.") and "any" in clause.realms)
        or (re.match(r"realm\.(contact|country)", need) and not set(clause.realms) <= set(DOCUMENT_REALMS))
    ]


def faults_of_two_levels(known: Known) -> list[str]:
    levels: dict[tuple[str, str], set[Level]] = defaultdict(set)
    for clause in known.catalogue:
        for operation in clause.operations:
            for fault in clause.faults:
                levels[operation, fault].add(clause.level)
    return [f"{operation} {fault}" for (operation, fault), found in levels.items() if len(found) > 1]


def protected_without_a_clause_on_tokens(known: Known) -> list[str]:
    return [
        name
        for name, operation in known.description.operations.items()
        if operation.protected
        and getattr(known.catalogue.for_fault(name, "header.Authorization:missing"), "level", None)
        is not Level.MUST
    ]


def body_faults_of_no_member(known: Known) -> list[str]:
    """Faults whose first member of the body is described for none of the operations of their clause."""
    return [
        f"{clause.id}: {fault}"
        for clause in known.catalogue
        for fault in clause.faults
        if (member := re.match(r"body\.(\w+)", fault))
        and not any(member[1] in body_members(known.description, name) for name in clause.operations)
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


Rule = Callable[[Known], list[str]]
#: Of each rule a twin that breaks it, and what the rule then names.
TWINS: list[tuple[Rule, Callable[[Known], Known], str]] = [
    (operations_without_clauses, lambda known: known.without("deleteDraft"), "deleteDraft"),
    (must_without_cases, lambda known: known.with_case("uid-hyphen"), "uid-hyphen"),
    (
        must_without_cases,
        lambda known: known.changed("workflow-initiated", untested=None),
        "workflow-initiated",
    ),
    (
        cases_of_unknown_clauses,
        lambda known: known.with_case("uid-hyphn", "test_uid.py::test_hyphen"),
        "test_uid.py::test_hyphen names uid-hyphn",
    ),
    (untestable_yet_tested, lambda known: known.changed("uid-hyphen", untested="too dull"), "uid-hyphen"),
    (without_a_quote, lambda known: known.changed("uid-hyphen", quote=""), "uid-hyphen"),
    (
        needs_nothing_meets,
        lambda known: known.changed("uid-hyphen", needs=("realm.contact_shema",)),
        "uid-hyphen: realm.contact_shema",
    ),
    (
        needs_out_of_place,
        lambda known: known.changed("workflow-anonymous", needs=("realm.contact_schema",)),
        "workflow-anonymous: realm.contact_schema",
    ),
    (
        faults_of_two_levels,
        lambda known: known.changed("draft-get-absent", faults=("header.Authorization:missing",)),
        "getDraft header.Authorization:missing",
    ),
    (
        protected_without_a_clause_on_tokens,
        lambda known: known.changed("draft-get-needs-token", faults=()),
        "getDraft",
    ),
    (
        body_faults_of_no_member,
        lambda known: known.changed("contact-kind-type", faults=("body.typ:wrong-kind",)),
        "contact-kind-type: body.typ:wrong-kind",
    ),
]


@pytest.mark.parametrize(("rule", "broken", "named"), TWINS, ids=[rule.__name__ for rule, *_ in TWINS])
def test_the_catalogue_keeps_a_rule_that_a_twin_breaks(
    known: Known, rule: Rule, broken: Callable[[Known], Known], named: str
) -> None:
    assert rule(known) == []
    assert rule(broken(known)) == [named]


def test_a_quote_is_the_documents_own_sentence(known: Known) -> None:
    limit = known.catalogue.clause("uid-too-short")
    quote = "uid length | All operations with uid | 11 to 128 characters"
    assert (limit.source, limit.quote) == ("Limits", quote)


def test_the_page_is_up_to_date(known: Known) -> None:
    check(PAGE, render(known.catalogue, known.cases))


def test_twin_a_stale_or_missing_page_is_refused(known: Known, tmp_path: Path) -> None:
    page = tmp_path / "clauses.md"
    with pytest.raises(SuiteError, match=r"clauses.md is not what .* write it with"):
        check(page, render(known.catalogue, known.cases))
    page.write_text(render(known.catalogue, known.cases), encoding="utf-8")
    for other in (
        known.changed("uid-hyphen", wording="Hyphens are fine."),
        known.with_case("uid-hyphen", "test_new.py::test_hyphen"),
    ):
        with pytest.raises(SuiteError):
            check(page, render(other.catalogue, other.cases))
