"""What cases arrange once in a run and use together, whichever worker comes first; and marks that workers leave.

Everything lies in the run's private folder, which only its owner can read and which goes when the run ends.

Where arrangements that cases share are kept, as those who arrange see it.
"""

from __future__ import annotations

import hashlib
import pickle
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any, Final, Protocol, TypeVar, cast

from filelock import FileLock

from contracts.session.ledger import REMOVABLE, Ledger, State, read_ledger
from contracts.session.namespace import Namespace

T = TypeVar("T")
#: States of a ledger's entry that say that nothing is left of it.
_GONE: Final = frozenset({"refused", "removed"})


class Sharing:
    """What one worker knows of what the workers of a run share.

    Args:
        private: The run's private folder (0700), the same for all its workers.
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
                    _write(path, pickle.dumps(made))
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
                _write(path, pickle.dumps(value))

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
            _write(path, str(number + 1).encode())
        return number

    def mark(self, name: str) -> None:
        """Leave a mark that every worker sees from now on."""
        self._path(f"mark {name}").touch()

    def marked(self, name: str) -> bool:
        """Whether some worker has left this mark."""
        return self._path(f"mark {name}").exists()

    def _path(self, name: str) -> Path:
        return self._folder / hashlib.sha256(name.encode("utf-8", "surrogatepass")).hexdigest()[:32]


def _write(path: Path, content: bytes) -> None:
    """Write in one piece: a worker that dies meanwhile must not leave half of it to the others."""
    fresh = path.with_suffix(".new")
    fresh.write_bytes(content)
    fresh.replace(path)


def _read(path: Path) -> Any:
    # Nothing but what this run's own workers wrote, into a folder that nobody else may write to.
    return pickle.loads(path.read_bytes())  # noqa: S301


def inherit(ledger: Ledger, others: Iterable[Path]) -> None:
    """Take the drafts that workers left into a ledger: those they shared, and all of a worker that died.

    Args:
        ledger: Of the process that outlives the workers.
        others: The workers' ledger files.
    """
    for path in sorted(others):
        latest = {line["number"]: line for line in read_ledger(path)}
        for line in latest.values():
            if line["what"] == REMOVABLE and line["state"] not in _GONE:
                _take_over(ledger, line)


def _take_over(ledger: Ledger, line: dict[str, Any]) -> None:
    entry = ledger.intend(line["operation"], line["realm"], line["role"], line["identifier"])
    state: State = line["state"]
    if entry is not None and state != "intended":
        ledger.settle(entry, state)


class Shared(Protocol):
    """What all workers of a run share."""

    def once(self, name: str, make: Callable[[], T]) -> T:
        """What `make` gives, made by the first worker that asks for it under this name."""

    def take(self, counter: str) -> int:
        """The next number of a counter, from 0."""

    def offer(self, name: str, value: T) -> None:
        """Put something where other cases find it, unless something lies there."""

    def offered(self, name: str) -> Any:
        """What lies under a name; None for nothing."""

    def marked(self, name: str) -> bool:
        """Whether some worker has left this mark."""


class Shelf(Protocol):
    """Where arrangements that cases share are kept; the plugin's worker is one."""

    namespace: Namespace

    @property
    def settle_seconds(self) -> float:
        """How long an effect may take to show on the target."""

    @property
    def unused(self) -> bool:
        """Whether the target began with this run, so that no earlier one can have used anything up."""

    @property
    def shared(self) -> Shared:
        """What all workers of the run share."""

    def keep(self, identifier: str) -> None:
        """Keep a draft until the end of the run."""
