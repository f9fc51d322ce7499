"""Lives of drafts: sequences of calls of two accounts, each answer held against the model of `checks.sequences`.

A sequence is data, `save A, read A, delete A`, on two documents of the author and one of the other account. One that
ends in a contradiction is shortened, which confirms it, since each try is on fresh documents; it is kept as JSON in a
Hypothesis example database and run first the next time. Shortening is our own, as each try costs requests: on nine
drawn faults it took 11 to 104 requests, and Hypothesis' shrinking 30 to 2,322; what fails now and then it gave up.
"""

from __future__ import annotations

import json
import random
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from itertools import chain, groupby
from typing import Any, Final

from hypothesis.database import ExampleDatabase

from contracts.cases.drafts import accepted_with_errors
from contracts.cases.list_pages import drafts_of
from contracts.cases.sample_records import Samples
from contracts.cases.submissions import CREATE_NAMED, UPDATE
from contracts.cases.world import World
from contracts.checks.claims import Claim, Expect
from contracts.checks.errors_array import turned_down
from contracts.checks.outcomes import (
    Attempt,
    Blocked,
    CheckOutcome,
    Contradiction,
    Result,
    Untested,
    done,
    usable,
)
from contracts.checks.sequences import DraftTracker, SequenceCheck, Step
from contracts.errors import EnvironmentFault, GivenUp
from contracts.exchanges.exchange import Exchange, Response
from contracts.exchanges.readers import Ambiguous
from contracts.exchanges.request_facts import read_request
from contracts.interface.description import load_description
from contracts.session.actor import Actor

#: A step: what is done, and to which document; a list is that of the document's owner.
Call = tuple[str, str]
Calls = tuple[Call, ...]

#: Two documents of the author, and one of the other account.
MINE: Final = ("A", "B")
THEIRS: Final = "C"
#: What each word does, and the family that is left out once one of its operations does not work.
FAMILIES: Final[Mapping[str, str]] = {
    "save": "drafts",
    "read": "drafts",
    "exists": "drafts",
    "delete": "deletions",
    "info": "infos",
    "foreign_save": "other account",
    "foreign_delete": "other account",
    "my": "lists",
    "mydrafts": "lists",
    "submit_faulty": "submissions",
}
_LOOKS: Final = ("read", "exists", "info", "my", "mydrafts")
_OPERATIONS: Final = {
    "read": "getDraft",
    "exists": "draftExists",
    "info": "getDraftInfo",
    "delete": "deleteDraft",
    "foreign_delete": "deleteDraft",
}
CLAUSES: Final = (
    "draft-save-creates",
    "draft-save-updates",
    "draft-save-spares-others",
    "draft-get-content",
    "draft-exists-present",
    "draft-exists-absent",
    "draft-info-present",
    "draft-delete-removes",
    "draft-delete-content-gone",
    "draft-delete-spares-others",
    "list-mydrafts-has-mine",
    "list-my-without-others",
    "list-deleted-gone",
    "workflow-order-validation-before-save",
    "workflow-refused-update-keeps-draft",
)


def calls_of(text: str) -> Calls:
    """Calls as they are written: `save A, read A`."""
    return tuple((action, document) for action, document in map(str.split, text.split(",")))


TOUR: Final = calls_of(
    "exists A, read A, save A, exists A, read A, info A, save B, read B, save C, read C, read A, my C,"
    "save A, read A, read A, info A, read B, foreign_save A, read A, foreign_delete A, exists A, read A,"
    "mydrafts A, my A, delete A, exists A, read A, info A, read B, read C, mydrafts A,"
    "save A, read A, exists A, info A, mydrafts A, foreign_save C, read C,"
    "delete A, exists A, read A, info A, read B, mydrafts A, my A, my C,"
    "save A, save A, save B, read A, read B, read A, read C, save B, read B,"
    "delete A, exists A, submit_faulty A, exists A, read A, submit_faulty B, read B, exists B,"
    "save C, delete C, exists C, read C, read B, my A"
)
#: What is drawn from, with `X` for any document; what stands twice is drawn twice as often.
_BLOCKS: Final = (
    *("save X", "save X", "save X, save X, read X", "save X, read X, read X"),
    *("read A, read B, read C", "read A, read B, read C", "exists X, info X, read X"),
    *("delete X, exists X, read X", "delete X, exists X, read X, save X, read X"),
    *("my A", "my C", "mydrafts A", "foreign_save X, read X", "foreign_delete X, read X"),
    "submit_faulty A, exists A, read A",
)
#: Blocks of one sequence that is drawn.
_DRAWN: Final = 14


