"""Plays sequences within a budget, until something is found or nothing can be played."""

from __future__ import annotations

import time
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from contracts.errors import EnvironmentFault
from contracts.generation.model import Step
from contracts.generation.model_cast import Cast
from contracts.generation.model_play import Play
from contracts.generation.model_shortening import candidates
from contracts.judging.outcomes import Blocked, Contradiction

#: Requests that it may cost to see shoulds contradicted a second time.
_LOOKING_AGAIN: Final = 60


@dataclass(frozen=True)
class Budget:
    """What one case may cost.

    Attributes:
        requests: Sent before a contradiction, about; the only limit of a gate, which has to do the same thing twice.
        seconds: After which no new sequence is begun; None for no limit.
        attachments: Created at most; they cannot be removed.
    """

    requests: int
    seconds: float | None
    attachments: int


GATE: Final = Budget(requests=145, seconds=None, attachments=3)
#: A replay of the case plays what is saved, which is what contradicted just now, and the tour.
REPLAY: Final = Budget(requests=145, seconds=None, attachments=2)
#: Saved sequences have a budget of their own, so that they never take the place of the tour.
AGAIN: Final = Budget(requests=150, seconds=None, attachments=4)
NIGHTLY: Final = Budget(requests=3000, seconds=60.0, attachments=12)


def budget_of(attempt: int, *, thorough: bool) -> Budget:
    """The budget of an attempt at the case: a replay looks for one thing only."""
    if attempt > 1:
        return REPLAY
    return NIGHTLY if thorough else GATE


class Exploration:
    """Plays sequences until something is found, the budget is used up, or nothing can be played."""

    def __init__(self, cast: Cast, budget: Budget) -> None:
        self.cast = cast
        self.found: tuple[Contradiction, tuple[Step, ...]] | None = None
        self.obstacle: Blocked | EnvironmentFault | None = None
        self.blocked: tuple[Step, ...] = ()
        self._requests = cast.sent + budget.requests
        self._deadline = None if budget.seconds is None else time.monotonic() + budget.seconds
        cast.attachments = budget.attachments

    @property
    def ended(self) -> bool:
        """Whether something was found, or nothing can be played."""
        return self.found is not None or self.obstacle is not None

    @property
    def over(self) -> bool:
        """Whether nothing more is to be sent."""
        late = self._deadline is not None and time.monotonic() > self._deadline
        return self.ended or late or self.cast.sent >= self._requests

    def play(self, steps: Iterable[Step], play: Play | None = None) -> None:
        """Play steps, on fresh documents or on those of a play that goes on."""
        play = play or Play(self.cast)
        try:
            for step in steps:
                if self.over:
                    return
                play.do(step)
        except Contradiction as found:
            self.found = found, tuple(play.scene.steps)
        except (Blocked, EnvironmentFault) as obstacle:
            self.obstacle, self.blocked = obstacle, tuple(play.scene.steps)

    def look_again(self) -> None:
        """See shoulds that were contradicted on one document only on others too, in sequences as short as may be."""
        self._requests, self._deadline = self.cast.sent + _LOOKING_AGAIN, None
        for key, steps in list(self.cast.doubts.items()):
            for candidate in candidates(steps):
                if not self.cast.sure_of(key):
                    self.play(candidate)
