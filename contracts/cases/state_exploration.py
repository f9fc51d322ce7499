"""Runs sequences of steps within a budget: saved ones, a fixed tour, and those that Hypothesis generates.

A sequence that ends in a contradiction is shortened, which confirms it, since each try is on fresh documents; it is
kept in a Hypothesis example database and run first next time. An entry is the sequence itself as JSON
(`[["saveDraft", "A"], …]`), not the choices of a generator, so that it outlives changes of the generator.

Shortening is our own, as each try costs requests: on nine drawn faults it took 11 to 104 requests to sequences of 2 to
9 steps, and Hypothesis' shrinking 30 to 2,322 requests to sequences of 2 to 26; what fails now and then it gave up.
"""

from __future__ import annotations

import json
import time
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar, Final

import hypothesis
from hypothesis import HealthCheck, Phase
from hypothesis import strategies as st
from hypothesis.database import DirectoryBasedExampleDatabase
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    precondition,
    rule,
    run_state_machine_as_test,
)

from contracts.cases import state_steps
from contracts.cases.state_model import (
    FOREIGN,
    LOOKS,
    MINE,
    OWNERS,
    SUBMITTED,
    THEIRS,
    Action,
    Context,
    Document,
    RunningSequence,
    Step,
)
from contracts.checks.outcomes import Blocked, Contradiction, Result, Untested
from contracts.errors import EnvironmentFault, GivenUp
from contracts.exchanges.readers import Ambiguous

_StepFunction = Callable[[RunningSequence, Document], None]
#: What each step does, and the family that is left out once one of its operations does not work.
_STEPS: Final[Mapping[Action, tuple[str, _StepFunction]]] = {
    Action.SAVE: ("drafts", state_steps.save),
    Action.READ: ("drafts", state_steps.read),
    Action.EXISTS: ("drafts", state_steps.exists),
    Action.DELETE: ("deletions", state_steps.delete),
    Action.INFO: ("infos", state_steps.info),
    Action.FOREIGN_SAVE: ("other_actor", state_steps.foreign_save),
    Action.FOREIGN_DELETE: ("other_actor", state_steps.foreign_delete),
    Action.MY: ("lists", state_steps.my),
    Action.MYDRAFTS: ("lists", state_steps.mydrafts),
    Action.ATTACH: ("attachments", state_steps.attach),
    Action.DOWNLOAD: ("attachments", state_steps.download),
    Action.ATTACHMENTS: ("attachments", state_steps.listed),
    Action.SUBMIT_FAULTY: ("submissions", state_steps.submit_faulty),
}
_ESSENTIAL: Final = "drafts"
_FILES: Final = (Action.DOWNLOAD, Action.ATTACHMENTS)


class SequenceRunner:
    """Runs one sequence of steps on fresh documents."""

    def __init__(self, context: Context) -> None:
        self._context = context
        self.sequence = RunningSequence(context)

    def do(self, step: Step) -> None:
        """Run one step; one that has nothing to act on, or whose family does not work, is passed over.

        Raises:
            Contradiction: a must does not hold.
            Blocked: drafts cannot be saved or read at all.
            EnvironmentFault: no answer.
        """
        family, send = _STEPS[step.action]
        if family in self._context.off or not self._possible(step):
            return
        try:
            document = self._document(step.document)
            self.sequence.record(step, self._addition(step))
            send(self.sequence, document)
        except (Blocked, Untested, Ambiguous, GivenUp) as obstacle:
            self._leave_out(family, step, obstacle)

    def run_all(self, steps: Iterable[Step]) -> None:
        """Run several steps; raises as `do`."""
        for step in steps:
            self.do(step)

    def _possible(self, step: Step) -> bool:
        if step.document == SUBMITTED:
            return step.action is Action.SUBMIT_FAULTY
        document = self.sequence.documents.get(step.document)
        if document is None:
            return False
        if step.action in FOREIGN:
            return self._context.other is not None and document.version is not None
        if step.action is Action.ATTACH:
            return document.version is not None and self._context.attachments > 0
        return bool(document.files) if step.action in _FILES else True

    def _document(self, name: str) -> Document:
        if name == SUBMITTED and name not in self.sequence.documents:
            return self.sequence.renew(name, self._submitted())
        return self.sequence.documents[name]

    def _submitted(self) -> str:
        """A record that went through the workflow: the locked one of the settings, which no run has to make anew."""
        try:
            return str(self._context.samples.setting("locked_identifier"))
        except Untested:
            return self._context.arrange.submission(self._context.author)

    def _addition(self, step: Step) -> str:
        """What a step's words lack: the number of the content that is about to be saved."""
        saves = step.action in (Action.SAVE, Action.FOREIGN_SAVE)
        return f" v{self.sequence.versions + 1}" if saves else ""

    def _leave_out(self, family: str, step: Step, obstacle: Blocked | Untested | Ambiguous | GivenUp) -> None:
        """Go on without a family of steps, or without the other account; without drafts there is nothing to run."""
        if OWNERS.get(step.document) == "other" and family == _ESSENTIAL:
            self.sequence.documents.pop(step.document)
            self._context.other = None
        elif family == _ESSENTIAL:
            raise obstacle
        self._context.off.setdefault(family if family != _ESSENTIAL else "other account", str(obstacle))


