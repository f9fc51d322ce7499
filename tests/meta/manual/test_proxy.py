"""The proxy passes requests and answers on as they are; what one end fails at is one clear line of the proxy's own."""

import json
import signal
import socket
import subprocess
import sys
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from tests.meta.manual.scripted_service import answering, between
from tests.meta.program import RunCommand, clean_environment
from tests.meta.wire import PATIENCE, Wire, serving

OK = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}"


def test_a_request_arrives_as_it_was_written() -> None:
    script, received = answering(OK)
    path = "/api//v2013/a%2Fb/../c;d?x=%20|y&Realm=abs-dev&empty=&q='%C3'"
    lines = [
        f"PUT {path} HTTP/1.1",
        "Host: proxy.localhost",
        "x-ODD-Case: one",
        "Accept: a/b",
        "x-ODD-Case: two",
        "content-length: 5",
    ]
    with serving(script) as url, between(url) as proxy:
        proxy.ask("\r\n".join([*lines, "", "hello"]).encode())
        request, service = received[0], proxy.service
    assert request.first == f"PUT {path} HTTP/1.1"
    given = [header for header in request.headers if header[0] != "Host"]
    assert given == [("x-ODD-Case", "one"), ("Accept", "a/b"), ("x-ODD-Case", "two"), ("content-length", "5")]
    assert request.all("Host") == [service]
    assert request.body == b"hello"


