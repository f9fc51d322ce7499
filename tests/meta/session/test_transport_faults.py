"""Bad answers do no harm: bounded in memory and time, and called what they are."""

import gzip
import math
import socket
import time
import tracemalloc
import zlib
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any

import pytest

from contracts.exchanges import readers
from contracts.exchanges.json_bodies import DEEPEST, MOST_VALUES
from contracts.session.transport import LARGEST_BODY
from tests.meta.http_answers import OK
from tests.meta.messages import response

HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n"
MEGABYTE = 1024 * 1024
#: Generous: a few times the largest body, as bytes, as text and in pieces.
MOST_MEMORY = 8 * LARGEST_BODY


@contextmanager
def bounded(memory: int = MOST_MEMORY, seconds: float = 60.0) -> Iterator[None]:
    started = time.monotonic()
    tracemalloc.start()
    try:
        yield
        assert tracemalloc.get_traced_memory()[1] < memory
    finally:
        tracemalloc.stop()
    assert time.monotonic() - started < seconds


def endless(piece: bytes, head: bytes = HEAD + b"\r\n") -> Any:
    def respond(_: Any, connection: socket.socket) -> None:
        with suppress(OSError):
            connection.sendall(head)
            while True:
                connection.sendall(piece)

    return respond


def sent(open_session: Any, server: Any, **more: Any) -> Any:
    # A creation is not sent again, so that one answer is one observation.
    return open_session(**more).send("POST", server.url, operation="createContact")


def test_an_endless_body_is_not_read_to_its_end(open_session: Any, serve: Any) -> None:
    with bounded():
        exchange = sent(open_session, serve(endless(b"x" * MEGABYTE)))
    assert exchange.fault == f"the answer is longer than {LARGEST_BODY} bytes"


@pytest.mark.parametrize("packing", ["gzip", "deflate"])
def test_a_compression_bomb_is_not_unpacked_to_its_end(open_session: Any, serve: Any, packing: str) -> None:
    coder = zlib.compressobj(9, wbits=31 if packing == "gzip" else 15)
    bomb = b"".join(coder.compress(b" " * MEGABYTE) for _ in range(200)) + coder.flush()
    head = HEAD + f"Content-Encoding: {packing}\r\nContent-Length: {len(bomb)}\r\n\r\n".encode()
    with bounded():
        exchange = sent(open_session, serve(lambda *_: head + bomb))
    assert exchange.fault == f"the answer is longer than {LARGEST_BODY} bytes"


def test_masses_of_values_are_not_read(open_session: Any, serve: Any) -> None:
    body = b"[" + b"1," * (MOST_VALUES + 1) + b"0]"
    head = HEAD + f"Content-Length: {len(body)}\r\n\r\n".encode()
    with bounded():
        exchange = sent(open_session, serve(lambda *_: head + body))
    assert exchange.fault == f"the answer holds more than {MOST_VALUES:,} values"


@pytest.mark.parametrize(
    "body",
    [b"[" * 100_000, b"[" * 5000 + b"]" * 5000, b'{"a":' * (DEEPEST + 1) + b"1" + b"}" * (DEEPEST + 1)],
    ids=["cut", "arrays", "objects"],
)
def test_deep_json_is_called_so(body: bytes) -> None:
    answer = response(200, body, {"content-type": "application/json"})
    assert answer.json is None
    assert f"nested deeper than {DEEPEST} levels" in answer.quote()
    assert list(readers.values(answer.json)) == [None]


