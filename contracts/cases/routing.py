"""Whether operations are served at their addresses."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from contracts.cases.comparison import NOTHING_THERE, refused_as
from contracts.cases.requests import MADE_UP
from contracts.checks.claims import Claim
from contracts.checks.outcomes import Blocked, usable
from contracts.exchanges.exchange import Exchange


def families_served(
    claims: Callable[[str], Claim],
    exchanges: Mapping[str, Exchange],
    families: Mapping[str, tuple[str, ...]],
    nowhere: Callable[[str], Exchange] | None = None,
) -> None:
    """Claim that operations are served at their addresses.

    An address counts as not served when it and every other one of its family answer that nothing is there, or when
    it answers in the very words that an address answers where nothing ever stood; a single operation that finds
    nothing in words of its own is a matter of its own clauses.

    Args:
        claims: Makes the claim about an operation.
        exchanges: One ordinary request of each operation.
        families: Operations by family.
        nowhere: Sends the same request of an operation to such an address.

    Raises:
        Contradiction: a whole family is not served, or an operation is not.
        Blocked: a single operation finds nothing.
    """
    missing = {name for name, exchange in exchanges.items() if usable(exchange).status in NOTHING_THERE}
    for members in families.values():
        gone = missing.issuperset(members)
        for name in members if gone else [name for name in members if name not in missing]:
            seen = exchanges[name].answer.quote()
            claims(name).holds(not gone, exchanges[name], expected="served under its version", seen=seen)
    obstacle: Blocked | None = None
    for name in sorted(missing):
        if nowhere is not None and not exchanges[name].notes.get(MADE_UP):
            _claim_somewhere(claims(name), exchanges[name], nowhere(name))
        obstacle = obstacle or Blocked(name, f"answered {exchanges[name].answer.quote()}")
    if obstacle is not None:
        raise obstacle


def _claim_somewhere(claim: Claim, exchange: Exchange, nowhere: Exchange) -> None:
    """Claim that an answer is not that of an address where nothing stands; an empty one may be anybody's."""
    answer = exchange.answer
    same = bool(answer.text.strip()) and refused_as(answer, usable(nowhere))
    claim.holds(not same, exchange, nowhere, expected="served under its version", seen=answer.quote())
