"""A client of the library `requests` that opens no connection: an actor sends what a library asks it to."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any
from urllib.parse import parse_qsl, urlsplit

import requests

from contracts.errors import UsageError
from contracts.exchanges.exchange import Exchange, Headers
from contracts.interface.description import load_description
from contracts.session.actor import Actor
from contracts.session.layers import JSON

#: Headers of a request that an actor would write by itself, and that the library may have changed or left out.
_DOCUMENTED = ("Accept", "Content-Type", "Realm")


class ActorClient(requests.Session):
    """A client of the library `requests` that opens no connection: an actor sends what it is asked to.

    The actor writes the address of its target and signs with its own token, whatever address the library knows. What
    it has sent is in `exchanges`, in order.
    """

    def __init__(self, actor: Actor) -> None:
        super().__init__()
        self._actor = actor
        self.exchanges: list[Exchange] = []

    def request(self, method: str | bytes, url: str | bytes, *_: Any, **parts: Any) -> requests.Response:
        """Send one request of the description.

        Args:
            parts: As `requests` takes them; those about the connection (timeout, TLS, redirects) are the actor's own.

        Raises:
            UsageError: the description knows no such request.
            EnvironmentFault: the environment gave no answer.
        """
        kept = {name: parts.get(name) for name in ("params", "data", "json", "headers", "files")}
        prepared = self.prepare_request(requests.Request(str(method), str(url), **kept))
        address = urlsplit(str(prepared.url))
        matched = load_description().match(str(prepared.method), address.path)
        if matched is None:
            raise UsageError(f"no operation of the description has the path {address.path}")
        operation, path = matched
        headers = {
            name: prepared.headers.get(name)
            for name in _DOCUMENTED
            if name != "Realm" or operation.takes_realm
        }
        headers["Accept"] = headers["Accept"] if headers["Accept"] != "*/*" else JSON
        # The library describes the body with it only; it is listed for requests without one, too.
        if headers["Content-Type"] is None:
            del headers["Content-Type"]
        body = prepared.body.encode() if isinstance(prepared.body, str) else prepared.body
        exchange = self._actor.send(
            operation.id,
            path=path,
            query=parse_qsl(address.query, keep_blank_values=True),
            body=body,
            headers=headers,
        )
        self.exchanges.append(exchange)
        return _answer(exchange, prepared)


class _HeaderLists(dict[str, list[str]]):
    """Headers as the library beneath `requests` holds them: repeated ones one by one."""

    def __init__(self, headers: Headers) -> None:
        super().__init__()
        for name, value in headers.pairs:
            self.setdefault(name.lower(), []).append(value)

    def getlist(self, name: str) -> list[str]:
        """The values of a header."""
        return self.get(name.lower(), [])


@dataclass(frozen=True)
class _Raw:
    """What stands beneath an answer of `requests`."""

    headers: _HeaderLists
    version: int = 11


def _answer(exchange: Exchange, prepared: requests.PreparedRequest) -> requests.Response:
    """The answer of an exchange as the library knows it."""
    answer, made = exchange.answer, requests.Response()
    made.status_code, made.reason, made.url = answer.status, answer.reason, str(prepared.url)
    made.headers.update(dict(answer.headers.items()))
    made.raw = _Raw(_HeaderLists(answer.headers))
    made.request = prepared
    made._content = answer.content
    return made
