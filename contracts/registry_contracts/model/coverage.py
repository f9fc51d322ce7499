"""How much of the factor table a run has covered: which values stood together in a request that was judged.

Counted are pairs that nothing hides: of values that do not refuse, in rows that are taken; and of a value that refuses
with each value that does not, in rows that are refused for it alone.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from itertools import combinations
from typing import Annotated, Final

from msgspec import Meta

from registry_contracts.file_formats import Count, Format
from registry_contracts.model import factors
from registry_contracts.model.factors import refusing, table, value_named
from registry_contracts.model.rows import Row, one_reason, stands_beside, taken

#: Operations of which rows are taken; a submission, or a contact that is created, would stay for good.
TAKEN: Final = ("saveDraft", "createAttachment")
#: Combined with nothing: by turns, each of its values stands in some row.
_BY_TURNS: Final = factors.CONTENT.name
Pair = tuple[str, frozenset[str]]


class Coverage(Format, frozen=True):
    """Pairs of circumstances that stood together in a request that was judged, of those that the factor table has.

    `rows` and `judged` count requests by row. `gaps`: pairs that were not covered, by the reason why.
    """

    possible: Count
    covered: Count
    rows: Count
    judged: Count
    gaps: Annotated[Mapping[str, Count], Meta(description="Number of pairs by the reason why.")]


@cache
def _rows() -> dict[str, Row]:
    """Every row by its id."""
    made = [row for name in TAKEN for row in taken(name)]
    made += [row for name in factors.OPERATIONS for row in one_reason(name)]
    return {str(row): row for row in made}


def _assigned(row: Row) -> dict[str, str]:
    """The value of each factor of a row."""
    values = table(row.operation).items()
    return {
        factor: next((each.name for each in own if each.name in row.names), own[0].name)
        for factor, own in values
        if own
    }


def pairs_of(row: Row) -> Iterator[Pair]:
    """The pairs that a row covers."""
    assigned = _assigned(row)
    if row.reason:
        beside = [""] if value_named(row.operation, row.reason).once else assigned.values()
        yield from ((row.operation, frozenset((row.reason, value))) for value in beside)
        return
    turn = assigned.pop(_BY_TURNS, "")
    if turn:
        yield row.operation, frozenset((turn,))
    yield from ((row.operation, frozenset(pair)) for pair in combinations(assigned.values(), 2))


@cache
def possible() -> frozenset[Pair]:
    """All pairs that the table has."""
    found: set[Pair] = set()
    for operation in TAKEN:
        columns = {
            factor: [each.name for each in values if not each.refuses]
            for factor, values in table(operation).items()
        }
        found |= {(operation, frozenset((value,))) for value in columns.pop(_BY_TURNS, ())}
        for one, other in combinations(columns.values(), 2):
            found |= {(operation, frozenset((value, beside))) for value in one for beside in other}
    for operation in factors.OPERATIONS:
        for factor, reason in refusing(operation):
            if reason.once:
                found.add((operation, frozenset((reason.name, ""))))
                continue
            for name, values in stands_beside(operation, reason, factor).items():
                plain = table(operation)[name][0].name
                found |= {(operation, frozenset((reason.name, value or plain))) for value in values}
    return frozenset(found)


def coverage_of(cases: Iterable[tuple[str, str]]) -> Coverage:
    """The coverage of a run.

    Args:
        cases: Id of each case, and why it was not judged; an empty text where it was.
    """
    rows, why = _rows(), dict[Row, str]()
    for case, reason in cases:
        row = rows.get(case.partition("[")[2].rstrip("]").partition("-dev-")[2])
        if row is not None and why.get(row, "-"):
            why[row] = reason
    covered = {pair for row, reason in why.items() if not reason for pair in pairs_of(row)}
    open_to: dict[Pair, str] = {}
    for row in rows.values():
        for pair in pairs_of(row):
            open_to.setdefault(pair, why.get(row) or "no row of it was sent")
    left = possible() - covered
    gaps = Counter(open_to.get(pair, "no row has it") for pair in left)
    judged = sum(not reason for reason in why.values())
    return Coverage(len(possible()), len(possible() & covered), len(rows), judged, gaps)
