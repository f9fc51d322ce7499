"""Learns the names that a recorded client sent in place of documented ones: the realm's header, the token's scheme.

A name is taken only where the service took the request, and where it is the only one. What a query parameter of another
name stands for is not guessed: a person says so in the settings.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Final

from contracts.exchanges.exchange import Exchange
from contracts.exchanges.readers import Ambiguous, errors
from contracts.exchanges.request_facts import scheme_fault
from contracts.settings.target import BEARER, DEVELOPMENT_REALMS, PRODUCTION_REALMS

_REALMS: Final = frozenset((*DEVELOPMENT_REALMS, *PRODUCTION_REALMS))


def taken(exchange: Exchange) -> bool:
    """Whether the service took what was sent: success, and no content error."""
    if exchange.response is None or exchange.fault or not exchange.response.success:
        return False
    try:
        return not errors(exchange.response)
    except Ambiguous:
        return False


def named_realm(text: str) -> str | None:
    """The realm that a text is, in the document's spelling; None for any other text."""
    plain = text.strip().lower()
    return plain if plain in _REALMS else None


def realms_named(exchange: Exchange, query: Iterable[tuple[str, str]]) -> set[str]:
    """Every realm that a request names, in whatever header or query parameter."""
    values = (*exchange.request_headers.values(), *(value for _, value in query))
    return {realm for realm in map(named_realm, values) if realm}


@dataclass
class RecordedNames:
    """Names of a recorded client; `read` takes its requests one by one, in their order."""

    _headers: dict[str, str] = field(default_factory=dict)
    _schemes: set[str] = field(default_factory=set)

    def read(self, exchange: Exchange) -> None:
        """Learn from one request of the interface."""
        if not taken(exchange):
            return
        headers = exchange.request_headers
        self._headers |= {name.lower(): name for name, value in headers.items() if named_realm(value)}
        scheme, _, token = headers.get("authorization", "").strip().partition(" ")
        if scheme:
            # What stands alone is a token, and is never kept; what a recorder blanked out says nothing.
            self._schemes.add((scheme if token else "") if scheme_fault(headers) is not None else BEARER)

    @property
    def scheme(self) -> str:
        """The token scheme where it was never sent as the document writes it; empty for none."""
        (only,) = self._schemes if len(self._schemes) == 1 else ("",)
        return only if only != BEARER and only.isalpha() else ""

    @property
    def realm_header(self) -> str:
        """The header that carried the realm where Realm never did; empty where it did, or several may have."""
        names = [*self._headers.values()]
        return names[0] if len(names) == 1 and "realm" not in self._headers else ""

    def realm(self, exchange: Exchange) -> str | None:
        """The realm that a request names in that header."""
        return exchange.request_headers.get(self.realm_header) if self.realm_header else None
