"""Generates sequences of calls: a fixed tour that holds the ones known to reveal much, then Hypothesis's."""

from __future__ import annotations

import zlib
from typing import ClassVar, Final

import hypothesis
from hypothesis import HealthCheck, Phase
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    precondition,
    rule,
    run_state_machine_as_test,
)

from contracts.generation.model import LOOKS, MINE, THEIRS, Action, Step
from contracts.generation.model_cast import Cast
from contracts.generation.model_exploration import AGAIN, Budget, Exploration
from contracts.generation.model_play import Play
from contracts.generation.model_saved import Saved
from contracts.generation.model_shortening import Shortener
from contracts.judging.outcomes import Blocked, Contradiction, Evidence

DOCUMENTS: Final = (*MINE, THEIRS)
#: Faulty submissions in one generated sequence.
_MOST_SUBMITTED: Final = 2


_TOUR: Final = """
exists A, read A, save A, exists A, read A, info A, save B, read B, save C, read C, read A, my C,
save A, read A, read A, info A, read B, foreign_save A, read A, foreign_delete A, exists A, read A,
mydrafts A, my A, delete A, exists A, read A, info A, read B, read C, mydrafts A,
save A, read A, exists A, info A, mydrafts A, foreign_save C, read C,
delete A, exists A, read A, info A, read B, mydrafts A, my A, my C,
save A, save A, save B, read A, read B, read A, read C,
attach B, attach B, download B, attachments B, save B, read B, download B,
delete A, exists A, submit_faulty S, submit_faulty A, exists A, read A, submit_faulty B, read B, exists B,
save C, delete C, exists C, read C, read B, my A
"""


def steps_of(text: str) -> tuple[Step, ...]:
    """Steps as they are written in this module: `save A, read A`."""
    pairs = (words.split() for words in text.split(","))
    return tuple(Step(Action[action.upper()], document) for action, document in pairs)


TOUR: Final = steps_of(_TOUR)


class Calls(RuleBasedStateMachine):
    """Sequences of calls on two documents of the author and one of the other account.

    A rule never raises: what it finds is kept by the exploration, which then sends nothing more. Shrinking is left to
    `model_shortening`, which keeps to a request budget.
    """

    exploration: ClassVar[Exploration]

    def __init__(self) -> None:
        super().__init__()
        self._play = Play(self.exploration.cast)
        self._last: tuple[Step, ...] = ()
        self._submitted = 0

    def _do(self, *steps: Step) -> None:
        """Play steps; the same looks right after one another tell nothing new."""
        if steps != self._last or not all(step.action in LOOKS for step in steps):
            self.exploration.play(steps, self._play)
        self._last = steps

    @initialize(names=st.sampled_from(("A", "AB", "ABC")))
    def begin(self, names: str) -> None:
        """Save some drafts."""
        self._do(*(Step(Action.SAVE, name) for name in names))

    @rule()
    def look_at_all(self) -> None:
        """Read every draft."""
        self._do(*(Step(Action.READ, name) for name in DOCUMENTS))

    @rule(name=st.sampled_from(DOCUMENTS))
    def look(self, name: str) -> None:
        """Check, read and ask about one draft."""
        self._do(*steps_of(f"exists {name}, info {name}, read {name}"))

    @rule(name=st.sampled_from(DOCUMENTS), times=st.sampled_from((1, 1, 2)), looks=st.booleans())
    def save(self, name: str, times: int, looks: bool) -> None:
        """Save once or twice, and read the result twice or not yet."""
        self._do(*steps_of(f"save {name}") * times, *steps_of(f"read {name}") * (2 if looks else 0))

    @rule(name=st.sampled_from(DOCUMENTS), anew=st.booleans())
    def delete(self, name: str, anew: bool) -> None:
        """Delete, see that it is gone, and perhaps save anew."""
        again = steps_of(f"save {name}, read {name}") if anew else ()
        self._do(*steps_of(f"delete {name}, exists {name}, read {name}"), *again)

    @rule(name=st.sampled_from(("A", THEIRS)), action=st.sampled_from((Action.MYDRAFTS, Action.MY)))
    def list_drafts(self, name: str, action: Action) -> None:
        """List the drafts of the document's owner."""
        self._do(Step(action, name))

    @rule(
        name=st.sampled_from(DOCUMENTS),
        action=st.sampled_from((Action.FOREIGN_SAVE, Action.FOREIGN_DELETE)),
    )
    def intrude(self, name: str, action: Action) -> None:
        """Let the other account try, and see that nothing changed if it was refused."""
        self._do(Step(action, name), Step(Action.READ, name))

    @precondition(lambda self: self.exploration.cast.attachments > 0)
    @rule(name=st.sampled_from(MINE))
    def attach(self, name: str) -> None:
        """Add an attachment, and download all."""
        self._do(*steps_of(f"attach {name}, download {name}"))

    @rule(name=st.sampled_from(MINE))
    def look_at_attachments(self, name: str) -> None:
        """Download all attachments of a document, and list them."""
        self._do(*steps_of(f"download {name}, attachments {name}"))

    @precondition(lambda self: self._submitted < _MOST_SUBMITTED)
    @rule(name=st.sampled_from(MINE))
    def submit_faulty(self, name: str) -> None:
        """Submit a faulty document, and see that nothing came of it."""
        self._submitted += 1
        self._do(*steps_of(f"submit_faulty {name}, exists {name}, read {name}"))

    def teardown(self) -> None:
        """Look at everything once more."""
        self._do(*steps_of("mydrafts A"), *(Step(Action.READ, name) for name in DOCUMENTS))


