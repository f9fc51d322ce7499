"""Servers and clients on bare sockets: what goes over the wire is seen and said byte by byte."""

import socket
import ssl
import threading
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass, field

from tests.meta.program import PATIENCE


@dataclass
class Received:
    """One message as it came over the wire; `pairs` are its headers as they were written."""

    first: str
    pairs: list[tuple[str, str]]
    body: bytes = b""

    @property
    def method(self) -> str:
        return self.first.partition(" ")[0]

    @property
    def target(self) -> str:
        return self.first.split(" ", 2)[1]

    @property
    def headers(self) -> dict[str, str]:
        """The headers by their names in small letters, the last of each."""
        return {name.lower(): value for name, value in self.pairs}


class Wire:
    """One connection, from either end."""

    def __init__(self, connection: socket.socket) -> None:
        connection.settimeout(PATIENCE)
        self.connection = connection
        self.stream = connection.makefile("rb")

    def send(self, content: bytes) -> None:
        self.connection.sendall(content)

    def message(self) -> Received | None:
        """Read a whole message; None at the end of the connection."""
        received = Received(self._line(), [])
        if not received.first:
            return None
        while line := self._line():
            name, _, value = line.partition(":")
            received.pairs.append((name, value.strip()))
        if received.headers.get("transfer-encoding") == "chunked":
            received.body = b"".join(self._chunks())
        else:
            received.body = self.stream.read(int(received.headers.get("content-length", 0)))
        return received

    def _line(self) -> str:
        return self.stream.readline().decode("latin-1").rstrip("\r\n")

    def _chunks(self) -> Iterator[bytes]:
        while size := int(self.stream.readline().partition(b";")[0], 16):
            yield self.stream.read(size)
            self.stream.readline()
        self.stream.readline()

    def close(self) -> None:
        with suppress(OSError):
            self.connection.shutdown(socket.SHUT_RDWR)
        self.stream.close()
        self.connection.close()


JSON = "Content-Type: application/json"


def answer(status: str, *headers: str, body: bytes = b"{}", length: int | None = None) -> bytes:
    """Write an answer; it may say another length than it has."""
    lines = [f"HTTP/1.1 {status}", f"Content-Length: {len(body) if length is None else length}", *headers]
    return "\r\n".join(lines).encode() + b"\r\n\r\n" + body


OK = answer("200 OK", JSON)


def in_turn(*answers: bytes | None) -> Callable[..., bytes | None]:
    """Give one answer after the other."""
    left: Iterator[bytes | None] = iter(answers)
    return lambda *_: next(left)


Respond = Callable[[Received, socket.socket], bytes | None]


@dataclass
class Server:
    """A server that answers each request as its rule says; None closes the connection."""

    respond: Respond
    secure: ssl.SSLContext | None = None
    received: list[Received] = field(default_factory=list)
    connections: int = 0
    url: str = ""

    def accept(self, listener: socket.socket) -> None:
        """Answer each connection in a thread of its own, until nobody listens any longer."""
        with suppress(OSError):
            while True:
                connection, _ = listener.accept()
                threading.Thread(target=self._follow, args=(connection,), daemon=True).start()

    def _follow(self, connection: socket.socket) -> None:
        with suppress(OSError, ValueError), connection:  # the other end had enough
            secured = self.secure.wrap_socket(connection, server_side=True) if self.secure else connection
            with closing(Wire(secured)) as wire:
                self.connections += 1
                while (message := wire.message()) is not None:
                    self.received.append(message)
                    answer = self.respond(message, wire.connection)
                    if answer is None:
                        return
                    wire.send(answer)


@contextmanager
def answered_by(respond: Respond, secure: ssl.SSLContext | None = None) -> Iterator[Server]:
    """Serve a rule on a free port, over TLS if a context for it is given."""
    server = Server(respond, secure)
    with socket.create_server(("127.0.0.1", 0), backlog=64) as listener:
        server.url = f"{'https' if secure else 'http'}://127.0.0.1:{listener.getsockname()[1]}"
        threading.Thread(target=server.accept, args=(listener,), daemon=True).start()
        try:
            yield server
        finally:
            with suppress(OSError):
                listener.shutdown(socket.SHUT_RDWR)


#: Starts servers until the test is over.
Serve = Callable[[Respond], Server]
