"""The door: every request of the suite goes through `Door.send`, whoever wrote or generated it."""

from __future__ import annotations

import threading
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Sized
from dataclasses import dataclass
from typing import Any, Protocol

import requests

from contracts.errors import EnvironmentFault, SuiteError
from contracts.session.exchange import Answer, Exchange
from contracts.session.ledger import Entry, Ledger
from contracts.session.namespace import Namespace
from contracts.session.pace import Pace
from contracts.session.transport import Transport, TransportFault
from contracts.session.weather import MOST_TRIES, environment_fault, may_repeat, wait_before

#: This many exchanges in a row that ended in a fault, each after its retries, and the door closes.
BREAKER_THRESHOLD = 5


@dataclass(frozen=True)
class Context:
    """On whose behalf a request is sent: case, attempt, realm and role."""

    case: str
    attempt: int
    realm: str
    role: str


@dataclass(frozen=True)
class Call:
    """One request before it is sent.

    Attributes:
        operation: `operationId`, or None for a path outside the description.
        body: Bytes, or chunks of them; chunks that can be read only once are never sent twice, and chunks
            that have a length, in bytes, are announced by it.
        identifiers: Record identifiers that the request would write to, decoded.
        writes: Whether the request may change something.
        summed: Keep only the beginning of the answer's body, and the digest of all of it.
        verbatim: The address goes out as written; otherwise the client library decodes what needs no encoding.
    """

    operation: str | None
    method: str
    url: str
    headers: Mapping[str, str | bytes]
    body: bytes | Iterable[bytes] | None = None
    identifiers: tuple[str, ...] = ()
    writes: bool = False
    verbatim: bool = False
    summed: bool = False


class Recorder(Protocol):
    """Where finished exchanges go; secrets are taken out there."""

    def exchange(self, exchange: Exchange, context: Context) -> None:
        """Write one exchange down."""

    def fault(self, fault: str, context: Context) -> None:
        """Write an environment fault down."""


