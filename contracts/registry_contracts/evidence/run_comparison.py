"""Compares a run with its baseline and with earlier runs, and writes its observations and its history entry."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final, Literal

from registry_contracts.errors import ExitCode, UsageError
from registry_contracts.evidence.cells import Cell
from registry_contracts.evidence.record import Case, RunFacts, RunRecord, Verdict
from registry_contracts.evidence.run_folder import read_run_facts
from registry_contracts.evidence.verdicts import RunVerdict
from registry_contracts.file_formats import (
    FileName,
    Format,
    Moment,
    Name,
    convert,
    parse,
    read_own,
    write_file,
)
from registry_contracts.history import baseline as baselines
from registry_contracts.history import runs
from registry_contracts.history.baseline import load_drift_settings
from registry_contracts.history.drift import (
    NO_DRIFT,
    DriftReport,
    Mode,
    RealmDifference,
    between_realms,
    compare,
    new_facts,
)
from registry_contracts.history.observed_facts import Facts, Place, Value, facts_of
from registry_contracts.history.runs import Entry, Seen, line_of, past_of, write_past
from registry_contracts.interface.catalogue import load_catalogue


def drift_of(record: RunRecord, run_folder: Path) -> DriftReport:
    """Compare the observations of a run with the baseline in its folder.

    Changes outside what the run's consumer uses are listed, but do not block.
    """
    note = load_drift_settings(run_folder)
    if note is None or note[0].mode is Mode.OFF:
        return NO_DRIFT
    settings, baseline = note
    seen, target = facts_of(record.observations), record.run.target
    report = DriftReport(settings.mode, target, settings.baseline, known=settings.known, observed=bool(seen))
    if baseline is None:
        return report
    changes, counts = compare(baseline.facts, seen), record.run.terms.consumer.counts
    outside = (
        each
        for each in changes
        if not any(counts(each.clause, realm, each.operation) for realm in each.realms)
    )
    new = new_facts(baseline.facts, seen).total()
    return replace(report, changes=changes, unaccepted=new, outside=frozenset(outside))


OBSERVATIONS_FILE: Final = "observations.json"
_FORMAT: Final = 3


class PlaceFacts(Format, frozen=True):
    """What was seen of a clause on an operation in a realm: name of a fact → its value, or a closed set of values."""

    clause: Name
    operation: str
    realm: Name
    facts: Mapping[str, Value]


class ObservationsFile(Format, frozen=True, kw_only=True):
    """What a run saw where the interface document is silent; `complete` is false where evidence is missing."""

    format: Literal[3] = _FORMAT
    target: FileName
    profile: str
    started: Moment
    observed: tuple[PlaceFacts, ...]
    realm_differences: tuple[RealmDifference, ...]
    complete: bool

    @property
    def facts(self) -> Facts:
        """The facts by their place."""
        return {Place(each.clause, each.operation, each.realm): dict(each.facts) for each in self.observed}


def write_observations(record: RunRecord, verdict: RunVerdict, folder: Path) -> Path:
    """Write `observations.json` in a stable order, and return its path."""
    run, facts = record.run, facts_of(record.observations)
    content = ObservationsFile(
        target=run.target,
        profile=run.profile,
        started=run.started,
        observed=tuple(PlaceFacts(*place, values) for place, values in facts.items()),
        realm_differences=between_realms(facts),
        complete=not verdict.problems,
    )
    return write_file(folder / OBSERVATIONS_FILE, content, ObservationsFile)


def read_observations(folder: Path) -> ObservationsFile:
    """Read the `observations.json` of a run folder."""
    path = folder / OBSERVATIONS_FILE
    again = f"`python -m registry_contracts.reports {folder}` makes it again"
    content = parse(read_own(path, f"; {again}"), str(path))
    if not isinstance(content, dict) or content.get("format") != _FORMAT:
        raise UsageError(f"{path} is of another version of the suite; {again}")
    file = convert(content, ObservationsFile, str(path))
    if not file.complete:
        raise UsageError(f"{folder.name} is incomplete, so its observations are not reliable; run again")
    return file


FILE_NAME = "history-entry.json"
_CLAUSES_NAMED: Final = 3
_BREAKING: Final = ("--fault", "--weather")
_SAYS_NOTHING: Final = frozenset({ExitCode.INTERRUPTED, ExitCode.USAGE, ExitCode.NOTHING_TESTED})


def write(record: RunRecord, verdict: RunVerdict, folder: Path) -> None:
    """Write `history-entry.json`."""
    line = line_of(history_entry(record, verdict, folder.resolve().name))
    (folder / FILE_NAME).write_text(line + "\n", "utf-8")


def history_entry(record: RunRecord, verdict: RunVerdict, name: str) -> Entry:
    """Return the history entry of a run; `name` is its folder's. Untested clauses are left out."""
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
        counts={str(verdict_): number for verdict_ in Verdict if (number := verdict.count(verdict_))},
        cells=cells,
        series=series_of(run),
        comparable=is_comparable(record, verdict),
    )


