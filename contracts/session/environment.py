"""Faults of the environment, told from answers of the service, and the circuit breaker that counts them (design 4.7).

The breaker says when to wait after faults, to give an operation up, and to stop sending.
"""

from __future__ import annotations

import hashlib
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from contracts.errors import EnvironmentFault, GivenUp

#: So many requests in a row without an answer, each after its retries, …
BREAKER_THRESHOLD = 5
#: … that took so long together, waits included, and the service counts as down.
LONGEST_OUTAGE_SECONDS = 20.0
#: Several operations that leave every request unanswered for this long are as good as a service that is down.
LONGEST_SILENCE_SECONDS = 100.0
#: Seconds that a run may lose to faults in all, and what every answered request adds to them.
LOST_SECONDS = 300.0
LOST_SECONDS_PER_ANSWER = 0.05
#: Time-outs in a row after which an operation is given up, when more than one attempt at a case has met them.
GIVE_UP_AFTER = 3
#: The same for the time-outs of one attempt alone, which may ask for what hangs on purpose.
GIVE_UP_ALONE_AFTER = 4
#: Requests in a row for which others stood in for one operation, each after its retries, before it is given up.
GIVE_UP_FAULTY_AFTER = 10
_FIRST_PAUSE_SECONDS = 0.25
_LONGEST_PAUSE_SECONDS = 4.0
_FAULT_MARK = "disturbed"


@dataclass
class _Unanswered:
    """What was met in place of one operation since it last answered: time-outs, and exchanges without an answer."""

    times: int = 0
    attempts: set[str] = field(default_factory=set)
    unanswered: int = 0


def pause_after(times: int) -> float:
    """Seconds to wait after so many exchanges in a row met a fault."""
    if times <= 0:
        return 0.0
    return float(min(_LONGEST_PAUSE_SECONDS, _FIRST_PAUSE_SECONDS * 2 ** min(times - 1, 10)))


class Breaker:
    """Watches the exchanges of one session, and shares with its group what it gives up.

    Args:
        on_break: Called once when the breaker opens.
        folder: Private folder of the session or its group.
    """

    def __init__(self, on_break: Callable[[str], None], folder: Path) -> None:
        self._on_break = on_break
        self._folder = folder
        self._lock = threading.Lock()
        self._unanswered_by_operation: dict[str, _Unanswered] = {}
        self._given_up: dict[str, str] = {}
        self._marks: dict[str, Path] = {}
        self._row = 0
        self._row_seconds = 0.0
        self._row_silent: set[str] = set()
        self._answered = 0
        self._lost = 0.0
        #: Why the breaker is open; None while it is closed.
        self.open: str | None = None
        #: Exchanges that ended without an answer.
        self.unanswered = 0

    def admit(self, operation: str | None) -> None:
        """Let a request of an operation pass.

        Raises:
            EnvironmentFault: the breaker is open.
            GivenUp: the operation was given up.
        """
        if self.open:
            raise EnvironmentFault(f"the circuit breaker is open: {self.open}")
        reason = self._why_given_up(operation or "")
        if reason:
            raise GivenUp(reason)

    def pause(self) -> float:
        """Seconds to wait before the next request: none, unless the one before it met a fault."""
        return pause_after(self._row)

    def waited(self, seconds: float) -> None:
        """Take note of a wait after a fault."""
        with self._lock:
            self._row_seconds += seconds
            self._lost += seconds

    def mark_fault(self) -> None:
        """Tell all sessions that a fault was met: a service that was disturbed may have forgotten tokens."""
        (self._folder / _FAULT_MARK).write_text(repr(time.time()), encoding="utf-8")

    def fault_since(self, moment: float) -> bool:
        """Whether any session has met a fault since a moment, in seconds since the epoch."""
        mark = self._folder / _FAULT_MARK
        if not mark.exists():
            return False
        text = mark.read_text(encoding="utf-8")
        return bool(text) and float(text) >= moment

    def timed_out(self, operation: str | None, attempt: str, limit: float) -> None:
        """Take note of a time-out; gives the operation up after several in a row.

        Args:
            attempt: The case and the number of the attempt.
            limit: The time limit, in seconds.
        """
        name = operation or ""
        with self._lock:
            silence = self._unanswered_by_operation.setdefault(name, _Unanswered())
            silence.times += 1
            silence.attempts.add(attempt)
            self._row_silent.add(name)
            enough = GIVE_UP_AFTER if len(silence.attempts) > 1 else GIVE_UP_ALONE_AFTER
            if silence.times >= enough and name not in self._given_up:
                words = f"{silence.times} time-outs in a row, after {limit:g} s each"
                self._give_up(name, f"{name or 'a path'} is given up: {words}")

    def silent(self, operation: str | None) -> bool:
        """Whether an operation has not answered since it timed out several times in a row."""
        silence = self._unanswered_by_operation.get(operation or "")
        return silence is not None and silence.times > 1

    def answered(self, operation: str | None) -> None:
        """Take note of an answer."""
        with self._lock:
            self._unanswered_by_operation.pop(operation or "", None)
            self._answered += 1
            self._row, self._row_seconds = 0, 0.0
            self._row_silent.clear()

    def missed(self, operation: str | None, fault: str, seconds: float) -> None:
        """Take note of an exchange that ended without an answer; opens the breaker when it is enough.

        Args:
            seconds: What it took, waits aside.
        """
        name = operation or ""
        with self._lock:
            silence = self._unanswered_by_operation.setdefault(name, _Unanswered())
            silence.unanswered += 1
            if silence.unanswered >= GIVE_UP_FAULTY_AFTER and name not in self._given_up:
                words = f"{silence.unanswered} requests in a row without an answer, last: {fault}"
                self._give_up(name, f"{name or 'a path'} is given up: {words}")
            self.unanswered += 1
            self._row += 1
            self._row_seconds += seconds
            self._lost += seconds
            reason = self._reason_to_open(fault)
            opens = reason is not None and self.open is None
            self.open = self.open or reason
        if opens and reason is not None:
            self._on_break(reason)

    def _reason_to_open(self, fault: str) -> str | None:
        long = self._row >= BREAKER_THRESHOLD and self._row_seconds >= LONGEST_OUTAGE_SECONDS
        silent = len(self._row_silent) > 1 and self._row_seconds >= LONGEST_SILENCE_SECONDS
        if long or silent:
            took = f"{self._row} requests in a row without an answer in {self._row_seconds:.0f} s"
            return f"{took}, last: {fault}"
        if self._lost > LOST_SECONDS + LOST_SECONDS_PER_ANSWER * self._answered:
            return f"{self._lost:.0f} s were lost waiting after faults, last: {fault}"
        return None

    def _give_up(self, operation: str, reason: str) -> None:
        self._given_up[operation] = reason
        self._mark(operation).write_text(reason, encoding="utf-8")

    def _why_given_up(self, operation: str) -> str | None:
        if operation not in self._given_up and self._mark(operation).exists():
            self._given_up[operation] = self._mark(operation).read_text(encoding="utf-8")
        return self._given_up.get(operation)

    def _mark(self, operation: str) -> Path:
        if operation not in self._marks:
            name = hashlib.sha256(operation.encode("utf-8", "replace")).hexdigest()[:16]
            self._marks[operation] = self._folder / f"given-up-{name}"
        return self._marks[operation]
