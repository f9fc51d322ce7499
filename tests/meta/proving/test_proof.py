"""`python -m registry_contracts.proving` as a person uses it; its forks end in time or with it, and leave nothing."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from registry_contracts.proving.__main__ import main
from registry_contracts.proving.manners import Snapshot, changes
from registry_contracts.proving.trials import Outcome
from tests.meta.program import eventually, finished, in_process, plant


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--fault", "none"], "unknown fault 'none'"),
        (["--clause", "realm-production"], "no fault breaks realm-production;"),
        (["drawn", "--clause", "uid-too-short"], "not chosen by clause"),
        (["--service", "gzip+none"], "unknown variant 'none'"),
        (["--floor", "nowhere.json"], "File 'nowhere.json' does not exist"),
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


FALSELY_BLAMED = [Outcome.UNPROMISED, Outcome.FALSE_ALARM]
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
        (False, "--fault=getDraft:told-404", FALSELY_BLAMED, "expected anything; seen nothing"),
    ],
    ids=["vacuous", "wrong"],
)
def test_a_case_that_judges_nothing_and_one_that_blames_every_service_are_caught(
    tmp_path: Path, holds: bool, words: str, outcomes: list[Outcome], why: str
) -> None:
    root = plant(tmp_path / "checkout")
    (root / "tests" / "contract" / "test_planted.py").write_text(CASE.format(holds=holds), "utf-8")
    prove = [sys.executable, "-m", "registry_contracts.proving", "--realm=abs-dev", "--reports=proof"]
    environment = {**os.environ, "PYTHONPATH": str(root / "contracts")}
    assert finished([*prove, words], root, environment).code == 1
    shown = (root / "proof" / "proof.md").read_text("utf-8")
    assert all(f"| abs-dev | {outcome} |" in shown for outcome in outcomes), shown
    assert why in shown


def test_a_changed_record_of_somebody_else_is_noticed() -> None:
    before: Snapshot = {("versions", "abs-dev", "theirs", "draft"): "1"}
    assert changes(before, before) == []
    assert changes(before, dict.fromkeys(before, "2")) == ["versions abs-dev theirs draft: changed"]
    assert changes(before, {}) == ["versions abs-dev theirs draft: gone"]


SCRIPT = """
import os, sys, time
from pathlib import Path
from registry_contracts.proving.processes import SideBySide
here = Path(sys.argv[1])
def work(task):
    (here / f"{task}.pid").write_text(str(os.getpid()))
    os.fork()
    time.sleep(600)
queue = SideBySide(work, 2, float(sys.argv[2]))
for task in ("one", "other"):
    queue.add(task)
for ended in queue.results():
    print(ended.code, ended.late, flush=True)
"""


@pytest.mark.parametrize(("longest", "said"), [(600, ""), (3, "-9 True\n" * 2)], ids=["killed", "late"])
def test_forks_and_what_they_started_end_in_time_and_with_the_proof(
    tmp_path: Path, longest: int, said: str
) -> None:
    command = [sys.executable, "-c", SCRIPT, str(tmp_path), str(longest)]
    files = [tmp_path / f"{name}.pid" for name in ("one", "other")]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert eventually(lambda: all(path.exists() and path.read_text() for path in files))
        if not said:
            process.kill()
        assert process.communicate(timeout=60)[0] == said
    groups = [int(path.read_text()) for path in files]
    assert eventually(lambda: not any(map(runs, groups)))


def runs(group: int) -> bool:
    """Whether a process of a group is at work; one that only waits to be collected by init is not."""
    command = ["ps", "-eo", "pgid=,stat="]
    listed = subprocess.run(command, capture_output=True, text=True, check=True)
    states = [line.split() for line in listed.stdout.splitlines()]
    return any(int(of) == group and not state.startswith("Z") for of, state in states)
