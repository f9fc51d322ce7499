"""Confirmation: a contradiction counts when it is seen again on fresh data (design 4.6)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from contracts.judging.attempts import Attempt
from contracts.judging.outcomes import Evidence

#: Replays of a case before a contradiction that does not come back is dismissed as unconfirmed.
MOST_REPLAYS = 3
#: Requests of replays after which no further one is begun: a long case is played once more at most.
MOST_REQUESTS = 120


@dataclass(frozen=True)
class Confirmed:
    """Evidence with how often it was reproduced.

    Attributes:
        reproduced, attempts: The rate; 1 of n is unconfirmed.
    """

    evidence: Evidence
    reproduced: int
    attempts: int

    @property
    def confirmed(self) -> bool:
        """Seen at least twice, each time on fresh data."""
        return self.reproduced >= 2


def confirm(attempts: Sequence[Attempt]) -> Iterator[Confirmed]:
    """One entry for each finding of the attempts, with its rate.

    The evidence is that of the attempt that saw it first; where a generator shrank its example, the last of that
    attempt, which is the smallest.
    """
    first: dict[tuple[str, str], Evidence] = {}
    for attempt in attempts:
        smallest = {evidence.key: evidence for evidence in attempt.evidence}
        first = smallest | first
    for key, evidence in first.items():
        rates = [attempt.confirmed[key] for attempt in attempts if key in attempt.confirmed]
        seen = sum(key in attempt.keys for attempt in attempts)
        reproduced, tried = max(rates, default=(seen, len(attempts)))
        yield Confirmed(evidence, reproduced, tried)
