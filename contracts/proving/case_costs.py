"""What a case costs at its place in a run: its own requests, and what it arranges that no case before it did.

Measured on the faithful sandbox; `tests.meta.case_arrangements` writes it down.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Final

from contracts.plugin.collection import Turn
from contracts.plugin.forecast import USUAL_REQUESTS, measured

MEASURED: Final = Path(__file__).with_name("case_arrangements.json")
#: A case that sends so many times as much where one realm is judged alone deals out among realms what it tries.
_DEALT: Final = 1.4
#: So many requests more at least.
_LEAST_DEALT: Final = 2


@dataclass(frozen=True)
class Cost:
    """Requests, and the names of what has to be arranged before; a `*` in a name stands for the realm."""

    requests: float
    needs: tuple[str, ...] = ()


@dataclass(frozen=True)
class KnownCosts:
    """What was measured.

    Attributes:
        cases: The cost of each case, by its id with `*` for the realm.
        arranged: The cost of what cases arrange once in a run and use together, by its name.
    """

    cases: Mapping[str, Cost]
    arranged: Mapping[str, Cost]


def write_costs(path: Path, costs: KnownCosts) -> None:
    """Write costs, a line for each."""
    parts = {"cases": costs.cases, "arranged": costs.arranged}
    texts = [
        f"{json.dumps(part)}: {{\n"
        + ",\n".join(
            f"{json.dumps(name)}: {json.dumps([cost.requests, *cost.needs])}" for name, cost in known.items()
        )
        + "\n}"
        for part, known in parts.items()
    ]
    path.write_text("{" + ",\n".join(texts) + "}\n", encoding="utf-8")


@cache
def known_costs() -> KnownCosts:
    """The costs that are kept with the library."""
    content = json.loads(MEASURED.read_text(encoding="utf-8"))
    cases, arranged = (
        {name: Cost(requests, tuple(needs)) for name, (requests, *needs) in content[part].items()}
        for part in ("cases", "arranged")
    )
    return KnownCosts(cases, arranged)


def dealt_out(case: str) -> bool:
    """Whether each realm tries only a part of what a case tries where one realm is judged alone."""
    shared, alone = (sum(measured(alone=one).get(case, {}).values()) for one in (False, True))
    return alone > _DEALT * shared and alone - shared >= _LEAST_DEALT


class RunningCosts:
    """What turns cost as a run goes on.

    Args:
        turns: All that will be asked for.
    """

    def __init__(self, costs: KnownCosts, turns: Iterable[Turn]) -> None:
        self._costs = costs
        self._arranged: set[str] = set()
        self._needs = {turn: self._needed(turn) for turn in turns}
        self._users: defaultdict[str, list[Turn]] = defaultdict(list)
        for turn, needs in self._needs.items():
            for name in needs:
                self._users[name].append(turn)
        self._now = {turn: self._cost(turn) for turn in self._needs}

    def of(self, turn: Turn) -> float:
        """The requests of a turn that would come next."""
        return self._now[turn]

    def take(self, turn: Turn) -> None:
        """Let a turn come next: what it arranges is there from now on."""
        new = self._needs[turn].keys() - self._arranged
        self._arranged |= new
        for other in {user for name in new for user in self._users[name]}:
            self._now[other] = self._cost(other)

    def _cost(self, turn: Turn) -> float:
        own = self._costs.cases.get(turn.case, Cost(USUAL_REQUESTS)).requests
        return own + sum(cost for name, cost in self._needs[turn].items() if name not in self._arranged)

    def _needed(self, turn: Turn) -> dict[str, float]:
        """All that a turn needs, also by way of something else it needs, with what arranging each costs."""
        needed: dict[str, float] = {}
        waiting = list(self._costs.cases.get(turn.case, Cost(0)).needs)
        while waiting:
            name = waiting.pop()
            cost = self._costs.arranged.get(name, Cost(0))
            placed = name.replace("*", turn.realm)
            if placed not in needed:
                needed[placed] = cost.requests
                waiting += cost.needs
        return needed
