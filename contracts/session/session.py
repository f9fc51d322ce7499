"""The door: every request of the suite goes through `Door.send`, whoever wrote or generated it.

Puts a door together for a target: whoever sends, a run or a sweep, does it in the same manner.
"""

from __future__ import annotations

import os
import threading
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Sized
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Protocol
from urllib.parse import unquote, urlsplit

import requests

from contracts.errors import SuiteError
from contracts.exchanges.exchange import Exchange
from contracts.session.breaker import Breaker
from contracts.session.ledger import Entry, Ledger, named, outcome
from contracts.session.limits import Pace, RequestBudget
from contracts.session.namespace import Namespace
from contracts.session.retry import Retrying
from contracts.session.transport import Transport
from contracts.settings.guard import GuardViolation, refuse_request
from contracts.settings.target import Target

#: In place of a fault of the environment, where a request was only rehearsed.
UNSENT = "not sent: a dry run"


def housekeeping(case: str) -> bool:
    """Whether a request is sent by the suite itself, which names itself in brackets, and not by a case."""
    return case.startswith("[")


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
        shared: Private folder that all workers of the run see, for what they give up; without one, nothing is shared.
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
        shared: Path | None = None,
    ) -> None:
        self._transport = transport
        self._guard = guard
        self._pace = pace
        self._ledger = ledger
        self._namespace = namespace
        self._recorder = recorder
        self._name = name
        self._lock = threading.Lock()
        self._number = 0
        self._breaker = Breaker(on_break, shared)
        self._retrying = Retrying(transport, pace, self._breaker, guard, self._note)
        self.faults: Counter[str] = Counter()

    @property
    def broken(self) -> str | None:
        """Why the breaker is open; None while it is closed."""
        return self._breaker.open

    @property
    def counts(self) -> Counter[str]:
        """How many requests were sent, and how many of them were repetitions."""
        return self._retrying.counts

    @property
    def seconds(self) -> dict[str, float]:
        """Seconds spent on sending, on waiting for the pace, and on waiting for better weather."""
        return self._retrying.seconds

    @property
    def unanswered(self) -> int:
        """How many exchanges have ended without an answer."""
        return self._breaker.unanswered

    def hurried(self, seconds: float) -> AbstractContextManager[None]:
        """Let nothing that is sent inside take longer than some seconds in all, tries and waits included."""
        return self._retrying.hurried(seconds)

    def wait_after(self, spoilt: int) -> None:
        """Wait for better weather after so many attempts in a row at a case were spoilt."""
        self._retrying.pause(spoilt)

    def disturbed_since(self, moment: float) -> bool:
        """Whether any worker of the run has met a fault since a moment, in seconds since the epoch."""
        return self._breaker.disturbed_since(moment)

    def send(self, call: Call, context: Context) -> Exchange:
        """Send one request and return the exchange, faults included.

        Raises:
            GuardViolation: the request must never leave; nothing was sent.
            SuiteError: the request would write outside the run's namespace, or HTTP has no way to carry it;
                nothing was sent.
            EnvironmentFault: the breaker is open, or the operation was given up; nothing was sent.
        """
        self._breaker.admit(call.operation)
        prepared = self._prepare(call)
        self._guard(call.method, prepared.url or "", _texts(prepared.headers))
        # Before the ledger: what the budget refuses was never on its way.
        self._pace.count(essential=housekeeping(context.case))
        self._retrying.pause()
        entry = self._write_ahead(call, context)
        exchange = self._start(call, prepared, context)
        self._retrying.send(exchange, prepared, summed=call.summed, once=isinstance(call.body, Iterator))
        if entry is not None:
            self._settle(entry, exchange)
        self._recorder.exchange(exchange, context)
        return exchange

    def rehearse(self, call: Call, context: Context) -> Exchange:
        """Do what `send` does up to the moment a request leaves; nothing is sent, counted or noted in the ledger.

        Raises:
            GuardViolation, SuiteError: as `send` raises them.
        """
        prepared = self._prepare(call)
        self._guard(call.method, prepared.url or "", _texts(prepared.headers))
        self._refuse_foreign(call)
        exchange = self._start(call, prepared, context)
        exchange.fault = UNSENT
        self._recorder.exchange(exchange, context)
        return exchange

    def _note(self, fault: str, exchange: Exchange) -> None:
        self.faults[fault] += 1
        self._breaker.disturb()
        context = Context(exchange.case, exchange.attempt, exchange.realm, exchange.role)
        self._recorder.fault(fault, context)

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
        self._refuse_foreign(call)
        identifier = call.identifiers[0] if call.identifiers else ""
        return self._ledger.intend(call.operation or "", context.realm, context.role, identifier)

    def _refuse_foreign(self, call: Call) -> None:
        foreign = [name for name in call.identifiers if not self._namespace.owns(name)]
        if call.writes and foreign:
            raise SuiteError(f"{call.operation} would write to {foreign[0]!r}, outside the run's namespace")

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

    def _settle(self, entry: Entry, exchange: Exchange) -> None:
        state = outcome(exchange.response, exchange.fault)
        given = named(exchange.response) if state == "created" and not entry.identifier else None
        self._ledger.settle(entry, state, given)


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