class Door:
    """Guard, pace, ledger, retry and recording around one transport.

    Args:
        guard: Raises when a request must not leave (production realm, foreign host).
        name: Worker's name, part of exchange ids.
        on_break: Called once when the breaker opens.
    """

    def __init__(
        self,
        *,
        transport: Transport,
        guard: Callable[[str, str, Mapping[str, Any]], None],
        pace: Pace,
        ledger: Ledger,
        namespace: Namespace,
        recorder: Recorder,
        name: str,
        on_break: Callable[[str], None],
    ) -> None:
        self._transport = transport
        self._guard = guard
        self._pace = pace
        self._ledger = ledger
        self._namespace = namespace
        self._recorder = recorder
        self._name = name
        self._on_break = on_break
        self._lock = threading.Lock()
        self._number = 0
        self._faults_in_a_row = 0
        self.broken: str | None = None
        self.counts: Counter[str] = Counter()
        self.faults: Counter[str] = Counter()

    def send(self, call: Call, context: Context) -> Exchange:
        """Send one request and return the exchange, faults included.

        Raises:
            GuardViolation: the request must never leave; nothing was sent.
            SuiteError: the request would write outside the run's namespace, or HTTP has no way to carry it;
                nothing was sent.
            EnvironmentFault: the breaker is open; nothing was sent.
        """
        if self.broken:
            raise EnvironmentFault(f"the circuit breaker is open: {self.broken}")
        prepared = self._prepare(call)
        self._guard(call.method, prepared.url or "", _texts(prepared.headers))
        entry = self._write_ahead(call, context)
        exchange = self._start(call, prepared, context)
        self._exchange(exchange, prepared, context, call)
        if entry is not None:
            self._settle(entry, exchange)
        self._recorder.exchange(exchange, context)
        self._watch(exchange)
        return exchange

    def _prepare(self, call: Call) -> requests.PreparedRequest:
        body = call.body
        if not (isinstance(body, bytes | Iterator | None) or _announced(body)):
            body = _Chunks(body)
        request = requests.Request(call.method, call.url, headers=dict(call.headers), data=body)
        try:
            prepared = self._transport.http.prepare_request(request)
        except (requests.exceptions.RequestException, ValueError) as error:
            # The library's own words may hold the header they are about.
            why = type(error).__name__
            raise SuiteError(f"{call.operation or call.method} cannot be sent as written: {why}") from None
        if call.verbatim:
            prepared.url = call.url
        return prepared

    def _write_ahead(self, call: Call, context: Context) -> Entry | None:
        if not call.writes:
            return None
        foreign = [name for name in call.identifiers if not self._namespace.owns(name)]
        if foreign:
            raise SuiteError(f"{call.operation} would write to {foreign[0]!r}, outside the run's namespace")
        identifier = call.identifiers[0] if call.identifiers else ""
        return self._ledger.intend(call.operation or "", context.realm, context.role, identifier)

    def _start(self, call: Call, prepared: requests.PreparedRequest, context: Context) -> Exchange:
        with self._lock:
            self._number += 1
            number = self._number
        return Exchange(
            id=f"{self._name}-{number}",
            case=context.case,
            attempt=context.attempt,
            realm=context.realm,
            role=context.role,
            operation=call.operation,
            method=call.method,
            url=prepared.url or call.url,
            request_headers=_texts(prepared.headers),
            request_body=call.body if isinstance(call.body, bytes) else None,
        )

    def _exchange(
        self, exchange: Exchange, prepared: requests.PreparedRequest, context: Context, call: Call
    ) -> None:
        """Try until the service answers, the environment wins, or a repetition would not be safe."""
        once = isinstance(call.body, Iterator)
        for attempt in range(1, MOST_TRIES + 1):
            answer, fault, received = self._try(exchange, prepared, summed=call.summed)
            if fault is None:
                exchange.response = answer
                return
            self.faults[fault] += 1
            self._recorder.fault(fault, context)
            status = answer.status if answer else None
            again = may_repeat(exchange.method, exchange.operation, received=received, status=status)
            wait = wait_before(attempt + 1, answer)
            if attempt == MOST_TRIES or not again or (once and received) or wait is None:
                exchange.response, exchange.fault = answer, fault
                return
            exchange.retries += 1
            self.counts["retries"] += 1
            time.sleep(wait)

    def _try(
        self, exchange: Exchange, prepared: requests.PreparedRequest, *, summed: bool
    ) -> tuple[Answer | None, str | None, bool]:
        self.counts["requests"] += 1
        with self._pace.turn():
            started = time.perf_counter()
            try:
                answer = self._transport.send(prepared, summed=summed)
            except TransportFault as fault:
                return None, str(fault), fault.sent
            finally:
                exchange.seconds = time.perf_counter() - started
        return answer, environment_fault(answer, exchange.operation), True

    def _settle(self, entry: Entry, exchange: Exchange) -> None:
        if exchange.response is None or exchange.fault:
            self._ledger.settle(entry, "unknown")
        elif exchange.response.success:
            self._ledger.settle(entry, "created")
        else:
            self._ledger.settle(entry, "refused" if exchange.response.refusal else "unknown")

    def _watch(self, exchange: Exchange) -> None:
        if exchange.fault is None:
            self._faults_in_a_row = 0
            return
        self._faults_in_a_row += 1
        if self._faults_in_a_row >= BREAKER_THRESHOLD and self.broken is None:
            self.broken = (
                f"{self._faults_in_a_row} requests in a row without an answer, last: {exchange.fault}"
            )
            self._on_break(self.broken)


def _announced(body: Iterable[bytes]) -> bool:
    """Whether chunks tell their length in bytes; of a list, the length is the number of its items."""
    return isinstance(body, Sized) and not isinstance(body, Sequence)


class _Chunks:
    """Chunks of a body that can be read again for a second try."""

    def __init__(self, chunks: Iterable[bytes]) -> None:
        self._chunks = chunks

    def __iter__(self) -> Iterator[bytes]:
        return iter(self._chunks)


def _texts(headers: Mapping[str, str | bytes]) -> dict[str, str]:
    return {
        str(name): value.decode("latin-1") if isinstance(value, bytes) else value
        for name, value in headers.items()
    }
