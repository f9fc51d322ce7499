"""Retry and circuit breaker: a request is repeated as often as is polite and safe (design 4.7).

The breaker counts faults of the environment: it says when to wait after faults, to give an operation up, and to stop
sending. A write whose answer was lost is looked up before it is repeated.
"""

from __future__ import annotations

import hashlib
import math
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from email.utils import parsedate_to_datetime
from enum import StrEnum
from pathlib import Path
from time import sleep
from typing import Any, Final
from urllib.parse import urlsplit, urlunsplit

import requests

from contracts.errors import EnvironmentFault, GivenUp
from contracts.exchanges.exchange import Exchange, Response
from contracts.exchanges.readers import environment_fault, page_words
from contracts.interface.description import operations_with
from contracts.session.shared_state import Pace
from contracts.session.transport import TIMED_OUT, Transport, TransportFault

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


#: Tries in all, the first included.
MOST_TRIES = 4
_FIRST_WAIT_SECONDS = 0.25
_LONGEST_WAIT_SECONDS = 30.0
#: Leaves nothing behind, so that a second one does no harm.
_SIGN_IN = "createToken"
_SAFE = ("GET", "HEAD")

_ABSENT: Final = (404, 410)
#: The operation that looks.
LOOKUP_OPERATION: Final = "getDraft"
_BODY_HEADERS: Final = frozenset({"content-type", "content-length", "transfer-encoding"})


class WriteOutcome(StrEnum):
    """What became of a write whose answer was lost."""

    UNDONE = "it did not happen"
    #: Saying the same thing again about the same draft does no harm.
    MAYBE_DONE = "it may have happened, and may be sent again"
    DONE = "it happened"
    UNKNOWN = "it cannot be told"


@dataclass(frozen=True)
class Lookup:
    """The request that looks: GET at this address with these headers."""

    url: str
    headers: Mapping[str, str]


def lookup_of(operation: str | None, url: str, headers: Mapping[str, str]) -> Lookup | None:
    """How to look whether a write happened; None where its record cannot be read through the interface."""
    if operation not in (*operations_with(stores="draft"), *operations_with(removes="draft")):
        return None
    plain = urlunsplit(urlsplit(url)._replace(query=""))
    kept = {name: value for name, value in headers.items() if name.lower() not in _BODY_HEADERS}
    return Lookup(plain, kept)


def write_outcome(operation: str | None, seen: Response | None) -> WriteOutcome:
    """What became of a write, by what stands at its address now.

    Args:
        seen: The answer to the look; None when there was none.
    """
    if seen is None or seen.page or not (seen.success or seen.status in _ABSENT):
        return WriteOutcome.UNKNOWN
    if operation == "saveDraft":
        return WriteOutcome.MAYBE_DONE if seen.success else WriteOutcome.UNDONE
    # A deletion that would be sent again finds nothing to delete, so its answer is lost for good.
    return WriteOutcome.UNDONE if seen.success else WriteOutcome.DONE


#: A time-out costs the whole time limit, so that it is not tried more often.
_MOST_TIME_OUTS = 2
#: A page in place of a refusal that comes back as often as this is the service's own.
_MOST_PAGES = 2


@dataclass(frozen=True)
class TryResult:
    """What came of one try: an answer or a fault, or both where a gateway answered.

    Attributes:
        received: The service may have received the request.
    """

    answer: Response | None
    fault: str | None
    received: bool


