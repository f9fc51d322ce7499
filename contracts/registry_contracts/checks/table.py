"""The table of checks: every comparison that cases, `check`, `proxy`, `call` and the page make.

`judge` runs it on one exchange alone and sends nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import Final

from registry_contracts.checks import documents, errors_array, http, sign_in, workflow
from registry_contracts.checks.definition import Check, Subject
from registry_contracts.checks.documents import ERROR_NAMED, ERRORS_ARRAY
from registry_contracts.checks.http import TURNED_DOWN
from registry_contracts.checks.outcomes import OBSTACLES, Attempt, CheckOutcome, Result, observed, usable
from registry_contracts.checks.sign_in import NO_TOKEN
from registry_contracts.checks.workflow import MESSAGE
from registry_contracts.exchanges.exchange import Exchange
from registry_contracts.exchanges.request_facts import (
    RequestFacts,
    RequestFault,
    all_faults,
    clauses_of,
    read_request,
)
from registry_contracts.interface.catalogue import Clause, Level, load_catalogue
from registry_contracts.interface.description import load_description
from registry_contracts.settings.target import AUTHOR

#: Every check by id; those of single exchanges in the order in which they run.
TABLE: Final[Mapping[str, Check]] = {
    check.id: check
    for check in (
        *http.UNIVERSAL,
        http.EMPTY_OR_JSON,
        http.NO_CONTENT,
        *documents.VALIDATION_CHECKS,
        *sign_in.CHECKS,
        *documents.DRAFT_CHECKS,
        *documents.ATTACHMENT_CHECKS,
        *workflow.CHECKS,
        http.TAKEN,
        http.ACCEPTANCE,
        http.REFUSED,
        http.TURNED_DOWN,
        http.STATUS,
    )
}
#: Clauses that are judged on every exchange of every case.
UNIVERSAL: Final = frozenset(clause for check in http.UNIVERSAL for clause in check.clauses)


@cache
def _lines(operation: str, *, universal: bool) -> tuple[tuple[Check, Clause], ...]:
    """The checks of single exchanges for an operation, with their clauses: the universal or the other ones."""
    catalogue, operations = load_catalogue(), load_description().operations
    chosen = [check for check in TABLE.values() if check.universal is universal]
    named = [(check, name) for check in chosen for name in check.clauses]
    for check in chosen:
        if check.of_operation is not None:
            named += [(check, check.of_operation(one)) for one in operations.values()]
    lines = ((check, catalogue.clause(name)) for check, name in named)
    return tuple((check, clause) for check, clause in lines if operation in clause.operations)


_MANDATORY = "contact-mandatory-"


def _of_refusal(
    subject: Subject, facts: RequestFacts, spoken: Sequence[tuple[RequestFault, Clause]]
) -> Iterator[Result]:
    """The results of the checks that are due, in order.

    With a single fault, the refusal is judged by the fault's clause. With several, the reason of a refusal is unknown;
    if the request was accepted, a MUST clause is contradicted before a SHOULD.
    """

    def judged(check: Check, by: Clause, expected: str = "", **arguments: str) -> Result:
        return check.judge(by, facts.operation.id, subject.exchange, arguments, expected)

    firm = [each for each in spoken if each[0].firm and each[1].level is not Level.SILENT]
    if not firm:
        return
    fault, clause = min(firm, key=lambda pair: pair[1].level is not Level.MUST)
    if len(all_faults(facts)) > 1:
        if not subject.turned_down:
            yield judged(TURNED_DOWN, clause, refused_for(fault.key))
        return
    if clause.message is not None and clause.status is not None:
        yield judged(MESSAGE, clause, clause=clause.id, realm=facts.realm or "")
    elif facts.operation.id == "createToken":
        yield judged(NO_TOKEN, clause)  # the document does not say how a sign-in is refused
    else:
        yield judged(TURNED_DOWN, clause, refused_for(fault.key))
    # The service may have refused the caller before it read the content.
    for_rights = subject.exchange.role != AUTHOR and subject.response.status in (401, 403)
    if clause.id.startswith(_MANDATORY) and not for_rights:
        yield judged(ERROR_NAMED, clause, code=errors_array.MANDATORY, field=fault.field)
    # The array need not report a fault outside the content.
    of_contact = fault.in_content and facts.operation.id.endswith("Contact")
    if of_contact and subject.turned_down and not for_rights:
        yield judged(ERRORS_ARRAY, load_catalogue().clause("errors-array"))


#: The kinds in fault keys, in words after the place.
_KINDS_IN_WORDS: Final = {
    "wrong-kind": "has the wrong type",
    "missing": "is missing",
    "too-short": "is too short",
    "too-long": "is too long",
    "pattern": "breaks its rule",
    "unknown-value": "has an unknown value",
    "unknown-property": "has an unknown member",
}


def refused_for(fault: str) -> str:
    """The expected refusal of a request in words, by the fault's key in the catalogue's notation."""
    place, _, kind = fault.partition(":")
    return f"refused: {place} {_KINDS_IN_WORDS.get(kind, f'is {kind}')}"


@dataclass(frozen=True)
class Judgement:
    """The results of all checks that apply to one exchange.

    Attributes:
        facts: The request's facts; None if it is no operation of the interface.
    """

    facts: RequestFacts | None
    results: tuple[Result, ...] = ()

    @property
    def request_faults(self) -> tuple[str, ...]:
        """Where the request breaks the interface, in words."""
        if self.facts is None:
            return ("it is no operation of the interface",)
        return tuple(fault.says for fault in all_faults(self.facts))

    @property
    def findings(self) -> tuple[Result, ...]:
        """Contradictions of MUSTs and SHOULDs: the first one of each clause."""
        contradicted: dict[tuple[str, str], Result] = {}
        for result in self._ending(CheckOutcome.CONTRADICTED):
            contradicted.setdefault(result.key, result)
        return tuple(contradicted.values())

    @property
    def held(self) -> tuple[str, ...]:
        """The clauses that held without any contradiction, each once."""
        against = {result.clause for result in self._ending(CheckOutcome.CONTRADICTED)}
        held = dict.fromkeys(result.clause for result in self._ending(CheckOutcome.HELD))
        return tuple(clause for clause in held if clause not in against)

    @property
    def observations(self) -> list[Result]:
        """Observations where the document is silent."""
        return self._ending(CheckOutcome.OBSERVED)

    @property
    def obstacles(self) -> tuple[str, ...]:
        """The reasons why something could not be judged, each once."""
        return tuple(dict.fromkeys(result.seen for result in self._ending(CheckOutcome.BLOCKED)))

    @property
    def touched(self) -> tuple[str, ...]:
        """Ids of all clauses with a result, each once."""
        shown = [[each.clause for each in results] for results in (self.findings, self.observations)]
        return tuple(dict.fromkeys((*shown[0], *self.held, *shown[1])))

    def _ending(self, outcome: CheckOutcome) -> list[Result]:
        return [result for result in self.results if result.outcome is outcome]


def judge(
    exchange: Exchange, knows: Callable[[str], bool] | None = None, *, right: bool = False
) -> Judgement:
    """Judge a single exchange.

    Args:
        knows: Whether a text is a real secret: a token that the service issued or an account's password. None if
            unknown: then any token may be valid, and echoed secrets are not checked.
        right: The sender knows that the request is valid, including its data and its account, so it must be accepted.
    """
    facts = read_request(exchange, knows)
    if facts is None:
        return Judgement(None)
    exchange = replace(exchange, operation=exchange.operation or facts.operation.id)
    results = (
        *universal_results(exchange, knows or (lambda _: False)),
        *fault_results(exchange, facts),
        *answer_results(exchange, facts, right=right),
    )
    return Judgement(facts, results)


def universal_results(exchange: Exchange, knows: Callable[[str], bool]) -> Iterator[Result]:
    """The results of the universal checks; none if the environment failed.

    Args:
        knows: Whether a text is a real secret; an answer may quote a made-up one.
    """
    response, operation = exchange.response, exchange.operation
    if response is None or exchange.fault or operation is None:
        return
    subject = Subject(exchange, response, None, knows)
    for check, clause in _lines(operation, universal=True):
        arguments = check.applies(subject, clause.id)
        if arguments is not None:
            yield check.judge(clause, operation, exchange, arguments)


def answer_results(exchange: Exchange, facts: RequestFacts, *, right: bool = False) -> Iterator[Result]:
    """The results of the checks of an answer's form and of the success of a valid request."""
    blocked = _unusable(exchange)
    if blocked is not None:
        yield blocked
    if exchange.fault is not None or exchange.response is None:
        return
    subject = Subject(exchange, exchange.response, facts, lambda _: False, right=right)
    for check, clause in _lines(facts.operation.id, universal=False):
        if blocked is not None and not check.looks_at(exchange):
            continue
        try:
            arguments = check.applies(subject, clause.id)
            if arguments is not None:
                yield check.judge(clause, facts.operation.id, exchange, arguments)
        except OBSTACLES as obstacle:
            yield _blocked(exchange, obstacle, clause.id)


