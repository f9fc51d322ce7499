"""How many drawn faults were found: the share, and the figure that no draw may fall below."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Final, NamedTuple

from registry_contracts.errors import UsageError
from registry_contracts.file_formats import Count, Format, Name, read_file

_SIGNIFICANT: Final = 0.05


class Share(NamedTuple):
    """So many of so many."""

    found: int
    of: int

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
