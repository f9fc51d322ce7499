"""TLS is verified, a private authority can be named, and the usual variables name a proxy."""

import ssl
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import certifi
import pytest
import trustme
from cryptography.hazmat.primitives.serialization import (
    BestAvailableEncryption,
    Encoding,
    NoEncryption,
    PrivateFormat,
    load_pem_private_key,
)

from registry_contracts.errors import UsageError
from registry_contracts.exchanges.exchange import Exchange
from registry_contracts.plugin.preflight import Look
from registry_contracts.session.layers import Request
from registry_contracts.session.session import Session
from registry_contracts.session.transport import Transport
from registry_contracts.session.way import check_way, proxy_passwords
from registry_contracts.settings.target import AUTHOR, Account, Secret, Target, TlsSettings
from tests.meta.wire import OK, Wire, serving

ACCOUNT = Account(AUTHOR, "author@sandbox.test", Secret("sandbox-author"))
NOT_TRUSTED = "the TLS certificate or handshake was not accepted"
VARIABLES = ("http_proxy", "https_proxy", "all_proxy", "no_proxy", "requests_ca_bundle", "curl_ca_bundle")


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


def get(url: str, bundle: str | None = None, **client: Path) -> Exchange:
    tls = TlsSettings(Path(bundle) if bundle else None, **client)
    transport = Transport(Target("service", url, tls=tls), lambda *_: True)
    return transport.send(Request(None, "GET", url, {}))


@pytest.mark.parametrize(("name", "trusted"), [("127.0.0.1", False), ("registry.example", True)])
def test_a_certificate_of_another_authority_or_name_is_refused_before_anything_is_sent(
    open_session: Any, secure: Any, bundle: str, name: str, trusted: bool
) -> None:
    served, made = secure(name), open_session(ca_bundle=bundle if trusted else None)
    sent = made.send("POST", served.url, operation="createContact", headers={"Authorization": b"Bearer x"})
    assert (sent.fault, any(served.requests)) == (NOT_TRUSTED, False)


@pytest.mark.parametrize("name", ["REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE"])
def test_a_variable_names_authorities(
    secure: Any, bundle: str, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    monkeypatch.setenv(name, bundle)
    monkeypatch.setenv("PYTHONHTTPSVERIFY", "0")
    assert get(secure("127.0.0.1").url).answered
    assert get(secure("127.0.0.1", trustme.CA()).url).fault == NOT_TRUSTED
    monkeypatch.setenv(name, certifi.where())
    assert get(secure("127.0.0.1").url, bundle).answered


def test_a_client_certificate_is_shown(
    authority: trustme.CA, secure: Any, bundle: str, tmp_path: Path
) -> None:
    served = secure("127.0.0.1", clients=authority)
    certificate, key = tmp_path / "client.pem", tmp_path / "client.key"
    issued = authority.issue_cert("client.example")
    issued.private_key_pem.write_to_path(str(key))
    for blob in issued.cert_chain_pems:
        blob.write_to_path(str(certificate), append=True)
    assert get(served.url, bundle, client_certificate=certificate, client_key=key).answered
    assert not get(served.url, bundle).answered
    target = Target("service", served.url, accounts={AUTHOR: ACCOUNT}, tls=TlsSettings(Path(bundle)))
    with (
        Session(target, "one") as session,
        pytest.raises(
            UsageError, match=r"wants a client certificate, and none is set; .* client_certificate"
        ),
    ):
        list(Look(session, ("abs-dev",)).diagnoses())


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Certificates and keys of clients, and one that needs a passphrase."""
    folder, issued = tmp_path_factory.mktemp("clients"), trustme.CA().issue_cert("client.example")
    (folder / "c.pem").write_bytes(issued.cert_chain_pems[0].bytes())
    key = load_pem_private_key(issued.private_key_pem.bytes(), None)
    for name, secured in (("key.pem", NoEncryption()), ("locked.pem", BestAvailableEncryption(b"x"))):
        (folder / name).write_bytes(key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, secured))
    trustme.CA().issue_cert("other.example").private_key_pem.write_to_path(str(folder / "other.pem"))
    (folder / "empty").touch()
    return folder


@pytest.mark.parametrize(
    ("settings", "says"),
    [
        ({"client_certificate": "c.pem", "client_key": "locked.pem"}, r"client_key .*locked.pem', whose key"),
        ({"client_certificate": "c.pem"}, r"client_certificate .*c.pem', which holds no key .*; client_key names"),
        ({"client_certificate": "c.pem", "client_key": "empty"}, r"client_key .*empty', which holds no key in PEM"),
        ({"client_certificate": "c.pem", "client_key": "other.pem"}, r"client_key .*other.pem', .* not the one"),
        ({"client_key": "key.pem"}, r"client_key in \[tls\] is of no use alone"),
        ({"ca_bundle": "key.pem"}, r"ca_bundle .*key.pem': no certificates in PEM form"),
    ],
)  # fmt: skip
def test_an_unusable_file_is_named_with_its_setting(files: Path, settings: dict[str, str], says: str) -> None:
    tls = TlsSettings(**{name: files / file for name, file in settings.items()})
    with pytest.raises(UsageError, match=says):
        check_way(Target("service", "https://registry.invalid", tls=tls))


@pytest.mark.parametrize(
    ("name", "value", "says"),
    [
        ("https_proxy", "http://user:secret@host:99999", "https_proxy is no address of a proxy"),
        ("all_proxy", "socks5://127.0.0.1:1080", "all_proxy names a socks5 proxy, which needs PySocks"),
        ("ALL_PROXY", "ftp://127.0.0.1:21", "ALL_PROXY names a proxy by 'ftp'"),
        ("REQUESTS_CA_BUNDLE", "/no/such/file.pem", "REQUESTS_CA_BUNDLE names '/no/such/file.pem'"),
    ],
)
def test_an_unusable_variable_is_named(
    monkeypatch: pytest.MonkeyPatch, name: str, value: str, says: str
) -> None:
    monkeypatch.setattr("registry_contracts.session.way.find_spec", lambda _: None)
    monkeypatch.setenv(name, value)
    with pytest.raises(UsageError, match=says) as refused:
        Session(Target("service", "https://registry.invalid"), "one")
    assert "secret" not in str(refused.value)
    monkeypatch.setenv("no_proxy", "registry.invalid")
    if name.lower().endswith("_proxy"):
        Session(Target("service", "https://registry.invalid"), "one").close()


@pytest.mark.parametrize("name", ["http_proxy", "all_proxy"])
def test_a_proxy_is_taken_from_variables(
    served: ExitStack, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    seen: list[bytes] = []

    def answer(wire: Wire) -> None:
        seen.append(wire.connection.recv(65536))
        wire.send(OK)

    address = served.enter_context(serving(answer)).partition("://")[2]
    monkeypatch.setenv(name, f"http://user:pass%2Fword@{address}")
    assert get("http://registry.invalid/a").answered
    assert seen[0].startswith(b"GET http://registry.invalid/a HTTP/1.1")
    assert b"Proxy-Authorization: Basic" in seen[0]
    assert proxy_passwords() == {"pass%2Fword", "pass/word"}
