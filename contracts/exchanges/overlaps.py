"""Which requests were under way together with a write about the same thing: their answers may show either state."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
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


class Overlaps:
    """Follows requests as they begin and end; one overlaps with the writes under way, and with those that begin."""

    def __init__(self) -> None:
        #: Of each request under way: its subject, whether it writes, the writes begun before it, and whether any of
        #: those was under way still.
        self._open: dict[int, tuple[str, bool, int, bool]] = {}
        self._begun: Counter[str] = Counter()
        self._writing: Counter[str] = Counter()

    def begin(self, number: int, method: str, url: str) -> None:
        """A request is sent, under a number of its own."""
        self.enter(number, subject_of(url), writing=writes(method, url))

    def enter(self, number: int, subject: str, *, writing: bool) -> None:
        """Like `begin`, for a request whose subject is known."""
        beside = _about(self._writing, subject) > 0
        self._open[number] = subject, writing, _about(self._begun, subject), beside
        for counter in (self._begun, self._writing) if writing else ():
            counter.update((subject, _ALL))

    def end(self, number: int) -> bool:
        """Its answer ended; returns whether a write that may change what it is about was under way beside it."""
        subject, writing, before, beside = self._open.pop(number)
        if writing:
            self._writing.subtract((subject, _ALL))
        return beside or _about(self._begun, subject) > before + writing


#: Under this name all writes are counted.
_ALL: Final = ""


def _about(counter: Counter[str], subject: str) -> int:
    """How many of some writes may change what a request is about."""
    return counter[_ALL] if subject == EVERYTHING else counter[subject] + counter[EVERYTHING]


def overlapping(spans: Sequence[Span]) -> list[bool]:
    """Say of each request of an archive whether it was under way together with a write about the same thing.

    One without times counts as overlapped, and so does everything that it may have changed.
    """
    overlaps, overlapped = Overlaps(), [span.ended is None for span in spans]
    for place, span in enumerate(spans):
        if overlapped[place] and span.writes:
            overlaps.enter(place, span.subject, writing=True)
    for _, turn, place in sorted(_turns(spans)):
        if turn == _BEGINS:
            overlaps.enter(place, spans[place].subject, writing=spans[place].writes)
        else:
            overlapped[place] = overlaps.end(place)
    return overlapped


def _turns(spans: Sequence[Span]) -> Iterator[tuple[datetime, int, int]]:
    """When which request began and ended; what ends as another one begins did not overlap with it."""
    for place, span in enumerate(spans):
        if span.started is not None and span.ended is not None:
            yield span.started, _BEGINS, place
            yield span.ended, _ENDS if span.ended > span.started else _ENDS_AT_ONCE, place
