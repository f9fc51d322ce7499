"""Judges one exchange by every check of the table that it shows.

For requests sent by hand, replayed, read from an archive or passed through a proxy: nothing is sent here, and nothing
is known but the exchange itself. What takes several exchanges to show, such as reading after writing, is for cases.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field

from contracts.checks import faulty_requests
from contracts.checks.check import Check, Subject
from contracts.checks.outcomes import Blocked, usable
from contracts.checks.requests import RequestFacts, all_faults, read_request
from contracts.checks.results import CheckOutcome, Result
from contracts.checks.table import lines_of, universal_lines
from contracts.errors import EnvironmentFault
from contracts.exchanges.exchange import Exchange
from contracts.exchanges.readers import Ambiguous
from contracts.interface.catalogue import Clause, Level, load_catalogue
from contracts.interface.description import load_description


@dataclass(frozen=True)
class Judgement:
    """What one exchange shows.

    Attributes:
        facts: What the request is; None when it is no operation of the interface.
        request_faults: Where the request breaks the interface, in words.
        held: Clauses that an assertion was reached for, and held.
        findings: What contradicts a must or a should.
        observations: What was seen at silent points.
        obstacles: Why something could not be judged.
    """

    exchange: Exchange
    facts: RequestFacts | None
    request_faults: tuple[str, ...] = ()
    held: tuple[str, ...] = ()
    findings: tuple[Result, ...] = ()
    observations: tuple[Result, ...] = ()
    obstacles: tuple[str, ...] = ()
    levels: dict[str, str] = field(default_factory=dict)

    @property
    def touched(self) -> tuple[str, ...]:
        """Ids of all clauses that the exchange says something about, each once."""
        clauses = (
            *(each.clause for each in self.findings),
            *self.held,
            *(each.clause for each in self.observations),
        )
        return tuple(dict.fromkeys(clauses))


class Judge:
    """Judges exchanges one by one.

    Args:
        knows: Whether a text is a real secret, a token that the service issued or an account's password; None where
            that cannot be told. Then any token may be a good one, and echoes are not looked for.
    """

    def __init__(self, knows: Callable[[str], bool] | None = None) -> None:
        self._knows = knows
        self._description = load_description()

    def judge(self, exchange: Exchange, *, right: bool = False) -> Judgement:
        """Judge an exchange.

        Args:
            right: The sender knows that nothing about it is wrong, its data and its account included, so that it has
                to be accepted.
        """
        facts = read_request(exchange, self._description, self._knows)
        if facts is None:
            return Judgement(exchange, None, ("it is no operation of the interface",))
        exchange.operation = exchange.operation or facts.operation.id
        knows = self._knows or (lambda _: False)
        results = [
            *universal_results(exchange, knows),
            *fault_results(exchange, facts),
            *answer_results(exchange, facts, right=right),
        ]
        judged = Judgement(
            exchange,
            facts,
            tuple(fault.says for fault in all_faults(facts)),
            held_of(results),
            tuple(reversed(contradictions_of(results))),
            tuple(each for each in results if each.outcome is CheckOutcome.OBSERVED),
            obstacles_of(results),
        )
        judged.levels.update({name: str(load_catalogue().clause(name).level) for name in judged.touched})
        return judged


def held_of(results: Iterable[Result]) -> tuple[str, ...]:
    """The clauses that held and that nothing contradicts, each once."""
    results = list(results)
    contradicted = {each.clause for each in results if each.outcome is CheckOutcome.CONTRADICTED}
    held = (each.clause for each in results if each.outcome is CheckOutcome.HELD)
    return tuple(dict.fromkeys(clause for clause in held if clause not in contradicted))


def contradictions_of(results: Iterable[Result]) -> tuple[Result, ...]:
    """The first contradiction of each clause, the last clause first."""
    found = [each for each in results if each.outcome is CheckOutcome.CONTRADICTED]
    return tuple({each.key: each for each in reversed(found)}.values())


def obstacles_of(results: Iterable[Result]) -> tuple[str, ...]:
    """Why something could not be judged, each reason once."""
    return tuple(dict.fromkeys(each.seen for each in results if each.outcome is CheckOutcome.BLOCKED))


def universal_results(exchange: Exchange, knows: Callable[[str], bool]) -> Iterator[Result]:
    """The results of the checks that every exchange is held to; none where the environment answered.

    Args:
        knows: Whether a text is a real secret. What a case made up is none, and an answer that quotes it harms nobody.
    """
    response, operation = exchange.response, exchange.operation
    if response is None or exchange.fault or operation is None:
        return
    subject = Subject(exchange, response, None, knows)
    for check, clause in universal_lines(operation):
        arguments = check.applies(subject, clause.id)
        if arguments is not None:
            yield check.judge(clause, operation, exchange, arguments)


def answer_results(exchange: Exchange, facts: RequestFacts, *, right: bool = False) -> Iterator[Result]:
    """The results of the checks of an answer's form, and of what the success of a right request carries."""
    blocked = _unusable(exchange)
    if blocked is not None:
        yield blocked
    if exchange.fault is not None or exchange.response is None:
        return
    subject = Subject(exchange, exchange.response, facts, lambda _: False, right=right)
    stopped: set[str] = set()
    for check, clause in lines_of(facts.operation.id):
        if (blocked is not None and not check.any_status) or check.after in stopped:
            continue
        result = _result(check, clause, subject)
        if result is None:
            continue
        if _ends(result, clause):
            stopped.add(clause.id)
        yield result


def fault_results(exchange: Exchange, facts: RequestFacts) -> Iterator[Result]:
    """The results of the checks of the answer to a request with faults."""
    if not all_faults(facts):
        return
    catalogue = load_catalogue()
    if exchange.response is not None:
        subject = Subject(exchange, exchange.response, facts, lambda _: False)
        yield from faulty_requests.observations(subject, facts, catalogue)
    blocked = _unusable(exchange)
    if blocked is not None:
        yield blocked
        return
    try:
        for check, clause, arguments, expected in faulty_requests.due(subject, facts, catalogue):
            result = check.judge(clause, facts.operation.id, exchange, arguments, expected)
            yield result
            if _ends(result, clause):
                return
    except (Blocked, EnvironmentFault, Ambiguous) as obstacle:
        yield _blocked(exchange, obstacle)


def _result(check: Check, clause: Clause, subject: Subject) -> Result | None:
    assert subject.facts is not None, "its answer is judged by them"  # noqa: S101 - for the type checker
    try:
        arguments = check.applies(subject, clause.id)
        if arguments is None:
            return None
        return check.judge(clause, subject.facts.operation.id, subject.exchange, arguments)
    except (Blocked, EnvironmentFault, Ambiguous) as obstacle:
        return _blocked(subject.exchange, obstacle, clause.id)


def _ends(result: Result, clause: Clause) -> bool:
    """Whether nothing can be said any more that builds on the clause."""
    firm = result.outcome is CheckOutcome.CONTRADICTED and clause.level is Level.MUST
    return firm or result.outcome is CheckOutcome.BLOCKED


def _unusable(exchange: Exchange) -> Result | None:
    try:
        usable(exchange)
    except (Blocked, EnvironmentFault) as obstacle:
        return _blocked(exchange, obstacle)
    return None


def _blocked(exchange: Exchange, obstacle: Exception, clause: str = "") -> Result:
    return Result(
        clause,
        exchange.operation or "",
        CheckOutcome.BLOCKED,
        seen=str(obstacle),
        exchanges=(exchange.id,),
        role=exchange.role,
    )
