"""A session, with everything that it writes kept for the test to look at."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest

from registry_contracts.exchanges.exchange import Exchange
from registry_contracts.session.namespace import Namespace
from registry_contracts.session.pipeline import Request
from registry_contracts.session.session import Session, SessionGroup
from registry_contracts.settings.target import Pace, Target, TlsSettings

CONTEXT: dict[str, Any] = {"case": "a case", "realm": "abs-dev", "role": "author"}
SERVICE = Target("service", "http://127.0.0.1")


@dataclass
class RecordedSession:
    """A session with everything around it."""

    session: Session
    ledger_file: Path
    broken: list[str]

    def send(self, method: str, url: str, **parts: Any) -> Exchange:
        headers = parts.pop("headers", {})
        request = Request(parts.pop("operation", None), method, url, headers, **CONTEXT | parts)
        return self.session.send(request)


@pytest.fixture
def waits(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """Waits between tries, which are noted and not waited for."""
    noted: list[float] = []
    monkeypatch.setattr("registry_contracts.session.breaker.sleep", noted.append)
    return noted


@pytest.fixture
def open_session(
    tmp_path: Path, waits: list[float], monkeypatch: pytest.MonkeyPatch
) -> Iterator[Callable[..., RecordedSession]]:
    """Makes sessions of one group: `open_session(timeout=…, guard=…, may_follow=…, ca_bundle=…, events=…)`."""
    assert waits == []
    made: list[RecordedSession] = []

    def make(
        timeout: float = 5.0,
        guard: Callable[..., None] = lambda *_: None,
        may_follow: Callable[[str, str], bool] | None = None,
        ca_bundle: Path | None = None,
        target: Target = SERVICE,
        events: Any = None,
    ) -> RecordedSession:
        # The tests send to several servers; the guard has its own.
        for layer in ("pipeline", "retry"):
            monkeypatch.setattr(
                f"registry_contracts.session.{layer}.refuse_request", lambda *given: guard(*given[:3])
            )
        if may_follow is not None:
            monkeypatch.setattr(Session, "_may_follow", lambda _, *where: may_follow(*where))
        pace = Pace(requests_per_second=None, concurrency=2, timeout_seconds=timeout)
        broken, name = list[str](), f"session-{len(made)}"
        session = Session(
            replace(target, pace=pace, tls=TlsSettings(ca_bundle)),
            name,
            namespace=Namespace("test", ["granted-0001"]),
            group=SessionGroup(tmp_path, broken.append),
            events=events,
        )
        made.append(RecordedSession(session, tmp_path / f"ledger-{name}.jsonl", broken))
        return made[-1]

    yield make
    for each in made:
        each.session.close()
