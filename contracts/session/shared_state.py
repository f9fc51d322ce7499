"""What the sessions of a run share: a private folder with locks and state.

A killed run's private folder holds tokens, so it goes with the first run or sweep that finds it.
"""

from __future__ import annotations

import hashlib
import os
import pickle
import shutil
import stat
import tempfile
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any, Final, TypeVar, cast

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


#: Files there are in memory: what workers share is written for many a request, and credentials never reach a disk.
_IN_MEMORY: Final = Path("/dev/shm")  # noqa: S108 - a folder of its own is made there
_MEMORY_NEEDED: Final = 64 * 1024 * 1024


def private_parent() -> Path:
    """Where private folders are made: in memory, unless a variable such as TMPDIR or a lack of room says otherwise."""
    if not any(os.environ.get(name) for name in ("TMPDIR", "TEMP", "TMP")):
        with suppress(OSError, AttributeError):  # there is none; or this system has no such question
            room = os.statvfs(_IN_MEMORY)
            if room.f_bavail * room.f_frsize >= _MEMORY_NEEDED and os.access(_IN_MEMORY, os.W_OK | os.X_OK):
                return _IN_MEMORY
    return Path(tempfile.gettempdir())


def abandoned_private_folders(*parents: Path) -> Iterator[Path]:
    """Private folders of this account in which no process is at work any more.

    Args:
        parents: Where they are; by default wherever they may have been made.
    """
    folders = dict.fromkeys(parents or (private_parent(), Path(tempfile.gettempdir())))
    for path in sorted(path for folder in folders for path in folder.glob(f"{PRIVATE_PREFIX}*")):
        # A folder without a lock is one that a run has made this very moment, or nothing of ours.
        with suppress(FileNotFoundError):
            if _is_ours(path) and any(path.glob("alive-*.lock")) and not process_alive(path):
                yield path


def remove_abandoned_private_folders(*parents: Path) -> int:
    """Remove the private folders of dead runs, and return how many there were; `parents` as above."""
    count = 0
    for path in list(abandoned_private_folders(*parents)):
        shutil.rmtree(path, ignore_errors=True)
        count += not path.exists()
    return count


def _is_ours(path: Path) -> bool:
    facts = path.lstat()
    mine = not hasattr(os, "getuid") or facts.st_uid == os.getuid()
    return stat.S_ISDIR(facts.st_mode) and mine and not facts.st_mode & _OWNER_ONLY


T = TypeVar("T")


class SharedState:
    """One session's view of what the sessions of a run share.

    Args:
        private: The private folder (0700) of the session or its group.
    """

    def __init__(self, private: Path) -> None:
        self._folder = private / "shared"
        self._folder.mkdir(mode=0o700, exist_ok=True)
        self._known: dict[str, Any] = {}

    def once(self, name: str, make: Callable[[], T]) -> T:
        """What `make` gives, made by the first worker that asks for it; the others wait for it.

        What raises is not kept: the next one who asks tries again. Something that `make` itself asks for is locked
        under its own name, so no two of them may need each other.

        Args:
            name: The same in every worker.
            make: Gives something that can be pickled.
        """
        if name not in self._known:
            path = self._path(name)
            with FileLock(f"{path}.lock"):
                if not path.exists():
                    self._known[name] = made = make()
                    write_whole(path, pickle.dumps(made))
                    return made
                self._known[name] = _read(path)
        return cast(T, self._known[name])

    def offer(self, name: str, value: object) -> None:
        """Put something where other cases find it, unless something lies there.

        Args:
            value: Can be pickled.
        """
        path = self._path(name)
        with FileLock(f"{path}.lock"):
            if not path.exists():
                write_whole(path, pickle.dumps(value))

    def offered(self, name: str) -> Any:
        """What lies under a name; None for nothing."""
        path = self._path(name)
        with FileLock(f"{path}.lock"):
            return _read(path) if path.exists() else None

    def take(self, counter: str) -> int:
        """The next number of a counter, from 0."""
        path = self._path(f"counter {counter}")
        with FileLock(f"{path}.lock"):
            number = int(path.read_text()) if path.exists() else 0
            write_whole(path, str(number + 1).encode())
        return number

    def mark(self, name: str) -> None:
        """Leave a mark that every worker sees from now on."""
        self._path(f"mark {name}").touch()

    def marked(self, name: str) -> bool:
        """Whether some worker has left this mark."""
        return self._path(f"mark {name}").exists()

    def _path(self, name: str) -> Path:
        return self._folder / hashlib.sha256(name.encode("utf-8", "surrogatepass")).hexdigest()[:32]


def _read(path: Path) -> Any:
    # Nothing but what this run's own workers wrote, into a folder that no other account may write to.
    return pickle.loads(path.read_bytes())  # noqa: S301
