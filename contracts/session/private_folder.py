"""Private folders of runs, the files in them, and the locks that tell whether a process is at work in one.

A killed run's private folder holds tokens, so it goes with the first run or sweep that finds it.
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

#: A process that looks holds the lock for a moment; one that starts waits for it, at most this long.
_LONGEST_WAIT_SECONDS = 10.0
_RENAMES_WHAT_IS_OPEN = os.name == "posix"


class ProcessLock:
    """Says that a process is at work in a folder, by a lock that the operating system frees when the process ends.

    Args:
        folder: Folder of the run, or its private one.
        name: Of the process within the run.
    """

    def __init__(self, folder: Path, name: str) -> None:
        self._path = folder / f"alive-{name}.lock"
        begun = folder / f"begun-{name}.lock" if _RENAMES_WHAT_IS_OPEN else self._path
        # Singletons would tie two runs in one process together.
        self._lock = FileLock(begun, mode=0o600)
        self._lock.acquire(timeout=_LONGEST_WAIT_SECONDS)
        # Under its name only once it is held: a process that looked in between would take this one for dead.
        begun.rename(self._path)

    def release(self) -> None:
        """Say that the process is done; a second call does nothing."""
        if self._lock.is_locked:
            self._lock.release()
            self._path.unlink(missing_ok=True)


def process_alive(folder: Path, name: str = "*") -> bool:
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


def write_whole(path: Path, content: bytes) -> None:
    """Write a file that only its owner can read, in one piece: whatever happens, others see all of it or nothing new.

    Args:
        path: No two processes may write it at the same time.
    """
    fresh = path.with_suffix(".new")
    with os.fdopen(os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "wb") as file:
        file.write(content)
    fresh.replace(path)


PRIVATE_PREFIX: Final = "registry-contracts-"
_OWNER_ONLY: Final = 0o077


def abandoned_private_folders(parent: Path | None = None) -> Iterator[Path]:
    """Private folders of this account in which no process is at work any more.

    Args:
        parent: Where they are; the folder for temporary files by default.
    """
    for path in sorted((parent or Path(tempfile.gettempdir())).glob(f"{PRIVATE_PREFIX}*")):
        # A folder without a lock is one that a run has made this very moment, or nothing of ours.
        with suppress(FileNotFoundError):
            if _is_ours(path) and any(path.glob("alive-*.lock")) and not process_alive(path):
                yield path


def remove_abandoned_private_folders(parent: Path | None = None) -> int:
    """Remove the private folders of dead runs, and return how many there were."""
    count = 0
    for path in list(abandoned_private_folders(parent)):
        shutil.rmtree(path, ignore_errors=True)
        count += not path.exists()
    return count


def _is_ours(path: Path) -> bool:
    facts = path.lstat()
    mine = not hasattr(os, "getuid") or facts.st_uid == os.getuid()
    return stat.S_ISDIR(facts.st_mode) and mine and not facts.st_mode & _OWNER_ONLY
