"""Makes the folder that takes what a run, a merge, a check or a call by hand leaves."""

from __future__ import annotations

import os
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

from contracts.errors import UsageError

#: So many that begin in one second and are called the same are none of a person's making.
_MOST: Final = 99


def new_folder(
    reports: Path, kind: str, purpose: str = "write a report to", at: datetime | None = None
) -> Path:
    """Make a folder, named by the moment and what it is for; one that is taken already gets a number behind.

    Args:
        reports: Folder that holds it; made where it is not there.
        kind: The end of its name, such as `dev-c7qm`.
        purpose: What could not be done to `reports`, for the message.
        at: The moment; now by default.

    Raises:
        UsageError: it cannot be made, or nothing can be written there.
    """
    base = f"{at or datetime.now(UTC):%Y%m%d-%H%M%S}-{kind}"
    try:
        reports.mkdir(parents=True, exist_ok=True)
        folder = _first_free(reports, base)
    except OSError as error:
        raise UsageError(
            f"cannot {purpose} '{reports}': {error.strerror}; choose another with --reports"
        ) from None
    if folder is None:
        raise UsageError(f"cannot {purpose} '{reports}': too many were begun in this second; try again")
    if not os.access(folder, os.W_OK):
        raise UsageError(f"cannot {purpose} '{reports}'; choose another with --reports")
    return folder


def _first_free(reports: Path, base: str) -> Path | None:
    for number in range(1, _MOST + 1):
        folder = reports / (base if number == 1 else f"{base}-{number}")
        try:
            folder.mkdir(parents=True)
        except FileExistsError:
            continue
        return folder
    return None
