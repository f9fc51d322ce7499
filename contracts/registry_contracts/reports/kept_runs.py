"""Reads kept runs: their folder, their verdict, the history, and accepted deviations."""

from __future__ import annotations

from pathlib import Path

from registry_contracts.errors import UsageError
from registry_contracts.evidence.run_folder import LATEST
from registry_contracts.evidence.terms import FOLDER as DEVIATIONS
from registry_contracts.evidence.terms import Deviation, read_deviations
from registry_contracts.file_formats import FileName, convert, own_folder, read_file, read_text
from registry_contracts.reports.verdict_json import FILE_NAME as VERDICT
from registry_contracts.reports.verdict_json import VerdictFile


def run_folder(reports: Path, run: str | None) -> Path:
    """Return the folder of a run.

    Args:
        run: Path of a run folder, or its name in `reports`; None for the latest run.

    Raises:
        UsageError: there is none; the message says where it was searched.
    """
    folder = _latest(reports) if run is None else next(filter(Path.is_dir, (Path(run), reports / run)), None)
    if folder is None:
        raise UsageError(
            f"no run '{run}': neither a folder, nor one in '{reports}'"
            if run is not None
            else f"no run in '{reports}' yet; `registry-contracts run` makes one, --reports names another"
        )
    return own_folder(folder.resolve())


def _latest(reports: Path) -> Path | None:
    latest = reports / LATEST
    if latest.is_file():
        # On a file system without links it is a text file with the folder's name.
        latest = reports / convert(read_text(latest, str(latest)).strip(), FileName, str(latest))
    if latest.is_dir():
        return latest
    # A refused command removed the link.
    return max(
        (path.parent for path in reports.glob(f"[0-9]*/{VERDICT}")), default=None, key=lambda run: run.name
    )


def last_run(reports: Path, run: str | None = None) -> tuple[str, VerdictFile] | None:
    """Read the name and verdict of the latest run in a reports folder; None if there is none.

    Args:
        run: Another run's name, or the path of its folder.

    Raises:
        UsageError: its `verdict.json` cannot be read, or the named run does not exist.
    """
    if run is None and _latest(reports) is None:
        return None
    folder = run_folder(reports, run)
    path = folder / VERDICT
    if not path.exists():
        return None
    try:
        return folder.name, read_file(path, VerdictFile)
    except UsageError as error:
        raise UsageError(f"{error}; `python -m registry_contracts.reports {folder}` makes it again") from None


def deviations(search: Path) -> list[tuple[str, Deviation]]:
    """Accepted contradictions of every target below a folder, each with the target's name.

    Raises:
        UsageError: a file cannot be used; one line.
    """
    accepted = []
    for path in sorted((search / DEVIATIONS).glob("*.toml")):
        shown = str(path.relative_to(search))
        entries = read_deviations(path, shown)
        accepted += [(path.stem, entry) for entry in entries]
    return accepted
