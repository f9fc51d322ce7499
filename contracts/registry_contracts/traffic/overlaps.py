"""Finds requests that overlapped with a write to the same document; their answers may show either state."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from registry_contracts.exchanges.exchange import Exchange
from registry_contracts.exchanges.request_facts import EVERYTHING, subject_of, writes

_ENDS: Final = 0
_BEGINS: Final = 1
_ENDS_AT_ONCE: Final = 2


@dataclass(slots=True)
class Span:
    """A request under way: its subject, its start and end (None if unknown), and whether it overlapped with a write."""

    subject: str
    writes: bool
    started: datetime | None = None
    ended: datetime | None = None
    overlapped: bool = False

    @classmethod
    def of(cls, exchange: Exchange) -> Span:
        """Return the span of an exchange."""
        method, url = exchange.method, exchange.url
        return cls(subject_of(url), writes(method, url), exchange.started, exchange.ended)


class Overlaps:
    """Follows requests as they begin and end, and notes which of them overlap with a write."""

    def __init__(self) -> None:
        self._open: dict[int, Span] = {}

    def begin(self, number: int, span: Span) -> None:
        """Note that a request is sent, under a number of its own."""
        for other in self._open.values():
            if other.subject == span.subject or EVERYTHING in (other.subject, span.subject):
                other.overlapped |= span.writes
                span.overlapped |= other.writes
        self._open[number] = span

    def end(self, number: int) -> bool:
        """Note that its answer has ended, and return whether it overlapped with a write."""
        return self._open.pop(number).overlapped


def overlapping(exchanges: Iterable[Exchange]) -> list[bool]:
    """Return for each request of an archive whether it overlapped with a write.

    A request without times counts as overlapped, and so does every request about what it may have changed.
    """
    spans = [Span.of(each) for each in exchanges]
    changed = {span.subject for span in spans if span.writes and span.ended is None}
    overlaps, overlapped = Overlaps(), [span.ended is None for span in spans]
    for _, turn, place in sorted(_turns(spans)):
        span = spans[place]
        if turn == _BEGINS:
            overlaps.begin(place, span)
        else:
            everything = bool(changed) and span.subject == EVERYTHING
            unsure = everything or not changed.isdisjoint((span.subject, EVERYTHING))
            overlapped[place] = overlaps.end(place) or unsure
    return overlapped


def _turns(spans: Sequence[Span]) -> Iterator[tuple[datetime, int, int]]:
    """Yield starts and ends by time; a request that ends as another one begins does not overlap with it."""
    for place, span in enumerate(spans):
        if span.started is not None and span.ended is not None:
            yield span.started, _BEGINS, place
            yield span.ended, _ENDS if span.ended > span.started else _ENDS_AT_ONCE, place
