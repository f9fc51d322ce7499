"""Finding the folder of a run: by path, by name in the reports, or the latest."""

from __future__ import annotations

from pathlib import Path

from contracts.errors import UsageError
from contracts.reports.writers import LATEST


def run_folder(reports: Path, run: str | None) -> Path:
    """Return the folder of a run.

    Args:
        reports: folder that holds the runs.
        run: path of a run folder, or its name in `reports`; None for the latest run.

    Raises:
        UsageError: there is none; says where it was looked for.
    """
    if run is None:
        return _latest(reports)
    for folder in (Path(run), reports / run):
        if folder.is_dir():
            return folder.resolve()
    raise UsageError(f"no run '{run}': neither a folder, nor one in '{reports}'")


def _latest(reports: Path) -> Path:
    latest = reports / LATEST
    if latest.is_file():
        # A file system without links holds the folder's name in a text file.
        latest = reports / latest.read_text("utf-8").strip()
    if not latest.is_dir():
        raise UsageError(
            f"no run in '{reports}' yet; `registry-contracts run` makes one, --reports names another"
        )
    return latest.resolve()
