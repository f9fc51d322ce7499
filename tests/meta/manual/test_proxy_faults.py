"""What the proxy does when one end fails: one clear line of its own, never taken for the service's."""

import socket

from tests.meta.manual.scripted_service import Wire, between, serving

GET = b"GET /api/v2013/document-drafts HTTP/1.1\r\nHost: localhost\r\n\r\n"
OK = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}"


def nobody() -> str:
    """Return an address at which nobody listens."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        return f"http://127.0.0.1:{listener.getsockname()[1]}"


def test_a_target_that_is_down_gives_a_502_of_the_proxys_own() -> None:
    with between(nobody()) as proxy:
        answer = proxy.ask(GET)
        handed = proxy.handed()
    assert answer.first.startswith("HTTP/1.1 502")
    assert answer.value("Proxy-Status").startswith("registry-contracts-proxy; error=")
    assert answer.body.decode().count("\n") == 1
    assert b"gave no answer: the connection was refused" in answer.body
    assert (handed.status, handed.fault) == (None, "the connection was refused")


def test_a_connection_closed_without_an_answer_gives_a_502() -> None:
    with serving(lambda wire: wire.close()) as url, between(url) as proxy:
        answer = proxy.ask(b"POST /x HTTP/1.1\r\nHost: localhost\r\nContent-Length: 0\r\n\r\n")
        handed = proxy.handed()
    assert answer.first.startswith("HTTP/1.1 502")
    assert handed.fault is not None


def test_an_answer_that_breaks_off_breaks_off_for_the_client_too() -> None:
    def script(wire: Wire) -> None:
        wire.head()
        wire.send(b"HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhalf")

    with serving(script) as url, between(url) as proxy, proxy.connected() as wire:
        wire.send(GET)
        answer = wire.head()
        assert answer is not None
        assert answer.value("Content-Length") == "10"
        try:
            rest = wire.stream.read(10)
        except ConnectionResetError:
            rest = b""
        handed = proxy.handed()
    assert len(rest) < 10
    assert handed.fault is not None
    assert "broke off" in handed.fault
    assert handed.status is None


def test_a_client_that_goes_away_frees_the_service() -> None:
    left: list[bytes] = []

    def script(wire: Wire) -> None:
        wire.head()
        left.append(wire.stream.read(1))

    with serving(script) as url, between(url) as proxy:
        with proxy.connected() as wire:
            wire.send(GET)
        handed = proxy.handed()
    assert handed.fault == "the client went away before the answer ended"
    assert handed.status is None


def test_an_answer_before_the_end_of_an_upload_arrives() -> None:
    """A service may refuse a body as too large before it has read it."""
    refusal = b"HTTP/1.1 413 Too Large\r\nContent-Length: 4\r\nConnection: close\r\n\r\nmuch"

    def script(wire: Wire) -> None:
        wire.head()
        wire.send(refusal)
        wire.stream.read()

    with serving(script) as url, between(url) as proxy, proxy.connected() as wire:
        wire.send(
            b"POST /x HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100000000\r\n\r\n" + b"x" * 200_000
        )
        answer = wire.message()
        handed = proxy.handed()
    assert answer is not None
    assert answer.first == "HTTP/1.1 413 Too Large"
    assert answer.body == b"much"
    assert handed.status == 413
    assert not handed.request_body.whole


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
