"""A request, and the layers that it passes on its way: each sends it to the one below and returns the exchange."""

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
#: In place of a fault of the environment, where a request was prepared in a dry run.
UNSENT = "not sent: a dry run"


@dataclass(frozen=True)
class Request:
    """One request, and on whose behalf it is sent.

    Attributes:
        operation: `operationId`, or None for a path outside the description.
        body: Bytes, or chunks of them; chunks that can be read only once are never sent twice, and chunks
            that have a length, in bytes, are announced by it.
        identifiers: Record identifiers that the request would write to, decoded.
        writes: Whether the request may change something.
        summed: Keep only the beginning of the answer's body, and the digest of all of it.
        altered: What of the request ought to have it refused, as `no credentials`; empty for its content, or nothing.
        verbatim: The address goes out as written; otherwise the client library decodes what needs no encoding.
        documented: A name that goes out as the interface document writes it, whatever the target calls it.
        case: Node id, or a word in brackets for the suite's own housekeeping.
        advisory: Nothing that the attempt may find is about a must.
        signed: It carries the role's own token, which may be renewed.
        gathered: Where the exchanges of the case are put, those before a renewal included.
        prepared: As it will go out, once the guard has let it pass.
        written: Address and headers in the names of the interface document, where the target has names of its own.
        limit: Seconds that it may take, where there is less time than usual.
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
        """Whether it is sent by the suite itself, and not by a case."""
        return self.case.startswith("[")


class Layer(Protocol):
    """Sends a request on; what the environment does in place of an answer stands in the exchange.

    A layer has no text of its own (`repr=False`): it may hold tokens, and stand in the locals of a failure.
    """

    def send(self, request: Request) -> Exchange:
        """Send one request.

        Raises:
            GuardViolation: it must never leave; nothing was sent.
            SuiteError: it would write outside the namespace, or HTTP has no way to carry it; nothing was sent.
            EnvironmentFault: nothing can be sent any more, or nothing of its operation; nothing was sent.
        """


class DryRun:
    """The lowest layer of a session that sends nothing."""

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
    """What is known of a body that is sent: of chunks that are made as they are sent, at most their size."""
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
    """The headers that the document lists for an operation, credentials aside; None for one that is left out."""
    headers: dict[str, str | None] = {"Accept": JSON}
    if operation.lists_content_type:
        headers["Content-Type"] = JSON
    if operation.takes_realm:
        headers["Realm"] = realm
    return headers


def encoded(value: str | bytes) -> bytes:
    """The bytes of a header."""
    return value if isinstance(value, bytes) else value.encode("utf-8", "surrogatepass")
