"""Overlap: which requests were under way at the same time as one that may change what they are about."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Final
from urllib.parse import unquote, urlsplit

from contracts.exchanges.exchange import Exchange

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
    overlapped: bool = False

    def meets(self, other: _UnderWay) -> None:
        """Note on both sides that two requests are under way together."""
        if self.subject == other.subject or EVERYTHING in (self.subject, other.subject):
            self.overlapped = self.overlapped or other.writes
            other.overlapped = other.overlapped or self.writes


class Overlaps:
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
        return self._under_way.pop(number).overlapped


def overlapping(exchanges: Iterable[Exchange]) -> list[Exchange]:
    """Mark the exchanges of an archive that were under way together with a write about the same thing.

    One without times counts as overlapped, and so does everything that it may have changed: nobody knows when it was.
    """
    listed = list(exchanges)
    overlaps, overlapped = Overlaps(), [exchange.ended is None for exchange in listed]
    for place, exchange in enumerate(listed):
        if overlapped[place] and writes(exchange.method, exchange.url):
            overlaps.begin(place, exchange.method, exchange.url)
    for _, turn, place in sorted(_turns(listed)):
        if turn == _BEGINS:
            overlaps.begin(place, listed[place].method, listed[place].url)
        else:
            overlapped[place] = overlaps.end(place)
    return [
        replace(each, overlapped=each.overlapped or overlapped[place]) for place, each in enumerate(listed)
    ]


def _turns(exchanges: list[Exchange]) -> Iterator[tuple[datetime, int, int]]:
    """When which exchange began and ended; what ends as another one begins did not overlap with it."""
    for place, exchange in enumerate(exchanges):
        if exchange.started is not None and exchange.ended is not None:
            yield exchange.started, _BEGINS, place
            yield exchange.ended, _ENDS if exchange.ended > exchange.started else _ENDS_AT_ONCE, place
