"""What of a recorded message is known: the bytes that its text stands for, and whether the service sent them."""

from __future__ import annotations

import base64
import binascii
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any, Final
from urllib.parse import urlsplit

from contracts.exchanges.exchange import NO_BODY, UNKNOWN_BODY, Body, Headers, charset_of

#: How this suite says in a comment that it kept only the beginning of a body.
CUT: Final = "cut;"
#: Media types that recorders write where they do not know better.
ANY_TYPE: Final = frozenset({"", "x-unknown", "application/octet-stream", "text/plain"})
_BODILESS: Final = frozenset({"GET", "HEAD", "DELETE", "OPTIONS"})
_NO_CONTENT: Final = frozenset({204, 304})


def not_of_the_service(entry: Mapping[str, Any], headers: Headers) -> str | None:
    """What else than the service answered, or why that cannot be told; None where the service did.

    Args:
        headers: Of the answer.
    """
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
    hit = any(
        "hit" in headers.get(name, "").lower() for name in ("x-cache", "cf-cache-status", "cache-status")
    )
    if hit or (headers.first("Age") or "0").strip("0 ").isdigit():
        return "a cache on the way answered"
    return None


@dataclass(frozen=True)
class RecordedBody:
    """What an archive tells of a body.

    Attributes:
        size: Bytes, as the archive counts them; -1 where it does not say.
        packed: Sizes that are those of the body as it was sent, under a content coding.
        edited: It holds a secret, which recorders and people blank out, so that its size says little.
    """

    text: str
    in_base64: bool
    media: str
    headers: Headers
    size: int
    packed: tuple[int, ...] = ()
    edited: bool = False

    @property
    def body(self) -> Body:
        """The body, `UNKNOWN_BODY` where something contradicts it, or where it can be read in two ways."""
        listed = _essence(self.headers.first("Content-Type") or "")
        if len({_family(media) for media in (listed, _essence(self.media)) if media not in ANY_TYPE}) > 1:
            return UNKNOWN_BODY
        plain = Body.of(self.text.encode("utf-8", "surrogatepass"))
        if self.edited and isinstance(plain.json, dict):
            return plain
        contents = set(filter(self._agrees, self._readings()))
        if len(contents) != 1:
            return UNKNOWN_BODY
        body = Body.of(contents.pop())
        meant = "json" in listed or body.content.lstrip()[:1] in (b"{", b"[")
        # A recorder that cuts, or writes text in Base64 unsaid, may count what it wrote.
        return body if self._length == body.size or not meant or body.json is not None else UNKNOWN_BODY

    def _readings(self) -> Iterator[bytes]:
        """The bytes that the text may stand for."""
        decoded = _from_base64(self.text)
        if self.in_base64:
            yield from () if decoded is None else (decoded,)
            return
        yield self.text.encode("utf-8", "surrogatepass")
        measured = self._length is not None or self.size > 0
        if decoded is not None and measured:
            yield decoded
        # Of a text in another charset, and of bytes that a recorder wrote as a character each.
        charsets = (charset_of(self.headers), "latin-1" if self._length is not None else None)
        for name in filter(None, charsets):
            with suppress(UnicodeError):
                yield self.text.encode(name)

    def _agrees(self, content: bytes) -> bool:
        right = (len(content), *self.packed) if self._coded else (len(content),)
        return self._length in (None, len(content)) and self.size in (-1, *right)

    @property
    def _coded(self) -> bool:
        return bool(self.headers.first("Content-Encoding"))

    @property
    def _length(self) -> int | None:
        """Bytes, as the sender counted them; None where that is unknown, or counts packed bytes."""
        length = (self.headers.first("Content-Length") or "").strip()
        return int(length) if length.isdigit() and not self._coded else None


def _signs_in(url: str) -> bool:
    return urlsplit(url).path.endswith("/authentication/token")


def _essence(media: str) -> str:
    return media.partition(";")[0].strip().lower()


def _family(media: str) -> str:
    return "json" if "json" in media else media


def _from_base64(text: str) -> bytes | None:
    try:
        return base64.b64decode("".join(text.split()), validate=True)
    except (binascii.Error, ValueError):
        return None


def request_body(request: Mapping[str, Any], method: str, headers: Headers) -> Body:
    """What is known of the body that a request of an archive had."""
    data = request.get("postData")
    if isinstance(data, dict) and data.get("text"):
        text, comment = str(data["text"]), str(data.get("comment") or "")
        in_base64 = comment.startswith("base64") or data.get("encoding") == "base64"
        size = whole_number(request.get("bodySize"))
        if CUT in comment:
            return _beginning(text, in_base64=in_base64, size=size)
        recorded = RecordedBody(text, in_base64, str(data.get("mimeType") or ""), headers, size)
        return replace(recorded, edited=_signs_in(str(request["url"]))).body
    length = headers.first("Content-Length") or ""
    if length.isdigit():
        return NO_BODY if int(length) == 0 else UNKNOWN_BODY
    # Clients tell the length of a body that may be there, and is empty.
    told = whole_number(request.get("bodySize")) > 0 or headers.first("Transfer-Encoding")
    return NO_BODY if method in _BODILESS and not told else UNKNOWN_BODY


def response_body(
    answer: Mapping[str, Any], fields: Mapping[str, Any], method: str, status: int, headers: Headers, url: str
) -> Body:
    """What is known of the body of an answer; `fields` is its `content`."""
    text = fields.get("text")
    size, sent = whole_number(fields.get("size")), whole_number(answer.get("bodySize"))
    length = headers.first("Content-Length") or ""
    if method == "HEAD":
        return NO_BODY
    if isinstance(text, str) and text:
        in_base64 = fields.get("encoding") == "base64"
        if CUT in str(fields.get("comment") or ""):
            return _beginning(text, in_base64=in_base64, size=size)
        saved = max(whole_number(fields.get("compression")), 0)
        # Some recorders write the size of the packed body, and what unpacking adds to it.
        packed = (sent, int(length) if length.isdigit() else sent)
        unpacked = size + saved if saved else size
        recorded = RecordedBody(
            text,
            in_base64,
            str(fields.get("mimeType") or ""),
            headers,
            unpacked,
            packed if size in packed else (),
        )
        return UNKNOWN_BODY if status in _NO_CONTENT else replace(recorded, edited=_signs_in(url)).body
    if status in _NO_CONTENT:
        return NO_BODY
    # Some recorders leave the text out of what they did not keep, and write a size of zero all the same.
    if length.isdigit():
        return NO_BODY if int(length) == 0 else UNKNOWN_BODY
    return NO_BODY if size == 0 and (text == "" or sent == 0) else UNKNOWN_BODY


def _beginning(text: str, *, in_base64: bool, size: int) -> Body:
    """A body that this suite kept the beginning of."""
    content = _from_base64(text) if in_base64 else text.encode("utf-8", "surrogatepass")
    return UNKNOWN_BODY if content is None else Body(content, max(size, len(content)), whole=False)


def whole_number(value: Any) -> int:
    """A number of an archive; -1 where it holds none."""
    return int(value) if isinstance(value, int | float) and abs(value) < 2**53 else -1