#: Settings that name records for the suite to write to; every such write is meant to be refused, but for spare and
#: existing ones.
_GRANTS = (
    "locked_identifier",
    "existing_identifier",
    "others_identifier",
    "published_identifier",
    "spare_identifiers",
)
#: Settings that name records which are only referred to.
_REFERENCES = ("contact_organization",)


def open_door(
    target: Target,
    *,
    pace: Pace,
    ledger: Ledger,
    namespace: Namespace,
    recorder: Recorder,
    name: str,
    on_break: Callable[[str], None],
    shared: Path | None = None,
) -> Door:
    """A door to a target, guarded against production, whose redirects keep the pace too."""
    ca_bundle = target.tls.ca_bundle
    transport = Transport(
        target.base_url,
        target.pace.timeout_seconds,
        str(ca_bundle) if ca_bundle else None,
        lambda method, url: _harmless(target, method, url) and pace.hop(),
    )
    return Door(
        transport=transport,
        guard=lambda method, url, headers: refuse_request(method, url, headers, target),
        pace=pace,
        ledger=ledger,
        namespace=namespace,
        recorder=recorder,
        name=name,
        on_break=on_break,
        shared=shared,
    )


def pace_of(
    target: Target,
    private: Path,
    *,
    budget: int | None,
    unhurried: bool,
    on_spent: Callable[[str], None] | None = None,
) -> Pace:
    """The pace of a target.

    Args:
        private: Folder that all who send to the target together see.
        budget: Requests they may send in all; None for no limit.
        unhurried: Nobody else uses the target, so only the budget holds.
    """
    known = target.pace
    return Pace(
        private,
        None if unhurried else known.requests_per_second,
        None if unhurried else known.concurrency,
        RequestBudget(private, budget),
        on_spent,
    )


def namespace_of(target: Target, token: str, seed: str | None = None) -> Namespace:
    """The identifiers that may be written to on a target: the run's own, and those that the settings name."""
    return Namespace(token, _named(target, _GRANTS), seed, foreign=_named(target, _REFERENCES))


def proxy_passwords(environ: Mapping[str, str] = os.environ) -> set[str]:
    """Passwords of proxies in the usual variables, which are secrets like any other."""
    addresses = [value for name, value in environ.items() if name.lower().endswith("_proxy")]
    found = {_password(address) for address in addresses}
    return {form for password in found if password for form in (password, unquote(password))}


def _password(address: str) -> str | None:
    try:
        return urlsplit(address if "://" in address else f"//{address}").password
    except ValueError:
        return None


def _harmless(target: Target, method: str, url: str) -> bool:
    """Whether a redirect may be followed: to any host, which gets no credentials, but never to production."""
    parts = urlsplit(url)
    there = replace(target, base_url=f"{parts.scheme}://{parts.netloc}")
    try:
        refuse_request(method, url, {}, there)
    except GuardViolation:
        return False
    return True


def _named(target: Target, names: tuple[str, ...]) -> set[str]:
    found: set[str] = set()
    for settings in target.realm.values():
        for name in names:
            value = getattr(settings, name)
            found |= {value} if isinstance(value, str) else set(value or ())
    return found
