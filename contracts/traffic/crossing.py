"""Which requests were under way at the same time as one that may change what they are about."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Final
from urllib.parse import unquote, urlsplit

from contracts.traffic.passed import Passed

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
