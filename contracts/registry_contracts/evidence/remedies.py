"""What a run could not judge, grouped by remedy, with the next step for each."""

import re
from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Final

from registry_contracts.evidence.cells import Cell, Remedy
from registry_contracts.evidence.findings import Finding
from registry_contracts.evidence.record import Case, RunRecord, Verdict
from registry_contracts.exchanges.foreign_answers import perhaps_foreign
from registry_contracts.safe_text import many

_OF_AN_ACCOUNT = re.compile(r"'s account may not write|e-mail and password")
_OF_A_SETTING = re.compile(r"\bsetting ")
_REASONS_AT_MOST = 3
_OF_RECORDS = "pace.permanent_records"


NEXT_STEPS: Final = {
    Remedy.FINDING: "fix or accept the findings first, and run again",
    Remedy.SETTING: "give the settings that the reasons name; `registry-contracts doctor` says what each adds",
    Remedy.ACCOUNT: "give the role an account with its rights, and run `registry-contracts doctor --write`",
    Remedy.SERVICE: "check whether and what the service answered, fix that, and run again",
    Remedy.SUITE: "report it to the suite with the run's folder",
}


@dataclass(frozen=True, slots=True)
class NotJudged:
    """Verdicts that were not given and need the same remedy; `reasons` are the most frequent."""

    remedy: Remedy
    verdicts: int
    reasons: tuple[str, ...]

    @property
    def next_step(self) -> str:
        """What to do."""
        return NEXT_STEPS[self.remedy]

    @property
    def line(self) -> str:
        """Number, remedy, next step and first reason in one line."""
        count = f"{many(self.verdicts, 'verdict')} for lack of {self.remedy}"
        return f"{count}: {self.next_step}; first of all: {self.reasons[0]}"


def with_remedies(
    record: RunRecord, cells: Iterable[Cell], findings: Sequence[Finding], blocked: Collection[str]
) -> tuple[Cell, ...]:
    """Return the cells, each with its remedy; `blocked` are the ids of the cases that a finding blocked."""
    cases = {case.id: case for case in record.cases}
    failing = {finding.realm for finding in findings if finding.fails}

    def remedy(cell: Cell) -> Remedy | None:
        if cell.verdict.given or not record.run.terms.consumer.covers(cell.clause, cell.realm):
            return None
        account = any(name.startswith("accounts.") for name in cell.settings)
        if account or (not cell.settings and _OF_AN_ACCOUNT.search(cell.reason or "")):
            return Remedy.ACCOUNT
        if cell.settings or cell.verdict is Verdict.ERROR:
            return Remedy.SETTING if cell.settings else Remedy.SUITE
        mine = [cases[name] for name in cell.cases if name in cases]
        if cell.verdict is Verdict.UNTESTED:
            return _not_reached(record, cell, mine)
        stuck = [case for case in mine if case.outcome is Verdict.INCONCLUSIVE]
        refused = any(case.blocked_by is not None for case in stuck)
        if (refused and cell.realm in failing) or any(case.id in blocked for case in stuck):
            return Remedy.FINDING
        return _of_environment(record, stuck, refused=refused)

    return tuple(replace(cell, remedy=remedy(cell)) for cell in cells)


def _of_environment(record: RunRecord, stuck: Sequence[Case], *, refused: bool) -> Remedy:
    if record.run.breaker:
        return of_the_end(record.run.breaker)
    names = {case.id for case in stuck}
    sent = (each for each in record.exchanges.values() if each.case in names)
    faulty = any(each.fault or perhaps_foreign(each) for each in sent)
    # A lost answer may have created a record that took a place.
    faulty = faulty or (bool(record.faults) and any(_OF_RECORDS in (case.reason or "") for case in stuck))
    return Remedy.SERVICE if faulty or refused else Remedy.SUITE


def not_judged(cells: Iterable[Cell]) -> tuple[NotJudged, ...]:
    """Group the verdicts that were not given by remedy."""
    reasons: dict[Remedy, Counter[str]] = {remedy: Counter() for remedy in Remedy}
    for cell in cells:
        if cell.remedy is not None:
            reasons[cell.remedy][cell.reason or "no reason was given"] += 1
    return tuple(
        NotJudged(remedy, texts.total(), tuple(text for text, _ in texts.most_common(_REASONS_AT_MOST)))
        for remedy, texts in reasons.items()
        if texts
    )


def _not_reached(record: RunRecord, cell: Cell, cases: list[Case]) -> Remedy | None:
    """The remedy if no assertion on a clause was reached although one should have been; otherwise None."""
    if cell.unreached:
        if any(case.outcome is Verdict.FAIL for case in cases):
            return Remedy.FINDING
        if cell.clause.level != "must":
            return None  # no verdict depends on it
        # The inputs that another realm had may have been stopped there.
        distributed = {case.anywhere for case in cases if case.deals}
        reasons = [other.reason or "" for other in record.cases if other.anywhere in distributed]
        return Remedy.ACCOUNT if any(map(_OF_AN_ACCOUNT.search, reasons)) else Remedy.SUITE
    early = record.run.breaker and cell.clause.untested is None
    return of_the_end(record.run.breaker or "") if early else None


def of_the_end(breaker: str) -> Remedy:
    """The remedy for a run that was stopped early, by the reason."""
    if _OF_AN_ACCOUNT.search(breaker):
        return Remedy.ACCOUNT
    return Remedy.SETTING if _OF_A_SETTING.search(breaker) else Remedy.SERVICE
