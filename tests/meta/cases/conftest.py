"""An actor whose requests are answered by a rule, and the store that cases share, without a service."""

import json
import sys
from collections.abc import Callable
from typing import Any

import pytest

from contracts.exchanges.exchange import Exchange
from contracts.session.namespace import Namespace
from contracts.session.operation_calls import OperationCalls
from tests.meta import messages

Rule = Callable[[str, dict[str, Any]], tuple[int, Any]]


class Scripted(OperationCalls):
    """An actor: each request is answered with what the rule says of its operation and parts."""

    def __init__(self, rule: Rule, role: str = "author", realm: str = "abs-dev") -> None:
        self.role = role
        self.realm = realm
        self.sent: list[tuple[str, dict[str, Any]]] = []
        self.settle_seconds = 0.0
        self.shared = Session()
        self._rule = rule

    def send(self, operation: str, **parts: Any) -> Exchange:
        """Answer by the rule."""
        self.sent.append((operation, parts))
        status, body = self._rule(operation, {"role": self.role, **parts})
        content = b"" if body is None else json.dumps(body).encode()
        return messages.exchange(
            messages.response(status, content, {"content-type": "application/json"}),
            id=f"main-{len(self.sent)}",
            realm=self.realm,
            role=self.role,
            operation=operation,
            method="POST",
        )


class Session:
    """Where things are shared: by themselves, among workers and among cases."""

    def __init__(self) -> None:
        self.namespace = Namespace("test", seed="1")
        self.settle_seconds = 0.0
        self.kept: dict[str, Any] = {}

    @property
    def shared(self) -> "Session":
        """Itself."""
        return self

    def keep(self, uid: str) -> None:
        """Leave a draft where it is."""

    def take(self, _name: str) -> int:
        """No number that any counter allows."""
        return sys.maxsize

    def mark(self, name: str) -> None:
        """Leave a mark."""
        self.kept[name] = True

    def marked(self, name: str) -> bool:
        """Whether there is this mark."""
        return name in self.kept

    def offer(self, name: str, value: object) -> None:
        """Put something there, unless something is."""
        self.kept.setdefault(name, value)

    def offered(self, name: str) -> Any:
        """What is there; None for nothing."""
        return self.kept.get(name)

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
