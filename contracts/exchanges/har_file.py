"""Reads a HAR file (HTTP Archive 1.2) as browsers, proxies and test tools write it: who was asked for what."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import SplitResult, parse_qs, urlsplit

from contracts.errors import UsageError
from contracts.settings.toml_file import is_file

_WEB = ("", "http", "https")


@dataclass(frozen=True)
class Sent:
    """One request of the file: method in capitals, host and raw path, and the realm it named.

    Query and credentials of the address are left behind.
    """

    method: str
    host: str
    path: str
    realm: str | None


@dataclass(frozen=True)
class Traffic:
    """What a HAR file holds; `unreadable` counts entries without a method or a web address."""

    requests: tuple[Sent, ...]
    unreadable: int


def read_har(path: Path, shown: str) -> Traffic:
    """Read a HAR file.

    Args:
        path: Where it is.
        shown: The path as messages show it.

    Raises:
        UsageError: it cannot be read, was cut short, is no HAR, or holds no request; one line.
    """
    found = [_sent(entry) for entry in har_entries(path, shown)]
    requests = tuple(sent for sent in found if sent is not None)
    return Traffic(requests, len(found) - len(requests))


def har_entries(path: Path, shown: str) -> list[Any]:
    """Read the entries of a HAR file as they stand in it; arguments and errors as for `read_har`."""
    content = _content(path, shown)
    log = content.get("log") if isinstance(content, dict) else None
    entries = log.get("entries") if isinstance(log, dict) else None
    if not isinstance(entries, list):
        raise UsageError(
            f"{shown}: is JSON, but no HAR: it has no list log.entries; export the traffic as HAR"
        )
    if not entries:
        raise UsageError(f"{shown}: holds no request; record some traffic first, with the recorder running")
    return entries


def _content(path: Path, shown: str) -> Any:
    if not is_file(path):
        raise UsageError(f"no HAR file '{shown}': name a file that is there")
    try:
        text = path.read_bytes().decode("utf-8-sig")
    except OSError as error:
        raise UsageError(f"{shown}: cannot be read: {error.strerror}; check its permissions") from None
    except UnicodeDecodeError:
        raise UsageError(f"{shown}: is no HAR: it is not UTF-8 text; unpack it if it is compressed") from None
    if not text.strip():
        raise UsageError(f"{shown}: is empty; record the traffic again, and export it as HAR")
    try:
        return json.loads(text)
    except json.JSONDecodeError as error:
        raise _fault(shown, text, error) from None
    except (ValueError, RecursionError):
        raise UsageError(f"{shown}: is no HAR: it nests too deep, or holds a number too long") from None


def _fault(shown: str, text: str, error: json.JSONDecodeError) -> UsageError:
    if not text.lstrip().startswith("{"):
        return UsageError(
            f"{shown}: is no HAR: a HAR is JSON and begins with a brace; export the traffic as HAR"
        )
    # A string that was cut is reported where it starts.
    if error.pos >= len(text.rstrip()) or error.msg.startswith("Unterminated string"):
        last = text.count("\n", 0, len(text.rstrip())) + 1
        return UsageError(f"{shown}: was cut short: it ends in the middle, at line {last}; export it again")
    return UsageError(
        f"{shown}:{error.lineno}: is no HAR: not JSON at column {error.colno}: {error.msg}; export it again"
    )


def _sent(entry: Any) -> Sent | None:
    request = entry.get("request") if isinstance(entry, dict) else None
    if not isinstance(request, dict):
        return None
    method, url = request.get("method"), request.get("url")
    if not isinstance(method, str) or not method.strip() or not isinstance(url, str):
        return None
    try:
        parts = urlsplit(url)
        host = parts.hostname or ""
    except ValueError:
        return None
    if parts.scheme not in _WEB or not parts.path:
        return None
    realm = next(_realms(request.get("headers"), parts), None)
    return Sent(method.strip().upper(), host, parts.path, realm)


def _realms(headers: Any, address: SplitResult) -> Iterator[str]:
    for header in headers if isinstance(headers, list) else ():
        if isinstance(header, dict) and str(header.get("name")).lower() == "realm":
            yield str(header.get("value"))
    yield from parse_qs(address.query).get("Realm", [])
