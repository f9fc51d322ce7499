"""The list of cases is what the cases declare, and is kept until one of them changes."""

import json
from pathlib import Path

import pytest

from contracts.errors import SuiteError
from contracts.interface.clause_table import known_cases

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
