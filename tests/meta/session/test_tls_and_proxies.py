"""TLS is verified, a private authority can be named, and the usual variables name a proxy."""

import socket
import ssl
import threading
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import trustme

from contracts.session.session import proxy_passwords
from contracts.session.transport import Transport
from tests.meta.session.http_answers import OK

NOT_TRUSTED = "the TLS certificate or handshake was not accepted"
VARIABLES = [f"{name}_proxy" for name in ("http", "https", "all", "no")]


@pytest.fixture(autouse=True)
def no_proxy(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in (*VARIABLES, *map(str.upper, VARIABLES)):
        monkeypatch.delenv(name, raising=False)


@pytest.fixture(scope="module")
def authority() -> trustme.CA:
    return trustme.CA()


@pytest.fixture
def bundle(authority: trustme.CA, tmp_path: Path) -> str:
    path = tmp_path / "authority.pem"
    authority.cert_pem.write_to_path(str(path))
    return str(path)


@pytest.fixture
def secure(authority: trustme.CA) -> Iterator[Callable[..., SimpleNamespace]]:
    """Serves over TLS with a certificate for a name: `secure("127.0.0.1")`; `requests` holds what arrived."""
    listeners: list[socket.socket] = []

    def start(name: str, issuer: trustme.CA | None = None) -> SimpleNamespace:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        (issuer or authority).issue_cert(name).configure_cert(context)
        listener = socket.create_server(("127.0.0.1", 0))
        listeners.append(listener)
        served = SimpleNamespace(url=f"https://127.0.0.1:{listener.getsockname()[1]}", requests=[])
        threading.Thread(target=answer_all, args=(listener, context, served.requests), daemon=True).start()
        return served

    yield start
    for listener in listeners:
        with suppress(OSError):
            listener.shutdown(socket.SHUT_RDWR)
        listener.close()


def answer_all(listener: socket.socket, context: ssl.SSLContext, requests: list[bytes]) -> None:
    while True:
        try:
            plain, _ = listener.accept()
        except OSError:
            return
        with suppress(OSError), context.wrap_socket(plain, server_side=True) as wire:
            requests.append(wire.recv(65536))
            wire.sendall(OK)


@pytest.fixture
def proxy() -> Iterator[SimpleNamespace]:
    """A proxy that tunnels CONNECT and answers plain requests itself; `seen` holds first lines and headers."""
    listener = socket.create_server(("127.0.0.1", 0))
    made = SimpleNamespace(port=listener.getsockname()[1], seen=[])
    threading.Thread(target=relay_all, args=(listener, made.seen), daemon=True).start()
    yield made
    listener.shutdown(socket.SHUT_RDWR)
    listener.close()


def relay_all(listener: socket.socket, seen: list[str]) -> None:
    while True:
        try:
            client, _ = listener.accept()
        except OSError:
            return
        threading.Thread(target=relay, args=(client, seen), daemon=True).start()


def relay(client: socket.socket, seen: list[str]) -> None:
    with suppress(OSError), client:
        head = client.recv(65536).decode("latin-1")
        seen.append(head)
        if not head.startswith("CONNECT"):
            client.sendall(OK)
            return
        host, _, port = head.split()[1].partition(":")
        with socket.create_connection((host, int(port))) as server:
            client.sendall(b"HTTP/1.1 200 Connection established\r\n\r\n")
            back = threading.Thread(target=pump, args=(server, client), daemon=True)
            back.start()
            pump(client, server)
            back.join(5)


def pump(source: socket.socket, sink: socket.socket) -> None:
    with suppress(OSError):
        while piece := source.recv(65536):
            sink.sendall(piece)
        sink.shutdown(socket.SHUT_WR)


def test_a_private_authority_is_trusted_when_it_is_named(open_session: Any, secure: Any, bundle: str) -> None:
    served = secure("127.0.0.1")
    assert open_session(ca_bundle=bundle).send("GET", served.url).answer.json == {}


def test_a_certificate_of_an_unknown_authority_is_refused_before_anything_is_sent(
    open_session: Any, secure: Any
) -> None:
    served = secure("127.0.0.1")
    exchange = open_session().send(
        "POST", served.url, operation="createContact", headers={"Authorization": b"Bearer x"}
    )
    assert exchange.fault == NOT_TRUSTED
    assert not any(served.requests)


@pytest.mark.parametrize("name", ["localhost", "registry.example"])
def test_a_certificate_for_another_name_is_refused(
    open_session: Any, secure: Any, bundle: str, name: str
) -> None:
    served = secure(name)
    assert (
        open_session(ca_bundle=bundle).send("POST", served.url, operation="createContact").fault
        == NOT_TRUSTED
    )
    assert not any(served.requests)


def test_naming_an_authority_shuts_the_others_out(open_session: Any, secure: Any, bundle: str) -> None:
    served = secure("127.0.0.1", trustme.CA())
    assert (
        open_session(ca_bundle=bundle).send("POST", served.url, operation="createContact").fault
        == NOT_TRUSTED
    )


def test_variables_cannot_switch_verification_off(
    open_session: Any, secure: Any, bundle: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE"):
        monkeypatch.setenv(name, bundle)
    monkeypatch.setenv("PYTHONHTTPSVERIFY", "0")
    assert (
        open_session().send("POST", secure("127.0.0.1").url, operation="createContact").fault == NOT_TRUSTED
    )


@pytest.mark.parametrize("name", ["http_proxy", "all_proxy"])
def test_a_plain_request_goes_through_the_proxy_of_the_usual_variables(
    proxy: Any, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    monkeypatch.setenv(name, f"http://user:pass%2Fword@127.0.0.1:{proxy.port}")
    answer = get("http://registry.invalid/a")
    assert answer.json == {}
    assert proxy.seen[0].startswith("GET http://registry.invalid/a HTTP/1.1")
    assert "Proxy-Authorization: Basic" in proxy.seen[0]
    assert proxy_passwords() == {"pass%2Fword", "pass/word"}


def get(url: str, bundle: str | None = None) -> Any:
    import requests  # noqa: PLC0415 - only these tests prepare a request themselves

    transport = Transport(url, 5, bundle)
    return transport.send(transport.http.prepare_request(requests.Request("GET", url)))


def test_a_secure_request_is_tunnelled_and_still_verified(
    proxy: Any, secure: Any, bundle: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    served = secure("127.0.0.1")
    monkeypatch.setenv("https_proxy", f"http://127.0.0.1:{proxy.port}")
    assert get(served.url, bundle).json == {}
    assert proxy.seen[0].startswith("CONNECT 127.0.0.1:")
    assert b"GET / HTTP/1.1" in served.requests[0]
    with pytest.raises(Exception, match="not accepted"):
        get(served.url)


@pytest.mark.parametrize("exempt", ["127.0.0.1", "*"])
def test_no_proxy_names_what_is_reached_directly(
    proxy: Any, secure: Any, bundle: str, monkeypatch: pytest.MonkeyPatch, exempt: str
) -> None:
    monkeypatch.setenv("https_proxy", f"http://127.0.0.1:{proxy.port}")
    monkeypatch.setenv("no_proxy", exempt)
    assert get(secure("127.0.0.1").url, bundle).json == {}
    assert proxy.seen == []
