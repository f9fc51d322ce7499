"""What a run may cost a target: the request budget of each profile."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from types import MappingProxyType
from typing import Final

from contracts.errors import UsageError
from contracts.plugin.marks import Profile
from contracts.plugin.sharding import Part
from contracts.target.model import Target

#: Requests of a run in all four realms. A run that passes needs about half of it; the rest is for confirming what
#: does not pass.
REQUEST_BUDGETS: Final[Mapping[Profile, int]] = MappingProxyType(
    {Profile.SMOKE: 1_000, Profile.GATE: 10_000, Profile.NIGHTLY: 40_000, Profile.FULL: 60_000}
)


def request_budget(target: Target, profile: Profile) -> int:
    """The requests that a run may send: what the settings say, or else what the profile allows."""
    return target.pace.request_budget or REQUEST_BUDGETS[profile]


def share_of(target: Target, profile: Profile, part: Part) -> Target:
    """Return the target as one shard may treat it: all of them together keep the pace and the budget of a run.

    Permanent records need no dividing: the cases that make them in one realm are all in one shard.

    Raises:
        UsageError: there are more shards than the target takes requests at once.
    """
    pace = target.pace
    if part.of > pace.concurrency:
        raise UsageError(
            f"--shard {part}: the target takes {pace.concurrency} requests at once (setting pace.concurrency), "
            "one for each shard at least; make fewer shards"
        )
    rate = pace.requests_per_second
    shared = replace(
        pace,
        requests_per_second=rate and rate / part.of,
        concurrency=pace.concurrency // part.of,
        request_budget=request_budget(target, profile) // part.of or 1,
    )
    return replace(target, pace=shared)
