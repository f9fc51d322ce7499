"""Lets a library that uses `requests` send through an actor; opens no connection itself."""

from __future__ import annotations

from io import BytesIO
from typing import Any
from urllib.parse import parse_qsl, urlsplit

import requests
from requests.adapters import HTTPAdapter
from urllib3 import HTTPHeaderDict, HTTPResponse

from registry_contracts.errors import UsageError
from registry_contracts.exchanges.exchange import Exchange
from registry_contracts.interface.description import load_description
from registry_contracts.session.actor import Actor

#: Headers of packed bodies; an actor has already unpacked them.
_UNPACKED = ("content-encoding", "transfer-encoding")


class ActorClient(requests.Session):
    """A `requests` session whose requests an actor sends, to its target, with its token and its rules for redirects."""

    def __init__(self, actor: Actor) -> None:
        super().__init__()
        self.trust_env = False
        self.exchanges: list[Exchange] = []
        self._actor = actor

    def send(self, request: requests.PreparedRequest, **_: Any) -> requests.Response:
        """Send one request; raises `UsageError` for one that the description does not know."""
        address = urlsplit(str(request.url))
        matched = load_description().match(str(request.method), address.path)
        if matched is None:
            raise UsageError(f"no operation of the description has the path {address.path}")
        operation, path = matched
        given: dict[str, str | None] = {"Accept": request.headers.get("Accept")}
        if given["Accept"] == "*/*":
            del given["Accept"]
        if operation.takes_realm:
            given["Realm"] = request.headers.get("Realm")
        # The library sets it only with a body; the document lists it for requests without one, too.
        if "Content-Type" in request.headers:
            given["Content-Type"] = request.headers["Content-Type"]
        query = parse_qsl(address.query, keep_blank_values=True)
        body = request.body.encode() if isinstance(request.body, str) else request.body
        exchange = self._actor.send(operation.id, path=path, query=query, body=body, headers=given)
        self.exchanges.append(exchange)
        answer = exchange.answer
        pairs = (pair for pair in answer.headers.pairs if pair[0].lower() not in _UNPACKED)
        raw = HTTPResponse(
            BytesIO(answer.content),
            HTTPHeaderDict(pairs),
            status=answer.status,
            reason=answer.reason,
            version=11,
            preload_content=False,
            enforce_content_length=False,
        )
        return HTTPAdapter().build_response(request, raw)
