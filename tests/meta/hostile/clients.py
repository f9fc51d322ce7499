"""The proxy between a hostile service and hostile clients: a clear answer, one line each, no secret in its output."""

import socket
import time
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any

from tests.meta.hostile.probe import Ended, Running, command, expect, honest, probe
from tests.meta.hostile.service import Asked, answered, empty_lists, scripted

GROUP = "proxy"
_SECRET = "secret-token-of-a-client"
_REQUEST = "GET /api/v2013/documents/draft HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n"


def _odd_headers(asked: Asked) -> bytes:
    return answered().with_headers(("X-Odd", "a\x01\x1b[2Jb")).raw(asked.method)


#: What a client sends, what the service answers, and the status that the client gets.
CLIENTS: dict[str, tuple[bytes, Callable[[Asked], bytes], int]] = {
    "an answer with control characters in a header": (f"{_REQUEST}\r\n".encode(), _odd_headers, 502),
    "a header of bad bytes": (
        f"{_REQUEST}Authorization: Bearer {_SECRET}\r\n\x00bad: 1\r\n\r\n".encode(),
        empty_lists,
        400,
    ),
    "a path of bad bytes": (_REQUEST.replace("draft", "\x01").encode() + b"\r\n", empty_lists, 400),
    "300 headers": (
        f"{_REQUEST}{'X: 1' + chr(13) + chr(10)}".encode() + b"X: 1\r\n" * 300 + b"\r\n",
        empty_lists,
        400,
    ),
    "a value of bad bytes": (
        f"{_REQUEST}Authorization: Bearer {_SECRET}\x01\r\n\r\n".encode(),
        empty_lists,
        400,
    ),
    "a query of bad bytes": (
        _REQUEST.replace("draft", "draft?a=\xff\x02").encode("latin-1") + b"\r\n",
        empty_lists,
        400,
    ),
    "no HTTP version": (b"GET / FOO\r\n\r\n", empty_lists, 400),
    "TLS": (b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" * 20, empty_lists, 400),
    "two lengths": (
        _REQUEST.replace("GET", "POST").encode() + b"Content-Length: 2\r\nContent-Length: 3\r\n\r\n{}",
        empty_lists,
        400,
    ),
    "a header without end": (_REQUEST.encode() + b"X: " + b"a" * 200_000 + b"\r\n\r\n", empty_lists, 400),
    "the Host of another machine": (
        _REQUEST.replace("localhost", "evil.test").encode() + b"\r\n",
        empty_lists,
        403,
    ),
    "a chunk size that is none": (
        _REQUEST.replace("GET", "POST").encode() + b"Transfer-Encoding: chunked\r\n\r\nZZ\r\n",
        empty_lists,
        400,
    ),
    "a chunk in the middle of a body that is none": (
        _REQUEST.replace("GET", "POST").encode() + b"Transfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n",
        empty_lists,
        400,
    ),
}
#: What a client sends some time after that.
LATER = {"a chunk in the middle of a body that is none": b"ZZ\r\n{}\r\n"}


def proxied(
    folder: Path, script: Callable[[Asked], bytes], speak: Callable[[int], Any], *codes: int
) -> tuple[Ended, Any]:
    """Run the proxy before a scripted service until a client has spoken to its port; give what the client got, too."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = int(listener.getsockname()[1])
    got: list[Any] = []

    def client(process: Running) -> None:
        while process.poll() is None and not got:
            with suppress(ConnectionRefusedError):
                got.append(speak(port))
            time.sleep(0.05)

    with scripted(script) as service:
        words = ("proxy", "--base-url", service.url, "--port", str(port), "--no-page", "--until-idle", "1")
        ended = honest(command(folder, *words, meanwhile=client), *codes)
    expect(got, "the client gets no answer")
    return ended, got[0]


def _through(
    folder: Path, sent: bytes, script: Callable[[Asked], bytes], status: int, later: bytes = b""
) -> None:
    def speak(port: int) -> bytes:
        with socket.create_connection(("127.0.0.1", port), 5) as wire:
            wire.sendall(sent)
            time.sleep(0.5 if later else 0)
            wire.sendall(later)
            return wire.makefile("rb").readline()

    ended, got = proxied(folder, script, speak, 5, 6)
    expect(str(status).encode() in got, f"the client gets {got}, not {status}")
    expect(_SECRET not in ended.all, "shows a secret")
    if status == 400:
        lines = [line for line in ended.out.splitlines() if line.startswith("refused a malformed request")]
        expect(len(lines) == 1, f"says {lines} of it")
        (report,) = folder.glob("reports/*-proxy/check.json")
        expect("malformed request" in report.read_text("utf-8"), "the report does not count it")


for name, (sent, script, status) in CLIENTS.items():
    probe(GROUP, name)(partial(_through, sent=sent, script=script, status=status, later=LATER.get(name, b"")))
