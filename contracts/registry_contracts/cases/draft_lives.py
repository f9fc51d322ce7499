"""Lives of drafts: sequences of calls of two accounts, each answer held against the reference model.

A sequence is data, `save A, read A, delete A`, on documents of the author and one of the other account. A tour of
them is run first; at night others are drawn. One that ends in a contradiction is shortened, each try on fresh
documents; shortening is our own, as each try costs requests: on nine drawn faults it took 11 to 104 requests, and
Hypothesis' shrinking 30 to 2,322; what fails now and then it gave up.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from itertools import groupby
from typing import Any, Final, NamedTuple
from urllib.parse import parse_qs, urlsplit

from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy

from registry_contracts.cases.drafts import accepted_with_errors, at_fault_for_loss
from registry_contracts.cases.list_pages import NOTHING_THERE, drafts_of
from registry_contracts.cases.properties import Properties
from registry_contracts.cases.sample_records import Samples
from registry_contracts.cases.submissions import CREATE_NAMED, UPDATE
from registry_contracts.cases.world import World
from registry_contracts.checks.claims import Claim, Expect
from registry_contracts.checks.errors_array import turned_down
from registry_contracts.checks.outcomes import Attempt, Blocked, Result, Untested, done, usable
from registry_contracts.errors import GivenUp
from registry_contracts.exchanges import readers
from registry_contracts.exchanges.exchange import Exchange, Response
from registry_contracts.exchanges.readers import Ambiguous
from registry_contracts.model.reference import Reference
from registry_contracts.model.steps import Told
from registry_contracts.session.actor import Actor

#: A step: what is done, and to which document; a list is that of the document's owner.
Call = tuple[str, str]
Calls = tuple[Call, ...]

#: The documents of the other account; the others are the author's.
THEIRS: Final = "ZY"
#: What each word does: the family that is left out once one of its operations does not work, and the operation.
ACTIONS: Final[Mapping[str, tuple[str, str]]] = {
    "save": ("drafts", "saveDraft"),
    "read": ("drafts", "getDraft"),
    "exists": ("drafts", "draftExists"),
    "delete": ("deletions", "deleteDraft"),
    "info": ("infos", "getDraftInfo"),
    "foreign_save": ("other account", "saveDraft"),
    "foreign_delete": ("other account", "deleteDraft"),
    "my": ("personal lists", "listDrafts"),
    "mydrafts": ("lists", "listDrafts"),
    "submit_faulty": ("submissions", ""),
}
#: Families of steps of which an obstacle leaves open whether they did anything.
_DOUBTFUL: Final = ("deletions", "other account", "submissions")
_LOOKS: Final = ("read", "exists", "info", "my", "mydrafts")
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
    "exists A, read A, save A, exists A, read A, info A, info A, info A, save B, read B, save Z, read Z, read A, my Z,"
    "save A, read A, read A, info A, read B, foreign_save A, read A, foreign_delete A, exists A, read A,"
    "mydrafts A, my A, delete A, exists A, read A, info A, read B, read Z, mydrafts A,"
    "save Z, save A, read Z, read A, exists Z, exists A, info Z, info A, mydrafts A, foreign_save Z, read Z,"
    "delete A, exists A, read A, info A, read B, read Z, mydrafts A, my A, my Z,"
    "save A, save Z, save A, save Z, save B, read A, read B, read A, read Z, save B, read B,"
    "delete A, read Z, exists A, submit_faulty A, exists A, read A, submit_faulty B, read B, exists B,"
    "delete Z, delete B, exists Z, exists B, read Z, my A, save A, read Z, save A, read A,"
    "mydrafts A"
)
#: What is drawn from, with `X` for any document; what stands twice is drawn twice as often.
_BLOCKS: Final = (
    *("save X", "save X", "save X, save X, read X", "save X, read X, read X"),
    *("read A, read B, read Z", "read A, read B, read Z", "exists X, info X, read X"),
    *("delete X, exists X, read X", "delete X, exists X, read X, save X, read X"),
    *("my A", "my Z", "mydrafts A", "foreign_save X, read X", "foreign_delete X, read X"),
    "submit_faulty A, exists A, read A",
)
#: Blocks of one sequence that is drawn.
_DRAWN: Final = 14


def sequences() -> SearchStrategy[Calls]:
    """Sequences of any calls; nothing of Hypothesis's is in them, since shortening is our own."""
    return st.integers(0, 2**32).map(_drawn)


