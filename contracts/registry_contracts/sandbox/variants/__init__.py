"""Server variants: sandboxes that obey every clause of the interface document and fill its silences in another way.

A variant is one row: most change habits (``rows``), some replace methods of a part (``parts``), a few stand on the
wire (``wire``). The faithful code does not import this package.
"""

from registry_contracts.sandbox.variants.model import Alteration, Variant
from registry_contracts.sandbox.variants.registry import ALL, CONTRADICTORY, chosen

__all__ = ["ALL", "CONTRADICTORY", "Alteration", "Variant", "chosen"]
