"""Transport settings: proxies, certificate authorities and client certificate for a target.

They come from `HTTP_PROXY`, `HTTPS_PROXY`, `ALL_PROXY`, `NO_PROXY`, `REQUESTS_CA_BUNDLE` and `CURL_CA_BUNDLE`; the
target's settings take precedence. Credentials of `~/.netrc` are never used.
"""

from __future__ import annotations

import os
import ssl
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Final
from urllib.parse import unquote, urlsplit

import certifi
import requests
from requests.utils import select_proxy

from registry_contracts.errors import UsageError
from registry_contracts.settings.target import Target, TlsSettings

_CA_VARIABLES: Final = ("REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE")
_PROXY_SCHEMES: Final = ("http", "https")
_SOCKS: Final = ("socks4", "socks4a", "socks5", "socks5h")


@dataclass(frozen=True)
class TransportSettings:
    """How to connect to an address, as arguments of `requests`.

    `verify` is a file or folder of trusted authorities, or True for the usual ones; `cert` is the file of a client
    certificate, or the files of certificate and key.
    """

    proxies: Mapping[str, str]
    verify: str | bool
    cert: str | tuple[str, str] | None

    def proxy(self, url: str) -> str | None:
        """The proxy for an address; None for a direct connection."""
        proxy: str | None = select_proxy(url, dict(self.proxies))
        return proxy if proxy is None or "://" in proxy else f"http://{proxy}"

    def tls(self) -> ssl.SSLContext:
        """A TLS context with authorities and client certificate; raises `OSError` for an unusable file."""
        context = self.trusting()
        if self.cert is not None:
            certificate, key = (self.cert, None) if isinstance(self.cert, str) else self.cert
            context.load_cert_chain(certificate, key, _no_passphrase)
        return context

    def trusting(self) -> ssl.SSLContext:
        """A TLS context with the authorities only; raises `OSError` for a file without certificates."""
        trusted = certifi.where() if self.verify is True else str(self.verify)
        folder = Path(trusted).is_dir()
        return ssl.create_default_context(
            cafile=None if folder else trusted, capath=trusted if folder else None
        )


#: Headers in a PEM file of a certificate, and of any kind of key.
_CERTIFICATE, _KEY = b"BEGIN CERTIFICATE-----", b"PRIVATE KEY-----"
_LOCKED: Final = "has a passphrase"


def _no_passphrase() -> str:
    # Without this callback OpenSSL asks at the terminal, and waits for ever.
    raise OSError(_LOCKED)


def transport_settings(url: str, tls: TlsSettings) -> TransportSettings:
    """The transport settings for an address of a target."""
    bundle, shown, key = (
        None if path is None else str(path)
        for path in (tls.ca_bundle, tls.client_certificate, tls.client_key)
    )
    merged = requests.Session().merge_environment_settings(url, {}, None, bundle, None)
    return TransportSettings(
        merged["proxies"], merged["verify"] or True, (shown, key) if shown and key else shown
    )


def check_transport_settings(target: Target) -> None:
    """Check the transport settings of a target without sending anything.

    Raises:
        UsageError: names the variable or setting that cannot be used.
    """
    if target.tls.client_key and not target.tls.client_certificate:
        raise UsageError("client_key in [tls] needs client_certificate, which names its certificate")
    settings = transport_settings(target.base_url, target.tls)
    proxy = settings.proxy(target.base_url)
    if proxy is not None and (why := _unusable(proxy)):
        names = (f"{urlsplit(target.base_url).scheme}_proxy", "all_proxy")
        variables = [form for name in names for form in (name, name.upper()) if os.environ.get(form)]
        raise UsageError(f"{next(iter(variables), 'the proxy of this system')} {why}")
    try:
        settings.trusting()
    except OSError as error:
        variable = next((name for name in _CA_VARIABLES if os.environ.get(name) == settings.verify), "")
        name = "ca_bundle in [tls]" if target.tls.ca_bundle else variable
        why = "" if isinstance(error, ssl.SSLError) else f" ({error.strerror})"
        raise UsageError(
            f"{name} names {settings.verify!r}: no certificates in PEM form can be read there{why}"
        ) from None
    try:
        settings.tls()
    except OSError as error:
        raise UsageError(_unshown(target.tls, error)) from None


def _unshown(tls: TlsSettings, error: OSError) -> str:
    """Why the client certificate cannot be used: the setting that names the file, and what is wrong with it."""
    shown = tls.client_certificate or Path()
    key, name = (tls.client_key, "client_key") if tls.client_key else (shown, "client_certificate")
    if str(error) == _LOCKED:
        return f"{name} in [tls] names '{key}', whose key {_LOCKED}; name one that has none"
    if not isinstance(error, ssl.SSLError):
        return f"{name} in [tls]: '{key}' or '{shown}' cannot be read: {error.strerror}"
    if _CERTIFICATE not in shown.read_bytes():
        return f"client_certificate in [tls] names '{shown}', which holds no certificate in PEM form"
    if _KEY in key.read_bytes():
        return f"{name} in [tls] names '{key}', whose key is not the one of the certificate"
    return (
        f"{name} in [tls] names '{key}', which holds no key in PEM form; client_key names a file of its own"
    )


def _unusable(proxy: str) -> str:
    """Why a proxy cannot be used; empty if it can. Never quotes the address, which may hold a password."""
    try:
        parts = urlsplit(proxy)
        usable = bool(parts.hostname) and parts.port != 0
    except ValueError:
        usable = False
    if not usable:
        return "is no address of a proxy; write http://HOST:PORT"
    if parts.scheme in _SOCKS and not find_spec("socks"):
        return f"names a {parts.scheme} proxy, which needs PySocks: pip install PySocks"
    known = parts.scheme in (*_PROXY_SCHEMES, *_SOCKS)
    return "" if known else f"names a proxy by {parts.scheme!r}; use http, https or socks5"


def proxy_passwords() -> set[str]:
    """Passwords of the proxies in the usual variables, as written and decoded."""
    passwords = set[str]()
    for name, value in os.environ.items():
        if name.lower().endswith("_proxy"):
            with suppress(ValueError):
                passwords.add(urlsplit(value if "://" in value else f"//{value}").password or "")
    return {form for password in passwords if password for form in (password, unquote(password))}
