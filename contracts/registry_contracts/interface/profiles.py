"""How far a run goes: the one declaration of the profiles and their order."""

from __future__ import annotations

from enum import StrEnum


class Profile(StrEnum):
    """How far a run goes; each profile includes the cases of those before it."""

    SMOKE = "smoke"
    GATE = "gate"
    NIGHTLY = "nightly"
    FULL = "full"

    def includes(self, other: Profile) -> bool:
        """Whether a run of this profile includes a case of the other."""
        order = list(Profile)
        return order.index(other) <= order.index(self)
