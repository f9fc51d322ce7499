"""In which order a run takes up its cases: first those that find most faults for each request they cost.

The order is data that a proof writes (`registry-contracts prove --part drawn --order FILE`), the same for everybody.
Each case stands in it twice: where it runs in its first realm, and where it runs in its other realms; a fault that
shows in all realms is found in the first one.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path
from typing import Final

from contracts.errors import UsageError
from contracts.plugin.forecast import without_realm

ORDER_FILE: Final = Path(__file__).with_name("case_order.json")
#: About how many requests the cases of the profile `smoke` send in all four realms; it sends some more beside them.
SMOKE_REQUESTS: Final = 275
#: A case runs in so many realms beside its first.
_OTHER_REALMS: Final = 2
#: The realm of a turn, as the file says it.
FIRST, OTHERS = "first realm", "other realms"


@dataclass(frozen=True, slots=True)
class Turn:
    """One place in the order.

    Attributes:
        case: The id of a case, with `*` for the realm.
        first: Whether it runs in its first realm here, and not in the others.
    """

    case: str
    first: bool


@dataclass(frozen=True)
class CaseOrder:
    """The order of cases.

    Attributes:
        command: What measured it.
        faults: How many drawn faults it was measured on.
        turns: All places, in order.
        requests: The most that a case was seen to cost in a realm, with what it had to arrange; by its id.
    """

    command: str
    faults: int
    turns: tuple[Turn, ...]
    requests: Mapping[str, float]

    def cost(self, turn: Turn) -> float:
        """About how many requests a turn costs where nothing is arranged yet."""
        return self.requests.get(turn.case, 0.0) * (1 if turn.first else _OTHER_REALMS)

    @property
    def cases(self) -> frozenset[str]:
        """Every case that it knows."""
        return frozenset(turn.case for turn in self.turns)

    def place(self, turn: Turn) -> int:
        """A number to sort by; a case that the order does not know stands in the middle."""
        return self._places.get(turn, len(self.turns) // 2)

    @cached_property
    def _places(self) -> Mapping[Turn, int]:
        return {turn: number for number, turn in enumerate(self.turns)}

    @cached_property
    def beginnings(self) -> Mapping[str, int]:
        """Each case with its number among all; it says which realm is its first."""
        return {case: number for number, case in enumerate(turn.case for turn in self.turns if turn.first)}

    @cached_property
    def smoke(self) -> frozenset[Turn]:
        """The places that the profile `smoke` takes in: the first, as far as its requests go."""
        taken: set[Turn] = set()
        spent = 0.0
        for turn in self.turns:
            spent += self.cost(turn)
            if spent > SMOKE_REQUESTS:
                break
            taken.add(turn)
        return frozenset(taken)


def write_order(path: Path, order: CaseOrder) -> None:
    """Write an order, a line for each place.

    Raises:
        UsageError: the file cannot be written.
    """
    head = json.dumps({"command": order.command, "faults": order.faults})[1:-1]
    lines = [
        json.dumps([FIRST, turn.case, order.requests[turn.case]] if turn.first else [OTHERS, turn.case])
        for turn in order.turns
    ]
    text = f'{{{head}, "turns": [\n' + ",\n".join(lines) + "\n]}\n"
    try:
        path.write_text(text, encoding="utf-8")
    except OSError as error:
        raise UsageError(f"cannot write '{path}': {error.strerror}") from None


@cache
def read_order() -> CaseOrder:
    """The order that is kept with the library."""
    content = json.loads(ORDER_FILE.read_text(encoding="utf-8"))
    turns = tuple(Turn(case, where == FIRST) for where, case, *_ in content["turns"])
    requests = {case: cost[0] for _, case, *cost in content["turns"] if cost}
    return CaseOrder(content["command"], content["faults"], turns, requests)


def turns(offered: Sequence[tuple[str, str]]) -> list[Turn]:
    """The turns of cases: of each, one realm is the first; the realms take turns in that, so that none is neglected.

    Args:
        offered: The id and the realm of every case that could run.

    Returns:
        One for each of them.
    """
    realms: dict[str, dict[str, None]] = defaultdict(dict)
    for case, realm in offered:
        realms[without_realm(case)][realm] = None
    numbers = read_order().beginnings
    first = {case: list(names)[numbers.get(case, 0) % len(names)] for case, names in realms.items()}
    return [Turn(name, first[name] == realm) for name, realm in ((without_realm(c), r) for c, r in offered)]