def test_an_answer_arrives_as_it_was_written() -> None:
    script, _ = answering(
        b"HTTP/1.1 299 Quite Fine\r\nset-COOKIE: a=1\r\nX-B: 2\r\nset-COOKIE: c=3\r\nContent-Length: 3\r\n\r\nabc"
    )
    with serving(script) as url, between(url) as proxy:
        answer = proxy.ask(b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n")
    assert answer.first == "HTTP/1.1 299 Quite Fine"
    assert answer.headers == [
        ("set-COOKIE", "a=1"),
        ("X-B", "2"),
        ("set-COOKIE", "c=3"),
        ("Content-Length", "3"),
    ]
    assert answer.body == b"abc"


def test_a_name_that_was_made_to_lead_here_is_refused() -> None:
    """A page of that name (DNS rebinding) would reach the target through the proxy."""
    script, received = answering(OK)
    with serving(script) as url, between(url) as proxy:
        answer = proxy.ask(b"GET /x HTTP/1.1\r\nHost: evil.test\r\n\r\n")
    assert answer.first.startswith("HTTP/1.1 403")
    assert b"the Host header names another machine" in answer.body
    assert received == []


def test_chunks_pass_both_ways_as_they_come() -> None:
    """Neither end waits for the other to finish: each piece is answered before the next is sent."""
    pieces = [b"one", b"two", b"three"]

    def script(wire: Wire) -> None:
        assert wire.head() is not None
        wire.send(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n")
        for piece in wire.chunks():
            wire.send(f"{len(piece):x}\r\n".encode() + piece + b"\r\n")
        wire.send(b"0\r\n\r\n")

    with serving(script) as url, between(url) as proxy, proxy.connected() as wire:
        wire.send(b"POST /x HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n3\r\none\r\n")
        answer = wire.head()
        assert answer is not None
        coming = wire.chunks()
        came = [next(coming)]
        for piece in pieces[1:]:
            wire.send(f"{len(piece):x}\r\n".encode() + piece + b"\r\n")
            came.append(next(coming))
        wire.send(b"0\r\n\r\n")
        assert list(coming) == []
        handed = proxy.handed()
    assert came == pieces
    assert handed.request_body.content == handed.answer.content == b"onetwothree"


BEGUN = b"GET /x HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n"


@pytest.mark.parametrize(
    "request_bytes",
    [
        BEGUN + b"Authorization: Bearer a-secret-token\r\n\x00bad: 1\r\n\r\n",
        BEGUN + b"Authorization: Bearer a-secret-token\x01\r\n\r\n",
        BEGUN.replace(b"/x", b"/\x01") + b"\r\n",
        BEGUN.replace(b"/x", b"/x?a=\xff\x02") + b"\r\n",
        BEGUN + b"X: 1\r\n" * 300 + b"\r\n",
        BEGUN + b"X: " + b"a" * 200_000 + b"\r\n\r\n",
        BEGUN.replace(b"GET", b"POST") + b"Content-Length: 2\r\nContent-Length: 3\r\n\r\n{}",
        BEGUN.replace(b"GET", b"POST") + b"Transfer-Encoding: chunked\r\n\r\nZZ\r\n",
        b"GET / FOO\r\n\r\n",
        b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" * 20,
    ],
    ids=["name", "value", "path", "query", "headers", "line", "lengths", "chunk", "version", "TLS"],
)
def test_what_is_no_request_gets_a_clear_answer_and_goes_no_further(
    request_bytes: bytes, capfd: pytest.CaptureFixture[str]
) -> None:
    script, received = answering(OK)
    with serving(script) as url, between(url) as proxy, proxy.connected() as wire:
        wire.send(request_bytes)
        assert b" 400 " in wire.stream.readline()
    assert received == []
    assert "a-secret-token" not in "".join(capfd.readouterr())


GET = b"GET /api/v2013/document-drafts HTTP/1.1\r\nHost: localhost\r\n\r\n"


def closed_address() -> str:
    """Return an address at which nothing listens."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        return f"http://127.0.0.1:{listener.getsockname()[1]}"


def test_a_target_that_is_down_gives_a_502_of_the_proxys_own() -> None:
    with between(closed_address()) as proxy:
        answer = proxy.ask(GET)
        handed = proxy.handed()
    assert answer.first.startswith("HTTP/1.1 502")
    assert answer.value("Proxy-Status").startswith("registry-contracts-proxy; error=")
    assert answer.body.decode().count("\n") == 1
    assert b"gave no answer: the connection was refused" in answer.body
    assert (handed.status, handed.fault) == (None, "the connection was refused")


def test_production_is_refused_before_the_first_byte() -> None:
    seen: list[bool] = []

    def script(wire: Wire) -> None:
        seen.append(wire.head() is not None)
        wire.send(OK)

    with serving(script) as url, between(url) as proxy:
        answer = proxy.ask(
            b"GET /api/v2013/document-drafts HTTP/1.1\r\nHost: localhost\r\nRealm: abs\r\n\r\n"
        )
        handed = proxy.handed()
    assert answer.first.startswith("HTTP/1.1 403")
    assert answer.value("Proxy-Status").endswith("error=http_request_denied")
    assert b"production realm" in answer.body
    assert seen == []
    assert handed.status is None
    assert "production realm" in (handed.fault or "")


PROGRAM = [sys.executable, "-c", "from contracts.cli import main; main()"]
EMPTY_LIST = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 2\r\n\r\n[]"
ASKED = (
    b"GET /api/v2013/document-drafts HTTP/1.1\r\nHost: localhost\r\nRealm: abs-dev\r\n"
    b"Authorization: Bearer a-token-of-forty-characters-0123456789ab\r\n\r\n"
)


def ask(address: str, request: bytes) -> bytes:
    parts = urlsplit(address)
    wire = Wire(socket.create_connection((str(parts.hostname), parts.port or 0), PATIENCE))
    wire.send(request)
    answer = wire.message()
    wire.close()
    assert answer is not None
    return answer.body


@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGTERM])
def test_it_ends_with_a_verdict_when_it_is_told_to(tmp_path: Path, how: signal.Signals) -> None:
    script, _ = answering(EMPTY_LIST)
    with serving(script) as url:
        words = [*PROGRAM, "proxy", "--base-url", url, "--port", "0", "--no-page", "--reports", str(tmp_path)]
        with subprocess.Popen(words, stdout=subprocess.PIPE, text=True, env=clean_environment()) as process:
            assert process.stdout is not None
            line = process.stdout.readline()
            assert line.startswith("proxy ready at http://127.0.0.1:")
            assert ask(line.split()[3].rstrip(","), ASKED) == b"[]"
            process.send_signal(how)
            output, _ = process.communicate(timeout=PATIENCE)
    assert process.returncode == 0
    assert output.splitlines()[-1].startswith("verdict: pass (0): 1 request of 1 operation")
    folder = next(tmp_path.iterdir())
    assert sorted(path.name for path in folder.iterdir()) == ["check.json", "traffic.har"]
    assert json.loads((folder / "check.json").read_text("utf-8"))["operations"]["listDrafts"] == 1


def test_a_port_in_use_is_one_clear_line(run_command: RunCommand, tmp_path: Path) -> None:
    script, _ = answering(EMPTY_LIST)
    with serving(script) as url, socket.create_server(("127.0.0.1", 0)) as taken:
        port = str(taken.getsockname()[1])
        ended = run_command("proxy", "--base-url", url, "--port", port, "--no-page")
    assert (ended.code, ended.err.count("\n")) == (4, 1)
    assert f"--port {port} cannot be used: address already in use" in ended.err
    assert list(tmp_path.iterdir()) == []
