"""Sample results of trials, and narrow runs of the suite."""

from __future__ import annotations

import subprocess
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from contracts.interface.location import python_command
from contracts.proving.trials import CaseFacts, ProofTrial, TrialKind, TrialResult
from tests.meta.program import Launcher

CHECKOUT = Path(__file__).parents[3]
Make = Callable[..., TrialResult]

DEFECT, CLAUSE = "uid-accepts-ten", "uid-too-short"
CASE = "uid_lengths: save refuses a uid outside the range [short]"


@pytest.fixture
def result() -> Make:
    """Make the result of a trial; by default one that killed."""

    def make(name: str = DEFECT, clause: str = CLAUSE, *, killed: bool = True, **other: Any) -> TrialResult:
        parts: dict[str, Any] = {"kind": TrialKind.DEFECT, "name": name, "clause": clause, "seed": 1}
        parts |= {key: other.pop(key) for key in ("seed", "stage", "only", "kind") if key in other}
        trial = ProofTrial(**parts)
        whole: dict[str, Any] = {
            "trial": trial,
            "realms": ("abs-dev",),
            "profile": "gate",
            "killed": killed,
            "cases": (CASE,) if killed else (),
            "first": {"requests": 7, "seconds": 0.5} if killed else None,
            "findings": (),
            "exit_code": 1 if killed else 0,
            "requests": 9,
            "seconds": 1.0,
        }
        return TrialResult(**{**whole, **other})

    return make


@pytest.fixture
def forked_runs(monkeypatch: pytest.MonkeyPatch, library_launcher: Launcher, tmp_path: Path) -> None:
    """Let the runs that a test starts through `subprocess.run` be forks of a process that has loaded the suite."""

    def run(
        command: Sequence[str], *, env: Mapping[str, str], **_: object
    ) -> subprocess.CompletedProcess[str]:
        words = command[len(python_command()) :]
        ended = library_launcher.run(words, tmp_path, env, tmp_path / "forked.out")
        return subprocess.CompletedProcess(command, *ended)

    monkeypatch.setattr(subprocess, "run", run)


@pytest.fixture
def cases() -> dict[str, CaseFacts]:
    """Return two cases of the clause, and one that only observes."""
    facts = CaseFacts((CLAUSE,), ("saveDraft",), ("abs-dev",), "gate", "test_uid_lengths.py")
    silent = CaseFacts(
        ("draft-delete-absent",), ("saveDraft",), ("abs-dev",), "gate", "test_draft_silence.py"
    )
    return {CASE: facts, "uid_lengths: another": facts, "draft_silence: statuses": silent}
