"""Variants: sandboxes that obey every clause of the interface document, yet fill its silence in another way.

A variant is one row: most are other habits (``rows``), some replace methods of a part (``parts``), a few stand on the
wire (``wire``). The faithful code knows nothing of this package.
"""

from registry_contracts.sandbox.variants.model import Alteration, Variant
from registry_contracts.sandbox.variants.registry import ALL, chosen, fillings

__all__ = ["ALL", "Alteration", "Variant", "chosen", "fillings"]
