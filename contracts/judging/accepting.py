"""Acceptance of a record with several things at once, and which of them is to blame when it is refused."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from contracts.judging.claims import Claim, usable
from contracts.judging.outcomes import Blocked
from contracts.session.exchange import Exchange


def all_at_once(
    whole: Exchange,
    parts: Sequence[tuple[Claim, Callable[[], Exchange]]],
    rest: Claim,
    plain: Callable[[], Exchange],
) -> None:
    """Claim acceptance of one record for everything in it; only when it is refused are the parts sent one by one.

    That keeps the records few that nobody can remove.

    Args:
        whole: The record with everything.
        parts: For each clause, a request with its part alone.
        rest: What else the whole record was about; it is to blame when every part is accepted alone.
        plain: A record with none of it.

    Raises:
        Contradiction: a must was contradicted.
        Blocked: even the plain record is refused.
    """
    if usable(whole).success:
        for claim, _ in parts:
            claim.accepted(whole)
        rest.accepted(whole)
        return
    bare = plain()
    if not usable(bare).success:
        raise Blocked(bare.operation or bare.method, f"refuses a plain record too: {bare.answer.quote()}")
    for claim, send in parts:
        part = send()
        claim.accepted(part)
        if not part.answer.success:
            return
    rest.accepted(whole)
