"""One exchange of somebody's traffic, as far as it is known: what was not recorded is not taken for absent.

Which requests were under way at the same time as one that may change what they are about.
"""

from __future__ import annotations

import re
import zlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Final
from urllib.parse import unquote, urlsplit

from contracts.exchanges.exchange import Exchange, Response

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
            answer = Response(
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


_SUBJECT: Final = re.compile(r"/api/v\d+/documents/(?:schemas/[^/]+/)?(?P<name>[^/]+)")
_READS: Final = frozenset({"GET", "HEAD", "OPTIONS"})
_SIGN_IN: Final = "/authentication/token"
#: Lists, creations whose identifier stands in the body, and everything else that names no document.
EVERYTHING: Final = "*"
_ENDS: Final = 0
_BEGINS: Final = 1
_ENDS_AT_ONCE: Final = 2


def subject_of(url: str) -> str:
    """The document that a request is about, as its address names it; `EVERYTHING` where it names none."""
    found = _SUBJECT.search(urlsplit(url).path)
    name = unquote(found["name"]) if found else ""
    return EVERYTHING if not name or name == "schemas" else name


def writes(method: str, url: str) -> bool:
    """Whether a request may change anything; signing in does not."""
    return method.upper() not in _READS and not urlsplit(url).path.endswith(_SIGN_IN)


@dataclass
class _UnderWay:
    subject: str
    writes: bool
    crossed: bool = False

    def meets(self, other: _UnderWay) -> None:
        """Note on both sides that two requests are under way together."""
        if self.subject == other.subject or EVERYTHING in (self.subject, other.subject):
            self.crossed = self.crossed or other.writes
            other.crossed = other.crossed or self.writes


class Crossings:
    """Follows requests as they begin and end."""

    def __init__(self) -> None:
        self._under_way: dict[int, _UnderWay] = {}

    def begin(self, number: int, method: str, url: str) -> None:
        """A request is sent.

        Args:
            number: Its own; another one for each that is under way.
        """
        begun = _UnderWay(subject_of(url), writes(method, url))
        for other in self._under_way.values():
            begun.meets(other)
        self._under_way[number] = begun

    def end(self, number: int) -> bool:
        """Its answer ended; returns whether a write that may change what it is about was under way beside it."""
        return self._under_way.pop(number).crossed


def crossed(exchanges: Iterable[Passed]) -> list[Passed]:
    """Mark the exchanges of an archive that were under way together with a write about the same thing.

    One without times counts as crossed, and so does everything that it may have changed: nobody knows when it was.
    """
    known = list(exchanges)
    follow, found = Crossings(), [each.ended is None for each in known]
    for place, each in enumerate(known):
        if found[place] and writes(each.method, each.url):
            follow.begin(place, each.method, each.url)
    for _, turn, place in sorted(_turns(known)):
        if turn == _BEGINS:
            follow.begin(place, known[place].method, known[place].url)
        else:
            found[place] = follow.end(place)
    return [replace(each, crossed=True) if found[place] else each for place, each in enumerate(known)]


def _turns(known: list[Passed]) -> Iterator[tuple[datetime, int, int]]:
    """When which exchange began and ended; what ends as another one begins was not beside it."""
    for place, each in enumerate(known):
        if each.at is not None and each.ended is not None:
            yield each.at, _BEGINS, place
            yield each.ended, _ENDS if each.ended > each.at else _ENDS_AT_ONCE, place
