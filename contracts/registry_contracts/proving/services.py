"""Conformant services to draw: silences, each with the variants that fill it, and pairwise covers of them."""

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
#: The variant that delays every answer: a long run against it would take all day.
SLOW: Final = "slow"
#: Stands for a silence that the service fills as the faithful sandbox does.
_FAITHFUL: Final = ""
#: How many variants a random service has.
_FEW: Final = (2, 3, 4, 6, 9, 12)


def silences() -> Mapping[str, tuple[str, ...]]:
    """Every silence with the variants that fill it; each variant belongs to the first silence that it fills.

    The slow variant and variants that need settings are left out.
    """
    found: dict[str, tuple[str, ...]] = {}
    for name, variant in ALL.items():
        if name != SLOW and not variant.settings:
            found[variant.silent[0]] = (*found.get(variant.silent[0], ()), name)
    return found


def draw_services(number: int, seed: int) -> Iterator[str]:
    """Draw services: alternately the next row of a pairwise cover and a few random variants.

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
    """Draw the rows of a pairwise cover: any two variants that go together meet, also with faithful silences.

    Each row begins with two values that have not met. For every other silence it takes the value that meets most
    others for the first time.

    Args:
        seed: The same rows for the same seed.

    Yields:
        The variants of a row.
    """
    chance = Random(f"cover {seed}")  # noqa: S311 - as above
    choices = [(silence, name) for silence, names in silences().items() for name in (_FAITHFUL, *names)]
    fitting = _fitting(choices)
    unmet = list(fitting)
    by_silence: dict[str, list[int]] = {}
    for number, (silence, _) in enumerate(choices):
        by_silence.setdefault(silence, []).append(number)
    while any(unmet):
        first = max(
            chance.sample(range(len(choices)), len(choices)), key=lambda choice: unmet[choice].bit_count()
        )
        partners = [choice for choice in range(len(choices)) if unmet[first] >> choice & 1]
        row = [first, chance.choice(partners)]
        taken = 1 << row[0] | 1 << row[1]
        for silence in chance.sample(list(by_silence), len(by_silence)):
            free = [choice for choice in by_silence[silence] if fitting[choice] & taken == taken]
            if free:
                chance.shuffle(free)
                row.append(max(free, key=lambda choice: (unmet[choice] & taken).bit_count()))
                taken |= 1 << row[-1]
        for choice in row:
            unmet[choice] &= ~taken
        yield [choices[choice][1] for choice in row if choices[choice][1]]


def _fitting(choices: Sequence[tuple[str, str]]) -> list[int]:
    """For each value of a silence the values of other silences that go with it, one bit each."""

    def fit(one: tuple[str, str], other: tuple[str, str]) -> bool:
        return one[0] != other[0] and (not one[1] or not other[1] or together(one[1], other[1]))

    return [sum(1 << number for number, other in enumerate(choices) if fit(one, other)) for one in choices]


def _few(chance: Random, met: Counter[str]) -> list[str]:
    """Draw a few variants that go together, from those that were drawn least often."""
    size, taken = chance.choice(_FEW), list[str]()
    names = [name for names in silences().values() for name in names]
    chance.shuffle(names)
    names.sort(key=lambda name: met[name])
    for name in names:
        if len(taken) < size and all(together(name, other) for other in taken):
            taken.append(name)
    return taken


@cache
def together(one: str, other: str) -> bool:
    """Whether two variants go together: they change no common habit or method, and contradict no sentence."""
    if frozenset({one, other}) in CONTRADICTORY:
        return False
    first, second = ALL[one], ALL[other]
    if first.habits.keys() & second.habits.keys():
        return False
    return not any(_methods(layer) & _methods(over) for layer in first.parts for over in second.parts)


def _methods(layer: type) -> set[tuple[type, str]]:
    """The methods of the service's classes that a layer replaces."""
    own = [c for c in layer.__mro__ if ".sandbox.variants" in c.__module__]
    below = next(c for c in layer.__mro__ if c not in own)
    return {(below, name) for c in own for name in vars(c) if not name.startswith("__")}


#: Permanent records that a run may leave in a realm of a variant service, which accepts much that others refuse.
PERMANENT_RECORDS: Final = 30


def settings_needed(name: str) -> dict[str, Any]:
    """The settings that a service needs: a contact that it accepts, and the settings of its variants.

    If two variants give the same member of a contact, the later one counts, because its values are stricter.

    Args:
        name: The variants, with a plus between them.
    """
    names = name.split(AND)
    variants = [ALL[known] for known in ALL if known in names]
    contact = {key: value for variant in variants for key, value in variant.contact.items()}
    named = {key: value for variant in variants for key, value in variant.settings.items()}
    return named | ({"contact_document": contact} if contact else {})


def setting_in(realm: str, value: Any, own: RealmSettings) -> Any:
    """The value of a setting in a realm: that of another setting, values with the realm filled in, or the value."""
    if isinstance(value, str):
        return getattr(own, value)
    return tuple(each.format(realm=realm) for each in value) if isinstance(value, tuple) else value
