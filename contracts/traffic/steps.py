"""One exchange as a step of a sequence, and what a sequence makes somebody suspect."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, Final, Generic, TypeVar

from contracts.checking.request_facts import RequestFacts
from contracts.judging import content
from contracts.judging.readers import Ambiguous
from contracts.session.exchange import Answer
from contracts.traffic.passed import Passed

#: How many documents are followed at a time; the one that was quiet longest goes first.
FOLLOWED: Final = 2000
#: So many different records with the same contradiction are no accident of somebody else's writing.
ENOUGH: Final = 3

State = TypeVar("State")


@dataclass(frozen=True)
class Step:
    """An exchange with everything a sequence needs of it.

    Attributes:
        answer: Of the service; None where the environment gave none.
        site: Scheme and host; what is said about one service says nothing about another.
        realm: As the request names it, empty for none.
        who: The account of the request, or its token; None where nobody can tell.
        sent: The request's body as JSON; None when it is not known.
        right: The request keeps the interface as far as it shows, and its answer is known as a whole.
    """

    passed: Passed
    facts: RequestFacts
    answer: Answer | None
    site: str
    realm: str
    who: str | None
    sent: Any
    right: bool

    @property
    def operation(self) -> str:
        """Its operationId."""
        return self.facts.operation.id

    @property
    def taken(self) -> bool:
        """Whether the service took the request: 2xx, and no errors array."""
        answer = self.answer
        return answer is not None and 200 <= answer.status < 300 and not self._turned_down(answer)

    @property
    def refused(self) -> bool:
        """Whether the service refused it for what it is about, and not for who asks or how often."""
        answer = self.answer
        if answer is None or answer.page or answer.status in (401, 403, 407, 408, 429):
            return False
        return answer.refusal or self._turned_down(answer)

    @property
    def vague(self) -> bool:
        """Whether nobody can tell what it did."""
        return not (self.taken or (self.answer is not None and self.answer.refusal)) or self.passed.crossed

    def _turned_down(self, answer: Answer) -> bool:
        try:
            return content.turned_down(answer)
        except Ambiguous:
            return True


@dataclass(frozen=True)
class Suspicion:
    """A contradiction between exchanges.

    Attributes:
        subject: The record it was seen on.
        because_of: Number of the exchange that the later one contradicts.
        holds: False for the assertion that was reached and held.
    """

    clause: str
    subject: str
    expected: str
    seen: str
    because_of: int
    holds: bool = False


Trail = Callable[[Step], Iterator[Suspicion]]


class Followed(Generic[State]):
    """What is known about records, the last ones that were spoken of."""

    def __init__(self, most: int = FOLLOWED) -> None:
        self._known: OrderedDict[tuple[str, ...], State] = OrderedDict()
        self._most = most

    def get(self, key: tuple[str, ...]) -> State | None:
        """What is known about a record; None for nothing."""
        if key in self._known:
            self._known.move_to_end(key)
        return self._known.get(key)

    def put(self, key: tuple[str, ...], state: State) -> None:
        """Remember something about a record."""
        self._known[key] = state
        self._known.move_to_end(key)
        while len(self._known) > self._most:
            self._known.popitem(last=False)

    def forget(self, key: tuple[str, ...]) -> None:
        """Know nothing about a record any more."""
        self._known.pop(key, None)

    def items(self) -> list[tuple[tuple[str, ...], State]]:
        """Everything that is known."""
        return list(self._known.items())
