"""What passing through the proxy costs: time for a request beside the same one sent directly, memory for an upload."""

import http.client
import json
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

from contracts.settings.embedded_sandbox import DOCUMENT_SIZE_LIMIT, EmbeddedSandbox

_PROGRAM = [sys.executable, "-c", "from contracts.cli import main; main()"]
_READY = "proxy ready at "
_WARMING = 50
_PIECE = b"\0" * 2**20
_DRAFT = "/api/v2013/documents/benchmark-draft-01"
_PATIENCE_SECONDS = 600


@dataclass(frozen=True)
class PassageCost:
    """Medians of one request in milliseconds, and the growth of the proxy's memory in MB."""

    direct_ms: float
    through_ms: float
    uploaded_mb: int
    grown_mb: float

    @property
    def added_ms(self) -> float:
        """What the proxy adds to a request in the middle."""
        return self.through_ms - self.direct_ms


def passage_cost(requests: int, megabytes: int = 500) -> PassageCost:
    """Read one draft directly and through the proxy in turn, then upload a file through it."""
    with EmbeddedSandbox(DOCUMENT_SIZE_LIMIT) as sandbox, _proxied(sandbox.base_url) as (process, address):
        headers = _signed_in(sandbox.base_url)
        direct, through = _connected(sandbox.base_url), _connected(address)
        _ask(direct, "PUT", f"{_DRAFT}/versions/draft?schema=contact", headers, b'{"title": {"en": "x"}}')
        for connection in (direct, through):
            for _ in range(_WARMING):
                _timed(connection, headers)
        times = [(_timed(direct, headers), _timed(through, headers)) for _ in range(requests)]
        before = _highest(process.pid)
        _upload(through, headers, megabytes)
        grown = (_highest(process.pid) - before) / 1024
    medians = [statistics.median(column) * 1000 for column in zip(*times, strict=True)]
    return PassageCost(medians[0], medians[1], megabytes, grown)


@contextmanager
def _proxied(base_url: str) -> Iterator[tuple[subprocess.Popen[str], str]]:
    with tempfile.TemporaryDirectory() as folder:
        words = [*_PROGRAM, "proxy", "--base-url", base_url, "--port", "0", "--no-page", "--reports", folder]
        process = subprocess.Popen(words, stdout=subprocess.PIPE, text=True)
        try:
            line = process.stdout.readline() if process.stdout else ""
            yield process, line.removeprefix(_READY).split(",")[0]
        finally:
            process.send_signal(signal.SIGTERM)
            process.communicate(timeout=_PATIENCE_SECONDS)


def _connected(url: str) -> http.client.HTTPConnection:
    parts = urlsplit(url)
    return http.client.HTTPConnection(str(parts.hostname), parts.port, timeout=_PATIENCE_SECONDS)


def _signed_in(url: str) -> dict[str, str]:
    content = json.dumps({"email": "author@sandbox.test", "password": "sandbox-author"}).encode()
    headers = {"Content-Type": "application/json"}
    answer = _ask(_connected(url), "POST", "/api/v2013/authentication/token", headers, content)
    return {
        **headers,
        "Authorization": f"Bearer {json.loads(answer)['authenticationToken']}",
        "Realm": "abs-dev",
    }


def _ask(
    connection: http.client.HTTPConnection,
    method: str,
    path: str,
    headers: dict[str, str],
    content: bytes | None,
) -> bytes:
    connection.request(method, path, content, headers)
    response = connection.getresponse()
    body = response.read()
    if response.status >= 300:
        raise RuntimeError(f"{method} {path} answered {response.status} {body!r}")
    return body


def _timed(connection: http.client.HTTPConnection, headers: dict[str, str]) -> float:
    started = time.perf_counter()
    _ask(connection, "GET", f"{_DRAFT}/versions/draft", headers, None)
    return time.perf_counter() - started


def _upload(connection: http.client.HTTPConnection, headers: dict[str, str], megabytes: int) -> None:
    connection.putrequest("POST", f"{_DRAFT}/attachments/large.bin")
    size = {"Content-Length": str(megabytes * len(_PIECE)), "Content-Type": "application/octet-stream"}
    for name, value in ({**headers, **size}).items():
        connection.putheader(name, value)
    connection.endheaders()
    for _ in range(megabytes):
        connection.send(_PIECE)
    response = connection.getresponse()
    response.read()
    if response.status >= 300:
        raise RuntimeError(f"the upload was answered {response.status}")


def _highest(process: int) -> int:
    """The most memory a process had so far, in kB."""
    lines = Path(f"/proc/{process}/status").read_text("utf-8").splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("VmHWM"))
