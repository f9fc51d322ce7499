"""Learns which names a recorded client used in place of documented ones, and where its realm travelled.

A working client says what its service calls things. What a name stands for is told by its usual meaning or its value,
and a name is taken only where the service took the request and its answer does not speak against it.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Final

from contracts.exchanges.exchange import Exchange
from contracts.exchanges.readers import Ambiguous, errors, records
from contracts.exchanges.request_facts import RequestFacts, scheme_fault
from contracts.safe_text import many, plain_line
from contracts.settings.target import BEARER, DEVELOPMENT_REALMS, PRODUCTION_REALMS, REALM_HEADER

_REALMS: Final = frozenset((*DEVELOPMENT_REALMS, *PRODUCTION_REALMS))
#: Documented name without its signs, in small letters → names that many services use for the same, written alike.
_USUAL: Final = {
    "top": ("limit", "take", "size", "pagesize", "perpage", "rows", "max", "maxresults", "maxitems"),
    "skip": ("offset", "start", "startindex", "from"),
    "filter": ("where", "query", "q"),
    "orderby": ("order", "sort", "sortby", "ordering", "sorting"),
    "collection": ("collections", "box", "folder", "scope", "view", "set"),
    "schema": ("type", "documenttype", "recordtype", "schemaname", "schemaid"),
}
#: What a value has to look like, where a name alone does not tell that the service reads the same language.
_VALUES: Final = {
    "top": re.compile(r"\d+"),
    "skip": re.compile(r"\d+"),
    "filter": re.compile(r".* (eq|ne|gt|ge|lt|le) .*|\w+\(.*\).*", re.IGNORECASE | re.DOTALL),
    "orderby": re.compile(r"[\w/.]+( (asc|desc))?(, ?[\w/.]+( (asc|desc))?)*", re.IGNORECASE),
}
#: Collections of drafts by what a word of the service's own has in it, the surer first.
_COLLECTIONS: Final = {
    "mydrafts": re.compile(r".*draft.*", re.IGNORECASE),
    "my": re.compile(r"(my|mine|own|personal|private)([^a-z].*)?|my[a-z]*", re.IGNORECASE),
}
_COLLECTION: Final = "collection"
_LISTING: Final = "listDrafts"
_LONGEST_SCHEME: Final = 20


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


@dataclass(frozen=True)
class SentName:
    """A name of the client's own.

    Attributes:
        request: Number of the first request that used it.
    """

    name: str
    request: int


@dataclass
class RecordedNames:
    """Names of a recorded client; `read` takes its requests one by one, in their order.

    Attributes:
        query: Documented query parameter → what was sent in its place.
        collections: Documented collection → what was sent in its place.
    """

    query: dict[str, SentName] = field(default_factory=dict)
    collections: dict[str, SentName] = field(default_factory=dict)
    _documented: set[str] = field(default_factory=set)
    _unclear: dict[str, int] = field(default_factory=dict)
    _places: Counter[str] = field(default_factory=Counter)
    _headers: dict[str, str] = field(default_factory=dict)
    _schemes: Counter[str] = field(default_factory=Counter)
    _schemes_taken: set[str] = field(default_factory=set)
    _unsigned: int = 0

    def read(self, exchange: Exchange, facts: RequestFacts) -> None:
        """Learn from one request of the interface."""
        self._read_authorization(exchange, facts)
        self._places.update(_realm_places(exchange, facts.query))
        if not taken(exchange):
            return
        headers = exchange.request_headers.items()
        self._headers |= {name.lower(): name for name, value in headers if named_realm(value)}
        listed = facts.operation.query_parameters
        self._documented.update(name for name, _ in facts.query if name in listed)
        for name, value in facts.query:
            if name not in listed:
                self._read_name(exchange, facts, name, value)
        self._read_collection(exchange, facts)

    def documented(self, facts: RequestFacts) -> tuple[tuple[str, str], ...]:
        """A request's query in the names of the document."""
        names = {sent.name: name for name, sent in self._query().items()}
        values = {sent.name: name for name, sent in self.collections.items()}
        listed = facts.operation.query_parameters
        return tuple(
            (
                names[name] if names.get(name) in listed and name not in listed else name,
                values.get(value, value) if names.get(name, name) == _COLLECTION else value,
            )
            for name, value in facts.query
        )

    def settled(self) -> tuple[Mapping[str, SentName], Mapping[str, SentName], str]:
        """Query parameters, collections and token scheme that were never sent as the document writes them."""
        collections = {name: sent for name, sent in self.collections.items() if name not in self._documented}
        scheme = ""
        if len(self._schemes_taken) == 1:
            (only,) = self._schemes_taken
            scheme = only if only != BEARER and only.isalpha() else ""
        return self._query(), collections, scheme

    def notes(self) -> Iterator[str]:
        """What a person should know of the names, a line each."""
        if self._places:
            places = ", ".join(f"{place} ({many(times, 'request')})" for place, times in self._places.items())
            yield f"the realm travels in {places}"
        for scheme, times in sorted(self._schemes.items()):
            if scheme != BEARER:
                shown = scheme if scheme.isalpha() and len(scheme) < _LONGEST_SCHEME else "another one"
                told = f"scheme '{shown}'" if scheme else "token alone, without a scheme"
                yield f"{many(times, 'request')} with the Authorization {told}; the document says Bearer"
        if self._unsigned and not self._schemes:
            yield (
                f"{many(self._unsigned, 'request')} that need a token were taken without an Authorization header: "
                "the recorder left it out, or the token travels elsewhere"
            )
        for name, number in self._unclear.items():
            yield (
                f"'{plain_line(name)}' (request {number}) is no name of the document; where it stands for one, "
                "[names] says so"
            )

    @property
    def realm_header(self) -> str:
        """The header that carried the realm where Realm never did; empty where it did, or several may have."""
        names = [*self._headers.values()]
        return names[0] if len(names) == 1 and "realm" not in self._headers else ""

    def realm(self, exchange: Exchange) -> str | None:
        """The realm that a request names in that header."""
        return exchange.request_headers.get(self.realm_header) if self.realm_header else None

    def _query(self) -> dict[str, SentName]:
        return {name: sent for name, sent in self.query.items() if name not in self._documented}

    def _read_authorization(self, exchange: Exchange, facts: RequestFacts) -> None:
        value = exchange.request_headers.get("authorization", "").strip()
        scheme, _, token = value.partition(" ")
        if value:
            # What stands alone is a token, and is never shown; what a recorder blanked out says nothing.
            own = scheme_fault(exchange.request_headers) is not None
            told = (scheme if token else "") if own else BEARER
            self._schemes[told] += 1
            self._schemes_taken |= {told} if taken(exchange) else set()
        elif facts.operation.protected and taken(exchange):
            self._unsigned += 1

    def _read_name(self, exchange: Exchange, facts: RequestFacts, name: str, value: str) -> None:
        documented = _stands_for(name, value, facts)
        if documented is None or _contradicts(exchange, documented, value):
            self._unclear.setdefault(name, exchange.number)
        else:
            self.query.setdefault(documented, SentName(name, exchange.number))

    def _read_collection(self, exchange: Exchange, facts: RequestFacts) -> None:
        if facts.operation.id != _LISTING:
            return
        sent_as = self.query[_COLLECTION].name if _COLLECTION in self.query else _COLLECTION
        for name, value in facts.query:
            if name not in (_COLLECTION, sent_as):
                continue
            if value in _COLLECTIONS:
                self._documented.add(value)
            elif documented := _collection(value):
                self.collections.setdefault(documented, SentName(value, exchange.number))
            else:
                self._unclear.setdefault(f"{name}={value}", exchange.number)


