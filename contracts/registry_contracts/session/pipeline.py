"""A request, and the stages of the pipeline: each sends it to the one below and returns the exchange."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from operator import length_hint
from typing import Any, Final, Protocol

import requests

from registry_contracts.exchanges.exchange import NO_BODY, Body, Exchange, Headers
from registry_contracts.interface.description import Operation
from registry_contracts.settings.target import ANY_REALM

JSON: Final = "application/json"
#: The fault of an exchange in a dry run.
UNSENT = "not sent: a dry run"


@dataclass(frozen=True)
class Request:
    """One request, with the case, realm and role that send it.

    Attributes:
        operation: `operationId`, or None for a path outside the description.
        body: Bytes, or chunks of bytes. An iterator is never sent twice. If chunks have a length, it is their size in
            bytes and sent as Content-Length.
        identifiers: Record identifiers that the request would write to, decoded.
        writes: Whether the request may change something.
        summed: Keep only the beginning of the answer's body, and the digest of all of it.
        altered: The part that must lead to a refusal, for example `no credentials`; empty if none, or the content.
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
    def once(self) -> bool:
        """Whether the body can be read only once."""
        return isinstance(self.body, Iterator)

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
