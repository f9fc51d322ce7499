"""What the contradictions of one case mean for the run: they count, are accepted, or lie outside the consumer."""

from collections.abc import Iterable
from enum import StrEnum

from contracts.evidence.contradictions import Finding, Standing


class Bearing(StrEnum):
    """The weight of a contradicted case."""

    COUNTS = "counts"
    DEVIATION = "deviation"
    OUTSIDE = "outside"


def weigh(contradictions: Iterable[tuple[bool, bool]]) -> Bearing:
    """Weigh contradictions, each given as whether it counts for the consumer and whether a deviation accepts it.

    Returns:
        `counts` as soon as one counts and is not accepted, and where there are none.
    """
    seen = list(contradictions)
    if not seen or any(counted and not accepted for counted, accepted in seen):
        return Bearing.COUNTS
    return Bearing.DEVIATION if any(accepted for _, accepted in seen) else Bearing.OUTSIDE


def bearing_of(findings: Iterable[Finding]) -> Bearing:
    """Weigh the findings of one case; a should that is contradicted says nothing beside a must."""
    return weigh(
        (each.counted, each.standing is Standing.DEVIATION)
        for each in findings
        if each.standing in {Standing.FAIL, Standing.DEVIATION}
    )