def drawn(seed: int) -> Iterator[Calls]:
    """Sequences that a seed draws, without end."""
    draw = random.Random(seed)  # noqa: S311 - no secret
    while True:
        blocks = ["save A", "save B", "save C"][: draw.randint(1, 3)]
        blocks += [draw.choice(_BLOCKS).replace("X", draw.choice("ABC")) for _ in range(_DRAWN)]
        yield calls_of(", ".join([*blocks, "mydrafts A, read A, read B, read C"]))


@dataclass
class Players:
    """What one attempt at the case needs to run sequences.

    Attributes:
        other: The second account; None when the settings name none, and its steps are left out.
        off: Families of steps that cannot be run, with the reason: a setting is missing or an operation that
            other cases judge does not work. The rest goes on.
        worked: Operations by role that have worked at least once. One that never did is for other cases to judge.
    """

    world: World
    other: Actor | None
    claim: Expect
    attempt: Attempt
    off: dict[str, str] = field(default_factory=dict)
    worked: set[str] = field(default_factory=set)

    @property
    def sent(self) -> int:
        """Requests sent on behalf of the attempt."""
        return len(self.attempt.exchanges)

    @contextmanager
    def without_evidence(self) -> Iterator[None]:
        """Run without leaving evidence: for finding out whether a shorter sequence contradicts too."""
        evidence, contradicted = len(self.attempt.evidence), self.attempt.contradicted.copy()
        try:
            yield
        finally:
            del self.attempt.evidence[evidence:]
            self.attempt.contradicted = contradicted


#: A sequence that could not be shortened is described by its last steps, and shown by its last exchanges.
_MOST_DESCRIBED: Final = 14
_MOST_EXCHANGES: Final = 12
#: Members of a contact record that may be left out; all but the first have a text for each language.
_MARKED: Final = ("middleName", "designation", "department", "address", "city")


def content(samples: Samples, uid: str, version: int) -> dict[str, Any]:
    """What a save sends: a valid record whose texts no other has, another of them left out each time."""
    text = f"{uid[-8:]}-v{version}."
    members: dict[str, Any] = {name: {"en": text} for name in _MARKED} | {"middleName": text}
    record = samples.draft(uid, lastName=text, **members)
    record.pop(_MARKED[version % len(_MARKED)], None)
    return record


class DraftModel:
    """What the drafts of a case are by the model of `checks.sequences`, and what it says of each exchange.

    Attributes:
        exchanges: Those that it was told of, in order.
    """

    def __init__(self) -> None:
        self.tracker = DraftTracker(settle_seconds=0)
        self.exchanges: list[Exchange] = []

    def never_saved(self, owner: Actor, uid: str) -> None:
        """Note that nothing was ever saved under a uid."""
        self.tracker.never_saved(_SITE, owner.realm, uid, _account(owner.role))

    def of(self, owner: Actor) -> list[str]:
        """Uids of the drafts of an account that are there."""
        return self.tracker.of(_account(owner.role))

    def due(self, exchange: Exchange) -> list[tuple[SequenceCheck, Result]]:
        """The checks that are due on the next exchange, with their results."""
        self.exchanges.append(exchange)
        facts = read_request(exchange, load_description())
        if facts is None:
            return []
        numbered = replace(exchange, number=len(self.exchanges))
        who, answer = _account(exchange.role), usable(exchange)
        step = Step(numbered, facts, answer, _SITE, exchange.realm, who, right=True)
        judged = ((due, due.judge(step)) for due in self.tracker.due(step))
        return [(due, result) for due, result in judged if result is not None]


