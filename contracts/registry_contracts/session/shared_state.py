"""What the sessions of a run share: a private folder with locks and state.

A killed run's private folder holds tokens, so it goes with the first run or sweep that finds it.
"""

from __future__ import annotations

import errno
import hashlib
import os
import pickle
import shutil
import stat
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, Final, TypeVar, cast

from filelock import FileLock, Timeout

from registry_contracts.errors import UsageError

PRIVATE_PREFIX: Final = "registry-contracts-"
_OWNER_ONLY: Final = 0o077


#: What file systems say that have no locks, as some shares.
_NO_LOCKS: Final = (errno.ENOLCK, errno.ENOSYS, errno.EOPNOTSUPP)


class ProcessLock:
    """Says that a process is at work in a folder, by a lock that the operating system frees when the process ends.

    Raises:
        UsageError: the folder's file system has no locks.
    """

    def __init__(self, folder: Path, name: str) -> None:
        self._path = folder / f"alive-{name}.lock"
        begun = folder / f"begun-{name}.lock"
        self._lock = FileLock(begun, mode=0o600)
        try:
            self._lock.acquire()
        except (OSError, NotImplementedError) as error:
            if isinstance(error, OSError) and error.errno not in _NO_LOCKS:
                raise
            option = "TMPDIR" if folder.name.startswith(PRIVATE_PREFIX) else "--reports"
            raise UsageError(
                f"the file system of '{folder.parent}' has no locks; name another folder with {option}"
            ) from None
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
    """Write a file that only its owner can read, in one piece: others see all of it or nothing new.

    No two processes may write it at the same time.
    """
    fresh = path.with_suffix(".new")
    with os.fdopen(os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "wb") as file:
        file.write(content)
    fresh.replace(path)


def next_number(path: Path) -> int:
    """Count one more in a file that several processes count in, and return how many there were before.

    A byte is appended for each: the operating system puts them one behind the other without a lock.
    """
    with path.open("ab", buffering=0) as file:
        file.write(b".")
        return file.tell() - 1


def abandoned_private_folders(parent: Path | None = None) -> Iterator[Path]:
    """Private folders of this account in which no process is at work any more; by default where they are made."""
    for path in sorted((parent or Path(tempfile.gettempdir())).glob(f"{PRIVATE_PREFIX}*")):
        # A folder without a lock is one that a run has made this very moment, or nothing of ours.
        with suppress(FileNotFoundError):
            if _is_ours(path) and any(path.glob("alive-*.lock")) and not process_alive(path):
                yield path


def remove_abandoned_private_folders(parent: Path | None = None) -> int:
    """Remove the private folders of dead runs, and return how many there were."""
    folders = list(abandoned_private_folders(parent))
    for path in folders:
        shutil.rmtree(path, ignore_errors=True)
    return sum(not path.exists() for path in folders)


def _is_ours(path: Path) -> bool:
    facts = path.lstat()
    mine = facts.st_uid == os.getuid() and not facts.st_mode & _OWNER_ONLY
    return stat.S_ISDIR(facts.st_mode) and mine


T = TypeVar("T")


class SharedState:
    """One session's view of what the sessions of a run share, in their private folder (0700).

    Values can be pickled, and names are the same in every worker.
    """

    def __init__(self, private: Path) -> None:
        self._folder = private / "shared"
        self._folder.mkdir(mode=0o700, exist_ok=True)
        self._known: dict[str, Any] = {}
        self._paths: dict[str, Path] = {}

    def once(self, name: str, make: Callable[[], T]) -> T:
        """What `make` gives, made by the first worker that asks for it; the others wait for it.

        What raises is not kept. What `make` itself asks for is locked under its own name: no two may need each other.
        """
        if name not in self._known:
            self._known[name] = self.renewed(name, make)
        return cast(T, self._known[name])

    def renewed(self, name: str, make: Callable[[], T], fits: Callable[[T], bool] = lambda _: True) -> T:
        """What lies under a name; made where nothing lies there, or it does not fit any more."""
        path = self._path(name)
        with FileLock(f"{path}.lock"):
            if path.exists() and fits(kept := cast(T, _read(path))):
                return kept
            made = make()
            write_whole(path, pickle.dumps(made))
            return made

    @contextmanager
    def held(self, name: str, new: Callable[[], T]) -> Iterator[T]:
        """What lies under a name, or `new` where nothing does, for one process alone; kept as it is left.

        What raises leaves it as it was.
        """
        path = self._path(name)
        with FileLock(f"{path}.lock"):
            kept = path.read_bytes() if path.exists() else b""
            value = cast(T, _unpickled(kept)) if kept else new()
            yield value
            changed = pickle.dumps(value)
            if changed != kept:
                write_whole(path, changed)

    def put(self, name: str, value: object) -> None:
        """Put something under a name, in place of what lies there."""
        self.renewed(name, lambda: value, lambda _: False)

    def offer(self, name: str, value: object) -> None:
        """Put something where other cases find it, unless something lies there."""
        self.renewed(name, lambda: value)

    def offered(self, name: str) -> Any:
        """What lies under a name; None for nothing."""
        path = self._path(name)
        with suppress(FileNotFoundError):
            return _read(path) if path.exists() else None
        return None

    def take(self, counter: str) -> int:
        """The next number of a counter, from 0."""
        return next_number(self._path(f"counter {counter}"))

    def _path(self, name: str) -> Path:
        if name not in self._paths:  # some are asked for with every request
            digest = hashlib.sha256(name.encode("utf-8", "surrogatepass")).hexdigest()
            self._paths[name] = self._folder / digest[:32]
        return self._paths[name]


def _read(path: Path) -> Any:
    return _unpickled(path.read_bytes())


def _unpickled(content: bytes) -> Any:
    # Nothing but what this run's own workers wrote, into a folder that no other account may write to.
    return pickle.loads(content)  # noqa: S301
