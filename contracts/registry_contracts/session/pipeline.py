"""A request, and the stages of the pipeline: each sends it to the one below and returns the exchange.

The guard and the record stand here, the others in modules of their own.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from itertools import count
from operator import length_hint
from typing import Any, Final, Protocol
from urllib.parse import urlsplit

import requests

from registry_contracts.errors import SuiteError
from registry_contracts.exchanges.exchange import NO_BODY, Body, Exchange, Headers, exchange_entry
from registry_contracts.exchanges.redaction import Redactor, learn_tokens, redacted
from registry_contracts.file_formats import OpenFormat
from registry_contracts.interface.description import Operation, load_description
from registry_contracts.session.namespace import Namespace
from registry_contracts.settings.guard import GuardViolation, refuse_request
from registry_contracts.settings.target import ANY_REALM, Target, WireNames

JSON: Final = "application/json"
#: The fault of an exchange in a dry run.
UNSENT = "not sent: a dry run"
#: Statuses of answers that must have no content (RFC 9110).
WITHOUT_CONTENT: Final = frozenset({204, 304})


@dataclass(frozen=True)
class Request:
    """One request, with the case, realm and role that send it.

    Attributes:
        operation: `operationId`, or None for a path outside the description.
        body: Bytes, or chunks that can be read more than once. If it has `len()` and is no list or tuple, that is its
            size in bytes and is sent as Content-Length.
        identifiers: Record identifiers that the request would write to, decoded.
        writes: Whether the request may change something.
        summed: Keep only the beginning of the answer's body, and the digest of all of it.
        altered: The part outside the content that must lead to a refusal, such as `no credentials`; empty for none.
        verbatim: Send the address as written; otherwise the client library decodes what needs no encoding.
        documented: A name to send as the interface document writes it, even if the settings replace it.
        case: Node id, or a word in brackets for the suite's own housekeeping.
        advisory: The attempt can contradict only SHOULDs.
        signed: It carries the role's own token, which may be renewed.
        gathered: List to which the exchange is added, including those before a token's renewal.
        prepared: The final form, once the guard allowed it.
        written: Address and headers in the names of the interface document, if the settings replace some.
        limit: Seconds that it may take, if less than the transport's time limit.
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
    altered: str = ""
    documented: str = ""
    case: str = ""
    attempt: int = 1
    realm: str = ANY_REALM
    role: str = ""
    advisory: bool = False
    signed: bool = False
    gathered: list[Exchange] | None = None
    prepared: requests.PreparedRequest | None = None
    written: tuple[str, Mapping[str, str | bytes]] | None = None
    limit: float | None = None

    @property
    def housekeeping(self) -> bool:
        """Whether the suite itself sends it, not a case."""
        return self.case.startswith("[")


class Stage(Protocol):
    """A stage of the pipeline; a fault of the environment is returned in the exchange.

    A stage has no `repr` (`repr=False`): it may hold tokens, and tracebacks show local variables.
    """

    def send(self, request: Request) -> Exchange:
        """Send one request.

        Raises:
            GuardViolation: it must never be sent; nothing was sent.
            SuiteError: it would write outside the namespace, or HTTP cannot carry it; nothing was sent.
            EnvironmentFault: the breaker is open, the operation given up, or the budget spent; nothing was sent.
        """


class DryRun:
    """The lowest stage of a session that sends nothing."""

    def send(self, request: Request) -> Exchange:
        """Return an exchange without an answer."""
        exchange = begun(request)
        exchange.fault = UNSENT
        return exchange


@dataclass(eq=False, repr=False)
class Guard:
    """Refuses production, addresses outside the target, and writes outside the namespace.

    It checks the final form of each request, which has the target's own names; `prepare` makes it.
    """

    below: Stage
    target: Target
    namespace: Namespace
    prepare: Callable[[Request], requests.PreparedRequest]

    def __post_init__(self) -> None:
        self._names = WireNames.of(self.target)

    def send(self, request: Request) -> Exchange:
        """Send a request in the target's names, if it is allowed."""
        names, written = self._names.without(request.documented), request
        if names:
            url, headers = names.url(request.url, request.operation), names.headers(request.headers)
            request = replace(request, url=url, headers=headers, written=(request.url, request.headers))
        prepared = self.prepare(request)
        refuse_request(request.method, prepared.url or "", prepared.headers, self.target)
        foreign = [name for name in request.identifiers if not self.namespace.owns(name)]
        if request.writes and foreign:
            raise SuiteError(
                f"{request.operation} would write to {foreign[0]!r}, outside the run's namespace"
            )
        exchange = self.below.send(replace(request, prepared=prepared))
        if request is not written and exchange.response is not None:
            given = exchange.request_headers.first("Realm") or ""
            exchange.response = replace(exchange.response, realm_given=given)
        return exchange


