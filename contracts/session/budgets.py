"""What a run may send and leave behind: its requests, and the permanent records in each realm."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Final, Literal

from contracts.errors import EnvironmentFault
from contracts.session.layers import Request
from contracts.session.namespace import KEPT_PREFIX
from contracts.session.shared_state import SharedLines, next_number

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
class _Step:
    """What a session asks for, or says of what it asked for: a line that all sessions of the run read alike.

    Attributes:
        became: What became of the write; empty where a place is asked for.
        label: Tells its kind from others: requests of one kind show one fault. Empty for a write that was planned.
        advisory: Nothing that its case may find is about a must.
        exists: A record of this name is known to exist already.
    """

    name: str
    operation: str
    label: str
    advisory: bool
    exists: bool
    became: Literal["", "refused", "kept", "renamed"] = ""


class _Places:
    """The places of one realm: records there, each with the label of an unplanned write, and writes under way."""

    def __init__(self, path: Path) -> None:
        self.lines = SharedLines(path)
        self.there: dict[str, str] = {}
        self.under_way: Counter[str] = Counter()

    def settle(self, step: _Step) -> None:
        """Count a record that was kept; `renamed`, where one of its name is there, as one more."""
        exists = step.exists or step.name in self.there
        if step.became == "renamed" or (step.became == "kept" and not exists):
            record = f"{step.name} again {len(self.there)}" if exists else step.name
            self.there[record] = step.label
        self.under_way -= Counter([step.name])


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
        self._places: dict[str, _Places] = {}
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

    def reserve(self, write: Request, record: str) -> None:
        """Take a place for a record before it is written; raises `ResidueSpent` where there is none for it."""
        deadline = time.monotonic() + _PATIENCE_SECONDS
        while not self._tell(write, record):
            if len(self._places[write.realm].there) >= self._most or time.monotonic() > deadline:
                raise ResidueSpent(
                    f"the run has created the {self._most} permanent records it may create in {write.realm} "
                    "(setting pace.permanent_records)"
                )
            time.sleep(_POLL_SECONDS)

    def settle(self, write: Request, record: str, *, kept: bool, renamed: bool = False) -> None:
        """Say what became of a write whose place was reserved.

        Args:
            kept: It was not refused.
            renamed: The service may have given its record another name: where there is one of the name that was
                sent, it is one more.
        """
        self._tell(write, record, "refused" if not kept else "renamed" if renamed else "kept")

    def _tell(
        self, write: Request, record: str, became: Literal["", "refused", "kept", "renamed"] = ""
    ) -> bool:
        """Append a step, and take those of other sessions in up to it; returns whether there was a place.

        Whether there is one follows from the steps before it, for every reader alike: nobody waits for a lock.
        """
        operation, exists = str(write.operation), self._exists(record)
        label = "" if self._is_planned(write, record) else f"{operation} {write.altered or write.case}"
        own = _Step(record, operation, label, write.advisory, exists, became)
        places = self._places.setdefault(write.realm, _Places(self._folder / f"residue-{write.realm}"))
        refusal: str | None = None
        for line in places.lines.append(asdict(own)):
            step = _Step(**line)
            if step.became:
                places.settle(step)
            else:
                refusal = self._take(write.realm, places, step)
        if refusal:
            raise ResidueSpent(refusal)
        return refusal is None

    def _is_planned(self, write: Request, record: str) -> bool:
        planned = self._plan is None or (write.case in self._plan and not write.advisory)
        return planned or record in self._foreseen or record.startswith(KEPT_PREFIX)

    def _take(self, realm: str, places: _Places, step: _Step) -> str | None:
        """Take a place; None where there was one, otherwise why there is none for such a write, or nothing yet."""
        name, there = step.name, places.there
        # The service has made a further record when this name was sent again.
        again = any(known.startswith(f"{name} again ") for known in there)
        if step.exists and not again:
            return None
        if again or name not in there:
            if step.label and (reason := self._too_many(realm, places, step)):
                return reason
            if len(there.keys() | places.under_way.keys() | {name}) + again > self._most:
                return ""
        places.under_way[name] += 1
        return None

    def _too_many(self, realm: str, places: _Places, step: _Step) -> str | None:
        """Why a write is refused that would show a fault again, or that the planned records leave no room for.

        Where all that can be found is advice, it takes none of the planned places: a must that could not be judged for
        want of one would cost the run its verdict. But where every place is planned, one such record is let through.
        """
        room = self.unplanned(realm)
        unplanned = [label for label in places.there.values() if label]
        same = unplanned.count(step.label)
        of_operation = sum(label.startswith(f"{step.operation} ") for label in unplanned)
        most = max(1, room) if step.advisory else max(_EVIDENCE, room) + _BORROWED * (not same)
        full = len(unplanned) >= most and (step.advisory or bool(of_operation))
        if not full and same < _EVIDENCE:
            return None
        return (
            f"{step.operation} has created {of_operation} permanent records in {realm} by requests that no plan "
            "foresaw, which is evidence enough; the other places are kept for cases that need them "
            "(setting pace.permanent_records)"
        )
