"""Lives of drafts: sequences of calls of two accounts, each answer held against the reference model.

A sequence is data, `save A, read A, delete A`, on documents of the author and one of the other account. Short ones that
are written here come first; nightly runs draw others.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Final, NamedTuple

from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy

from registry_contracts.cases.properties import Properties
from registry_contracts.cases.sample_records import Samples
from registry_contracts.cases.submissions import CREATE_NAMED, UPDATE
from registry_contracts.cases.world import World
from registry_contracts.checks.claims import Claim, Expect
from registry_contracts.checks.errors_array import turned_down
from registry_contracts.checks.outcomes import Blocked, Result, Untested, done, taken, usable
from registry_contracts.errors import GivenUp
from registry_contracts.exchanges.exchange import Exchange, Response
from registry_contracts.exchanges.readers import Ambiguous
from registry_contracts.model.reference import Reference
from registry_contracts.model.steps import Told
from registry_contracts.session.actor import Actor

#: A step: what is done, and to which document.
Call = tuple[str, str]
Calls = tuple[Call, ...]

#: The document of the other account; the others are the author's.
THEIRS: Final = "Z"
#: What each word does; a faulty submission creates or updates.
ACTIONS: Final[Mapping[str, str]] = {
    "save": "saveDraft",
    "read": "getDraft",
    "exists": "draftExists",
    "delete": "deleteDraft",
    "info": "getDraftInfo",
    "foreign_save": "saveDraft",
    "foreign_delete": "deleteDraft",
    "submit_faulty": "",
}
#: Without these, there is nothing to run; an obstacle to any other action leaves that action out.
_NEEDED: Final = ("save", "read", "exists")
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
    "workflow-order-validation-before-save",
    "workflow-refused-update-keeps-draft",
)


def calls_of(text: str) -> Calls:
    """Calls as they are written: `save A, read A`."""
    return tuple((action, document) for action, document in map(str.split, text.split(",")))


TOURS: Final = tuple(
    map(
        calls_of,
        (
            "exists A, read A, save A, exists A, read A, info A, save B, read B, save Z, read Z, read A,"
            "save A, read A, read A, info A, read B, read Z",
            "save A, save Z, foreign_save A, read A, foreign_delete A, exists A, read A, foreign_save Z, read Z",
            "save A, save B, save Z, delete A, exists A, read A, info A, read B, read Z, info Z,"
            "save A, read A, exists A, exists Z, delete Z, exists Z, read Z, read A, read B",
            "save A, save Z, save A, save Z, save B, read A, read B, read Z, save B, read B,"
            "delete A, save Z, read Z, exists A, delete B, read Z",
            "submit_faulty A, exists A, read A, save B, submit_faulty B, read B, exists B,"
            "delete B, exists B, save B, read B",
        ),
    )
)
#: What is drawn from, with `X` for any document; what stands twice is drawn twice as often.
_BLOCKS: Final = (
    *("save X", "save X", "save X, save X, read X", "save X, read X, read X"),
    *("read A, read B, read Z", "exists X, info X, read X"),
    *("delete X, exists X, read X", "delete X, exists X, read X, save X, read X"),
    *("foreign_save X, read X", "foreign_delete X, read X", "submit_faulty A, exists A, read A"),
)


def sequences() -> SearchStrategy[Calls]:
    """Sequences of any calls; all drafts are read at the end."""
    block = st.builds(str.replace, st.sampled_from(_BLOCKS), st.just("X"), st.sampled_from("ABZ"))
    blocks = st.lists(block, min_size=2, max_size=6)
    return blocks.map(lambda drawn: calls_of(", ".join(["save A", *drawn, "read A, read B, read Z"])))


@dataclass
class Players:
    """What one attempt at the case needs to run sequences.

    Attributes:
        other: The second account; None when the settings name none, and its steps are left out.
        off: Actions that cannot be run: a setting is missing, or an operation that other cases judge does not work.
        worked: Operations by role that have worked at least once. One that never did is for other cases to judge.
    """

    world: World
    other: Actor | None
    claim: Expect
    off: set[str] = field(default_factory=set)
    worked: set[str] = field(default_factory=set)


#: What a saved draft is, and is not if an answer refuses it.
_PRESENCE: Final = ("draft-get-content", "draft-exists-present")
#: Exchanges that a contradiction shows at most.
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
    """What the drafts of a case are by the reference model, and what it says of each exchange.

    Calls on one draft come one after another; those on others may be under way at the same time.
    """

    def __init__(self, world: World) -> None:
        self._reference = Reference(world.fresh.owns, settle_seconds=0)
        self.exchanges: list[Exchange] = []

    def of(self, owner: Actor) -> list[str]:
        """Uids of the drafts that are there and an account's own: no other has written them."""
        return self._reference.of(owner.realm, owner.role)

    def claim(self, expect: Callable[[str, str], Claim], exchange: Exchange, *before: Exchange) -> None:
        """Claim what is promised of the next exchange; `before` is shown with it."""
        for told in self.take(exchange):
            result, seen = told.result, str(told.result.seen)
            expect(*result.key).holds(told.held, *before, exchange, expected=result.expected, seen=seen)

    def take(self, exchange: Exchange) -> list[Told]:
        """What the next exchange tells; raises as `usable`."""
        self.exchanges.append(exchange)
        usable(exchange)
        return self._reference.learn(replace(exchange, overlapped=False), len(self.exchanges))


class _Document(NamedTuple):
    uid: str
    owner: Actor


