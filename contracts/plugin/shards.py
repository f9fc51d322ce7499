"""The shards of a run: which one a run is, how cases are weighed and dealt out, and how a target is shared.

Cases are dealt out the same way on every machine; what must not be parted stays together.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

import pytest

from contracts.errors import UsageError
from contracts.evidence.record import digest_of_cases
from contracts.interface.catalogue import Catalogue
from contracts.interface.description import load_description
from contracts.interface.operations import PERMANENT_KINDS
from contracts.settings.target import Target

#: Far more than the groups there are to deal out.
_MOST_SHARDS: Final = 64
_WORDS: Final = re.compile(r"(\d+)\s*/\s*(\d+)")


@dataclass(frozen=True, slots=True)
class ShardNumber:
    """Which shard a run is: `number` from 1, and how many there are."""

    number: int
    of: int

    def __str__(self) -> str:
        return f"{self.number}/{self.of}"


@dataclass(frozen=True, slots=True)
class WeighedCase:
    """A case with what dealing it needs to know.

    Attributes:
        case: Its id, the same on every machine.
        realm: Where it runs; cases of one realm share arrangements, so that few shards should have them.
        requests: Its rough cost.
        group: Names cases that must not be parted; empty for one that may go anywhere.
    """

    case: str
    realm: str
    requests: int
    group: str = ""


def read_shard_number(text: str) -> ShardNumber:
    """Read what `--shard` is given, such as `2/5`.

    Raises:
        UsageError: it names no shard.
    """
    match = _WORDS.fullmatch(text.strip())
    if not match:
        raise UsageError(f"--shard takes a number and how many there are, such as 2/5, not '{text}'")
    part = ShardNumber(int(match[1]), int(match[2]))
    if not 1 <= part.of <= _MOST_SHARDS:
        raise UsageError(f"--shard {part}: there can be 1 to {_MOST_SHARDS} shards")
    if not 1 <= part.number <= part.of:
        raise UsageError(f"--shard {part}: the first number is one from 1 to {part.of}")
    return part


def deal(cases: Iterable[WeighedCase], shards: int) -> list[frozenset[str]]:
    """Deal cases out.

    Groups go first, the heaviest to the shard that has least; then the rest fills each shard up to its share, realm
    by realm, beginning with the realm whose group it has.

    Args:
        cases: All of the plan, in any order.
        shards: How many parts to make.

    Returns:
        The ids of each shard's cases; every case is in exactly one. The same cases give the same parts.
    """
    ordered = sorted(cases, key=lambda case: case.case)
    groups: dict[str, list[WeighedCase]] = defaultdict(list)
    for case in ordered:
        if case.group:
            groups[case.group].append(case)
    dealt: list[list[WeighedCase]] = [[] for _ in range(shards)]
    for name in sorted(groups, key=lambda name: (-_weight(groups[name]), name)):
        min(dealt, key=_weight).extend(groups[name])
    _fill(dealt, [case for case in ordered if not case.group])
    return [frozenset(case.case for case in part) for part in dealt]


def _fill(dealt: list[list[WeighedCase]], free: Sequence[WeighedCase]) -> None:
    """Give the cases that may go anywhere to the shards that have least, few realms to each."""
    first = _first_shard(dealt)
    queue = sorted(free, key=lambda case: (first.get(case.realm, len(dealt)), case.realm, case.case))
    queue.reverse()
    left = sum(case.requests for case in queue)
    for number, part in enumerate(dealt):
        # What would be left for each shard from here on, were all of them filled to the same height.
        height = _height([_weight(other) for other in dealt[number:]], left)
        while queue and _weight(part) + queue[-1].requests / 2 <= height:
            left -= queue[-1].requests
            part.append(queue.pop())
    if queue:
        min(dealt, key=_weight).extend(queue)


def _height(loads: Sequence[int], more: int) -> float:
    """How high loads stand when more is poured onto the lowest."""
    ordered = sorted(loads)
    for count in range(len(ordered), 0, -1):
        height = (sum(ordered[:count]) + more) / count
        if height >= ordered[count - 1]:
            return height
    return float(ordered[0])


def _first_shard(dealt: Sequence[Sequence[WeighedCase]]) -> Mapping[str, int]:
    """The first shard that has something of each realm."""
    first: dict[str, int] = {}
    for number, part in enumerate(dealt):
        for case in part:
            first.setdefault(case.realm, number)
    return first


def _weight(part: Iterable[WeighedCase]) -> int:
    return sum(case.requests for case in part)


#: Settings that name what there is once in a realm.
_NAMED_ONCE: Final = frozenset(
    f"realm.{name}"
    for name in (
        "existing_identifier",
        "locked_identifier",
        "published_identifier",
        "spare_identifiers",
        "temporary_files",
    )
)
#: Fixtures that arrange lasting records, whatever the case is about.
_ARRANGING: Final = frozenset({"contacts", "unauthenticated", "records", "table"})
#: Requests of a case that says nothing of its cost.
_USUAL: Final = 3


def weigh_case(
    item: pytest.Item,
    place: tuple[str, str],
    clauses: Iterable[str],
    operations: Iterable[str],
    requests: int,
    catalogue: Catalogue,
) -> WeighedCase:
    """Say of a case what it costs and whether it has to stay with others of its realm.

    Cases of one realm stay together when they work with records that last: these are few, made once in a run and
    shared, so that several machines would make them several times, or change them under one another's hands.

    Args:
        place: Its id and its realm.
        requests: What its marks say of its cost; 0 for nothing.
    """
    case, realm = place
    needs = {need for clause in clauses for need in catalogue.clause(clause).needs}
    lasting = (
        any(map(_lasting, operations))
        or not _NAMED_ONCE.isdisjoint(needs)
        or not _ARRANGING.isdisjoint(getattr(item, "fixturenames", ()))
    )
    return WeighedCase(case, realm, requests or _USUAL, f"lasting records of {realm}" if lasting else "")


def _lasting(name: str) -> bool:
    """Whether an operation leaves what cannot be removed, uses a file of the settings, or changes a kept record."""
    operation = load_description().operations[name]
    return operation.stores in PERMANENT_KINDS or operation.needs == "temporary-file"


def cases_of_shard(cases: Mapping[str, WeighedCase], part: ShardNumber) -> tuple[frozenset[str], str]:
    """Choose the cases of one shard.

    Args:
        cases: All of the plan.

    Returns:
        The ids of its cases, and what tells the plan's cases from those of another plan.
    """
    return deal(cases.values(), part.of)[part.number - 1], digest_of_cases(cases)


def share_of(target: Target, shard: ShardNumber, budget: int) -> Target:
    """Return the target as one shard may treat it: all of them together keep the pace and the budget of a run.

    Permanent records need no dividing: the cases that make them in one realm are all in one shard.

    Args:
        budget: The requests that the whole run may send.

    Raises:
        UsageError: there are more shards than the target takes requests at once.
    """
    pace = target.pace
    if shard.of > pace.concurrency:
        raise UsageError(
            f"--shard {shard}: the target takes {pace.concurrency} requests at once (setting pace.concurrency), "
            "one for each shard at least; make fewer shards"
        )
    rate = pace.requests_per_second
    limited = replace(
        pace,
        requests_per_second=rate and rate / shard.of,
        concurrency=pace.concurrency // shard.of,
        request_budget=budget // shard.of or 1,
    )
    # Documents with attachments are made in every shard.
    shares = {
        realm: replace(own, attachment_identifiers=own.attachment_identifiers[shard.number - 1 :: shard.of])
        for realm, own in target.realm.items()
    }
    return replace(target, pace=limited, realm=shares)
