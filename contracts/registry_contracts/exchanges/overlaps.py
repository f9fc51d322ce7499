"""Which requests were under way together with a write about the same thing: their answers may show either state."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final
from urllib.parse import unquote, urlsplit

from registry_contracts.exchanges.exchange import Exchange

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
    match = _SUBJECT.search(urlsplit(url).path)
    name = unquote(match["name"]) if match else ""
    return EVERYTHING if not name or name == "schemas" else name


def writes(method: str, url: str) -> bool:
    """Whether a request may change anything; signing in does not."""
    return method.upper() not in _READS and not urlsplit(url).path.endswith(_SIGN_IN)


@dataclass(frozen=True, slots=True)
class Span:
    """When a request was under way, None where unknown, and what it is about."""

    subject: str
    writes: bool
    started: datetime | None
    ended: datetime | None


def span_of(exchange: Exchange) -> Span:
    """The span of an exchange."""
    method, url = exchange.method, exchange.url
    return Span(subject_of(url), writes(method, url), exchange.started, exchange.ended)


@dataclass(slots=True)
class _UnderWay:
    subject: str
    writes: bool
    overlapped: bool


class Overlaps:
    """Follows requests as they begin and end; one overlaps with the writes under way, and with those that begin."""

    def __init__(self) -> None:
        self._open: dict[int, _UnderWay] = {}

    def begin(self, number: int, subject: str, *, writing: bool) -> None:
        """A request is sent, under a number of its own."""
        beside = [each for each in self._open.values() if _touch(each.subject, subject)]
        for each in beside:
            each.overlapped |= writing
        self._open[number] = _UnderWay(subject, writing, any(each.writes for each in beside))

    def end(self, number: int) -> bool:
        """Its answer ended; returns whether a write that may change what it is about was under way beside it."""
        return self._open.pop(number).overlapped


def _touch(one: str, other: str) -> bool:
    """Whether what one request is about may be what another one is about."""
    return one == other or EVERYTHING in (one, other)


def overlapping(spans: Sequence[Span]) -> list[bool]:
    """Say of each request of an archive whether it was under way together with a write about the same thing.

    One without times counts as overlapped, and so does everything that it may have changed.
    """
    changed = {span.subject for span in spans if span.writes and span.ended is None}
    overlaps, overlapped = Overlaps(), [span.ended is None for span in spans]
    for _, turn, place in sorted(_turns(spans)):
        span = spans[place]
        if turn == _BEGINS:
            overlaps.begin(place, span.subject, writing=span.writes)
        else:
            everything = bool(changed) and span.subject == EVERYTHING
            unsure = everything or not changed.isdisjoint((span.subject, EVERYTHING))
            overlapped[place] = overlaps.end(place) or unsure
    return overlapped


def _turns(spans: Sequence[Span]) -> Iterator[tuple[datetime, int, int]]:
    """When which request began and ended; what ends as another one begins did not overlap with it."""
    for place, span in enumerate(spans):
        if span.started is not None and span.ended is not None:
            yield span.started, _BEGINS, place
            yield span.ended, _ENDS if span.ended > span.started else _ENDS_AT_ONCE, place
