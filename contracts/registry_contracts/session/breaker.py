"""The circuit breaker: stops requests to a service that is down, or of an operation that does not answer.

It has two rules: failures in a row, of one operation or of all, and the seconds that a run has lost to failures.
"""

from __future__ import annotations

import threading
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from time import sleep
from typing import Final

from registry_contracts.errors import EnvironmentFault, GivenUp
from registry_contracts.exchanges.exchange import Exchange
from registry_contracts.session.budgets import BudgetSpent, RequestBudget
from registry_contracts.session.pipeline import Request, Stage
from registry_contracts.session.shared_state import SharedState

#: The service counts as down after so many requests in a row without an answer, each after its retries, …
BREAKER_THRESHOLD = 5
#: … if these took so long together, waits included.
LONGEST_OUTAGE_SECONDS = 20.0
#: Seconds that a run may lose to faults, and how much each answered request adds to them.
LOST_SECONDS = 300.0
LOST_SECONDS_PER_ANSWER = 0.05
#: An operation is given up after so many time-outs in a row; a single attempt of a case may time out on purpose.
GIVE_UP_AFTER = 4
#: It is also given up after so many requests in a row without an answer of the service, each after its retries.
GIVE_UP_FAULTY_AFTER = 10
_FIRST_PAUSE_SECONDS: Final = 0.25
_LONGEST_PAUSE_SECONDS: Final = 4.0
_FAULT_MARK: Final = "last fault"
_INTERFERENCE: Final = "something on the way interferes"


@dataclass(eq=False, repr=False)
class Breaker:
    """Watches the exchanges of one session, and shares given-up operations with its group.

    `open` is the reason why the breaker is open, or None; `on_break` is called once when it opens. `in_a_row` counts
    the latest requests without an answer.
    """

    on_break: Callable[[str], None]
    shared: SharedState
    open: str | None = None
    in_a_row: int = 0
    _row_seconds: float = 0.0
    _answered: int = 0
    _lost: float = 0.0
    _time_outs: Counter[str] = field(default_factory=Counter)
    _unanswered: Counter[str] = field(default_factory=Counter)
    _given_up: dict[str, str] = field(default_factory=dict)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def admit(self, operation: str | None) -> None:
        """Let a request pass; raises `EnvironmentFault` if the breaker is open, `GivenUp` for a given-up operation."""
        if self.open:
            raise EnvironmentFault(f"the circuit breaker is open: {self.open}")
        name = operation or ""
        if name not in self._given_up and (reason := self.shared.offered(_given_up(name))):
            self._given_up[name] = reason
        if name in self._given_up:
            raise GivenUp(self._given_up[name])

    def pause(self, spoilt: int = 0) -> None:
        """Wait a little if the latest request met a fault, or if `spoilt` attempts in a row were spoilt."""
        times = max(self.in_a_row, spoilt)
        if times > 0:
            self.wait(min(_LONGEST_PAUSE_SECONDS, _FIRST_PAUSE_SECONDS * 2.0 ** min(times - 1, 10)))

    def wait(self, seconds: float, *, polite: bool = False) -> None:
        """Wait after a fault; waiting for a rate limit (`polite`) does not count as lost time."""
        if seconds <= 0:
            return
        with self._lock:
            if not polite:
                self._row_seconds += seconds
                self._lost += seconds
        sleep(seconds)

    def mark_fault(self) -> None:
        """Tell all sessions that a fault was met: the service may have restarted and forgotten tokens."""
        now = time.time()
        self.shared.renewed(_FAULT_MARK, lambda: now, lambda kept: kept >= now)

    def fault_since(self, moment: float) -> bool:
        """Whether any session has met a fault since a moment, in seconds since the epoch."""
        last: float | None = self.shared.offered(_FAULT_MARK)
        return last is not None and last >= moment

    def mark_interference(self) -> None:
        """Tell all sessions that an intermediary answered a request differently than the service."""
        self.shared.offer(_INTERFERENCE, value=True)

    @property
    def interfered(self) -> bool:
        """Whether any session has marked interference."""
        return bool(self.shared.offered(_INTERFERENCE))

    def timed_out(self, operation: str | None, limit: float) -> None:
        """Note a time-out after `limit` seconds; several in a row give the operation up."""
        with self._lock:
            self._count(
                self._time_outs, operation, GIVE_UP_AFTER, f"time-outs in a row, after {limit:g} s each"
            )

    def unresponsive(self, operation: str | None) -> bool:
        """Whether an operation has not answered since it timed out several times in a row."""
        return self._time_outs[operation or ""] > 1

    def answered(self, operation: str | None) -> None:
        """Note an answer."""
        with self._lock:
            for counter in (self._time_outs, self._unanswered):
                counter.pop(operation or "", None)
            self._answered += 1
            self.in_a_row, self._row_seconds = 0, 0.0

    def missed(self, operation: str | None, fault: str, seconds: float) -> None:
        """Note an exchange that ended without an answer after some seconds; this may open the breaker."""
        with self._lock:
            why = f"requests in a row without an answer, last: {fault}"
            self._count(self._unanswered, operation, GIVE_UP_FAULTY_AFTER, why)
            self.in_a_row += 1
            self._row_seconds += seconds
            self._lost += seconds
            reason = None if self.open else self._reason_to_open(fault)
            self.open = self.open or reason
        if reason is not None:
            self.on_break(reason)

    def _reason_to_open(self, fault: str) -> str | None:
        if self.in_a_row >= BREAKER_THRESHOLD and self._row_seconds >= LONGEST_OUTAGE_SECONDS:
            took = f"{self.in_a_row} requests in a row without an answer in {self._row_seconds:.0f} s"
            return f"{took}, last: {fault}"
        if self._lost > LOST_SECONDS + LOST_SECONDS_PER_ANSWER * self._answered:
            return f"{self._lost:.0f} s were lost waiting after faults, last: {fault}"
        return None

    def _count(self, counter: Counter[str], operation: str | None, most: int, words: str) -> None:
        """Count a failure of an operation, and give the operation up after too many."""
        name = operation or ""
        counter[name] += 1
        if counter[name] >= most and name not in self._given_up:
            self._given_up[name] = reason = f"{name or 'a path'} is given up: {counter[name]} {words}"
            self.shared.offer(_given_up(name), reason)


def _given_up(operation: str) -> str:
    return f"given up: {operation}"


@dataclass(eq=False, repr=False)
class Admission:
    """Lets a request pass while the breaker is closed and the budget has room.

    It stands above the ledger, since a request stopped here was never sent. When the budget of the cases is spent, the
    run breaks off as by the breaker.
    """

    below: Stage
    breaker: Breaker
    budget: RequestBudget

    def send(self, request: Request) -> Exchange:
        """Send a request if the budget allows it, after a pause if the one before met a fault."""
        self.breaker.admit(request.operation)
        try:
            self.budget.take(essential=request.housekeeping)
        except BudgetSpent as spent:
            if not request.housekeeping:
                self.breaker.on_break(str(spent))
            raise
        self.breaker.pause()
        return self.below.send(request)
