"""The catalogue answers the suite's questions, and a mistake in one of its files is told in one line."""

import json
from pathlib import Path

import pytest

from contracts.errors import SuiteError, UsageError
from contracts.interface.catalogue import Catalogue, load_catalogue, matches, read_clauses
from contracts.interface.clause_table import known_cases
from contracts.interface.description import Description
from contracts.interface.operations import DOCUMENT_REALMS


@pytest.mark.parametrize(
    ("operation", "fault", "clause"),
    [
        ("saveDraft", "path.uid:too-short", "uid-too-short"),
        ("listAttachments", "path.uid:too-short", "uid-rule-without-effect"),
        ("createContact", "body.emails.0:wrong-kind", "contact-kind-emails"),
        ("createContact", "body.organization.en:wrong-kind", "contact-kind-organization"),
        ("createContact", "body.header.languages.1:wrong-kind", "contact-kind-header"),
        ("updateWorkflowRecord", "header.Authorization:malformed", "workflow-invalid-token"),
        ("updateContact", "header.Authorization:malformed", "token-invalid-refused"),
        ("createWorkflowRecord", "body.document.title:wrong-kind", "workflow-document-content"),
        ("createWorkflowRecord", "body.document:wrong-kind", "workflow-document-kind"),
    ],
)
def test_a_fault_finds_its_most_specific_clause(
    catalogue: Catalogue, operation: str, fault: str, clause: str
) -> None:
    found = catalogue.for_fault(operation, fault)
    assert found is catalogue.clause(clause)


def test_a_fault_nobody_speaks_about_finds_no_clause(catalogue: Catalogue) -> None:
    assert catalogue.for_fault("createContact", "path.uid:too-short") is None
    assert catalogue.for_fault("noSuchOperation", "body:malformed") is None


def test_a_star_covers_exactly_one_member() -> None:
    assert matches("body.emails.*:wrong-kind", "body.emails.*:wrong-kind")
    assert not matches("body.emails.*:wrong-kind", "body.emails:wrong-kind")
    assert not matches("body.emails.*:wrong-kind", "body.emails.0.deeper:wrong-kind")
    assert not matches("body.emails.*:wrong-kind", "body.emails.0:missing")


def test_an_unknown_clause_brings_the_closest_one(catalogue: Catalogue) -> None:
    with pytest.raises(UsageError, match="unknown clause 'uid-hyphn'; did you mean 'uid-hyphen'"):
        catalogue.clause("uid-hyphn")


def test_realms_follow_from_the_operations(catalogue: Catalogue) -> None:
    assert catalogue.clause("token-issued").realms == ("any",)
    assert catalogue.clause("uid-hyphen").realms == DOCUMENT_REALMS
    assert catalogue.clause("workflow-anonymous").realms == (*DOCUMENT_REALMS, "ort-dev")


# Mistakes in a file of the catalogue.

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
        (GOOD + GOOD, r"small.yaml:6: one-clause stands already at small.yaml:1"),
        (GOOD + "  colour: red\n", r"small.yaml:1: unknown key 'colour'; known are id"),
        (GOOD + "  level: should\n", r"small.yaml:6: the key 'level' stands twice"),
        (GOOD + "  needs: [realm]\n", r"small.yaml:1: one-clause: unknown need 'realm'"),
        (GOOD + "  needs: []\n", r"small.yaml:1: needs is not a list of texts"),
        (GOOD + "  realms: [xyz-dev]\n", r"small.yaml:1: one-clause: unknown realm 'xyz-dev'"),
        (
            GOOD + "  faults: ['path.uid:short']\n",
            r"small.yaml:1: one-clause: unknown fault word 'path.uid:short'",
        ),
        (GOOD + "  faults: ['path.id:missing']\n", r"one-clause: the fault 'path.id:missing' names no path"),
        (GOOD + "  faults: ['a:b', 'a:b']\n", r"small.yaml:1: faults names something twice"),
        (GOOD + "  status: 200\n", r"small.yaml:1: one-clause: the status 200 is not a number from 400"),
        (GOOD.replace("must", "maybe"), r"small.yaml:1: one-clause: unknown level 'maybe'; use must"),
        (GOOD.replace("saveDraft", "safeDraft"), r"unknown operation 'safeDraft'; did you mean 'saveDraft'"),
        (GOOD.replace("one-clause", "4.2"), r"small.yaml:1: id is not a text"),
        (GOOD.replace("one-clause", "One_Clause"), r"small.yaml:1: One_Clause: the id is not kebab-case"),
        (GOOD.replace("  source: Limits\n", ""), r"small.yaml:1: the key 'source' is missing"),
        (GOOD.replace("Limits", "uid-lenght"), r"small.yaml:1: one-clause: unknown source 'uid-lenght'"),
        (GOOD.replace("Limits", "[uid-length, 7]"), r"small.yaml:1: source is not a list of texts"),
        ("one-clause\n", r"small.yaml:1: is not a list of clauses"),
        ("", r"small.yaml:1: is not a list of clauses"),
        ("- one-clause\n", r"small.yaml:1: a clause is a mapping"),
        (GOOD + "  ? [a]\n  : b\n", r"small.yaml:6: a key is not a word"),
        (GOOD + "- id: [\n", r"small.yaml:\d+: is not YAML"),
    ],
)
def test_a_mistake_is_told_in_one_line_with_its_place(
    tmp_path: Path, description: Description, text: str, message: str
) -> None:
    (tmp_path / "small.yaml").write_text(text, encoding="utf-8")
    with pytest.raises(SuiteError, match=message) as caught:
        load_catalogue(tmp_path, description)
    assert "\n" not in str(caught.value)


def test_an_empty_folder_is_no_catalogue(tmp_path: Path, description: Description) -> None:
    with pytest.raises(SuiteError, match="holds no clause"):
        load_catalogue(tmp_path, description)


def test_a_file_that_is_not_text_is_told(tmp_path: Path) -> None:
    (tmp_path / "small.yaml").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(SuiteError, match=r"small.yaml:1: cannot be read"):
        list(read_clauses(tmp_path / "small.yaml"))


CASES = """\
from contracts.cases.marks import contract
@contract('uid-hyphen', 'uid-underscore', profile='full')
def test_{name}(realm): ...
def test_unmarked(): ...
"""


def test_cases_are_found_by_the_clauses_they_declare_and_kept_until_one_changes(tmp_path: Path) -> None:
    cases, cache = tmp_path / "cases", tmp_path / "cache"
    cases.mkdir()
    for name in ("one", "another"):
        (cases / "test_planted.py").write_text(CASES.format(name=name), encoding="utf-8")
        found = (f"test_planted.py::test_{name}",)
        assert known_cases(cases, cache) == {"uid-hyphen": found, "uid-underscore": found}
        (kept,) = cache.glob("cases-*.json")
        assert json.loads(kept.read_text()) == {"uid-hyphen": list(found), "uid-underscore": list(found)}
    kept.write_text('{"uid-hyphen": ["what is kept"]}')
    assert known_cases(cases, cache) == {"uid-hyphen": ("what is kept",)}


def test_cases_that_cannot_be_collected_are_an_error(tmp_path: Path) -> None:
    (tmp_path / "test_broken.py").write_text("import no_such_module\n", encoding="utf-8")
    with pytest.raises(SuiteError, match="no_such_module"):
        known_cases(tmp_path, tmp_path / "cache")