@pytest.mark.parametrize(
    ("body", "value", "flaw"),
    [
        (b'{"a": 1, "a": 2}', {"a": 2}, "the member 'a' stands twice in one object"),
        (b'{"a": NaN}', None, "NaN, which is no JSON value"),
        (b'{"a": "\xff"}', None, "bytes that are not UTF-8"),
        (b'\xef\xbb\xbf{"a": 1}', {"a": 1}, "a byte order mark, which JSON does not have"),
        pytest.param(b"[-" + b"1" * 5000 + b"]", [-math.inf], None, id="digits"),
        (b"[1e999]", [math.inf], None),
        (b'{"a": 1}', {"a": 1}, None),
    ],
)
def test_a_flaw_is_named(body: bytes, value: Any, flaw: str | None) -> None:
    answer = response(200, body, {"content-type": "application/json"})
    assert (answer.json, answer.flaw) == (value, flaw)
    assert (flaw or "[the body:") in answer.quote() or flaw is None
    assert ("[the body:" in answer.quote()) is (flaw is not None)


@pytest.mark.parametrize(
    ("answer", "says"),
    [
        (HEAD + b"Content-Length: 20\r\n\r\n{}", "broke off"),
        (HEAD + b"Content-Length: 2\r\nContent-Length: 7\r\n\r\n{}", "broke off (InvalidHeader)"),
        (HEAD + b"Transfer-Encoding: chunked\r\n\r\nZZ\r\n{}", "broke off"),
        (
            HEAD + b"Content-Encoding: gzip, gzip\r\nContent-Length: 2\r\n\r\n{}",
            "Content-Encoding says (gzip, gzip)",
        ),
        (HEAD + b"".join(b"X-%d: y\r\n" % n for n in range(200)) + b"\r\n{}", "flood of headers"),
        (HEAD + b"X: " + b"y" * 100_000 + b"\r\n\r\n{}", "a line in the head of the answer is endless"),
        (b"HTTP/1.1 103 Early Hints\r\n\r\n" * 60 + OK, "one interim answer (1xx) after another"),
        (b"no http at all\r\n\r\n", "the answer is no HTTP"),
        (b"\x15\x03\x01\x00\x02\x02\x16", "the answer is no HTTP"),
    ],
    ids=[
        "too-long",
        "two-lengths",
        "bad-chunk",
        "coding-twice",
        "headers",
        "line",
        "interim",
        "text",
        "bytes",
    ],
)
def test_broken_http_is_called_what_it_is(open_session: Any, serve: Any, answer: bytes, says: str) -> None:
    def respond(_: Any, connection: socket.socket) -> None:
        connection.sendall(answer)

    with bounded(seconds=20):
        assert says in str(sent(open_session, serve(respond)).fault)


def test_a_coding_that_is_none_is_taken_off(open_session: Any, serve: Any) -> None:
    packed = gzip.compress(b"{}")
    head = HEAD + f"Content-Encoding: gzip, identity\r\nContent-Length: {len(packed)}\r\n\r\n".encode()
    assert sent(open_session, serve(lambda *_: head + packed)).answer.json == {}


def test_content_that_comes_late_behind_an_answer_to_head_is_told(open_session: Any, serve: Any) -> None:
    def respond(_: Any, connection: socket.socket) -> None:
        connection.sendall(b"HTTP/1.1 200 X\r\n\r\n")
        time.sleep(0.005)
        connection.sendall(b'{"left": "over"}')

    server, made = serve(respond), open_session()
    assert made.send("HEAD", server.url, operation="draftExists").answer.content
    assert made.session.faults == {"content behind the answer to HEAD, which has none (RFC 9110)": 1}


@pytest.mark.parametrize(
    "piece",
    [b"HTTP/1.1 100 Continue\r\n\r\n", b"H", HEAD + b"X-Y", HEAD],
    ids=["interim", "status", "header", "no-end"],
)
def test_a_head_that_drips_does_not_outlast_the_time_limit(
    open_session: Any, serve: Any, piece: bytes
) -> None:
    def drip(_: Any, connection: socket.socket) -> None:
        with suppress(OSError):
            connection.sendall(piece)
            while True:
                time.sleep(0.1)
                connection.sendall(piece[:1] if b"100" not in piece else piece)

    with bounded(seconds=20):
        fault = sent(open_session, serve(drip), timeout=0.6).fault
    assert fault in (
        "no answer within the time limit",
        "the service sent one interim answer (1xx) after another",
    )
