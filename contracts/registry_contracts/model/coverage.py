"""How much of the factor table a run has covered: which values occurred together in a judged request.

It counts pairs, and in nightly runs triples: of values that do not refuse, in rows that are accepted; and of one
refusing value with values that do not refuse, in rows that are refused for it alone.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from itertools import combinations, product
from typing import Annotated, Final

from msgspec import Meta

from registry_contracts.file_formats import Count, Format
from registry_contracts.model import factors
from registry_contracts.model.factors import refusing, table, value_named
from registry_contracts.model.rows import PAIRS, Row, one_reason, stands_beside, taken

#: Operations for which all combinations of accepted rows are sent; those of submissions and contacts are permanent.
TAKEN: Final = ("saveDraft", "createAttachment", "listDrafts")
#: Not combined, but rotated: each of its values is in some row.
_BY_TURNS: Final = factors.CONTENT.name
#: Values that occur together in a request of an operation.
Combination = tuple[str, frozenset[str]]


class Coverage(Format, frozen=True):
    """How many combinations in the table occurred in a judged request.

    `rows` and `judged` count requests by row. `gaps`: number of uncovered combinations by reason.
    """

    possible: Count
    covered: Count
    rows: Count
    judged: Count
    gaps: Annotated[Mapping[str, Count], Meta(description="Number of combinations by the reason why.")]


@cache
def _rows(strength: int) -> dict[str, Row]:
    """Every row by id; a nightly run includes the rows of a gate run."""
    made: list[Row] = []
    for each in range(PAIRS, strength + 1):
        made += [row for name in TAKEN for row in taken(name, each)]
        made += [row for name in factors.OPERATIONS for row in one_reason(name, each)]
    return {str(row): row for row in made}


def _assigned(row: Row) -> dict[str, str]:
    """The value of each factor of a row."""
    values = table(row.operation).items()
    return {
        factor: next((each.name for each in own if each.name in row.names), own[0].name)
        for factor, own in values
        if own
    }


def combinations_of(row: Row, strength: int = PAIRS) -> Iterator[Combination]:
    """The combinations of so many values that a row covers."""
    assigned = _assigned(row)
    if row.reason:
        own = next(name for name, value in refusing(row.operation) if value.name == row.reason)
        alone = value_named(row.operation, row.reason).once
        others = [] if alone else [value for name, value in assigned.items() if name != own]
        for beside in combinations(others, min(strength - 1, len(others))):
            yield row.operation, frozenset((row.reason, *beside))
        return
    turn = assigned.pop(_BY_TURNS, "")
    if turn:
        yield row.operation, frozenset((turn,))
    yield from ((row.operation, frozenset(each)) for each in combinations(assigned.values(), strength))


@cache
def possible(strength: int = PAIRS) -> frozenset[Combination]:
    """All combinations of so many values that the table has."""
    found: set[Combination] = set()
    for operation in TAKEN:
        columns = _named(operation, stands_beside(operation))
        found |= {(operation, frozenset((value,))) for value in columns.pop(_BY_TURNS, ())}
        for several in combinations(columns.values(), strength):
            found |= {(operation, frozenset(each)) for each in product(*several)}
    for operation in factors.OPERATIONS:
        for factor, reason in refusing(operation):
            columns = _named(operation, {} if reason.once else stands_beside(operation, reason, factor))
            for several in combinations(columns.values(), min(strength - 1, len(columns))):
                found |= {(operation, frozenset((reason.name, *each))) for each in product(*several)}
    return frozenset(found)


def _named(operation: str, columns: Mapping[str, list[str]]) -> dict[str, list[str]]:
    """The values of factors, the plain one by its name."""
    own = table(operation)
    return {name: [value or own[name][0].name for value in values] for name, values in columns.items()}


def coverage_of(cases: Iterable[tuple[str, str]], strength: int = PAIRS) -> Coverage:
    """The coverage of a run.

    Args:
        cases: (id, why the case was not judged; empty if it was).
        strength: Number of values in a combination.
    """
    rows, why = _rows(strength), dict[Row, str]()
    for case, reason in cases:
        row = rows.get(case.partition("[")[2].rstrip("]").partition("-dev-")[2])
        if row is not None and why.get(row, "-"):
            why[row] = reason
    judged = [row for row, reason in why.items() if not reason]
    covered = {each for row in judged for each in combinations_of(row, strength)}
    open_to: dict[Combination, str] = {}
    for row in rows.values():
        for each in combinations_of(row, strength):
            open_to.setdefault(each, why.get(row) or "none of its rows was sent")
    left = possible(strength) - covered
    gaps = Counter(open_to.get(each, "no row has it") for each in left)
    return Coverage(len(possible(strength)), len(possible(strength) & covered), len(rows), len(judged), gaps)
