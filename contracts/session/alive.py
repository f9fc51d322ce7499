"""A sign of life that the operating system takes back when a process ends, however it ends."""

from __future__ import annotations

import os
from pathlib import Path

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
