"""Claims on errors arrays and their elements, each over all the answers of a case."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from contracts.cases.samples import MANDATORY_FIELDS
from contracts.checks import errors_array
from contracts.checks.claims import Claim
from contracts.checks.outcomes import Blocked, usable
from contracts.exchanges import readers
from contracts.exchanges.exchange import Exchange


def each_with_array(claim: Claim, exchanges: Iterable[Exchange]) -> None:
    """Claim that every refusal holds an errors array that is not empty."""
    for exchange in exchanges:
        answer = usable(exchange)
        claim.holds(
            bool(readers.errors(answer)),
            exchange,
            expected="an errors array with at least one element",
            seen=answer.quote(),
        )


def each_array_of_elements(claim: Claim, exchanges: Iterable[Exchange]) -> None:
    """Claim that every element of every errors array is an object whose code and property are strings."""
    for exchange in exchanges:
        odd = [each for each in readers.errors(usable(exchange)) or () if not errors_array.well_formed(each)]
        claim.holds(
            not odd, exchange, expected="objects with a string code and a string property", seen=f"{odd[:1]}"
        )


def each_known_code(claim: Claim, exchanges: Iterable[Exchange]) -> None:
    """Claim that every code of every errors array is one of the seven."""
    for exchange in exchanges:
        strange = sorted({code for code, _ in errors_array.elements(usable(exchange))} - errors_array.CODES)
        claim.holds(
            not strange, exchange, expected="one of the seven documented codes", seen=", ".join(strange)
        )


def each_named(claim: Claim, exchanges: Iterable[tuple[str, Exchange]]) -> None:
    """Claim that each refusal names the field it is about.

    Raises:
        Blocked: no answer has well-formed elements; what they lack is a matter of other clauses.
    """
    for field, exchange in _with_elements(exchanges):
        claim.holds(
            errors_array.reports(exchange.answer, field),
            exchange,
            expected=f"an element that names {field}",
            seen=_seen(exchange),
        )


def each_with_code(claim: Claim, exchanges: Iterable[tuple[str, Exchange]], code: str) -> None:
    """Claim that each refusal holds a code, whatever property it names.

    Raises:
        Blocked: no answer has well-formed elements; what they lack is a matter of other clauses.
    """
    for _, exchange in _with_elements(exchanges):
        claim.holds(
            errors_array.holds_code(exchange.answer, code),
            exchange,
            expected=f"an element with {code}",
            seen=_seen(exchange),
        )


def mandatory_named_rightly(claim: Claim, exchanges: Iterable[tuple[str, Exchange]]) -> None:
    """Claim that `Error.Mandatory` is what a missing field gives, and that it names no field that is there.

    Args:
        exchanges: Answers to records whose only fault is the missing field they come with.

    Raises:
        Blocked: no answer has well-formed elements with known codes.
    """
    told = list(_with_elements(exchanges))
    if any(
        {code for code, _ in errors_array.elements(exchange.answer)} - errors_array.CODES
        for _, exchange in told
    ):
        raise Blocked(told[0][1].operation or "", "gives codes that are not among the seven")
    right = [pair for pair in told if errors_array.reports(pair[1].answer, pair[0], errors_array.MANDATORY)]
    claim.holds(
        bool(right),
        *(exchange for _, exchange in told[:1]),
        expected=f"{errors_array.MANDATORY} for the missing field, for one field at least",
        seen=_seen(told[0][1]),
    )
    for field, exchange in right:
        others = {
            path
            for code, path in errors_array.elements(exchange.answer)
            if code == errors_array.MANDATORY and not errors_array.names_field(path, field)
        }
        claim.holds(
            not any(errors_array.names_field(path, there) for path in others for there in MANDATORY_FIELDS),
            exchange,
            expected=f"{errors_array.MANDATORY} for {field} alone",
            seen=_seen(exchange),
        )


def _with_elements(exchanges: Iterable[tuple[str, Exchange]]) -> Iterator[tuple[str, Exchange]]:
    found = 0
    for field, exchange in exchanges:
        if list(errors_array.elements(usable(exchange))):
            found += 1
            yield field, exchange
    if not found:
        raise Blocked("", "no answer has errors of code and property to look at")


def _seen(exchange: Exchange) -> str:
    return ", ".join(
        f"{code} for {path!r}" for code, path in list(errors_array.elements(exchange.answer))[:5]
    )
