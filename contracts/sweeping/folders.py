"""Private folders of killed runs: they hold tokens, so they go with the first run or sweep that finds them."""

from __future__ import annotations

import os
import shutil
import stat
import tempfile
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Final

from contracts.session.alive import anybody_alive

PRIVATE_PREFIX: Final = "registry-contracts-"
_OWNER_ONLY: Final = 0o077


def private_folders_of_the_dead(parent: Path | None = None) -> Iterator[Path]:
    """Private folders of this account in which nobody is at work any more.

    Args:
        parent: Where they are; the folder for temporary files by default.
    """
    for path in sorted((parent or Path(tempfile.gettempdir())).glob(f"{PRIVATE_PREFIX}*")):
        # A folder without a sign of life is one that a run has made this very moment, or nothing of ours.
        with suppress(FileNotFoundError):
            if _is_ours(path) and any(path.glob("alive-*.lock")) and not anybody_alive(path):
                yield path


def remove_private_folders(parent: Path | None = None) -> int:
    """Remove the private folders of dead runs, and say how many there were."""
    count = 0
    for path in list(private_folders_of_the_dead(parent)):
        shutil.rmtree(path, ignore_errors=True)
        count += not path.exists()
    return count


def _is_ours(path: Path) -> bool:
    facts = path.lstat()
    mine = not hasattr(os, "getuid") or facts.st_uid == os.getuid()
    return stat.S_ISDIR(facts.st_mode) and mine and not facts.st_mode & _OWNER_ONLY
