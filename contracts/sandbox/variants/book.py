"""All variants by name, named combinations of them, and the choice made on the command line."""

import difflib
import textwrap
from collections.abc import Iterable

from contracts.errors import UsageError
from contracts.sandbox.variants import (
    bodies,
    contacts,
    drafts,
    envelopes,
    files,
    forms,
    late,
    lists,
    names,
    openness,
    plain,
    readings,
    refusals,
    sight,
    strictness,
    texts,
    tokens,
    wire,
    workflow,
)
from contracts.sandbox.variants.combinations import COMBINATIONS
from contracts.sandbox.variants.model import Alteration, Variant

_MODULES = (
    plain,
    refusals,
    names,
    lists,
    late,
    drafts,
    sight,
    files,
    contacts,
    readings,
    tokens,
    workflow,
    envelopes,
    forms,
    strictness,
    openness,
    texts,
    bodies,
    wire,
)

ALL: dict[str, Variant] = {variant.name: variant for module in _MODULES for variant in module.VARIANTS}
"""Every variant by its name."""


def chosen(names: Iterable[str]) -> Alteration:
    """Return the alteration that variants make together.

    Args:
        names: names of variants and combinations, in the order in which they count.

    Raises:
        UsageError: a name is unknown; the line suggests another.

    """
    members = [member for name in names for member in _members(name)]
    return Alteration(tuple(ALL[member] for member in dict.fromkeys(members)))


def _members(name: str) -> tuple[str, ...]:
    if name in ALL:
        return (name,)
    if name in COMBINATIONS:
        return COMBINATIONS[name]
    close = difflib.get_close_matches(name, [*ALL, *COMBINATIONS], n=1)
    hint = f"did you mean '{close[0]}'?" if close else "--variant list shows them all"
    raise UsageError(f"unknown variant '{name}'; {hint}")


def help_text() -> str:
    """Return every variant with its sentence, then the combinations, as ``--variant list`` prints them."""
    lines = ["Variants (each obeys the interface document and fills a silence of it):", ""]
    for variant in ALL.values():
        lines += [
            f"  {variant.name}",
            *textwrap.wrap(
                variant.sentence,
                100,
                initial_indent=" " * 6,
                subsequent_indent=" " * 6,
                break_on_hyphens=False,
            ),
        ]
    lines += ["", "Combinations:", ""]
    for name, members in COMBINATIONS.items():
        lines += [
            f"  {name}",
            *textwrap.wrap(
                ", ".join(members),
                100,
                initial_indent=" " * 6,
                subsequent_indent=" " * 6,
                break_on_hyphens=False,
            ),
        ]
    return "\n".join(lines) + "\n"
