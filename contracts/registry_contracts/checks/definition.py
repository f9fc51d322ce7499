"""A check: one comparison of an answer with what a clause promises, with the wording of both sides.

A check returns a result and registers nothing. Cases claim it (`registry_contracts.checks.claims`), and
`registry_contracts.checks.table` runs it on every exchange that it applies to.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Final
from urllib.parse import parse_qsl, urlsplit

from registry_contracts.checks import errors_array
from registry_contracts.checks.outcomes import CheckOutcome, Result, seen_in, usable
from registry_contracts.errors import EnvironmentFault
from registry_contracts.exchanges.exchange import Exchange, Response
from registry_contracts.exchanges.foreign_answers import blocked_words, perhaps_foreign
from registry_contracts.exchanges.request_facts import RequestFacts
from registry_contracts.interface.catalogue import Clause
from registry_contracts.interface.operations import Operation

_NOT_IMPLEMENTED: Final = 501
_ODATA_OPTIONS: Final = frozenset({"filter", "orderby", "top", "skip"})
Arguments = Mapping[str, Any]
#: For a check that needs only the answer.
NONE: Final[Arguments] = {}


@dataclass
class Subject:
    """One exchange with what is known about its request.

    Attributes:
        facts: The request's facts; None if it was not read.
        knows: Whether a text is a real secret: an account's password, or a token that the service issued.
        right: The sender knows that the request is valid, including its data and its account.
    """

    exchange: Exchange
    response: Response
    facts: RequestFacts | None
    knows: Callable[[str], bool]
    right: bool = False

    @cached_property
    def turned_down(self) -> bool:
        """Whether the answer refuses the record: 4xx, or an errors array with any status below 500.

        Raises:
            Ambiguous: the answer holds several different errors arrays.
        """
        return errors_array.turned_down(self.response)

    @property
    def success(self) -> bool:
        """Whether a valid request was answered with 2xx, or a redirect."""
        return self.response.success and self.facts is not None and not self.facts.faults

    @property
    def taken(self) -> bool:
        """Whether a valid request was accepted: success without errors about its content."""
        return self.success and not self.turned_down


#: Takes an exchange and the id of a clause.
Applies = Callable[[Subject, str], Arguments | None]


def on_success(subject: Subject, _: str) -> Arguments | None:
    """Applies to the success of a valid request."""
    return NONE if subject.success else None


def on_accepted(subject: Subject, _: str) -> Arguments | None:
    """Applies to the success of a valid request, unless an errors array refuses its content."""
    return NONE if subject.taken else None


def only_claimed(_: Subject, _clause: str) -> None:
    """Applies to no single exchange: a case must claim it."""
    return


@dataclass(frozen=True)
class Check:
    """One row of the table.

    Attributes:
        id: Its name in cases and stored findings.
        expected: The expected answer in words; a template, or a function, of the arguments.
        contradiction: Takes the answer and the arguments; returns in words what contradicts the check, None if it
            holds. May raise `Ambiguous`.
        clauses: Clauses to judge on every exchange that it applies to; empty if only cases name the clause.
        of_operation: Likewise, but each operation of the description names its clause.
        applies: Returns the arguments if a single exchange shows the check of a clause, else None.
        any_status: It also judges server errors.
        of_acceptance: It is about acceptance; "not implemented" for a documented operation contradicts it.
        of_form: It is about the form of an answer, not its content.
        universal: It judges every exchange of every case, even a page that may come from a gateway.
    """

    id: str
    expected: str | Callable[..., str]
    contradiction: Callable[..., str | None]
    clauses: tuple[str, ...] = ()
    of_operation: Callable[[Operation], str] | None = None
    applies: Applies = only_claimed
    any_status: bool = False
    of_acceptance: bool = False
    of_form: bool = False
    universal: bool = False

    def looks_at(self, exchange: Exchange) -> bool:
        """Whether the check also judges a server error in this exchange.

        The document promises that each operation is served. OData lets a service leave out options.
        """
        options = {name.removeprefix("$") for name, _ in parse_qsl(urlsplit(exchange.url).query)}
        not_served = exchange.status == _NOT_IMPLEMENTED and options.isdisjoint(_ODATA_OPTIONS)
        return self.any_status or (self.of_acceptance and not_served)

    def wording(self, arguments: Arguments) -> str:
        """The expected answer in words."""
        if callable(self.expected):
            return self.expected(**arguments)
        return self.expected.format(**arguments)

    def judge(
        self,
        clause: Clause,
        operation: str,
        exchange: Exchange,
        arguments: Arguments = NONE,
        expected: str = "",
    ) -> Result:
        """Run the check on an exchange.

        Args:
            operation: The operation of the result; the exchange may be of another one that shows it.
            expected: Replaces the check's own wording.

        Raises:
            EnvironmentFault: the environment gave no answer, or sent HTML instead of the expected type.
            Blocked: a 500-class answer, for a check that does not judge these.
            Ambiguous: the answer can be read in two ways.
        """
        response = exchange.answer if self.looks_at(exchange) else usable(exchange)
        seen = self.contradiction(response, **arguments)
        if seen is None:
            return Result(clause.id, operation, CheckOutcome.HELD, check=self.id)
        if not self.universal:
            not_of_the_way((exchange,))
        return Result(
            clause.id,
            operation,
            CheckOutcome.CONTRADICTED,
            expected or self.wording(arguments),
            seen_in(exchange, operation, seen),
            (exchange.id,),
            exchange.role,
            self.id,
        )


def quoted_unless(condition: Callable[[Response], bool]) -> Callable[[Response], str | None]:
    """A comparison that quotes the answer if it does not meet the condition."""

    def contradiction(response: Response) -> str | None:
        return None if condition(response) else response.quote()

    return contradiction


def not_of_the_way(exchanges: Iterable[Exchange]) -> None:
    """Require that an answer that contradicts was not sent by a gateway or a cache.

    Raises:
        EnvironmentFault: it is an unexpected HTML page or comes from a cache.
    """
    for exchange in exchanges:
        if told := perhaps_foreign(exchange):
            words = blocked_words(told) if exchange.blocked else told
            raise EnvironmentFault(f"{exchange.operation or exchange.method}: {words}")
