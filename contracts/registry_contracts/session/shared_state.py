"""State that the sessions of a run share, in a private folder with locks.

The private folder of a killed run holds tokens, so the next run or sweep removes it.
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


#: Errors of file systems without locks, for example some network shares.
_NO_LOCKS: Final = (errno.ENOLCK, errno.ENOSYS, errno.EOPNOTSUPP)


class ProcessLock:
    """Marks a folder as in use, by a lock that the operating system frees when the process ends.

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
        # The lock gets its name once it is held: otherwise another process might think that this one is dead.
        begun.rename(self._path)

    def release(self) -> None:
        """Free the folder; a second call does nothing."""
        if self._lock.is_locked:
            self._lock.release()
            self._path.unlink(missing_ok=True)


def process_alive(folder: Path) -> bool:
    """Whether a process of this machine uses a folder."""
    return any(map(_held, folder.glob("alive-*.lock")))


def _held(path: Path) -> bool:
    lock = FileLock(path, mode=0o600)
    try:
        lock.acquire(blocking=False)
    except Timeout:
        return True
    lock.release()
    return False


def write_whole(path: Path, content: bytes) -> None:
    """Write a file that only its owner can read, atomically: others see the old or the new content.

    Two processes must not write it at the same time.
    """
    fresh = path.with_suffix(".new")
    with os.fdopen(os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "wb") as file:
        file.write(content)
    fresh.replace(path)


def abandoned_private_folders(parent: Path | None = None) -> Iterator[Path]:
    """Private folders of this account that no process uses any more; by default in the system's temporary folder."""
    for path in sorted((parent or Path(tempfile.gettempdir())).glob(f"{PRIVATE_PREFIX}*")):
        # A folder without a lock was made a moment ago, or is not ours.
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
    """One session's view of the shared state: picklable values by name, the same in every worker."""

    def __init__(self, private: Path) -> None:
        self._folder = private / "shared"
        self._folder.mkdir(mode=0o700, exist_ok=True)
        self._known: dict[str, Any] = {}

    def once(self, name: str, make: Callable[[], T]) -> T:
        """The result of `make`, called by the first worker that asks; the others wait for it.

        Nothing is stored if `make` raises. Two such calls must not need each other: each holds the lock of its name.
        """
        if name not in self._known:
            self._known[name] = self.renewed(name, make)
        return cast(T, self._known[name])

    def renewed(self, name: str, make: Callable[[], T], fits: Callable[[T], bool] = lambda _: True) -> T:
        """The value of a name; made anew if there is none, or if `fits` rejects it."""
        path = self._path(name)
        with self.lock(name):
            if path.exists() and fits(kept := cast(T, _unpickled(path.read_bytes()))):
                return kept
            made = make()
            write_whole(path, pickle.dumps(made))
            return made

    @contextmanager
    def held(self, name: str, new: Callable[[], T]) -> Iterator[T]:
        """The value of a name, or `new()`, under a lock; it is stored at the end, unless the body raises."""
        path = self._path(name)
        with self.lock(name):
            kept = path.read_bytes() if path.exists() else b""
            value = cast(T, _unpickled(kept)) if kept else new()
            yield value
            changed = pickle.dumps(value)
            if changed != kept:
                write_whole(path, changed)

    def put(self, name: str, value: object) -> None:
        """Set the value of a name."""
        self.renewed(name, lambda: value, lambda _: False)

    def offer(self, name: str, value: object) -> None:
        """Set the value of a name, unless it has one."""
        self.renewed(name, lambda: value)

    def offered(self, name: str) -> Any:
        """The value of a name; None without one."""
        try:
            return _unpickled(self._path(name).read_bytes())
        except FileNotFoundError:
            return None

    def take(self, counter: str) -> int:
        """The next number of a counter, from 0.

        The counter is the size of a file: the operating system appends bytes one after the other without a lock.
        """
        with self._path(f"counter {counter}").open("ab", buffering=0) as file:
            file.write(b".")
            return file.tell() - 1

    def taken(self, counter: str) -> int:
        """How many numbers of a counter were taken."""
        path = self._path(f"counter {counter}")
        return path.stat().st_size if path.exists() else 0

    def lock(self, name: str) -> FileLock:
        """A lock of this name, which one process can hold at a time."""
        return FileLock(f"{self._path(name)}.lock")

    def _path(self, name: str) -> Path:
        digest = hashlib.sha256(name.encode("utf-8", "surrogatepass")).hexdigest()
        return self._folder / digest[:32]


def _unpickled(content: bytes) -> Any:
    # Only this run's workers write there: no other account may.
    return pickle.loads(content)  # noqa: S301
