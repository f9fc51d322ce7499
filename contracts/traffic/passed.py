"""One exchange of somebody's traffic, as far as it is known: what was not recorded is not taken for absent."""

from __future__ import annotations

import zlib
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

from contracts.session.exchange import Answer, Exchange

Pairs = tuple[tuple[str, str], ...]

#: Names by which the checks look for headers; HTTP/2 writes all of them in small letters.
_USUAL: Final = {name.lower(): name for name in ("Authorization", "Realm", "Content-Type", "Accept")}
#: What a packed body may become when it is unpacked; more is not judged.
_UNPACKED: Final = 16 * 1024 * 1024
_CASE: Final = "traffic"


@dataclass(frozen=True)
class Body:
    """A body, or what is known of it.

    Attributes:
        content: Its bytes, or their beginning.
        size: Bytes in all, as far as somebody counted.
        known: Whether `content` is all of it.
    """

    content: bytes = b""
    size: int = 0
    known: bool = True

    @classmethod
    def of(cls, content: bytes) -> Body:
        """A body that is known as a whole."""
        return cls(content, len(content))


#: A body that was there and was not recorded.
UNKNOWN: Final = Body(known=False)


@dataclass(frozen=True)
class Passed:
    """One exchange.

    Attributes:
        number: Counted from one; its place in the traffic.
        at: When the request was sent; None when nobody noted it.
        seconds: Until the end of the answer; None when nobody measured it.
        url: With scheme and host, raw.
        status: Of the answer; 0 for none.
        fault: Why there is no answer of the service, in a few words.
        crossed: Another request that may change the same thing was under way at the same time.
        comment: What the recorder wrote beside it.
    """

    number: int
    at: datetime | None
    seconds: float | None
    method: str
    url: str
    request_headers: Pairs
    request_body: Body
    status: int = 0
    reason: str = ""
    answer_headers: Pairs = ()
    answer_body: Body = Body()
    fault: str | None = None
    crossed: bool = False
    comment: str = ""

    @property
    def ended(self) -> datetime | None:
        """When the answer ended; None when that cannot be told."""
        if self.at is None or self.seconds is None:
            return None
        return self.at + timedelta(seconds=self.seconds)

    def header(self, name: str) -> str | None:
        """The first value of a header of the request, its name in any case."""
        return first(self.request_headers, name)

    def exchange(self) -> Exchange:
        """The exchange as the checks read it; a body that is not known is empty there."""
        answer = None
        if self.status and self.fault is None:
            body = self.answer_body
            answer = Answer(
                self.status,
                self.reason,
                dict(_joined((name.lower(), value) for name, value in self.answer_headers)),
                body.content if body.known else b"",
                self.url,
            )
        headers = _joined((_USUAL.get(name.lower(), name), value) for name, value in self.request_headers)
        return Exchange(
            id=f"entry {self.number}",
            case=_CASE,
            attempt=1,
            realm="",
            role="",
            operation=None,
            method=self.method,
            url=self.url,
            request_headers=headers,
            request_body=self.request_body.content if self.request_body.known else b"",
            seconds=self.seconds or 0.0,
            fault=self.fault if answer is None else None,
            response=answer,
        )


def first(pairs: Pairs, name: str) -> str | None:
    """The first value of a header, its name in any case."""
    return next((value for key, value in pairs if key.lower() == name.lower()), None)


def unpacked(content: bytes, coding: str) -> bytes | None:
    """The bytes of a body without its Content-Encoding; None when it cannot be taken off here.

    Args:
        coding: Value of the Content-Encoding header, empty for none.
    """
    for name in reversed([each.strip().lower() for each in coding.split(",") if each.strip()]):
        if name == "identity":
            continue
        if name not in ("gzip", "x-gzip", "deflate") or not content:
            return None if content else content
        unpacking = zlib.decompressobj(zlib.MAX_WBITS | 32)
        try:
            content = unpacking.decompress(content, _UNPACKED)
        except zlib.error:
            return None
        if not unpacking.eof:
            return None
    return content


def _joined(pairs: Iterable[tuple[str, str]]) -> dict[str, str]:
    found: dict[str, str] = {}
    for name, value in pairs:
        found[name] = f"{found[name]}, {value}" if name in found else value
    return found
