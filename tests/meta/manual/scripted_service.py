"""A scripted service and a plain client, both on bare sockets, with the proxy between them: every byte is seen."""

import asyncio
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from urllib.parse import urlsplit

from contracts.exchanges.exchange import Exchange
from contracts.manual.proxy import ProxyHandler, listening, proxy_application
from contracts.session.relay import Relay
from contracts.settings.target import Target

PATIENCE = 120.0


@dataclass
class Received:
    """One message as it came over the wire."""

    first: str
    headers: list[tuple[str, str]]
    body: bytes = b""

    def all(self, name: str) -> list[str]:
        """Every value of a header, by its name as it was written."""
        return [value for key, value in self.headers if key == name]

    def value(self, name: str) -> str:
        """The first value of a header, its name in any case; empty for none."""
        return next((value for key, value in self.headers if key.lower() == name.lower()), "")


class Wire:
    """One connection, from either end."""

    def __init__(self, connection: socket.socket) -> None:
        connection.settimeout(PATIENCE)
        self.connection = connection
        self.stream = connection.makefile("rb")

    def send(self, content: bytes) -> None:
        """Send bytes as they are."""
        self.connection.sendall(content)

    def head(self) -> Received | None:
        """Read a start line and headers; None at the end of the connection."""
        first = self.stream.readline().decode("latin-1").rstrip("\r\n")
        if not first:
            return None
        headers = []
        while line := self.stream.readline().decode("latin-1").rstrip("\r\n"):
            name, _, value = line.partition(":")
            headers.append((name, value.strip()))
        return Received(first, headers)

    def message(self, *, bodiless: bool = False) -> Received | None:
        """Read a whole message."""
        received = self.head()
        if received is None or bodiless:
            return received
        if received.value("Transfer-Encoding") == "chunked":
            received.body = b"".join(self.chunks())
        else:
            received.body = self.stream.read(int(received.value("Content-Length") or 0))
        return received

    def chunks(self) -> Iterator[bytes]:
        """The pieces of a chunked body as they arrive."""
        while size := int(self.stream.readline(), 16):
            yield self.stream.read(size)
            self.stream.readline()
        self.stream.readline()

    def close(self) -> None:
        """Hang up."""
        with suppress(OSError):
            self.connection.shutdown(socket.SHUT_RDWR)
        self.stream.close()
        self.connection.close()


#: Answers one connection of the service: reads from it and writes to it.
Script = Callable[[Wire], None]


@dataclass
class Between:
    """The proxy, with a scripted service behind it.

    Attributes:
        address: Where the proxy takes connections.
        service: Host and port of the service, as its requests name it.
        passed: What was handed over to be judged.
    """

    address: tuple[str, int]
    service: str
    passed: list[Exchange] = field(default_factory=list)
    news: threading.Condition = field(default_factory=threading.Condition)

    @contextmanager
    def connected(self) -> Iterator[Wire]:
        """Connect to the proxy."""
        wire = Wire(socket.create_connection(self.address, PATIENCE))
        try:
            yield wire
        finally:
            wire.close()

    def ask(self, request: bytes, *, bodiless: bool = False) -> Received:
        """Send one request on a connection of its own, and read the answer."""
        with self.connected() as wire:
            wire.send(request)
            answer = wire.message(bodiless=bodiless)
        assert answer is not None, "the proxy hung up"
        return answer

    def hand_over(self, exchange: Exchange) -> None:
        """Take an exchange that ended."""
        with self.news:
            self.passed.append(exchange)
            self.news.notify_all()

    def handed(self, number: int = 1) -> Exchange:
        """The exchange of a number, once it is there."""
        with self.news:
            assert self.news.wait_for(lambda: len(self.passed) >= number, PATIENCE), "nothing was handed over"
            return self.passed[number - 1]


@contextmanager
def serving(script: Script) -> Iterator[str]:
    """A service that follows a script on each connection; gives its base URL."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        threading.Thread(target=_accept, args=(listener, script), daemon=True).start()
        try:
            yield f"http://127.0.0.1:{listener.getsockname()[1]}"
        finally:
            with suppress(OSError):
                listener.shutdown(socket.SHUT_RDWR)


def _accept(listener: socket.socket, script: Script) -> None:
    while True:
        try:
            connection, _ = listener.accept()
        except OSError:
            return
        threading.Thread(target=_follow, args=(connection, script), daemon=True).start()


def _follow(connection: socket.socket, script: Script) -> None:
    wire = Wire(connection)
    try:
        with suppress(OSError, ValueError):  # the other end had enough
            script(wire)
    finally:
        wire.close()


@contextmanager
def between(base_url: str) -> Iterator[Between]:
    """The proxy in front of a base URL, in a thread of its own."""
    ready: list[Between] = []
    begun = threading.Event()
    loop = asyncio.new_event_loop()
    stop = asyncio.Event()
    known = Between(("", 0), urlsplit(base_url).netloc)

    async def run() -> None:
        async with Relay(Target(name="scripted", base_url=base_url)) as relay:
            passer = ProxyHandler(relay, base_url, known.hand_over)
            async with listening(proxy_application(passer), 0, "--port", auto_decompress=False) as url:
                parts = urlsplit(url)
                known.address = (str(parts.hostname), int(parts.port or 0))
                ready.append(known)
                begun.set()
                await stop.wait()

    thread = threading.Thread(target=lambda: loop.run_until_complete(run()), daemon=True)
    thread.start()
    try:
        assert begun.wait(PATIENCE), "the proxy did not begin"
        yield known
    finally:
        loop.call_soon_threadsafe(stop.set)
        thread.join(PATIENCE)
        loop.close()


def answering(*answers: bytes, bodiless: bool = False) -> tuple[Script, list[Received]]:
    """A script that answers each request in turn, and what it received."""
    received: list[Received] = []

    def script(wire: Wire) -> None:
        for answer in answers:
            request = wire.message(bodiless=bodiless)
            if request is None:
                return
            received.append(request)
            wire.send(answer)
        wire.stream.read(1)

    return script, received
