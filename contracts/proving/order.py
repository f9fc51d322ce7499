"""Works out the order of cases from drawn faults: which case finds most of what is left for each request it costs."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Final

from contracts.interface.catalogue import Level
from contracts.plugin.case_order import CaseOrder, Turn, read_order
from contracts.plugin.forecast import measured
from contracts.proving.trials import CaseFacts
from contracts.sandbox.faults import population

#: What every case costs beside its requests, in requests.
_OVERHEAD: Final = 1.0
#: What the population counts beside drawn faults: by what cases are about, and not by what they found.
_TRUST: Final = 0.3
#: What is left of the faults that a case may find by its clauses and operations, when one such case has run.
_LEFT: Final = 0.5


@dataclass
class _Faults:
    """Faults of one kind, which the same turns find.

    Attributes:
        weight: How many are not found yet.
        left: The share of them that a turn which finds them leaves.
    """

    weight: float
    left: float
    turns: list[Turn] = field(default_factory=list)


def order_of_cases(
    command: str,
    found: Sequence[tuple[str, Sequence[str]]],
    cases: Mapping[str, CaseFacts],
    requests: Mapping[str, float],
) -> CaseOrder:
    """Order cases by the faults that they find for each request, each time among those that are left.

    Drawn faults count where a case found them. The population counts as well, though less:
    a case may find what breaks a clause of its own on an operation of its own.

    Args:
        command: What found it out.
        found: Names of drawn faults, each with the ids of the cases that found it.
        cases: What is known of each case, by its id with `*` for the realm.
        requests: What each case costs, by its id.

    Returns:
        The order; cases that have to wait for others stand last.
    """
    drawn = [(name, [case for case in ids if case in cases]) for name, ids in found]
    groups = _measured(drawn) + _expected(cases, len(drawn))
    gains: dict[Turn, float] = dict.fromkeys(
        (Turn(case, first) for case in cases for first in (True, False)), 0.0
    )
    of_turn: dict[Turn, list[_Faults]] = defaultdict(list)
    for group in groups:
        for turn in group.turns:
            gains[turn] += group.weight
            of_turn[turn].append(group)
    order = CaseOrder(command, len(found), (), requests)
    waiting = {Turn(case, first=True) for case in cases}
    ordered: list[Turn] = []
    while waiting:
        best = min(
            waiting,
            key=lambda turn: (
                cases[turn.case].late,
                -gains[turn] / (order.cost(turn) + _OVERHEAD),
                turn.case,
            ),
        )
        ordered.append(best)
        waiting.remove(best)
        if best.first:
            waiting.add(Turn(best.case, first=False))
        for group in of_turn[best]:
            gone = group.weight * (1 - group.left)
            group.weight -= gone
            for turn in group.turns:
                gains[turn] -= gone
    return replace(order, turns=tuple(ordered))


def _measured(drawn: Iterable[tuple[str, Sequence[str]]]) -> list[_Faults]:
    faults = population.population()
    return [
        group
        for name, ids in drawn
        for group in _by_turn(1.0, 0.0, ids, in_one_realm=bool(faults[name].realms))
    ]


def _expected(cases: Mapping[str, CaseFacts], drawn: int) -> list[_Faults]:
    """The faults of the population by what they break."""
    musts = [fault for fault in population.population().values() if fault.level is Level.MUST]
    kinds = Counter((fault.clauses, fault.operations, bool(fault.realms)) for fault in musts)
    groups: list[_Faults] = []
    for (clauses, operations, in_one_realm), number in kinds.items():
        about = [case for case, facts in cases.items() if not set(clauses).isdisjoint(facts.clauses)]
        near = [case for case in about if not set(operations).isdisjoint(cases[case].operations)]
        weight = _TRUST * drawn * number / len(musts)
        groups += _by_turn(weight, _LEFT, near or about, in_one_realm=in_one_realm)
    return groups


def _by_turn(weight: float, left: float, ids: Sequence[str], *, in_one_realm: bool) -> list[_Faults]:
    """What the first realm of cases shows of some faults, and what only their other realms show."""
    share = 1 / 3 if in_one_realm else 1.0
    groups = [_Faults(weight * share, left, [Turn(case, first=True) for case in ids])]
    if in_one_realm:
        groups.append(_Faults(weight * (1 - share), left, [Turn(case, first=False) for case in ids]))
    return groups


def known_costs() -> dict[str, float]:
    """What each case costs: the most that it was seen to, as others may have arranged what it needs."""
    sent = {
        case: sum(number for name, number in counts.items() if name != "large_files")
        for case, counts in measured().items()
    }
    known = read_order().requests
    return {case: max(sent.get(case, 0.0), known.get(case, 0.0)) for case in sent.keys() | known.keys()}


def staleness(cases: Iterable[str]) -> str:
    """Say what the order that is kept does not know, or knows in vain; empty when it fits.

    Args:
        cases: The ids of all cases that a gate takes in, with `*` for the realm.
    """
    there, known = set(cases), read_order().cases
    parts = (
        [f"{len(there - known)} cases are not in it, such as {min(there - known)}"] if there - known else []
    )
    parts += [f"{len(known - there)} are gone, such as {min(known - there)}"] if known - there else []
    remedy = "`registry-contracts prove --part drawn --order` measures it again"
    return "; ".join([*parts, remedy]) if parts else ""
