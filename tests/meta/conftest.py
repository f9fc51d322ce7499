"""Fixtures for tests that talk to a sandbox: processes, callers and fresh identifiers."""

import json
import os
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

from contracts.checks.claims import Claim, Claims
from contracts.checks.outcomes import Attempt
from contracts.exchanges.exchange import Exchange, Response
from contracts.interface.catalogue import Catalogue, load_catalogue
from tests.meta.evidence.sample_records import BY_NAME, Story
from tests.meta.program import Program, RunCommand, in_process
from tests.meta.webhooks import Hook, hooked

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


@pytest.fixture
def webhook_answering() -> Iterator[Callable[..., Hook]]:
    """Starts webhooks: `webhook_answering(503, 200)`."""
    with ExitStack() as stack:
        yield lambda *statuses: stack.enter_context(hooked(*statuses))


@pytest.fixture
def program(tmp_path: Path) -> Program:
    """Return a runner of the program in a process of its own, in an empty folder."""
    folder = tmp_path / "elsewhere"
    folder.mkdir()
    return Program(folder)


@pytest.fixture
def run_command(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> RunCommand:
    """Return a runner of the program in this process, in an empty folder, without the user's settings."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    for name in [name for name in os.environ if name.startswith(("REGISTRY_", "SANDBOX_"))]:
        monkeypatch.delenv(name)
    return in_process(monkeypatch, capsys)


@pytest.fixture
def story() -> Story:
    """A run in which nothing happened yet."""
    return Story()


@pytest.fixture
def whole() -> Story:
    """A run in which everything held."""
    told = Story()
    told.holds(*BY_NAME)
    return told


def make_answer(
    body: Any = None, status: int = 200, media: str = "application/json", **headers: str
) -> Response:
    content = body if isinstance(body, bytes) else b"" if body is None else json.dumps(body).encode()
    return Response(status, "", {"content-type": media, **headers}, content, "http://127.0.0.1/")


def make_exchange(answer: Response | None, operation: str = "getDraft", **more: Any) -> Exchange:
    who = {"id": "main-1", "case": "c", "attempt": 1, "realm": "abs-dev", "role": "author"}
    what = {"method": "GET", "url": "http://127.0.0.1/", "request_headers": {}, "request_body": None}
    made = Exchange(operation=operation, **{**who, **what, **more})
    made.response = answer
    return made


@pytest.fixture
def answer() -> Any:
    """Makes an answer: `answer(body, status, media, **headers)`; bytes stay as they are, None is an empty body."""
    return make_answer


@pytest.fixture
def exchange() -> Any:
    """Makes an exchange: `exchange(answer, operation)`."""
    return make_exchange


@pytest.fixture
def catalogue() -> Catalogue:
    """The suite's own catalogue."""
    return load_catalogue()


@pytest.fixture
def attempt() -> Attempt:
    """An attempt at a case."""
    return Attempt(1)


@pytest.fixture
def claims(attempt: Attempt, catalogue: Catalogue) -> Claims:
    """Claims of a case that declares every clause."""
    return Claims(attempt, catalogue, [clause.id for clause in catalogue])


@pytest.fixture
def must(claims: Claims) -> Claim:
    """A claim on a must clause."""
    return claims("draft-get-content", "getDraft")


@pytest.fixture
def should(claims: Claims) -> Claim:
    """A claim on a should clause."""
    return claims("draft-get-absent", "getDraft")
