"""An actor whose requests are answered by a rule, and the store that cases share, without a service."""

import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from registry_contracts.exchanges.exchange import Exchange
from registry_contracts.session.actor import OperationCalls
from registry_contracts.session.namespace import Namespace
from registry_contracts.session.shared_state import SharedState
from tests.meta import messages

Rule = Callable[[str, dict[str, Any]], tuple[int, Any]]


class Scripted(OperationCalls):
    """An actor: each request is answered with what the rule says of its operation and parts."""

    def __init__(self, shared: "Session", rule: Rule, role: str = "author", realm: str = "abs-dev") -> None:
        self.role = role
        self.realm = realm
        self.sent: list[tuple[str, dict[str, Any]]] = []
        self.settle_seconds = 0.0
        self.shared = shared
        self._rule = rule

    def send(self, operation: str, **parts: Any) -> Exchange:
        self.sent.append((operation, parts))
        status, body = self._rule(operation, {"role": self.role, **parts})
        by: dict[str, Any] = {"id": f"main-{len(self.sent)}", "realm": self.realm, "role": self.role}
        return messages.exchange(messages.answer(body, status), operation, method="POST", **by)


class Session(SharedState):
    """Where things are shared among cases: in a folder of the test, no counter of which allows a number."""

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        self.shared = self
        self.namespace = Namespace("test", seed="1")
        self.settle_seconds = 0.0

    def keep(self, uid: str) -> None:
        """Leave a draft where it is."""

    def take(self, counter: str) -> int:  # noqa: ARG002 - every one is used up
        """No number that any counter allows."""
        return sys.maxsize


@pytest.fixture
def run(tmp_path: Path) -> Session:
    """Where things are shared."""
    return Session(tmp_path)


@pytest.fixture
def scripted(run: Session) -> Callable[..., Scripted]:
    """Makes an actor: `scripted(rule, role, realm)`."""
    return partial(Scripted, run)
