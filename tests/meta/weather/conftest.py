"""Sandboxes in bad weather, served in this process with a gate, and a plain client that sees what comes of it."""

import os
import re
import shutil
import socket
import subprocess
import sys
import threading
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import pytest
import requests

from contracts.sandbox.habits import Settings
from contracts.sandbox.serve import altered, make_server
from contracts.sandbox.weather import forecast

CHECKOUT = Path(__file__).parents[3]
PATIENCE = 20.0
TOKEN = "/api/v2013/authentication/token"
DRAFTS = "/api/v2013/document-drafts"


class Client:
    """Somebody without any patience for weather.

    Args:
        url: base address of the sandbox.
    """

    def __init__(self, url: str) -> None:
        self.url = url
        self.http = requests.Session()
        self.http.trust_env = False
        self.token = ""

    def ask(self, method: str = "GET", path: str = DRAFTS, **options: Any) -> requests.Response:
        """Send one request."""
        options.setdefault("timeout", PATIENCE)
        headers = {"Realm": "abs-dev"}
        if self.token:
            headers["Authorization"] = f"Bearer {self.token}"
        return self.http.request(method, self.url + path, headers=headers, **options)

    def sign_in(self) -> str:
        """Ask for the author's token."""
        body = {"email": "author@sandbox.test", "password": "sandbox-author"}
        return str(self.ask("POST", TOKEN, json=body).json()["authenticationToken"])

    def save(self, uid: str) -> requests.Response:
        """Save a draft."""
        path = f"/api/v2013/documents/{uid}/versions/draft?schema=contact"
        return self.ask("PUT", path, json={"firstName": "Ada"})

    def seen(self, times: int, **options: Any) -> Counter[str]:
        """What came of as many requests: statuses, and kinds of failures."""
        return Counter(self.came_of(lambda: self.ask(**options)) for _ in range(times))

    def came_of(self, ask: Callable[[], requests.Response]) -> str:
        """What came of a request: its status and media type, or how it failed."""
        try:
            answer = ask()
        except requests.exceptions.Timeout:
            return "silence"
        except requests.exceptions.ChunkedEncodingError:
            return "broken off"
        except requests.exceptions.ConnectionError as error:
            return "refused" if "refused" in str(error) else "reset"
        kind = answer.headers.get("content-type", "").partition(";")[0].rpartition("/")[2]
        return f"{answer.status_code} {kind}".strip()


@contextmanager
def outdoors(*weather: str, seed: int = 1) -> Iterator[Client]:
    app = altered(Settings())
    sky = forecast(weather).over(app, seed)
    ready = threading.Event()

    def begin() -> None:
        sky.begin()
        ready.set()

    server = make_server(app, begin)
    with socket.create_server(("127.0.0.1", 0)) as listener:
        url = f"http://127.0.0.1:{listener.getsockname()[1]}"
        sky.gate.stand_before(server, listener)
        thread = threading.Thread(target=lambda: server.run(sockets=[listener]))
        thread.start()
        try:
            assert ready.wait(PATIENCE)
            client = Client(url)
            with client.http:
                yield client
        finally:
            server.should_exit = True
            thread.join(PATIENCE)
            sky.gate.close()


@pytest.fixture
def client_in() -> Iterator[Callable[..., Client]]:
    """Return a maker of clients: `client_in("resets:share=0.5", seed=2)`."""
    with ExitStack() as served:
        yield lambda *weather, seed=1: served.enter_context(outdoors(*weather, seed=seed))


@pytest.fixture
def run_against(tmp_path: Path, start_sandbox: Callable[..., Any]) -> Callable[..., Path]:
    """Return a runner of the suite against a sandbox that was served by hand; it answers the run's folder."""

    def run(weather: str, *, timeout: int, clauses: Sequence[str]) -> Path:
        url = start_sandbox("--weather", weather).url
        source = CHECKOUT / "contracts" / "settings"
        text = (source / "sandbox.toml").read_text(encoding="utf-8").replace("http://127.0.0.1:8080", url)
        shutil.copytree(source / "samples", tmp_path / "samples")
        target = tmp_path / "service.toml"
        target.write_text(re.sub(r"timeout_seconds = \d+", f"timeout_seconds = {timeout}", text), "utf-8")
        words = ["--target", str(target), "--realm=abs-dev", f"--reports={tmp_path / 'reports'}"]
        words += ["--history=off", *(f"--clause={clause}" for clause in clauses)]
        accounts = {}
        for role in ("author", "other", "restricted", "nau"):
            accounts[f"SANDBOX_{role.upper()}_EMAIL"] = f"{role}@sandbox.test"
            accounts[f"SANDBOX_{role.upper()}_PASSWORD"] = f"sandbox-{role}"
        program = "from contracts.cli import main; main()"
        subprocess.run(
            [sys.executable, "-c", program, "run", *words],
            env={**os.environ, **accounts, "PYTHONPATH": str(CHECKOUT)},
            cwd=tmp_path,
            capture_output=True,
            check=False,
            timeout=300,
        )
        return (tmp_path / "reports" / "latest").resolve()

    return run
