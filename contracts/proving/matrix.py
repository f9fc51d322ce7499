"""The kill matrix: which case turned red for which defect, put together from the results of trials."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from statistics import median
from typing import Any

from contracts.evidence.record import ExitCode
from contracts.interface.catalogue import Level, load_catalogue
from contracts.proving.proof_plan import claims
from contracts.proving.trial_plugins import CaseFacts
from contracts.proving.trials import TrialKind, TrialResult
from contracts.sandbox.defects import ALL as DEFECTS
from contracts.sandbox.defects import Defect


@dataclass(frozen=True)
class SeedRow:
    """A defect on one seed.

    Attributes:
        killed: Its clause has a confirmed finding.
        cases: Those that found it.
        first: The result that found it first, or the last that did not.
        elsewhere: Clauses that had a finding beside the defect's own.
    """

    seed: int
    killed: bool
    cases: tuple[str, ...]
    first: TrialResult
    elsewhere: tuple[str, ...]


@dataclass(frozen=True)
class DefectRow:
    """A defect and what became of it on every seed."""

    defect: Defect
    level: str
    family: str
    seeds: tuple[SeedRow, ...]

    @property
    def killed(self) -> bool:
        """Whether every seed killed it."""
        return all(row.killed for row in self.seeds)


@dataclass(frozen=True)
class CaseRow:
    """A case and the defects it killed; `tried` counts the defects it was given alone, for want of a kill."""

    name: str
    facts: CaseFacts
    kills: tuple[str, ...]
    tried: int

    @property
    def silent(self) -> bool:
        """Whether it only observes, so that nothing can turn it red."""
        return not claims(self.facts)


@dataclass(frozen=True)
class Matrix:
    """All that a proof found out.

    Attributes:
        calm: Results on sandboxes that break nothing.
        troubles: Results that say nothing, because the suite broke or took too long.
    """

    defects: tuple[DefectRow, ...]
    cases: tuple[CaseRow, ...]
    calm: tuple[TrialResult, ...]
    troubles: tuple[TrialResult, ...]

    @property
    def survivors(self) -> list[DefectRow]:
        """Defects that lived on some seed."""
        return [row for row in self.defects if not row.killed]

    @property
    def idle(self) -> list[CaseRow]:
        """Cases that make claims and killed no defect."""
        return [row for row in self.cases if not row.kills and not row.silent]

    @property
    def alarms(self) -> list[TrialResult]:
        """Sandboxes that break nothing and did not get a pass, or of which a must was said to be contradicted.

        A variant may read a should otherwise; the faithful sandbox keeps them all.
        """
        return [result for result in self.calm if alarming(result)]

    @property
    def holds(self) -> bool:
        """Whether the suite is proven: no survivor, no idle case, no alarm, no trouble."""
        return not (self.survivors or self.idle or self.alarms or self.troubles)

    def summary(self) -> dict[str, Any]:
        """The figures, as plain data."""
        killing = [
            row.first for defect in self.defects for row in defect.seeds if row.killed and row.first.first
        ]
        broken = {row.defect.clause for row in self.defects}
        levels = {clause.id: clause.level for clause in load_catalogue()}
        return {
            "defects": len(self.defects),
            "killed_on_every_seed": len(self.defects) - len(self.survivors),
            "must_clauses_broken": sum(levels[clause] is Level.MUST for clause in broken),
            "must_clauses": sum(level is Level.MUST for level in levels.values()),
            "cases": sum(not row.silent for row in self.cases),
            "cases_that_killed": sum(bool(row.kills) and not row.silent for row in self.cases),
            "calm_runs": len(self.calm),
            "alarms": len(self.alarms),
            "troubles": len(self.troubles),
            "median_requests_to_the_finding": _median(r.first["requests"] for r in killing if r.first),
            "median_seconds_to_the_finding": _median(r.first["seconds"] for r in killing if r.first),
        }


def alarming(result: TrialResult) -> bool:
    """Whether a sandbox that breaks nothing got no pass, or was said to contradict what it keeps."""
    said = [
        finding
        for finding in result.findings
        if result.trial.kind is TrialKind.PLAIN or finding["level"] == Level.MUST
    ]
    return bool(said) or result.exit_code != ExitCode.PASS


def matrix(results: Sequence[TrialResult], cases: Mapping[str, CaseFacts]) -> Matrix:
    """Put the results of a proof together.

    Args:
        results: Of all its trials.
        cases: Every case there is; empty when the proof was not about them.
    """
    broad = [result for result in results if result.trial.only is None]
    kills: dict[str, dict[str, None]] = defaultdict(dict)
    tried: dict[str, int] = defaultdict(int)
    for result in results:
        for case in result.cases:
            kills[case][result.trial.name] = None
        if result.trial.only:
            tried[result.trial.only] += 1
    return Matrix(
        defects=tuple(_defect_rows(broad)),
        cases=tuple(
            CaseRow(name, facts, tuple(kills[name]), tried[name]) for name, facts in sorted(cases.items())
        ),
        calm=tuple(result for result in broad if result.trial.kind is not TrialKind.DEFECT),
        troubles=tuple(result for result in results if result.trouble),
    )


def _defect_rows(results: Iterable[TrialResult]) -> Iterable[DefectRow]:
    catalogue = load_catalogue()
    by_defect: dict[str, dict[int, list[TrialResult]]] = defaultdict(lambda: defaultdict(list))
    for result in results:
        if result.trial.kind is TrialKind.DEFECT:
            by_defect[result.trial.name][result.trial.seed].append(result)
    for defect in DEFECTS:
        if defect.name in by_defect:
            clause = catalogue.clause(defect.clause)
            rows = tuple(_seed_row(seed, found) for seed, found in sorted(by_defect[defect.name].items()))
            yield DefectRow(defect, str(clause.level), clause.family, rows)


def _seed_row(seed: int, results: list[TrialResult]) -> SeedRow:
    killing = [result for result in results if result.killed]
    first = killing[0] if killing else max(results, key=lambda result: result.trial.stage)
    cases = dict.fromkeys(case for result in results for case in result.cases)
    others = {f["clause"] for result in results for f in result.findings} - {first.trial.clause}
    return SeedRow(seed, bool(killing), tuple(cases), first, tuple(sorted(others)))


def _median(values: Iterable[float]) -> float | None:
    found = list(values)
    return round(median(found), 3) if found else None
