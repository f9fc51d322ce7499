"""Servers and clients on bare sockets: what goes over the wire is seen and said byte by byte."""

import socket
import ssl
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field

#: Seconds that one end waits for the other; only a test that fails waits so long.
PATIENCE = 120.0


@dataclass
class Received:
    """One message as it came over the wire; `pairs` are its headers as they were written."""

    first: str
    pairs: list[tuple[str, str]]
    body: bytes = b""

    @property
    def method(self) -> str:
        """The method of a request."""
        return self.first.partition(" ")[0]

    @property
    def target(self) -> str:
        """The path and query of a request."""
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
        """Send bytes as they are."""
        self.connection.sendall(content)

    def head(self) -> Received | None:
        """Read a start line and headers; None at the end of the connection."""
        first = self.stream.readline().decode("latin-1").rstrip("\r\n")
        if not first:
            return None
        pairs = []
        while line := self.stream.readline().decode("latin-1").rstrip("\r\n"):
            name, _, value = line.partition(":")
            pairs.append((name, value.strip()))
        return Received(first, pairs)

    def message(self) -> Received | None:
        """Read a whole message; None at the end of the connection."""
        received = self.head()
        if received is not None:
            received.body = self.body(received)
        return received

    def body(self, head: Received) -> bytes:
        """Read the body that a head announces."""
        if head.headers.get("transfer-encoding") == "chunked":
            return b"".join(self.chunks())
        return self.stream.read(int(head.headers.get("content-length", 0)))

    def chunks(self) -> Iterator[bytes]:
        """The pieces of a chunked body as they arrive."""
        while size := int(self.stream.readline().partition(b";")[0], 16):
            yield self.stream.read(size)
            self.stream.readline()
        self.stream.readline()

    def close(self) -> None:
        """Hang up."""
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


def redirect(location: str, status: str = "302 Found") -> bytes:
    """Write a redirect."""
    return answer(status, f"Location: {location}", body=b"")


#: Answers one connection of the service: reads from it and writes to it.
Script = Callable[[Wire], None]


@contextmanager
def serving(script: Script, secure: ssl.SSLContext | None = None) -> Iterator[str]:
    """A service that follows a script on each connection; gives its base URL.

    Args:
        secure: Serves over TLS.
    """
    with socket.create_server(("127.0.0.1", 0), backlog=64) as listener:
        threading.Thread(target=_accept, args=(listener, script, secure), daemon=True).start()
        try:
            yield f"{'https' if secure else 'http'}://127.0.0.1:{listener.getsockname()[1]}"
        finally:
            with suppress(OSError):
                listener.shutdown(socket.SHUT_RDWR)


def _accept(listener: socket.socket, script: Script, secure: ssl.SSLContext | None) -> None:
    while True:
        try:
            connection, _ = listener.accept()
        except OSError:
            return
        threading.Thread(target=_follow, args=(connection, script, secure), daemon=True).start()


def _follow(connection: socket.socket, script: Script, secure: ssl.SSLContext | None) -> None:
    with suppress(OSError, ValueError), connection:  # the other end had enough
        wire = Wire(secure.wrap_socket(connection, server_side=True) if secure else connection)
        try:
            script(wire)
        finally:
            wire.close()


Respond = Callable[[Received, socket.socket], bytes | None]


@dataclass
class Server:
    """A server that answers each request as its rule says; None closes the connection."""

    respond: Respond
    received: list[Received] = field(default_factory=list)
    connections: int = 0
    url: str = ""

    def follow(self, wire: Wire) -> None:
        """Answer the requests of one connection."""
        self.connections += 1
        while (message := wire.message()) is not None:
            self.received.append(message)
            answer = self.respond(message, wire.connection)
            if answer is None:
                return
            wire.send(answer)


@contextmanager
def answered_by(respond: Respond) -> Iterator[Server]:
    """Serve a rule on a free port."""
    server = Server(respond)
    with serving(server.follow) as server.url:
        yield server


#: Starts servers until the test is over.
Serve = Callable[[Respond], Server]