def generate(exploration: Exploration, seed: int) -> None:
    """Let Hypothesis generate sequences; the same ones for the same seed, as long as the service answers alike."""
    machine = type("CallsOfOneCase", (Calls,), {"exploration": exploration})
    settings = hypothesis.settings(
        max_examples=8,
        stateful_step_count=14,
        phases=[Phase.generate],
        database=None,
        deadline=None,
        suppress_health_check=list(HealthCheck),
        print_blob=False,
    )
    while not exploration.over:
        run_state_machine_as_test(hypothesis.seed(seed)(machine), settings=settings)
        seed += 1


def explore(cast: Cast, budget: Budget, seed: int, saved: Saved) -> None:
    """Play saved sequences, the tour, and generated ones; shorten, confirm and save what contradicts.

    Args:
        seed: Of the run; each realm makes its own sequences from it.

    Raises:
        Contradiction: a must does not hold; its evidence tells the shortest sequence.
        Blocked, EnvironmentFault: nothing could be played.
    """
    exploration = _saved_first(cast, saved)
    if not exploration.ended:
        exploration = Exploration(cast, budget)
    exploration.play(TOUR)
    if cast.attempt.number == 1:
        generate(exploration, zlib.crc32(f"{seed} {cast.author.realm}".encode()))
        exploration.look_again()
    cast.settle()
    if isinstance(exploration.obstacle, Blocked):
        saved.add(exploration.blocked)  # a server error is judged elsewhere, and has to be met again
    if exploration.obstacle:
        raise exploration.obstacle
    if exploration.found:
        raise Contradiction(_shortened(cast, saved, *exploration.found))


def _saved_first(cast: Cast, saved: Saved) -> Exploration:
    """Play what contradicted in an earlier run; what does not any more is forgotten."""
    exploration = Exploration(cast, AGAIN)
    for steps in saved.load():
        exploration.play(steps)
        if not exploration.over:
            saved.remove(steps)
    return exploration


def _shortened(cast: Cast, saved: Saved, found: Contradiction, steps: tuple[Step, ...]) -> Evidence:
    """The evidence of the shortest sequence; a replay of the case only tells whether it came back.

    What was seen in bad weather is not confirmed here: the case has to see it in fair weather.
    """
    if cast.attempt.number > 1 or cast.attempt.clouded:
        return found.evidence
    best = Shortener(cast, found, steps).run()
    saved.add(best.steps)
    if best.reproduced > 1:
        cast.conclude(found, best.evidence, best.reproduced, best.tried)
    return best.evidence
