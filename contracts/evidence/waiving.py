"""Must clauses that could not be judged: which of them block a run, and which a waiver does without."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType

from contracts.evidence.cells import Cell, missing_settings
from contracts.evidence.outcomes import Verdict
from contracts.evidence.record import RunRecord
from contracts.evidence.terms import Waiver


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


def in_lines(cells: Iterable[Cell], accepted: Mapping[str, str] = MappingProxyType({})) -> list[str]:
    """Word cells that could not be judged, a line for each clause and reason, with its realms.

    Args:
        cells: The cells.
        accepted: Cases that stand behind an accepted deviation, with the file and line of its entry.
    """
    groups: dict[tuple[str, str], list[str]] = {}
    for cell in cells:
        reason = cell.reason or "no reason was given"
        behind = dict.fromkeys(accepted[case] for case in cell.cases if case in accepted)
        if behind:
            reason += (
                f"; behind the accepted deviation {', '.join(behind)}: a waiver does without the judgement"
            )
        groups.setdefault((cell.clause.id, reason), []).append(cell.realm)
    return [f"{clause} in {', '.join(realms)}: {reason}" for (clause, reason), realms in groups.items()]


def follow(record: RunRecord, cells: Sequence[Cell]) -> list[WaiverOutcome]:
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
    mine = [cell for cell in missing if cell.clause.id == waiver.clause]
    realms = tuple(cell.realm for cell in mine)
    return WaiverOutcome(
        waiver, realms, _needed(waiver, mine) if mine else _not_needed(record, waiver, cells)
    )


def _needed(waiver: Waiver, mine: Sequence[Cell]) -> str:
    realms = ", ".join(cell.realm for cell in mine)
    return f"does without a judgement in {realms} ({waiver.reason}): {mine[0].reason}"


def _not_needed(record: RunRecord, waiver: Waiver, cells: Sequence[Cell]) -> str:
    own = [cell for cell in cells if cell.clause.id == waiver.clause]
    if own and own[0].clause.level != "must":
        return f"is not needed: a {own[0].clause.level} blocks nobody; take the line out"
    if not counting(record, own):
        return "is not needed: the consumer does not use what it concerns; take the line out"
    if any(cell.verdict is Verdict.FAIL for cell in own):
        return "does not help: the clause was judged, and is contradicted; a deviation can accept that"
    if any(cell.assertions for cell in own):
        return "is no longer needed: the clause was judged; take the line out"
    return "is not needed: nothing blocks there; take the line out"
