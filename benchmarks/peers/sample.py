"""Which defects are measured: as many of each class, chosen by a rule that favours no tool."""

from collections.abc import Mapping, Sequence
from hashlib import sha256

from benchmarks.peers.classes import Need
from contracts.sandbox.defects import Defect

RULE = (
    "of each class the first {count} by the SHA-256 of the defect's name, at most one for each clause; "
    "only defects of must clauses"
)
"""How the sample is drawn, as the report tells it."""


def draw(classed: Mapping[Need, Sequence[Defect]], count: int) -> dict[Need, list[Defect]]:
    """Choose the defects to measure.

    Args:
        classed: all defects by class.
        count: how many of each class; fewer where there are not so many clauses.

    Returns:
        The chosen ones by class, in the order in which they were drawn.

    """
    return {need: _first(defects, count) for need, defects in classed.items()}


def _first(defects: Sequence[Defect], count: int) -> list[Defect]:
    chosen: dict[str, Defect] = {}
    for defect in sorted(defects, key=lambda each: sha256(each.name.encode()).hexdigest()):
        chosen.setdefault(defect.clause, defect)
    return list(chosen.values())[:count]
