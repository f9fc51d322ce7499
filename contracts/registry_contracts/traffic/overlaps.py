"""Finds requests that overlapped with a write to the same document; their answers may show either state."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import datetime
from typing import Final

from registry_contracts.exchanges.exchange import Exchange
from registry_contracts.exchanges.request_facts import EVERYTHING, subject_of, writes

_ENDS: Final = 0
_BEGINS: Final = 1
_ENDS_AT_ONCE: Final = 2


class Overlaps:
    """Follows requests as they begin and end, and marks those that overlap with a write."""

    def __init__(self) -> None:
        self._open: dict[int, Exchange] = {}

    def begin(self, exchange: Exchange) -> None:
        """Note that a request is sent."""
        subject = subject_of(exchange.url)
        for other in self._open.values():
            theirs = subject_of(other.url)
            if subject == theirs or EVERYTHING in (subject, theirs):
                other.overlapped |= writes(exchange.method, exchange.url)
                exchange.overlapped |= writes(other.method, other.url)
        self._open[exchange.number] = exchange

    def end(self, exchange: Exchange) -> None:
        """Note that its answer has ended."""
        del self._open[exchange.number]


def mark_overlaps(exchanges: Sequence[Exchange]) -> None:
    """Mark the requests of an archive that overlapped with a write.

    A request without times counts as overlapped, and so does every request about what it may have changed.
    """
    overlaps = Overlaps()
    for _, turn, place in sorted(_turns(exchanges)):
        if turn == _BEGINS:
            overlaps.begin(exchanges[place])
        else:
            overlaps.end(exchanges[place])
    timeless = [each for each in exchanges if each.ended is None]
    changed = {subject_of(each.url) for each in timeless if writes(each.method, each.url)}
    for each in exchanges:
        subject = subject_of(each.url)
        perhaps = bool(changed) and (subject == EVERYTHING or not changed.isdisjoint((subject, EVERYTHING)))
        each.overlapped |= perhaps or each.ended is None


def _turns(exchanges: Sequence[Exchange]) -> Iterator[tuple[datetime, int, int]]:
    """Yield starts and ends by time; a request that ends as another one begins does not overlap with it."""
    for place, each in enumerate(exchanges):
        if each.started is not None and each.ended is not None:
            yield each.started, _BEGINS, place
            yield each.ended, _ENDS if each.ended > each.started else _ENDS_AT_ONCE, place
