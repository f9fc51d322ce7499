"""Refuses production, and every request that would leave the target, before the first byte; there is no override.

The base address of a target is checked once, and kept in one normal form. Every request is checked again as it
leaves, generated ones included.
"""

import re
import unicodedata
from collections.abc import Iterable, Mapping
from functools import lru_cache
from typing import NoReturn
from urllib.parse import SplitResult, unquote, urlsplit

from registry_contracts.errors import SuiteError, UsageError
from registry_contracts.settings.target import PRODUCTION_REALMS, Target

DEFAULT_PORTS = {"http": 80, "https": 443}
#: The root of the interface's paths, at the end of an address or followed by more of a path.
_VERSIONED = re.compile(r"/api/v(\d+$|20[12]3/)", re.IGNORECASE)
_NO_HOST = "names no host that can be reached; write https://host or http://host:port"


def checked_base_url(text: str) -> str:
    """Return a base URL in normal form: lower-case scheme and host, path prefix kept, no trailing slash.

    Raises:
        ValueError: it cannot be used. The message does not repeat it, since it might hold a password.
    """
    if not text.isprintable() or " " in text or "\\" in text:
        raise ValueError("holds a space, backslash or control character; write https://host")
    try:
        parts = urlsplit(text)
    except ValueError:
        raise ValueError(_NO_HOST) from None
    if parts.scheme not in DEFAULT_PORTS:
        raise ValueError("is not an http or https address; write https://host or http://host:port")
    if "@" in parts.netloc:
        raise ValueError("holds credentials; remove them, and name their variables in [accounts.author]")
    if not _reachable(parts):
        raise ValueError(_NO_HOST)
    if not parts.netloc.isascii():
        raise ValueError("has a host with letters outside ASCII; write its xn--… form")
    if "?" in text or "#" in text:
        raise ValueError("has a query or fragment; write only scheme, host, port and path prefix")
    prefix = parts.path.rstrip("/")
    if _VERSIONED.search(prefix):
        raise ValueError("holds the interface's own /api/v…; end the address before it")
    if any(segment in (".", "..", "") for segment in prefix.split("/")[1:]):
        raise ValueError("has an empty or dotted path segment; remove it from the path prefix")
    return f"{parts.scheme}://{parts.netloc.lower().removesuffix(':')}{prefix}"


def _reachable(parts: SplitResult) -> bool:
    """Whether host and port are valid."""
    try:
        return bool((parts.hostname or "").encode("idna")) and parts.port != 0
    except ValueError:
        # The library's message quotes the text after a colon, which may be a password.
        return False


Headers = Mapping[str, str] | Mapping[str, str | bytes] | Iterable[tuple[str, str | bytes]]

_PRODUCTION = frozenset(PRODUCTION_REALMS)
_SEPARATORS = re.compile(r"[,;&\r\n]")
_BLANK = r"[\s\x00-\x1f\x7f\u200b\ufeff'\"]+"
_PADDING = re.compile(f"^{_BLANK}|{_BLANK}$")
_DECODINGS = 3


class GuardViolation(SuiteError):
    """The suite was about to send a request it must never send; nothing was sent."""


def refuse_production(target: Target) -> None:
    """Refuse a target that is not a development environment, or that names a production realm."""
    if target.kind != "development":
        raise UsageError(
            f"target '{target.name}': kind is not \"development\"; the suite writes, so it refuses others"
        )
    for realm in (*target.realms, *target.realm):
        if _names_production(realm):
            raise UsageError(
                f"target '{target.name}': '{realm}' is a production realm, which is refused; use a -dev realm"
            )


def refuse_production_realm(name: str | None) -> None:
    """Refuse a realm that a person named, if it is a production realm."""
    plain = (name or "").strip().lower()
    if plain in PRODUCTION_REALMS:
        raise UsageError(f"{name!r} is a production realm, which is refused; use {plain}-dev")


