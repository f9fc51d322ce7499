"""Conformant services to draw: knobs, each with the variants that turn it, and pairwise covers of them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from random import Random
from typing import Any, Final

from registry_contracts.sandbox.variants import ALL, CONTRADICTORY
from registry_contracts.settings.target import RealmSettings

#: Stands between two names of variants.
AND: Final = "+"
#: The variant that answers late each time: a long run against it would take all day.
SLOW: Final = "slow"
#: Stands for a knob at which the service behaves as the faithful sandbox.
_UNTURNED: Final = ""
#: How many knobs are turned at random in a service that is not of the cover.
_FEW: Final = (2, 3, 4, 6, 9, 12)


def knobs() -> Mapping[str, tuple[str, ...]]:
    """Every knob with the variants that turn it; each variant belongs to the first silence that it fills.

    Variants that need the cores for themselves, or settings of their own, are left out.
    """
    knobs_by_name: dict[str, tuple[str, ...]] = {}
    for name, variant in ALL.items():
        if name != SLOW and not variant.settings:
            knob = variant.silent[0]
            knobs_by_name[knob] = (*knobs_by_name.get(knob, ()), name)
    return knobs_by_name


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
    choices = [(knob, name) for knob, names in knobs().items() for name in (_UNTURNED, *names)]
    fitting = _fitting(choices)
    unmet = list(fitting)
    by_knob: dict[str, list[int]] = {}
    for number, (knob, _) in enumerate(choices):
        by_knob.setdefault(knob, []).append(number)
    while any(unmet):
        first = max(
            chance.sample(range(len(choices)), len(choices)), key=lambda choice: unmet[choice].bit_count()
        )
        partners = [choice for choice in range(len(choices)) if unmet[first] >> choice & 1]
        row = [first, chance.choice(partners)]
        taken = 1 << row[0] | 1 << row[1]
        for knob in chance.sample(list(by_knob), len(by_knob)):
            free = [choice for choice in by_knob[knob] if fitting[choice] & taken == taken]
            if free:
                chance.shuffle(free)
                row.append(max(free, key=lambda choice: (unmet[choice] & taken).bit_count()))
                taken |= 1 << row[-1]
        for choice in row:
            unmet[choice] &= ~taken
        yield [choices[choice][1] for choice in row if choices[choice][1]]


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
    return not any(_methods(layer) & _methods(over) for layer in first.parts for over in second.parts)


def _methods(layer: type) -> set[tuple[type, str]]:
    """What the classes of one layer define over which class of the service."""
    own = [c for c in layer.__mro__ if ".sandbox.variants" in c.__module__]
    below = next(c for c in layer.__mro__ if c not in own)
    return {(below, name) for c in own for name in vars(c) if not name.startswith("__")}


#: Permanent records that a run may leave in a realm: a service that is turned at dozens of knobs takes much that others
#: refuse, so that its owner would allow more than the usual.
PERMANENT_RECORDS: Final = 30


def settings_needed(name: str) -> dict[str, Any]:
    """What only settings can tell of a service: a contact that it takes, and what its variants name themselves.

    Of two variants that tell the same member of a contact, the later of all counts: its values are the stricter.

    Args:
        name: Of the variants, with a plus between them.
    """
    names = name.split(AND)
    variants = [ALL[known] for known in ALL if known in names]
    contact = {key: value for variant in variants for key, value in variant.contact.items()}
    named = {key: value for variant in variants for key, value in variant.settings.items()}
    return named | ({"contact_document": contact} if contact else {})


def setting_in(realm: str, value: Any, own: RealmSettings) -> Any:
    """The value of a setting in a realm: that of another setting, several values for the realm, or what it is."""
    if isinstance(value, str):
        return getattr(own, value)
    return tuple(each.format(realm=realm) for each in value) if isinstance(value, tuple) else value
