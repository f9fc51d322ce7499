"""Claims: the assertions of a case, each registered against a clause of the catalogue.

A clause without a reached assertion can never pass, so cases assert only through here.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable
from typing import Any, Final

from contracts.checks.outcomes import Attempt, Contradiction, Evidence, Observation, usable
from contracts.errors import EnvironmentFault, SuiteError
from contracts.exchanges import readers
from contracts.exchanges.exchange import Exchange
from contracts.interface.catalogue import Catalogue, Clause, Level
from contracts.session.environment_faults import page_words

_STEPS: Final = re.compile(r"[./\[\]]+")


def _no_page(exchanges: Iterable[Exchange]) -> None:
    for exchange in exchanges:
        answer = exchange.response
        if answer is not None and not exchange.own and answer.hollow_page and answer.status != 500:
            raise EnvironmentFault(f"{exchange.operation or exchange.method}: {page_words(answer)}")


class Claim:
    """Assertions about one clause on one operation."""

    def __init__(self, clause: Clause, operation: str, attempt: Attempt) -> None:
        self._clause = clause
        self._operation = operation
        self._attempt = attempt

    def holds(self, condition: bool, *exchanges: Exchange, expected: str, seen: str) -> None:
        """Register an assertion that the case has worked out to true or false.

        Args:
            exchanges: What the condition was read from, in order.
            expected, seen: Both sides, in words for the report.

        Raises:
            EnvironmentFault: the condition is false and an HTML page stands where JSON is due: it may be a gateway's.
            Contradiction: the condition is false and the clause is a must. A should is noted and the case goes on.
        """
        key = (self._clause.id, self._operation)
        if condition:
            self._attempt.held[key] += 1
            return
        _no_page(exchanges)
        evidence = Evidence(
            clause=self._clause.id,
            operation=self._operation,
            expected=expected,
            seen=seen,
            exchanges=tuple(exchange.id for exchange in exchanges),
            role=exchanges[-1].role if exchanges else "",
        )
        self._attempt.note(evidence)
        if self._clause.level is Level.MUST:
            raise Contradiction(evidence)

    def accepted(self, exchange: Exchange) -> None:
        """The request was taken: 2xx, or a redirect where a download may redirect (design 4.2)."""
        answer = usable(exchange)
        self.holds(answer.success, exchange, expected="accepted (2xx)", seen=answer.quote())

    def refused(self, exchange: Exchange) -> None:
        """The request was turned down: 4xx. That nothing changed is for the case to show."""
        answer = usable(exchange)
        self.holds(answer.refusal, exchange, expected="refused (4xx)", seen=answer.quote())

    def turned_down(self, exchange: Exchange, expected: str = "refused") -> None:
        """A faulty request was not taken: 4xx, or an errors array with any status below 500 (design 4.2)."""
        answer = usable(exchange)
        told = answer.refusal or bool(readers.errors(answer))
        self.holds(told, exchange, expected=expected, seen=answer.quote())

    def says(self, exchange: Exchange, realm: str = "") -> None:
        """The refusal carries the clause's own status and message, word for word."""
        answer = usable(exchange)
        if self._clause.message is None or self._clause.status is None:
            raise SuiteError(f"clause {self._clause.id} has no message and status to compare with")
        message = self._clause.message.replace("${realm}", realm)
        told = answer.status == self._clause.status and readers.says(answer, message)
        self.holds(told, exchange, expected=f"{self._clause.status} {message!r}", seen=answer.quote())

    def has_status(self, exchange: Exchange) -> None:
        """The refusal carries the clause's own status, whatever its message."""
        answer = usable(exchange)
        self.holds(
            answer.status == self._clause.status,
            exchange,
            expected=str(self._clause.status),
            seen=answer.quote(),
        )

    def carries(self, exchange: Exchange, identifier: str) -> None:
        """The answer names this identifier, wherever it stands."""
        answer = usable(exchange)
        self.holds(
            readers.carries_identifier(answer, identifier),
            exchange,
            expected=f"the identifier {identifier} in the answer",
            seen=answer.quote(),
        )

    def shows(self, exchange: Exchange, document: dict[str, Any]) -> None:
        """The answer holds this document, at the top or nested under any member."""
        answer = usable(exchange)
        self.holds(
            answer.success and readers.holds_document(answer, document),
            exchange,
            expected="the document as it was saved",
            seen=readers.difference(answer, document) if answer.success else answer.quote(),
        )

    def reports(self, exchange: Exchange, code: str, field: str) -> None:
        """The errors array names this code for this property; any status below 500 (design 4.2).

        A property may be given with its path (`document.firstName`, `firstName.en`); any of its steps counts.
        """
        answer = usable(exchange)
        found = readers.errors(answer) or []
        named = any(
            isinstance(error, dict)
            and error.get("code") == code
            and field in _STEPS.split(str(error.get("property", "")))
            for error in found
        )
        self.holds(named, exchange, expected=f"errors with {code} for {field}", seen=answer.quote())

    def content_refused(self, exchange: Exchange) -> None:
        """Faulty content: an errors array with at least one element; any status below 500 (design 4.2)."""
        answer = usable(exchange)
        self.holds(
            bool(readers.errors(answer)),
            exchange,
            expected="an errors array with at least one element",
            seen=answer.quote(),
        )


class Claims:
    """Makes claims for one attempt at a case; the fixture `claim`.

    Args:
        declared: Ids of the clauses that the case says it tests; a claim on another one is a mistake in the case.
    """

    def __init__(self, attempt: Attempt, catalogue: Catalogue, declared: Collection[str]) -> None:
        self._attempt = attempt
        self._catalogue = catalogue
        self._declared = frozenset(declared)

    def __call__(self, clause: str, operation: str | None = None) -> Claim:
        """A claim on `clause`; `operation` may be left out where the clause covers a single one.

        Raises:
            SuiteError: an unknown or undeclared clause, a silent one, or an operation it does not cover.
        """
        found = self._catalogue.clause(clause)
        if found.id not in self._declared:
            raise SuiteError(f"the case claims {clause} without declaring it")
        if found.level is Level.SILENT:
            raise SuiteError(f"{clause} is silent: it can be observed, never claimed")
        return Claim(found, self._operation(found, operation), self._attempt)

    def _operation(self, clause: Clause, operation: str | None) -> str:
        if operation is None and len(clause.operations) == 1:
            return clause.operations[0]
        if operation is None:
            raise SuiteError(f"{clause.id} covers several operations: say which one the claim is about")
        if operation not in clause.operations:
            raise SuiteError(f"{clause.id} does not cover {operation}")
        return operation


class Observer:
    """Records what is seen at silent points; the fixture `observe`."""

    def __init__(self, attempt: Attempt, catalogue: Catalogue, declared: Collection[str]) -> None:
        self._attempt = attempt
        self._catalogue = catalogue
        self._declared = frozenset(declared)

    def __call__(self, clause: str, operation: str, seen: Any) -> None:
        """Note what was seen at a silent point: any JSON value."""
        found = self._catalogue.clause(clause)
        if found.id not in self._declared:
            raise SuiteError(f"the case observes {clause} without declaring it")
        self._attempt.observations.append(Observation(found.id, operation, seen))
