"""What the sessions of a run share through their private folder: arrangements, counters and marks of the cases."""

from __future__ import annotations

import hashlib
import pickle
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar, cast

from filelock import FileLock

from contracts.session.private_folder import write_whole

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
