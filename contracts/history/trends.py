"""What the history says of a clause in a realm: last green, first red, how often it flipped, what it costs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Final

from contracts.history.entries import GREEN, RED, Entry, Mark
from contracts.history.folding import advance
from contracts.history.store import History

#: Runs over which flips are counted.
WINDOW: Final = 20


@dataclass(frozen=True, slots=True)
class Trend:
    """One clause in one realm over the runs on a target.

    Attributes:
        last_green: start of the latest run in which it held; None: never.
        red_since: start of the first run of those that contradict it without a green one between; None: not red.
        flips: changes between green and red over the latest `WINDOW` runs that were either.
        verdicts: of the latest runs that judged it, oldest first.
        requests, seconds: per run, of its cases, averaged over the same runs.
    """

    clause: str
    realm: str
    last_green: str | None
    red_since: str | None
    flips: int
    verdicts: tuple[str, ...]
    requests: float
    seconds: float

    @property
    def flaky(self) -> bool:
        """Whether it came and went: one flip is a change, two are not."""
        return self.flips > 1


def trends(history: History, target: str, window: int = WINDOW) -> dict[tuple[str, str], Trend]:
    """Return the trend of each clause and realm that a run on a target judged, by clause and realm."""
    entries, folded = history.of(target), history.folded_of(target)
    old = folded.cells if folded else {}
    known: list[Mapping[str, Mapping[str, object]]] = [old, *(entry.cells for entry in entries)]
    places = {(clause, realm) for cells in known for clause, realms in cells.items() for realm in realms}
    return {
        (clause, realm): _trend(clause, realm, entries, old.get(clause, {}).get(realm), window)
        for clause, realm in sorted(places)
    }


def _trend(clause: str, realm: str, entries: Sequence[Entry], mark: Mark | None, window: int) -> Trend:
    mark = mark or Mark(None, None)
    judged = [(entry, seen) for entry in entries if (seen := entry.cells.get(clause, {}).get(realm))]
    for entry, seen in judged:
        mark = advance(mark, seen.verdict, entry.started)
    firm = [seen.verdict in RED for _, seen in judged if seen.verdict in RED | GREEN][-window:]
    latest = [seen for _, seen in judged[-window:]]
    return Trend(
        clause=clause,
        realm=realm,
        last_green=mark.last_green,
        red_since=mark.red_since,
        flips=sum(one is not other for one, other in pairwise(firm)),
        verdicts=tuple(seen.verdict for seen in latest),
        requests=sum(seen.requests for seen in latest) / len(latest) if latest else 0.0,
        seconds=sum(seen.seconds for seen in latest) / len(latest) if latest else 0.0,
    )
