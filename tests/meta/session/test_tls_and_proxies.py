"""TLS is verified, a private authority can be named, and the usual variables name a proxy."""

import ssl
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
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
from registry_contracts.plugin.preflight import Preflight
from registry_contracts.session.pipeline import Request
from registry_contracts.session.session import Session
from registry_contracts.session.transport import Transport
from registry_contracts.session.transport_settings import check_transport_settings, proxy_passwords
from registry_contracts.settings.target import AUTHOR, Account, Secret, Target, TlsSettings
from tests.meta.wire import OK, Server, answered_by

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


@pytest.fixture(scope="module")
def files(authority: trustme.CA, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The authority, certificates and keys of clients, and one that needs a passphrase."""
    folder, issued = tmp_path_factory.mktemp("clients"), authority.issue_cert("client.example")
    authority.cert_pem.write_to_path(str(folder / "authority.pem"))
    (folder / "c.pem").write_bytes(issued.cert_chain_pems[0].bytes())
    key = load_pem_private_key(issued.private_key_pem.bytes(), None)
    for name, secured in (("key.pem", NoEncryption()), ("locked.pem", BestAvailableEncryption(b"x"))):
        (folder / name).write_bytes(key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, secured))
    authority.issue_cert("other.example").private_key_pem.write_to_path(str(folder / "other.pem"))
    return folder


@pytest.fixture
def bundle(files: Path) -> Path:
    return files / "authority.pem"


@pytest.fixture
def secure(authority: trustme.CA) -> Iterator[Callable[..., Server]]:
    """Serves over TLS with a certificate for a name: `secure("127.0.0.1")`."""
    with ExitStack() as servers:

        def start(
            name: str = "127.0.0.1", issuer: trustme.CA = authority, clients: trustme.CA | None = None
        ) -> Server:
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            if clients is not None:
                context.verify_mode = ssl.CERT_REQUIRED
                clients.configure_trust(context)
            issuer.issue_cert(name).configure_cert(context)
            return servers.enter_context(answered_by(lambda *_: OK, context))

        yield start


def get(url: str, bundle: Path | None = None, **client: Path) -> Exchange:
    transport = Transport(Target("service", url, tls=TlsSettings(bundle, **client)), lambda *_: True)
    return transport.send(Request(None, "GET", url, {}))


@pytest.mark.parametrize(("name", "trusted"), [("127.0.0.1", False), ("registry.example", True)])
def test_a_certificate_of_another_authority_or_name_is_refused_before_anything_is_sent(
    open_session: Any, secure: Any, bundle: Path, name: str, trusted: bool
) -> None:
    served, made = secure(name), open_session(ca_bundle=bundle if trusted else None)
    sent = made.send("POST", served.url, operation="createContact", headers={"Authorization": b"Bearer x"})
    assert (sent.fault, served.received) == (NOT_TRUSTED, [])


@pytest.mark.parametrize("name", ["REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE"])
def test_a_variable_names_authorities(
    secure: Any, bundle: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    monkeypatch.setenv(name, str(bundle))
    monkeypatch.setenv("PYTHONHTTPSVERIFY", "0")
    assert get(secure().url).answered
    assert get(secure(issuer=trustme.CA()).url).fault == NOT_TRUSTED
    monkeypatch.setenv(name, certifi.where())
    assert get(secure().url, bundle).answered


def test_a_client_certificate_is_shown(authority: trustme.CA, files: Path, secure: Any, bundle: Path) -> None:
    url = secure(clients=authority).url
    assert get(url, bundle, client_certificate=files / "c.pem", client_key=files / "key.pem").answered
    assert not get(url, bundle).answered
    target = Target("service", url, accounts={AUTHOR: ACCOUNT}, tls=TlsSettings(bundle))
    with Session(target, "one") as session:
        assert "or a client_certificate in [tls]?" in next(Preflight(session, ("abs-dev",)).diagnoses()).text


@pytest.mark.parametrize(
    ("settings", "says"),
    [
        ({"client_certificate": "c.pem", "client_key": "locked.pem"}, r"client_key .*locked.pem', whose key"),
        ({"client_certificate": "c.pem"}, r"client_certificate .*c.pem', which holds no key .*; client_key names"),
        ({"client_certificate": "c.pem", "client_key": "other.pem"}, r"client_key .*other.pem', .* not the one"),
        ({"client_key": "key.pem"}, r"client_key in \[tls\] needs client_certificate"),
        ({"ca_bundle": "key.pem"}, r"ca_bundle .*key.pem': no certificates in PEM form"),
    ],
)  # fmt: skip
def test_an_unusable_file_is_named_with_its_setting(files: Path, settings: dict[str, str], says: str) -> None:
    tls = TlsSettings(**{name: files / file for name, file in settings.items()})
    with pytest.raises(UsageError, match=says):
        check_transport_settings(Target("service", "https://registry.invalid", tls=tls))


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
    monkeypatch.setattr("registry_contracts.session.transport_settings.find_spec", lambda _: None)
    monkeypatch.setenv(name, value)
    with pytest.raises(UsageError, match=says) as refused:
        Session(Target("service", "https://registry.invalid"), "one")
    assert "secret" not in str(refused.value)
    monkeypatch.setenv("no_proxy", "registry.invalid")
    if name.lower().endswith("_proxy"):
        Session(Target("service", "https://registry.invalid"), "one").close()


def test_a_proxy_is_taken_from_variables(serve: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    server = serve(lambda *_: OK)
    monkeypatch.setenv("all_proxy", server.url.replace("//", "//user:pass%2Fword@"))
    assert get("http://registry.invalid/a").answered
    assert server.received[0].first == "GET http://registry.invalid/a HTTP/1.1"
    assert server.received[0].headers["proxy-authorization"].startswith("Basic ")
    assert proxy_passwords() == {"pass%2Fword", "pass/word"}
