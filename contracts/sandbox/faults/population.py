"""The fault population: every row, by its name; the fixed set of a proof, and draws.

It is made from the description and the clause catalogue alone, never from the cases. A fault names the clauses that
it breaks; a confirmed finding on any of them finds it.
"""

from __future__ import annotations

import difflib
import json
import random
from collections import defaultdict
from collections.abc import Iterator, Mapping
from functools import cache
from itertools import islice
from pathlib import Path
from types import MappingProxyType
from typing import Final
from zlib import crc32

from contracts.errors import UsageError
from contracts.interface.catalogue import Level, load_catalogue
from contracts.interface.description import load_description
from contracts.sandbox.faults.attachments import ATTACHMENTS
from contracts.sandbox.faults.conditions import (
    ALWAYS,
    CONDITIONS,
    ONE_ONLY,
    OVERLAPPING,
    REPEATED,
    SINGLE,
    Condition,
)
from contracts.sandbox.faults.contacts import OF_CONTACTS
from contracts.sandbox.faults.contents import CONTENTS
from contracts.sandbox.faults.drafts import OF_DRAFTS
from contracts.sandbox.faults.fault import Fault
from contracts.sandbox.faults.identifiers import IDENTIFIERS
from contracts.sandbox.faults.lists import LISTS
from contracts.sandbox.faults.places import CONTACTS, DRAFTS, SIGN_IN, SUBMISSIONS
from contracts.sandbox.faults.protocol import PROTOCOL
from contracts.sandbox.faults.tokens import TOKENS
from contracts.sandbox.faults.workflow import WORKFLOW

#: Names of earlier populations, and the row that does the same.
_FORMER: Final = Path(__file__).with_name("former_names.json")
#: Why no fault breaks a clause, by the clause.
UNBREAKABLE: Final[Mapping[str, str]] = MappingProxyType(
    {
        "head-without-body": "HTTP itself keeps content away from HEAD: the server drops it, clients do not read it",
        "header-letter-case": "the server hands header names on in small letters, so that none behind it sees the case",
        "realm-production": "the sandbox is a development environment and has no production realm",
        "token-separate-environments": "it takes two environments, and the sandbox is one",
        "workflow-initiated": "no operation shows a workflow or its state",
        "workflow-order-save-before-initiate": "neither step can be made to fail, and no answer shows them apart",
    }
)
_REALM_REFUSED: Final = (
    "who refuses a request for its realm refuses a right request, of which another clause speaks"
)
#: Why no fault breaks a must clause alone, by the clause.
NEVER_ALONE: Final[Mapping[str, str]] = MappingProxyType(
    dict.fromkeys(("realm-document-realms", "realm-workflow-realms"), _REALM_REFUSED)
)
#: Of the rows that break a clause alone the fixed set holds one, and one more from each of these numbers on.
_MORE_FROM: Final = (1, 5, 15)
#: Operations that a run uses too seldom to meet a condition of many requests: what they make cannot be removed, one
#: token does for a run, and temporary files are few.
_SELDOM: Final = frozenset({SIGN_IN, *CONTACTS, "persistTemporaryFile", *SUBMISSIONS})
#: Of drawn faults that could have a condition so many have one.
_CONDITIONAL: Final = 0.6
#: Of those of a wide draw so many have another one beside it, where one can stand there.
_COMBINED: Final = 0.2


@cache
def population() -> Mapping[str, Fault]:
    """Every row by its name."""
    families = (CONTENTS, OF_DRAFTS, LISTS, ATTACHMENTS, OF_CONTACTS, IDENTIFIERS, WORKFLOW, TOKENS, PROTOCOL)
    return MappingProxyType({fault.name: fault for family in families for fault in family})


