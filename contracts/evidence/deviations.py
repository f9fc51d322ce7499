"""What became of each accepted deviation in a run: it happens, only partly, no longer, or its date has passed."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from enum import StrEnum

from contracts.evidence.cells import Cell
from contracts.evidence.contradictions import Finding
from contracts.evidence.outcomes import Verdict
from contracts.evidence.plain import many
from contracts.evidence.record import RunRecord
from contracts.evidence.terms import Deviation

#: A date this close is warned of.
WARNING_DAYS = 14
#: The profiles in rising order, as the entries name them.
_PROFILES = ("smoke", "gate", "nightly", "full")
#: Verdicts that rest on all that was to be judged of a cell.
_JUDGED = frozenset({Verdict.PASS, Verdict.ADVISORY, Verdict.DEVIATION, Verdict.FAIL})


class Course(StrEnum):
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
    course: Course
    days_left: int
    happens_in: tuple[str, ...]
    gone_in: tuple[str, ...]
    unjudged_in: tuple[str, ...]
    findings: tuple[str, ...]
    counted: bool
    says: str

    @property
    def fails(self) -> bool:
        """Whether the run fails until somebody changes the entry."""
        return self.counted and self.course in {Course.EXPIRED, Course.GONE}

    @property
    def warns(self) -> bool:
        """Whether somebody should look at the entry, though the run does not fail."""
        if self.fails:
            return False
        return self.course in {Course.EXPIRED, Course.GONE, Course.PARTLY} or self.days_left <= WARNING_DAYS

    @property
    def line(self) -> str:
        """File and line, the clause, and what became of it."""
        operation = f" ({self.deviation.operation})" if self.deviation.operation else ""
        return f"{self.deviation.place}: the deviation on {self.deviation.clause}{operation} {self.says}"


def follow(record: RunRecord, cells: Iterable[Cell], findings: Sequence[Finding]) -> list[DeviationOutcome]:
    """Say what became of every deviation that the run was held to, in the order of the file."""
    by_place = {(cell.clause.id, cell.realm): cell for cell in cells}
    return [_follow(record, by_place, findings, each) for each in record.run.terms.deviations]


def _follow(
    record: RunRecord,
    cells: Mapping[tuple[str, str], Cell],
    findings: Sequence[Finding],
    deviation: Deviation,
) -> DeviationOutcome:
    mine = [each for each in findings if deviation.concerns(each.clause, each.realm, each.operation)]
    happens = tuple(realm for realm in deviation.realms if any(each.realm == realm for each in mine))
    gone = tuple(
        realm
        for realm in deviation.realms
        if realm not in happens and _judged(record, cells.get((deviation.clause, realm)), deviation)
    )
    left = deviation.days_left(record.run.day)
    course = _course(left, happens, gone)
    return DeviationOutcome(
        deviation=deviation,
        course=course,
        days_left=left,
        happens_in=happens,
        gone_in=gone,
        unjudged_in=tuple(realm for realm in deviation.realms if realm not in (*happens, *gone)),
        findings=tuple(each.id for each in mine),
        counted=_counted(record, deviation, cells),
        says=_says(deviation, course, left, happens, gone),
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
    if _PROFILES.index(record.run.profile) < _PROFILES.index(deviation.profile):
        return False
    if any(each.touches(cell.clause.id, cell.realm) for each in record.narrowed):
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


def _course(left: int, happens: Sequence[str], gone: Sequence[str]) -> Course:
    if left < 0:
        return Course.EXPIRED
    if gone:
        return Course.PARTLY if happens else Course.GONE
    return Course.HAPPENS if happens else Course.UNJUDGED


def _says(
    deviation: Deviation, course: Course, left: int, happens: Sequence[str], gone: Sequence[str]
) -> str:
    if course is Course.EXPIRED:
        seen = f"it still happens in {_places(happens)}" if happens else "nothing was seen of it"
        seen = f"it no longer happens in {_places(gone)}" if gone and not happens else seen
        advice = (
            "take the entry out"
            if gone and not happens
            else f"settle it with {deviation.owner}, or set a later date"
        )
        return f"ran out on {deviation.expires}, and {seen}; {advice}"
    if course is Course.GONE:
        return f"no longer happens in {_places(gone)}: take the entry out"
    until = _until(deviation.expires, left)
    if course is Course.PARTLY:
        leave_out = f"leave {_places(gone)} out of its realms"
        return f"happens in {_places(happens)}, no longer in {_places(gone)}: {leave_out}; {until}"
    if course is Course.HAPPENS:
        return f"happens in {_places(happens)}; {until}"
    return f"was not judged in this run; {until}"


def _until(day: date, left: int) -> str:
    if left > WARNING_DAYS:
        return f"accepted until {day}"
    when = "today is its last day" if left == 0 else f"in {many(left, 'day')}"
    return f"it runs out on {day}, {when}"


def _places(realms: Sequence[str]) -> str:
    return ", ".join(realms)
