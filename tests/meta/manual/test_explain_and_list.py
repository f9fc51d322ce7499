"""`explain` and `list`: what there is to know without sending anything."""

import json
from pathlib import Path
from typing import Any

import pytest

from registry_contracts.evidence.findings import finding_id
from registry_contracts.reports import verdict_json
from tests.meta.evidence.sample_records import Story
from tests.meta.program import RunCommand

CASES = {
    "uid-too-short": ("scenario/test_uid_lengths.py::test_short",),
    "list-top": ("scenario/a.py::test_b",),
}


@pytest.fixture(autouse=True)
def kept_cases(monkeypatch: pytest.MonkeyPatch) -> None:
    """Spare each test the seconds that importing the cases takes."""
    monkeypatch.setattr("registry_contracts.cli.explain.known_cases", lambda: CASES)
    monkeypatch.setattr(
        "registry_contracts.cli.explain.relied_on", lambda: {"uid-too-short": ("draft-exists-absent",)}
    )


@pytest.fixture
def last(tmp_path: Path) -> Path:
    """Return a reports folder with one run in it."""
    folder = tmp_path / "reports" / "latest"
    folder.mkdir(parents=True)
    story = Story()
    story.contradicts("uid-too-short", operation="saveDraft")
    verdict_json.write(story.record(), story.verdict(), folder)
    return folder.parent


def test_a_clause_is_explained(command: RunCommand, last: Path) -> None:
    ended = command("explain", "uid-too-short", "--reports", last)
    assert ended.code == 0
    for part in (
        "A uid of 10 or fewer characters is refused",
        "scenario/test_uid_lengths.py::test_short",
        "relies on   draft-exists-absent",
        "fail",
        f"findings {finding_id('uid-too-short', 'abs-dev', 'saveDraft')}",
        "registry-contracts call updateContact --invalid path.uid:too-short",
    ):
        assert part in ended.out


def rows(command: RunCommand, *words: object) -> list[dict[str, Any]]:
    ended = command("list", *words, "--json")
    assert ended.code == 0, ended.err
    found: list[dict[str, Any]] = json.loads(ended.out)
    return found


@pytest.mark.parametrize("what", ["operations", "faults", "variants", "habits", "weathers"])
def test_everything_is_listed_below_the_names_of_the_columns(command: RunCommand, what: str) -> None:
    ended = command("list", what)
    assert ended.code == 0
    head, *lines = ended.out.splitlines()
    assert head.startswith("id  ")
    assert len(lines) == len(rows(command, what)) > 1
    assert "('" not in ended.out
