"""The proxy passes requests and answers on as they are; what one end fails at is one clear line of the proxy's own.

Pages of another origin use it where it allows them.
"""

import json
import signal
import socket
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from urllib.parse import urlsplit

import pytest
import requests

from registry_contracts.errors import UsageError
from registry_contracts.interface.cross_origin import AllowedOrigins
from tests.meta.program import PATIENCE, RunCommand, RunningProxy, running_proxy
from tests.meta.sandbox_client import sandbox
from tests.meta.wire import JSON, Received, Server, Wire, answer, answered_by

OK = answer("200 OK", JSON, body=b"[]")
BEGUN = b"GET /x HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n"
LISTED = BEGUN.replace(b"/x", b"/api/v2013/document-drafts") + b"Realm: abs-dev\r\n"
SECRET = b"Authorization: Bearer a-token-of-forty-characters-0123456789ab"


def connected(proxy: RunningProxy) -> closing[Wire]:
    parts = urlsplit(proxy.url)
    return closing(Wire(socket.create_connection((str(parts.hostname), parts.port or 0), PATIENCE)))


def ask(proxy: RunningProxy, request: bytes) -> Received:
    """Send one request through the proxy on a connection of its own, and read the answer."""
    with connected(proxy) as wire:
        wire.send(request)
        answer = wire.message()
    assert answer is not None, "the proxy hung up"
    return answer


@pytest.fixture(scope="module")
def started(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Server, RunningProxy]]:
    folder = tmp_path_factory.mktemp("proxy")
    with answered_by(lambda *_: OK) as service, running_proxy(folder, f"--base-url={service.url}") as proxy:
        yield service, proxy


@pytest.fixture
def proxy(started: tuple[Server, RunningProxy]) -> RunningProxy:
    return started[1]


@pytest.fixture
def service(started: tuple[Server, RunningProxy]) -> Server:
    """The service behind the proxy, which has received nothing yet."""
    started[0].received.clear()
    return started[0]


def test_a_request_and_its_answer_arrive_as_they_were_written(
    service: Server, proxy: RunningProxy, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = "/api//v2013/a%2Fb/../c;d?x=%20|y&Realm=abs-dev&empty=&q='%C3'"
    sent = [("x-ODD-Case", "one"), ("Accept", "a/b"), ("x-ODD-Case", "two"), ("content-length", "5")]
    told = [("set-COOKIE", "a=1"), ("X-B", "2"), ("set-COOKIE", "c=3"), ("Content-Length", "3")]
    written, answered = ("".join(f"{name}: {value}\r\n" for name, value in pairs) for pairs in (sent, told))
    whole = f"HTTP/1.1 299 Quite Fine\r\n{answered}\r\nabc".encode()
    monkeypatch.setattr(service, "respond", lambda *_: whole)
    answer = ask(proxy, f"PUT {path} HTTP/1.1\r\nHost: proxy.localhost\r\n{written}\r\nhello".encode())
    (request,) = service.received
    assert (request.first, request.body) == (f"PUT {path} HTTP/1.1", b"hello")
    assert [header for header in request.pairs if header[0] != "Host"] == sent
    assert request.headers["host"] == urlsplit(service.url).netloc
    assert (answer.first, answer.pairs, answer.body) == ("HTTP/1.1 299 Quite Fine", told, b"abc")


PAGES = (b"http://evil.test", b"null", b"http://localhost\r\nOrigin: http://evil.test")
ELSEWHERE = (b"http://other.test/api/v2013/document-drafts", b"ftp://other.test/x")


@pytest.mark.parametrize(
    ("request_bytes", "says"),
    [
        # A page of that name (DNS rebinding) would reach the target through the proxy.
        (BEGUN.replace(b"localhost", b"evil.test") + b"\r\n", b"the Host header names another machine"),
        (LISTED.replace(b"abs-dev", b"abs") + b"\r\n", b"production realm"),
        # Any page may send these blindly; the client would be judged by them.
        *((LISTED + b"Origin: " + page + b"\r\n\r\n", b"--cors with this origin") for page in PAGES),
        # It was taken for an HTTP proxy: token and address are another host's.
        *((BEGUN.replace(b"/x", place) + SECRET + b"\r\n\r\n", b"name no HTTP proxy") for place in ELSEWHERE),
        (BEGUN.replace(b"GET /x", b"CONNECT other.test:443") + b"\r\n", b"name no HTTP proxy"),
    ],
)
def test_a_forbidden_request_is_refused_unsent(
    service: Server, proxy: RunningProxy, request_bytes: bytes, says: bytes
) -> None:
    answer = ask(proxy, request_bytes)
    assert answer.first.startswith("HTTP/1.1 403")
    assert answer.headers["proxy-status"].startswith("registry-contracts-proxy")
    assert says in answer.body
    assert answer.body.count(b"\n") == 1
    assert service.received == []


NO_REQUESTS = {
    "name": BEGUN + SECRET + b"\r\n\x00bad: 1\r\n\r\n",
    "value": BEGUN + SECRET + b"\x01\r\n\r\n",
    "path": BEGUN.replace(b"/x", b"/\x01") + b"\r\n",
    "query": BEGUN.replace(b"/x", b"/x?a=\xff\x02") + b"\r\n",
    "headers": BEGUN + b"X: 1\r\n" * 300 + b"\r\n",
    "line": BEGUN + b"X: " + b"a" * 200_000 + b"\r\n\r\n",
    "lengths": BEGUN.replace(b"GET", b"POST") + b"Content-Length: 2\r\nContent-Length: 3\r\n\r\n{}",
    "chunk": BEGUN.replace(b"GET", b"POST") + b"Transfer-Encoding: chunked\r\n\r\nZZ\r\n",
    "version": b"GET / FOO\r\n\r\n",
    "TLS": b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" * 20,
}


@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGTERM])
def test_it_ends_with_a_verdict_whatever_it_was_sent(tmp_path: Path, how: signal.Signals) -> None:
    with (
        answered_by(lambda *_: OK) as service,
        running_proxy(tmp_path, f"--base-url={service.url}", how=how) as proxy,
    ):
        for name, request in NO_REQUESTS.items():
            with connected(proxy) as wire:
                wire.send(request)
                assert b" 400 " in wire.stream.readline(), name
        assert service.received == []
        assert ask(proxy, LISTED + SECRET + b"\r\n\r\n").body == b"[]"
    assert proxy.ended is not None
    assert (proxy.ended.code, SECRET.decode() in proxy.ended.output) == (0, False)
    assert proxy.ended.last.startswith("verdict: pass (0): 1 request of 1 operation")
    (folder,) = (path.parent for path in tmp_path.glob("*/check.json"))
    assert sorted(path.name for path in folder.iterdir()) == ["check.json", "traffic.har"]
    assert json.loads((folder / "check.json").read_text("utf-8"))["operations"]["listDrafts"] == 1
    assert not any(SECRET.split()[-1] in path.read_bytes() for path in folder.iterdir())


