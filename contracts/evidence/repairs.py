"""Repairs: what a session put right by asking again, and whether surroundings explain it."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from typing import Final

from contracts.interface.operations import ANY_REALM
from contracts.session.authentication import ENDED_EARLY
from contracts.session.recording import FaultEvent

#: Fewer faults of one kind may meet one operation by chance.
_OFTEN: Final = 3
#: Fewer may meet one realm by chance: there are few, and one may be sent much more than the others.
_OFTEN_IN_A_REALM: Final = 10


def repeated_repairs(faults: Iterable[FaultEvent], realms: Iterable[str]) -> Iterator[str]:
    """Tell what came often, and from one operation or in one realm alone or from no weather, a line each.

    Args:
        faults: As journals hold them; those of before name no operation, and tell nothing.
        realms: Of the run.
    """
    places: dict[str, Counter[tuple[str, str]]] = defaultdict(Counter)
    for fault in faults:
        if fault.operation:
            places[fault.fault][fault.operation, fault.realm] += 1
    several = len(set(realms)) > 1
    for kind, where in sorted(places.items()):
        operations, seen_in = ({place[part] for place in where} for part in (0, 1))
        alone = [f"from {name}" for name in operations] if len(operations) == 1 else []
        alone += (
            [f"in {name}" for name in seen_in - {ANY_REALM}]
            if several and len(seen_in) == 1 and where.total() >= _OFTEN_IN_A_REALM
            else []
        )
        if where.total() >= _OFTEN and kind == ENDED_EARLY:
            yield f"{kind}: {where.total()} times, which no weather explains (clause token-lasts-until-expiration)"
        elif where.total() >= _OFTEN and alone:
            yield (
                f"{kind}: {where.total()} times, {' and '.join(alone)} alone; surroundings seldom do that, so that it "
                "may be the service's own"
            )