def _drawn(seed: int) -> Calls:
    draw = random.Random(seed)  # noqa: S311 - no secret
    blocks = ["save A", "save B", "save Z"][: draw.randint(1, 3)]
    blocks += [draw.choice(_BLOCKS).replace("X", draw.choice("ABZ")) for _ in range(_DRAWN)]
    return calls_of(", ".join([*blocks, "mydrafts A, read A, read B, read Z"]))


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


#: What is promised of the collection of an account's drafts.
_MINE: Final = ("list-mydrafts-has-mine", "listDrafts")
#: What a draft that was saved is, and is not where an answer refuses it.
_PRESENCE: Final = ("draft-get-content", "draft-exists-present")
#: So many saves of a draft any service takes: how many versions it may have is not shown.
_MOST_VERSIONS: Final = 12
#: A sequence that could not be shortened is described by its last steps, and shown by its last exchanges.
_MOST_DESCRIBED: Final = 14
_MOST_EXCHANGES: Final = 12
#: Members of a contact record that may be left out; all but the first have a text for each language.
_MARKED: Final = ("middleName", "designation", "department", "address", "city")
#: Others, with texts that look like something else, and an array of several.
_ALIKE: Final[Mapping[str, Any]] = {
    "firstName": "true",
    "state": {"en": "00505"},
    "postalCode": {"en": "2026-01-31"},
    "phones": ["+254 20 387 3057", "+254 20 387 3058"],
}


