"""TLS is verified, a private authority can be named, and the usual variables name a proxy."""

import socket
import ssl
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack, suppress
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import certifi
import pytest
import trustme

from contracts.errors import EnvironmentFault, UsageError
from contracts.session.layers import Request
from contracts.session.session import Session
from contracts.session.transport import Transport
from contracts.session.way import proxy_passwords
from contracts.settings.target import Target, TlsSettings
from tests.meta.http_answers import OK
from tests.meta.wire import Wire, serving

NOT_TRUSTED = "the TLS certificate or handshake was not accepted"
VARIABLES = [
    *(f"{name}_proxy" for name in ("http", "https", "all", "no")),
    "requests_ca_bundle",
    "curl_ca_bundle",
]


@pytest.fixture(autouse=True)
def no_variables(monkeypatch: pytest.MonkeyPatch) -> None:
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
def served() -> Iterator[ExitStack]:
    """Servers, each closed at the end of the test."""
    with ExitStack() as servers:
        yield servers


@pytest.fixture
def secure(authority: trustme.CA, served: ExitStack) -> Callable[..., SimpleNamespace]:
    """Serves over TLS with a certificate for a name: `secure("127.0.0.1")`; `requests` holds what arrived."""

    def start(
        name: str, issuer: trustme.CA | None = None, clients: trustme.CA | None = None
    ) -> SimpleNamespace:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        if clients is not None:
            context.verify_mode = ssl.CERT_REQUIRED
            clients.configure_trust(context)
        (issuer or authority).issue_cert(name).configure_cert(context)
        requests: list[bytes] = []

        def answer(wire: Wire) -> None:
            requests.append(wire.connection.recv(65536))
            wire.send(OK)

        return SimpleNamespace(url=served.enter_context(serving(answer, context)), requests=requests)

    return start


@pytest.fixture
def proxy(served: ExitStack) -> SimpleNamespace:
    """A proxy that tunnels CONNECT and answers plain requests itself; `seen` holds first lines and headers."""
    seen: list[str] = []
    url = served.enter_context(serving(lambda wire: relay(wire, seen)))
    return SimpleNamespace(port=int(url.rpartition(":")[2]), seen=seen)


def relay(wire: Wire, seen: list[str]) -> None:
    client = wire.connection
    head = client.recv(65536).decode("latin-1")
    seen.append(head)
    if not head.startswith("CONNECT"):
        wire.send(OK)
        return
    host, _, port = head.split()[1].partition(":")
    with socket.create_connection((host, int(port))) as server:
        wire.send(b"HTTP/1.1 200 Connection established\r\n\r\n")
        back = threading.Thread(target=pump, args=(server, client), daemon=True)
        back.start()
        pump(client, server)
        back.join(5)


def pump(source: socket.socket, sink: socket.socket) -> None:
    with suppress(OSError):
        while piece := source.recv(65536):
            sink.sendall(piece)
        sink.shutdown(socket.SHUT_WR)


def test_a_certificate_of_an_unknown_authority_is_refused_before_anything_is_sent(
    open_session: Any, secure: Any
) -> None:
    served = secure("127.0.0.1")
    exchange = open_session().send(
        "POST", served.url, operation="createContact", headers={"Authorization": b"Bearer x"}
    )
    assert exchange.fault == NOT_TRUSTED
    assert not any(served.requests)


def test_a_certificate_for_another_name_is_refused(open_session: Any, secure: Any, bundle: str) -> None:
    served = secure("registry.example")
    refused = open_session(ca_bundle=bundle).send("POST", served.url, operation="createContact")
    assert refused.fault == NOT_TRUSTED
    assert not any(served.requests)


@pytest.mark.parametrize("name", ["REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE"])
def test_a_variable_names_authorities_unless_the_settings_do(
    secure: Any, bundle: str, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    monkeypatch.setenv(name, bundle)
    monkeypatch.setenv("PYTHONHTTPSVERIFY", "0")
    assert get(secure("127.0.0.1").url).json == {}
    stranger = secure("127.0.0.1", trustme.CA())
    with pytest.raises(EnvironmentFault, match="not accepted"):
        get(stranger.url)
    monkeypatch.setenv(name, certifi.where())
    assert get(secure("127.0.0.1").url, bundle).json == {}


def test_a_client_certificate_is_shown_to_a_service_that_asks_for_it(
    authority: trustme.CA, secure: Any, bundle: str, tmp_path: Path
) -> None:
    served = secure("127.0.0.1", clients=authority)
    certificate, key = tmp_path / "client.pem", tmp_path / "client.key"
    issued = authority.issue_cert("client.example")
    issued.private_key_pem.write_to_path(str(key))
    for blob in issued.cert_chain_pems:
        blob.write_to_path(str(certificate), append=True)
    assert get(served.url, bundle, client_certificate=certificate, client_key=key).json == {}
    with pytest.raises(EnvironmentFault):
        get(served.url, bundle)


@pytest.mark.parametrize(
    ("name", "value", "says"),
    [
        ("HTTPS_PROXY", "http://", "HTTPS_PROXY is no address of a proxy"),
        ("https_proxy", "http://user:secret@host:99999", "https_proxy is no address of a proxy"),
        ("all_proxy", "socks5://127.0.0.1:1080", "all_proxy names a socks5 proxy, which needs PySocks"),
        ("ALL_PROXY", "ftp://127.0.0.1:21", "ALL_PROXY names a proxy by 'ftp'"),
        ("REQUESTS_CA_BUNDLE", "/no/such/file.pem", "REQUESTS_CA_BUNDLE names '/no/such/file.pem'"),
        ("CURL_CA_BUNDLE", __file__, "CURL_CA_BUNDLE names"),
    ],
)
def test_a_variable_that_cannot_be_used_is_named(
    monkeypatch: pytest.MonkeyPatch, name: str, value: str, says: str
) -> None:
    monkeypatch.setattr("contracts.session.way.find_spec", lambda _: None)
    monkeypatch.setenv(name, value)
    with pytest.raises(UsageError, match=says) as refused:
        Session(Target("service", "https://registry.invalid"), "one")
    assert "secret" not in str(refused.value)
    monkeypatch.setenv("no_proxy", "registry.invalid")
    if name.lower().endswith("_proxy"):
        Session(Target("service", "https://registry.invalid"), "one").close()


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


def get(url: str, bundle: str | None = None, **client: Path) -> Any:
    tls = TlsSettings(Path(bundle) if bundle else None, **client)
    transport = Transport(Target("service", url, tls=tls), lambda *_: True)
    return transport.send(Request(None, "GET", url, {})).answer


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
