"""`proof.json`: the kill matrix as data."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from contracts.interface.catalogue import load_catalogue
from contracts.proving.matrix import CaseRow, DefectRow, Matrix, SeedRow, alarming
from contracts.proving.trials import TrialResult
from contracts.sandbox.defects import UNBREAKABLE


def as_data(matrix: Matrix, facts: Mapping[str, Any]) -> dict[str, Any]:
    """The matrix as plain data.

    Args:
        facts: Of the proof as a whole: seeds, versions, moments.
    """
    return {
        **facts,
        "holds": matrix.holds,
        "summary": matrix.summary(),
        "defects": [_defect(row) for row in matrix.defects],
        "cases": [_case(row) for row in matrix.cases],
        "calm": [_calm(result) for result in matrix.calm],
        "troubles": [{"trial": _trial(result), "why": result.trouble} for result in matrix.troubles],
        "unbreakable": dict(UNBREAKABLE),
    }


def _defect(row: DefectRow) -> dict[str, Any]:
    return {
        "name": row.defect.name,
        "clause": row.defect.clause,
        "level": row.level,
        "family": row.family,
        "operations": list(row.defect.operations),
        "sentence": row.defect.sentence,
        "killed": row.killed,
        "seeds": [_seed(seed) for seed in row.seeds],
    }


def _seed(row: SeedRow) -> dict[str, Any]:
    first = row.first.first or {}
    return {
        "seed": row.seed,
        "killed": row.killed,
        "cases": list(row.cases),
        "profile": row.first.profile,
        "realms": list(row.first.realms),
        "requests_to_the_finding": first.get("requests"),
        "seconds_to_the_finding": first.get("seconds"),
        "findings_elsewhere": list(row.elsewhere),
    }


def _case(row: CaseRow) -> dict[str, Any]:
    levels = {clause: str(load_catalogue().clause(clause).level) for clause in row.facts.clauses}
    return {
        "name": row.name,
        "clauses": levels,
        "profile": row.facts.profile,
        "kills": list(row.kills),
        "only_observes": row.silent,
        "tried_alone_on": row.tried,
    }


def _calm(result: TrialResult) -> dict[str, Any]:
    return {
        "name": result.trial.name,
        "seed": result.trial.seed,
        "profile": result.profile,
        "realms": list(result.realms),
        "exit_code": result.exit_code,
        "findings": list(result.findings),
        "alarm": alarming(result),
        "requests": result.requests,
        "seconds": result.seconds,
    }


def _trial(result: TrialResult) -> dict[str, Any]:
    trial = result.trial
    return {"name": trial.name, "clause": trial.clause, "seed": trial.seed, "case": trial.only}