class Life:
    """One sequence under way, on documents that were never used.

    Attributes:
        done: What was called so far.
    """

    def __init__(self, players: Players) -> None:
        self._players = players
        self._model = DraftModel()
        self._documents: dict[str, tuple[str, Actor]] = {}
        self._saves = 0
        self.done: list[Call] = []
        for name in MINE:
            self._renew(name, players.world.author)
        if players.other is not None:
            self._renew(THEIRS, players.other)

    def _renew(self, name: str, owner: Actor) -> None:
        """Let a name stand for a document that was never used."""
        uid = self._players.world.uid()
        self._documents[name] = uid, owner
        self._model.never_saved(owner, uid)

    def play(self, calls: Iterable[Call], over: Callable[[], bool] = lambda: False) -> None:
        """Make calls until it is over; raises as `call`."""
        for call in calls:
            if over():
                return
            self.call(call)

    def call(self, call: Call) -> None:
        """Make one call; one that has nothing to act on, or whose family does not work, is passed over."""
        (action, name), players = call, self._players
        if FAMILIES[action] in players.off or name not in self._documents:
            return
        (uid, owner), foreign = self._documents[name], action.startswith("foreign")
        others = [
            actor
            for actor in (players.world.author, players.other)
            if actor is not None and actor is not owner
        ]
        if foreign and not (others and uid in self._model.of(owner)):
            return
        self.done.append(call)
        actor = others[0] if foreign else owner
        try:
            if action.endswith("save"):
                self._save(name, uid, actor, foreign=foreign)
            elif action == "submit_faulty":
                self._submit(name, uid, actor)
            elif action in ("my", "mydrafts"):
                self._list(actor, action)
            else:
                answer = self._send(actor, _OPERATIONS[action], path={"uid": uid})
                if foreign and not answer.refusal:
                    self._renew(name, owner)  # what follows is not shown
        except (Blocked, Untested, Ambiguous, GivenUp) as obstacle:
            self._leave_out(FAMILIES[action], name, obstacle)

    def _leave_out(self, family: str, name: str, obstacle: Exception) -> None:
        """Go on without a family of steps, or without the other account; without drafts there is nothing to run."""
        if family != "drafts":
            self._players.off.setdefault(family, str(obstacle))
        elif name == THEIRS:
            self._documents.pop(name)
            self._players.other = None
        else:
            raise obstacle

    def _save(self, name: str, uid: str, actor: Actor, *, foreign: bool) -> None:
        """Save the next content. Another account is refused, or it reads what it saved; the rest is not shown."""
        self._saves += 1
        document, query = (
            content(self._players.world.samples, uid, self._saves),
            {"schema": self._players.world.samples.draft_schema},
        )
        before = uid in self._model.of(actor)
        answer = self._send(actor, "saveDraft", path={"uid": uid}, query=query, json=document)
        if accepted_with_errors(self._model.exchanges[-1]):
            raise Blocked("saveDraft", f"answers a save with errors: {answer.quote()}")
        if foreign and not answer.refusal:
            self._send(actor, "getDraft", path={"uid": uid})
            self._renew(name, self._documents[name][1])
        elif not foreign:
            clause = "draft-save-updates" if before else "draft-save-creates"
            if not self._accepted(clause, "saveDraft", answer):
                self._renew(name, actor)

    def _accepted(self, clause: str, operation: str, answer: Response) -> bool:
        """Claim that a request was accepted where such a one was before; whether it was."""
        kind = f"{operation} by {self._model.exchanges[-1].role}"
        if not answer.success and kind not in self._players.worked:
            raise Blocked(operation, f"answered {answer.quote()}")
        self._hold((clause, operation), answer.success, "accepted (2xx)", answer.quote())
        self._players.worked.add(kind)
        return answer.success

    def _submit(self, name: str, uid: str, actor: Actor) -> None:
        """Create where there is no draft, update where there is one; both have to be refused."""
        there, world = uid in self._model.of(actor), self._players.world
        operation = UPDATE if there else CREATE_NAMED
        exchange = world.submit(operation, uid, world.samples.faulty_submission(uid), by=actor)
        self._take(exchange)
        if not turned_down(usable(exchange)):
            self._renew(name, actor)
            raise Blocked(operation, f"took a faulty document: {exchange.answer.quote()}")

    def _list(self, actor: Actor, collection: str) -> None:
        """List a collection until it is as promised, which may be a few seconds later; then judge it."""
        lister, told = drafts_of(actor, collection), list[tuple[SequenceCheck, Result]]()
        own = self._model.of(actor) if collection == "mydrafts" else []
        lost: list[str] = []

        def look() -> bool:
            start = self._players.sent
            lost[:] = [uid for uid in own if not lister.search(uid).found]
            if not own:
                lister.read()
            told[:] = [
                found for sent in self._players.attempt.exchanges[start:] for found in self._model.due(sent)
            ]
            return not lost and all(result.outcome is CheckOutcome.HELD for _, result in told)

        self._players.world.eventually(look)
        for due, result in told:
            self._judge(due, result)
        if own:
            key, seen = ("list-mydrafts-has-mine", "listDrafts"), f"not there: {', '.join(lost)}"
            self._hold(key, not lost, "every draft of the account in the list", seen)

    def _send(self, actor: Actor, operation: str, **parts: Any) -> Response:
        """Send a request, and judge the answer by the model."""
        exchange = actor.send(operation, **parts)
        self._take(exchange)
        return usable(exchange)

    def _take(self, exchange: Exchange) -> None:
        for due, result in self._model.due(exchange):
            self._judge(due, result)

    def _judge(self, due: SequenceCheck, result: Result) -> None:
        held = result.outcome is CheckOutcome.HELD
        key = result.key if held else self._refined(due, result)
        self._hold(key, held, result.expected, str(result.seen))

    def _refined(self, due: SequenceCheck, result: Result) -> tuple[str, str]:
        """What a contradiction speaks against, asked by another operation: the one that tells it may be wrong alone."""
        at_fault = next((name for name, (uid, _) in self._documents.items() if uid == due.subject), None)
        if at_fault is None:
            return result.key
        uid, owner = self._documents[at_fault]
        last = self._model.exchanges[-1]
        otherwise = "getDraft" if last.operation == "draftExists" else "draftExists"
        if result.clause == "draft-delete-removes":
            refused = owner.send(otherwise, path={"uid": uid}).answer.refusal
            return result.clause, "draftExists" if refused else "deleteDraft"
        if result.clause not in ("draft-get-content", "draft-exists-present") or last.answer.success:
            return result.key
        since = [action for action, name in self.done if name == at_fault]
        first_look = since[-2:-1] == ["save"]
        absent = first_look and not owner.send(otherwise, path={"uid": uid}).answer.success
        return ("draft-save-creates", "saveDraft") if absent else result.key

    def _hold(self, key: tuple[str, str], holds: bool, expected: str, seen: str) -> None:
        shown = self._model.exchanges[-1:] if holds else self._model.exchanges[-_MOST_EXCHANGES:]
        self._players.claim(*key).holds(holds, *shown, expected=expected, seen=f"{self._told()}: {seen}")

    def _told(self) -> str:
        """The sequence so far, in words; one that is too long leaves out its beginning."""
        groups = [(call, len(list(group))) for call, group in groupby(self.done)]
        words = [f"{' '.join(call)} x{count}" if count > 1 else " ".join(call) for call, count in groups]
        return " → ".join(["…", *words[-_MOST_DESCRIBED:]] if len(words) > _MOST_DESCRIBED else words)


