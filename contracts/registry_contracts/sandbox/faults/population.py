"""The fault catalogue: all hand-written faults by name, how a name is read, and the fixed set of a proof.

It reads the description and the clause catalogue, never the cases.
"""

from __future__ import annotations

import difflib
from bisect import bisect
from collections import defaultdict
from collections.abc import Mapping
from functools import cache
from itertools import zip_longest
from typing import Final
from zlib import crc32

from registry_contracts.errors import UsageError
from registry_contracts.sandbox.faults import (
    attachments,
    contacts,
    crossed,
    drafts,
    identifiers,
    lists,
    protocol,
    tokens,
    workflow,
)
from registry_contracts.sandbox.faults.fault import Fault

_TABLES: Final = (drafts, lists, attachments, contacts, identifiers, workflow, tokens, protocol)
#: With so many faults that break a clause alone, the fixed set holds one, two or three of them.
_MORE_FROM: Final = (1, 5, 15)


@cache
def population() -> Mapping[str, Fault]:
    """Every hand-written fault by its name."""
    return {fault.name: fault for table in _TABLES for row in table.ROWS for fault in row}


def load(name: str) -> Fault:
    """Find a fault by its name, hand-written or crossed; a name may end with `@CONDITION`.

    Raises:
        UsageError: there is none of this name, or no such condition.
    """
    base, _, when = name.partition("@")
    fault = population().get(name) or population().get(base)
    if fault is not None:
        return fault if fault.name == name else fault.under(when)
    made = crossed.load(base, when)
    if made is None:
        near = difflib.get_close_matches(name, population(), n=1)
        hint = f"did you mean '{near[0]}'?" if near else "`registry-contracts list faults` shows them all"
        raise UsageError(f"unknown fault '{name}'; {hint}")
    return made


@cache
def fixed_set() -> tuple[Fault, ...]:
    """Up to three hand-written faults that break a clause alone, at different operations, else a crossed one."""
    by_place: dict[str, dict[str, list[Fault]]] = defaultdict(lambda: defaultdict(list))
    for fault in sorted(population().values(), key=lambda fault: crc32(fault.name.encode())):
        if fault.alone:
            by_place[fault.breaks[0]][fault.at[0]].insert(0, fault)
    chosen: list[Fault] = []
    for places in by_place.values():
        # The first fault of each place, then the second of each, and so on.
        rows = [fault for turn in zip_longest(*places.values()) for fault in turn if fault is not None]
        chosen += rows[: bisect(_MORE_FROM, len(rows))]
    return (*chosen, *(fault for clause, fault in crossed.plainest().items() if clause not in by_place))