class RetryingSender:
    """Sends requests through a transport, each as often as is polite and safe.

    Args:
        guard: Raises when a look must not leave.
        record_fault: Called with each fault and its exchange.
    """

    def __init__(
        self,
        transport: Transport,
        pace: Pace,
        breaker: Breaker,
        guard: Callable[[str, str, Any], None],
        record_fault: Callable[[str, Exchange], None],
    ) -> None:
        self._transport = transport
        self._pace = pace
        self._breaker = breaker
        self._guard = guard
        self._record_fault = record_fault
        self._refusing_in_json: set[str | None] = set()
        self._without_pages: set[str | None] = set()
        self._deadline: float | None = None
        self.counts: Counter[str] = Counter()
        #: Seconds spent on sending, on waiting for the pace, and on waiting after faults.
        self.seconds: dict[str, float] = {"sending": 0.0, "pace": 0.0, "weather": 0.0}

    @contextmanager
    def time_limit(self, seconds: float) -> Iterator[None]:
        """Let nothing take longer than some seconds in all, tries and waits included; nor than a limit around it."""
        outer, own = self._deadline, time.monotonic() + seconds
        self._deadline = own if outer is None else min(outer, own)
        try:
            yield
        finally:
            self._deadline = outer

    def left(self) -> float | None:
        """Seconds left of the time limit; None without one."""
        return None if self._deadline is None else self._deadline - time.monotonic()

    def pause(self, spoilt: int = 0) -> None:
        """Wait a little when the request before this one met a fault, or attempts in a row were spoilt by faults."""
        self._wait(max(self._breaker.pause(), pause_after(spoilt)))

    def send(
        self, exchange: Exchange, prepared: requests.PreparedRequest, *, summed: bool, once: bool
    ) -> None:
        """Send a request and put the answer, or the fault that stood in its way, into the exchange.

        Args:
            summed: Keep only the beginning of the answer's body, and the digest of all of it.
            once: The body can be read only once.
        """
        spent = 0.0
        for number in range(1, MOST_TRIES + 1):
            tried = self._try(exchange, prepared, number, summed=summed)
            spent += exchange.seconds or 0.0
            if tried.fault is None:
                exchange.response = tried.answer
                self._note_response(exchange, tried.answer)
                return
            self._record_fault(tried.fault, exchange)
            if tried.fault in TIMED_OUT:
                attempt = f"{exchange.case} {exchange.attempt}"
                self._breaker.timed_out(exchange.operation, attempt, self._transport.timeout)
            wait = self._wait_before_next(number, tried, exchange.operation)
            if wait is not None:
                self._pace.rest(_requested_wait(tried.answer))
            again = (
                wait is not None and not (once and tried.received) and self._may_send_again(exchange, tried)
            )
            if not again or wait is None or not self._pace.affords():
                exchange.response, exchange.fault = tried.answer, tried.fault
                self._breaker.missed(exchange.operation, tried.fault, spent + _outage_seconds(tried.answer))
                return
            exchange.retries += 1
            self.counts["retries"] += 1
            self._wait(wait, polite=tried.answer is not None and tried.answer.status == 429)

    def _try(
        self, exchange: Exchange, prepared: requests.PreparedRequest, number: int, *, summed: bool
    ) -> TryResult:
        self.counts["requests"] += 1
        begun = time.perf_counter()
        with self._pace.turn():
            exchange.started, started = datetime.now(UTC), time.perf_counter()
            try:
                answer = self._transport.send(prepared, summed=summed, limit=self._limit())
            except TransportFault as lost:
                return TryResult(None, str(lost), lost.sent)
            finally:
                exchange.seconds = time.perf_counter() - started
                self.seconds["pace"] += started - begun
                self.seconds["sending"] += exchange.seconds
        fault = environment_fault(answer, exchange.operation) or self._gateway_page(exchange, answer, number)
        return TryResult(answer, fault, received=True)

    def _gateway_page(self, exchange: Exchange, answer: Response, number: int) -> str | None:
        """A page where refusals have come as JSON: a gateway's, unless it comes again and again.

        Of a page in answer to HEAD only the headers are seen; it is one where other answers have come without them,
        or where pages have just come.
        """
        pages = exchange.operation in self._without_pages or self._breaker.pause() > 0
        if exchange.operation == "draftExists" and answer.success and answer.hollow_page and pages:
            return page_words(answer)
        refuses_in_json = exchange.operation in self._refusing_in_json
        if number > _MOST_PAGES or not _may_be_gateway_page(
            answer, exchange.method, exchange.operation, refuses_in_json=refuses_in_json
        ):
            return None
        return page_words(answer)

    def _note_response(self, exchange: Exchange, answer: Response | None) -> None:
        self._breaker.answered(exchange.operation)
        if answer is None or answer.hollow_page:
            return
        if answer.success:
            self._without_pages.add(exchange.operation)
        elif answer.refusal and answer.json_labelled:
            self._refusing_in_json.add(exchange.operation)

    def _wait_before_next(self, number: int, tried: TryResult, operation: str | None) -> float | None:
        """Seconds to wait before another try; None when there is to be none."""
        wait = _wait_before(number + 1, tried.answer)
        most = MOST_TRIES
        if tried.fault in TIMED_OUT:
            most = 1 if self._breaker.silent(operation) else _MOST_TIME_OUTS
        left = self.left()
        if number >= most or wait is None or (left is not None and wait >= left):
            return None
        return wait

    def _may_send_again(self, exchange: Exchange, tried: TryResult) -> bool:
        """Whether the request may be sent again, after a look at what became of it where that is needed."""
        repeatable = _repeatable(
            exchange.method, exchange.operation, received=tried.received, answer=tried.answer
        )
        if repeatable and (_leaves_nothing(exchange.method, exchange.operation) or not tried.received):
            return True
        if repeatable:
            # A limiter does nothing; that a 503 did nothing is only likely.
            exchange.unsettled += tried.answer is None or tried.answer.status != 429
            return True
        outcome = self._look_up(exchange)
        exchange.notes["looked up"] = str(outcome)
        exchange.unsettled += outcome is not WriteOutcome.UNDONE
        return outcome in (WriteOutcome.UNDONE, WriteOutcome.MAYBE_DONE)

    def _look_up(self, exchange: Exchange) -> WriteOutcome:
        look = lookup_of(exchange.operation, exchange.url, exchange.request_headers)
        if look is None:
            return WriteOutcome.UNKNOWN
        self._guard("GET", look.url, look.headers)
        answer = None
        for number in range(1, _MOST_TIME_OUTS + 1):
            if answer is None and self._pace.affords():
                self._wait(_wait_before(number + 1, None) or 0.0)
                answer = self._send_lookup(look)
        return write_outcome(exchange.operation, answer)

    def _send_lookup(self, look: Lookup) -> Response | None:
        prepared = self._transport.prepare("GET", look.url, look.headers, verbatim=True)
        self.counts["requests"] += 1
        with self._pace.turn():
            try:
                answer = self._transport.send(prepared, limit=self._limit())
            except TransportFault:
                return None
        return None if environment_fault(answer, LOOKUP_OPERATION) else answer

    def _limit(self) -> float | None:
        left = self.left()
        return None if left is None else max(0.5, left)

    def _wait(self, seconds: float, *, polite: bool = False) -> None:
        """Wait after a fault; a rate limit counts for no outage."""
        if seconds <= 0:
            return
        if not polite:
            self._breaker.waited(seconds)
        self.seconds["weather"] += seconds
        sleep(seconds)