def fault_results(exchange: Exchange, facts: RequestFacts) -> Iterator[Result]:
    """The results of the checks of the answer to a faulty request."""
    if not all_faults(facts):
        return
    blocked, operation = _unusable(exchange), facts.operation.id
    spoken = list(clauses_of(facts))
    if exchange.response is not None and len(all_faults(facts)) == 1:
        for fault, clause in spoken:
            if clause.level is Level.SILENT:
                yield observed(clause.id, operation, {"fault": fault.key, "status": exchange.response.status})
    if blocked is not None:
        yield blocked
        return
    subject = Subject(exchange, exchange.answer, facts, lambda _: False)
    try:
        for result in _of_refusal(subject, facts, spoken):
            yield result
            must = load_catalogue().clause(result.clause).level is Level.MUST
            if must and result.outcome is CheckOutcome.CONTRADICTED:
                return
    except OBSTACLES as obstacle:
        yield _blocked(exchange, obstacle)


def _blocked(exchange: Exchange, obstacle: Exception, clause: str = "") -> Result:
    operation, shown = exchange.operation or "", (exchange.id,)
    return Result(
        clause, operation, CheckOutcome.BLOCKED, seen=str(obstacle), exchanges=shown, role=exchange.role
    )


def _unusable(exchange: Exchange) -> Result | None:
    try:
        usable(exchange)
    except OBSTACLES as obstacle:
        return _blocked(exchange, obstacle)
    return None


def note_universal(attempt: Attempt, knows: Callable[[str], bool]) -> None:
    """Add to an attempt the results of its exchanges for the universal clauses.

    Args:
        knows: Whether a text is a real secret: the password of an account, or a token that the service issued.
    """
    for exchange in attempt.exchanges:
        for result in universal_results(exchange, knows):
            if result.outcome is CheckOutcome.HELD:
                attempt.held[result.key] += 1
            else:
                attempt.note(result)
