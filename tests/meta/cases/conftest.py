"""Somebody whose requests are answered by a rule, and where cases share things, all without a service."""

import json
from collections.abc import Callable
from typing import Any

import pytest

from contracts.exchanges.exchange import Exchange, Response
from contracts.session.namespace import Namespace

Rule = Callable[[str, dict[str, Any]], tuple[int, Any]]


class Scripted:
    """An actor: each request is answered with what the rule says of its operation and parts."""

    def __init__(self, rule: Rule, role: str = "author", realm: str = "abs-dev") -> None:
        self.role = role
        self.realm = realm
        self.sent: list[tuple[str, dict[str, Any]]] = []
        self._rule = rule

    def send(self, operation: str, **parts: Any) -> Exchange:
        """Answer by the rule."""
        self.sent.append((operation, parts))
        status, body = self._rule(operation, {"role": self.role, **parts})
        content = b"" if body is None else json.dumps(body).encode()
        answer = Response(status, "", {"content-type": "application/json"}, content, "http://127.0.0.1/")
        made = Exchange(
            f"main-{len(self.sent)}",
            "c",
            1,
            self.realm,
            self.role,
            operation,
            method="POST",
            url="http://127.0.0.1/",
            request_headers={},
            request_body=None,
        )
        made.response = answer
        return made


class Session:
    """Where things are shared: by themselves, among workers and among cases."""

    def __init__(self) -> None:
        self.namespace = Namespace("test", seed="1")
        self.kept: dict[str, Any] = {}

    @property
    def shared(self) -> "Session":
        """Itself."""
        return self

    def once(self, name: str, make: Callable[[], Any]) -> Any:
        """Make what is not there yet."""
        if name not in self.kept:
            self.kept[name] = make()
        return self.kept[name]


@pytest.fixture
def scripted() -> type[Scripted]:
    """Makes an actor: `scripted(rule, role, realm)`."""
    return Scripted


@pytest.fixture
def run() -> Session:
    """Where things are shared."""
    return Session()
