"""Conformant services, drawn: a pairwise cover of all knobs in a shuffled order, and random few of them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from functools import cache
from random import Random
from typing import Any, Final

from allpairspy import AllPairs

from contracts.proving.trials import AND, SLOW
from contracts.sandbox.variants import ALL
from contracts.sandbox.variants.silences import CLAUSES, FURTHER

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
    cover = _cover(seed)
    met: Counter[str] = Counter()
    for turn in range(number):
        row = next(cover, None) if turn % 2 == 0 else None
        names = row or _few(chance, met)
        met.update(names)
        yield AND.join(names)


def _cover(seed: int) -> Iterator[list[str]]:
    """The rows of a cover in which each two variants that go together meet."""
    chance = Random(f"cover {seed}")  # noqa: S311 - as above
    parameters = [[_FAITHFUL, *names] for names in knobs().values()]
    chance.shuffle(parameters)
    for values in parameters:
        chance.shuffle(values)
    for row in AllPairs(parameters, filter_func=_last_fits):
        yield [name for name in row if name]


def _last_fits(row: list[Any]) -> bool:
    """Whether the last value goes with those before it, which go together."""
    last = row[-1]
    return not last or all(together(last, name) for name in row[:-1] if name)


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
    """Whether two variants can both be seen: they change different habits, and different methods of a part."""
    first, second = ALL[one], ALL[other]
    if first.habits.keys() & second.habits.keys():
        return False
    common = first.parts.keys() & second.parts.keys()
    return not any(_methods(first.parts[part]) & _methods(second.parts[part]) for part in common)


def _methods(layer: type) -> set[str]:
    """What the classes of one layer define, those of the service itself left out."""
    classes = [c for c in layer.__mro__ if ".sandbox.variants" in c.__module__]
    return {name for c in classes for name in vars(c) if not name.startswith("__")}
