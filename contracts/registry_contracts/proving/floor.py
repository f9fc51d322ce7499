"""The share of drawn faults that was found, and the measured share that no draw may fall below."""

from __future__ import annotations

import math
from typing import Final, NamedTuple

from registry_contracts.file_formats import Count, Format, Name

#: 95 percent of a normal distribution lie within so many standard deviations.
_DEVIATIONS: Final = 1.96


class Share(NamedTuple):
    """A number of found faults out of all."""

    found: int
    of: int

    @property
    def interval(self) -> tuple[float, float]:
        """The 95 percent confidence interval of the share (Wilson)."""
        if not self.of:
            return 0.0, 1.0
        share, square = self.found / self.of, _DEVIATIONS**2 / self.of
        middle, half = share + square / 2, math.sqrt(square * (share * (1 - share) + square / 4))
        return (middle - half) / (1 + square), (middle + half) / (1 + square)

    def __str__(self) -> str:
        """The share with its interval."""
        low, high = self.interval
        return f"{self.found} of {self.of} (95 %: {low:.0%} to {high:.0%})"


class Floor(Format, frozen=True):
    """The last measurement of a draw; later draws are compared with it.

    Attributes:
        commit: The commit that was measured.
    """

    found: Count
    drawn: Count
    seeds: tuple[int, ...]
    date: Name
    commit: Name
    command: Name

    def allows(self, share: Share) -> bool:
        """Whether a share is not below the interval of the measured one."""
        return not share.of or share.found / share.of >= Share(self.found, self.drawn).interval[0]
