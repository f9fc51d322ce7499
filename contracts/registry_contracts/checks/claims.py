"""Claims: the assertions of a case, each registered for a clause of the catalogue.

A clause passes only if an assertion for it was reached, so cases assert only through this module.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Any

from registry_contracts.checks.definition import Check, not_of_the_way
from registry_contracts.checks.documents import DOCUMENT, ERROR_NAMED, ERRORS_ARRAY
from registry_contracts.checks.http import ACCEPTANCE, EMPTY_OR_JSON, REFUSED, STATUS, TAKEN, TURNED_DOWN
from registry_contracts.checks.outcomes import (
    Attempt,
    Blocked,
    CheckOutcome,
    Contradiction,
    Result,
    contradicted,
    observed,
    reports_content,
    seen_in,
    taken,
)
from registry_contracts.checks.table import TABLE
from registry_contracts.checks.workflow import IDENTIFIER, MESSAGE
from registry_contracts.errors import EnvironmentFault, SuiteError
from registry_contracts.exchanges.exchange import Exchange
from registry_contracts.interface.catalogue import Catalogue, Clause, Level
from registry_contracts.session.transport import TIMED_OUT


class Claim:
    """Assertions about one clause on one operation, by the checks of the table.

    Every method may raise:
        EnvironmentFault: the environment gave no answer, or sent HTML instead of JSON.
        Blocked: a 500-class answer, which is a finding of its own.
        Contradiction: the check is contradicted and the clause is a MUST. A SHOULD is noted and the case continues.
    """

    def __init__(self, clause: Clause, operation: str, attempt: Attempt) -> None:
        self._clause = clause
        self._operation = operation
        self._attempt = attempt

    def holds(self, condition: bool, *exchanges: Exchange, expected: str, seen: str = "") -> None:
        """Register an assertion whose result the case has computed.

        Args:
            exchanges: The exchanges that show it, in order.
            expected, seen: Both sides in words, for the report; `seen` defaults to the last answer.
        """
        if condition:
            self._attempt.held[self._clause.id, self._operation] += 1
            return
        not_of_the_way(exchanges)
        seen = seen or (exchanges[-1].answer.quote() if exchanges else "")
        quoted = (each for each in reversed(exchanges) if each.response and each.response.quote() == seen)
        seen = next((seen_in(each, self._operation, seen) for each in quoted), seen)
        shown = tuple(exchange.id for exchange in exchanges)
        role = exchanges[-1].role if exchanges else ""
        self._contradicted(contradicted(self._clause.id, self._operation, expected, seen, shown, role))

    def untested(self, why: str) -> None:
        """Note that this service gives no occasion to judge the clause, which the document allows."""
        self._attempt.untested[self._clause.id] = why

    def meets(
        self, check: str, exchange: Exchange, *, because_of: Sequence[Exchange] = (), **arguments: Any
    ) -> None:
        """The answer passes a check of the table.

        Args:
            because_of: Earlier exchanges that make it due, in order; a finding shows them.
            arguments: Values to compare with.
        """
        if check not in TABLE:
            raise SuiteError(f"no check is called {check!r}; the table has {', '.join(TABLE)}")
        result = TABLE[check].judge(self._clause, self._operation, exchange, arguments)
        earlier = tuple(exchange.id for exchange in because_of)
        self._register(replace(result, exchanges=(*earlier, *result.exchanges)))

    def accepted(self, exchange: Exchange) -> None:
        """The request was accepted: 2xx, or a redirect if a download may redirect.

        For a contact or a submission, the answer must also hold no errors.

        Raises:
            Blocked: a save of a draft returned success and errors, which neither accepts nor refuses it.
        """
        if not reports_content(exchange.operation) and exchange.answer.success and not taken(exchange):
            raise Blocked(exchange.operation or "", f"answers a save with errors: {exchange.answer.quote()}")
        self._judge(TAKEN if reports_content(exchange.operation) else ACCEPTANCE, exchange)

    def refused(self, exchange: Exchange) -> None:
        """The request was refused: 4xx. The case itself must show that nothing changed."""
        self._judge(REFUSED, exchange)

    def turned_down(self, exchange: Exchange, expected: str = "refused") -> None:
        """A faulty request was not accepted: 4xx, or an errors array with any status below 500."""
        self._register(TURNED_DOWN.judge(self._clause, self._operation, exchange, expected=expected))

    def has_message(self, exchange: Exchange, realm: str = "") -> None:
        """The refusal has the clause's status and message, word for word."""
        self._judge(MESSAGE, exchange, clause=self._clause.id, realm=realm)

    def has_status(self, exchange: Exchange) -> None:
        """The refusal has the clause's status, whatever its message."""
        self._judge(STATUS, exchange, status=self._clause.status)

    def carries(self, exchange: Exchange, identifier: str) -> None:
        """The answer holds this identifier anywhere."""
        self._judge(IDENTIFIER, exchange, identifier=identifier)

    def shows(self, exchange: Exchange, document: dict[str, Any]) -> None:
        """The answer holds this document, at the top or nested under any member."""
        self._judge(DOCUMENT, exchange, document=document)

    def reports(self, exchange: Exchange, code: str, field: str) -> None:
        """The errors array has this code for this property; any status below 500.

        The property may be a path (`document.firstName`, `firstName.en`); any of its segments counts.
        """
        self._judge(ERROR_NAMED, exchange, code=code, field=field)

    def content_refused(self, exchange: Exchange) -> None:
        """Faulty content was refused: an errors array with at least one element; any status below 500."""
        self._judge(ERRORS_ARRAY, exchange)

    def _judge(self, check: Check, exchange: Exchange, **arguments: Any) -> None:
        self._register(check.judge(self._clause, self._operation, exchange, arguments))

    def _register(self, result: Result) -> None:
        if result.outcome is CheckOutcome.HELD:
            self._attempt.held[result.key] += 1
        else:
            self._contradicted(result)

    def _contradicted(self, result: Result) -> None:
        self._attempt.note(result)
        if self._clause.level is Level.MUST:
            raise Contradiction(result)


