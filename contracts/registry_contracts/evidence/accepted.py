"""Which waivers and accepted deviations a run needed, and which clauses it left unjudged."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import date
from enum import StrEnum
from itertools import product
from typing import Annotated, Final

from msgspec import Meta, structs

from registry_contracts.evidence.cells import Cell
from registry_contracts.evidence.findings import Finding, FindingIds
from registry_contracts.evidence.record import RunRecord, Verdict
from registry_contracts.evidence.terms import Deviation, Waiver
from registry_contracts.file_formats import Name, Names
from registry_contracts.interface.profiles import Profile
from registry_contracts.safe_text import many


class WaiverOutcome(Waiver, frozen=True):
    """A waiver, with the realms in which the run needed it."""

    needed: bool
    realms: Names
    says: Name

    @property
    def sentence(self) -> str:
        """File and line, the clause, and whether the waiver is needed."""
        return f"{self.file}:{self.line}: the waiver of {self.clause} {self.says}"


def counting(record: RunRecord, cells: Iterable[Cell]) -> list[Cell]:
    """Return the cells that matter to the consumer; without one, all of them."""
    return [cell for cell in cells if record.run.terms.consumer.covers(cell.clause, cell.realm)]


def unjudged(record: RunRecord, cells: Iterable[Cell]) -> list[Cell]:
    """Return the must cells that could not be judged, waived ones included.

    The reason is the environment, a failed precondition, or cases that ended too early; with `strict` also a missing
    setting. Clauses outside the run or its profile, and clauses that nothing can test, are left out.
    """
    musts = [cell for cell in counting(record, cells) if cell.clause.level == "must"]
    stuck = [
        cell
        for cell in musts
        if cell.verdict is Verdict.INCONCLUSIVE or cell.unreached or (cell.settings and record.run.strict)
    ]
    return [cell for cell in stuck if not _blocked_elsewhere(record, cell)]


def _blocked_elsewhere(record: RunRecord, cell: Cell) -> bool:
    """Tell whether the consumer's own operations were judged, and only cases on others were blocked.

    A gate also runs cases on other operations where a clause may otherwise stay unjudged. They are not needed once a
    case on the consumer's operations has judged the clause.
    """
    consumer = record.run.terms.consumer
    if not consumer.operations:
        return False
    mine = [case for case in record.cases if case.realm == cell.realm and case.id in cell.cases]
    stuck = [case for case in mine if case.outcome is Verdict.INCONCLUSIVE and cell.clause.id in case.clauses]
    if any(case.blocked_by is None or consumer.uses(case.blocked_by.operation) for case in stuck):
        return False
    counts = (count for case in mine for count in case.assertions if count.clause == cell.clause.id)
    held = {count.operation for count in counts if count.held}
    wanted = {name for case in stuck for name in case.operations if name in cell.clause.operations}
    used = set(filter(consumer.uses, wanted))
    return used <= held if used else any(map(consumer.uses, held))


def follow_waivers(record: RunRecord, cells: Sequence[Cell]) -> list[WaiverOutcome]:
    """Return whether the run needed each waiver of the consumer, in the order of the file."""
    missing, outcomes = unjudged(record, cells), []
    for waiver in record.run.terms.consumer.waivers:
        lacking = [cell for cell in missing if cell.clause.id == waiver.clause]
        realms, says = tuple(cell.realm for cell in lacking), _not_needed(record, waiver, cells)
        if lacking:
            says = f"waives the verdict in {', '.join(realms)} ({waiver.reason}): {lacking[0].reason}"
        facts = structs.asdict(waiver)
        outcomes.append(WaiverOutcome(**facts, needed=bool(realms), realms=realms, says=says))
    return outcomes


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
    return f"{why}; remove the line"


#: How many days before its expiry a deviation gets a warning.
WARNING_DAYS = 14


class DeviationState(StrEnum):
    """The state of a deviation in a run; the first two fail the run."""

    EXPIRED = "expired"
    GONE = "gone"
    PARTLY = "partly"
    HAPPENS = "happens"
    UNJUDGED = "unjudged"


class DeviationOutcome(Deviation, frozen=True, kw_only=True):
    """An accepted deviation and its outcome in this run, by realm; `profile` is the first that shows it.

    `days_left` is 0 on its last day, and negative once the date has passed. `counted` is false outside what the
    consumer uses. `fails`: the run fails until the entry is changed; `warns`: somebody should check it. `findings` are
    ids.
    """

    # An entry may leave these out; its outcome names them.
    realms: Annotated[Names, Meta(min_length=1)]
    operation: str | None
    profile: str
    file: Name
    line: Annotated[int, Meta(ge=1)]
    course: DeviationState
    days_left: int
    happens_in: Names
    gone_in: Names
    unjudged_in: Names
    findings: FindingIds
    counted: bool
    fails: bool
    warns: bool
    says: Name

    def __post_init__(self) -> None:
        """Check what types cannot say."""
        if self.fails and not (self.counted and self.course in _FAILING):
            raise ValueError("a deviation that fails the run has expired or is gone, and counts")

    @property
    def sentence(self) -> str:
        """File and line, the clause, and the outcome."""
        operation = f" ({self.operation})" if self.operation else ""
        return f"{self.place}: the deviation on {self.clause}{operation} {self.says}"


_FAILING: Final = frozenset({DeviationState.EXPIRED, DeviationState.GONE})


def follow_deviations(
    record: RunRecord, cells: Iterable[Cell], findings: Sequence[Finding], day: date
) -> list[DeviationOutcome]:
    """Return the outcome of each deviation of the run on a day, in the order of the file."""
    by_place = {(cell.clause.id, cell.realm): cell for cell in cells}
    return [_follow(record, by_place, findings, entry, day) for entry in record.run.terms.deviations]


def _follow(
    record: RunRecord,
    cells: Mapping[tuple[str, str], Cell],
    findings: Sequence[Finding],
    entry: Deviation,
    day: date,
) -> DeviationOutcome:
    left = (entry.expires - day).days
    mine = [each for each in findings if entry.concerns(each.clause, each.realm, each.operation)]
    happens = tuple(realm for realm in entry.realms if any(finding.realm == realm for finding in mine))
    others = [realm for realm in entry.realms if realm not in happens]
    gone = tuple(realm for realm in others if _judged(record, cells.get((entry.clause, realm)), entry))
    course, counted = _course(left, happens, gone), _counted(record, entry, cells)
    fails = counted and course in _FAILING
    odd = course in {*_FAILING, DeviationState.PARTLY} or left <= WARNING_DAYS
    return DeviationOutcome(
        **structs.asdict(entry),
        course=course,
        days_left=left,
        happens_in=happens,
        gone_in=gone,
        unjudged_in=tuple(realm for realm in others if realm not in gone),
        findings=tuple(finding.id for finding in mine),
        counted=counted,
        fails=fails,
        warns=odd and not fails,
        says=_summary(entry, course, left, happens, gone),
    )


def _judged(record: RunRecord, cell: Cell | None, deviation: Deviation) -> bool:
    """Tell whether the run would have seen the contradiction if it still happened.

    No case on the clause was blocked or left out, and an assertion on the deviation's operation held. A run that was
    stopped early has seen too little.
    """
    if cell is None or not cell.verdict.given:
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


def _counted(record: RunRecord, entry: Deviation, cells: Mapping[tuple[str, str], Cell]) -> bool:
    consumer = record.run.terms.consumer
    judged = [cells[entry.clause, realm] for realm in entry.realms if (entry.clause, realm) in cells]
    operations = (entry.operation,) if entry.operation else judged[0].clause.operations if judged else ()
    places = product(entry.realms, operations)
    return not consumer or any(consumer.counts(entry.clause, *place) for place in places)


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
        return f"ran out on {deviation.expires}, and it no longer happens in {over}; remove the entry"
    if course is DeviationState.EXPIRED:
        seen = f"it still happens in {here}" if happens else "nothing was seen of it"
        return f"ran out on {deviation.expires}, and {seen}; settle it with {deviation.owner}, or set a later date"
    if course is DeviationState.GONE:
        return f"no longer happens in {over}: remove the entry"
    seen = f"happens in {here}" if happens else "was not judged in this run"
    seen += f", no longer in {over}: leave {over} out of its realms" if gone else ""
    if left > WARNING_DAYS:
        return f"{seen}; accepted until {deviation.expires}"
    when = "today is its last day" if left == 0 else f"in {many(left, 'day')}"
    return f"{seen}; it runs out on {deviation.expires}, {when}"
