"""The result of a check for one clause, an attempt at a case, and the confirmation of a contradiction.

A contradiction counts if it is seen again on fresh data.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import Any, Final

from registry_contracts.errors import EnvironmentFault
from registry_contracts.exchanges import readers
from registry_contracts.exchanges.exchange import TOKEN_ENDED, Exchange, Response
from registry_contracts.exchanges.foreign_answers import perhaps_foreign
from registry_contracts.interface.catalogue import load_catalogue

_SAVE: Final = "saveDraft"


class CheckOutcome(StrEnum):
    """How a check ends."""

    HELD = "held"
    CONTRADICTED = "contradicted"
    BLOCKED = "blocked"
    OBSERVED = "observed"


@dataclass(frozen=True, slots=True)
class Result:
    """The result of one check.

    Attributes:
        clause, operation: The subject.
        expected: The expected answer in words for readers without the code; empty at a silent point.
        seen: The actual answer in words; the obstacle for a blocked check; any JSON value for an observation.
        exchanges: Ids of the exchanges that show it, in order.
        role: The account role of the last of them.
        check: Id of the check in the table; empty for a comparison that a case makes itself.
        rate: (how often it was seen, number of tries); 1 of n is unconfirmed.
        doubted: It rests on a success without a body, and a gateway or cache has sent such answers.
    """

    clause: str
    operation: str
    outcome: CheckOutcome
    expected: str = ""
    seen: Any = ""
    exchanges: tuple[str, ...] = ()
    role: str = ""
    check: str = ""
    rate: tuple[int, int] = (0, 0)
    doubted: bool = False

    @property
    def confirmed(self) -> bool:
        """Whether it was seen at least twice on fresh data; if doubted, in every try."""
        seen, tried = self.rate
        return seen >= 2 and not (self.doubted and seen < tried)

    @property
    def key(self) -> tuple[str, str]:
        """The key of a finding within one realm."""
        return self.clause, self.operation


def contradicted(
    clause: str, operation: str, expected: str, seen: str, exchanges: tuple[str, ...] = (), role: str = ""
) -> Result:
    """The result of a comparison that is not in the table of checks."""
    return Result(clause, operation, CheckOutcome.CONTRADICTED, expected, seen, exchanges, role)


def seen_in(exchange: Exchange, operation: str, seen: str) -> str:
    """What was seen in an answer; names the exchange's operation if it differs from the result's."""
    if exchange.operation in (None, operation):
        return seen
    quoted = exchange.response is not None and seen == exchange.response.quote()
    return f"{exchange.operation} {'was answered' if quoted else 'showed:'} {seen}"


def observed(clause: str, operation: str, seen: Any) -> Result:
    """An observation where the interface document is silent; `seen` is any JSON value."""
    return Result(clause, operation, CheckOutcome.OBSERVED, seen=seen)


class Blocked(Exception):
    """A precondition failed, so nothing can be said about the claim: inconclusive.

    `clause` is the clause that failed, if the case declares to rely on one; `evidence` is the contradiction, if the
    document promises the precondition.
    """

    def __init__(self, operation: str, cause: str, clause: str = "", evidence: Result | None = None) -> None:
        place = f"blocked by {clause} ({operation})" if clause else operation
        super().__init__(f"{place}: {cause}" if place else cause)
        self.operation = operation
        self.cause = cause
        self.clause = clause
        self.evidence = evidence


#: Obstacles to judging a claim; they say nothing against the service.
OBSTACLES: Final = (Blocked, EnvironmentFault, readers.Ambiguous)


class Untested(Exception):
    """The case cannot run; the message says why, and `settings` names missing settings."""

    def __init__(self, why: str, *settings: str) -> None:
        super().__init__(why)
        self.settings = settings


def missing(setting: str, more: str = "") -> Untested:
    """The exception for a missing setting; `more` completes its sentence."""
    return Untested(f"setting {setting} is missing{more}", setting)


def usable(exchange: Exchange) -> Response:
    """The answer of an exchange, if it can be judged.

    Raises:
        EnvironmentFault: the environment gave no answer.
        Blocked: a 500-class answer: a finding on the clause about server errors, and all that depends on it is
            inconclusive. Or fresh tokens are refused before their expiration, which is also a separate finding.
    """
    answer = exchange.answer
    if answer.status >= 500:
        raise Blocked(exchange.operation or exchange.method, f"answered {answer.status}, a server error")
    if exchange.notes.get(TOKEN_ENDED):
        raise Blocked(exchange.operation or exchange.method, f"refuses fresh tokens, too: {answer.quote()}")
    return answer


def reports_content(operation: str | None) -> bool:
    """Whether an operation reports faulty content in an errors array, whatever its status."""
    return operation in load_catalogue().clause("errors-array").operations


def taken(exchange: Exchange) -> bool:
    """Whether a request was accepted: success and, if the operation reports content faults, no errors.

    The document shows neither the answer to a saved draft nor whether a faulty one is kept: if a save returns success
    and errors, nothing is promised of that draft.

    Raises:
        EnvironmentFault, Blocked: see `usable`.
        Ambiguous: the answer holds several different errors arrays.
    """
    answer = usable(exchange)
    may_report = reports_content(exchange.operation) or exchange.operation == _SAVE
    return answer.success and not (may_report and readers.errors(answer))


def done(exchange: Exchange, promise: str = "") -> Response:
    """The answer of a request that must be accepted; raises Blocked if it was not.

    Args:
        promise: The clause that promises that a request this plain is accepted.
    """
    answer, operation = usable(exchange), exchange.operation or exchange.method
    if not taken(exchange):
        seen, shown = answer.quote(), (exchange.id,)
        broken = contradicted(promise, operation, "accepted", seen, shown, exchange.role)
        due = promise and answer.refusal and not perhaps_foreign(exchange)
        raise Blocked(operation, f"answered {seen}", evidence=broken if due else None)
    return answer


class Contradiction(AssertionError):
    """A MUST is contradicted; ends the case."""

    def __init__(self, evidence: Result) -> None:
        super().__init__(
            f"{evidence.clause} ({evidence.operation}): expected {evidence.expected}; seen: {evidence.seen}"
        )
        self.evidence = evidence


@dataclass
class Attempt:
    """One attempt at a case.

    Attributes:
        number: 1 for the first, higher for confirmations.
        replay: Repeats an attempt that contradicted something, on fresh data.
        advisory: It can contradict only SHOULDs.
        held, contradicted: Number of assertions by (clause, operation).
        evidence: Contradictions of MUSTs and SHOULDs, in order.
        confirmed: Keys of evidence that the case itself tried again (`look_again`), with their rates.
        untested: Clauses that this service gives no occasion to judge, with reasons.
        obstacle: First obstacle; the other checks went on.
        before_again: Called with the contradictions that are about to be tried again.
    """

    number: int
    held: Counter[tuple[str, str]] = field(default_factory=Counter)
    contradicted: Counter[tuple[str, str]] = field(default_factory=Counter)
    evidence: list[Result] = field(default_factory=list)
    confirmed: dict[tuple[str, str], tuple[int, int]] = field(default_factory=dict)
    observations: list[Result] = field(default_factory=list)
    untested: dict[str, str] = field(default_factory=dict)
    exchanges: list[Exchange] = field(default_factory=list)
    replay: bool = False
    advisory: bool = False
    obstacle: Exception | None = None
    before_again: Callable[[Collection[tuple[str, str]]], None] = lambda _: None

    def note(self, evidence: Result) -> None:
        """Add evidence of a contradiction."""
        self.contradicted[evidence.key] += 1
        self.evidence.append(evidence)

    def look_again(
        self, keys: Collection[tuple[str, str]], again: Callable[[], Collection[tuple[str, str]]]
    ) -> None:
        """Try again on fresh data until each contradiction was seen twice; note the rates.

        Args:
            again: Tries again, and returns the keys of the contradictions.
        """
        sought, tries, end = set(keys), 1, len(self.exchanges) + MOST_REQUESTS
        self.before_again(sought)
        while sought and tries <= MOST_REPLAYS and len(self.exchanges) < end:
            tries += 1
            seen = sought.intersection(again())
            self.confirmed |= dict.fromkeys(seen, (2, tries))
            sought -= seen
        self.confirmed |= dict.fromkeys(sought, (1, tries))

    @property
    def dismissed(self) -> set[tuple[str, str]]:
        """Findings that the case itself tried again and did not see again."""
        return {key for key, (reproduced, _) in self.confirmed.items() if reproduced < 2}

    def forget_doubtful(self) -> None:
        """Drop evidence from a failing environment, except what the case itself tried again on fresh data."""
        self.evidence = [evidence for evidence in self.evidence if evidence.key in self.confirmed]
        for key in self.contradicted.keys() - self.confirmed.keys():
            del self.contradicted[key]

    @property
    def clouded(self) -> bool:
        """Whether the environment may have caused what was seen."""
        return any(exchange.doubtful for exchange in self.exchanges)

    @property
    def shut_out(self) -> bool:
        """Whether a contradiction rests on an answer that may only mean that the token is no longer valid."""
        shown = {name for evidence in self.evidence for name in evidence.exchanges}
        answers = (exchange.response for exchange in self.exchanges if exchange.id in shown)
        return any(answer is not None and answer.status in (401, 403) for answer in answers)

    @property
    def met_the_way(self) -> bool:
        """Whether a gateway or a cache may have sent one of the answers."""
        return any(map(perhaps_foreign, self.exchanges))

    @property
    def keys(self) -> set[tuple[str, str]]:
        """The keys of this attempt's findings."""
        return {evidence.key for evidence in self.evidence}