def load(name: str) -> Fault:
    """Find a row by its name or a former one; `:N` behind it gives its size, `@CONDITION` when it acts.

    Raises:
        UsageError: there is none of this name, or no such condition.
    """
    former: dict[str, str] = json.loads(_FORMER.read_text("utf-8"))
    fault = _with_parts(name) or _with_parts(former.get(name, ""))
    if fault is None:
        near = difflib.get_close_matches(name, population(), n=1)
        hint = f"did you mean '{near[0]}'?" if near else "`registry-contracts list faults` shows them all"
        raise UsageError(f"unknown fault '{name}'; {hint}")
    return fault


def _with_parts(name: str) -> Fault | None:
    if name in population():
        return population()[name]
    rest, _, condition = name.partition("@")
    base, _, size = rest.partition(":")
    fault = population().get(base)
    if fault is None or (size and not (size.isdecimal() and fault.sizes)):
        return None
    fault = fault.of_size(int(size)) if size else fault
    return fault.under(condition) if condition else fault


def fixed_set() -> list[Fault]:
    """For every clause the rows that break it alone, one for each of up to three operations.

    Those that always act come first; of those that do the same at one operation it is one.
    """
    by_place: dict[str, dict[str, list[Fault]]] = defaultdict(lambda: defaultdict(list))
    for fault in sorted(population().values(), key=lambda fault: crc32(fault.name.encode())):
        if fault.alone:
            by_place[fault.breaks[0]][fault.at[0]].append(fault)
    chosen = list[Fault]()
    for clause, places in by_place.items():
        rows = sum(map(len, places.values()))
        chosen += islice(_by_turns({clause: places}), sum(rows >= least for least in _MORE_FROM))
    return chosen


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
    return [
        _drawn(fault, chance, wide=wide) for fault, _ in zip(_by_turns(queues), range(number), strict=False)
    ]


def _by_turns(queues: dict[str, dict[str, list[Fault]]]) -> Iterator[Fault]:
    while queues:
        for family, clauses in list(queues.items()):
            clause, waiting = next(iter(clauses.items()))
            yield waiting.pop()
            # What was drawn goes to the end of the queue.
            del clauses[clause]
            if waiting:
                clauses[clause] = waiting
            if not clauses:
                del queues[family]


def _drawn(fault: Fault, chance: random.Random, *, wide: bool) -> Fault:
    if fault.sizes is not None:
        fault = fault.of_size(fault.sizes.draw(chance, wide=wide))
    conditions = _conditions(fault, wide=wide)
    if conditions and chance.random() < (1.0 if wide and fault.sizes is None else _CONDITIONAL):
        condition = chance.choice(conditions)
        beside = (
            [other.name for other in conditions if other.beside and other is not condition] if wide else []
        )
        more = [chance.choice(beside)] if beside and chance.random() < _COMBINED else []
        fault = fault.under("+".join((condition.draw(chance, wide=wide), *more)))
    # A row of its own may stand for what is drawn, and break less.
    return population().get(fault.name, fault)


def _conditions(fault: Fault, *, wide: bool) -> list[Condition]:
    """The conditions under which a fault can be drawn; in a wide draw a realm is none."""
    operations = load_description().operations

    def goes(row: Condition) -> bool:
        if row.wide and not wide:
            return False
        if row.name == ONE_ONLY and not all("uid" in operations[operation].path for operation in fault.at):
            return False  # one request of all is no fault that comes back
        if row.name in ("of-other", OVERLAPPING):
            return REPEATED in fault.ways and set(fault.at) <= set(DRAFTS)
        if row.drawn == SINGLE:
            return SINGLE in fault.ways and not wide and row.name.removeprefix("in-") in fault.realms
        return row.drawn in fault.ways and (row.drawn != REPEATED or _SELDOM.isdisjoint(fault.at))

    return [row for row in CONDITIONS.values() if fault.when == ALWAYS and goes(row)]


def help_text() -> str:
    """Every row with what it breaks and does, as `--fault list` prints them."""
    lines = [f"{fault.name}  {fault.sentence} ({', '.join(fault.breaks)})" for fault in population().values()]
    return "\n".join(lines) + "\n"
