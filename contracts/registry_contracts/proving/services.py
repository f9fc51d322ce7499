"""Conformant services to draw: variants that go together."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from functools import cache
from itertools import count
from random import Random
from typing import Any, Final

from registry_contracts.sandbox.variants import ALL
from registry_contracts.settings.target import RealmSettings

#: Stands between two names of variants.
AND: Final = "+"
#: How many variants a drawn service has: one for about every second silent point, or a few.
_MANY: Final = 75
_FEW: Final = (2, 3, 4, 6, 9, 12)


def drawable() -> list[str]:
    """The variants that a draw takes: all but those that need settings."""
    return [name for name, variant in ALL.items() if not variant.settings]


def draw_services(seed: int, *, many_only: bool = False) -> Iterator[str]:
    """Draw services without end, in turn with many and with few variants; those drawn least often go first.

    Args:
        many_only: Draw none of a few variants.

    Yields:
        Names of variants with a plus between them, the same for the same seed.
    """
    chance = Random(f"services {seed}")  # noqa: S311 - nothing secret hangs on it
    met: Counter[str] = Counter()
    for turn in count():
        size = _MANY if many_only or turn % 2 == 0 else chance.choice(_FEW)
        names = drawable()
        chance.shuffle(names)
        names.sort(key=lambda name: met[name])
        taken: list[str] = []
        for name in names:
            if len(taken) < size and all(together(name, other) for other in taken):
                taken.append(name)
        met.update(taken)
        yield AND.join(taken)


@cache
def together(one: str, other: str) -> bool:
    """Whether two variants can be combined: they decide no silent point and no habit in common."""
    first, second = ALL[one], ALL[other]
    return first.silent[0] != second.silent[0] and not first.habits.keys() & second.habits.keys()


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
