"""Webhooks on loopback, whose address holds a secret."""

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

#: The part of a webhook's address that no output may show.
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


def assert_unseen(folder: Path, *texts: str) -> None:
    """No file in a folder and no text holds the secret."""
    assert SECRET not in "".join(texts)
    for path in folder.rglob("*"):
        assert not path.is_file() or SECRET.encode() not in path.read_bytes(), path
