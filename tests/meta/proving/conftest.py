"""Results of trials that nobody ran, and narrow runs of the suite."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from contracts.proving.trial_plugins import CaseFacts
from contracts.proving.trials import ProofTrial, TrialKind, TrialResult

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
def cases() -> dict[str, CaseFacts]:
    """Return two cases of the clause, and one that only observes."""
    facts = CaseFacts((CLAUSE,), ("saveDraft",), ("abs-dev",), "gate", "test_uid_lengths.py")
    silent = CaseFacts(
        ("draft-delete-absent",), ("saveDraft",), ("abs-dev",), "gate", "test_draft_silence.py"
    )
    return {CASE: facts, "uid_lengths: another": facts, "draft_silence: statuses": silent}


@pytest.fixture
def run_against(tmp_path: Path, start_sandbox: Callable[..., Any]) -> Callable[..., Path]:
    """Return a runner of the suite against a sandbox that was served by hand; it answers the run's folder."""

    def run(weather: str, *, timeout: int, clauses: Sequence[str]) -> Path:
        url = start_sandbox("--weather", weather).url
        source = CHECKOUT / "contracts" / "settings"
        text = (source / "sandbox.toml").read_text(encoding="utf-8").replace("http://127.0.0.1:8080", url)
        shutil.copytree(source / "samples", tmp_path / "samples")
        target = tmp_path / "service.toml"
        target.write_text(re.sub(r"timeout_seconds = \d+", f"timeout_seconds = {timeout}", text), "utf-8")
        words = ["--target", str(target), "--realm=abs-dev", f"--reports={tmp_path / 'reports'}"]
        words += ["--history=off", *(f"--clause={clause}" for clause in clauses)]
        accounts = {}
        for role in ("author", "other", "restricted", "nau"):
            accounts[f"SANDBOX_{role.upper()}_EMAIL"] = f"{role}@sandbox.test"
            accounts[f"SANDBOX_{role.upper()}_PASSWORD"] = f"sandbox-{role}"
        program = "from contracts.cli import main; main()"
        subprocess.run(
            [sys.executable, "-c", program, "run", *words],
            env={**os.environ, **accounts, "PYTHONPATH": str(CHECKOUT)},
            cwd=tmp_path,
            capture_output=True,
            check=False,
            timeout=300,
        )
        return (tmp_path / "reports" / "latest").resolve()

    return run
