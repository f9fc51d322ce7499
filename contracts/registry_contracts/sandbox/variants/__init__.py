"""Server variants: sandboxes that obey every clause of the interface document and fill its silences in another way.

Most variants change habits (``rows``), some stand on the wire (``wire``). The faithful code imports nothing of this.
"""

import difflib
from collections.abc import Iterable, Mapping
from typing import Final

from registry_contracts.errors import UsageError
from registry_contracts.sandbox.variants import rows, wire  # noqa: F401 - wire declares its own
from registry_contracts.sandbox.variants.model import DECLARED, Variant

ALL: Final[Mapping[str, Variant]] = {v.name: v for v in (*rows.VARIANTS, *DECLARED)}
"""Every variant by its name."""


def chosen(names: Iterable[str]) -> tuple[Variant, ...]:
    """Return the variants of some names, in their order.

    Raises:
        UsageError: a name is unknown; the line suggests another.
    """
    names = dict.fromkeys(names)
    for name in (name for name in names if name not in ALL):
        close = difflib.get_close_matches(name, ALL, n=1)
        hint = f"did you mean '{close[0]}'?" if close else "`registry-contracts list variants` shows them all"
        raise UsageError(f"unknown variant '{name}'; {hint}")
    return tuple(ALL[name] for name in names)