#: Maximum number of replays before a contradiction counts as unconfirmed.
MOST_REPLAYS = 12
#: No further replay begins after this many requests: a long case is replayed once at most.
MOST_REQUESTS = 120


def confirm(attempts: Sequence[Attempt], *, interfered: bool = False) -> Iterator[Result]:
    """One result for each finding, with its rate among the attempts that reached its assertion.

    The evidence is from the first attempt with the finding; its last evidence, which is the smallest example if a
    generator shrank it. `interfered`: a gateway or cache has answered instead of the service.
    """
    first: dict[tuple[str, str], Result] = {}
    sent = (exchange for attempt in attempts for exchange in attempt.exchanges if interfered)
    bodiless = {each.id for each in sent if _is_bodiless_success(each)}
    for attempt in attempts:
        smallest = {evidence.key: evidence for evidence in attempt.evidence}
        first = smallest | first
    for key, evidence in first.items():
        rates = [attempt.confirmed[key] for attempt in attempts if key in attempt.confirmed]
        seen = sum(key in attempt.keys for attempt in attempts)
        held = sum(key not in attempt.keys and key in attempt.held for attempt in attempts)
        rate = max(rates, default=(seen, seen + held))
        yield replace(evidence, rate=rate, doubted=not bodiless.isdisjoint(evidence.exchanges))


def _is_bodiless_success(exchange: Exchange) -> bool:
    answer = exchange.response
    return answer is not None and answer.success and (answer.bodiless or exchange.method == "HEAD")


def require(condition: bool, operation: str, cause: str) -> bool:
    """Raise Blocked unless a precondition holds."""
    if not condition:
        raise Blocked(operation, cause)
    return condition
