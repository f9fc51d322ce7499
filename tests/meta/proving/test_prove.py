"""`python -m contracts.proving` as a person uses it."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from contracts.errors import UsageError
from contracts.proving import proof as proof_run
from contracts.proving.__main__ import main
from contracts.proving.matrix import Proof, ProofPart
from contracts.proving.proof import STATE_FILE, ProofState, Prover
from contracts.proving.trials import CaseIndex, ProofTrial, TrialResult
from tests.meta.program import (
    CHECKOUT,
    PATIENCE,
    Launcher,
    RunCommand,
    clean_environment,
    eventually,
    in_process,
)


@pytest.fixture
def prove(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> RunCommand:
    return in_process(monkeypatch, capsys, main)


def test_a_defect_is_killed_by_a_finding_on_its_clause(library_launcher: Launcher, tmp_path: Path) -> None:
    words = ("--defect=uid-accepts-ten", "--defect=workflow-locked-record-status", "--seeds=1")
    proof = ["contracts.proving", f"--reports={tmp_path}", *words]
    done = library_launcher.run(proof, CHECKOUT, clean_environment(), tmp_path / "out", kind="module")
    assert done.code == 0, done.err
    assert "proof: holds: 2 of 2 defects killed on every seed" in done.out
    data = json.loads((tmp_path / "proof.json").read_text(encoding="utf-8"))
    assert data["holds"]
    for defect in data["defects"]:
        assert defect["seeds"][0]["cases"]
        assert defect["seeds"][0]["requests_to_the_finding"] > 0
    assert "uid-accepts-ten" in (tmp_path / "index.html").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--defect", "uid-accepts-tne"], "did you mean"),
        (["--clause", "uid-to-short"], "unknown clause"),
        (["--clause", "realm-production"], "no defect breaks realm-production"),
        (["--seeds", "one"], "whole numbers"),
        (["--part", "half"], "half"),
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


@pytest.mark.parametrize("option", ["--family", "--fault", "--service", "--drawn-realm"])
def test_what_is_drawn_is_named_only_where_something_is(prove: RunCommand, option: str) -> None:
    ended = prove(option, "abs-dev")
    assert (ended.code, ended.err) == (
        4,
        f"registry-contracts: {option} is for what is drawn; give --part drawn, too\n",
    )


@pytest.mark.parametrize("option", ["--family", "--fault", "--service", "--drawn-realm", "--floor"])
def test_a_name_that_is_none_is_refused(prove: RunCommand, option: str) -> None:
    ended = prove("--part", "drawn", option, "zz")
    assert (ended.code, ended.err.count("\n")) == (4, 1), ended
    assert "zz" in ended.err


# A trial as the proof runs it in a fork, but without the suite: the second one blocks until the proof is interrupted.
TRIALS = """
import sys, time
from pathlib import Path
from contracts.proving import proof
from contracts.proving.trials import TrialResult

began, blocks = Path(sys.argv.pop(1)), sys.argv.pop(1) == "blocks"

def trial_result(trial, index, folder):
    with began.open("a") as file:
        file.write(trial.name + "\\n")
    if blocks and trial.name == "token-empty-password":
        time.sleep(600)
    case = next(name for name, facts in index.cases.items() if trial.clause in facts.clauses)
    found = {"requests": 1, "seconds": 0.1}
    return TrialResult(trial, ("abs-dev",), "gate", True, (case,), found, (), 1, 1, 0.1)

proof.run_trial = trial_result
from contracts.proving.__main__ import main
main()
"""


def test_an_interrupted_proof_goes_on_where_it_stopped(tmp_path: Path) -> None:
    """The interruption comes when the second of three trials has begun; the first is not tried again."""
    names = ["uid-accepts-ten", "token-empty-password", "token-empty"]
    began, state = tmp_path / "began", tmp_path / STATE_FILE
    words = ["--reports", str(tmp_path), "--seeds=1", "--jobs=1"]
    words += [f"--defect={name}" for name in names]
    program = [sys.executable, "-c", TRIALS, str(began)]
    with subprocess.Popen([*program, "blocks", *words], stderr=subprocess.PIPE, text=True) as going:
        try:
            assert eventually(lambda: going.poll() is not None or _lines(began) == names[:2])
            going.send_signal(signal.SIGINT)
            _, last_words = going.communicate(timeout=PATIENCE)
        finally:
            going.kill()
    assert going.returncode == 2, last_words
    assert last_words.splitlines()[-1].startswith("registry-contracts: interrupted")
    before = _lines(state)
    assert len(before) == 2
    done = subprocess.run(
        [*program, "goes-on", *words], capture_output=True, text=True, check=False, timeout=PATIENCE
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert _lines(began) == [*names[:2], *names[1:]]
    assert _lines(state)[:2] == before


def _lines(path: Path) -> list[str]:
    return path.read_text(encoding="utf-8").splitlines() if path.exists() else []


def test_a_line_that_was_cut_short_is_tried_again(tmp_path: Path, result: Callable[..., TrialResult]) -> None:
    proof, path = Proof((1,)), tmp_path / STATE_FILE
    state = ProofState(path, proof)
    state.keep(result())
    state.close()
    with path.open("a", encoding="utf-8") as file:
        file.write('{"trial": {"kind": "def')
    for asked, kept in ((proof, [result().trial]), (Proof((1, 2)), [])):
        state = ProofState(path, asked)
        state.close()
        assert list(state.before) == kept


@pytest.mark.parametrize(("suites", "ends"), [(["one"], False), (["one", "another"], True)])
def test_a_suite_that_changes_while_it_is_proven_ends_the_proof(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, suites: list[str], ends: bool
) -> None:
    """A trial that breaks says so and the next one comes; not so where the suite is another one by then."""

    def broken(trial: ProofTrial, *_: object) -> TrialResult:
        return TrialResult.nothing(trial, ("abs-dev",), 0.1, "the run ended with exit code 3")

    monkeypatch.setattr(proof_run, "run_trial", broken)
    monkeypatch.setattr(proof_run, "fingerprint", lambda: suites.pop(0) if len(suites) > 1 else suites[0])
    prover = Prover(CaseIndex(), tmp_path, 1, lambda *_: None)
    proof = Proof((1,), defects=("uid-accepts-ten",), parts=(ProofPart.DEFECTS,))
    if ends:
        with pytest.raises(UsageError, match="changed while it was being proven"):
            prover.prove(proof)
    else:
        assert [result.trouble for result in prover.prove(proof)] == ["the run ended with exit code 3"] * 3
