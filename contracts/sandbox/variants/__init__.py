"""Variants: sandboxes that obey every clause of the interface document, yet fill its silence in another way.

``ALL`` holds each by name, ``COMBINATIONS`` named groups of them; ``chosen`` makes one alteration of the names
given on the command line. The faithful code knows nothing of this package.
"""

from contracts.sandbox.variants.book import ALL, chosen, help_text
from contracts.sandbox.variants.combinations import COMBINATIONS
from contracts.sandbox.variants.model import Alteration, Variant

__all__ = ["ALL", "COMBINATIONS", "Alteration", "Variant", "chosen", "help_text"]
