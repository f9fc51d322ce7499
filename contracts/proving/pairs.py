"""Pairs of variants that do not touch each other: each is met nearly by itself, at half the price."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import zip_longest
from random import Random
from typing import Final

from contracts.sandbox.variants import ALL, Variant

#: Stands between two names of variants.
AND: Final = "+"
#: The variant that answers late each time: a long run against it would take all day.
SLOW: Final = "slow"
#: So many variants are drawn for one run.
_DRAWN: Final = 5


def pairs(turn: int) -> Iterator[str]:
    """Deal all variants into pairs, each time others.

    Args:
        turn: How often they were dealt before.

    Yields:
        Two names with a plus between them, or one name where a variant's partner would touch what it touches.
    """
    names = list(ALL)
    half = (len(names) + 1) // 2
    firsts, seconds = names[:half], names[half:]
    # Neighbours are of one kind; half a list apart they hardly ever are.
    at = turn % len(seconds)
    for first, second in zip_longest(firsts, seconds[at:] + seconds[:at]):
        if second is not None and _apart(ALL[first], ALL[second]):
            yield f"{first}{AND}{second}"
        else:
            yield from filter(None, (first, second))


def drawn(seed: int, profile: str) -> str:
    """Draw a few variants that do not touch each other, mechanically: nobody chose that they go well together.

    Returns:
        Their names with a plus between them, the same for the same seed and profile.
    """
    names = [name for name in ALL if name != SLOW]
    Random(f"{seed} {profile}").shuffle(names)  # noqa: S311 - nothing secret hangs on it
    taken: list[str] = []
    for name in names:
        if all(_apart(ALL[name], ALL[other]) for other in taken):
            taken.append(name)
        if len(taken) == _DRAWN:
            break
    return AND.join(taken)


def _apart(one: Variant, other: Variant) -> bool:
    """Whether two variants change different habits and different parts, and no more than one stands at the wire."""
    return (
        not one.habits.keys() & other.habits.keys()
        and not one.parts.keys() & other.parts.keys()
        and not (one.wrap and other.wrap)
    )
