"""The documents of one play, what was done with them so far, and how a step speaks about it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from itertools import groupby
from typing import Any

from contracts.generation.model import LOOKS, MINE, OWNERS, THEIRS, Document, Happening, Step
from contracts.generation.model_cast import Cast, Key
from contracts.judging.claims import usable
from contracts.judging.outcomes import Blocked
from contracts.session.actor import Actor
from contracts.session.exchange import Answer, Exchange

#: A sequence that could not be shortened is told by its last steps.
_MOST_TOLD = 14
_MOST_EXCHANGES = 12


@dataclass
class Scene:
    """One play under way.

    Attributes:
        steps: What was done, in order; `told` is the same in the words of a finding.
    """

    cast: Cast
    documents: dict[str, Document] = field(default_factory=dict)
    steps: list[Step] = field(default_factory=list)
    told: list[tuple[Step, str]] = field(default_factory=list)
    exchanges: list[Exchange] = field(default_factory=list)
    versions: int = 0

    def __post_init__(self) -> None:
        for name in (*MINE, THEIRS) if self.cast.other else MINE:
            self.renew(name)

    def renew(self, name: str, uid: str | None = None) -> Document:
        """Let a name stand for a document that nobody has used."""
        document = Document(name, OWNERS[name], uid or self.cast.fresh.uid())
        self.documents[name] = document
        return document

    def owner(self, document: Document) -> Actor:
        """The actor that a document belongs to."""
        actor = self.cast.actor(document.owner)
        if actor is None:
            raise Blocked("createToken", f"nobody is there as {document.owner}")
        return actor

    def stranger(self, document: Document) -> Actor | None:
        """The account that a document does not belong to."""
        return self.cast.actor("other" if document.owner == "author" else "author")

    def send(self, actor: Actor, operation: str, **parts: Any) -> tuple[Exchange, Answer]:
        """Send a request and note it.

        Raises:
            Blocked: a server error. EnvironmentFault: no answer.
        """
        exchange = actor.send(operation, **parts)
        self.exchanges.append(exchange)
        return exchange, usable(exchange)

    def tell(self, step: Step, addition: str = "") -> None:
        """Note a step for the story."""
        self.steps.append(step)
        self.told.append((step, f"{step}{addition}"))

    def neighbours(self, document: Document, what: Happening) -> None:
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
        if not answer.success and kind not in self.cast.worked:
            raise Blocked(exchange.operation or "", f"answered {answer.quote()}")
        self.must(key, answer.success, expected="accepted (2xx)", seen=answer.quote())
        self.cast.worked.add(kind)

    def must(self, key: Key, holds: bool, *, expected: str, seen: str) -> None:
        """Judge a must by the last exchange.

        Raises:
            Contradiction: it does not hold.
        """
        shown = self.exchanges[-1:] if holds else self.exchanges[-_MOST_EXCHANGES:]
        self.cast.must(key, holds, shown, expected=expected, seen=f"{self.story()}: {seen}")

    def should(self, key: Key, holds: bool, document: Document, *, expected: str, seen: str) -> None:
        """Judge a should by the last exchange."""
        self.cast.should(
            key,
            holds,
            document.uid,
            self.exchanges[-1:],
            expected=expected,
            seen=f"{self.story(document.name)}: {seen}",
            steps=self.steps,
        )

    def story(self, name: str | None = None) -> str:
        """The sequence so far, or only what was done with one document.

        One that is too long leaves out looks at other documents than the last step's, and then its beginning.
        """
        told = self.told if name is None else [each for each in self.told if each[0].document == name]
        if len(told) > _MOST_TOLD:
            last = told[-1][0].document
            told = [each for each in told if each[0].document == last or each[0].action not in LOOKS]
        words = folded(text for _, text in told)
        return " → ".join(["…", *words[-_MOST_TOLD:]] if len(words) > _MOST_TOLD else words)


def folded(words: Iterable[str]) -> list[str]:
    """Words with those that repeat right after one another counted: `getDraft A x3`."""
    groups = [(word, len(list(group))) for word, group in groupby(words)]
    return [word if count == 1 else f"{word} x{count}" for word, count in groups]
