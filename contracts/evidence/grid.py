"""The grid of the page: clauses by realms, in families, with the cases behind each cell."""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from itertools import groupby

from contracts.evidence.cells import Cell, counts_for
from contracts.evidence.outcomes import Verdict
from contracts.evidence.record import Case, RunRecord
from contracts.evidence.verdicts import RunVerdict
from contracts.interface.clauses import Clause
from contracts.interface.operations import ANY_REALM


@dataclass(frozen=True, slots=True)
class CaseLine:
    """A case as a cell of the grid names it; `blocked` is the id of the finding that stood in its way."""

    case: Case
    held: int
    contradicted: int
    blocked: str | None


@dataclass(frozen=True, slots=True)
class Row:
    """One clause with its cells by realm and the cases behind each."""

    clause: Clause
    cells: Mapping[str, Cell]
    cases: Mapping[str, tuple[CaseLine, ...]]


@dataclass(frozen=True, slots=True)
class Family:
    """The rows of one clause family and how many cells have which verdict."""

    name: str
    rows: tuple[Row, ...]
    counts: Counter[Verdict]


def clauses_of(verdict: RunVerdict) -> dict[str, Clause]:
    """Return the clauses that the verdict speaks of, by id."""
    return {cell.clause.id: cell.clause for cell in verdict.cells}


def realms_of(record: RunRecord, verdict: RunVerdict) -> list[str]:
    """Return the columns of the grid: the run's realms, then `any` when a clause is judged once for all."""
    seen = {cell.realm for cell in verdict.cells}
    known = [*record.run.realms, ANY_REALM]
    return [realm for realm in known if realm in seen] + sorted(seen - set(known))


def families(record: RunRecord, verdict: RunVerdict) -> list[Family]:
    """Return the rows of the grid by clause family, in the catalogue's order."""
    by_id = {case.id: case for case in record.cases}
    rows: dict[str, list[Row]] = {}
    for _, group in groupby(verdict.cells, key=lambda cell: cell.clause.id):
        cells = list(group)
        row = Row(
            clause=cells[0].clause,
            cells={cell.realm: cell for cell in cells},
            cases={cell.realm: _case_lines(cell, by_id, verdict) for cell in cells},
        )
        rows.setdefault(cells[0].clause.family, []).append(row)
    return [Family(name, tuple(members), _count(members)) for name, members in rows.items()]


def _count(rows: Iterable[Row]) -> Counter[Verdict]:
    return Counter(cell.verdict for row in rows for cell in row.cells.values())


def _case_lines(cell: Cell, by_id: Mapping[str, Case], verdict: RunVerdict) -> tuple[CaseLine, ...]:
    cases = sorted((by_id[case] for case in cell.cases), key=lambda case: case.outcome.rank)
    # A universal check is reached by nearly every case: those that list the clause come first.
    cases.sort(key=lambda case: cell.clause.id not in case.clauses)
    lines = []
    for case in cases:
        count = counts_for(cell.clause.id, case)
        lines.append(CaseLine(case, count.held, count.contradicted, verdict.blocked.get(case.id)))
    return tuple(lines)