def content(samples: Samples, uid: str, version: int) -> dict[str, Any]:
    """What a save sends: a valid record whose texts no other has, another of them left out each time."""
    text = f"{uid[-8:]}-v{version}."
    members: dict[str, Any] = {name: {"en": text} for name in _MARKED} | {"middleName": text}
    record = samples.draft(uid, lastName=text, **members, **_ALIKE)
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
        for name in "AB":
            self._renew(name, players.world.author)
        if players.other is not None:
            for name in THEIRS:
                self._renew(name, players.other)

    def _renew(self, name: str, owner: Actor) -> None:
        """Let a name stand for a document that was never used."""
        # At first the one begins as the other one does.
        alike = name == "B" and name not in self._documents
        uid = f"{self._documents['A'].uid}b" if alike else self._players.world.uid()
        self._documents[name] = _Document(uid, owner)

    def play(self, calls: Iterable[Call]) -> None:
        """Make calls; raises as a claim does."""
        for call in calls:
            self._call(call)

    def _call(self, call: Call) -> None:
        """Make one call; one that has nothing to act on, or whose family does not work, is passed over."""
        (action, name), players = call, self._players
        family, operation = ACTIONS[action]
        if family in players.off or name not in self._documents:
            return
        document, foreign = self._documents[name], action.startswith("foreign")
        uid, owner = document.uid, document.owner
        stranger = players.other if owner is players.world.author else players.world.author
        if foreign and (stranger is None or uid not in self._model.of(owner)):
            return
        self._done.append(call)
        actor = stranger if foreign and stranger is not None else owner
        try:
            if action.endswith("save"):
                self._save(name, document, actor, foreign=foreign)
            elif action == "submit_faulty":
                self._submit(name, uid, actor)
            elif action in ("my", "mydrafts"):
                self._list(actor, action)
            else:
                there = uid in self._model.of(actor)
                answer = self._send(actor, operation, path={"uid": uid})
                if action == "delete" and there:
                    self._claim_deleted(owner, answer)
                if foreign and not answer.refusal:
                    self._renew(name, owner)  # what follows is not shown
        except (Blocked, Untested, Ambiguous, GivenUp) as obstacle:
            self._leave_out(family, name, obstacle)

    def _leave_out(self, family: str, name: str, obstacle: Exception) -> None:
        """Go on without a family of steps, or without the other account; without drafts there is nothing to run."""
        if family != "drafts":
            self._players.off.setdefault(family, str(obstacle))
            if family in _DOUBTFUL and not isinstance(obstacle, Untested):
                self._renew(name, self._documents[name].owner)
        elif name in THEIRS:
            self._documents = {own: each for own, each in self._documents.items() if own not in THEIRS}
            self._players.other = None
        else:
            raise obstacle

    def _save(self, name: str, document: _Document, actor: Actor, *, foreign: bool) -> None:
        """Save the next content. Another account is refused, or it reads what it saved; the rest is not shown."""
        self._saves += 1
        uid, samples = document.uid, self._players.world.samples
        record, query = content(samples, uid, self._saves), {"schema": samples.draft_schema}
        before = uid in self._model.of(actor)
        answer = self._send(actor, "saveDraft", path={"uid": uid}, query=query, json=record)
        if accepted_with_errors(self._model.exchanges[-1]):
            raise Blocked("saveDraft", f"answers a save with errors: {answer.quote()}")
        if foreign and not answer.refusal:
            self._send(actor, "getDraft", path={"uid": uid})
            self._renew(name, document.owner)
        elif not foreign:
            clause = "draft-save-updates" if before else "draft-save-creates"
            if answer.refusal and self._done.count(("save", name)) > _MOST_VERSIONS:
                again = self._send(actor, "saveDraft", path={"uid": uid}, query=query, json=record)
                if again.refusal:
                    self._renew(name, actor)
                    return
            if not self._accepted(clause, "saveDraft", answer):
                self._renew(name, actor)

    def _accepted(self, clause: str, operation: str, answer: Response) -> bool:
        """Claim that a request was accepted where such a one was before, a list with a list; whether it was."""
        kind = f"{operation} by {self._model.exchanges[-1].role}"
        accepted = answer.success and (operation != "listDrafts" or readers.records(answer) is not None)
        if not accepted and kind not in self._players.worked:
            raise Blocked(operation, f"answered {answer.quote()}")
        self._hold((clause, operation), accepted, "accepted (2xx)", answer.quote())
        self._players.worked.add(kind)
        return accepted

    def _claim_deleted(self, owner: Actor, answer: Response) -> None:
        """Claim that a draft that is there was deleted; it may have been lost before."""
        players, removes = self._players, ("draft-delete-removes", "deleteDraft")
        if answer.status in NOTHING_THERE and f"deleteDraft by {owner.role}" in players.worked:
            key = at_fault_for_loss(players.world, owner, filter(None, (players.world.author, players.other)))
            if key != removes:
                self._hold(key, False, "the draft there until it is deleted", answer.quote())
        self._accepted(*removes, answer)

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
        lister, told = drafts_of(actor, collection), list[Told]()
        own = self._model.of(actor) if collection == "mydrafts" else []
        lost: list[str] = []

        def look() -> bool:
            start = len(self._players.attempt.exchanges)
            try:
                lost[:] = [uid for uid in own if not lister.search(uid).found]
                if not own:
                    lister.read()
            except Blocked:
                self._model.exchanges += self._players.attempt.exchanges[start:]
                # Of a page behind the first one, or a search by filter, no list need be given.
                refused = usable(self._model.exchanges[-1])
                first = not {"$skip", "$filter"} & {*parse_qs(urlsplit(self._model.exchanges[-1].url).query)}
                if own and first and (refused.refusal or readers.records(refused) is None):
                    self._accepted(*_MINE, refused)
                raise
            sent = self._players.attempt.exchanges[start:]
            told[:] = [each for exchange in sent for each in self._model.take(exchange)]
            return not lost and all(each.held for each in told)

        self._players.world.eventually(look)
        for each in told:
            self._judge(each)
        if own:
            self._players.worked.add(f"listDrafts by {actor.role}")
            seen = f"not there: {', '.join(lost)}"
            self._hold(_MINE, not lost, "every draft of the account in the list", seen)

    def _send(self, actor: Actor, operation: str, **parts: Any) -> Response:
        """Send a request, and judge the answer by the model."""
        exchange = actor.send(operation, **parts)
        self._take(exchange)
        return usable(exchange)

    def _take(self, exchange: Exchange) -> None:
        for told in self._model.take(exchange):
            self._judge(told)

    def _judge(self, told: Told) -> None:
        result = told.result
        name = next((name for name, each in self._documents.items() if each.uid == told.subject), None)
        key = result.key if told.held or name is None else self._refined(name, result)
        stores_nothing = key[0] in ("draft-delete-spares-others", "workflow-refused-update-keeps-draft")
        if not told.held and stores_nothing and self._given_elsewhere():
            key = ("draft-save-spares-others", "saveDraft")
        self._hold(key, told.held, result.expected, str(result.seen))

    def _given_elsewhere(self) -> bool:
        """Whether the last answer gives a draft as it was saved under another identifier, and never under this one."""
        *before, last = self._model.exchanges
        own, others = set[bool](), set[bool]()
        for each in before if last.operation == "getDraft" else ():
            saved = each.request_body.json
            if each.operation == "saveDraft" and isinstance(saved, dict):
                here = urlsplit(each.url).path == urlsplit(last.url).path
                (own if here else others).add(readers.holds_document(last.answer, saved))
        return True in others and True not in own

    def _refined(self, name: str, result: Result) -> tuple[str, str]:
        """What a contradiction speaks against, asked by another operation: the one that tells it may be wrong alone."""
        document, last = self._documents[name], self._model.exchanges[-1]
        otherwise = "getDraft" if last.operation == "draftExists" else "draftExists"

        def found() -> bool:
            return document.owner.send(otherwise, path={"uid": document.uid}).answer.success

        if result.clause == "draft-delete-removes":
            return result.clause, "deleteDraft" if found() else "draftExists"
        if result.clause not in _PRESENCE or last.answer.success:
            return result.key
        since = [action for action, at in self._done if at == name]
        absent = since[-2:-1] == ["save"] and not found()
        return ("draft-save-creates", "saveDraft") if absent else result.key

    def _hold(self, key: tuple[str, str], holds: bool, expected: str, seen: str) -> None:
        shown = self._model.exchanges[-1:] if holds else self._model.exchanges[-_MOST_EXCHANGES:]
        seen = f"{self._told()}: {seen}"
        self._players.claim(*key).holds(holds, *shown, expected=expected, seen=seen)

    def _told(self) -> str:
        """The sequence so far, in words; one that is too long leaves out its beginning."""
        groups = [(call, len(list(group))) for call, group in groupby(self._done)]
        words = [f"{' '.join(call)} x{count}" if count > 1 else " ".join(call) for call, count in groups]
        return " → ".join(["…", *words[-_MOST_DESCRIBED:]] if len(words) > _MOST_DESCRIBED else words)


