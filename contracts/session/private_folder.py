"""A sign of life that the operating system takes back when a process ends, however it ends.

Private folders of killed runs: they hold tokens, so they go with the first run or sweep that finds them.
"""

from __future__ import annotations

import os
import shutil
import stat
import tempfile
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Final

from filelock import FileLock, Timeout

#: Somebody who looks holds the lock for a moment; a process that starts waits that long and longer.
_PATIENCE_SECONDS = 10.0
_RENAMES_WHAT_IS_OPEN = os.name == "posix"


class Alive:
    """Says that a process is at work in a folder, by a lock that is free again the moment it is dead.

    Args:
        folder: Folder of the run, or its private one.
        name: Of the process within the run.
    """

    def __init__(self, folder: Path, name: str) -> None:
        self._path = folder / f"alive-{name}.lock"
        begun = folder / f"begun-{name}.lock" if _RENAMES_WHAT_IS_OPEN else self._path
        # Singletons would tie two runs in one process together.
        self._lock = FileLock(begun, mode=0o600)
        self._lock.acquire(timeout=_PATIENCE_SECONDS)
        # Under its name only once it is held: whoever looked in between would take the process for dead.
        begun.rename(self._path)

    def end(self) -> None:
        """Take the sign away; a second call does nothing."""
        if self._lock.is_locked:
            self._lock.release()
            self._path.unlink(missing_ok=True)


def anybody_alive(folder: Path, name: str = "*") -> bool:
    """Whether a process of this machine is at work in a folder: any, or the one of a name."""
    return any(_held(path) for path in sorted(folder.glob(f"alive-{name}.lock")))


def _held(path: Path) -> bool:
    lock = FileLock(path, mode=0o600)
    try:
        lock.acquire(blocking=False)
    except Timeout:
        return True
    lock.release()
    return False


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
