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


def bomb() -> bytes:
    return sized(gzip.compress(b" " * 200 * MEGABYTE, 1), "Content-Encoding: gzip")


def sized(body: bytes, *headers: str) -> bytes:
    return (
        HEAD
        + "".join(f"{each}\r\n" for each in (*headers, f"Content-Length: {len(body)}", "")).encode()
        + body
    )


def sent(open_session: Any, server: Any, **more: Any) -> Any:
    # A creation is not sent again, so that one answer is one observation.
    return open_session(**more).send("POST", server.url, operation="createContact")


#: The head of an answer, or what makes it, and what it is called.
BAD: dict[str, tuple[bytes | Callable[[], bytes], str]] = {
    "gzip": (bomb, TOO_LONG),
    "masses": (lambda: sized(b"[" + b"1," * (MOST_VALUES + 1) + b"0]"), f"more than {MOST_VALUES:,} values"),
    "too-long": (HEAD + b"Content-Length: 20\r\n\r\n{}", "broke off"),
    "coding-twice": (sized(b"{}", "Content-Encoding: gzip, gzip"), "Content-Encoding says (gzip, gzip)"),
    "headers": (HEAD + b"".join(b"X-%d: y\r\n" % n for n in range(200)) + b"\r\n{}", "flood of headers"),
    "line": (HEAD + b"X: " + b"y" * 100_000 + b"\r\n\r\n{}", "a line in the head of the answer is endless"),
    "interim": (b"HTTP/1.1 103 Early Hints\r\n\r\n" * 60 + OK, INTERIM),
    "text": (b"no http at all\r\n\r\n", "the answer is no HTTP"),
}


@pytest.mark.parametrize("name", BAD)
def test_a_bad_answer_is_bounded_and_called_what_it_is(open_session: Any, serve: Any, name: str) -> None:
    head, says = BAD[name]
    server = serve(writing(head if isinstance(head, bytes) else head()))
    with bounded():
        assert says in str(sent(open_session, server).fault)


def test_an_endless_body_is_not_read_to_its_end(open_session: Any, serve: Any) -> None:
    with bounded():
        assert sent(open_session, serve(writing(HEAD + b"\r\n", b"x" * MEGABYTE))).fault == TOO_LONG


@pytest.mark.parametrize(
    ("head", "piece", "says"),
    [
        (b"HTTP/1.1 100 Continue\r\n\r\n", b"HTTP/1.1 100 Continue\r\n\r\n", (LATE, INTERIM)),
        (b"H", b"H", (LATE,)),
        (HEAD, b"H", (LATE,)),
    ],
    ids=["interim", "status", "no-end"],
)
def test_a_head_that_drips_does_not_outlast_the_time_limit(
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
        (b'{"a": 1}', {"a": 1}, None),
        *(
            pytest.param(body, None, f"nested deeper than {DEEPEST} levels", id=name)
            for name, body in {
                "cut": b"[" * 100_000,
                "arrays": b"[" * 5000 + b"]" * 5000,
                "objects": b'{"a":' * (DEEPEST + 1) + b"1" + b"}" * (DEEPEST + 1),
            }.items()
        ),
    ],
)
def test_a_flaw_is_named(body: bytes, value: Any, flaw: str | None) -> None:
    answer = response(200, body, {"content-type": "application/json"})
    assert (answer.json, answer.flaw) == (value, flaw)
    assert (f"[the body: {flaw}]" in answer.quote()) is (flaw is not None)
