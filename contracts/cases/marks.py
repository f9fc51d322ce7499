"""The mark that makes a test function a contract case."""

from __future__ import annotations

from collections.abc import Iterable
from enum import StrEnum

import pytest


class Profile(StrEnum):
    """How far a run goes, in rising order; a case runs in its own profile and in every later one."""

    SMOKE = "smoke"
    GATE = "gate"
    NIGHTLY = "nightly"
    FULL = "full"

    def includes(self, other: Profile) -> bool:
        """Whether a run of this profile takes in a case of the other."""
        order = list(Profile)
        return order.index(other) <= order.index(self)


def contract(
    *clauses: str,
    operations: Iterable[str] = (),
    profile: str = Profile.GATE,
    requests: int = 0,
    faults: bool = False,
    last: bool = False,
    records: int = 0,
) -> pytest.MarkDecorator:
    """Mark a case.

    Args:
        clauses: Ids of the clauses that the case makes claims about or observes.
        operations: Operations exercised; a case with an argument `operation` runs once for each. By default all
            operations of its clauses.
        profile: The first profile that takes the case in; cases of a gate that find most faults for each request are in
            `smoke` as well, by the order of cases.
        requests: Rough cost, where it is far from the usual handful; lets long cases start early.
        faults: The case also covers every clause that speaks about generated faults of its operation.
        last: The case uses up what others need, or builds on what they leave, so they run before it.
        records: Contacts and submissions that the case creates when it passes; their places in the budget of permanent
            records are kept for it, and it runs after the cases that create none.
    """
    return pytest.mark.contract(
        clauses=tuple(clauses),
        operations=tuple(operations),
        profile=Profile(profile),
        requests=requests,
        faults=faults,
        last=last,
        records=records,
    )