class Life:
    """One sequence under way, on documents that were never used."""

    def __init__(self, players: Players) -> None:
        self._players = players
        self._model = DraftModel(players.world)
        self._documents: dict[str, _Document] = {}
        self._saves = 0
        self._done: list[Call] = []
        author = players.world.author
        self._renew("A", author)
        # The uid of one begins as that of the other.
        self._documents["B"] = _Document(f"{self._documents['A'].uid}b", author)
        if players.other is not None:
            self._renew(THEIRS, players.other)

    def _renew(self, name: str, owner: Actor) -> None:
        """Let a name stand for a document that was never used: what would follow is not shown."""
        self._documents[name] = _Document(self._players.world.uid(), owner)

    def play(self, calls: Iterable[Call]) -> None:
        """Make calls; raises as a claim does."""
        for call in calls:
            self._call(call)

    def _call(self, call: Call) -> None:
        """Make one call; one that has nothing to act on, or whose action is off, is passed over."""
        (action, name), players = call, self._players
        if action in players.off or name not in self._documents:
            return
        document, foreign = self._documents[name], action.startswith("foreign")
        owner, author = document.owner, players.world.author
        actor = (players.other if owner is author else author) if foreign else owner
        if actor is None or (foreign and document.uid not in self._model.of(owner)):
            return
        self._done.append(call)
        start = len(self._model.exchanges)
        try:
            if action.endswith("save"):
                self._save(name, document, actor)
            elif action == "submit_faulty":
                self._submit(name, document.uid, actor)
            else:
                self._ask(action, document, actor)
            if foreign and not self._model.exchanges[start].answer.refusal:
                self._renew(name, owner)
        except (Blocked, Untested, Ambiguous, GivenUp) as obstacle:
            self._leave_out(action, name, obstacle)

    def _leave_out(self, action: str, name: str, obstacle: Exception) -> None:
        """Go on without an action, or without the other account; without drafts there is nothing to run."""
        if action not in _NEEDED:
            self._players.off.add(action)
            self._renew(name, self._documents[name].owner)
        elif name == THEIRS:
            del self._documents[name]
            self._players.other = None
        else:
            raise obstacle

    def _ask(self, action: str, document: _Document, actor: Actor) -> None:
        there = document.uid in self._model.of(actor)
        answer = self._send(actor, ACTIONS[action], path={"uid": document.uid})
        if action == "delete" and there:
            self._accepted("draft-delete-removes", "deleteDraft", answer)

    def _save(self, name: str, document: _Document, actor: Actor) -> None:
        """Save the next content; an account that saves another's draft is refused, or reads what it saved."""
        self._saves += 1
        uid, samples = document.uid, self._players.world.samples
        record, query = content(samples, uid, self._saves), {"schema": samples.draft_schema}
        before = uid in self._model.of(actor)
        answer = self._send(actor, "saveDraft", path={"uid": uid}, query=query, json=record)
        if answer.success and not taken(self._model.exchanges[-1]):
            raise Blocked("saveDraft", f"answers a save with errors: {answer.quote()}")
        if actor is not document.owner:
            if not answer.refusal:
                self._send(actor, "getDraft", path={"uid": uid})
        elif not self._accepted(
            "draft-save-updates" if before else "draft-save-creates", "saveDraft", answer
        ):
            self._renew(name, actor)

    def _accepted(self, clause: str, operation: str, answer: Response) -> bool:
        """Claim that a request was accepted, if such a one was before; whether it was."""
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

    def _send(self, actor: Actor, operation: str, **parts: Any) -> Response:
        """Send a request, and judge the answer by the model."""
        exchange = actor.send(operation, **parts)
        self._take(exchange)
        return usable(exchange)

    def _take(self, exchange: Exchange) -> None:
        for told in self._model.take(exchange):
            result = told.result
            key = result.key if told.held else self._refined(told.subject, result)
            self._hold(key, told.held, result.expected, str(result.seen))

    def _refined(self, uid: str, result: Result) -> tuple[str, str]:
        """What a contradiction is about: another operation is asked, since the one that shows it may be wrong alone."""
        last, since = self._model.exchanges[-1], [each for each, at in self._done if at == self._done[-1][1]]
        document = next((each for each in self._documents.values() if each.uid == uid), None)
        refused = result.clause in _PRESENCE and not last.answer.success
        if document is None or not (refused or result.clause == "draft-delete-removes"):
            return result.key
        otherwise = "getDraft" if last.operation == "draftExists" else "draftExists"
        found = document.owner.send(otherwise, path={"uid": uid}).answer.success
        if not refused:
            return result.clause, "deleteDraft" if found else "draftExists"
        return result.key if found or since[-2:-1] != ["save"] else ("draft-save-creates", "saveDraft")

    def _hold(self, key: tuple[str, str], holds: bool, expected: str, seen: str) -> None:
        shown = self._model.exchanges[-1:] if holds else self._model.exchanges[-_MOST_EXCHANGES:]
        seen = f"{' → '.join(map(' '.join, self._done))}: {seen}"
        self._players.claim(*key).holds(holds, *shown, expected=expected, seen=seen)


#: Requests in a gate and in a night at most, and those of one drawn sequence, about.
_IN_A_GATE: Final = 60
_IN_A_NIGHT: Final = 700
_EACH: Final = 20


def claim_promises_hold(players: Players, properties: Properties) -> None:
    """Run the tours, and drawn sequences."""
    requests = _IN_A_NIGHT // properties.share if properties.share > 1 else _IN_A_GATE

    def play(calls: Calls) -> None:
        Life(players).play(calls)

    properties.hold(sequences(), play, requests=requests, each=_EACH, first=TOURS)


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
