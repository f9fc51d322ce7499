"""What a run may send and leave behind: its requests, and the permanent records in each realm."""

from __future__ import annotations

import json
import time
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from contextlib import AbstractContextManager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from filelock import FileLock

from registry_contracts.errors import EnvironmentFault, UsageError
from registry_contracts.file_formats import convert, parse, read_bytes
from registry_contracts.session.layers import Request
from registry_contracts.session.namespace import KEPT_PREFIX
from registry_contracts.session.shared_state import SharedState, next_number

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


@dataclass
class _Places:
    """The places of a realm: records there, each with the label of an unplanned write, and names of writes under way.

    A label tells a kind of write from others, since requests of one kind show one fault; a planned write has none.
    """

    there: dict[str, str] = field(default_factory=dict)
    under_way: Counter[str] = field(default_factory=Counter)


@dataclass(eq=False, repr=False)
class ResidueBudget:
    """The permanent records of a run: a count for each realm, and a plan.

    A record is counted once, however often it is written, unless the service makes another one each time. A write
    that the service refuses gives its place back; one whose outcome is unknown keeps it.

    What a run creates when nothing is wrong is planned before it. All other writes ought to be refused: those that
    are accepted all the same are evidence of a fault, and one fault must not take the places of the planned records
    (design 4.5). So each kind of them gets a few places, and all of them together little more than the plan leaves.

    The run may create so many records at `most` in one realm. `exists` says of an identifier whether it is one of a
    record that exists already.
    """

    shared: SharedState
    most: int
    exists: Callable[[str], bool]
    _plan: Mapping[str, tuple[str, int]] | None = None
    _planned: Counter[str] = field(default_factory=Counter)
    _foreseen: set[str] = field(default_factory=set)

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
        return max(0, self.most - self._planned[realm])

    def counted(self, realms: Iterable[str]) -> dict[str, int]:
        """How many records the run has created in each of some realms, or may have created, where there are any."""
        found = {}
        for realm in realms:
            with self._places(realm) as places:
                found[realm] = len(places.there.keys() | places.under_way.keys())
        return {realm: number for realm, number in found.items() if number}

    def reserve(self, write: Request, record: str) -> None:
        """Take a place for a record before it is written; raises `ResidueSpent` where there is none for it."""
        deadline = time.monotonic() + _PATIENCE_SECONDS
        while True:
            with self._places(write.realm) as places:
                if self._take(places, write, record):
                    return
            if len(places.there) >= self.most or time.monotonic() > deadline:
                raise ResidueSpent(
                    f"the run has created, or may have, the {self.most} permanent records it may create in "
                    f"{write.realm} (setting pace.permanent_records)"
                )
            time.sleep(_POLL_SECONDS)

    def settle(self, write: Request, record: str, *, kept: bool, renamed: bool = False) -> None:
        """Say what became of a write whose place was reserved.

        Args:
            kept: It was not refused.
            renamed: The service may have given its record another name: where there is one of the name that was
                sent, it is one more.
        """
        with self._places(write.realm) as places:
            places.under_way -= Counter([record])
            exists = self.exists(record) or record in places.there
            if kept and (renamed or not exists):
                name = f"{record} again {len(places.there)}" if exists else record
                places.there[name] = self._label(write, record)

    def _places(self, realm: str) -> AbstractContextManager[_Places]:
        return self.shared.held(f"permanent records of {realm}", _Places)

    def _label(self, write: Request, record: str) -> str:
        of_plan = self._plan is None or (write.case in self._plan and not write.advisory)
        planned = of_plan or record in self._foreseen or record.startswith(KEPT_PREFIX)
        return "" if planned else f"{write.operation} {write.altered or write.case}"

    def _take(self, places: _Places, write: Request, record: str) -> bool:
        """Take a place if there is one, or may be soon; raises `ResidueSpent` where there is none for such a write."""
        there = places.there
        # The service has made a further record when this name was sent again.
        again = any(known.startswith(f"{record} again ") for known in there)
        if self.exists(record) and not again:
            return True
        if again or record not in there:
            if label := self._label(write, record):
                self._refuse_evidence(there, write, label)
            if len(there.keys() | places.under_way.keys() | {record}) + again > self.most:
                return False
        places.under_way[record] += 1
        return True

    def _refuse_evidence(self, there: Mapping[str, str], write: Request, label: str) -> None:
        """Refuse a write that would show a fault again, or that the planned records leave no room for.

        Where all that can be found is advice, it takes none of the planned places: a must that could not be judged for
        want of one would cost the run its verdict. But where every place is planned, one such record is let through.
        """
        room = self.unplanned(write.realm)
        unplanned = list(filter(None, there.values()))
        same = unplanned.count(label)
        of_operation = sum(other.startswith(f"{write.operation} ") for other in unplanned)
        most = max(1, room) if write.advisory else max(_EVIDENCE, room) + _BORROWED * (not same)
        full = len(unplanned) >= most and (write.advisory or bool(of_operation))
        if full or same >= _EVIDENCE:
            raise ResidueSpent(
                f"{write.operation} has created {of_operation} permanent records in {write.realm}, or may have where "
                "an answer was lost, by requests that no plan foresaw; the other places are kept for cases that need "
                "them (setting pace.permanent_records)"
            )


#: Name of the file that `UsedUp` keeps.
USED_UP_FILE: Final = "used.jsonl"


@dataclass(frozen=True)
class UsedUp:
    """The temporary files of one target that its runs have used, and that no run gives back.

    They stand in a file of all targets, a line each, kept beside the run folders; None remembers nothing.
    """

    path: Path | None
    target: str

    def of(self, realm: str) -> frozenset[str]:
        """Ids that were used in a realm; a line that cannot be read, as a full disk leaves one, tells of none."""
        if self.path is None or not self.path.exists():
            return frozenset()
        read = set()
        for line in read_bytes(self.path).splitlines():
            with suppress(UsageError):
                target, place, name = convert(parse(line, ""), tuple[str, str, str], "")
                read |= {name} if (target, place) == (self.target, realm) else set()
        return frozenset(read)

    def note(self, realm: str, name: str) -> None:
        """Remember that an id is about to be used."""
        if self.path is not None:
            with FileLock(f"{self.path}.lock"), self.path.open("a", encoding="utf-8") as file:
                file.write("\n" + json.dumps([self.target, realm, name]))  # whatever the last line lacks
