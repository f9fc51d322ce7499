"""Variants: sandboxes that obey every clause of the interface document, yet fill its silence in another way.

``ALL`` holds each by name; ``chosen`` makes one alteration of the names given on the command line. The faithful code
knows nothing of this package.
"""

from contracts.sandbox.variants.model import Alteration, Variant
from contracts.sandbox.variants.registry import ALL, chosen, fillings, help_text

__all__ = ["ALL", "Alteration", "Variant", "chosen", "fillings", "help_text"]
