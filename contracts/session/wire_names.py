"""The names that a target uses in place of documented ones, put into each request as it leaves.

Cases, checks and the ledger know the names of the interface document only.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Final
from urllib.parse import quote, unquote_plus, urlsplit

from contracts.interface.description import load_description
from contracts.settings.target import Target

_REALM: Final = "Realm"
_COLLECTION: Final = "collection"
BEARER: Final = "Bearer"


@dataclass(frozen=True)
class WireNames:
    """Writes requests in a target's own names.

    Attributes:
        realms: Documented realm → as it is sent.
        scheme: What is sent in place of Bearer.
        query: Documented query parameter → as it is sent.
        collections: Documented collection of drafts → as it is sent.
    """

    realms: Mapping[str, str]
    scheme: str | None
    query: Mapping[str, str]
    collections: Mapping[str, str]

    @classmethod
    def of(cls, target: Target) -> WireNames:
        """Those of a target's settings, `realm.REALM.sent_as` and `[names]`."""
        realms = {realm: given.sent_as for realm, given in target.realm.items() if given.sent_as}
        names = target.names
        return cls(realms, names.scheme, names.query, names.collections)

    def without(self, documented: str) -> WireNames:
        """All but one, which goes out as the document writes it; an empty name leaves them all."""
        if not documented:
            return self
        kept = [_but(documented, names) for names in (self.realms, self.query, self.collections)]
        return WireNames(kept[0], None if documented == BEARER else self.scheme, kept[1], kept[2])

    def in_words(self) -> str:
        """Each name and what is sent in its place, for a sentence."""
        return ", ".join(f"'{sent}' for {documented}" for documented, sent in self._pairs().items())

    def __iter__(self) -> Iterator[str]:
        """The documented names."""
        return iter(self._pairs())

    def _pairs(self) -> dict[str, str]:
        scheme = {BEARER: self.scheme} if self.scheme else {}
        return {**self.realms, **scheme, **self.query, **self.collections}

    def __bool__(self) -> bool:
        """Whether the target has any names of its own."""
        return bool(self._pairs())

    def headers(self, headers: Mapping[str, str | bytes]) -> dict[str, str | bytes]:
        """Headers with the target's realm and token scheme; values that are no documented names stay."""
        return {name: self._header(name.lower(), value) for name, value in headers.items()}

    def url(self, url: str, operation: str | None) -> str:
        """An address with the target's names of query parameters, collections and realms, all else as it was."""
        query = urlsplit(url).query
        if not query or operation is None:
            return url
        listed = load_description().operations[operation].query_parameters
        pairs = [self._pair(pair, listed) for pair in query.split("&")]
        return url.replace(f"?{query}", f"?{'&'.join(pairs)}", 1)

    def _header(self, name: str, value: str | bytes) -> str | bytes:
        text = _text(value)
        scheme, space, token = text.partition(" ")
        if name == "realm":
            sent = self.realms.get(text, text)
        elif name == "authorization" and self.scheme and scheme == BEARER and space:
            sent = f"{self.scheme} {token}"
        else:
            return value
        return sent.encode("utf-8", "surrogateescape") if isinstance(value, bytes) else sent

    def _pair(self, pair: str, listed: tuple[str, ...]) -> str:
        name, equals, value = pair.partition("=")
        documented, plain = unquote_plus(name), unquote_plus(value)
        if documented not in listed:
            return pair
        if documented == _REALM and plain in self.realms:
            value = quote(self.realms[plain])
        if documented == _COLLECTION and plain in self.collections:
            value = quote(self.collections[plain])
        if documented in self.query:
            name = quote(self.query[documented], safe="$")
        return f"{name}{equals}{value}"


def sent_as_line(realm: str) -> str:
    """The setting for a service that writes a realm in capitals."""
    return f'sent_as = "{realm.upper()}" in [realm.{realm}]'


def _but(name: str, names: Mapping[str, str]) -> Mapping[str, str]:
    return {documented: sent for documented, sent in names.items() if documented != name}


def _text(value: str | bytes) -> str:
    return value.decode("utf-8", "surrogateescape") if isinstance(value, bytes) else value
