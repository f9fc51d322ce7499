"""What a run may cost a target: the request budget of each profile."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from contracts.plugin.marks import Profile
from contracts.target.model import Target

#: Requests of a run in all four realms. A run that passes needs about half of it; the rest is for confirming what
#: does not pass.
REQUEST_BUDGETS: Final[Mapping[Profile, int]] = MappingProxyType(
    {Profile.SMOKE: 1_000, Profile.GATE: 10_000, Profile.NIGHTLY: 40_000, Profile.FULL: 60_000}
)


def request_budget(target: Target, profile: Profile) -> int:
    """The requests that a run may send: what the settings say, or else what the profile allows."""
    return target.pace.request_budget or REQUEST_BUDGETS[profile]
