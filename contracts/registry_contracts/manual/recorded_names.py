"""Learns from recorded traffic where a client puts the realm and the token, and which undocumented names it uses.

A name counts only if the service accepted the request. The meaning of an unknown query parameter is not guessed: a
person states it in the settings.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Final

from registry_contracts.checks.errors_array import was_taken
from registry_contracts.exchanges.exchange import Exchange
from registry_contracts.exchanges.request_facts import RequestFacts, scheme_fault
from registry_contracts.safe_text import many, plain_line
from registry_contracts.settings.target import BEARER, REALM_HEADER, REALMS

_LONGEST_SCHEME: Final = 20


def _named_realm(text: str) -> str | None:
    """Return a realm in the document's spelling; None for any other text."""
    plain = text.strip().lower()
    return plain if plain in REALMS else None


def realms_named(exchange: Exchange, query: Iterable[tuple[str, str]]) -> set[str]:
    """Return every realm that a request names, in any header or query parameter."""
    values = (*exchange.request_headers.values(), *(value for _, value in query))
    return {realm for realm in map(_named_realm, values) if realm}


@dataclass
class RecordedNames:
    """The names that a recorded client uses; `read` takes its requests in order."""

    _unknown: dict[str, int] = field(default_factory=dict)
    _places: Counter[str] = field(default_factory=Counter)
    _headers: dict[str, str] = field(default_factory=dict)
    _schemes: Counter[str] = field(default_factory=Counter)
    _schemes_taken: set[str] = field(default_factory=set)
    _unsigned: int = 0

    def read(self, exchange: Exchange, facts: RequestFacts) -> None:
        """Learn from one request of the interface."""
        self._read_authorization(exchange, facts)
        headers = exchange.request_headers.items()
        self._places.update(
            REALM_HEADER if name.lower() == "realm" else f"the header {plain_line(name)}"
            for name, value in headers
            if _named_realm(value)
        )
        self._places.update(
            f"the query parameter {plain_line(name)}" for name, value in facts.query if _named_realm(value)
        )
        if was_taken(exchange):
            self._headers |= {name.lower(): name for name, value in headers if _named_realm(value)}
            for name, _ in facts.query:
                if name not in facts.operation.query_parameters:
                    self._unknown.setdefault(name, exchange.number)

    def _read_authorization(self, exchange: Exchange, facts: RequestFacts) -> None:
        value = exchange.request_headers.get("authorization", "").strip()
        scheme, _, token = value.partition(" ")
        if value:
            # A single word is a token, and must not be shown; a blanked value counts as the documented scheme.
            own = scheme_fault(exchange.request_headers) is not None
            used = (scheme if token else "") if own else BEARER
            self._schemes[used] += 1
            self._schemes_taken |= {used} if was_taken(exchange) else set()
        elif facts.operation.protected and was_taken(exchange):
            self._unsigned += 1

    @property
    def scheme(self) -> str:
        """The only accepted scheme, if it is not the documented one; else empty."""
        (only,) = self._schemes_taken if len(self._schemes_taken) == 1 else ("",)
        return only if only != BEARER and only.isalpha() else ""

    @property
    def realm_header(self) -> str:
        """The only header that carried the realm, if it is not Realm; else empty."""
        names = [*self._headers.values()]
        return names[0] if len(names) == 1 and "realm" not in self._headers else ""

    def realm(self, exchange: Exchange) -> str | None:
        """Return the realm that a request names in that header."""
        return exchange.request_headers.get(self.realm_header) if self.realm_header else None

    def notes(self) -> Iterator[str]:
        """Remarks on the names for a person, a line each."""
        if self._places:
            places = ", ".join(f"{place} ({many(times, 'request')})" for place, times in self._places.items())
            yield f"the realm travels in {places}"
        for scheme, times in sorted(self._schemes.items()):
            if scheme != BEARER:
                shown = scheme if scheme.isalpha() and len(scheme) < _LONGEST_SCHEME else "another one"
                sent = f"scheme '{shown}'" if scheme else "token alone, without a scheme"
                yield f"{many(times, 'request')} with the Authorization {sent}; the document says Bearer"
        if self._unsigned and not self._schemes:
            yield (
                f"{many(self._unsigned, 'request')} that need a token were accepted without an Authorization header: "
                "the recorder left it out, or the token travels elsewhere"
            )
        for name, number in self._unknown.items():
            yield (
                f"'{plain_line(name)}' (request {number}) is not in the document; if it stands for a documented name, "
                "add it to [names]"
            )