def _outage_seconds(answer: Response | None) -> float:
    """Seconds that count as an outage where a service asks for a longer wait than there is time for."""
    asks = answer is not None and _wait_before(2, answer) is None
    return LONGEST_OUTAGE_SECONDS if asks else 0.0


def _may_be_gateway_page(
    answer: Response, method: str, operation: str | None, *, refuses_in_json: bool
) -> bool:
    """Whether a 4xx page is worth asking again, since the service's own refusals look different.

    Args:
        refuses_in_json: The operation has refused in JSON before.
    """
    return (
        _leaves_nothing(method, operation)
        and answer.refusal
        and answer.hollow_page
        and (refuses_in_json or operation == _SIGN_IN)
    )


def _repeatable(method: str, operation: str | None, *, received: bool, answer: Response | None) -> bool:
    """Whether a request may be sent again without looking first whether it happened.

    Args:
        received: Whether the service may have received it.
        answer: What a gateway or a limiter answered, if there was anything.
    """
    return _leaves_nothing(method, operation) or not received or _asked_to_come_again(answer)


def _leaves_nothing(method: str, operation: str | None) -> bool:
    """Whether a request leaves nothing behind, however often it is sent."""
    return method in _SAFE or operation == _SIGN_IN


def _asked_to_come_again(answer: Response | None) -> bool:
    """Whether an answer says that nothing was done: 429, or 503 with the invitation to come again later."""
    return answer is not None and (
        answer.status == 429 or (answer.status == 503 and "retry-after" in answer.headers)
    )


def _wait_before(try_number: int, answer: Response | None) -> float | None:
    """Seconds to wait before try `try_number` (2, 3, …), at least what Retry-After asks for.

    Returns:
        None when the service asks for more than half a minute: then it is not asked again.
    """
    retry_after = _retry_after(answer.headers.get("retry-after", "")) if answer else None
    backoff = _FIRST_WAIT_SECONDS * float(2 ** (try_number - 2))
    wait = max(backoff, retry_after or 0.0)
    return wait if wait <= _LONGEST_WAIT_SECONDS else None


def _requested_wait(answer: Response | None) -> float:
    """Seconds for which an answer asks to be left alone (Retry-After); 0 when it asks for nothing."""
    retry_after = _retry_after(answer.headers.get("retry-after", "")) if answer else None
    return max(retry_after or 0.0, 0.0)


def _retry_after(value: str) -> float | None:
    try:
        seconds = float(value)
    except ValueError:
        return _seconds_until(value)
    return seconds if math.isfinite(seconds) and seconds >= 0 else None


def _seconds_until(value: str) -> float | None:
    try:
        wait: timedelta = parsedate_to_datetime(value).astimezone(UTC) - datetime.now(UTC)
    except (ValueError, OverflowError):
        # No date, or one beyond all calendars.
        return None
    return wait.total_seconds()
