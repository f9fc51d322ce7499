"""A small model of what the document promises about drafts and attachments, however many calls came before.

The model knows only what is promised: what was saved and not deleted is there as it was saved. Where the document is
silent (may another account write, does an attachment outlive its draft) the model forgets the document instead of
guessing: its name then stands for a fresh one.
"""

from __future__ import annotations

import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from enum import StrEnum
from itertools import groupby
from typing import Any, Final

from contracts.cases.arrangement import Arrangement
from contracts.cases.sample_records import Samples
from contracts.checks.claims import Claims
from contracts.checks.outcomes import Attempt, Blocked, Contradiction, Result, usable
from contracts.exchanges.exchange import Exchange, Response
from contracts.session.actor import Actor
from contracts.session.namespace import Namespace


class Action(StrEnum):
    """What a step does; the values are the words of a finding's sequence."""

    SAVE = "saveDraft"
    DELETE = "deleteDraft"
    READ = "getDraft"
    EXISTS = "draftExists"
    INFO = "getDraftInfo"
    MY = "listDrafts my"
    MYDRAFTS = "listDrafts mydrafts"
    FOREIGN_SAVE = "foreign saveDraft"
    FOREIGN_DELETE = "foreign deleteDraft"
    ATTACH = "createAttachment"
    DOWNLOAD = "getAttachment"
    ATTACHMENTS = "listAttachments"
    SUBMIT_FAULTY = "submit faulty"


#: Steps that change nothing.
LOOKS: Final = frozenset(
    {
        Action.READ,
        Action.EXISTS,
        Action.INFO,
        Action.MY,
        Action.MYDRAFTS,
        Action.DOWNLOAD,
        Action.ATTACHMENTS,
    }
)
#: Steps of the account that a document does not belong to.
FOREIGN: Final = frozenset({Action.FOREIGN_SAVE, Action.FOREIGN_DELETE})
#: Two documents of the author, one of the other account, and a record that the author submitted.
MINE: Final = ("A", "B")
THEIRS: Final = "C"
SUBMITTED: Final = "S"
OWNERS: Final = {"A": "author", "B": "author", "C": "other", "S": "author"}


@dataclass(frozen=True, slots=True)
class Step:
    """One call in a sequence: what, and on which document; a list of drafts is that of the document's owner."""

    action: Action
    document: str

    def __str__(self) -> str:
        listing = self.action in (Action.MY, Action.MYDRAFTS)
        return f"{self.action} of {OWNERS[self.document]}" if listing else f"{self.action} {self.document}"


class Change(StrEnum):
    """What may have changed a draft since it was last seen as promised."""

    CREATED = "created"
    UPDATED = "updated"
    DELETED = "deleted"
    NEIGHBOUR_SAVED = "neighbour saved"
    NEIGHBOUR_DELETED = "neighbour deleted"
    REFUSED_CREATE = "refused create"
    REFUSED_UPDATE = "refused update"


#: Clause and operation that a wrong draft speaks against, by what happened to it; the first that did counts.
_BLAME: Final = {
    Change.UPDATED: ("draft-save-updates", "getDraft"),
    Change.CREATED: ("draft-get-content", "getDraft"),
    Change.REFUSED_UPDATE: ("workflow-refused-update-keeps-draft", "updateWorkflowRecord"),
    Change.NEIGHBOUR_DELETED: ("draft-delete-spares-others", "deleteDraft"),
    Change.NEIGHBOUR_SAVED: ("draft-save-spares-others", "saveDraft"),
}


@dataclass
class File:
    """An attachment: its path parameters and its bytes.

    Attributes:
        resaved: The draft of its document was saved since it was created.
        saved_since, neighbour_since: That draft was saved, another attachment created, since it was last downloaded.
    """

    path: dict[str, str]
    content: bytes
    resaved: bool = False
    saved_since: bool = False
    neighbour_since: bool = False

    @property
    def name(self) -> str:
        """Its file name."""
        return self.path["filename"]

    @property
    def id(self) -> int:
        """Its attachment identifier."""
        return int(self.path["attachmentId"])


@dataclass
class ReportedMembers:
    """Members that the service itself shows of a draft, in the answer to a save and in the info, now and before."""

    save_before: dict[str, Any] = field(default_factory=dict)
    info_before: dict[str, Any] = field(default_factory=dict)
    save_now: dict[str, Any] = field(default_factory=dict)
    info_now: dict[str, Any] = field(default_factory=dict)

    def saved(self, answer: dict[str, Any], *, update: bool) -> None:
        """The draft was saved; what was reported of a deleted one does not count."""
        self.save_before, self.info_before = (self.save_now, self.info_now) if update else ({}, {})
        self.save_now, self.info_now = answer, {}

    def moved(self) -> list[str]:
        """Members that save and info agreed on before, and that the answer to the later save shows changed."""
        return [
            name
            for name, before in self.save_before.items()
            if name in self.info_before
            and self.info_before[name] == before
            and self.save_now.get(name, before) != before
        ]

    def stale(self, info: dict[str, Any]) -> list[str]:
        """Of those, the ones that an info still shows as they were."""
        return [name for name in self.moved() if name in info and info[name] == self.save_before[name]]


