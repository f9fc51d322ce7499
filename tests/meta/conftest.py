"""Fixtures for tests that talk to a sandbox: processes, callers and fresh identifiers."""

import socket
import subprocess
import sys
import threading
import uuid
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import requests

PATIENCE = 20.0
READY = "sandbox ready at "


@dataclass
class RunningSandbox:
    """A sandbox in a process of its own."""

    process: subprocess.Popen[str]
    url: str

    def kilobytes(self, figure: str) -> int:
        """Return a memory figure of the process: ``VmRSS`` now, ``VmHWM`` at its highest."""
        lines = Path(f"/proc/{self.process.pid}/status").read_text().splitlines()
        return next(int(line.split()[1]) for line in lines if line.startswith(figure))

    def stop(self) -> int:
        """End the process with SIGTERM and return its exit code."""
        self.process.terminate()
        return self.process.wait(PATIENCE)


@contextmanager
def running(*options: str) -> Iterator[RunningSandbox]:
    command = [sys.executable, "-m", "contracts.sandbox", "--port", "0", *options]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        line = process.stdout.readline()
        assert line.startswith(READY), line
        started = RunningSandbox(process, line.removeprefix(READY).strip())
        try:
            yield started
        finally:
            started.stop()


class Caller(requests.Session):
    """A client of one sandbox, signed in as a role, in a realm; it is given paths, not addresses."""

    def __init__(self, url: str, token: str | None, realm: str | None) -> None:
        super().__init__()
        self.base = url
        self.trust_env = False
        self.token = token
        if token is not None:
            self.headers["Authorization"] = f"Bearer {token}"
        if realm is not None:
            self.headers["Realm"] = realm

    def request(self, method: str, url: str, *args: Any, **options: Any) -> requests.Response:
        """Send a request to a path of the sandbox."""
        options.setdefault("timeout", PATIENCE)
        return super().request(method, self.base + url, *args, **options)


def sign_in(url: str, role: str) -> str:
    credentials = {"email": f"{role}@sandbox.test", "password": f"sandbox-{role}"}
    answer = requests.post(f"{url}/api/v2013/authentication/token", json=credentials, timeout=PATIENCE)
    assert answer.status_code == 200, answer.text
    return str(answer.json()["authenticationToken"])


@pytest.fixture(scope="session")
def sandbox() -> Iterator[RunningSandbox]:
    """Serve one sandbox for all tests of the session."""
    with running() as started:
        yield started


@pytest.fixture(scope="session")
def sandbox_url(sandbox: RunningSandbox) -> str:
    """Return the base address of the session's sandbox."""
    return sandbox.url


@pytest.fixture(scope="session")
def sandbox_tokens() -> dict[str, str]:
    """Return the tokens of the session's sandbox by role; ``caller`` fills them."""
    return {}


@pytest.fixture
def caller(sandbox_url: str, sandbox_tokens: dict[str, str]) -> Iterator[Callable[..., Caller]]:
    """Return a maker of clients: ``caller(role, realm, url=…)``; role ``None`` is anonymous."""
    with ExitStack() as callers:

        def token_of(role: str | None, url: str) -> str | None:
            if role is None:
                return None
            if url != sandbox_url:
                return sign_in(url, role)
            if role not in sandbox_tokens:
                sandbox_tokens[role] = sign_in(url, role)
            return sandbox_tokens[role]

        def make(role: str | None = "author", realm: str | None = "abs-dev", url: str = "") -> Caller:
            address = url or sandbox_url
            return callers.enter_context(Caller(address, token_of(role, address), realm))

        yield make


@pytest.fixture
def start_sandbox() -> Iterator[Callable[..., RunningSandbox]]:
    """Return a starter of further sandboxes; each is stopped at the end of the test."""
    with ExitStack() as started:
        yield lambda *options: started.enter_context(running(*options))


@pytest.fixture
def serve_app() -> Iterator[Callable[[Any], str]]:
    """Return a server of applications made in the test; it answers their base address."""
    with ExitStack() as served:
        yield lambda app: served.enter_context(serving(app))


@contextmanager
def serving(app: Any) -> Iterator[str]:
    from contracts.sandbox.serve import make_server  # noqa: PLC0415 - the rest needs no server in this process

    ready = threading.Event()
    server = make_server(app, ready.set)
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
        thread = threading.Thread(target=lambda: server.run(sockets=[listener]))
        thread.start()
        try:
            assert ready.wait(PATIENCE)
            yield f"http://127.0.0.1:{port}"
        finally:
            server.should_exit = True
            thread.join(PATIENCE)


@pytest.fixture
def uid() -> str:
    """Return an identifier nobody has used."""
    return f"test-{uuid.uuid4().hex}"


@pytest.fixture
def contact() -> dict[str, Any]:
    """Return a contact of the realm abs-dev that holds only the mandatory fields."""
    return {
        "firstName": "Ada",
        "lastName": "Njoroge",
        "organization": {"en": "Office for Genetic Resources"},
        "country": {"identifier": "ke"},
        "emails": ["ada@office.example"],
        "type": "person",
        "contactOrganization": {"identifier": "organization-abs-dev"},
    }


@pytest.fixture
def permit() -> dict[str, Any]:
    """Return an absPermit of the realm abs-dev that holds only the mandatory fields."""
    return {
        "title": {"en": "Permit to collect seeds"},
        "country": {"identifier": "ke"},
        "permitNumber": "KE-2026-0107",
        "issuedOn": "2026-04-02",
    }