def candidates(calls: Calls) -> Iterator[Calls]:
    """Sequences that likely contradict too, short ones first; all end in the same call.

    They hold the latest of what changed its document, of what changed anything, and of what was looked at in between.
    """
    *before, last = calls
    own = [call for call in before if call[1] == last[1]]
    changes = [call for call in own if call[0] not in _LOOKS]
    around = [call for call in before if call[0] not in _LOOKS or call[1] == last[1]]
    ends = [tuple(changes[-length:]) for length in (1, 2, 3, 4, 6)]
    ends += [tuple(own[-length:]) for length in (3, 6)] + [tuple(around[-length:]) for length in (4, 8)]
    ends += [tuple(around[-16:]), tuple(own), tuple(before)]
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


#: Requests in a gate and in a night at most; and those that a try at a shorter sequence costs, about.
_IN_A_GATE: Final = 110
_IN_A_NIGHT: Final = 700
_EACH: Final = 9


def claim_promises_hold(players: Players, properties: Properties) -> None:
    """Run the tour, and drawn sequences."""
    requests = _IN_A_NIGHT // properties.share if properties.share > 1 else _IN_A_GATE

    def play(calls: Calls) -> None:
        Life(players).play(calls)

    properties.hold(sequences(), play, requests=requests, each=_EACH, first=[TOUR], shorten=shortened)


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