def test_a_target_that_is_down_gives_a_502_of_the_proxys_own(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        url = f"--base-url=http://127.0.0.1:{listener.getsockname()[1]}"
        with running_proxy(tmp_path, url) as proxy:
            listener.close()
            answer = ask(proxy, LISTED + SECRET + b"\r\n\r\n")
    assert answer.first.startswith("HTTP/1.1 502")
    assert answer.headers["proxy-status"].startswith("registry-contracts-proxy; error=")
    assert b"gave no answer: the connection was refused" in answer.body
    assert answer.body.decode().count("\n") == 1
    assert proxy.ended is not None
    assert proxy.ended.code == 6, proxy.ended


def test_a_port_in_use_is_one_clear_line(run_command: RunCommand) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = str(taken.getsockname()[1])
        ended = run_command("proxy", "--base-url", f"http://127.0.0.1:{port}", "--port", port, "--no-page")
    assert (ended.code, ended.err.count("\n")) == (4, 1)
    assert f"--port {port} cannot be used: address already in use" in ended.err


@pytest.mark.parametrize(
    "value", ["http://localhost:5173", "http://[::1]:3000", "https://a.test:80", "null", "*"]
)
def test_an_origin_is_taken_as_browsers_send_it(value: str) -> None:
    assert AllowedOrigins.of([value]).names == {value}


@pytest.mark.parametrize(
    "value", ["app.test", "http://app.test/", "http://*.test\r\nX: y", "http://app.test:80"]
)
def test_what_is_no_origin_is_refused(value: str) -> None:
    with pytest.raises(UsageError, match=r"is not an origin|never matches"):
        AllowedOrigins.of([value])


def test_a_page_of_another_origin_works_through_the_proxy(tmp_path: Path) -> None:
    """The target hears of no preflight and of no origin; neither is judged."""
    words = ("--cors=http://app.test", "--base-url")
    with sandbox() as url, running_proxy(tmp_path, *words, url) as through:
        address = f"{through.url}/api/v2013/document-drafts"
        for origin, statuses, told in (
            ("http://app.test", (204, 401), "http://app.test"),
            ("http://other.test", (403, 403), None),
        ):
            asked = {"Origin": origin, "Access-Control-Request-Method": "PUT"}
            preflight = requests.options(address, headers=asked, timeout=PATIENCE)
            given = {"Origin": origin, "Authorization": "x"}
            refused = requests.get(address, headers=given, timeout=PATIENCE)
            assert (preflight.status_code, refused.status_code) == statuses
            allowed = {each.headers.get("Access-Control-Allow-Origin") for each in (preflight, refused)}
            assert allowed == {told}
    (archive,) = tmp_path.rglob("traffic.har")
    sent = [entry["request"] for entry in json.loads(archive.read_text("utf-8"))["log"]["entries"]]
    assert [request["method"] for request in sent] == ["GET"]
    named = {header["name"].lower() for request in sent for header in request["headers"]}
    assert "authorization" in named
    assert not any(name == "origin" or name.startswith("access-control") for name in named)