def refuse_request(method: str, url: str, headers: Headers, target: Target) -> None:
    """Refuse a request that would leave the target or select a production realm; called for every request.

    Args:
        url: as it will be sent.
        headers: as a mapping, or as pairs that may repeat a name.

    Raises:
        GuardViolation: another scheme, host, port or path prefix; a Host header that names another host; a
            production realm in any Realm header or query value, whatever its case, padding or encoding; or a
            target that is not a development environment. The message holds no query, so no secret.
    """
    if target.kind != "development":
        _refuse(method, 'the target\'s kind is not "development"')
    scheme, netlocs, prefix = _place(target.base_url)
    parts = urlsplit(url)
    if parts.scheme != scheme or parts.netloc.lower() not in netlocs:
        _refuse(method, f"the address is not on {target.base_url}")
    if prefix and not _below(prefix, parts.path):
        _refuse(method, f"the address is not below {target.base_url}")
    _check_headers(method, headers, netlocs, target.names.realm_header or "realm")
    if parts.query:
        _check_query(method, parts.query)


def _refuse(method: str, why: str) -> NoReturn:
    raise GuardViolation(f"refused to send a {method} request: {why}")


@lru_cache(maxsize=64)
def _place(base_url: str) -> tuple[str, frozenset[str], str]:
    """Return the scheme, the spellings of host and port, and the path prefix of a base URL."""
    parts = urlsplit(base_url)
    netlocs = {parts.netloc.lower()}
    default = DEFAULT_PORTS.get(parts.scheme)
    host = parts.netloc.lower().removesuffix(f":{parts.port}")
    if parts.port in (None, default):
        netlocs |= {host, f"{host}:{default}"}
    return parts.scheme, frozenset(netlocs), parts.path.rstrip("/")


def _below(prefix: str, path: str) -> bool:
    """Whether a path stays below the prefix after dotted segments are resolved as a server may do it."""
    decoded = _decoded(path).replace("\\", "/")
    if "/." in decoded:
        kept: list[str] = []
        for segment in decoded.split("/")[1:]:
            if segment == "..":
                del kept[-1:]
            elif segment not in ("", "."):
                # Some servers merge slashes first, so ".." skips an empty segment.
                kept.append(segment)
        decoded = "/" + "/".join(kept)
    return decoded == _decoded(prefix) or decoded.startswith(_decoded(prefix) + "/")


def _check_headers(method: str, headers: Headers, netlocs: frozenset[str], realm_header: str) -> None:
    carriers = ("realm", realm_header.lower())
    for name, value in headers.items() if isinstance(headers, Mapping) else headers:
        lowered = name.strip().lower()
        if lowered in carriers and _names_production(_text(value)):
            _refuse(method, "its Realm header selects a production realm")
        if lowered == "host" and _text(value).strip().lower() not in netlocs:
            _refuse(method, "its Host header names another host")


def _check_query(method: str, query: str) -> None:
    if "realm" not in _decoded(query).lower():
        return
    for pair in _pairs(query):
        name, _, value = pair.partition("=")
        # Some frameworks read `Realm[0]` as a value of Realm.
        if _plain(name).partition("[")[0] == "realm" and _names_production(value):
            _refuse(method, "its Realm query value selects a production realm")


def _pairs(query: str) -> set[str]:
    """Split a query in every way that servers do: at "&" or also at ";", before or after decoding."""
    pairs = {
        pair for text in {query, _decoded(query)} for pair in (*text.split("&"), *_SEPARATORS.split(text))
    }
    return {pair for pair in pairs if "%" in pair or "realm" in pair.lower()}


def _names_production(value: str) -> bool:
    return any(_plain(part) in _PRODUCTION for part in _SEPARATORS.split(_decoded(value)))


def _plain(text: str) -> str:
    """Remove what a tolerant server ignores: encoding, case, width and padding."""
    decoded = _decoded(text)
    if not decoded.isascii():
        decoded = unicodedata.normalize("NFKC", decoded)
    return _PADDING.sub("", decoded.replace("+", " ")).lower()


def _decoded(text: str) -> str:
    for _ in range(_DECODINGS):
        if "%" not in text:
            break
        text = unquote(text)
    return text


def _text(value: str | bytes) -> str:
    return value.decode("latin-1") if isinstance(value, bytes) else value
