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
    """When a request was under way, and what it is about.

    Attributes:
        started, ended: None where unknown.
    """

    subject: str
    writes: bool
    started: datetime | None
    ended: datetime | None


def span_of(exchange: Exchange) -> Span:
    """The span of an exchange."""
    method, url = exchange.method, exchange.url
    return Span(subject_of(url), writes(method, url), exchange.started, exchange.ended)


class Overlaps:
    """Follows requests as they begin and end, in time that does not grow with how many are under way.

    Each request that one overlaps with is noted once: after that it need not be looked at again.
    """

    def __init__(self) -> None:
        self._subjects: dict[int, tuple[str, bool]] = {}
        self._overlapped: set[int] = set()
        #: Writes under way by what they are about, and the requests there that overlap with none so far.
        self._writing: Counter[str] = Counter()
        self._writers = 0
        self._alone: dict[str, set[int]] = {}

    def begin(self, number: int, method: str, url: str) -> None:
        """A request is sent.

        Args:
            number: Its own; another one for each that is under way.
        """
        self.enter(number, subject_of(url), writing=writes(method, url))

    def enter(self, number: int, subject: str, *, writing: bool) -> None:
        """Like `begin`, for a request whose subject is known."""
        self._subjects[number] = subject, writing
        everything = subject == EVERYTHING
        beside = self._writers if everything else self._writing[subject] + self._writing[EVERYTHING]
        if writing:
            for met in list(self._alone) if everything else (subject, EVERYTHING):
                self._overlapped |= self._alone.pop(met, set())
            self._writing[subject] += 1
            self._writers += 1
        if beside:
            self._overlapped.add(number)
        else:
            self._alone.setdefault(subject, set()).add(number)

    def end(self, number: int) -> bool:
        """Its answer ended; returns whether a write that may change what it is about was under way beside it."""
        subject, writing = self._subjects.pop(number)
        if writing:
            self._writing[subject] -= 1
            self._writers -= 1
            if not self._writing[subject]:
                del self._writing[subject]
        overlapped = number in self._overlapped
        self._overlapped.discard(number)
        left = self._alone.get(subject, set())
        left.discard(number)
        if not left:
            self._alone.pop(subject, None)
        return overlapped


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
