"""Somebody who uses the service: a role in a realm, with one method for each operation.

Requests are made as the interface document says a client makes them; every part can be replaced, so that a case
can make exactly one thing wrong.
"""

from __future__ import annotations

import json as jsonlib
from collections.abc import Iterable, Mapping
from typing import Any, Final
from urllib.parse import quote, urlencode

from contracts.errors import EnvironmentFault
from contracts.interface.description import Description, Operation
from contracts.session.door import Call, Context, Door
from contracts.session.exchange import Exchange
from contracts.session.tokens import TokenStore

JSON: Final = "application/json"
#: Operations for which the document lists no Content-Type.
WITHOUT_CONTENT_TYPE: Final = frozenset({"listAttachments", "createAttachment", "persistTemporaryFile"})


class _Default:
    """Marks an argument that was not given, where None has a meaning of its own."""


DEFAULT: Final = _Default()


class NoTokenError(EnvironmentFault):
    """The service gave this role no token, so nothing can be done as it."""


class Actor:
    """A role in a realm.

    Args:
        role: `author`, `other`, `restricted`, `nau` or `anonymous`.
        realm: Development realm; `any` for operations that carry none.
        case, attempt: The case on whose behalf requests are sent.
        exchanges: Where the case's exchanges are gathered.
    """

    def __init__(
        self,
        *,
        role: str,
        realm: str,
        door: Door,
        description: Description,
        tokens: TokenStore,
        base_url: str,
        case: str,
        attempt: int,
        exchanges: list[Exchange],
    ) -> None:
        self.role = role
        self.realm = realm
        self._context = Context(case, attempt, realm, role)
        self._door = door
        self._description = description
        self._tokens = tokens
        self._base_url = base_url
        self._exchanges = exchanges

    def token(self) -> str | None:
        """This role's bearer token; None for the anonymous.

        Raises:
            NoTokenError: the service gave none.
        """
        if self.role == "anonymous":
            return None
        token = self._tokens.token(self.role)
        if not token.value:
            raise NoTokenError(f"createToken gave the {self.role} no token: {token.refusal}")
        return token.value

    def send(
        self,
        operation: str,
        *,
        path: Mapping[str, str] | None = None,
        query: Mapping[str, str] | Iterable[tuple[str, str]] = (),
        json: Any = DEFAULT,
        body: bytes | Iterable[bytes] | None = None,
        headers: Mapping[str, str | None] | None = None,
        token: str | _Default | None = DEFAULT,
        realm: str | _Default | None = DEFAULT,
    ) -> Exchange:
        """Send one request of an operation and return the exchange.

        Args:
            path: Path parameters, decoded; each is percent-encoded whole.
            query: Query parameters.
            json: Value sent as the JSON body. Mutually exclusive with `body`.
            body: Bytes sent as they are.
            headers: Added to the documented ones, or taken out where the value is None.
            token: Bearer token in place of the role's own; None sends no Authorization header.
            realm: Realm header in place of the actor's own; None sends none.
        """
        described = self._description.operations[operation]
        if json is not DEFAULT:
            body = jsonlib.dumps(json, ensure_ascii=False).encode("utf-8", "surrogatepass")
        call = Call(
            operation=operation,
            method=described.method,
            url=described.url(self._base_url, **(path or {})) + _query(query),
            headers=self._headers(described, headers or {}, token, realm),
            body=body,
            identifiers=_identifiers(path or {}, json),
            writes=not described.safe and operation != "createToken",
        )
        exchange = self._door.send(call, self._context)
        self._exchanges.append(exchange)
        return exchange

    def _headers(
        self,
        operation: Operation,
        changes: Mapping[str, str | None],
        token: str | _Default | None,
        realm: str | _Default | None,
    ) -> dict[str, str | bytes]:
        headers: dict[str, str | None] = {"Accept": JSON}
        if operation.id not in WITHOUT_CONTENT_TYPE:
            headers["Content-Type"] = JSON
        if operation.takes_realm:
            headers["Realm"] = self.realm if isinstance(realm, _Default) else realm
        value = self._own_token(operation) if isinstance(token, _Default) else token
        headers["Authorization"] = None if value is None else f"Bearer {value}"
        headers.update(changes)
        return {name: value.encode("utf-8") for name, value in headers.items() if value is not None}

    def _own_token(self, operation: Operation) -> str | None:
        """Protected operations get the token; where the document is silent a signed-in client sends it too."""
        return None if operation.id == "createToken" else self.token()


def _query(query: Mapping[str, str] | Iterable[tuple[str, str]]) -> str:
    pairs = list(query.items() if isinstance(query, Mapping) else query)
    return "?" + urlencode(pairs, quote_via=quote, safe="$") if pairs else ""


def _identifiers(path: Mapping[str, str], json: Any) -> tuple[str, ...]:
    """Identifiers a request would write to: in the path, and in the header member of the record it carries."""
    named = [path[name] for name in ("uid", "identifier") if path.get(name)]
    record = json.get("document", json) if isinstance(json, dict) else None
    header = record.get("header") if isinstance(record, dict) else None
    inside = header.get("identifier") if isinstance(header, dict) else None
    if isinstance(inside, str) and inside and inside not in named:
        named.append(inside)
    return tuple(named)
