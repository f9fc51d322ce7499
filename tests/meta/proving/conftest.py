"""Results of trials that nobody ran, and narrow runs of the suite."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from contracts.proving.trials import CaseFacts, ProofTrial, TrialKind, TrialResult

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
