"""Checks that hold for every exchange of every case (design 4.1): no server error, no secret echoed, JSON labelled.

Input that no client means to send: answered in time, and turned down where it is no JSON at all.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from contracts.checks.claims import Claim
from contracts.checks.http import EMPTY_OR_JSON
from contracts.checks.outcomes import Attempt, CheckOutcome
from contracts.checks.table import universal_results
from contracts.errors import EnvironmentFault
from contracts.exchanges.exchange import Exchange
from contracts.session.transport import TIMED_OUT


def judge(attempt: Attempt, knows: Callable[[str], bool]) -> None:
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


def refusals_in_json(claims: Callable[[str], Claim], exchange: Exchange) -> None:
    """Claim that a refusal is empty or JSON; HEAD has no body to look at."""
    if exchange.method != "HEAD" and exchange.operation != "deleteDraft":
        claims(exchange.operation or "").meets(EMPTY_OR_JSON.id, exchange)
