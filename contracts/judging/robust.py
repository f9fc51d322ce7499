"""Input that no client means to send: answered in time, and turned down where it is no JSON at all."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from contracts.errors import EnvironmentFault
from contracts.judging.claims import Claim
from contracts.session.exchange import Exchange
from contracts.session.transport import TIMED_OUT


def answered_in_time(claim: Claim, exchanges: Iterable[Exchange], plain: Callable[[], Exchange]) -> None:
    """Claim that every request was answered within the target's time limit.

    Args:
        plain: An ordinary request; sent when one was not answered in time, to tell a hang from an environment that
            is slow for everything.

    Raises:
        Contradiction: an ordinary request is answered where this one was not.
        EnvironmentFault: another fault stood in the way, or nothing is answered.
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


def no_content(claim: Claim, exchange: Exchange) -> None:
    """Claim that the answer to a HEAD request carries no content."""
    content = exchange.answer.content
    claim.holds(not content, exchange, expected="no content", seen=f"{len(content)} bytes of content")


def refusals_in_json(claims: Callable[[str], Claim], exchange: Exchange) -> None:
    """Claim that a refusal is empty or JSON; HEAD has no body to look at."""
    if exchange.method != "HEAD" and exchange.operation != "deleteDraft":
        empty_or_json(claims(exchange.operation or ""), exchange)


def empty_or_json(claim: Claim, exchange: Exchange) -> None:
    """Claim that the body of an answer is empty or JSON."""
    answer = exchange.answer
    fine = not answer.content.strip() or answer.json is not None or answer.text.strip() == "null"
    claim.holds(fine, exchange, expected="an empty body or JSON", seen=answer.quote())
