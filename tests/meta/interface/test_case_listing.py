"""The list of cases is what the cases declare."""

from pathlib import Path

import pytest

from contracts.errors import SuiteError
from contracts.interface.clause_table import cases_by_clause

CHECKOUT = Path(__file__).parents[3]


def test_cases_are_found_by_the_clauses_they_declare(tmp_path: Path) -> None:
    (tmp_path / "test_planted.py").write_text(
        "from contracts.cases.marks import contract\n"
        "@contract('uid-hyphen', 'uid-underscore', profile='full')\n"
        "def test_planted(realm): ...\n"
        "def test_unmarked(): ...\n",
        encoding="utf-8",
    )
    name = ("test_planted.py::test_planted",)
    assert cases_by_clause(tmp_path, CHECKOUT / "pyproject.toml") == {
        "uid-hyphen": name,
        "uid-underscore": name,
    }


def test_cases_that_cannot_be_collected_are_an_error(tmp_path: Path) -> None:
    (tmp_path / "test_broken.py").write_text("import no_such_module\n", encoding="utf-8")
    with pytest.raises(SuiteError, match="no_such_module"):
        cases_by_clause(tmp_path, CHECKOUT / "pyproject.toml")