@dataclass
class Document:
    """One document as the model knows it.

    Attributes:
        version: Number of the save whose content the draft holds; None when there is no draft.
        contents: What every save sent, by its number, the header left out; markers are in them.
        deleted, gone: A draft of it was deleted; the exists check has said so since.
        updated: The last save was not the first.
        since: What happened since the draft was last read as promised.
        reported: What the service reported of the draft, in answers to saves and in its info.
    """

    name: str
    owner: str
    uid: str
    version: int | None = None
    contents: dict[int, dict[str, Any]] = field(default_factory=dict)
    deleted: bool = False
    gone: bool = False
    updated: bool = False
    since: list[Change] = field(default_factory=list)
    files: list[File] = field(default_factory=list)
    reported: ReportedMembers = field(default_factory=ReportedMembers)

    @property
    def saved(self) -> dict[str, Any] | None:
        """The content that the draft holds; None when there is no draft."""
        return None if self.version is None else self.contents[self.version]

    def save(self, version: int, content: dict[str, Any], answer: Any) -> None:
        """A save was accepted."""
        update = self.version is not None
        self.version, self.contents[version] = version, content
        self.since = [Change.UPDATED if update else Change.CREATED]
        self.updated = update
        self.reported.saved(answer if isinstance(answer, dict) else {}, update=update)
        for file in self.files:
            file.saved_since = file.resaved = True

    def delete(self) -> None:
        """A deletion was accepted. Whether attachments stay without a draft is not shown, so they are forgotten."""
        self.version, self.deleted, self.gone = None, True, False
        self.since = [Change.DELETED]
        self.files = []

    def suspect(self) -> tuple[str, str]:
        """The clause and operation that a wrong draft speaks against."""
        latest = Change.UPDATED if self.updated else Change.CREATED
        return next((blame for what, blame in _BLAME.items() if what in self.since), _BLAME[latest])

    def shown_as(self, text: str) -> list[int]:
        """Numbers of the saves whose content stands in a text."""
        return [version for version in self.contents if marker(self.uid, version) in text]


#: Members of a contact record that may be left out; those with a text for each language.
_TEXTS: Final = ("designation", "department", "address", "city")
_MARKED: Final = ("middleName", *_TEXTS)


def marker(uid: str, version: int) -> str:
    """A text that no other content holds."""
    return f"{uid[-8:]}-v{version}."


def content(samples: Samples, uid: str, version: int) -> dict[str, Any]:
    """What a save sends: a valid record with its marker in several members, another of which is left out each time."""
    text = marker(uid, version)
    values: list[Any] = [{"en": text} if name in _TEXTS else text for name in _MARKED]
    members = dict(zip(_MARKED, values, strict=True))
    marked = samples.draft(uid, lastName=text, **members)
    marked.pop(_MARKED[version % len(_MARKED)], None)
    return marked


#: A should is judged until it was contradicted on this many documents: enough to be sure of it.
SURE = 2
#: Seconds between one look for a late effect and the next; eight in all.
_WAITS = (0.25, 0.25, 0.5, 1.0, 2.0, 4.0)

Key = tuple[str, str]


