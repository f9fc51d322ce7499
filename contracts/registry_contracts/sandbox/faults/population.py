"""The fault population: every row, by its name; the fixed set of a proof, and draws.

It is made from the description and the clause catalogue alone, never from the cases. A fault names the clauses that
it breaks; a confirmed finding on any of them finds it.
"""

from __future__ import annotations

import difflib
import random
from bisect import bisect
from collections import defaultdict
from collections.abc import Iterable, Mapping
from functools import cache
from itertools import zip_longest
from typing import Final
from zlib import crc32

from registry_contracts.errors import UsageError
from registry_contracts.interface.catalogue import Level, load_catalogue
from registry_contracts.interface.description import load_description
from registry_contracts.sandbox.faults import (
    attachments,
    conditions,
    contacts,
    drafts,
    identifiers,
    lists,
    protocol,
    tokens,
    workflow,
)
from registry_contracts.sandbox.faults.fault import Fault
from registry_contracts.sandbox.faults.places import CONTACTS, DRAFTS, FILES, SIGN_IN, SUBMISSIONS

_TABLES: Final = (drafts, lists, attachments, contacts, identifiers, workflow, tokens, protocol)
#: Why no fault breaks a clause, by the clause.
UNBREAKABLE: Final[Mapping[str, str]] = {
    "head-without-body": "HTTP itself keeps content away from HEAD: the server drops it, clients do not read it",
    "header-letter-case": "the server hands header names on in small letters, so that none behind it sees the case",
    "realm-production": "the sandbox is a development environment and has no production realm",
    "token-separate-environments": "it takes two environments, and the sandbox is one",
    "workflow-initiated": "no operation shows a workflow or its state",
    "workflow-order-save-before-initiate": "neither step can be made to fail, and no answer shows them apart",
}
#: Why no fault breaks a must clause alone, by the clause.
NEVER_ALONE: Final[Mapping[str, str]] = dict.fromkeys(
    ("realm-document-realms", "realm-workflow-realms"),
    "who refuses a request for its realm refuses a right request, of which another clause speaks",
)
#: Of the rows that break a clause alone the fixed set holds one, and one more from each of these numbers on.
_MORE_FROM: Final = (1, 5, 15)
#: Operations that a run uses too seldom to meet a condition of many requests: what they make cannot be removed, one
#: token does for a run, and temporary files are few.
_SELDOM: Final = frozenset({SIGN_IN, *CONTACTS, "persistTemporaryFile", *SUBMISSIONS})
_LOOKS_AT_FILES: Final = frozenset(FILES[2:])
#: Of drawn faults that could have a condition so many have one.
_CONDITIONAL: Final = 0.6
#: Of those of a wide draw so many have another one beside it, where one can stand there.
_COMBINED: Final = 0.2


@cache
def population() -> Mapping[str, Fault]:
    """Every row by its name."""
    return {fault.name: fault for table in _TABLES for row in table.ROWS for fault in row}


def load(name: str) -> Fault:
    """Find a row by its name; `:N` behind it gives its size, `@CONDITION` when it acts.

    Raises:
        UsageError: there is none of this name, or no such condition.
    """
    rest, _, condition = name.partition("@")
    base, _, size = rest.partition(":")
    fault = population().get(name) or population().get(base)
    if fault is None or (size and not (size.isdecimal() and fault.sizes)):
        near = difflib.get_close_matches(name, population(), n=1)
        hint = f"did you mean '{near[0]}'?" if near else "`registry-contracts list faults` shows them all"
        raise UsageError(f"unknown fault '{name}'; {hint}")
    fault = fault.of_size(int(size)) if size else fault
    return fault.under(condition) if condition and fault.name != name else fault


def fixed_set() -> list[Fault]:
    """For every clause some of the rows that break it alone; its operations take turns."""
    by_place: dict[str, dict[str, list[Fault]]] = defaultdict(lambda: defaultdict(list))
    for fault in sorted(population().values(), key=lambda fault: crc32(fault.name.encode())):
        if fault.alone:
            by_place[fault.breaks[0]][fault.at[0]].insert(0, fault)
    of_clauses = [_by_turns(places.values()) for places in by_place.values()]
    return [fault for rows in of_clauses for fault in rows[: bisect(_MORE_FROM, len(rows))]]


def draw(number: int, seed: int, *, level: Level | None = Level.MUST, wide: bool = False) -> list[Fault]:
    """Draw rows, each with a condition and a size; the same for the same seed.

    Families of clauses take turns, in a family its clauses, and of a clause its rows.

    Args:
        number: How many faults; fewer when there are not so many rows.
        level: Only rows of this level; None for all.
        wide: Rows that can have a condition or a size, with any condition, and with the numbers of nightly runs too.
    """
    chance = random.Random(f"faults {seed}")  # noqa: S311 - as above
    rows = [fault for fault in population().values() if level in (None, fault.level)]
    rows = [fault for fault in rows if fault.sizes or _conditions(fault, wide=True)] if wide else rows
    chance.shuffle(rows)
    queues: dict[str, dict[str, list[Fault]]] = defaultdict(lambda: defaultdict(list))
    for fault in rows:
        queues[load_catalogue().clause(fault.breaks[0]).family][fault.breaks[0]].append(fault)
    in_turn = _by_turns(_by_turns(clauses.values()) for clauses in queues.values())
    return [_drawn(fault, chance, wide=wide) for fault in in_turn[:number]]


def _by_turns(groups: Iterable[Iterable[Fault]]) -> list[Fault]:
    """The first row of each group, then the second, and so on."""
    return [fault for turn in zip_longest(*groups) for fault in turn if fault is not None]


def _drawn(fault: Fault, chance: random.Random, *, wide: bool) -> Fault:
    if fault.sizes is not None:
        fault = fault.of_size(fault.sizes.draw(chance, wide=wide))
    rows = _conditions(fault, wide=wide)
    if rows and chance.random() < (1.0 if wide and fault.sizes is None else _CONDITIONAL):
        condition = chance.choice(rows)
        beside = [other.name for other in rows if other.beside and other is not condition] if wide else []
        more = [chance.choice(beside)] if beside and chance.random() < _COMBINED else []
        drawn = condition.draw(chance, wide=wide)
        if drawn == "only-1" and not _LOOKS_AT_FILES.isdisjoint(fault.at):
            drawn = "only-2"  # when a file is found after its upload is not shown: the first look may be too early
        fault = fault.under("+".join((drawn, *more)))
    # A row of its own may stand for what is drawn, and break less.
    return population().get(fault.name, fault)


def _conditions(fault: Fault, *, wide: bool) -> list[conditions.Condition]:
    """The conditions under which a fault can be drawn; in a wide draw a realm is none."""
    operations = load_description().operations

    def goes(row: conditions.Condition) -> bool:
        if row.wide and not wide:
            return False
        if row.drawn == conditions.ONE and not all(
            "uid" in operations[operation].path for operation in fault.at
        ):
            return False  # one request of all is no fault that comes back
        if row.name in ("of-other", conditions.OVERLAPPING):
            return conditions.REPEATED in fault.ways and set(fault.at) <= set(DRAFTS)
        if row.drawn == conditions.SINGLE:
            return (
                conditions.SINGLE in fault.ways and not wide and row.name.removeprefix("in-") in fault.realms
            )
        of_many = row.drawn in (conditions.REPEATED, conditions.ONE)
        return row.drawn in fault.ways and not (of_many and _SELDOM.intersection(fault.at))

    return [row for row in conditions.CONDITIONS.values() if fault.when == conditions.ALWAYS and goes(row)]
