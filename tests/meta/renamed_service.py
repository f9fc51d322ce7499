"""A sandbox that calls documented names otherwise: realms, their header, query parameters, collections, the scheme."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any
from urllib.parse import parse_qsl, urlencode

#: What takes the place of a documented name that the service does not know.
_UNKNOWN = "not-known-here"


class Renamed:
    """Another service in front of a sandbox, which knows some names only as they are called here.

    Args:
        realms: Documented realm → how the service calls it.
        query: Documented query parameter → how the service calls it.
        values: Documented value of a query parameter, such as a collection → how the service calls it.
        scheme: What the service wants in the place of Bearer.
        realm_header: The header in which the service looks for the realm.
    """

    def __init__(
        self,
        app: Any,
        *,
        realms: Mapping[str, str] | None = None,
        query: Mapping[str, str] | None = None,
        values: Mapping[str, str] | None = None,
        scheme: str = "Bearer",
        realm_header: str = "Realm",
    ) -> None:
        self._app = app
        self._realms, self._query, self._values = realms or {}, query or {}, values or {}
        self._scheme = scheme
        self._realm_header = realm_header.lower().encode()

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        """Hand a request on, in the sandbox's own words."""
        if scope["type"] == "http":
            known_headers = self._known(scope["headers"])
            headers = [(name, self._header(name, value)) for name, value in known_headers]
            pairs = parse_qsl(scope["query_string"].decode("latin-1"), keep_blank_values=True)
            known = [(_told(self._query, name), self._value(name, value)) for name, value in pairs]
            scope = {**scope, "headers": headers, "query_string": urlencode(known).encode("latin-1")}
        await self._app(scope, receive, send)

    def _known(self, headers: Iterable[tuple[bytes, bytes]]) -> Iterator[tuple[bytes, bytes]]:
        """The headers with the realm in its documented one; what is sent in that is not looked at."""
        for name, value in headers:
            if name.lower() == self._realm_header:
                yield b"realm", value
            elif name.lower() != b"realm":
                yield name, value

    def _header(self, name: bytes, value: bytes) -> bytes:
        if name.lower() == b"realm":
            return _told(self._realms, value.decode("latin-1")).encode("latin-1")
        scheme, _, rest = value.partition(b" ")
        if name.lower() == b"authorization" and self._scheme != "Bearer":
            return b"Bearer " + rest if scheme == self._scheme.encode() else b"Unknown " + rest
        return value

    def _value(self, name: str, value: str) -> str:
        if name in (self._query.get("Realm", "Realm"),):
            return _told(self._realms, value)
        return _told(self._values, value)


def _told(names: Mapping[str, str], word: str) -> str:
    """The documented name of what the service calls so; another where the documented one is not known to it."""
    documented = {here: name for name, here in names.items()}
    return documented.get(word, _UNKNOWN if word in names else word)