@dataclass
class Context:
    """What one attempt at the case needs to run sequences.

    Attributes:
        other: The second account; None when the settings name none, and its steps are left out.
        off: Families of steps that cannot be run, with the reason: a setting is missing or an operation that
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
    _without_evidence: bool = False

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
        if self.sure_of(key) or self._without_evidence:
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

    def settled(self, key: Key, uid: str) -> bool:
        """Whether a should need not be waited for: it was contradicted on this document, or often enough."""
        return uid in self._contradicted[key] or self.sure_of(key) or self._without_evidence

    def eventually(self, look: Callable[[], bool]) -> bool:
        """Whether an effect shows within a few seconds; looks less and less often, as each look is a request."""
        for seconds in _WAITS:
            time.sleep(seconds)
            if look():
                return True
        return False

    @contextmanager
    def without_evidence(self) -> Iterator[None]:
        """Run without leaving evidence: for finding out whether a shorter sequence contradicts too."""
        evidence, contradicted = len(self.attempt.evidence), self.attempt.contradicted.copy()
        self._without_evidence = True
        try:
            yield
        finally:
            self._without_evidence = False
            del self.attempt.evidence[evidence:]
            self.attempt.contradicted = contradicted

    def conclude(self, found: Contradiction, best: Result, reproduced: int, tried: int) -> None:
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


#: A sequence that could not be shortened is described by its last steps.
_MOST_DESCRIBED = 14
_MOST_EXCHANGES = 12


@dataclass
class RunningSequence:
    """One sequence under way.

    Attributes:
        steps: What was done, in order; `descriptions` is the same in the words of a finding.
    """

    context: Context
    documents: dict[str, Document] = field(default_factory=dict)
    steps: list[Step] = field(default_factory=list)
    descriptions: list[tuple[Step, str]] = field(default_factory=list)
    exchanges: list[Exchange] = field(default_factory=list)
    versions: int = 0

    def __post_init__(self) -> None:
        for name in (*MINE, THEIRS) if self.context.other else MINE:
            self.renew(name)

    def renew(self, name: str, uid: str | None = None) -> Document:
        """Let a name stand for a document that was never used."""
        document = Document(name, OWNERS[name], uid or self.context.fresh.uid())
        self.documents[name] = document
        return document

    def owner(self, document: Document) -> Actor:
        """The actor that a document belongs to.

        Raises:
            Blocked: the target has no such account.
        """
        actor = self.context.actor(document.owner)
        if actor is None:
            raise Blocked("createToken", f"there is no account {document.owner}")
        return actor

    def other_actor(self, document: Document) -> Actor | None:
        """The account that a document does not belong to."""
        return self.context.actor("other" if document.owner == "author" else "author")

    def send(self, actor: Actor, operation: str, **parts: Any) -> tuple[Exchange, Response]:
        """Send a request and note it.

        Raises:
            Blocked: a server error. EnvironmentFault: no answer.
        """
        exchange = actor.send(operation, **parts)
        self.exchanges.append(exchange)
        return exchange, usable(exchange)

    def record(self, step: Step, addition: str = "") -> None:
        """Note a step for the story."""
        self.steps.append(step)
        self.descriptions.append((step, f"{step}{addition}"))

    def neighbours(self, document: Document, what: Change) -> None:
        """Something happened to a document that must not touch the others."""
        for other in self.documents.values():
            if other is not document:
                other.since.append(what)

    def accepts(self, exchange: Exchange, key: Key) -> None:
        """Judge a must on a request that has to be accepted; one that never worked is for other cases to judge.

        Raises:
            Blocked: it was refused, as always before. Contradiction: it was refused, and worked before.
        """
        answer, kind = exchange.answer, f"{exchange.operation} by {exchange.role}"
        if not answer.success and kind not in self.context.worked:
            raise Blocked(exchange.operation or "", f"answered {answer.quote()}")
        self.must(key, answer.success, expected="accepted (2xx)", seen=answer.quote())
        self.context.worked.add(kind)

    def must(self, key: Key, holds: bool, *, expected: str, seen: str) -> None:
        """Judge a must by the last exchange.

        Raises:
            Contradiction: it does not hold.
        """
        shown = self.exchanges[-1:] if holds else self.exchanges[-_MOST_EXCHANGES:]
        self.context.must(key, holds, shown, expected=expected, seen=f"{self.described()}: {seen}")

    def should(self, key: Key, holds: bool, document: Document, *, expected: str, seen: str) -> None:
        """Judge a should by the last exchange."""
        self.context.should(
            key,
            holds,
            document.uid,
            self.exchanges[-1:],
            expected=expected,
            seen=f"{self.described(document.name)}: {seen}",
            steps=self.steps,
        )

    def described(self, name: str | None = None) -> str:
        """The sequence so far, or only what was done with one document.

        One that is too long leaves out looks at other documents than the last step's, and then its beginning.
        """
        described = (
            self.descriptions
            if name is None
            else [description for description in self.descriptions if description[0].document == name]
        )
        if len(described) > _MOST_DESCRIBED:
            last = described[-1][0].document
            described = [
                description
                for description in described
                if description[0].document == last or description[0].action not in LOOKS
            ]
        words = folded(text for _, text in described)
        return " → ".join(["…", *words[-_MOST_DESCRIBED:]] if len(words) > _MOST_DESCRIBED else words)


def folded(words: Iterable[str]) -> list[str]:
    """Words with those that repeat right after one another counted: `getDraft A x3`."""
    groups = [(word, len(list(group))) for word, group in groupby(words)]
    return [word if count == 1 else f"{word} x{count}" for word, count in groups]
