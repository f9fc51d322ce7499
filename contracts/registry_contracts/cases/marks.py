"""The marks that make a test function a contract case and put a case into the profile `smoke`."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

import pytest

from registry_contracts.interface.profiles import Profile
from registry_contracts.model.rows import PAIRS, TRIPLES, Row


@dataclass(frozen=True)
class Facts:
    """What the marks of a case say about it.

    Attributes:
        clauses: Ids of the clauses that the case makes claims about or observes.
        operations: Operations exercised; a case with an argument `operation` runs once for each. By default all
            operations of its clauses.
        profile: The smallest profile that includes the case.
        requests: About how many requests the case sends in each realm (mean of the sandbox runs), for the forecast.
            Each case sets it in one of its marks.
        dealt: About how many more it sends in total, rotated over the realms of the run.
        nightly: About how many it sends in each realm from profile `nightly` on, if different.
        faults: The case also covers every clause about generated faults of its operation.
        last: The case uses up what others need, or builds on what they leave; so it runs after them; 2: at
            the very end.
        turns: A gate run rotates it over the realms, since other cases judge its clauses in the others.
        records: Contacts and submissions that the case creates when it passes. The budget of permanent records reserves
            them, and the case runs after those that create none.
        files: Temporary files that the case uses up in each realm; with an operation as its argument, for
            `persistTemporaryFile` alone.
        needs: Settings of the realm without which the case sends nothing (default: those of its clauses).
        relies_on: Ids of further clauses, each checked once in a realm before the case; a failed one blocks it.
    """

    clauses: tuple[str, ...] = ()
    operations: Iterable[str] = ()
    profile: str = Profile.GATE
    requests: float = 0
    dealt: float = 0
    nightly: float = 0
    faults: bool = False
    last: int = False
    turns: bool = False
    records: int = 0
    files: int = 0
    needs: Iterable[str] | None = None
    relies_on: Iterable[str] = ()

    def __or__(self, other: Facts) -> Facts:
        """Merge two marks of a case: the largest of numbers and switches, the later profile."""
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
    """Mark a case with its clauses and with further `Facts` by name."""
    return pytest.mark.contract.with_args(Facts(clauses, **facts))


def for_each_row(
    make: Callable[[int], Iterable[Row]], marks: Callable[[Row], list[pytest.MarkDecorator]] = lambda _: []
) -> pytest.MarkDecorator:
    """Run a case for each `row` of the factor table: pairs of values in a gate run, triples too in a nightly run.

    Args:
        make: Returns the rows that cover all combinations of so many values.
        marks: Further marks of a row.
    """

    def parameters(profile: Profile) -> list[Any]:
        pairs, night = [*make(PAIRS)], contract(profile=Profile.NIGHTLY, turns=True)
        made = [pytest.param(row, id=str(row), marks=marks(row)) for row in pairs]
        if profile.includes(Profile.NIGHTLY):  # rows for nightly runs only are rotated
            more = dict.fromkeys(row for row in make(TRIPLES) if row not in pairs)
            made += [pytest.param(row, id=str(row), marks=[*marks(row), night]) for row in more]
        return made

    return pytest.mark.for_each_row.with_args(parameters)


def smoke(
    *parameters: str, every_realm: bool = False, requests: float | None = None, values: int = 1
) -> pytest.MarkDecorator:
    """Put a case into the profile `smoke`.

    Args:
        parameters: Only these parameters, written as in the case's id after the realm; by default all.
        every_realm: In each realm of the run, not only the first.
        requests: About how many requests it sends there, if different from a gate run.
        values: The first so many values of each rotated table.
    """
    return pytest.mark.smoke(parameters=parameters, every_realm=every_realm, requests=requests, values=values)
