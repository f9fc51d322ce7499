"""How many records a run may create that nobody can remove again: few, and the same few for all workers together."""

from __future__ import annotations

import json
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path

from filelock import FileLock

from contracts.errors import EnvironmentFault

#: What the budget counts; an attachment goes with its document and is listed, not counted.
PERMANENT = frozenset({"contact", "submission"})
#: How long a write waits for others under way, which may yet turn out to create nothing.
_PATIENCE_SECONDS = 5.0
_LOOK_AGAIN_SECONDS = 0.02


class ResidueSpent(EnvironmentFault):
    """A write could create one permanent record more than the settings allow; it was not sent."""


class ResidueBudget:
    """The permanent records of a run in each realm, counted in its private folder.

    A record is counted once, however often it is written. A write that the service refuses gives its place back;
    one whose outcome is unknown keeps it.

    Args:
        folder: Private folder that all workers of the run see.
        most: Permanent records that the run may create in one realm.
        is_given: Whether an identifier is one of the settings, whose record exists already.
    """

    def __init__(self, folder: Path, most: int, is_given: Callable[[str], bool]) -> None:
        self._folder = folder
        self._most = most
        self._is_given = is_given

    def reserve(self, realm: str, record: str) -> None:
        """Take a place for a record before it is written.

        Raises:
            ResidueSpent: there is none left.
        """
        if self._is_given(record):
            return
        deadline = time.monotonic() + _PATIENCE_SECONDS
        while not self._take(realm, record):
            full = len(self._read(realm)[0]) >= self._most
            if full or time.monotonic() > deadline:
                raise ResidueSpent(
                    f"the run has created the {self._most} permanent records it may create in {realm} "
                    "(setting pace.permanent_records)"
                )
            time.sleep(_LOOK_AGAIN_SECONDS)

    def settle(self, realm: str, record: str, *, kept: bool) -> None:
        """Say what became of a write whose place was reserved."""
        if self._is_given(record):
            return
        with self._locked(realm):
            there, under_way = self._read(realm)
            under_way -= Counter([record])
            self._write(realm, there | ({record} if kept else set()), under_way)

    def created(self, realm: str) -> int:
        """How many permanent records the run has created in a realm, or may have created."""
        return len(self._read(realm)[0])

    def _take(self, realm: str, record: str) -> bool:
        with self._locked(realm):
            there, under_way = self._read(realm)
            if record not in there and len(there | under_way.keys() | {record}) > self._most:
                return False
            self._write(realm, there, under_way + Counter([record]))
            return True

    def _locked(self, realm: str) -> FileLock:
        return FileLock(self._folder / f"residue-{realm}.lock")

    def _read(self, realm: str) -> tuple[set[str], Counter[str]]:
        path = self._folder / f"residue-{realm}.json"
        if not path.exists():
            return set(), Counter()
        there, under_way = json.loads(path.read_text(encoding="utf-8"))
        return set(there), Counter(under_way)

    def _write(self, realm: str, there: set[str], under_way: Counter[str]) -> None:
        path = self._folder / f"residue-{realm}.json"
        fresh = path.with_suffix(".new")
        fresh.write_text(json.dumps([sorted(there), under_way]), encoding="utf-8")
        fresh.replace(path)