def contradicted_by(context: Context, steps: Iterable[Step]) -> tuple[Contradiction, RunningSequence] | None:
    """Run a sequence on fresh documents: the contradiction it ends in, if it does, and what was run until then."""
    runner = SequenceRunner(context)
    try:
        runner.run_all(steps)
    except Contradiction as found:
        return found, runner.sequence
    return None


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
    evidence: Result
    reproduced: int = 1
    tried: int = 1


class Shortener:
    """Shortens one contradiction within a request budget.

    Args:
        found: The contradiction.
        steps: The sequence that led to it; its last step is the one that showed it.
    """

    def __init__(self, context: Context, found: Contradiction, steps: Steps) -> None:
        self._context = context
        self._best = Shortened(steps, found.evidence)
        self._end = context.sent + REQUESTS
        self._deadline = time.monotonic() + SECONDS
        context.attachments = ATTACHMENTS

    def run(self) -> Shortened:
        """Try what most likely is enough, then leave out more and more of it; at last run what is left once more."""
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
        """Whether the budget lasts for one more run of a sequence."""
        return len(steps) <= self._end - self._context.sent and time.monotonic() < self._deadline

    def _contradicts(self, steps: Steps, *, narrowing: bool = False) -> bool:
        """Whether a sequence contradicts the same clause, on fresh documents; if so it is the best one so far.

        Args:
            narrowing: Another clause will do: the sequence was made to tell which one it is.
        """
        if not self._affords(steps):
            return False
        try:
            with self._context.without_evidence():
                outcome = contradicted_by(self._context, steps)
        except Blocked:
            return False
        if outcome is None or not (narrowing or outcome[0].evidence.key == self._best.evidence.key):
            return False
        found, sequence = outcome
        self._best.tried += 1
        self._best.reproduced += 1
        self._best.steps, self._best.evidence = tuple(sequence.steps), found.evidence
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
    watched = [description for step in around[since:] for description in _watched(step, reading)]
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


#: Requests that it may cost to see shoulds contradicted a second time.
_LOOKING_AGAIN: Final = 60


@dataclass(frozen=True)
class Budget:
    """What one case may cost.

    Attributes:
        requests: Sent before a contradiction, about; the only limit of a gate, which has to do the same thing twice.
        attachments: Created at most; they cannot be removed.
    """

    requests: int
    attachments: int


GATE: Final = Budget(requests=145, attachments=3)
#: Each of several realms has sequences of its own behind the tour, so fewer will do.
ONE_OF_SEVERAL: Final = Budget(requests=110, attachments=3)
#: A replay of the case runs what is saved, which is what contradicted just now, and the tour.
REPLAY: Final = Budget(requests=145, attachments=2)
#: Saved sequences have a budget of their own, so that they never take the place of the tour.
AGAIN: Final = Budget(requests=150, attachments=4)
NIGHTLY: Final = Budget(requests=3000, attachments=12)


def budget_of(attempt: int, realms: int, *, thorough: bool) -> Budget:
    """The budget of an attempt at the case in one of so many realms: a replay looks for one thing only."""
    if attempt > 1:
        return REPLAY
    if thorough:
        return NIGHTLY
    return GATE if realms == 1 else ONE_OF_SEVERAL


class Exploration:
    """Runs sequences until something is found, the budget is used up, or nothing can be run."""

    def __init__(self, context: Context, budget: Budget) -> None:
        self.context = context
        self.found: tuple[Contradiction, tuple[Step, ...]] | None = None
        self.obstacle: Blocked | EnvironmentFault | None = None
        self.blocked: tuple[Step, ...] = ()
        self._requests = context.sent + budget.requests
        context.attachments = budget.attachments

    @property
    def ended(self) -> bool:
        """Whether something was found, or nothing can be run."""
        return self.found is not None or self.obstacle is not None

    @property
    def over(self) -> bool:
        """Whether nothing more is to be sent."""
        return self.ended or self.context.sent >= self._requests

    def run(self, steps: Iterable[Step], runner: SequenceRunner | None = None) -> None:
        """Run steps, on fresh documents or on those of a sequence under way."""
        runner = runner or SequenceRunner(self.context)
        try:
            for step in steps:
                if self.over:
                    return
                runner.do(step)
        except Contradiction as found:
            self.found = found, tuple(runner.sequence.steps)
        except (Blocked, EnvironmentFault) as obstacle:
            self.obstacle, self.blocked = obstacle, tuple(runner.sequence.steps)

    def look_again(self) -> None:
        """See shoulds that were contradicted on one document only on others too, in sequences as short as may be."""
        self._requests = self.context.sent + _LOOKING_AGAIN
        for key, steps in list(self.context.doubts.items()):
            for candidate in candidates(steps):
                if not self.context.sure_of(key):
                    self.run(candidate)


