"""Retry: repeats a request if that is polite and safe.

A write whose answer was lost is looked up before it is sent again. If a request has no answer, a control request shows
whether it is blocked on the way or the service is down.
"""

from __future__ import annotations

import math
import threading
import time
from collections import defaultdict
from collections.abc import Callable, Iterator, Sized
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Final
from urllib.parse import urlsplit, urlunsplit

from urllib3.exceptions import InvalidHeader
from urllib3.util import Retry as RetryAfter

from registry_contracts.exchanges.exchange import NOT_THERE, Exchange, Response
from registry_contracts.exchanges.foreign_answers import (
    ForeignAnswers,
    blocked_words,
    harmless,
    perhaps_foreign,
)
from registry_contracts.interface.description import operations_with
from registry_contracts.interface.operations import SIGN_IN
from registry_contracts.session.breaker import LONGEST_OUTAGE_SECONDS, Breaker
from registry_contracts.session.budgets import RequestBudget
from registry_contracts.session.pace import Pace
from registry_contracts.session.pipeline import Request, plain_request, texts
from registry_contracts.session.transport import TIMED_OUT, Transport
from registry_contracts.settings.guard import refuse_request
from registry_contracts.settings.target import Target

#: Tries in all, the first included.
_MOST_TRIES: Final = 4
_FIRST_WAIT_SECONDS: Final = 0.25
_LONGEST_WAIT_SECONDS: Final = 30.0
#: Tries at a request that timed out, since each costs the whole time limit.
_MOST_TIME_OUTS: Final = 2
#: Tries at a kind of request that is known to be blocked.
_MOST_BLOCKED: Final = 2
#: A request that cannot be repeated counts as blocked once a case has lost so many answers to it in a row.
_MOST_LOST: Final = 3
#: A control request must be answered within this time.
_CONTROL_SECONDS: Final = 5.0
#: Shortest time limit of one request, even if less is left of the total time limit.
_LEAST_SECONDS: Final = 0.5
#: An idempotent write; no operation shows whether it took effect.
_REPEATABLE: Final = "updateContact"
_SAFE: Final = ("GET", "HEAD")
_TOO_MANY: Final = 429
_UNAVAILABLE: Final = 503
#: The operation that looks up a draft.
_LOOKUP_OPERATION: Final = "getDraft"
_NO_RETRY: Final = RetryAfter(0)
_BODY_HEADERS: Final = frozenset({"content-type", "content-length", "transfer-encoding"})


@dataclass
class _Losses:
    """Requests whose answers were lost: the sizes of their bodies, and how many were answered since the first."""

    sizes: list[int] = field(default_factory=list)
    answered: int = 0