#: The one service that a sequence is sent to.
_SITE: Final = ""


def _account(role: str) -> str:
    return f"account {role}"


#: Requests and seconds that shortening and confirming may cost, about.
_SHORTENING: Final = 110
_SECONDS: Final = 40.0
#: A look that went wrong is repeated so often when no sequence brings it back: it may go wrong now and then.
_INSISTENCE: Final = 30


def candidates(calls: Calls) -> Iterator[Calls]:
    """Sequences that likely contradict too, short ones first; all end in the same call.

    They hold the latest of what changed its document, of what changed anything, and of what was looked at in between;
    before the long ones comes the call itself again and again, as it may go wrong only now and then.
    """
    *before, last = calls
    own = [call for call in before if call[1] == last[1]]
    changes = [call for call in own if call[0] not in _LOOKS]
    around = [call for call in before if call[0] not in _LOOKS or call[1] == last[1]]
    ends = [tuple(changes[-length:]) for length in (1, 2, 3, 4, 6)]
    ends += [tuple(own[-length:]) for length in (3, 6)] + [tuple(around[-length:]) for length in (4, 8)]
    ends += [(*changes[-3:], *[last] * _INSISTENCE), tuple(around[-16:]), tuple(own), tuple(before)]
    yield from ((*end, last) for end in dict.fromkeys(ends) if end)


def shortened(calls: Calls, contradicts: Callable[[Calls], bool]) -> Calls:
    """A short sequence that contradicts as this one does; the same one where none is found."""
    best = next((candidate for candidate in candidates(calls) if contradicts(candidate)), None)
    if best is None:
        return calls
    size = len(best) // 2
    while size:
        at = 0
        while at + size < len(best):
            less = (*best[:at], *best[at + size :])
            if contradicts(less):
                best = less
            else:
                at += size
        size //= 2
    return best


