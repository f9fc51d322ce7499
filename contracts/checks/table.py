"""The table of checks: every comparison that cases, `check`, `proxy`, `call` and the page make.

`Judge` runs it on one exchange: nothing is sent, and nothing is known but the exchange itself.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache
from typing import Final, NamedTuple

from contracts.checks import documents, errors_array, http, sign_in, workflow
from contracts.checks.definition import NONE, Arguments, Check, Subject
from contracts.checks.documents import ERROR_NAMED, ERRORS_ARRAY
from contracts.checks.http import TURNED_DOWN
from contracts.checks.outcomes import Attempt, Blocked, CheckOutcome, Result, observed, usable
from contracts.checks.sign_in import NO_TOKEN
from contracts.checks.workflow import MESSAGE
from contracts.errors import EnvironmentFault, SuiteError
from contracts.exchanges.exchange import Exchange
from contracts.exchanges.readers import Ambiguous
from contracts.exchanges.request_facts import RequestFacts, RequestFault, all_faults, clauses_of, read_request
from contracts.interface.catalogue import Catalogue, Clause, Level, load_catalogue
from contracts.interface.description import load_description
from contracts.settings.target import AUTHOR

#: Every check by its id, those of single exchanges in the order in which they are run.
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
#: Clauses that are judged on every exchange, whatever its case is about.
UNIVERSAL: Final = frozenset(clause for check in http.UNIVERSAL for clause in check.clauses)


@cache
def _lines(operation: str, *, universal: bool) -> tuple[tuple[Check, Clause], ...]:
    """The checks of single exchanges, with their clauses, that an operation is held to: of every one, or the others."""
    catalogue, operations = load_catalogue(), load_description().operations
    chosen = [check for check in TABLE.values() if (check in http.UNIVERSAL) is universal]
    named = [(check, name) for check in chosen for name in check.clauses]
    for check in chosen:
        if check.of_operation is not None:
            named += [(check, check.of_operation(one)) for one in operations.values()]
    lines = ((check, catalogue.clause(name)) for check, name in named)
    return tuple((check, clause) for check, clause in lines if operation in clause.operations)


def check_named(name: str) -> Check:
    """A check of the table."""
    if name not in TABLE:
        raise SuiteError(f"there is no check {name!r}; the table holds {', '.join(TABLE)}")
    return TABLE[name]


_MANDATORY = "contact-mandatory-"


class Due(NamedTuple):
    """A check that the answer to a faulty request is held to."""

    check: Check
    clause: Clause
    arguments: Arguments
    expected: str = ""


def fault_observations(subject: Subject, facts: RequestFacts, catalogue: Catalogue) -> Iterator[Result]:
    """What is seen of a single fault about which the document is silent."""
    if len(all_faults(facts)) == 1:
        for fault, clause in clauses_of(facts, catalogue):
            if clause.level is Level.SILENT:
                seen = {"fault": fault.key, "status": subject.response.status}
                yield observed(clause.id, facts.operation.id, seen)


def checks_due(subject: Subject, facts: RequestFacts, catalogue: Catalogue) -> Iterator[Due]:
    """The checks that are due, one after another: a contradicted must ends them.

    With a single fault the refusal is about it, and is held to what its clause says. With several the refused one
    is unknown; if all were taken, the firmest clause is contradicted.
    """
    spoken = [
        (fault, clause)
        for fault, clause in clauses_of(facts, catalogue)
        if fault.firm and clause.level is not Level.SILENT
    ]
    if not spoken:
        return
    fault, clause = min(spoken, key=lambda pair: pair[1].level is not Level.MUST)
    if len(all_faults(facts)) == 1:
        yield from _of_one(subject, facts, fault, clause)
        if _tells_of_content(subject, facts, fault):
            yield Due(ERRORS_ARRAY, catalogue.clause("errors-array"), NONE)
    elif not subject.turned_down:
        yield Due(TURNED_DOWN, clause, NONE, _refused_for(fault.key))


def refusal_due(clause: Clause, operation: str, fault: str) -> Due:
    """The check that decides whether a fault was turned down; how a refused sign-in is answered is not shown.

    Args:
        fault: Its key in the catalogue's notation.
    """
    if operation == "createToken":
        return Due(NO_TOKEN, clause, NONE)
    return Due(TURNED_DOWN, clause, NONE, _refused_for(fault))


#: The last word of a fault's key, in a sentence about its place.
_KINDS_IN_WORDS: Final = {
    "wrong-kind": "is of another kind",
    "missing": "is missing",
    "too-short": "is too short",
    "too-long": "is too long",
    "pattern": "breaks its rule",
    "unknown-value": "has a value that is not known",
    "unknown-property": "has a member that is not known",
}


def _refused_for(fault: str) -> str:
    """What is expected of a request with a fault, in words."""
    place, _, kind = fault.partition(":")
    return f"refused: {place} {_KINDS_IN_WORDS.get(kind, f'is {kind}')}"


def _of_one(subject: Subject, facts: RequestFacts, fault: RequestFault, clause: Clause) -> Iterator[Due]:
    """What decides whether the only fault of a request was refused as its clause says, and told by its name."""
    if clause.message is not None and clause.status is not None:
        yield Due(MESSAGE, clause, {"clause": clause.id, "realm": facts.realm or ""})
    else:
        yield refusal_due(clause, facts.operation.id, fault.key)
    if clause.id.startswith(_MANDATORY) and not _for_want_of_rights(subject):
        yield Due(ERROR_NAMED, clause, {"code": errors_array.MANDATORY, "field": fault.field})


def _tells_of_content(subject: Subject, facts: RequestFacts, fault: RequestFault) -> bool:
    """Whether the errors array is due: for faulty content of a contact that was not accepted altogether.

    A fault of the request around the content need not be told there.
    """
    of_contact = fault.in_content and facts.operation.id.endswith("Contact")
    return of_contact and subject.turned_down and not _for_want_of_rights(subject)


def _for_want_of_rights(subject: Subject) -> bool:
    """Whether it may be the caller who was refused, before the service looked at the content."""
    return subject.exchange.role != AUTHOR and subject.response.status in (401, 403)


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
            *(finding.clause for finding in self.findings),
            *self.held,
            *(observation.clause for observation in self.observations),
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
            tuple(result for result in results if result.outcome is CheckOutcome.OBSERVED),
            obstacles_of(results),
        )
        judged.levels.update({name: str(load_catalogue().clause(name).level) for name in judged.touched})
        return judged


def held_of(results: Iterable[Result]) -> tuple[str, ...]:
    """The clauses that held and that nothing contradicts, each once."""
    results = list(results)
    contradicted = {result.clause for result in results if result.outcome is CheckOutcome.CONTRADICTED}
    held = (result.clause for result in results if result.outcome is CheckOutcome.HELD)
    return tuple(dict.fromkeys(clause for clause in held if clause not in contradicted))


def contradictions_of(results: Iterable[Result]) -> tuple[Result, ...]:
    """The first contradiction of each clause, the last clause first."""
    contradicted = [result for result in results if result.outcome is CheckOutcome.CONTRADICTED]
    return tuple({result.key: result for result in reversed(contradicted)}.values())


def obstacles_of(results: Iterable[Result]) -> tuple[str, ...]:
    """Why something could not be judged, each reason once."""
    return tuple(dict.fromkeys(result.seen for result in results if result.outcome is CheckOutcome.BLOCKED))


def universal_results(exchange: Exchange, knows: Callable[[str], bool]) -> Iterator[Result]:
    """The results of the checks that every exchange is held to; none where the environment answered.

    Args:
        knows: Whether a text is a real secret. What a case made up is none, and an answer may quote it.
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
    """The results of the checks of an answer's form, and of what the success of a right request carries."""
    blocked = _unusable(exchange)
    if blocked is not None:
        yield blocked
    if exchange.fault is not None or exchange.response is None:
        return
    subject = Subject(exchange, exchange.response, facts, lambda _: False, right=right)
    stopped: set[str] = set()
    for check, clause in _lines(facts.operation.id, universal=False):
        if (blocked is not None and not check.any_status) or check.after in stopped:
            continue
        for result in _results(check, clause, subject, facts.operation.id):
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
        yield from fault_observations(subject, facts, catalogue)
    blocked = _unusable(exchange)
    if blocked is not None:
        yield blocked
        return
    try:
        for check, clause, arguments, expected in checks_due(subject, facts, catalogue):
            result = check.judge(clause, facts.operation.id, exchange, arguments, expected)
            yield result
            if _ends(result, clause):
                return
    except (Blocked, EnvironmentFault, Ambiguous) as obstacle:
        yield _blocked(exchange, obstacle)


