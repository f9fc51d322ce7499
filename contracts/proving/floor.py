"""How many drawn faults were found: the share with its interval, and the figure that no draw may fall below."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Final, NamedTuple

from contracts.errors import UsageError
from contracts.file_formats import Count, Format, Name, read_file

#: The normal quantile of a confidence of 95 percent.
_Z: Final = 1.96
_SIGNIFICANT: Final = 0.05


class Share(NamedTuple):
    """So many of so many."""

    found: int
    of: int

    def interval(self) -> tuple[float, float]:
        """The Wilson score interval, with a confidence of 95 percent."""
        if self.of == 0:
            return 0.0, 1.0
        share, spread = self.found / self.of, _Z**2 / self.of
        middle = share + spread / 2
        reach = _Z * math.sqrt(share * (1 - share) / self.of + spread / (4 * self.of))
        return (middle - reach) / (1 + spread), (middle + reach) / (1 + spread)

    def below(self, other: Share) -> bool:
        """Whether it is significantly lower than another: Fisher's exact test, one-sided, 5 percent."""
        found, both = self.found + other.found, self.of + other.of
        ways = sum(
            math.comb(found, few) * math.comb(both - found, self.of - few) for few in range(self.found + 1)
        )
        return ways / math.comb(both, self.of) < _SIGNIFICANT


class Floor(Format, frozen=True):
    """What a draw found that later ones are held against."""

    found: Count
    drawn: Count
    seed: int
    command: Name

    @property
    def share(self) -> Share:
        """What was found, of what was drawn."""
        return Share(self.found, self.drawn)


def read_floor(path: Path) -> Floor:
    """Read what later draws are held against.

    Raises:
        UsageError: there is no such file, it cannot be read, or holds something else.
    """
    try:
        return read_file(path, Floor)
    except FileNotFoundError:
        raise UsageError(f"no floor in '{path}'") from None
