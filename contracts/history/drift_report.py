"""The drift of one run: what reports and the terminal show of it, and whether it fails the run."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from itertools import groupby

from contracts.history.drift import RealmDifference
from contracts.history.observed_facts import Change, Facts, Kind, Severity


class Mode(StrEnum):
    """What drift does to the verdict of a run."""

    WARN = "warn"
    FAIL = "fail"
    OFF = "off"


@dataclass(frozen=True, slots=True)
class DriftReport:
    """How a run differs from the accepted baseline.

    Attributes:
        target: name of the target.
        baseline: file that was compared with, or would be; None when nobody asked.
        known: whether that file was there when the run began.
        unaccepted: number of facts that the baseline has no word on.
        outside: changes that do not touch what the run's consumer uses; they do not block.
    """

    mode: Mode = Mode.OFF
    target: str = ""
    baseline: str | None = None
    known: bool = False
    changes: tuple[Change, ...] = ()
    unaccepted: int = 0
    outside: frozenset[Change] = frozenset()

    @property
    def breaking(self) -> tuple[Change, ...]:
        """Changes that break clients."""
        return tuple(change for change in self.changes if change.severity is Severity.BREAKING)

    @property
    def additive(self) -> tuple[Change, ...]:
        """Changes that clients can live with."""
        return tuple(change for change in self.changes if change.severity is Severity.ADDITIVE)

    @property
    def blocking(self) -> str | None:
        """Why drift fails the run, in one sentence, or None when it does not."""
        counted = [change for change in self.breaking if change not in self.outside]
        if self.mode is not Mode.FAIL or not counted:
            return None
        first = counted[0]
        more = f" and {len(counted) - 1} more" if len(counted) > 1 else ""
        place = f"{first.clause} ({first.operation}) in {', '.join(first.realms)}"
        return f"breaking drift from {self.baseline}: {place}: {first.kind}, {first.says}{more}"

    @property
    def sentence(self) -> str | None:
        """One line for the terminal, or None when nobody asked."""
        if self.mode is Mode.OFF or self.baseline is None:
            return None
        if not self.known:
            return (
                f"no baseline of {self.target} yet; `registry-contracts drift accept` writes {self.baseline}"
            )
        new = f"{self.unaccepted} facts not in it yet" if self.unaccepted else ""
        counts = (
            [f"{len(self.breaking)} breaking", f"{len(self.additive)} additive"] if self.changes else ["none"]
        )
        line = f"{', '.join(counts)} against {self.baseline}"
        hint = "`registry-contracts drift` shows it" if self.changes else ""
        return "; ".join(filter(None, (line, new, hint)))


NO_DRIFT = DriftReport()
"""The drift of a run that nobody compared."""


def change_lines(changes: Sequence[Change]) -> Iterator[str]:
    """Yield the changes by severity and kind, operations of a clause that changed alike on one line."""
    for severity in Severity:
        mine = [change for change in changes if change.severity is severity]
        if mine:
            yield f"{severity} ({len(mine)})"
            for kind, group in groupby(sorted(mine, key=_order), key=lambda change: change.kind):
                yield f"  {kind}"
                yield from _alike(group)


def realm_difference_lines(differences: Iterable[RealmDifference]) -> Iterator[str]:
    """Yield what realms do not agree on, a line for each point and one for each value."""
    for (clause, operation), group in groupby(differences, key=lambda each: (each.clause, each.operation)):
        yield f"{clause} · {operation}"
        for difference in group:
            yield f"  {difference.point}"
            realms: dict[str, list[str]] = defaultdict(list)
            for realm, value in difference.values.items():
                realms[value].append(realm)
            yield from (f"    {', '.join(names)}: {value}" for value, names in realms.items())


def new_fact_lines(facts: Facts) -> Iterator[str]:
    """Yield how many facts of each clause the baseline has no word on."""
    counts: dict[str, int] = defaultdict(int)
    for place, values in facts.items():
        counts[place.clause] += len(values)
    yield from (f"  {clause}: {count}" for clause, count in sorted(counts.items()))


def _order(change: Change) -> tuple[int, str, str]:
    return list(Kind).index(change.kind), change.clause, change.point


def _alike(changes: Iterable[Change]) -> Iterator[str]:
    """Yield changes of one kind: operations that changed alike together, and what changed in them below."""
    operations: dict[tuple[str, tuple[str, ...], str], list[str]] = defaultdict(list)
    for change in changes:
        operations[change.clause, change.realms, change.says].append(change.operation)
    places: dict[str, list[str]] = defaultdict(list)
    for (clause, realms, says), names in operations.items():
        places[f"    {clause} · {', '.join(names)} · {', '.join(realms)}"].append(says)
    for place, lines in places.items():
        yield place
        yield from (f"        {says}" for says in lines)
