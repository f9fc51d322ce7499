"""Writes the reports of a run folder, from its journals, and points `latest` at it."""

import os
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from types import MappingProxyType

from contracts.errors import UsageError
from contracts.evidence import (
    allure,
    findings,
    har,
    html,
    junit,
    observations,
    questions,
    remembering,
    summary,
    verdict_json,
)
from contracts.evidence.collecting import collect
from contracts.evidence.drifting import drift_of
from contracts.evidence.record import RunRecord
from contracts.evidence.verdicts import RunVerdict, judge
from contracts.interface.catalogue import load_catalogue
from contracts.interface.clauses import Clause

Writer = Callable[[RunRecord, RunVerdict, Path], Path]

WRITERS: Mapping[str, Writer] = MappingProxyType(
    {
        "verdict": verdict_json.write,
        "html": html.write,
        "findings": findings.write,
        "junit": junit.write,
        "har": har.write,
        "allure": allure.write,
        "observations": observations.write,
        "questions": questions.write,
        "summary": summary.write,
        "history": remembering.write,
    }
)
ALL = tuple(WRITERS)
LATEST = "latest"


def write_all(
    run_folder: Path,
    formats: Iterable[str] = ALL,
    catalogue: Iterable[Clause] | None = None,
) -> RunVerdict:
    """Judge a run folder and write its reports into it.

    Args:
        run_folder: `reports/<run>/`, holding `run.json` and the journals.
        formats: keys of `WRITERS`.
        catalogue: the clauses; those of the interface description unless given.

    Returns:
        The run's verdict. Rendering the same folder again gives the same one.

    Raises:
        UsageError: an unknown format, or a folder that is no whole run folder (see `collect`).
        SuiteError: a report does not fit its own schema.
    """
    wanted = list(formats)
    for name in wanted:
        if name not in WRITERS:
            raise UsageError(f"no report format '{name}'; known: {', '.join(ALL)}")
    record = collect(run_folder)
    clauses = load_catalogue() if catalogue is None else catalogue
    verdict = judge(record, clauses, drift_of(record, run_folder))
    for name in wanted:
        WRITERS[name](record, verdict, run_folder)
    point_latest(run_folder)
    return verdict


def point_latest(run_folder: Path) -> Path:
    """Make `latest`, beside the run folder, lead to it.

    Returns:
        The symbolic link, or where the file system has none, a text file that holds the folder's name.
    """
    latest = run_folder.resolve().parent / LATEST
    fresh = latest.with_name(f".{LATEST}-{os.getpid()}")
    fresh.unlink(missing_ok=True)
    try:
        fresh.symlink_to(run_folder.resolve().name, target_is_directory=True)
    except OSError:
        fresh.write_text(run_folder.resolve().name + "\n", "utf-8")
    fresh.replace(latest)
    return latest
