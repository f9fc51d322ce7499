"""Drift of whole runs: the same service never drifts, a changed one does as it should and is told of."""

import json
import re
from pathlib import Path
from typing import Any

import pytest

from contracts.errors import UsageError
from contracts.evidence.record import AssertionCount, ExitCode, RunRecord, Verdict
from contracts.evidence.run_comparison import realms_of_operations
from contracts.evidence.verdicts import judge
from contracts.history.baseline import (
    BASELINE_FILE,
    SETTINGS_FILE,
    Baseline,
    load_drift_settings,
    save_drift_settings,
    write,
)
from contracts.history.drift import NO_DRIFT, DriftReport, Mode, change_lines, compare
from contracts.interface.catalogue import Clause, Level
from tests.meta.evidence.sample_records import case, run_facts, run_record
from tests.meta.program import Ended, Program
from tests.meta.schemas import misfits

REALMS_OF = realms_of_operations()
CLAUSE = Clause("draft-get-content", Level.MUST, ("getDraft",), "Drafts", "Content.", realms=("abs-dev",))


def record() -> RunRecord:
    """A run that passes."""
    run = run_facts(clauses=(CLAUSE.id,))
    held = AssertionCount(CLAUSE.id, "getDraft", 1, 0)
    passing = case(
        "y", Verdict.PASS, id="scenario/test_x.py::test_y", clauses=(CLAUSE.id,), assertions=(held,)
    )
    return run_record(run, [passing])


@pytest.fixture
def report(made: Any) -> Any:
    """Makes the drift of a run by mode, from 201 to another status, 200 unless told."""

    def make(mode: Mode, status: int = 200, **more: Any) -> DriftReport:
        before, after = (
            made.facts(made.observation("draft-success-status", "saveDraft", each)) for each in (201, status)
        )
        return DriftReport(mode, "sandbox", "b.yaml", True, compare(before, after), **more)

    return make


def test_breaking_drift_fails_a_run_that_asked_for_it(report: Any) -> None:
    verdict = judge(record(), [CLAUSE], report(Mode.FAIL))
    assert verdict.exit_code is ExitCode.FAIL
    assert verdict.reason == (
        "breaking drift from b.yaml: changed: saveDraft: 201, now 200 (draft-success-status) "
        "in abs-dev, bch-dev, chm-dev"
    )


def test_one_cause_is_one_line_whatever_saw_it(made: Any) -> None:
    before, after = (
        made.facts(
            made.observation("draft-success-status", "saveDraft", seen),
            made.observation("draft-success-status", "deleteDraft", seen),
            made.observation("list-envelope", "listDrafts", "array"),
        )
        for seen in (204, 202)
    )
    assert list(change_lines(compare(before, after))) == [
        "breaking (2)",
        "  changed: deleteDraft, saveDraft: 204, now 202 (draft-success-status) · abs-dev, bch-dev, chm-dev",
    ]


def test_drift_warns_by_default_and_is_in_the_answer(report: Any) -> None:
    verdict = judge(record(), [CLAUSE], report(Mode.WARN))
    assert verdict.exit_code is ExitCode.PASS
    assert (
        verdict.drift.sentence == "1 breaking, 0 additive against b.yaml; `registry-contracts drift` shows it"
    )


def test_neither_additive_drift_nor_what_a_consumer_does_not_use_blocks(report: Any, made: Any) -> None:
    before, after = (
        made.facts(made.observation("draft-by-restricted", "saveDraft", status)) for status in (403, 200)
    )
    additive = DriftReport(Mode.FAIL, "sandbox", "b.yaml", True, compare(before, after))
    outside = report(Mode.FAIL, outside=frozenset(report(Mode.FAIL).changes))
    for drift in (additive, outside):
        assert judge(record(), [CLAUSE], drift).exit_code is ExitCode.PASS
        assert drift.changes


def test_without_a_baseline_one_line_says_how_to_make_one() -> None:
    drift = DriftReport(Mode.FAIL, "dev", "baselines/dev.yaml")
    assert drift.blocking is None
    assert (
        drift.sentence
        == "no baseline of dev yet; `registry-contracts drift accept` writes baselines/dev.yaml"
    )
    assert NO_DRIFT.sentence is None


