"""All variants by name, the silences they fill, and the command line's choice."""

import difflib
from collections.abc import Iterable, Mapping

from registry_contracts.errors import UsageError
from registry_contracts.sandbox.variants import parts, rows, wire
from registry_contracts.sandbox.variants.model import Alteration, Variant

ALL: Mapping[str, Variant] = {v.name: v for v in (*rows.VARIANTS, *parts.VARIANTS, *wire.VARIANTS)}
"""Every variant by its name."""


def fillings() -> Mapping[str, tuple[str, ...]]:
    """Return every silent clause, and every other silent point in words, with the variants that fill it."""
    points = dict.fromkeys(point for variant in ALL.values() for point in variant.silent)
    return {
        point: tuple(variant.name for variant in ALL.values() if point in variant.silent) for point in points
    }


def chosen(names: Iterable[str]) -> Alteration:
    """Return the alteration that variants make together, in the order of their names.

    Raises:
        UsageError: a name is unknown; the line suggests another.
    """
    return Alteration(tuple(_named(name) for name in dict.fromkeys(names)))


def _named(name: str) -> Variant:
    if name in ALL:
        return ALL[name]
    close = difflib.get_close_matches(name, ALL, n=1)
    hint = f"did you mean '{close[0]}'?" if close else "`registry-contracts list variants` shows them all"
    raise UsageError(f"unknown variant '{name}'; {hint}")
