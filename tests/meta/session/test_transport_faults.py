"""Bad answers do no harm: bounded in memory and time, and called what they are."""

import gzip
import math
import socket
import time
import tracemalloc
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Any

import pytest

from registry_contracts.exchanges.json_bodies import DEEPEST, MOST_VALUES
from registry_contracts.session.transport import LARGEST_BODY
from tests.meta.messages import response
from tests.meta.wire import OK

HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n"
MEGABYTE = 1024 * 1024
#: Generous: a few times the largest body, as bytes, as text and in pieces.
MOST_MEMORY = 8 * LARGEST_BODY
TOO_LONG = f"the answer is longer than {LARGEST_BODY} bytes"
LATE = "no answer within the time limit"
NO_END = "the answer did not end within the time limit"
TOO_DEEP = f"nested deeper than {DEEPEST} levels"
INTERIM = "the service sent one interim answer (1xx) after another"


@contextmanager
def bounded() -> Iterator[None]:
    tracemalloc.start()
    try:
        yield
        assert tracemalloc.get_traced_memory()[1] < MOST_MEMORY
    finally:
        tracemalloc.stop()


def writing(head: bytes, piece: bytes = b"", pause: float = 0.0) -> Any:
    """A server that writes the head of an answer, and one piece after another behind it."""

    def respond(_: Any, connection: socket.socket) -> None:
        with suppress(OSError):
            connection.sendall(head)
            while piece:
                time.sleep(pause)
                connection.sendall(piece)

    return respond


def sized(body: bytes, header: bytes = b"") -> bytes:
    return HEAD + header + b"Content-Length: %d\r\n\r\n" % len(body) + body


def sent(open_session: Any, server: Any, **more: Any) -> Any:
    # A creation is not sent again, so that one answer is one observation.
    return open_session(**more).send("POST", server.url, operation="createContact")


#: The beginning of an answer, or what makes it; what it is called; and what is written behind it without end.
BAD: dict[str, tuple[Any, ...]] = {
    "gzip": (lambda: sized(gzip.compress(b" " * 200 * MEGABYTE, 1), b"Content-Encoding: gzip\r\n"), TOO_LONG),
    "masses": (lambda: sized(b"[" + b"1," * (MOST_VALUES + 1) + b"0]"), f"more than {MOST_VALUES:,} values"),
    "endless": (lambda: HEAD + b"\r\n", TOO_LONG, b"x" * MEGABYTE),
    "too-long": (lambda: HEAD + b"Content-Length: 20\r\n\r\n{}", "broke off"),
    "coding-twice": (
        lambda: sized(b"{}", b"Content-Encoding: gzip, gzip\r\n"),
        "Content-Encoding says (gzip, gzip)",
    ),
    "headers": (lambda: HEAD + b"X: y\r\n" * 200 + b"\r\n{}", "flood of headers"),
    "line": (
        lambda: HEAD + b"X: " + b"y" * 100_000 + b"\r\n\r\n{}",
        "a line in the head of the answer is endless",
    ),
    "interim": (lambda: b"HTTP/1.1 103 Early Hints\r\n\r\n" * 60 + OK, INTERIM),
    "text": (lambda: b"no http at all\r\n\r\n", "the answer is no HTTP"),
}


@pytest.mark.parametrize(("head", "says", "piece"), [(*row, b"")[:3] for row in BAD.values()], ids=BAD)
def test_a_bad_answer_is_bounded_and_called_what_it_is(
    open_session: Any, serve: Any, head: Callable[[], bytes], says: str, piece: bytes
) -> None:
    server = serve(writing(head(), piece))
    with bounded():
        assert says in str(sent(open_session, server).fault)


@pytest.mark.parametrize(
    ("head", "piece", "says"),
    [
        (b"HTTP/1.1 100 Continue\r\n\r\n", b"HTTP/1.1 100 Continue\r\n\r\n", (LATE, INTERIM)),
        (b"H", b"H", (LATE,)),
        (HEAD, b"H", (LATE,)),
        (HEAD + b"Content-Length: 100000\r\n\r\n", b" ", (NO_END,)),
        (HEAD + b"Transfer-Encoding: chunked\r\n\r\n", b"1\r\n \r\n", (NO_END,)),
    ],
    ids=["interim", "status", "no-end", "body", "chunks"],
)
def test_an_answer_that_drips_does_not_outlast_the_time_limit(
    open_session: Any, serve: Any, head: bytes, piece: bytes, says: tuple[str, ...]
) -> None:
    assert sent(open_session, serve(writing(head, piece, 0.1)), timeout=0.6).fault in says


@pytest.mark.parametrize(
    ("body", "value", "flaw"),
    [
        (b'{"a": 1, "a": 2}', {"a": 2}, "the member 'a' stands twice in one object"),
        (b'{"a": NaN}', None, "NaN, which is no JSON value"),
        (b'{"a": "\xff"}', None, "bytes that are not UTF-8"),
        (b'\xef\xbb\xbf{"a": 1}', {"a": 1}, "a byte order mark, which JSON does not have"),
        pytest.param(b"[-" + b"1" * 5000 + b"]", [-math.inf], None, id="digits"),
        (b"[1e999]", [math.inf], None),
        pytest.param(b"[" * 100_000, None, TOO_DEEP, id="cut"),
        pytest.param(b"[" * (DEEPEST + 1) + b"]" * (DEEPEST + 1), None, TOO_DEEP, id="deep"),
    ],
)
def test_a_flaw_is_named(body: bytes, value: Any, flaw: str | None) -> None:
    answer = response(200, body, {"content-type": "application/json"})
    assert (answer.json, answer.flaw) == (value, flaw)
    assert (f"[the body: {flaw}]" in answer.quote()) is (flaw is not None)
