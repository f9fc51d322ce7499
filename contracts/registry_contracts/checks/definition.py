"""A check: one comparison of an answer with what a clause promises, with the wording of both sides.

A check compares and returns; it registers nothing. Cases claim it (`registry_contracts.checks.claims`), and
`registry_contracts.checks.table` runs it on any exchange that shows it.
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
#: For a check that compares with nothing but the answer.
NONE: Final[Arguments] = {}


@dataclass
class Subject:
    """One exchange with what is known about its request.

    Attributes:
        facts: What the request is; None where it was not read.
        knows: Whether a text is a real secret: an account's password, or a token that the service issued.
        right: The sender knows that nothing is wrong about the request, its data and its account included.
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
        """Whether a request without a fault was answered with 2xx, or a redirect."""
        return self.response.success and self.facts is not None and not self.facts.faults

    @property
    def taken(self) -> bool:
        """Whether such a request was not refused for its content either."""
        return self.success and not self.turned_down


#: Takes an exchange and the id of a clause.
Applies = Callable[[Subject, str], Arguments | None]


def on_success(subject: Subject, _: str) -> Arguments | None:
    """The success of a request without a fault shows it."""
    return NONE if subject.success else None


def on_accepted(subject: Subject, _: str) -> Arguments | None:
    """The success of a request without a fault shows it, unless an errors array refuses its content."""
    return NONE if subject.taken else None


def only_claimed(_: Subject, _clause: str) -> None:
    """No single exchange shows it by itself: a case has to say that it is due."""
    return


@dataclass(frozen=True)
class Check:
    """One row of the table.

    Attributes:
        id: By which cases and stored findings name it.
        expected: What keeps it, in words; a template, or a function, of its arguments.
        contradiction: Takes the answer and the arguments; returns what was seen there in words where the check is
            contradicted, and None where it holds. May raise `Ambiguous`.
        clauses: What it judges wherever an exchange shows it; empty when cases alone say which clause it is about.
        of_operation: What it judges in the same way, where each operation of the description names a clause.
        applies: The arguments, where a single exchange shows the check of a clause; None where it does not.
        after: A clause whose contradiction, or obstacle, leaves nothing to say for this one.
        any_status: A server error does not stand in its way.
        of_acceptance: It is about a request being accepted; that an operation of the document is not implemented
            contradicts it.
        of_form: It is about the form of an answer, whatever is answered.
        universal: Every exchange of every case is held to it, a page that may be a gateway's as well.
    """

    id: str
    expected: str | Callable[..., str]
    contradiction: Callable[..., str | None]
    clauses: tuple[str, ...] = ()
    of_operation: Callable[[Operation], str] | None = None
    applies: Applies = only_claimed
    after: str = ""
    any_status: bool = False
    of_acceptance: bool = False
    of_form: bool = False
    universal: bool = False

    def looks_at(self, exchange: Exchange) -> bool:
        """Whether no server error stands in its way.

        The row of an operation in the document promises that it is served. OData lets a service leave out options.
        """
        options = {name.removeprefix("$") for name, _ in parse_qsl(urlsplit(exchange.url).query)}
        not_served = exchange.status == _NOT_IMPLEMENTED and options.isdisjoint(_ODATA_OPTIONS)
        return self.any_status or (self.of_acceptance and not_served)

    def wording(self, arguments: Arguments) -> str:
        """What keeps the check, in words."""
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
            operation: What the result is about; the exchange may be of another one that shows it.
            expected: In place of the check's own wording.

        Raises:
            EnvironmentFault: the environment gave no answer, or an HTML page stands where something else is due.
            Blocked: a 500-class answer, for a check that does not look at these.
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
    """The comparison that quotes an answer which does not meet a condition."""

    def contradiction(response: Response) -> str | None:
        return None if condition(response) else response.quote()

    return contradiction


def not_of_the_way(exchanges: Iterable[Exchange]) -> None:
    """See to it that a contradiction does not show in what a gateway or a cache may have sent.

    Raises:
        EnvironmentFault: an HTML page, or an answer out of a cache, stands where something else is due.
    """
    for exchange in exchanges:
        if told := perhaps_foreign(exchange):
            words = blocked_words(told) if exchange.blocked else told
            raise EnvironmentFault(f"{exchange.operation or exchange.method}: {words}")
