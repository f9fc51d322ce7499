"""`history-entry.json`: this run as one line of the history."""

from collections.abc import Mapping
from pathlib import Path

from contracts.evidence.cells import Cell
from contracts.evidence.outcomes import Verdict
from contracts.evidence.record import Case, RunRecord
from contracts.evidence.verdicts import RunVerdict
from contracts.history.entries import Entry, Seen, line_of

FILE_NAME = "history-entry.json"


def write(record: RunRecord, verdict: RunVerdict, folder: Path) -> Path:
    """Write `history-entry.json` and return its path."""
    path = folder / FILE_NAME
    path.write_text(line_of(build(record, verdict, folder.resolve().name)) + "\n", "utf-8")
    return path


def build(record: RunRecord, verdict: RunVerdict, name: str) -> Entry:
    """Return a run as the history holds it.

    Args:
        name: what tells the run from all others, its folder's name.

    Returns:
        The entry. Clauses that went untested are left out: nothing was said of them.
    """
    run = record.run
    by_id = {case.id: case for case in record.cases}
    cells: dict[str, dict[str, Seen]] = {}
    for cell in verdict.cells:
        if cell.verdict is not Verdict.UNTESTED:
            cells.setdefault(cell.clause.id, {})[cell.realm] = _seen(cell, by_id)
    return Entry(
        run=name,
        target=run.target,
        profile=run.profile,
        seed=run.seed,
        started=run.started,
        verdict=verdict.word,
        exit_code=int(verdict.exit_code),
        requests=int(run.environment.get("requests") or 0),
        seconds=round(run.seconds or 0.0, 1),
        counts={str(each): number for each in Verdict if (number := verdict.count(each))},
        cells=cells,
    )


def _seen(cell: Cell, cases: Mapping[str, Case]) -> Seen:
    own = [cases[name] for name in cell.cases if cell.clause.id in cases[name].clauses]
    return Seen(
        str(cell.verdict), sum(case.requests for case in own), round(sum(case.seconds for case in own), 2)
    )
