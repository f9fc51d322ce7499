"""A door onto scripted local servers, with everything that it writes kept for the test to look at."""

import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from contracts.exchanges.exchange import Exchange
from contracts.session.ledger import Ledger
from contracts.session.limits import Pace
from contracts.session.namespace import Namespace
from contracts.session.session import Call, Context, Door
from contracts.session.transport import Transport

CONTEXT = Context("a case", 1, "abs-dev", "author")
OK = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 2\r\n\r\n{}"


@dataclass
class Received:
    """One request as it came over the wire."""

    method: str
    target: str
    headers: dict[str, str]
    body: bytes


Respond = Callable[[Received, socket.socket], bytes | None]


@dataclass
class Server:
    """A server that answers as the test says; None closes the connection."""

    respond: Respond
    received: list[Received] = field(default_factory=list)
    url: str = ""

    def serve(self, listener: socket.socket) -> None:
        """Answer until the listener is closed."""
        while True:
            try:
                connection, _ = listener.accept()
            except OSError:
                return
            threading.Thread(target=self._answer, args=(connection,), daemon=True).start()

    def _answer(self, connection: socket.socket) -> None:
        with connection, connection.makefile("rb") as stream, suppress(OSError):  # the client had enough
            while request := _read(stream):
                self.received.append(request)
                answer = self.respond(request, connection)
                if answer is None:
                    return
                connection.sendall(answer)


def _read(stream: Any) -> Received | None:
    first = stream.readline().decode("latin-1").split()
    if len(first) != 3:
        return None
    headers: dict[str, str] = {}
    while line := stream.readline().decode("latin-1").rstrip("\r\n"):
        name, _, value = line.partition(":")
        headers[name.lower()] = value.strip()
    if headers.get("transfer-encoding") == "chunked":
        return Received(first[0], first[1], headers, b"".join(_chunks(stream)))
    return Received(first[0], first[1], headers, stream.read(int(headers.get("content-length", 0))))


def _chunks(stream: Any) -> Iterator[bytes]:
    while size := int(stream.readline(), 16):
        yield stream.read(size)
        stream.readline()
    stream.readline()


@contextmanager
def listening(respond: Respond) -> Iterator[Server]:
    server = Server(respond)
    with socket.create_server(("127.0.0.1", 0)) as listener:
        server.url = f"http://127.0.0.1:{listener.getsockname()[1]}"
        threading.Thread(target=server.serve, args=(listener,), daemon=True).start()
        try:
            yield server
        finally:
            listener.shutdown(socket.SHUT_RDWR)


@pytest.fixture
def serve() -> Iterator[Callable[[Respond], Server]]:
    """Starts servers: `serve(lambda request, connection: bytes)`."""
    with ExitStack() as servers:
        yield lambda respond: servers.enter_context(listening(respond))


class Recorder:
    """Keeps what a door would write."""

    def __init__(self) -> None:
        self.exchanges: list[Exchange] = []
        self.faults: list[str] = []

    def exchange(self, exchange: Exchange, _context: Context) -> None:
        """Keep an exchange."""
        self.exchanges.append(exchange)

    def fault(self, fault: str, _context: Context) -> None:
        """Keep a fault."""
        self.faults.append(fault)


@dataclass
class Bench:
    """A door with everything around it."""

    door: Door
    recorder: Recorder
    ledger: Ledger
    ledger_file: Path
    broken: list[str]

    def send(self, method: str, url: str, **parts: Any) -> Exchange:
        """Send one request."""
        headers = parts.pop("headers", {})
        return self.door.send(Call(parts.pop("operation", None), method, url, headers, **parts), CONTEXT)


@pytest.fixture
def waits(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """Waits between tries, which are noted and not waited for."""
    noted: list[float] = []
    monkeypatch.setattr("contracts.session.retry.sleep", noted.append)
    return noted


@pytest.fixture
def bench(tmp_path: Path, waits: list[float]) -> Iterator[Callable[..., Bench]]:
    """Makes doors: `bench(timeout=…, guard=…, may_follow=…)`."""
    assert waits == []
    made: list[Bench] = []

    def make(timeout: float = 5.0, guard: Callable[..., None] = lambda *_: None, **transport: Any) -> Bench:
        recorder, broken = Recorder(), []
        path = tmp_path / f"ledger-{len(made)}.jsonl"
        ledger = Ledger(path)
        door = Door(
            transport=Transport("http://127.0.0.1", timeout, **transport),
            guard=guard,
            pace=Pace(tmp_path, None, 2),
            ledger=ledger,
            namespace=Namespace("test", ["granted-0001"]),
            recorder=recorder,
            name="main",
            on_break=broken.append,
            shared=tmp_path,
        )
        made.append(Bench(door, recorder, ledger, path, broken))
        return made[-1]

    yield make
    for each in made:
        each.ledger.close()
