"""Budgets of a run: its requests, its permanent records in each realm, and temporary files that runs use up."""

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
from registry_contracts.session.namespace import KEPT_PREFIX
from registry_contracts.session.pipeline import Request
from registry_contracts.session.shared_state import SharedState

#: One in so many requests is reserved for signing in, cleaning and sweeping; but at least so many requests.
_KEPT_BACK: Final = 20
_LEAST_KEPT_BACK: Final = 20
#: The counter of the requests in the shared state.
_SENT: Final = "requests"


class BudgetSpent(EnvironmentFault):
    """The run has sent as many requests as it may; this one was not sent."""


class RequestBudget:
    """How many requests a run may send, retries included (None for no limit); all its processes count together."""

    def __init__(self, shared: SharedState, most: int | None) -> None:
        self._shared, self._most = shared, most
        self._kept_back = max(min(_LEAST_KEPT_BACK, (most or 0) // 4), (most or 0) // _KEPT_BACK)

    def take(self, *, essential: bool = False) -> None:
        """Count one request before it is sent; raises `BudgetSpent` if there is no room.

        Args:
            essential: It signs in, cleans, sweeps or repeats, and may use the reserve.
        """
        if self._most is None:
            return
        limit = self._most if essential else self._most - self._kept_back
        # Check before counting: a refused request must not count.
        if self._shared.taken(_SENT) >= limit or self._shared.take(_SENT) >= limit:
            kept = "" if essential else f", {limit:,} of them for cases"
            raise BudgetSpent(
                f"the request budget of this run is spent: {self._most:,}{kept} (setting pace.request_budget)"
            )

    def affords(self) -> bool:
        """Count a repetition and return True, if there is room for it."""
        try:
            self.take(essential=True)
        except BudgetSpent:
            return False
        return True


#: How long a write waits for parallel writes, which may still turn out to create nothing.
_PATIENCE_SECONDS: Final = 5.0
_POLL_SECONDS: Final = 0.02
#: Records that one kind of unplanned write may create as evidence: a case may see a fault in three requests, and in
#: three more when it is confirmed.
_EVIDENCE: Final = 6


class ResidueSpent(EnvironmentFault):
    """A write could create a permanent record beyond the limit; it was not sent."""


@dataclass
class _Places:
    """The taken places of a realm.

    `there` has the records and their labels, `under_way` the records of writes without an answer yet. A label groups
    unplanned writes that would show the same fault; a planned write has an empty one.
    """

    there: dict[str, str] = field(default_factory=dict)
    under_way: Counter[str] = field(default_factory=Counter)


@dataclass(eq=False, repr=False)
class ResidueBudget:
    """The permanent records of a run: a count for each realm, and a plan.

    A record counts once, however often it is written, unless the service makes a new one each time. A refused write
    returns its place; a write with an unknown outcome keeps it.

    The records of a run without findings are planned. All other writes must be refused: an accepted one is evidence of
    a fault, and one fault must not take the places of planned records. So each kind of unplanned write
    gets a few places, and all kinds together those that the plan leaves, or a few where it leaves fewer.

    `most` is the limit in one realm. `exists` tells whether an identifier belongs to a record that existed before.
    """

    shared: SharedState
    most: int
    exists: Callable[[str], bool]
    _plan: Mapping[str, tuple[str, int]] | None = None
    _planned: Counter[str] = field(default_factory=Counter)
    #: How many of its planned places each case has used; a replay has none left.
    _used: Counter[str] = field(default_factory=Counter)
    _foreseen: set[str] = field(default_factory=set)

    def plan(self, cases: Mapping[str, tuple[str, int]]) -> None:
        """Reserve places for the records that passing cases create: realm and number by the id of the case."""
        self._plan, self._planned = cases, Counter()
        for realm, records in cases.values():
            self._planned[realm] += records

    def foresee(self, record: str) -> None:
        """Treat writes of a record as planned, whatever case sends them."""
        self._foreseen.add(record)

    def unplanned(self, realm: str) -> int:
        """How many places of a realm the plan leaves free."""
        return max(0, self.most - self._planned[realm])

    def counted(self, realms: Iterable[str]) -> dict[str, int]:
        """How many records the run created or may have created, by realm; realms without any are left out."""
        found = {}
        for realm in realms:
            with self._places(realm) as places:
                found[realm] = len(places.there.keys() | places.under_way.keys())
        return {realm: number for realm, number in found.items() if number}

    def reserve(self, write: Request, record: str) -> None:
        """Take a place for a record before it is written; raises `ResidueSpent` if there is none."""
        deadline = time.monotonic() + _PATIENCE_SECONDS
        while True:
            with self._places(write.realm) as places:
                if self._take(places, write, record):
                    return
            if len(places.there) >= self.most or time.monotonic() > deadline:
                raise ResidueSpent(
                    f"the run has created or may have created all {self.most} permanent records that it may create in "
                    f"{write.realm} (setting pace.permanent_records)"
                )
            time.sleep(_POLL_SECONDS)

    def settle(self, write: Request, record: str, *, kept: bool, renamed: bool = False) -> None:
        """Note the outcome of a write whose place was reserved.

        Args:
            kept: It was not refused.
            renamed: The service may have stored it under another name; if a record of the sent name exists, this is
                a further one.
        """
        with self._places(write.realm) as places:
            places.under_way -= Counter([record])
            exists = self.exists(record) or record in places.there
            if kept and (renamed or not exists):
                name = f"{record} again {len(places.there)}" if exists else record
                places.there[name] = self._label(write, record)
                self._used[write.case] += 1

    def _places(self, realm: str) -> AbstractContextManager[_Places]:
        return self.shared.held(f"permanent records of {realm}", _Places)

    def _places_of(self, case: str) -> int:
        return self._plan[case][1] if self._plan and case in self._plan else 0

    def _label(self, write: Request, record: str) -> str:
        of_plan = self._plan is None or (
            self._used[write.case] < self._places_of(write.case) and not write.advisory
        )
        planned = of_plan or record in self._foreseen or record.startswith(KEPT_PREFIX)
        return "" if planned else f"{write.operation} {write.altered or write.case}"

    def _take(self, places: _Places, write: Request, record: str) -> bool:
        """Take a place if one is free; raises `ResidueSpent` if this kind of write gets none."""
        there = places.there
        # The service made a further record the last time this name was sent again.
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
        """Refuse an unplanned write that repeats known evidence, or for which plan and foreseen records leave no place.

        A replay that can only contradict a SHOULD leaves half of the unplanned places: a MUST without its place would
        make the run inconclusive. Even if every place is planned, one unplanned record is allowed.
        """
        foreseen = sum(record.partition(" again ")[0] in self._foreseen for record in there)
        room = max(0, self.unplanned(write.realm) - foreseen)
        unplanned = list(filter(None, there.values()))
        same = unplanned.count(label)
        of_operation = sum(other.startswith(f"{write.operation} ") for other in unplanned)
        most = max(_EVIDENCE, room)
        if write.advisory:
            most = max(1, room // 2 if self._places_of(write.case) else room)
        full = len(unplanned) >= most and (write.advisory or bool(of_operation))
        if full or same >= _EVIDENCE:
            raise ResidueSpent(
                f"unplanned requests of {write.operation} have created or may have created {of_operation} permanent "
                f"records in {write.realm}; the other places are reserved for cases that need them (setting "
                "pace.permanent_records)"
            )


#: Name of the file that `UsedUp` keeps.
USED_UP_FILE: Final = "used.jsonl"


@dataclass(frozen=True)
class UsedUp:
    """The temporary files of one target that runs have used up.

    A file beside the run folders has one line for each, of all targets; with `path` None nothing is remembered.
    """

    path: Path | None
    target: str

    def of(self, realm: str) -> frozenset[str]:
        """Ids that were used in a realm; skips damaged lines, as a full disk leaves them."""
        if self.path is None or not self.path.exists():
            return frozenset()
        read = set()
        for line in read_bytes(self.path).splitlines():
            with suppress(UsageError):
                target, place, name = convert(parse(line, ""), tuple[str, str, str], "")
                read |= {name} if (target, place) == (self.target, realm) else set()
        return frozenset(read)

    def note(self, realm: str, name: str) -> None:
        """Write down an id that is about to be used."""
        if self.path is not None:
            with FileLock(f"{self.path}.lock"), self.path.open("a", encoding="utf-8") as file:
                file.write("\n" + json.dumps([self.target, realm, name]))  # the last line may be damaged