#: Folder of the example database in the reports folder, beside the runs.
FOLDER: Final = "examples"
#: More are not run in one run.
_MOST = 6


class Saved:
    """Sequences saved for one realm of one target.

    Args:
        reports: Folder of the reports, the same in every run, or handed from run to run as an artifact.
        target: Name of the target: what contradicted one environment says nothing about another.
        scratch: Folder of this run alone that takes what is added. What was saved before stays as it is, so that two
            gates run the same; None to keep additions and removals for the next run.
    """

    def __init__(self, reports: Path, target: str, realm: str, scratch: Path | None = None) -> None:
        kept = DirectoryBasedExampleDatabase(reports / FOLDER)
        self._database = DirectoryBasedExampleDatabase(scratch / FOLDER) if scratch else kept
        self._known = kept
        self._key = f"stateful {target} {realm}".encode()

    def load(self) -> list[tuple[Step, ...]]:
        """The sequences, the shortest first, equal lengths in the order of their text."""
        entries = {*self._known.fetch(self._key), *self._database.fetch(self._key)}
        found = sorted(entries, key=lambda entry: (len(entry), entry))
        return [steps for entry in found if (steps := _read(entry))][:_MOST]

    def add(self, steps: Iterable[Step]) -> None:
        """Keep a sequence."""
        self._database.save(self._key, _written(steps))

    def remove(self, steps: Iterable[Step]) -> None:
        """Forget a sequence that does not contradict any more."""
        self._database.delete(self._key, _written(steps))


def _written(steps: Iterable[Step]) -> bytes:
    return json.dumps([[str(step.action), step.document] for step in steps]).encode()


def _read(entry: bytes) -> tuple[Step, ...]:
    """The sequence of an entry; an empty one for an entry that another version wrote."""
    try:
        steps = tuple(Step(Action(action), document) for action, document in json.loads(entry))
    except (ValueError, TypeError):
        return ()
    return steps if all(step.document in OWNERS for step in steps) else ()


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
    `Shortener`, which keeps to a request budget.
    """

    exploration: ClassVar[Exploration]

    def __init__(self) -> None:
        super().__init__()
        self._runner = SequenceRunner(self.exploration.context)
        self._last: tuple[Step, ...] = ()
        self._submitted = 0

    def _do(self, *steps: Step) -> None:
        """Run steps; the same looks right after one another tell nothing new."""
        if steps != self._last or not all(step.action in LOOKS for step in steps):
            self.exploration.run(steps, self._runner)
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

    @precondition(lambda self: self.exploration.context.attachments > 0)
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


def explore(context: Context, budget: Budget, seed: int, saved: Saved) -> None:
    """Run saved sequences, the tour, and generated ones; shorten, confirm and save what contradicts.

    Args:
        seed: Of the run; each realm makes its own sequences from it.

    Raises:
        Contradiction: a must does not hold; its evidence tells the shortest sequence.
        Blocked, EnvironmentFault: nothing could be run.
    """
    exploration = _saved_first(context, saved)
    if not exploration.ended:
        exploration = Exploration(context, budget)
    exploration.run(TOUR)
    if context.attempt.number == 1:
        generate(exploration, zlib.crc32(f"{seed} {context.author.realm}".encode()))
        exploration.look_again()
    context.settle()
    if isinstance(exploration.obstacle, Blocked):
        saved.add(exploration.blocked)  # a server error is judged elsewhere, and has to be met again
    if exploration.obstacle:
        raise exploration.obstacle
    if exploration.found:
        raise Contradiction(_shortened(context, saved, *exploration.found))


def _saved_first(context: Context, saved: Saved) -> Exploration:
    """Run what contradicted in an earlier run; what does not any more is forgotten."""
    exploration = Exploration(context, AGAIN)
    for steps in saved.load():
        exploration.run(steps)
        if not exploration.over:
            saved.remove(steps)
    return exploration


def _shortened(context: Context, saved: Saved, found: Contradiction, steps: tuple[Step, ...]) -> Result:
    """The evidence of the shortest sequence; a replay of the case only tells whether it came back.

    What was seen while the environment failed is not confirmed here: the case has to see it again without a fault.
    """
    if context.attempt.number > 1 or context.attempt.clouded:
        return found.evidence
    best = Shortener(context, found, steps).run()
    saved.add(best.steps)
    if best.reproduced > 1:
        context.conclude(found, best.evidence, best.reproduced, best.tried)
    return best.evidence