def _confirmed(players: Players, found: Contradiction, calls: Calls, kept: KeptCalls) -> Result:
    """The evidence of the shortest sequence; a replay of the case only tells whether it came back.

    What was seen while the environment failed is not confirmed here: the case has to see it again without a fault.
    """
    if players.attempt.number > 1 or players.attempt.clouded:
        return found.evidence
    best, seen = found.evidence, 1
    end, deadline = players.sent + _SHORTENING, time.monotonic() + _SECONDS

    def contradicts(candidate: Calls) -> bool:
        nonlocal best, seen
        if len(candidate) > end - players.sent or time.monotonic() > deadline:
            return False
        try:
            with players.without_evidence():
                Life(players).play(candidate)
        except Contradiction as again:
            if again.evidence.key == found.evidence.key:
                best, seen = again.evidence, seen + 1
                return True
        except (Blocked, EnvironmentFault):
            return False
        return False

    known = shortened(calls, contradicts)
    kept.add(known)
    tried = seen + 1  # once more, whether it comes back or not
    contradicts(known)
    if seen > 1:
        attempt, key = players.attempt, found.evidence.key
        attempt.evidence.remove(found.evidence)
        attempt.contradicted[key] -= 1
        attempt.note(best)
        attempt.confirmed[key] = (seen, tried)
    return best


#: Sequences that are kept are at most so many in one run.
_MOST_KEPT: Final = 6
#: They have a budget of their own, in requests, so that they never take the place of the tour.
_KEPT_REQUESTS: Final = 150
_KEY: Final = b"lives of drafts"


class KeptCalls:
    """Sequences that contradicted, or met a server error, in an earlier run."""

    def __init__(self, database: ExampleDatabase) -> None:
        self._database = database

    def load(self) -> list[Calls]:
        """The sequences, the shortest first; what another version wrote is passed over."""
        entries = sorted(set(self._database.fetch(_KEY)), key=lambda entry: (len(entry), entry))
        return [calls for calls in map(_read, entries) if calls][:_MOST_KEPT]

    def add(self, calls: Iterable[Call]) -> None:
        """Keep a sequence."""
        self._database.save(_KEY, json.dumps(list(calls)).encode())

    def remove(self, calls: Iterable[Call]) -> None:
        """Forget a sequence that does not contradict any more."""
        self._database.delete(_KEY, json.dumps(list(calls)).encode())


def _read(entry: bytes) -> Calls:
    try:
        calls = tuple((action, document) for action, document in json.loads(entry))
    except (ValueError, TypeError):
        return ()
    known = all(action in FAMILIES and document in (*MINE, THEIRS) for action, document in calls)
    return calls if known else ()


def claim_promises_hold(players: Players, kept: KeptCalls, seed: int, requests: int) -> None:
    """Run sequences that are kept, the tour, and drawn ones; shorten, confirm and keep what contradicts.

    Args:
        requests: Sent at most for the tour and what is drawn, about; the only limit of a gate, which has to do the same
            thing twice.
    """

    def run(calls: Calls, limit: int) -> bool:
        """Whether a sequence was run to its end."""

        def over() -> bool:
            return players.sent >= limit

        life = Life(players)
        try:
            life.play(calls, over)
        except Contradiction as found:
            raise Contradiction(_confirmed(players, found, tuple(life.done), kept)) from None
        except Blocked:
            kept.add(life.done)  # a server error is judged elsewhere, and has to be met again
            raise
        return not over()

    limit = players.sent + _KEPT_REQUESTS
    for earlier in kept.load():
        if run(earlier, limit):
            kept.remove(earlier)
    limit = players.sent + requests
    for calls in chain([TOUR], drawn(seed) if players.attempt.number == 1 else ()):
        if not run(calls, limit):
            return


def claim_info_follows(claim: Claim, world: World) -> None:
    """Claim that the info of a draft does not show as it was what the service itself reported as changed by a save."""
    uid = world.draft().uid

    def told(exchange: Exchange) -> dict[str, Any]:
        body = done(exchange).json
        return body if isinstance(body, dict) else {}

    def saved(version: int) -> dict[str, Any]:
        return told(world.save(uid, content(world.samples, uid, version)))

    first, shown = saved(1), told(world.author.get_draft_info(uid))
    later = saved(2)
    moved = {
        name: value
        for name, value in first.items()
        if shown.get(name) == value and later.get(name, value) != value
    }
    if not moved:
        claim.untested("the service reports nothing of a draft that a later save changes")
        return

    def stale(info: Exchange) -> bool:
        return any(told(info).get(name) == value for name, value in moved.items())

    info = world.until(lambda: world.author.get_draft_info(uid), lambda info: not stale(info))
    expected = f"{', '.join(moved)} as of the later save"
    claim.holds(not stale(info), info, expected=expected, seen=info.answer.quote())
