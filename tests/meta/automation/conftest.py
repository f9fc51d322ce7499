"""Webhooks on loopback, and the program in an empty folder."""

import json
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from tests.meta.gate.telling import Program

#: The part of a webhook's address that nobody may see.
SECRET = "T0-secret-of-the-webhook"


@dataclass
class Hook:
    """A webhook that answers with the statuses it is given, the last one from then on."""

    statuses: list[int]
    url: str = ""
    posted: list[Any] = field(default_factory=list)

    def next_status(self) -> int:
        return self.statuses.pop(0) if len(self.statuses) > 1 else self.statuses[0]


@contextmanager
def hooked(*statuses: int) -> Iterator[Hook]:
    hook = Hook(list(statuses))

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            hook.posted.append(json.loads(self.rfile.read(int(self.headers["Content-Length"]))))
            self.send_response(hook.next_status())
            self.send_header("Location", "/elsewhere")
            self.send_header("Content-Length", "0")
            self.end_headers()

        def log_message(self, *_: Any) -> None:
            """Say nothing."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        hook.url = f"http://127.0.0.1:{server.server_port}/{SECRET}"
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        try:
            yield hook
        finally:
            server.shutdown()
            thread.join()


@pytest.fixture
def webhook_answering() -> Iterator[Callable[..., Hook]]:
    """Starts webhooks: `webhook_answering(503, 200)`."""
    with ExitStack() as stack:
        yield lambda *statuses: stack.enter_context(hooked(*statuses))


def assert_unseen(folder: Path, *said: str) -> None:
    """No file in a folder and nothing that was said holds the secret."""
    assert SECRET not in "".join(said)
    for path in folder.rglob("*"):
        assert not path.is_file() or SECRET.encode() not in path.read_bytes(), path


@pytest.fixture
def program(tmp_path: Path) -> Program:
    """The program, in an empty folder."""
    folder = tmp_path / "elsewhere"
    folder.mkdir()
    return Program(folder)
