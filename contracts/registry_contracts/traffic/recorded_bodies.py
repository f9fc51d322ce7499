"""Reads bodies of HAR entries, and recognizes answers that the service did not send."""

from __future__ import annotations

import base64
import binascii
from collections.abc import Mapping
from typing import Any, Final
from urllib.parse import urlsplit

from registry_contracts.exchanges.exchange import NO_BODY, UNKNOWN_BODY, Body, Headers
from registry_contracts.exchanges.har import CUT
from registry_contracts.exchanges.intermediaries import store

#: Recorders write these media types for unknown ones.
ANY_TYPE: Final = frozenset({"", "x-unknown", "application/octet-stream", "text/plain"})
_BODILESS: Final = frozenset({"GET", "HEAD", "DELETE", "OPTIONS"})
_NO_CONTENT: Final = frozenset({204, 304})


def not_of_the_service(entry: Mapping[str, Any], headers: Headers) -> str | None:
    """Return what answered instead of the service; None if the service did."""
    answer, cache = entry["response"], entry.get("cache")
    cached = isinstance(cache, dict) and any(cache.get(name) for name in ("beforeRequest", "afterRequest"))
    content = answer.get("content")
    size = whole_number(content.get("size")) if isinstance(content, dict) else -1
    if entry.get("_fromCache") or cached or (size > 0 and whole_number(answer.get("bodySize")) == 0):
        return "the browser's own cache answered"
    if entry.get("_fetchedViaServiceWorker") or answer.get("_fetchedViaServiceWorker"):
        return "a service worker answered"
    stub = "matched-stub-id" in headers or headers.get("x-powered-by", "").lower() == "msw"
    if stub or entry.get("_wasFulfilled"):
        return "a stub of a test answered"
    return "a cache on the way answered" if store(headers) else None


def request_body(request: Mapping[str, Any], method: str, headers: Headers) -> Body:
    """Read the body of a request, as far as it is known."""
    data, size = request.get("postData"), whole_number(request.get("bodySize"))
    if isinstance(data, dict) and data.get("text"):
        in_base64 = str(data.get("comment") or "").startswith("base64") or data.get("encoding") == "base64"
        return _body(data, headers, size, in_base64=in_base64, url=str(request["url"]))
    if (length := _length(headers)) is not None:
        return NO_BODY if length == 0 else UNKNOWN_BODY
    # Clients send Content-Length: 0 for an empty body where one is usual.
    has_body = size > 0 or headers.first("Transfer-Encoding")
    return NO_BODY if method in _BODILESS and not has_body else UNKNOWN_BODY


def response_body(
    answer: Mapping[str, Any], fields: Mapping[str, Any], method: str, status: int, headers: Headers, url: str
) -> Body:
    """Read the body of an answer, as far as it is known; `fields` is its `content`."""
    if method == "HEAD" or (status in _NO_CONTENT and not fields.get("text")):
        return NO_BODY
    text, size, sent = fields.get("text"), whole_number(fields.get("size")), answer.get("bodySize")
    if isinstance(text, str) and text and status not in _NO_CONTENT:
        saved = max(whole_number(fields.get("compression")), 0)
        # Some recorders write the size of the packed body, and what unpacking adds to it.
        packed = not saved and size in (whole_number(sent), _length(headers))
        size = -1 if packed and headers.first("Content-Encoding") else size + saved
        return _body(fields, headers, size, in_base64=fields.get("encoding") == "base64", url=url)
    # Some recorders write a size of zero for a body that they did not keep.
    if (length := _length(headers)) is not None and not text:
        return NO_BODY if length == 0 else UNKNOWN_BODY
    return NO_BODY if size == 0 and (text == "" or whole_number(sent) == 0) else UNKNOWN_BODY


def _body(fields: Mapping[str, Any], headers: Headers, size: int, *, in_base64: bool, url: str) -> Body:
    """Make a body of a text; unknown if its type, its length or the size in the archive (-1: none) contradicts it."""
    text, listed = str(fields["text"]), _essence(headers.first("Content-Type") or "")
    content = _from_base64(text) if in_base64 else text.encode("utf-8", "surrogatepass")
    families = {_family(media) for media in (listed, _essence(str(fields.get("mimeType") or "")))}
    if content is None or len(families - ANY_TYPE) > 1:
        return UNKNOWN_BODY
    if CUT in str(fields.get("comment") or ""):
        return Body(content, max(size, len(content)), whole=False)
    body = Body.of(content)
    # Passwords and tokens are often blanked out, so the size of a sign-in says little.
    if urlsplit(url).path.endswith("/authentication/token") and isinstance(body.json, dict):
        return body
    length = None if headers.first("Content-Encoding") else _length(headers)
    if length not in (None, body.size) or size not in (-1, body.size):
        return UNKNOWN_BODY
    meant = "json" in listed or content.lstrip()[:1] in (b"{", b"[")
    # A recorder that cuts a text, or writes it in Base64 without saying so, may count what it wrote.
    return body if length == body.size or not meant or body.json is not None else UNKNOWN_BODY


def _length(headers: Headers) -> int | None:
    """Return the Content-Length in bytes; None if unknown."""
    length = (headers.first("Content-Length") or "").strip()
    return int(length) if length.isdigit() else None


def _essence(media: str) -> str:
    return media.partition(";")[0].strip().lower()


def _family(media: str) -> str:
    return "json" if "json" in media else media


def _from_base64(text: str) -> bytes | None:
    try:
        return base64.b64decode("".join(text.split()), validate=True)
    except (binascii.Error, ValueError):
        return None


def whole_number(value: Any) -> int:
    """Return a number of an archive as an integer; -1 if it is none."""
    return int(value) if isinstance(value, int | float) and abs(value) < 2**53 else -1
