"""`python -m registry_contracts.proving` as a person uses it."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from registry_contracts.proving.__main__ import main
from registry_contracts.proving.manners import Snapshot, changes
from registry_contracts.proving.trials import Outcome
from tests.meta.program import PATIENCE, in_process, plant


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--fault", "none"], "unknown fault 'none'"),
        (["--clause", "realm-production"], "no fault breaks realm-production alone"),
        (["drawn", "--clause", "uid-too-short"], "not chosen by clause"),
        (["--service", "gzip+none"], "unknown variant 'none'"),
        (["--floor", "nowhere.json"], "no floor in 'nowhere.json'"),
        (["--floor", "README.md"], "README.md"),
    ],
)
def test_a_mistaken_word_is_one_clear_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, words: list[str], message: str
) -> None:
    done = in_process(monkeypatch, main)("--reports", tmp_path / "proof", *words)
    assert done.code == 4
    assert message in done.err
    assert len(done.err.splitlines()) == 1
    assert not (tmp_path / "proof").exists()


CASE = '''
from registry_contracts.cases import Expect, World, contract


@contract("workflow-created-exists", "draft-get-content")
def test_a_case(world: World, expect: Expect) -> None:
    """Drafts are listed, nothing is submitted, nothing is read."""
    listed = world.author.list_drafts()
    for clause in ("draft-get-content", "workflow-created-exists"):
        expect(clause).holds({holds}, listed, expected="anything", seen="nothing")
'''


@pytest.mark.parametrize(
    ("holds", "words", "outcomes", "why"),
    [
        (True, "--service=gzip", [Outcome.FALSE_PASS], "passes, yet the service showed no success"),
        (
            False,
            "--fault=getDraft:told-404",
            [Outcome.UNPROMISED, Outcome.FALSE_ALARM],
            "expected anything; seen nothing",
        ),
    ],
    ids=["vacuous", "wrong"],
)
def test_a_case_that_judges_nothing_and_one_that_blames_every_service_are_caught(
    tmp_path: Path, holds: bool, words: str, outcomes: list[Outcome], why: str
) -> None:
    root = plant(tmp_path / "checkout")
    (root / "tests" / "contract" / "test_planted.py").write_text(CASE.format(holds=holds), "utf-8")
    command = [
        sys.executable,
        "-m",
        "registry_contracts.proving",
        words,
        "--realm=abs-dev",
        "--reports=proof",
    ]
    environment = {**os.environ, "PYTHONPATH": str(root / "contracts")}
    assert subprocess.run(command, env=environment, cwd=root, check=False, timeout=PATIENCE).returncode == 1
    shown = (root / "proof" / "proof.md").read_text("utf-8")
    assert all(f"| abs-dev | {outcome} |" in shown for outcome in outcomes), shown
    assert why in shown


def test_a_changed_record_of_somebody_else_is_noticed() -> None:
    theirs, named = ("versions", "abs-dev", "theirs", "draft"), ("versions", "abs-dev", "named", "draft")
    before: Snapshot = {theirs: "1", named: "1"}
    assert changes(before, before) == []
    assert changes(before, {theirs: "2"}, frozenset({"named"})) == ["versions abs-dev theirs draft: changed"]
    assert changes(before, {named: "1"}) == ["versions abs-dev theirs draft: gone"]