class _OfACase:
    """What one attempt at a case says about clauses.

    Args:
        declared: Ids of the clauses that the case declares; using another one is a mistake in the case.
    """

    def __init__(self, attempt: Attempt, catalogue: Catalogue, declared: Collection[str]) -> None:
        self._attempt = attempt
        self._catalogue = catalogue
        self._declared = frozenset(declared)

    def _found(self, clause: str) -> Clause:
        found = self._catalogue.clause(clause)
        if found.id not in self._declared:
            raise SuiteError(f"the case uses {clause} without declaring it")
        return found


class Expect(_OfACase):
    """Makes claims; the fixture `expect`."""

    def __call__(self, clause: str, operation: str | None = None) -> Claim:
        """A claim on `clause`; `operation` may be left out if the clause covers a single one.

        Raises:
            SuiteError: an unknown or undeclared clause, a silent one, or an operation it does not cover.
        """
        found = self._found(clause)
        if found.level is Level.SILENT:
            raise SuiteError(f"{clause} is silent: it can be observed, never claimed")
        return Claim(found, self._operation(found, operation), self._attempt)

    def on(self, clause: str, operation: str) -> Iterator[Claim]:
        """A claim on `clause`; none if it does not cover the operation."""
        if operation in self._catalogue.clause(clause).operations:
            yield self(clause, operation)

    def _operation(self, clause: Clause, operation: str | None) -> str:
        if operation is None and len(clause.operations) == 1:
            return clause.operations[0]
        if operation is None:
            raise SuiteError(f"{clause.id} covers several operations: say which one the claim is about")
        if operation not in clause.operations:
            raise SuiteError(f"{clause.id} does not cover {operation}")
        return operation


class Observer(_OfACase):
    """Records what is seen at silent points; the fixture `observe`."""

    def __call__(self, clause: str, operation: str, seen: Any) -> None:
        """Note what was seen at a silent point: any JSON value."""
        self._attempt.observations.append(observed(self._found(clause).id, operation, seen))


def claim_answered_in_time(
    claim: Claim, exchanges: Iterable[Exchange], plain: Callable[[], Exchange]
) -> None:
    """Claim that every request was answered within the target's time limit.

    Args:
        plain: Sends an ordinary request if one was not answered in time, to tell a hang from a slow environment.

    Raises:
        Contradiction: an ordinary request is answered, but this one was not.
        EnvironmentFault: another transport fault occurred, or the ordinary request is not answered either.
    """
    obstacle: EnvironmentFault | None = None
    for exchange in exchanges:
        late = exchange.fault in TIMED_OUT
        if exchange.fault is not None and not late:
            obstacle = obstacle or EnvironmentFault(f"{exchange.operation}: {exchange.fault}")
            continue
        if late:
            _ = plain().answer
            exchange.own = True
        claim.holds(not late, exchange, expected="an answer within the time limit", seen=exchange.fault or "")
    if obstacle is not None:
        raise obstacle


def claim_refusals_in_json(claims: Callable[[str], Claim], exchange: Exchange) -> None:
    """Claim that a refusal is empty or JSON; HEAD has no body."""
    if exchange.method != "HEAD" and exchange.operation != "deleteDraft":
        claims(exchange.operation or "").meets(EMPTY_OR_JSON.id, exchange)
