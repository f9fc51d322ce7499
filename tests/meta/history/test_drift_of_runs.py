"""Drift of whole runs: what fails a run, the baseline that it keeps, and the command that accepts changes."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from registry_contracts.errors import UsageError
from registry_contracts.evidence.observations import ObservationsFile, PlaceFacts
from registry_contracts.evidence.record import ExitCode
from registry_contracts.evidence.verdicts import judge
from registry_contracts.file_formats import write_file
from registry_contracts.history import baseline
from registry_contracts.history.baseline import Baseline, DriftSettings
from registry_contracts.history.drift import NO_DRIFT, DriftReport, Mode, compare
from registry_contracts.history.observed_facts import Facts, Place
from registry_contracts.interface.catalogue import Clause, Level
from tests.meta.evidence.sample_records import case, run_record
from tests.meta.program import RunCommand

CLAUSE = Clause("draft-get-content", Level.MUST, ("getDraft",), "Drafts", "Content.", realms=("abs-dev",))
FILE = Path("baselines") / "sandbox.yaml"


def saved(status: str, clause: str = "draft-success-status") -> Facts:
    """What was seen of saving a draft in two realms."""
    return {Place(clause, "saveDraft", realm): {"seen": status} for realm in ("abs-dev", "bch-dev")}


@pytest.fixture
def latest(tmp_path: Path) -> Callable[..., Path]:
    """Makes a run folder of facts, the latest one; other members of its observations may be given."""
    made: list[Path] = []

    def make(facts: Facts, **more: Any) -> Path:
        folder = tmp_path / "reports" / f"run-{len(made)}"
        folder.mkdir(parents=True)
        usual: dict[str, Any] = {"target": "sandbox", "profile": "gate", "complete": True}
        usual |= {"realm_differences": (), "started": "2026-11-21T12:00:00+00:00"}
        observed = tuple(PlaceFacts(*place, values) for place, values in facts.items())
        content = ObservationsFile(observed=observed, **usual | more)
        write_file(folder / "observations.json", content, ObservationsFile)
        (folder.parent / "latest").unlink(missing_ok=True)
        (folder.parent / "latest").write_text(folder.name, "utf-8")
        made.append(folder)
        return folder

    return make


def report(mode: Mode, now: str = "200", was: str = "201", **more: Any) -> DriftReport:
    return DriftReport(mode, "sandbox", "b.yaml", True, compare(saved(was), saved(now)), **more)


BREAKING = report(Mode.FAIL)


@pytest.mark.parametrize(
    ("drift", "code", "says"),
    [
        (BREAKING, 1, "breaking drift from b.yaml: changed: saveDraft: 201, now 200 (draft-success-status) in abs"),
        (report(Mode.WARN), 0, "1 assertion"),
        (report(Mode.FAIL, outside=frozenset(BREAKING.changes)), 0, "1 assertion"),
        (DriftReport(Mode.FAIL, "dev", "baselines/dev.yaml"), 0, "1 assertion"),
    ],
    ids=["breaking", "warned of", "outside the consumer", "no baseline"]
)  # fmt: skip
def test_only_breaking_drift_fails_a_run_that_asked_for_it(drift: DriftReport, code: int, says: str) -> None:
    passing = case("y", "pass", held=1, clauses=(CLAUSE.id,))
    verdict = judge(run_record(passing, clauses=(CLAUSE.id,)), [CLAUSE], drift)
    assert verdict.exit_code is ExitCode(code)
    assert verdict.reason.startswith(says)
    assert drift.sentence is not None
    assert NO_DRIFT.sentence is None


def test_a_run_keeps_the_baseline_it_was_started_with_and_an_altered_note_is_told(tmp_path: Path) -> None:
    folder, path = tmp_path / "run", tmp_path / "b.yaml"
    folder.mkdir()
    assert baseline.load_drift_settings(folder) is None
    known = Baseline("sandbox", saved("201"))
    baseline.write(path, known)
    baseline.save_drift_settings(folder, Mode.FAIL, path)
    path.unlink()
    told = DriftSettings(Mode.FAIL, path.as_posix(), known=True)
    assert baseline.load_drift_settings(folder) == (told, known)
    (folder / baseline.BASELINE_FILE).unlink()
    with pytest.raises(UsageError, match=baseline.BASELINE_FILE):
        baseline.load_drift_settings(folder)


def test_the_command_shows_drift_and_accepts_it(run_command: RunCommand, latest: Callable[..., Path]) -> None:
    latest(saved("201"))
    assert run_command("drift")[1].startswith(
        "no baseline of sandbox yet; `registry-contracts drift accept` writes"
    )
    assert run_command("drift", "accept")[0] == 0
    assert run_command("drift") == (0, f"no drift: run-0 against {FILE}\n", "")
    latest(saved("200") | saved("x", "list-envelope"))
    code, out, _ = run_command("drift")
    assert (code, out.splitlines()) == (
        1,
        [
            "breaking (1)",
            "  changed: saveDraft: 201, now 200 (draft-success-status) · abs-dev, bch-dev",
            f"1 breaking, 0 additive: run-1 against {FILE}; 2 facts not accepted yet",
        ],
    )
    accepting = run_command("drift", "accept", "--realm", "abs-dev", "--clause", "draft-success-status")
    assert accepting[1].splitlines()[-1] == f"accepted 1 change and 0 new facts of run-1: {FILE}"
    assert [run_command("drift", "--realm", "abs-dev")[0], run_command("drift")[0]] == [0, 1]
    latest(saved("200") | {Place("draft-success-status", "saveDraft", "bch-dev"): {"seen": "204"}})
    differing = run_command("drift", "--between-realms").out
    assert "    abs-dev: 200\n    bch-dev: 204\n" in differing
    latest(saved("201"), complete=False)
    cut_short = run_command("drift", "accept")
    assert (cut_short.code, "is incomplete" in cut_short.err) == (4, True)
