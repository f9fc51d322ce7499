"""The transport: redirects without credentials, no settings of the process, and bad answers, which are bounded."""

import gzip
import math
import socket
import time
import tracemalloc
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any
from unittest.mock import Mock, call

import pytest

from registry_contracts.exchanges.json_bodies import DEEPEST, MOST_VALUES
from registry_contracts.session.transport import LARGEST_BODY
from tests.meta.messages import response
from tests.meta.wire import JSON, OK, answer

SECRETS = {"Authorization": b"Bearer a-secret", "Realm": b"abs-dev", "Cookie": b"a=b"}


@pytest.mark.parametrize("method", ["GET", "HEAD"])
@pytest.mark.parametrize("status", ["301 M", "302 F", "303 S", "307 T", "308 P"])
def test_another_host_gets_no_credentials(open_session: Any, serve: Any, method: str, status: str) -> None:
    elsewhere = serve(lambda *_: OK if method == "GET" else OK[:-2])
    signed = elsewhere.url.replace("http://", "http://user:password@")
    server = serve(lambda *_: answer(status, f"Location: {signed}/file?signed=1", body=b""))
    exchange = open_session().send(method, server.url, headers=SECRETS)
    assert (exchange.answer.status, exchange.answer.hops) == (200, 1)
    assert set(server.received[0].headers) >= {"authorization", "realm", "cookie"}
    assert not set(elsewhere.received[0].headers) & {"authorization", "realm", "cookie"}
    assert elsewhere.received[0].target == "/file?signed=1"
    assert elsewhere.received[0].headers["host"] in elsewhere.url


@pytest.mark.parametrize(
    ("method", "status"), [("POST", 301), ("POST", 307), ("PUT", 302), ("DELETE", 308), ("GET", 302)]
)
def test_a_write_is_never_redirected(open_session: Any, serve: Any, method: str, status: int) -> None:
    server = serve(lambda *_: answer(f"{status} Go", "Location: /x?realm=abs", body=b""))
    asked = Mock(return_value=False)
    assert open_session(may_follow=asked).send(method, server.url).answer.status == status
    assert asked.call_args_list == ([call("GET", f"{server.url}/x?realm=abs")] if method == "GET" else [])
    assert len(server.received) == 1


def test_cookies_are_not_kept_and_two_of_them_do_no_harm(open_session: Any, serve: Any) -> None:
    cookies = answer("200 OK", JSON, "Set-Cookie: a=b; Path=/", "Set-Cookie: c=d")
    server, made = serve(lambda *_: cookies), open_session()
    first = made.send("GET", server.url)
    made.send("GET", server.url)
    assert first.answer.headers["set-cookie"].count("=") >= 2
    assert "cookie" not in server.received[1].headers


def test_netrc_and_proxies_for_other_hosts_are_ignored(
    open_session: Any, serve: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "netrc").write_text("machine 127.0.0.1 login me password secret\n", encoding="utf-8")
    monkeypatch.setenv("NETRC", str(tmp_path / "netrc"))
    server = serve(lambda *_: OK)
    open_session().send("GET", server.url)
    assert "authorization" not in server.received[0].headers


@pytest.mark.parametrize("content", [b"", b'{"a": 12}'], ids=["headers alone", "content"])
def test_content_behind_the_headers_of_head_is_seen(open_session: Any, serve: Any, content: bytes) -> None:
    server, made = serve(lambda *_: answer("200 OK", JSON, body=content, length=9)), open_session()
    assert [made.send("HEAD", server.url).answer.content for _ in range(3)] == [content] * 3
    assert content or server.connections == 1


HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n"
MEGABYTE = 1024 * 1024
#: Generous: a few times the largest body, as bytes, as text and in pieces.
MOST_MEMORY = 8 * LARGEST_BODY
TOO_LONG = f"the answer is longer than {LARGEST_BODY} bytes"
LATE = "no answer within the time limit"
NO_END = "the answer did not end within the time limit"
ENDLESS = "a line in the head of the answer is endless"
TOO_DEEP = f"nested deeper than {DEEPEST} levels"
INTERIM = "the service sent one interim answer (1xx) after another"


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
    "twice": (
        lambda: sized(b"{}", b"Content-Encoding: gzip, gzip\r\n"),
        "Content-Encoding says (gzip, gzip)",
    ),
    "headers": (lambda: HEAD + b"X: y\r\n" * 200 + b"\r\n{}", "flood of headers"),
    "line": (lambda: HEAD + b"X: " + b"y" * 100_000 + b"\r\n\r\n{}", ENDLESS),
    "interim": (lambda: b"HTTP/1.1 103 Early Hints\r\n\r\n" * 60 + OK, INTERIM),
    "text": (lambda: b"no http at all\r\n\r\n", "the answer is no HTTP"),
}


@pytest.mark.parametrize(("head", "says", "piece"), [(*row, b"")[:3] for row in BAD.values()], ids=BAD)
def test_a_bad_answer_is_bounded_and_called_what_it_is(
    open_session: Any, serve: Any, head: Callable[[], bytes], says: str, piece: bytes
) -> None:
    server = serve(writing(head(), piece))
    tracemalloc.start()
    try:
        assert says in str(sent(open_session, server).fault)
        assert tracemalloc.get_traced_memory()[1] < MOST_MEMORY
    finally:
        tracemalloc.stop()


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
        (b'{"a": NaN}', None, "NaN, which is not a JSON value"),
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
