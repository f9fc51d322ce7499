"""What a run may send and leave behind: its requests, and the permanent records in each realm."""

from __future__ import annotations

import json
import time
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from filelock import FileLock

from contracts.errors import EnvironmentFault
from contracts.session.namespace import KEPT_PREFIX
from contracts.session.shared_state import next_number, write_whole

#: Share of the budget that only signing in, cleaning and sweeping may use, and its least number of requests.
_KEPT_BACK: Final = 20
_LEAST_KEPT_BACK: Final = 20


class BudgetSpent(EnvironmentFault):
    """The run has sent as many requests as its settings allow; this one was not sent."""


class RequestBudget:
    """The requests that a run may send, repetitions included (None for any number), counted in its private folder."""

    def __init__(self, folder: Path, most: int | None) -> None:
        self._most = most
        self._kept_back = max(min(_LEAST_KEPT_BACK, (most or 0) // 4), (most or 0) // _KEPT_BACK)
        self._path = folder / "requests"

    def take(self, *, essential: bool = False) -> None:
        """Count one request before it is sent; raises `BudgetSpent` for one too many.

        Args:
            essential: It signs in, cleans, sweeps or repeats, and may use what is kept back.
        """
        if self._most is None:
            return
        limit = self._most if essential else self._most - self._kept_back
        # Looked at first: what is refused must not count.
        sent = self._path.stat().st_size if self._path.exists() else 0
        if sent >= limit or next_number(self._path) >= limit:
            kept = "" if essential else f", {limit:,} of them for cases"
            raise BudgetSpent(
                f"the request budget of this run is spent: {self._most:,}{kept} (setting pace.request_budget)"
            )

    def affords(self) -> bool:
        """Count a repetition, if there is room for it."""
        try:
            self.take(essential=True)
        except BudgetSpent:
            return False
        return True


#: How long a write waits for others under way, which may yet turn out to create nothing.
_PATIENCE_SECONDS: Final = 5.0
_POLL_SECONDS: Final = 0.02
#: Records of one kind of unplanned write that are taken as evidence: a case may see a fault in three requests, and once
#: more when it is confirmed.
_EVIDENCE: Final = 6
#: Places of the planned records that unplanned writes of further kinds may take.
_BORROWED: Final = 3


class ResidueSpent(EnvironmentFault):
    """A write could create one permanent record more than the settings allow; it was not sent."""


@dataclass(frozen=True)
class Write:
    """A write that may leave a record behind.

    Attributes:
        identifier: Tells its record from others.
        case: On whose behalf it is sent.
        kind: What of the request may have to be refused, as `credentials`; requests of one kind show one fault.
        advisory: Nothing that its case may find is about a must.
        realm_sent: The Realm header of a draft's save where it was not that of the realm.
    """

    operation: str
    realm: str
    role: str
    identifier: str
    case: str = ""
    kind: str = ""
    advisory: bool = False
    realm_sent: str = ""

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
        """Keep places for the records that cases create when they pass: realm and number by the id of the case."""
        self._plan, self._planned = cases, Counter()
        for realm, records in cases.values():
            self._planned[realm] += records

    def foresee(self, record: str) -> None:
        """Take the write of a record for a planned one, whatever case it is arranged for."""
        self._foreseen.add(record)

    def unplanned(self, realm: str) -> int:
        """How many records of a realm the plan of the run leaves over."""
        return max(0, self._most - self._planned[realm])

    def reserve(self, write: Write) -> None:
        """Take a place for a record before it is written; raises `ResidueSpent` where there is none for it."""
        deadline = time.monotonic() + _PATIENCE_SECONDS
        while not self._take(write):
            if len(self._read(write.realm)[0]) >= self._most or time.monotonic() > deadline:
                raise ResidueSpent(
                    f"the run has created the {self._most} permanent records it may create in {write.realm} "
                    "(setting pace.permanent_records)"
                )
            time.sleep(_POLL_SECONDS)

    def settle(self, write: Write, *, kept: bool, renamed: bool = False) -> None:
        """Say what became of a write whose place was reserved.

        Args:
            kept: It was not refused.
            renamed: The service may have given its record another name: where there is one of the name that was
                sent, it is one more.
        """
        name = write.identifier
        with self._locked(write.realm):
            there, under_way = self._read(write.realm)
            exists = name in there or self._exists(name)
            if kept and (renamed or not exists):
                record = f"{name} again {len(there)}" if exists else name
                there[record] = "" if self._is_planned(write) else write.label
            self._write(write.realm, there, under_way - Counter([name]))

    def _is_planned(self, write: Write) -> bool:
        planned = self._plan is None or (write.case in self._plan and not write.advisory)
        return planned or write.identifier in self._foreseen or write.identifier.startswith(KEPT_PREFIX)

    def _take(self, write: Write) -> bool:
        name = write.identifier
        with self._locked(write.realm):
            there, under_way = self._read(write.realm)
            # The service has made a further record when this name was sent again.
            again = any(known.startswith(f"{name} again ") for known in there)
            if self._exists(name) and not again:
                return True
            if again or name not in there:
                if not self._is_planned(write):
                    self._refuse_more(write, [label for label in there.values() if label])
                if len(there.keys() | under_way.keys() | {name}) + again > self._most:
                    return False
            self._write(write.realm, there, under_way + Counter([name]))
            return True

    def _refuse_more(self, write: Write, unplanned: list[str]) -> None:
        """Refuse a write that would show a fault again, or that the planned records leave no room for.

        Where all that can be found is advice, it takes none of the planned places: a must that could not be judged for
        want of one would cost the run its verdict. But where every place is planned, one such record is let through.
        """
        room = self.unplanned(write.realm)
        same = unplanned.count(write.label)
        of_operation = sum(label.startswith(f"{write.operation} ") for label in unplanned)
        most = max(1, room) if write.advisory else max(_EVIDENCE, room) + _BORROWED * (not same)
        full = len(unplanned) >= most and (write.advisory or bool(of_operation))
        if full or same >= _EVIDENCE:
            raise ResidueSpent(
                f"{write.operation} has created {of_operation} permanent records in {write.realm} by requests that no "
                "plan foresaw, which is evidence enough; the other places are kept for cases that need them "
                "(setting pace.permanent_records)"
            )

    def _locked(self, realm: str) -> FileLock:
        return FileLock(self._folder / f"residue-{realm}.lock")

    def _read(self, realm: str) -> tuple[dict[str, str], Counter[str]]:
        """The places taken: records there, each with the label of an unplanned write, and writes under way."""
        path = self._folder / f"residue-{realm}.json"
        there, under_way = json.loads(path.read_text("utf-8")) if path.exists() else ({}, {})
        return there, Counter(under_way)

    def _write(self, realm: str, there: dict[str, str], under_way: Counter[str]) -> None:
        write_whole(self._folder / f"residue-{realm}.json", json.dumps([there, under_way]).encode())
