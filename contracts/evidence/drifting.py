"""The drift of a run, from its record and from the baseline that was kept beside its journals."""

from pathlib import Path

from contracts.drift.comparing import compare, undealt, unknown
from contracts.drift.facts import read_facts
from contracts.drift.keeping import kept
from contracts.drift.report import NO_DRIFT, DriftReport, Mode
from contracts.evidence.observations import build
from contracts.evidence.record import RunRecord
from contracts.interface.description import load_description


def drift_of(record: RunRecord, run_folder: Path) -> DriftReport:
    """Compare what a run observed with the baseline it was started with.

    Args:
        record: the run.
        run_folder: where `contracts.drift.keeping.keep` noted mode and baseline.

    Returns:
        The drift; `NO_DRIFT` for a folder without a note. Changes that do not touch the run's consumer are there,
        but do not block.

    Raises:
        UsageError: the folder was altered.
    """
    note = kept(run_folder, realms_of_operations())
    if note is None or note.mode is Mode.OFF:
        return NO_DRIFT
    target = record.run.target
    if note.baseline is None:
        return DriftReport(note.mode, target, note.path)
    seen = undealt(note.baseline.facts, read_facts(build(record)))
    changes = compare(note.baseline.facts, seen)
    terms = record.run.terms
    return DriftReport(
        mode=note.mode,
        target=target,
        baseline=note.path,
        known=True,
        changes=changes,
        unaccepted=sum(map(len, unknown(note.baseline.facts, seen).values())),
        outside=frozenset(
            change
            for change in changes
            if not any(terms.counts(change.clause, realm, change.operation) for realm in change.realms)
        ),
    )


def realms_of_operations() -> dict[str, tuple[str, ...]]:
    """Return the realms that have each operation."""
    return {name: operation.realms for name, operation in load_description().operations.items()}
