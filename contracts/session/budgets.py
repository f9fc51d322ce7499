"""What a run may send and leave behind: its requests, and the permanent records in each realm."""

from __future__ import annotations

import json
import os
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from filelock import FileLock

from contracts.errors import EnvironmentFault
from contracts.session.namespace import KEPT_PREFIX
from contracts.session.shared_state import write_whole

#: Share of the budget that only signing in, cleaning and sweeping may use, and its least number of requests.
_KEPT_BACK: Final = 20
_LEAST_KEPT_BACK: Final = 20
#: A worker takes places in blocks, so that few requests have to look at the shared file.
_LARGEST_BLOCK: Final = 25
_FILE: Final = "requests"
_DIGITS: Final = 20


class BudgetSpent(EnvironmentFault):
    """The run has sent as many requests as its settings allow; this one was not sent."""


class RequestBudget:
    """The requests of a run, counted in its private folder.

    Args:
        folder: Private folder that all workers of the run see.
        most: Requests that the run may send, repetitions included; None for no limit.
    """

    def __init__(self, folder: Path, most: int | None) -> None:
        self._most = most
        kept_back = max(min(_LEAST_KEPT_BACK, (most or 0) // 4), (most or 0) // _KEPT_BACK)
        self._for_cases = (most or 0) - kept_back
        self._path = folder / _FILE
        self._lock = FileLock(folder / "requests.lock")
        self._block = max(1, min(_LARGEST_BLOCK, (most or 0) // 400))
        self._left = 0
        self._threads = threading.Lock()

    def take(self, *, essential: bool = False) -> None:
        """Count one request before it is sent.

        Args:
            essential: It signs in, cleans, sweeps or repeats, and may use what is kept back.

        Raises:
            BudgetSpent: it would be one too many.
        """
        if self._most is None:
            return
        if essential:
            if not self._reserve(1, self._most):
                raise self._spent(self._most)
            return
        with self._threads:
            self._left = self._left or self._reserve(self._block, self._for_cases)
            if not self._left:
                raise self._spent(self._for_cases)
            self._left -= 1

    def affords(self) -> bool:
        """Count a repetition, if there is room for it."""
        try:
            self.take(essential=True)
        except BudgetSpent:
            return False
        return True

    def _reserve(self, wanted: int, limit: int) -> int:
        """Take up to `wanted` places below a limit."""
        with self._lock, os.fdopen(os.open(self._path, os.O_RDWR | os.O_CREAT, 0o600), "r+b", 0) as file:
            used = int(file.read(_DIGITS) or 0)
            taken = max(0, min(wanted, limit - used))
            if taken:
                # In place and always as long: a reader finds the old number or the new one.
                os.pwrite(file.fileno(), f"{used + taken:0{_DIGITS}}".encode(), 0)
        return taken

    def _spent(self, limit: int) -> BudgetSpent:
        kept = f", {limit:,} of them for cases" if limit != self._most else ""
        return BudgetSpent(
            f"the request budget of this run is spent: {self._most:,}{kept} (setting pace.request_budget)"
        )


#: How long a write waits for others under way, which may yet turn out to create nothing.
_PATIENCE_SECONDS: Final = 5.0
_POLL_SECONDS: Final = 0.02
#: Records of one kind of unplanned write that are taken as evidence: a case may see a fault in three requests, and once
#: more when it is confirmed.
_EVIDENCE: Final = 6
#: Places of the planned records that unplanned ones may take before no more of an operation's are sent.
_BORROWED: Final = 3


class ResidueSpent(EnvironmentFault):
    """A write could create one permanent record more than the settings allow; it was not sent."""


@dataclass(frozen=True)
class PermanentWrite:
    """A write that may create a permanent record.

    Attributes:
        record: Tells its record from others.
        operation: `operationId`.
        case: On whose behalf it is sent.
        kind: What of the request may have to be refused, as `credentials`; requests of one kind show one fault.
        advisory: Nothing that its case may find is about a must.
    """

    realm: str
    record: str
    operation: str = ""
    case: str = ""
    kind: str = ""
    advisory: bool = False

    @property
    def label(self) -> str:
        """Tells its kind from others."""
        return f"{self.operation} {self.kind or self.case}"


class ResidueBudget:
    """The permanent records of a run: a count for each realm, and a plan.

    A record is counted once, however often it is written, unless the service makes another one each time. A write
    that the service refuses gives its place back; one whose outcome is unknown keeps it.

    What a run creates when nothing is wrong is planned before it. All other writes ought to be refused: those that
    are accepted all the same are evidence of a fault, and one fault must not take the places of the planned records
    (design 4.5). So each kind of them gets a few places, and all of them together little more than the plan leaves.

    Args:
        folder: Private folder that all workers of the run see.
        most: Permanent records that the run may create in one realm.
        exists: Whether an identifier is one of a record that exists already, or that has been counted.
    """

    def __init__(self, folder: Path, most: int, exists: Callable[[str], bool]) -> None:
        self._folder = folder
        self._most = most
        self._exists = exists
        self._plan: Mapping[str, tuple[str, int]] | None = None
        self._planned: Counter[str] = Counter()
        self._foreseen: set[str] = set()

    def plan(self, cases: Mapping[str, tuple[str, int]]) -> None:
        """Keep places for the records that cases create when they pass; without a plan every write is a planned one.

        Args:
            cases: Realm and number of records, by the id of the case.
        """
        self._plan, self._planned = cases, Counter()
        for realm, records in cases.values():
            self._planned[realm] += records

    def foresee(self, record: str) -> None:
        """Take the write of a record for a planned one, whatever case it is arranged for."""
        self._foreseen.add(record)

    def reserve(self, write: PermanentWrite) -> None:
        """Take a place for a record before it is written.

        Raises:
            ResidueSpent: there is none left, or none for a write like this.
        """
        deadline = time.monotonic() + _PATIENCE_SECONDS
        while not self._needs_no_place(write) and not self._take(write):
            if self.created(write.realm) >= self._most or time.monotonic() > deadline:
                raise ResidueSpent(
                    f"the run has created the {self._most} permanent records it may create in {write.realm} "
                    "(setting pace.permanent_records)"
                )
            time.sleep(_POLL_SECONDS)

    def settle(self, write: PermanentWrite, *, kept: bool, renamed: bool = False) -> None:
        """Say what became of a write whose place was reserved.

        Args:
            kept: It was not refused.
            renamed: The service may have given its record another name: where there is one of the name that was
                sent, it is one more.
        """
        if not renamed and self._needs_no_place(write):
            return
        with self._locked(write.realm):
            there, under_way = self._read(write.realm)
            exists = write.record in there or self._exists(write.record)
            if kept and (renamed or not exists):
                name = _again(write.record, len(there)) if exists else write.record
                there[name] = "" if self._is_planned(write) else write.label
            self._write(write.realm, there, under_way - Counter([write.record]))

    def created(self, realm: str) -> int:
        """How many permanent records the run has created in a realm, or may have created."""
        return len(self._read(realm)[0])

    def unplanned(self, realm: str) -> int:
        """How many records of a realm the plan of the run leaves over."""
        return max(0, self._most - self._planned[realm])

    def _needs_no_place(self, write: PermanentWrite) -> bool:
        return self._exists(write.record) and not _made_again(write.record, self._read(write.realm)[0])

    def _is_planned(self, write: PermanentWrite) -> bool:
        planned = self._plan is None or (write.case in self._plan and not write.advisory)
        return planned or write.record in self._foreseen or write.record.startswith(KEPT_PREFIX)

    def _take(self, write: PermanentWrite) -> bool:
        with self._locked(write.realm):
            there, under_way = self._read(write.realm)
            again = _made_again(write.record, there)
            if again or write.record not in there:
                if not self._is_planned(write):
                    self._refuse_more(write, [label for label in there.values() if label])
                if len(there.keys() | under_way.keys() | {write.record}) + again > self._most:
                    return False
            self._write(write.realm, there, under_way + Counter([write.record]))
            return True

    def _refuse_more(self, write: PermanentWrite, unplanned: list[str]) -> None:
        """Refuse a write that would show a fault again, or that the planned records leave no room for.

        Where all that can be found is advice, it takes none of the planned places: a must that could not be judged for
        want of one would cost the run its verdict. But where every place is planned, one such record is let through.
        """
        room = self.unplanned(write.realm)
        most = max(1, room) if write.advisory else max(_EVIDENCE, room)
        same = unplanned.count(write.label)
        of_operation = sum(label.startswith(f"{write.operation} ") for label in unplanned)
        borrowed = len(unplanned) - most
        if (
            same >= (_EVIDENCE if borrowed < 0 else 1)
            or (write.advisory and borrowed >= 0)
            or (of_operation and borrowed >= _BORROWED)
        ):
            raise ResidueSpent(
                f"{write.operation} has created {of_operation} permanent records in {write.realm} by requests that no "
                "plan foresaw, which is evidence enough; the other places are kept for cases that need them "
                "(setting pace.permanent_records)"
            )

    def _locked(self, realm: str) -> FileLock:
        return FileLock(self._folder / f"residue-{realm}.lock")

    def _read(self, realm: str) -> tuple[dict[str, str], Counter[str]]:
        """Records that are there, each with the label of an unplanned write; and those under way, with their number."""
        path = self._folder / f"residue-{realm}.json"
        if not path.exists():
            return {}, Counter()
        there, under_way = json.loads(path.read_text(encoding="utf-8"))
        return there, Counter(under_way)

    def _write(self, realm: str, there: Mapping[str, str], under_way: Counter[str]) -> None:
        content = json.dumps([there, under_way]).encode()
        write_whole(self._folder / f"residue-{realm}.json", content)


def _again(record: str, number: int) -> str:
    """The name of a further record that was made when a name that had been used was sent again."""
    return f"{record} again {number}"


def _made_again(record: str, there: Iterable[str]) -> bool:
    return any(known.startswith(_again(record, 0)[:-1]) for known in there)
