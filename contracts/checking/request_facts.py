"""What a request is, read from the exchange alone: its operation, its parts, whose it is, and its faults."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from urllib.parse import parse_qsl, urlsplit

from contracts.checking.request_faults import RequestFault, faults_in
from contracts.interface.description import Description, Operation
from contracts.session.exchange import Exchange
from contracts.session.redaction import REDACTED

#: Every path of the interface begins so, whatever prefix the base URL puts in front.
ROOT = "/api/v"
_SCHEME = "bearer"


class Credentials(StrEnum):
    """What stands in a request's Authorization header."""

    NONE = "none"
    TOKEN = "a token of the service"  # noqa: S105 - a description
    MADE_UP = "made up"
    UNKNOWN = "a token that nobody here knows"


@dataclass(frozen=True)
class RequestFacts:
    """A request as the interface sees it.

    Attributes:
        path: Values of the placeholders, decoded.
        query: Pairs, decoded, in their order.
        realm: The realm it names, in the header or, where the document allows that, in the query.
        faults: Where it breaks the interface, as far as one request shows.
    """

    operation: Operation
    path: Mapping[str, str]
    query: tuple[tuple[str, str], ...]
    realm: str | None
    credentials: Credentials
    faults: tuple[RequestFault, ...]

    @property
    def valid(self) -> bool:
        """Whether it keeps the interface, as far as one request shows."""
        return not self.faults


def read_request(
    exchange: Exchange, description: Description, knows: Callable[[str], bool] | None = None
) -> RequestFacts | None:
    """Read a request.

    Args:
        knows: Whether a text is a token that the service issued; None where nobody can tell, as in traffic
            recorded elsewhere.

    Returns:
        Its facts, or None when it is no operation of the interface.
    """
    parts = urlsplit(exchange.url)
    at = parts.path.find(ROOT)
    found = description.match(exchange.method, parts.path[max(at, 0) :])
    if found is None:
        return None
    operation, path = found
    query = tuple(parse_qsl(parts.query, keep_blank_values=True))
    realm = realm_of(exchange.request_headers, query, operation)
    credentials = _credentials(exchange.request_headers, knows)
    faults = faults_in(exchange, operation, path, query)
    return RequestFacts(operation, path, query, realm, credentials, tuple(faults))


def realm_of(
    headers: Mapping[str, str], query: tuple[tuple[str, str], ...], operation: Operation
) -> str | None:
    """The realm that a request names; the query counts only where the document lists the parameter."""
    for name, value in headers.items():
        if name.lower() == "realm":
            return value
    if "Realm" not in operation.query_parameters:
        return None
    return next((value for name, value in query if name == "Realm"), None)


def _credentials(headers: Mapping[str, str], knows: Callable[[str], bool] | None) -> Credentials:
    value = next((value for name, value in headers.items() if name.lower() == "authorization"), "")
    scheme, _, token = value.strip().partition(" ")
    if not value.strip():
        return Credentials.NONE
    if scheme.lower() != _SCHEME or not token:
        return Credentials.MADE_UP
    if token == REDACTED or (knows is not None and knows(token)):
        return Credentials.TOKEN
    return Credentials.UNKNOWN if knows is None else Credentials.MADE_UP
