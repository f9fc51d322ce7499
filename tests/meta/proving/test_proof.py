"""`python -m contracts.proving` as a person uses it."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from contracts.proving.__main__ import main
from contracts.proving.manners import Snapshot, changes
from contracts.proving.trials import Outcome
from tests.meta.program import CHECKOUT, PATIENCE, RunCommand, eventually, in_process


@pytest.fixture
def prove(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> RunCommand:
    return in_process(monkeypatch, capsys, main)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--fault", "none"], "unknown fault 'none'"),
        (["--clause", "uid-to-short"], "unknown clause"),
        (["--clause", "realm-production"], "no fault breaks realm-production alone"),
        (["drawn", "--clause", "uid-too-short"], "not chosen by clause"),
        (["--service", "gzip+none"], "unknown variant 'none'"),
        (["--realm", "abs"], "unknown realm 'abs'"),
        (["--floor", "nowhere.json"], "no floor in 'nowhere.json'"),
        (["--floor", "README.md"], "README.md"),
        (["--seed", "one"], "one"),
        (["half"], "half"),
    ],
)
def test_a_mistaken_word_is_one_clear_line(
    tmp_path: Path, prove: RunCommand, words: list[str], message: str
) -> None:
    done = prove("--reports", tmp_path / "proof", *words)
    assert done.code == 4
    assert message in done.err
    assert len(done.err.splitlines()) == 1
    assert not (tmp_path / "proof").exists()


def test_an_interrupted_proof_says_so_and_leaves_no_process(tmp_path: Path) -> None:
    words = [sys.executable, "-m", "contracts.proving", f"--reports={tmp_path}", "drawn", "--service=slow"]
    with subprocess.Popen(words, cwd=CHECKOUT, stderr=subprocess.PIPE, text=True) as going:
        try:
            assert eventually(
                lambda: going.poll() is not None or any((tmp_path / "runs").glob("*/*/run.json"))
            )
            going.send_signal(signal.SIGINT)
            _, said = going.communicate(timeout=PATIENCE)
        finally:
            going.kill()
    assert (going.returncode, said.strip()) == (2, "registry-contracts: interrupted")
    assert eventually(lambda: str(tmp_path) not in processes())


def processes() -> str:
    command = ["ps", "-eo", "args="]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


CASE = '''
from contracts.cases import Expect, World, contract, require


@contract("workflow-created-exists", "draft-get-content")
def test_a_case(world: World, expect: Expect) -> None:
    """Drafts are listed, nothing is submitted, nothing is read."""
    listed = world.author.list_drafts()
    require({able}, "listDrafts", "not to be used")
    for clause in ("draft-get-content", "workflow-created-exists"):
        expect(clause).holds({holds}, listed, expected="anything", seen="nothing")
'''
VACUOUS = "draft-get-content: passes, yet the service showed no success"
AGAIN = "service gzip: judged in a second run, alone; first: draft-get-content: listDrafts: not to be used"


@pytest.mark.parametrize(
    ("case", "words", "outcomes", "why"),
    [
        ({"able": True, "holds": True}, "--service=gzip", [Outcome.FALSE_PASS], VACUOUS),
        (
            {"able": True, "holds": False},
            "--fault=get-draft-told-as-404",
            [Outcome.UNCONFIRMED, Outcome.FALSE_ALARM],
            "expected anything; seen nothing",
        ),
        ({"able": False, "holds": True}, "--service=gzip", [Outcome.NOT_JUDGED], AGAIN),
    ],
    ids=["vacuous", "wrong", "unjudged"],
)
def test_a_case_that_judges_nothing_and_one_that_blames_every_service_are_caught(
    tmp_path: Path, case: dict[str, bool], words: str, outcomes: list[Outcome], why: str
) -> None:
    root = tmp_path / "checkout"
    for name in ("contracts", "openapi"):
        shutil.copytree(CHECKOUT / name, root / name, ignore=shutil.ignore_patterns("*.pyc.*"))
    for name in ("conftest.py", "pyproject.toml", "registry_contracts.py"):
        shutil.copy2(CHECKOUT / name, root / name)
    (root / "tests" / "contract").mkdir(parents=True)
    (root / "tests" / "contract" / "test_planted.py").write_text(CASE.format(**case), "utf-8")
    done = subprocess.run(
        [sys.executable, "-m", "contracts.proving", words, "--realm=abs-dev", "--reports=proof"],
        env={**os.environ, "PYTHONPATH": str(root)},
        cwd=root,
        capture_output=True,
        text=True,
        check=False,
        timeout=PATIENCE,
    )
    assert done.returncode == 1, done.stdout + done.stderr
    shown = (root / "proof" / "proof.md").read_text("utf-8")
    assert all(f"| abs-dev | {outcome} |" in shown for outcome in outcomes), shown
    assert why in shown


def test_a_changed_record_of_somebody_else_is_noticed() -> None:
    theirs, named = ("versions", "abs-dev", "theirs", "draft"), ("versions", "abs-dev", "named", "draft")
    before: Snapshot = {theirs: "1", named: "1"}
    assert changes(before, before) == []
    assert changes(before, {theirs: "2"}, frozenset({"named"})) == ["versions abs-dev theirs draft: changed"]
    assert changes(before, {named: "1"}) == ["versions abs-dev theirs draft: gone"]
