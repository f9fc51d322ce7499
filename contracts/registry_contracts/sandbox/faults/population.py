"""The fault catalogue: all hand-written faults by name, how a name is read, and the fixed set of a proof.

It reads the description and the clause catalogue, never the cases.
"""

from __future__ import annotations

import difflib
from collections.abc import Mapping
from functools import cache
from typing import Final

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


@cache
def population() -> Mapping[str, Fault]:
    """Every hand-written fault by its name."""
    return {fault.name: fault for table in _TABLES for fault in table.ROWS}


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
    """The hand-written faults, each for its first clause, and a crossed one for each clause that is first of none."""
    own = population().values()
    broken = {fault.breaks[0] for fault in own}
    return (*own, *(fault for clause, fault in crossed.plainest().items() if clause not in broken))
