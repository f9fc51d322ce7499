"""Who plays a sequence of calls and by which clauses it is judged, for one attempt at a case."""

from __future__ import annotations

import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from contracts.generation.arrangement import Arrangement
from contracts.generation.model import Step
from contracts.generation.samples import Samples
from contracts.judging.attempts import Attempt
from contracts.judging.claims import Claims
from contracts.judging.outcomes import Contradiction, Evidence
from contracts.session.actor import Actor
from contracts.session.exchange import Exchange
from contracts.session.namespace import Namespace

#: A should is judged until it was contradicted on this many documents: enough to be sure of it.
SURE = 2
#: Seconds between one look for a late effect and the next; eight in all.
_WAITS = (0.25, 0.25, 0.5, 1.0, 2.0, 4.0)

Key = tuple[str, str]


@dataclass
class Cast:
    """Everything that a play needs.

    Attributes:
        other: The second account; None when the settings name none, and nothing of it is played.
        off: Families of steps that cannot be played, with the reason: a setting is missing or an operation that
            other cases judge does not work. The rest goes on.
        worked: Operations that have worked at least once. One that never did is for other cases to judge.
        doubts: Shoulds that were contradicted, with the sequence that first led to it.
        attachments: How many attachments may still be created; they cannot be removed.
    """

    author: Actor
    other: Actor | None
    claim: Claims
    arrange: Arrangement
    samples: Samples
    fresh: Namespace
    attempt: Attempt
    attachments: int = 0
    off: dict[str, str] = field(default_factory=dict)
    worked: set[str] = field(default_factory=set)
    doubts: dict[Key, tuple[Step, ...]] = field(default_factory=dict)
    _contradicted: dict[Key, set[str]] = field(default_factory=lambda: defaultdict(set))
    _rehearsing: bool = False

    def actor(self, role: str) -> Actor | None:
        """The actor of a role."""
        return self.author if role == "author" else self.other

    @property
    def sent(self) -> int:
        """Requests sent on behalf of the attempt."""
        return len(self.attempt.exchanges)

    def must(self, key: Key, holds: bool, exchanges: list[Exchange], *, expected: str, seen: str) -> None:
        """Judge a must.

        Raises:
            Contradiction: it does not hold.
        """
        self.claim(*key).holds(holds, *exchanges, expected=expected, seen=seen)

    def should(
        self,
        key: Key,
        holds: bool,
        uid: str,
        exchanges: list[Exchange],
        *,
        expected: str,
        seen: str,
        steps: Iterable[Step],
    ) -> None:
        """Judge a should on one document; once it was contradicted on enough of them it is not judged any more."""
        if self.sure_of(key) or self._rehearsing:
            return
        if not holds and uid in self._contradicted[key]:
            return
        self.claim(*key).holds(holds, *exchanges, expected=expected, seen=seen)
        if not holds:
            self._contradicted[key].add(uid)
            self.doubts.setdefault(key, tuple(steps))

    def sure_of(self, key: Key) -> bool:
        """Whether a should was contradicted on enough documents."""
        return len(self._contradicted[key]) >= SURE

    def known(self, key: Key, uid: str) -> bool:
        """Whether a should need not be waited for: it was contradicted on this document, or often enough."""
        return uid in self._contradicted[key] or self.sure_of(key) or self._rehearsing

    def eventually(self, look: Callable[[], bool]) -> bool:
        """Whether an effect shows within a few seconds; looks less and less often, as each look is a request."""
        for seconds in _WAITS:
            time.sleep(seconds)
            if look():
                return True
        return False

    @contextmanager
    def rehearsal(self) -> Iterator[None]:
        """Play without leaving evidence: for finding out whether a shorter sequence contradicts too."""
        evidence, contradicted = len(self.attempt.evidence), self.attempt.contradicted.copy()
        self._rehearsing = True
        try:
            yield
        finally:
            self._rehearsing = False
            del self.attempt.evidence[evidence:]
            self.attempt.contradicted = contradicted

    def conclude(self, found: Contradiction, best: Evidence, reproduced: int, tried: int) -> None:
        """Put the best evidence of a contradiction in the place of the first, with its rate."""
        self.attempt.evidence.remove(found.evidence)
        self.attempt.contradicted -= Counter([found.evidence.key])
        self.attempt.note(best)
        self.attempt.confirmed[best.key] = (reproduced, tried)

    def settle(self) -> None:
        """A should that was contradicted on several documents, each of them fresh, needs no replay."""
        for key, uids in self._contradicted.items():
            if len(uids) >= SURE:
                self.attempt.confirmed[key] = (len(uids), len(uids))
