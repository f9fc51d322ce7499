"""How an operation reports faulty contacts in general, so that what one field does is judged against it.

One fault, one finding (design 4.5): an operation that validates nothing, or reports without an errors array, is a
finding on the clause about that, and not on the clause of each of the 26 fields.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from contracts.judging import content, readers
from contracts.judging.claims import Claim, usable
from contracts.judging.outcomes import Blocked
from contracts.session.exchange import Exchange


@dataclass(frozen=True)
class Reporting:
    """What an operation did with a few records that lack mandatory fields.

    Attributes:
        refuses: It refused at least one.
        arrays: At least one refusal held an errors array.
        names: At least one errors array named the missing field with `Error.Mandatory`.
    """

    refuses: bool
    arrays: bool
    names: bool

    def claim_refused(self, claim: Claim, exchange: Exchange) -> None:
        """Claim that a record was refused with an errors array.

        Raises:
            Blocked: the operation does so with no record; another clause holds that finding.
        """
        answer = usable(exchange)
        if not content.turned_down(answer) and not self.refuses:
            raise _blocked(exchange, "takes records that lack mandatory fields")
        if answer.refusal and not readers.errors(answer) and not self.arrays:
            raise _blocked(exchange, "refuses faulty records without an errors array")
        claim.holds(
            bool(readers.errors(answer)),
            exchange,
            expected="refused, with at least one element in the errors array",
            seen=answer.quote(),
        )

    def claim_turned_down(self, claim: Claim, exchange: Exchange) -> None:
        """Claim that a record was refused, in whatever way.

        Raises:
            Blocked: the operation refuses no faulty record; another clause holds that finding.
        """
        if not content.turned_down(usable(exchange)) and not self.refuses:
            raise _blocked(exchange, "takes records that lack mandatory fields")
        claim.turned_down(exchange)

    def claim_mandatory(self, claim: Claim, exchange: Exchange, field: str) -> None:
        """Claim that a record was refused and `Error.Mandatory` names the missing field.

        Raises:
            Blocked: the operation reports no field so; another clause holds that finding.
        """
        self.claim_refused(claim, exchange)
        answer = usable(exchange)
        named = content.reports(answer, field, content.MANDATORY)
        if not named and not self.names:
            raise _blocked(exchange, f"names no missing field with {content.MANDATORY}")
        claim.holds(
            named, exchange, expected=f"{content.MANDATORY} for {field} among the errors", seen=answer.quote()
        )

    def claim_some_mandatory(self, claim: Claim, exchange: Exchange) -> None:
        """Claim that a record without any field was refused, with `Error.Mandatory` at least once.

        Raises:
            Blocked: the operation gives no errors array, or never that code; another clause holds that finding.
        """
        answer = usable(exchange)
        claim.turned_down(exchange)
        if not readers.errors(answer) and not self.arrays:
            raise _blocked(exchange, "refuses faulty records without an errors array")
        missed = content.holds_code(answer, content.MANDATORY)
        if not missed and not self.names:
            raise _blocked(exchange, f"names no missing field with {content.MANDATORY}")
        claim.holds(missed, exchange, expected=f"{content.MANDATORY} among the errors", seen=answer.quote())


def read_reporting(probes: Mapping[str, Exchange]) -> Reporting:
    """Read how an operation reports from a few probes.

    Args:
        probes: The answer to a record that lacks nothing but the field it is keyed by.
    """
    answers = {field: usable(exchange) for field, exchange in probes.items()}
    return Reporting(
        refuses=any(content.turned_down(answer) for answer in answers.values()),
        arrays=any(readers.errors(answer) for answer in answers.values()),
        names=any(content.reports(answer, field, content.MANDATORY) for field, answer in answers.items()),
    )


def _blocked(exchange: Exchange, cause: str) -> Blocked:
    return Blocked(exchange.operation or exchange.method, cause)