def may_follow(target: Target, method: str, url: str) -> bool:
    """Whether a redirect may be followed: to any host (without credentials), but never to production."""
    parts = urlsplit(url)
    try:
        refuse_request(method, url, {}, replace(target, base_url=f"{parts.scheme}://{parts.netloc}"))
    except GuardViolation:
        return False
    return True


#: Writes an event, given its kind and its content.
Events = Callable[[str, Any], None]


class FaultEvent(OpenFormat, frozen=True):
    """A fault of the environment that the run met."""

    fault: str
    realm: str = ANY_REALM
    operation: str | None = None
    case: str = ""
    exchange: str = ""


@dataclass(eq=False, repr=False)
class Record:
    """Records exchanges, redacted; one for each request, however often it was tried.

    `name` is the session's, and begins the exchanges' ids; `faults` counts the faults of exchanges.
    """

    below: Stage
    name: str
    redactor: Redactor
    events: Events | None
    faults: Counter[str] = field(default_factory=Counter)
    _numbers: Iterator[int] = field(default_factory=lambda: count(1))

    def note_fault(self, exchange: Exchange, fault: str) -> None:
        """Note a fault of an exchange."""
        self.faults[fault] += 1
        if self.events is not None:
            where = (exchange.realm, exchange.operation, exchange.case, exchange.id)
            self.events("fault", FaultEvent(fault, *where))

    def send(self, request: Request) -> Exchange:
        """Send a request, and record the exchange."""
        number = next(self._numbers)
        exchange = self.below.send(request)
        response = exchange.response
        exchange.id = f"{self.name}-{number}"
        for fault in exchange.met:
            self.note_fault(exchange, fault)
        if response is not None and response.charset:
            why = f"JSON in {response.charset} instead of UTF-8 (RFC 8259): read anyway"
            self.note_fault(exchange, why)
        if response is not None and response.content and exchange.method == "HEAD":
            self.note_fault(exchange, "content after the answer to HEAD, which must have none (RFC 9110)")
        elif response is not None and response.content and response.status in WITHOUT_CONTENT:
            # A clause forbids content for HEAD only, so it is dropped here.
            self.note_fault(exchange, f"content after a {response.status}, which must have none (RFC 9110)")
            exchange.response = replace(response, body=NO_BODY)
        if self.events is not None:
            learn_tokens(exchange, self.redactor)
            self.events("exchange", exchange_entry(redacted(exchange, self.redactor)))
        if request.gathered is not None:
            request.gathered.append(exchange)
        return exchange


def begun(request: Request) -> Exchange:
    """The exchange of a request that is about to be sent."""
    prepared = request.prepared
    return Exchange(
        id="",
        case=request.case,
        attempt=request.attempt,
        realm=request.realm,
        role=request.role,
        operation=request.operation,
        method=request.method,
        url=(prepared.url if prepared else None) or request.url,
        request_headers=texts(prepared.headers if prepared else request.headers),
        request_body=_body(request.body),
        started=datetime.now(UTC),
        written=request.written and (request.written[0], texts(request.written[1])),
    )


def _body(content: bytes | Iterable[bytes] | None) -> Body:
    """A body as the exchange records it; of generated chunks only the size, if they tell it."""
    if content is None:
        return NO_BODY
    if isinstance(content, bytes):
        return Body.of(content)
    if isinstance(content, list | tuple):
        return Body.of(b"".join(content))
    return Body(size=length_hint(content), whole=False)


def texts(headers: Mapping[str, Any]) -> Headers:
    """Headers as text."""
    return Headers(
        (str(name), value.decode("latin-1") if isinstance(value, bytes) else value)
        for name, value in headers.items()
    )


def listed_headers(operation: Operation, realm: str | None) -> dict[str, str | None]:
    """The headers that the document lists for an operation, without credentials; None marks one that is not sent."""
    headers: dict[str, str | None] = {"Accept": JSON}
    if operation.lists_content_type:
        headers["Content-Type"] = JSON
    if operation.takes_realm:
        headers["Realm"] = realm
    return headers


def encoded(value: str | bytes) -> bytes:
    """A header's value as bytes."""
    return value if isinstance(value, bytes) else value.encode("utf-8", "surrogatepass")


def plain_request(
    operation: str, base_url: str, *, headers: Mapping[str, str | bytes] | None = None, **parts: Any
) -> Request:
    """A request of an operation without parameters, with the listed headers and others; the parts of `Request`."""
    described = load_description().operations[operation]
    listed = listed_headers(described, parts.get("realm")).items()
    sent = {name: value for name, value in listed if value is not None} | dict(headers or {})
    return Request(operation, described.method, described.url(base_url), sent, **parts)