def _realm_places(exchange: Exchange, query: Iterable[tuple[str, str]]) -> Iterator[str]:
    """Where a request names a realm, in words."""
    for name, value in exchange.request_headers.items():
        if named_realm(value):
            yield REALM_HEADER if name.lower() == "realm" else f"the header {plain_line(name)}"
    for name, value in query:
        if named_realm(value):
            yield f"the query parameter {plain_line(name)}"


def realms_named(exchange: Exchange, query: Iterable[tuple[str, str]]) -> set[str]:
    """Every realm that a request names, in whatever header or query parameter."""
    values = (*exchange.request_headers.values(), *(value for _, value in query))
    return {realm for realm in map(named_realm, values) if realm}


def _stands_for(name: str, value: str, facts: RequestFacts) -> str | None:
    """The documented parameter that a name stands for, which the request does not have."""
    given = {name for name, _ in facts.query}
    free = {_plain(each): each for each in facts.operation.query_parameters if each not in given}
    if "realm" in free and named_realm(value):
        return free["realm"]
    if _COLLECTION in free and value in _COLLECTIONS:
        return _COLLECTION
    for plain, documented in free.items():
        known = _plain(name) == plain or _plain(name) in _USUAL.get(plain, ())
        if known and (plain not in _VALUES or _VALUES[plain].fullmatch(value)):
            return documented
    return None


def _contradicts(exchange: Exchange, documented: str, value: str) -> bool:
    """Whether an answer shows that a name does not stand for the largest number of items."""
    if _plain(documented) != "top" or exchange.response is None:
        return False
    try:
        return len(records(exchange.response) or ()) > int(value)
    except (Ambiguous, ValueError):
        return False


def _collection(value: str) -> str | None:
    return next((name for name, words in _COLLECTIONS.items() if words.fullmatch(value)), None)


def _plain(name: str) -> str:
    return re.sub(r"[\W_]", "", name).lower()
