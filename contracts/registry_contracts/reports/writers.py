"""Writes the reports of a run folder, from its journals, and points `latest` at it."""

import shutil
from collections.abc import Callable, Collection, Iterable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Final

from registry_contracts.errors import RegistryContractsError, breakdown
from registry_contracts.evidence import run_comparison
from registry_contracts.evidence.journal import journals_in
from registry_contracts.evidence.record import RunRecord
from registry_contracts.evidence.run_comparison import drift_of
from registry_contracts.evidence.run_folder import LATEST, collect, point_latest
from registry_contracts.evidence.verdicts import RunVerdict, judge
from registry_contracts.exchanges import har
from registry_contracts.file_formats import PACKED, pack_file
from registry_contracts.history.drift import NO_DRIFT, DriftReport
from registry_contracts.history.runs import read_past
from registry_contracts.interface.catalogue import Clause, load_catalogue
from registry_contracts.reports import build_server, cards, html, summary, verdict_json
from registry_contracts.safe_text import plain_line
from registry_contracts.session.ledger import LEDGER_FILE, read_entries, removable

Writer = Callable[[RunRecord, RunVerdict, Path], object]


def _write_har(record: RunRecord, verdict: RunVerdict, folder: Path) -> None:
    """Write `traffic.har`, exchanges in the order they were sent, each with its case in the comment."""
    path = folder / har.FILE_NAME
    path.with_name(path.name + PACKED).unlink(missing_ok=True)
    version = record.run.versions.get("suite", "unknown")
    with har.har_writer(path, version, f"{record.run.target}: {verdict.sentence}") as archive:
        for exchange in record.exchanges.values():
            har.add(archive, exchange)


#: By format: the function that writes it, and the file or folder in the run's folder.
WRITERS: Final[Mapping[str, tuple[Writer, str]]] = {
    "verdict": (verdict_json.write, verdict_json.FILE_NAME),
    "html": (html.write, html.FILE_NAME),
    "findings": (cards.write, cards.FOLDER_NAME),
    "junit": (build_server.write, build_server.FILE_NAME),
    "har": (_write_har, har.FILE_NAME),
    "observations": (run_comparison.write_observations, run_comparison.OBSERVATIONS_FILE),
    "summary": (summary.write, summary.FILE_NAME),
    "history": (run_comparison.write, run_comparison.FILE_NAME),
}
ALL = tuple(WRITERS)
_LONGEST: Final = 250


def write_all(
    run_folder: Path, formats: Collection[str] = ALL, catalogue: Iterable[Clause] | None = None
) -> RunVerdict:
    """Judge a run folder and write its reports into it.

    If a report cannot be written, the others still are, and the verdict names it.

    Args:
        run_folder: `reports/<run>/`, holding `run.json` and the journals.
        formats: keys of `WRITERS`.
        catalogue: the clauses; those of the interface description unless given.

    Returns:
        The run's verdict. Rendering the same folder again gives the same one.

    Raises:
        UsageError: an incomplete run folder (see `collect`).
    """
    record = collect(run_folder)
    read_past(run_folder)
    clauses = list(load_catalogue() if catalogue is None else catalogue)
    missing: dict[str, str] = {}
    drift = _drift(record, run_folder, missing)
    try:
        point_latest(run_folder)
    except OSError as error:
        missing[LATEST] = unwritten(LATEST, error)
    while True:
        verdict = judge(record, clauses, drift, tuple(missing.values()))
        before = len(missing)
        for name in [name for name in formats if name not in missing]:
            _write(name, record, verdict, run_folder, missing)
        # After a failure write all again, so that no report says pass while one is missing.
        if len(missing) == before:
            return verdict


def _drift(record: RunRecord, run_folder: Path, missing: dict[str, str]) -> DriftReport:
    try:
        return drift_of(record, run_folder)
    except RegistryContractsError:
        raise
    except Exception as error:  # noqa: BLE001 - the comparison reads what a service answered, as the writers do
        missing["drift"] = unwritten("the comparison with the baseline", error)
        return NO_DRIFT


def _write(
    name: str, record: RunRecord, verdict: RunVerdict, run_folder: Path, missing: dict[str, str]
) -> None:
    """Write one report; if that fails, add the reason to `missing` and remove what was written."""
    write, place = WRITERS[name]
    try:
        write(record, verdict, run_folder)
    except Exception as error:  # noqa: BLE001 - whatever a service's text does to one writer costs no other report
        missing[name] = unwritten(place, error)
        path = run_folder / place
        with suppress(OSError):
            if path.is_dir():
                shutil.rmtree(path)
            else:
                path.unlink(missing_ok=True)


#: Folder of Allure's results in a run's folder; they are never packed, since Allure reads plain files.
ALLURE_FOLDER: Final = "allure"
#: Size on disk of a run's folder, without Allure's results, above which large files are packed.
LARGEST_FOLDER: Final = 10_000_000


def pack(run_folder: Path) -> bool:
    """Pack journals and traffic if a run's folder is larger than `LARGEST_FOLDER`.

    Every reader of a run's folder also reads packed files. If that is not enough, as after a nightly in all realms,
    pack the ledger of a run that left no draft, and remove the traffic: journals hold it, and `--format har` writes it
    again.

    Returns:
        Whether they were packed.
    """
    if not _is_too_large(run_folder):
        return False
    bulky = [run_folder / har.FILE_NAME, *journals_in(run_folder)]
    for path in bulky:
        if path.exists() and path.suffix != PACKED:
            pack_file(path)
    ledger = run_folder / LEDGER_FILE
    if _is_too_large(run_folder) and ledger.exists() and not removable(read_entries([ledger])):
        pack_file(ledger)
    if _is_too_large(run_folder):
        (run_folder / f"{har.FILE_NAME}{PACKED}").unlink(missing_ok=True)
    return True


def _is_too_large(run_folder: Path) -> bool:
    inside = (path for path in run_folder.iterdir() if path.name != ALLURE_FOLDER)
    counted = (path for top in inside for path in (top, *top.rglob("*")))
    return sum(map(_bytes_on_disk, counted)) > LARGEST_FOLDER


def _bytes_on_disk(path: Path) -> int:
    """The size of a file on disk, in whole blocks."""
    status = path.lstat()
    return int(getattr(status, "st_blocks", 0)) * 512 or status.st_size


def unwritten(what: str, error: Exception) -> str:
    """Return one line on what could not be written, why, and where in the suite it failed."""
    return f"{what} could not be written: {plain_line(breakdown(error), _LONGEST)}"
