"""Conformant services, drawn: a pairwise cover of all knobs in a shuffled order, and random few of them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from random import Random
from typing import Final

from contracts.proving.trials import AND, SLOW
from contracts.sandbox.variants import ALL
from contracts.sandbox.variants.silences import CLAUSES, CONTRADICTORY, FURTHER

#: Stands for a knob at which the service behaves as the faithful sandbox.
_FAITHFUL: Final = ""
#: How many knobs are turned at random in a service that is not of the cover.
_FEW: Final = (2, 3, 4, 6, 9, 12)


def knobs() -> Mapping[str, tuple[str, ...]]:
    """Every knob with the variants that turn it; each variant belongs to one knob, the first that names it.

    Variants that need the cores for themselves are left out.
    """
    placed: set[str] = {SLOW}
    found: dict[str, tuple[str, ...]] = {}
    for point, names in {**CLAUSES, **FURTHER}.items():
        own = tuple(name for name in names if name not in placed)
        placed.update(own)
        if own:
            found[point] = own
    return found


def draw_services(number: int, seed: int) -> Iterator[str]:
    """Draw services: by turns the next row of a pairwise cover, and a random few variants.

    Args:
        number: How many.

    Yields:
        Names of variants with a plus between them, the same for the same seed.
    """
    chance = Random(f"services {seed}")  # noqa: S311 - nothing secret hangs on it
    rows = cover(seed)
    met: Counter[str] = Counter()
    for turn in range(number):
        row = next(rows, None) if turn % 2 == 0 else None
        names = row or _few(chance, met)
        met.update(names)
        yield AND.join(names)


def cover(seed: int) -> Iterator[list[str]]:
    """Draw the rows of a cover in which each two variants that go together meet, and each alone with a faithful knob.

    Each row begins with two values that have not met, and takes for every other knob the value that meets most others
    for the first time.

    Args:
        seed: The same rows for the same seed.

    Yields:
        The variants of a row.
    """
    chance = Random(f"cover {seed}")  # noqa: S311 - as above
    choices = [(knob, name) for knob, names in knobs().items() for name in (_FAITHFUL, *names)]
    fitting = _fitting(choices)
    unmet = list(fitting)
    by_knob: dict[str, list[int]] = {}
    for number, (knob, _) in enumerate(choices):
        by_knob.setdefault(knob, []).append(number)
    while any(unmet):
        first = max(
            chance.sample(range(len(choices)), len(choices)), key=lambda each: unmet[each].bit_count()
        )
        partners = [each for each in range(len(choices)) if unmet[first] >> each & 1]
        row = [first, chance.choice(partners)]
        taken = 1 << row[0] | 1 << row[1]
        for knob in chance.sample(list(by_knob), len(by_knob)):
            free = [each for each in by_knob[knob] if fitting[each] & taken == taken]
            if free:
                chance.shuffle(free)
                row.append(max(free, key=lambda each: (unmet[each] & taken).bit_count()))
                taken |= 1 << row[-1]
        for each in row:
            unmet[each] &= ~taken
        yield [choices[each][1] for each in row if choices[each][1]]


def _fitting(choices: Sequence[tuple[str, str]]) -> list[int]:
    """For each value of a knob the values of other knobs that go with it, a bit for each."""

    def fit(one: tuple[str, str], other: tuple[str, str]) -> bool:
        return one[0] != other[0] and (not one[1] or not other[1] or together(one[1], other[1]))

    return [sum(1 << number for number, other in enumerate(choices) if fit(one, other)) for one in choices]


def _few(chance: Random, met: Counter[str]) -> list[str]:
    """A few variants that go together, of those that were drawn least often."""
    size, taken = chance.choice(_FEW), list[str]()
    names = [name for names in knobs().values() for name in names]
    chance.shuffle(names)
    names.sort(key=lambda name: met[name])
    for name in names:
        if len(taken) < size and all(together(name, other) for other in taken):
            taken.append(name)
    return taken


@cache
def together(one: str, other: str) -> bool:
    """Whether two variants can both be seen and together obey the document: no habit or method is changed by both."""
    if frozenset({one, other}) in CONTRADICTORY:
        return False
    first, second = ALL[one], ALL[other]
    if first.habits.keys() & second.habits.keys():
        return False
    common = first.parts.keys() & second.parts.keys()
    return not any(_methods(first.parts[part]) & _methods(second.parts[part]) for part in common)


def _methods(layer: type) -> set[str]:
    """What the classes of one layer define, those of the service itself left out."""
    classes = [c for c in layer.__mro__ if ".sandbox.variants" in c.__module__]
    return {name for c in classes for name in vars(c) if not name.startswith("__")}