@dataclass(eq=False, repr=False)
class Retry:
    """Sends each request and retries it if that is polite and safe; `redact` removes secrets from texts of faults."""

    below: Pace
    target: Target
    transport: Transport
    breaker: Breaker
    budget: RequestBudget
    redact: Callable[[str], str]
    repeated: int = 0
    _answers: ForeignAnswers = field(default_factory=partial(ForeignAnswers, asks_again=True))
    #: The last answered read of each operation.
    _reads: dict[str | None, Request] = field(default_factory=dict)
    _blocked: set[tuple[str | None, str]] = field(default_factory=set)
    #: By case and operation.
    _lost: dict[tuple[str, str | None], _Losses] = field(default_factory=lambda: defaultdict(_Losses))
    _lock: threading.Lock = field(default_factory=threading.Lock)
    _deadline: float | None = None

    @contextmanager
    def time_limit(self, seconds: float) -> Iterator[None]:
        """Limit the total time of what is sent inside, retries and waits included; an outer limit still holds."""
        outer, own = self._deadline, time.monotonic() + seconds
        self._deadline = own if outer is None else min(outer, own)
        try:
            yield
        finally:
            self._deadline = outer

    def _left(self) -> float:
        """Seconds left of the time limit."""
        return math.inf if self._deadline is None else self._deadline - time.monotonic()

    def send(self, request: Request) -> Exchange:
        """Send a request; the exchange is that of the last try."""
        spent, retries, unsettled, met = 0.0, 0, 0, list[str]()
        while True:
            exchange = self._try(request, retries)
            exchange.unsettled, exchange.met = unsettled, met
            spent += exchange.seconds or 0.0
            if exchange.fault is None:
                self._note_answer(request, exchange)
                return exchange
            met.append(exchange.fault)
            self.breaker.mark_fault()
            if exchange.fault in TIMED_OUT:
                self.breaker.timed_out(exchange.operation, self.transport.timeout)
            wait = self._wait_before_next(exchange)
            if wait is not None:
                self.below.rest(_requested_wait(exchange.response))
            again = wait is not None and self._may_send_again(request, exchange)
            if not again or wait is None or not self.budget.affords():
                # A service that asks for a wait beyond the limit counts as down.
                asks = exchange.response is not None and _wait_before(2, exchange.response) is None
                spent += LONGEST_OUTAGE_SECONDS * asks
                self._missed(request, exchange, exchange.fault, spent)
                return exchange
            retries, unsettled = retries + 1, exchange.unsettled
            with self._lock:
                self.repeated += 1
            self.breaker.wait(wait, polite=exchange.status == _TOO_MANY)

    def _try(self, request: Request, retries: int) -> Exchange:
        exchange = self.below.send(self._in_time(request))
        exchange.retries = retries
        if exchange.response:
            fault = self._answers.take(exchange)
            exchange.fault = fault and self.redact(fault)
            if self._answers.comes_again(exchange) and self._others_are_answered(request):
                self._answers.accept(exchange)
                exchange.fault = None
        return exchange

    def _note_answer(self, request: Request, exchange: Exchange) -> None:
        self.breaker.answered(exchange.operation)
        if exchange.retries and self._answers.interfered():
            self.breaker.mark_interference()
        if self._answers.accepted(exchange):
            exchange.met = []  # the answer counts, so there was no fault
        answer = exchange.response
        if answer and answer.refusal and (words := perhaps_foreign(exchange)):
            exchange.blocked = self._is_blocked(request, words)
            return
        with self._lock:
            lost = self._lost[request.case, request.operation]
            lost.answered += bool(lost.sizes)
            # A control between two lost requests shows nothing of requests like them; many answers do.
            if _size(request) in lost.sizes or lost.answered > 2 * len(lost.sizes):
                del self._lost[request.case, request.operation]
            if request.method in _SAFE and answer and answer.success:
                self._reads.pop(request.operation, None)
                self._reads[request.operation] = request

    def _is_blocked(self, request: Request, fault: str, *, repeated: bool = False) -> bool:
        """Whether an intermediary repeatedly blocks requests like this one."""
        lost, kind = self._lost[request.case, request.operation], (request.operation, fault)
        with self._lock:
            lost.sizes.append(_size(request))
            if repeated or len(lost.sizes) >= _MOST_LOST:
                self._blocked.add(kind)
            return kind in self._blocked

    def _missed(self, request: Request, exchange: Exchange, fault: str, spent: float) -> None:
        """Note a request without an answer; if a control request is answered, it may be blocked."""
        answer = exchange.response
        later = answer is not None and (answer.status == _TOO_MANY or _requested_wait(answer) > 0)
        others = not later and self._others_are_answered(request)
        self.breaker.missed(exchange.operation, fault, spent)
        if not others or fault in TIMED_OUT or request.operation == SIGN_IN:
            return
        exchange.blocked = self._is_blocked(request, fault, repeated=exchange.retries > 0)
        exchange.fault = blocked_words(fault) if exchange.blocked else fault

    def _others_are_answered(self, request: Request) -> bool:
        """Whether a control request is answered now: the last read, or else a list of drafts without token."""
        with self._lock:
            reads = [read for operation, read in self._reads.items() if operation != request.operation]
        control = reads[-1] if reads else self._anonymous_list(request)
        if not self.budget.affords():
            return False
        exchange = self.below.send(self._in_time(replace(control, limit=_CONTROL_SECONDS)))
        if exchange.response is None or self._answers.take(exchange) is not None:
            return False
        self.breaker.answered(exchange.operation)
        return True

    def _anonymous_list(self, request: Request) -> Request:
        """A request that the service answers or refuses, even before any sign-in."""
        bare = plain_request("listDrafts", self.target.base_url, case=request.case)
        refuse_request(bare.method, bare.url, texts(bare.headers), self.target)
        return bare

    def _in_time(self, request: Request) -> Request:
        if self._deadline is None:
            return request
        left = max(_LEAST_SECONDS, self._left())
        return replace(request, limit=left if request.limit is None else min(left, request.limit))

    def _wait_before_next(self, exchange: Exchange) -> float | None:
        """Seconds to wait before another try; None for no further try."""
        wait = _wait_before(exchange.retries + 2, exchange.response)
        most = _MOST_TRIES
        if exchange.fault in TIMED_OUT:
            most = 1 if self.breaker.unresponsive(exchange.operation) else _MOST_TIME_OUTS
        elif (exchange.operation, exchange.fault) in self._blocked:
            most = _MOST_BLOCKED
        return None if exchange.retries + 1 >= most or wait is None or wait >= self._left() else wait

    def _may_send_again(self, request: Request, exchange: Exchange) -> bool:
        """Whether the request may be sent again; looks up the outcome of a write if necessary."""
        answer, operation = exchange.response, request.operation
        if harmless(exchange) or not exchange.received:
            return True
        if answer is not None and _asked_to_come_again(answer):
            # A rate limiter has not passed the request on; for a 503 that is only likely.
            exchange.unsettled += answer.status != _TOO_MANY
            return True
        removes = operation in operations_with(removes="draft")
        looked_up = removes or operation in operations_with(stores="draft")
        seen = self._look_up(request, exchange) if looked_up else None
        known = seen is not None and not seen.page and (seen.success or seen.status in NOT_THERE)
        there = known and seen is not None and seen.success
        undone = known and there is removes
        exchange.unsettled += not undone
        # Repeating a save or update does no harm; a repeated deletion would find nothing.
        return undone or (there and operation == "saveDraft") or operation == _REPEATABLE

    def _look_up(self, request: Request, exchange: Exchange) -> Response | None:
        """The answer to reading the draft that a request wrote; None without an answer."""
        url = urlunsplit(urlsplit(exchange.url)._replace(query=""))
        kept = exchange.request_headers.items()
        headers = {name: value for name, value in kept if name.lower() not in _BODY_HEADERS}
        lookup = replace(request, method="GET", url=url, headers=headers, body=None, verbatim=True)
        lookup = replace(lookup, operation=_LOOKUP_OPERATION, summed=False)
        lookup = replace(lookup, prepared=self.transport.prepare(lookup))
        refuse_request(lookup.method, lookup.url, texts(headers), self.target)
        answer = None
        for number in range(1, _MOST_TIME_OUTS + 1):
            if answer is None and self.budget.affords():
                self.breaker.wait(_wait_before(number + 1, None) or 0.0)
                seen = self.below.send(self._in_time(lookup))
                answer = None if self._answers.take(seen) else seen.response
        return answer


def _asked_to_come_again(answer: Response) -> bool:
    """Whether an answer says that nothing was done: 429, or 503 with Retry-After."""
    return answer.status == _TOO_MANY or (answer.status == _UNAVAILABLE and "retry-after" in answer.headers)


def _wait_before(try_number: int, answer: Response | None) -> float | None:
    """Seconds to wait before try `try_number` (2, 3, …); None if Retry-After asks for more than half a minute."""
    backoff = _FIRST_WAIT_SECONDS * 2.0 ** (try_number - 2)
    wait = max(backoff, _requested_wait(answer))
    return wait if wait <= _LONGEST_WAIT_SECONDS else None


def _requested_wait(answer: Response | None) -> float:
    """Seconds that an answer asks to wait (Retry-After); 0 without."""
    try:
        return float(_NO_RETRY.parse_retry_after(answer.headers.get("retry-after", "") if answer else ""))
    except (InvalidHeader, ValueError, OverflowError):
        return 0.0  # neither a number nor a date in the calendar


def _size(request: Request) -> int:
    """The size of a request's body in bytes; 0 for one that does not tell it."""
    body = request.body
    if isinstance(body, list | tuple):
        return sum(map(len, body))
    return len(body) if isinstance(body, Sized) else 0
