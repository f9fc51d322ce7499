"""What became of the waivers and accepted deviations that a run was held to, and which clauses it left unjudged."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from enum import StrEnum
from types import MappingProxyType

from contracts.evidence.findings import Cell, Finding, missing_settings
from contracts.evidence.record import RunRecord, Verdict
from contracts.evidence.terms import Deviation, Waiver
from contracts.interface.operations import in_realms
from contracts.interface.profiles import Profile
from contracts.safe_text import many


@dataclass(frozen=True, slots=True)
class WaiverOutcome:
    """A waiver and whether the run needed it; `realms` are those it was needed in."""

    waiver: Waiver
    realms: tuple[str, ...]
    says: str

    @property
    def needed(self) -> bool:
        """Whether a judgement was missing without it."""
        return bool(self.realms)

    @property
    def line(self) -> str:
        """File and line, the clause, and whether the waiver is needed."""
        return f"{self.waiver.place}: the waiver of {self.waiver.clause} {self.says}"


def counting(record: RunRecord, cells: Iterable[Cell]) -> list[Cell]:
    """Return the cells that matter to the consumer; without one, all of them."""
    consumer = record.run.terms.consumer
    return [cell for cell in cells if consumer is None or consumer.covers(cell.clause, cell.realm)]


def unjudged(record: RunRecord, cells: Iterable[Cell]) -> list[Cell]:
    """Return the must cells that could not be judged, waived ones included.

    The environment or a failed precondition stood in the way; under `strict` also: a setting is missing, or the
    cases on it ended before they reached it. What lies outside the profile, or what nothing can test, is not here.
    """
    return [
        cell
        for cell in counting(record, cells)
        if cell.clause.level == "must"
        and (cell.verdict is Verdict.INCONCLUSIVE or _refused(record, cell))
        and not _blocked_elsewhere(record, cell)
    ]


def blocking(record: RunRecord, cells: Iterable[Cell]) -> list[Cell]:
    """Return the must cells that could not be judged and are not waived."""
    return [cell for cell in unjudged(record, cells) if cell.clause.id not in record.run.waived]


def unjudged_lines(cells: Iterable[Cell], accepted: Mapping[str, str] = MappingProxyType({})) -> list[str]:
    """Word cells that could not be judged, a line for each reason, with its clauses and their realms.

    Args:
        accepted: Cases that stand behind an accepted deviation, with the file and line of its entry.
    """
    realms: dict[tuple[str, str], list[str]] = {}
    for cell in cells:
        reason = cell.reason or "no reason was given"
        behind = dict.fromkeys(accepted[case] for case in cell.cases if case in accepted)
        if behind:
            reason += (
                f"; behind the accepted deviation {', '.join(behind)}: a waiver does without the judgement"
            )
        realms.setdefault((cell.clause.id, reason), []).append(cell.realm)
    clauses: dict[tuple[str, str], list[str]] = {}
    for (clause, reason), places in realms.items():
        clauses.setdefault((reason, in_realms(places)), []).append(clause)
    return [f"{', '.join(names)} {where}: {reason}" for (reason, where), names in clauses.items()]


def follow_waivers(record: RunRecord, cells: Sequence[Cell]) -> list[WaiverOutcome]:
    """Say of every waiver of the consumer whether the run needed it, in the order of the file."""
    consumer = record.run.terms.consumer
    if consumer is None:
        return []
    missing = unjudged(record, cells)
    return [_follow(record, waiver, cells, missing) for waiver in consumer.waivers]


def _blocked_elsewhere(record: RunRecord, cell: Cell) -> bool:
    """Tell whether only operations that the consumer does not use stood in the way, and its own were judged."""
    consumer = record.run.terms.consumer
    if consumer is None or not consumer.operations:
        return False
    mine = [case for case in record.cases if case.realm == cell.realm and case.id in cell.cases]
    stuck = [case for case in mine if case.outcome is Verdict.INCONCLUSIVE and cell.clause.id in case.clauses]
    if not stuck or any(
        case.blocked_by is None or consumer.uses(case.blocked_by.operation) for case in stuck
    ):
        return False
    wanted = {name for case in stuck for name in case.operations if name in cell.clause.operations}
    held = {
        count.operation
        for case in mine
        for count in case.assertions
        if count.clause == cell.clause.id and count.held
    }
    used = {name for name in wanted if consumer.uses(name)}
    return bool(used) and used <= held


def _refused(record: RunRecord, cell: Cell) -> bool:
    wanting = bool(missing_settings(cell.reason)) or cell.unreached
    return record.run.strict and cell.verdict is Verdict.UNTESTED and wanting


def _follow(
    record: RunRecord, waiver: Waiver, cells: Sequence[Cell], missing: Sequence[Cell]
) -> WaiverOutcome:
    realms = tuple(cell.realm for cell in missing if cell.clause.id == waiver.clause)
    reasons = [cell.reason for cell in missing if cell.clause.id == waiver.clause]
    says = (
        f"does without a judgement in {', '.join(realms)} ({waiver.reason}): {reasons[0]}" if realms else ""
    )
    return WaiverOutcome(waiver, realms, says or _not_needed(record, waiver, cells))


def _not_needed(record: RunRecord, waiver: Waiver, cells: Sequence[Cell]) -> str:
    own = [cell for cell in cells if cell.clause.id == waiver.clause]
    if any(cell.verdict is Verdict.FAIL for cell in own):
        return "does not help: the clause was judged, and is contradicted; a deviation can accept that"
    if own and own[0].clause.level != "must":
        why = f"is not needed: a {own[0].clause.level} never blocks a release"
    elif not counting(record, own):
        why = "is not needed: the consumer does not use what it concerns"
    elif any(cell.assertions for cell in own):
        why = "is no longer needed: the clause was judged"
    else:
        why = "is not needed: nothing blocks there"
    return f"{why}; take the line out"


#: A date this close is warned of.
WARNING_DAYS = 14
#: Verdicts that rest on all that was to be judged of a cell.
_JUDGED = frozenset({Verdict.PASS, Verdict.ADVISORY, Verdict.DEVIATION, Verdict.FAIL})


class DeviationState(StrEnum):
    """What became of a deviation; the first two fail a run."""

    EXPIRED = "expired"
    GONE = "gone"
    PARTLY = "partly"
    HAPPENS = "happens"
    UNJUDGED = "unjudged"


@dataclass(frozen=True, slots=True)
class DeviationOutcome:
    """A deviation and what the run saw of it, realm by realm.

    `counted` is false outside what the consumer uses. `findings` are ids. `says` is one line for people, without
    the file and line of the entry.
    """

    deviation: Deviation
    course: DeviationState
    days_left: int
    happens_in: tuple[str, ...]
    gone_in: tuple[str, ...]
    unjudged_in: tuple[str, ...]
    findings: tuple[str, ...]
    counted: bool
    says: str

    @property
    def fails(self) -> bool:
        """Whether the run fails until the entry is changed."""
        return self.counted and self.course in {DeviationState.EXPIRED, DeviationState.GONE}

    @property
    def warns(self) -> bool:
        """Whether the entry needs a look, though the run does not fail."""
        if self.fails:
            return False
        return (
            self.course in {DeviationState.EXPIRED, DeviationState.GONE, DeviationState.PARTLY}
            or self.days_left <= WARNING_DAYS
        )

    @property
    def line(self) -> str:
        """File and line, the clause, and what became of it."""
        operation = f" ({self.deviation.operation})" if self.deviation.operation else ""
        return f"{self.deviation.place}: the deviation on {self.deviation.clause}{operation} {self.says}"


def follow_deviations(
    record: RunRecord, cells: Iterable[Cell], findings: Sequence[Finding], day: date
) -> list[DeviationOutcome]:
    """Say what became of every deviation that the run was held to on a day, in the order of the file."""
    by_place = {(cell.clause.id, cell.realm): cell for cell in cells}
    return [
        _follow_deviation(record, by_place, findings, deviation, deviation.days_left(day))
        for deviation in record.run.terms.deviations
    ]


def _follow_deviation(
    record: RunRecord,
    cells: Mapping[tuple[str, str], Cell],
    findings: Sequence[Finding],
    deviation: Deviation,
    left: int,
) -> DeviationOutcome:
    mine = [
        finding
        for finding in findings
        if deviation.concerns(finding.clause, finding.realm, finding.operation)
    ]
    happens = tuple(realm for realm in deviation.realms if any(finding.realm == realm for finding in mine))
    gone = tuple(
        realm
        for realm in deviation.realms
        if realm not in happens and _judged(record, cells.get((deviation.clause, realm)), deviation)
    )
    course = _course(left, happens, gone)
    return DeviationOutcome(
        deviation=deviation,
        course=course,
        days_left=left,
        happens_in=happens,
        gone_in=gone,
        unjudged_in=tuple(realm for realm in deviation.realms if realm not in (*happens, *gone)),
        findings=tuple(finding.id for finding in mine),
        counted=_counted(record, deviation, cells),
        says=_summary(deviation, course, left, happens, gone),
    )


def _judged(record: RunRecord, cell: Cell | None, deviation: Deviation) -> bool:
    """Tell whether the run would have seen the contradiction, had it been there.

    Nothing stood in the way of a case on the clause, none was left out, and an assertion on the deviation's
    operation held. A run that was stopped early has seen too little.
    """
    if cell is None or cell.verdict not in _JUDGED:
        return False
    if record.run.interrupted or record.run.breaker or record.problems:
        return False
    if not Profile(record.run.profile).includes(Profile(deviation.profile)):
        return False
    if any(narrowing.touches(cell.clause.id, cell.realm) for narrowing in record.narrowed):
        return False
    return any(
        count.clause == deviation.clause and count.held and deviation.operation in {None, count.operation}
        for case in record.cases
        if case.realm == cell.realm
        for count in case.assertions
    )


def _counted(record: RunRecord, deviation: Deviation, cells: Mapping[tuple[str, str], Cell]) -> bool:
    terms = record.run.terms
    if terms.consumer is None:
        return True
    cell = next(
        (cells[deviation.clause, realm] for realm in deviation.realms if (deviation.clause, realm) in cells),
        None,
    )
    listed = cell.clause.operations if cell else ()
    operations = (deviation.operation,) if deviation.operation else listed
    return any(
        terms.counts(deviation.clause, realm, operation)
        for realm in deviation.realms
        for operation in operations
    )


def _course(left: int, happens: Sequence[str], gone: Sequence[str]) -> DeviationState:
    if left < 0:
        return DeviationState.EXPIRED
    if gone:
        return DeviationState.PARTLY if happens else DeviationState.GONE
    return DeviationState.HAPPENS if happens else DeviationState.UNJUDGED


def _summary(
    deviation: Deviation, course: DeviationState, left: int, happens: Sequence[str], gone: Sequence[str]
) -> str:
    here, over = ", ".join(happens), ", ".join(gone)
    if course is DeviationState.EXPIRED and gone and not happens:
        return f"ran out on {deviation.expires}, and it no longer happens in {over}; take the entry out"
    if course is DeviationState.EXPIRED:
        seen = f"it still happens in {here}" if happens else "nothing was seen of it"
        return f"ran out on {deviation.expires}, and {seen}; settle it with {deviation.owner}, or set a later date"
    if course is DeviationState.GONE:
        return f"no longer happens in {over}: take the entry out"
    seen = f"happens in {here}" if happens else "was not judged in this run"
    seen += f", no longer in {over}: leave {over} out of its realms" if gone else ""
    if left > WARNING_DAYS:
        return f"{seen}; accepted until {deviation.expires}"
    when = "today is its last day" if left == 0 else f"in {many(left, 'day')}"
    return f"{seen}; it runs out on {deviation.expires}, {when}"