def _results(check: Check, clause: Clause, subject: Subject, operation: str) -> Iterator[Result]:
    """The result of a check, where the exchange shows it."""
    try:
        arguments = check.applies(subject, clause.id)
        if arguments is not None:
            yield check.judge(clause, operation, subject.exchange, arguments)
    except (Blocked, EnvironmentFault, Ambiguous) as obstacle:
        yield _blocked(subject.exchange, obstacle, clause.id)


def _ends(result: Result, clause: Clause) -> bool:
    """Whether nothing can be said any more that builds on the clause."""
    firm = result.outcome is CheckOutcome.CONTRADICTED and clause.level is Level.MUST
    return firm or result.outcome is CheckOutcome.BLOCKED


def _blocked(exchange: Exchange, obstacle: Exception, clause: str = "") -> Result:
    operation, shown = exchange.operation or "", (exchange.id,)
    return Result(
        clause, operation, CheckOutcome.BLOCKED, seen=str(obstacle), exchanges=shown, role=exchange.role
    )


def _unusable(exchange: Exchange) -> Result | None:
    try:
        usable(exchange)
    except (Blocked, EnvironmentFault) as obstacle:
        return _blocked(exchange, obstacle)
    return None


def note_universal(attempt: Attempt, knows: Callable[[str], bool]) -> None:
    """Add to an attempt what its exchanges say about the universal clauses.

    Args:
        knows: Whether a text is a real secret: the password of an account, or a token that the service issued.
    """
    for exchange in attempt.exchanges:
        for result in universal_results(exchange, knows):
            if result.outcome is CheckOutcome.HELD:
                attempt.held[result.key] += 1
            else:
                attempt.note(result)
