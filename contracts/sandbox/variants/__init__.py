"""Variants: sandboxes that obey every clause of the interface document, yet fill its silence in another way.

``ALL`` holds each by name, ``COMBINATIONS`` named groups of them; ``chosen`` makes one alteration of the names
given on the command line. The faithful code knows nothing of this package.
"""

from contracts.sandbox.variants.model import Alteration, Variant
from contracts.sandbox.variants.registry import ALL, COMBINATIONS, chosen, help_text

__all__ = ["ALL", "COMBINATIONS", "Alteration", "Variant", "chosen", "help_text"]
