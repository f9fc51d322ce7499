"""The marks that make a test function a contract case, and a case one of the profile `smoke`."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

import pytest

from registry_contracts.interface.profiles import Profile
from registry_contracts.model.rows import PAIRS, TRIPLES, Row


@dataclass(frozen=True)
class Facts:
    """What the marks of a case say of it.

    Attributes:
        clauses: Ids of the clauses that the case makes claims about or observes.
        operations: Operations exercised; a case with an argument `operation` runs once for each. By default all
            operations of its clauses.
        profile: The first profile that takes the case in.
        requests: About how many the case sends in each realm, for the forecast of a run: the mean of the sandbox's.
            Each case says so in one of its marks.
        dealt: About how many it deals out among the realms of the run besides.
        nightly: About how many it sends in each realm from the profile `nightly` on, where these are others.
        faults: The case also covers every clause that speaks about generated faults of its operation.
        last: The case uses up what others need, or builds on what they leave, so they run before it.
        turns: A gate asks each case of it in one realm by turns, as other cases judge its clauses in the others.
        records: Contacts and submissions that the case creates when it passes; their places in the budget of permanent
            records are kept for it, and it runs after the cases that create none.
        files: Temporary files that the case uses up in each realm; with an operation as its argument, for
            `persistTemporaryFile` alone.
        needs: Settings of the realm without which the case sends nothing, where these are not those of its clauses.
        relies_on: Ids of further clauses, each shown once in a realm before the case; what does not hold blocks it.
    """

    clauses: tuple[str, ...] = ()
    operations: Iterable[str] = ()
    profile: str = Profile.GATE
    requests: float = 0
    dealt: float = 0
    nightly: float = 0
    faults: bool = False
    last: bool = False
    turns: bool = False
    records: int = 0
    files: int = 0
    needs: Iterable[str] | None = None
    relies_on: Iterable[str] = ()

    def __or__(self, other: Facts) -> Facts:
        """The facts of two marks of a case: of figures and switches the largest, of profiles the last."""
        figures = ("requests", "dealt", "nightly", "faults", "last", "turns", "records", "files")
        return Facts(
            tuple(dict.fromkeys([*self.clauses, *other.clauses])),
            (*self.operations, *other.operations),
            max(self.profile, other.profile, key=lambda name: list(Profile).index(Profile(name))),
            **{name: max(getattr(self, name), getattr(other, name)) for name in figures},
            needs=other.needs if self.needs is None else self.needs,
            relies_on=(*self.relies_on, *other.relies_on),
        )


def contract(*clauses: str, **facts: Any) -> pytest.MarkDecorator:
    """Mark a case of some clauses, with further facts by their names."""
    return pytest.mark.contract.with_args(Facts(clauses, **facts))


def for_each_row(
    make: Callable[[int], Iterable[Row]], marks: Callable[[Row], list[pytest.MarkDecorator]] = lambda _: []
) -> pytest.MarkDecorator:
    """Run a case for each `row` of the factor table: in a gate for pairs of values, at night for triples as well.

    Args:
        make: The rows in which so many values stand together.
        marks: Further marks of a row.
    """

    def parameters(profile: Profile) -> list[Any]:
        pairs, night = [*make(PAIRS)], contract(profile=Profile.NIGHTLY, turns=True)
        made = [pytest.param(row, id=str(row), marks=marks(row)) for row in pairs]
        if profile.includes(Profile.NIGHTLY):  # those of a night alone are rotated
            more = dict.fromkeys(row for row in make(TRIPLES) if row not in pairs)
            made += [pytest.param(row, id=str(row), marks=[*marks(row), night]) for row in more]
        return made

    return pytest.mark.for_each_row.with_args(parameters)


def smoke(
    *parameters: str, every_realm: bool = False, requests: float | None = None, values: int = 1
) -> pytest.MarkDecorator:
    """Put a case into the profile `smoke`.

    Args:
        parameters: Only with these parameters, each as in the case's id behind the realm; by default with all.
        every_realm: In each realm of the run, and not in the first alone.
        requests: About how many it sends there, where these are others than in a gate.
        values: So many of each table that it deals out, the first ones.
    """
    return pytest.mark.smoke(parameters=parameters, every_realm=every_realm, requests=requests, values=values)
