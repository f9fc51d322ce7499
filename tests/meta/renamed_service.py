"""A sandbox that calls documented names otherwise: realms, their header, query parameters, collections, the scheme."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any
from urllib.parse import parse_qsl, urlencode


class Renamed:
    """Another service in front of a sandbox, which knows some names only as they are called here.

    Args:
        values: Documented realm or collection → how the service calls it.
        query: Documented query parameter → how the service calls it.
        scheme: What the service wants in the place of Bearer.
        realm_header: The header in which the service looks for the realm.
    """

    def __init__(
        self,
        app: Any,
        values: Mapping[str, str] | None = None,
        query: Mapping[str, str] | None = None,
        scheme: str = "Bearer",
        realm_header: str = "Realm",
    ) -> None:
        self._app, self._values, self._query = app, values or {}, query or {}
        self._scheme, self._realm_header = scheme.encode(), realm_header.lower().encode()

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        """Hand a request on, in the sandbox's own words."""
        if scope["type"] == "http":
            pairs = parse_qsl(scope["query_string"].decode("latin-1"), keep_blank_values=True)
            known = [(_told(self._query, name), _told(self._values, value)) for name, value in pairs]
            query = urlencode(known).encode("latin-1")
            scope = {**scope, "headers": list(self._known(scope["headers"])), "query_string": query}
        await self._app(scope, receive, send)

    def _known(self, headers: Iterable[tuple[bytes, bytes]]) -> Iterator[tuple[bytes, bytes]]:
        for name, value in headers:
            scheme, _, rest = value.partition(b" ")
            if name == self._realm_header:
                yield b"realm", _told(self._values, value.decode("latin-1")).encode("latin-1")
            elif name == b"authorization" and self._scheme != b"Bearer":
                yield name, (b"Bearer " if scheme == self._scheme else b"Unknown ") + rest
            elif name != b"realm":
                yield name, value


def _told(names: Mapping[str, str], word: str) -> str:
    """The documented name of what the service calls so; another where the documented one is not known to it."""
    documented = {here: name for name, here in names.items()}
    return documented.get(word, "not-known-here" if word in names else word)
