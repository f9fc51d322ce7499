"""A run beside earlier ones: its drift from the baseline that was kept with its journals, and `history-entry.json`."""

from collections.abc import Mapping
from pathlib import Path

from contracts.evidence.cells import Cell
from contracts.evidence.observations import build
from contracts.evidence.outcomes import Verdict
from contracts.evidence.record import Case, RunRecord
from contracts.evidence.verdicts import RunVerdict
from contracts.history.baseline import load_drift_settings
from contracts.history.drift import compare, not_accepted_yet, without_moved_faults
from contracts.history.drift_report import NO_DRIFT, DriftReport, Mode
from contracts.history.observed_facts import read_facts
from contracts.history.runs import Entry, Seen, line_of
from contracts.interface.description import load_description


def drift_of(record: RunRecord, run_folder: Path) -> DriftReport:
    """Compare what a run observed with the baseline it was started with.

    Args:
        record: the run.
        run_folder: where `contracts.history.baseline.keep` noted mode and baseline.

    Returns:
        The drift; `NO_DRIFT` for a folder without a note. Changes that do not touch the run's consumer are there,
        but do not block.

    Raises:
        UsageError: the folder was altered.
    """
    note = load_drift_settings(run_folder, realms_of_operations())
    if note is None or note.mode is Mode.OFF:
        return NO_DRIFT
    target = record.run.target
    if note.baseline is None:
        return DriftReport(note.mode, target, note.path)
    seen = without_moved_faults(note.baseline.facts, read_facts(build(record)))
    changes = compare(note.baseline.facts, seen)
    terms = record.run.terms
    return DriftReport(
        mode=note.mode,
        target=target,
        baseline=note.path,
        known=True,
        changes=changes,
        unaccepted=sum(map(len, not_accepted_yet(note.baseline.facts, seen).values())),
        outside=frozenset(
            change
            for change in changes
            if not any(terms.counts(change.clause, realm, change.operation) for realm in change.realms)
        ),
    )


def realms_of_operations() -> dict[str, tuple[str, ...]]:
    """Return the realms that have each operation."""
    return {name: operation.realms for name, operation in load_description().operations.items()}


FILE_NAME = "history-entry.json"


def write(record: RunRecord, verdict: RunVerdict, folder: Path) -> Path:
    """Write `history-entry.json` and return its path."""
    path = folder / FILE_NAME
    path.write_text(line_of(history_entry(record, verdict, folder.resolve().name)) + "\n", "utf-8")
    return path


def history_entry(record: RunRecord, verdict: RunVerdict, name: str) -> Entry:
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
        requests=run.environment.requests,
        seconds=round(run.seconds or 0.0, 1),
        counts={str(each): number for each in Verdict if (number := verdict.count(each))},
        cells=cells,
    )


def _seen(cell: Cell, cases: Mapping[str, Case]) -> Seen:
    own = [cases[name] for name in cell.cases if cell.clause.id in cases[name].clauses]
    return Seen(
        str(cell.verdict), sum(case.requests for case in own), round(sum(case.seconds for case in own), 2)
    )