def series_of(run: RunFacts) -> str:
    """Name the series of runs that compare with each other: by profile, realms, and other limits."""
    parts = [f"{run.profile} in {', '.join(run.realms)}"]
    if set(run.clauses) != {clause.id for clause in load_catalogue()}:
        names = json.dumps(sorted(run.clauses), separators=(",", ":"))
        digest = hashlib.sha256(names.encode()).hexdigest()[:16]
        few = len(run.clauses) <= _CLAUSES_NAMED
        parts.append(", ".join(run.clauses) if few else f"{len(run.clauses)} clauses, {digest}")
    parts += [f"for {run.terms.consumer.file}"] if run.terms.consumer else []
    return "; ".join(parts)


def is_comparable(record: RunRecord, verdict: RunVerdict) -> bool:
    """Tell whether the history may hold a run: it finished, with all cases, and without faults on purpose."""
    on_purpose = any(option in record.run.command for option in _BREAKING)
    ended_early = record.run.interrupted or verdict.exit_code in _SAYS_NOTHING
    return not (on_purpose or ended_early or any(not each.series for each in record.narrowed))


def _seen(cell: Cell, cases: Mapping[str, Case]) -> Seen:
    own = [cases[name] for name in cell.cases if cell.clause.id in cases[name].clauses]
    return Seen(
        str(cell.verdict), sum(case.requests for case in own), round(sum(case.seconds for case in own), 2)
    )


@dataclass(frozen=True, slots=True)
class Comparison:
    """The baseline and the history of one run; `history` is None when it is switched off."""

    target: str
    mode: Mode
    baseline: Path
    history: Path | None

    @classmethod
    def of_options(
        cls, target: str, reports: Path, drift: str | None, baseline: str | None, history: str | bool | None
    ) -> Comparison:
        """Read the options `--drift`, `--baseline` and `--history`; None for one that was not given.

        Args:
            history: The file that `--history` names; False with `--no-history`.
        """
        if drift is not None and drift not in list(Mode):
            raise UsageError(f"--drift takes {', '.join(Mode)}, not '{drift}'")
        mode = Mode(drift or Mode.WARN)
        path = Path(baseline) if baseline else baselines.path_of(target)
        if mode is not Mode.OFF and baselines.read(path) is None and baseline:
            raise UsageError(f"there is no baseline {path}; `registry-contracts drift accept` writes one")
        default = Path(str(history)) if history else reports / runs.FILE_NAME
        return cls(target, mode, path, None if history is False else default)

    def note_in(self, folder: Path) -> list[str]:
        """Write the baseline and earlier runs into a run folder; return a line for each damaged line of the history."""
        baselines.save_drift_settings(folder, self.mode, self.baseline)
        if self.history is None:
            return []
        history = runs.read(self.history)
        write_past(folder, past_of(history, self.target, series_of(read_run_facts(folder))))
        return [f"{line}; skipped" for line in history.damaged]

    def add_to_history(self, folder: Path) -> None:
        """Add a judged run to the history, if it is comparable."""
        path = folder / FILE_NAME
        if self.history is None or not path.exists():
            return
        entry = runs.read_line(path.read_text("utf-8"))
        if entry.comparable:
            runs.append(self.history, entry)