def test_a_run_keeps_the_baseline_it_was_started_with(made: Any, tmp_path: Path) -> None:
    folder, path = tmp_path / "run", tmp_path / "b.yaml"
    folder.mkdir()
    baseline = Baseline("sandbox", made.facts(made.observation("draft-success-status", "saveDraft", 201)))
    write(path, baseline, REALMS_OF)
    save_drift_settings(folder, Mode.FAIL, path, REALMS_OF)
    path.unlink()
    note = load_drift_settings(folder, REALMS_OF)
    assert note is not None
    assert (note.mode, note.path, note.baseline) == (Mode.FAIL, path.as_posix(), baseline)


def test_a_folder_without_a_note_has_no_drift_and_an_altered_one_is_told(tmp_path: Path) -> None:
    assert load_drift_settings(tmp_path, REALMS_OF) is None
    save_drift_settings(tmp_path, Mode.WARN, tmp_path / "none.yaml", REALMS_OF)
    note = load_drift_settings(tmp_path, REALMS_OF)
    assert note is not None
    assert note.baseline is None
    (tmp_path / SETTINGS_FILE).write_text('{"mode": "warn", "baseline": "b", "known": true}', "utf-8")
    with pytest.raises(UsageError, match=BASELINE_FILE):
        load_drift_settings(tmp_path, REALMS_OF)
    (tmp_path / SETTINGS_FILE).write_text('{"mode": "loud"}', "utf-8")
    with pytest.raises(UsageError, match="mode: Invalid"):
        load_drift_settings(tmp_path, REALMS_OF)


#: Cheap cases at silent points: lists, their envelope and order, statuses, reading without a token.
CLAUSES = ("list-fields", "list-envelope", "list-default-order", "draft-success-status", "draft-save-answer")


def run(program: Program, *words: str) -> Ended:
    """Run a few clauses in one realm."""
    return program("run", "--realm=abs-dev", *(f"--clause={clause}" for clause in CLAUSES), *words)


def drift_of_latest(folder: Path) -> list[dict[str, Any]]:
    text = (folder / "reports" / "latest" / "verdict.json").read_text("utf-8")
    found: list[dict[str, Any]] = json.loads(text)["drift"]
    return found


def test_a_service_that_becomes_another_variant_drifts_and_one_that_stays_does_not(
    program: Program,
) -> None:
    folder = program.folder
    before, after = ("--sandbox-arguments=--variant success-200", "--sandbox-arguments=--variant list-items")
    first = run(program, before)
    assert first.code == 0, first.out
    assert "drift: no baseline of sandbox yet" in first.out
    assert misfits((folder / "reports" / "latest").resolve()) == []
    assert program("drift", "accept").code == 0

    accepted = (folder / "baselines" / "sandbox.yaml").read_text("utf-8")
    assert not re.search(r"rc-|\d{4}-\d\d-\d\d|sandbox-|@", accepted)

    again = run(program, before, "--drift=fail", "--seed=4711")
    assert again.code == 0, again.out
    assert "drift: none against baselines/sandbox.yaml" in again.out
    assert drift_of_latest(folder) == []

    changed = run(program, after, "--drift=fail")
    assert changed.code == 1, changed.out
    assert "verdict: fail: breaking drift from baselines/sandbox.yaml" in changed.out
    kinds = {(each["clause"], each["change"], each["severity"]) for each in drift_of_latest(folder)}
    assert kinds == {
        ("list-envelope", "changed", "breaking"),
        ("list-fields", "changed", "breaking"),
        ("draft-success-status", "changed", "breaking"),
    }
    assert program("drift").code == 1

    history = (folder / "reports" / "history.jsonl").read_text("utf-8").splitlines()
    assert [json.loads(line)["verdict"] for line in history] == ["pass", "pass", "fail"]


@pytest.mark.parametrize(
    ("words", "why"),
    [
        (("--drift=loud",), "--drift takes warn, fail, off, not 'loud'"),
        (("--baseline=nowhere.yaml",), "there is no baseline nowhere.yaml"),
    ],
)
def test_options_that_cannot_be_used_are_one_line(program: Program, words: tuple[str, ...], why: str) -> None:
    ended = run(program, *words)
    assert ended.code == 4
    assert why in ended.err
