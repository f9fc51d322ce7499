"""Makes a sequence that ended in a contradiction shorter, and by that confirms it: each try is on fresh documents."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from contracts.generation.model import FOREIGN, LOOKS, Action, Step
from contracts.generation.model_cast import Cast
from contracts.generation.model_play import contradicted_by
from contracts.judging.outcomes import Blocked, Contradiction, Evidence

#: Requests and seconds that shortening and confirming may cost, about.
REQUESTS: Final = 110
SECONDS: Final = 40.0
#: Attachments that it may create; they cannot be removed.
ATTACHMENTS: Final = 6
#: A look that went wrong is repeated so often when no sequence brings it back: it may go wrong now and then.
_INSISTENCE: Final = 30

#: What a deletion is judged by, and what a draft is judged by.
_CHECKED: Final = (Action.SAVE, Action.DELETE, Action.EXISTS, Action.SUBMIT_FAULTY)
_DRAFTING: Final = (*_CHECKED, *FOREIGN, Action.READ)

Steps = tuple[Step, ...]


@dataclass
class Shortened:
    """The shortest sequence found, its evidence, and how often the contradiction came back in how many tries."""

    steps: Steps
    evidence: Evidence
    reproduced: int = 1
    tried: int = 1


class Shortener:
    """Shortens one contradiction within a request budget.

    Args:
        found: The contradiction.
        steps: The sequence that led to it; its last step is the one that showed it.
    """

    def __init__(self, cast: Cast, found: Contradiction, steps: Steps) -> None:
        self._cast = cast
        self._best = Shortened(steps, found.evidence)
        self._end = cast.sent + REQUESTS
        self._deadline = time.monotonic() + SECONDS
        cast.attachments = ATTACHMENTS

    def run(self) -> Shortened:
        """Try what most likely is enough, then leave out more and more of it; at last play what is left once more."""
        narrowed = narrow(self._best.steps)
        if narrowed:
            self._contradicts(narrowed, narrowing=True)
        if not any(self._contradicts(candidate) for candidate in candidates(self._best.steps)):
            return self._best
        self._leave_out()
        if self._affords(self._best.steps) and not self._contradicts(self._best.steps):
            self._best.tried += 1
        return self._best

    def _leave_out(self) -> None:
        """Leave out runs of steps that are not needed, long ones first."""
        size = len(self._best.steps) // 2
        while size:
            at = 0
            while at + size < len(self._best.steps):
                steps = self._best.steps
                if not self._contradicts((*steps[:at], *steps[at + size :])):
                    at += size
            size //= 2

    def _affords(self, steps: Steps) -> bool:
        """Whether the budget lasts for one more play of a sequence."""
        return len(steps) <= self._end - self._cast.sent and time.monotonic() < self._deadline

    def _contradicts(self, steps: Steps, *, narrowing: bool = False) -> bool:
        """Whether a sequence contradicts the same clause, on fresh documents; if so it is the best one so far.

        Args:
            narrowing: Another clause will do: the sequence was made to tell which one it is.
        """
        if not self._affords(steps):
            return False
        try:
            with self._cast.rehearsal():
                outcome = contradicted_by(self._cast, steps)
        except Blocked:
            return False
        if outcome is None or not (narrowing or outcome[0].evidence.key == self._best.evidence.key):
            return False
        found, scene = outcome
        self._best.tried += 1
        self._best.reproduced += 1
        self._best.steps, self._best.evidence = tuple(scene.steps), found.evidence
        return True


def narrow(steps: Steps) -> Steps | None:
    """The same sequence with the draft read after every change since it was last read, to see which one it was.

    None when there was no more than one, or when the last step shows something else than a draft.
    """
    *before, last = steps
    if last.action not in (Action.READ, Action.EXISTS, Action.INFO, Action.DELETE):
        return None
    around = [step for step in before if step.action not in LOOKS or step.document == last.document]
    reading = Step(Action.READ, last.document)
    since = len(around) - around[::-1].index(reading) if reading in around else 0
    if sum(step.action not in LOOKS for step in around[since:]) < 2:
        return None
    watched = [each for step in around[since:] for each in _watched(step, reading)]
    return (*around[:since], *watched, last)


def _watched(step: Step, reading: Step) -> Steps:
    return (step,) if step.action in LOOKS else (step, reading)


def candidates(steps: Steps) -> Iterator[Steps]:
    """Sequences that likely contradict too, short ones first; all end in the same step.

    They hold the latest of what changed its document, of what changed anything, and of what was looked at in between;
    before the long ones comes the step itself again and again, as it may go wrong only now and then.
    """
    *before, last = steps
    own = [step for step in before if step.document == last.document]
    touched = [step for step in own if step.action not in LOOKS]
    changes = [step for step in touched if step.action not in FOREIGN]
    checked = [step for step in own if step.action in _CHECKED]
    drafting = [step for step in own if step.action in (*_DRAFTING, last.action)]
    around = [step for step in before if step.action not in LOOKS or step.document == last.document]
    ends = [*_ends(changes, 1, 2, 3, 4, 6), *_ends(touched, 3), *_ends(drafting, 3, 6), *_ends(checked, 8)]
    ends += [*_ends(around, 4, 8), (*changes[-3:], *[last] * _INSISTENCE), *_ends(drafting, 10)]
    ends += [*_ends(around, 16), tuple(own), tuple(before)]
    for end in dict.fromkeys(ends):
        if end:
            yield (*end, last)


def _ends(steps: Sequence[Step], *lengths: int) -> list[Steps]:
    return [tuple(steps[-length:]) for length in lengths]
