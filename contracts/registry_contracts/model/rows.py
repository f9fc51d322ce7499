"""Rows: the combinations of the factor table that are sent, made by covering arrays.

A pair counts only if nothing else refuses the request. So `taken` has pairs of values that do not refuse,
`one_reason` combines each refusing value with values that do not refuse, and `touches` combines changes of drafts with
similar drafts.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, cached_property
from itertools import zip_longest
from typing import Final
from zlib import crc32

from covertable import make  # type: ignore[import-untyped]
from covertable.sorters import hash as by_hash  # type: ignore[import-untyped]

from registry_contracts.model import factors
from registry_contracts.model.factors import Value, refusing, table, value_named


@dataclass(frozen=True)
class Row:
    """One request: an operation, the value for which it is refused, and the other values that are not plain.

    The reason is empty for an accepted request.
    """

    operation: str
    reason: str
    beside: tuple[str, ...] = ()

    def __str__(self) -> str:
        """The id of the row."""
        return "-".join(filter(None, (self.operation, self.reason, *self.beside)))

    @cached_property
    def names(self) -> frozenset[str]:
        """The names of all its values that are not plain."""
        return frozenset(filter(None, (self.reason, *self.beside)))

    @property
    def clause(self) -> str:
        """The clause by which it is refused; empty for an accepted request."""
        return value_named(self.operation, self.reason).clause(self.operation) if self.reason else ""

    @property
    def values(self) -> list[Value]:
        """Its values that are not plain."""
        return [value_named(self.operation, name) for name in (self.reason, *self.beside) if name]

    @property
    def alone(self) -> bool:
        """Whether only the reason can have it refused."""
        return not any(each.may for each in self.values)

    @property
    def callers(self) -> list[str]:
        """Its values that name an account that may lack rights."""
        return [each.name for each in self.values if each.rights]

    @property
    def rights(self) -> str:
        """The workflow's clause by which the caller may also be refused; empty for none."""
        if not self.callers or self.operation not in factors.WORKFLOW:
            return ""
        return f"workflow-{'update' if self.operation == factors.UPDATE else 'create'}-rights"

    @property
    def words(self) -> str:
        """Its values for a finding."""
        return " and ".join(each.words for each in self.values)

    def of(self, *names: str) -> str:
        """The first of these names that the row has; if it has none, the first name, which is the plain value."""
        return next((name for name in names if name in self.names), names[0])

    @property
    def sure(self) -> Row:
        """The same row without values that may be refused, and sent by the author."""
        kept = (each.name for each in self.values if not each.may and not each.rights and not each.refuses)
        return Row(self.operation, self.reason, tuple(kept))

    def without(self, name: str) -> Row:
        """The same row with one factor reset to its plain value."""
        return Row(self.operation, self.reason, tuple(each for each in self.beside if each != name))


def _array(columns: Mapping[str, Sequence[str]], strength: int, salt: str = "") -> Iterator[tuple[str, ...]]:
    """A covering array of this strength; its rows leave out plain values."""
    several = {name: values for name, values in columns.items() if len(values) > 1}
    strength = min(strength, len(several))
    made = make(several, strength=strength, sorter=by_hash, salt=salt) if several else [{}]
    for row in made:
        yield tuple(row[name] for name in several if row[name])


def stands_beside(operation: str, reason: Value | None = None, own: str = "") -> dict[str, list[str]]:
    """The values of each factor that do not refuse a request of an operation; the plain value is an empty text.

    Args:
        reason: A value of the factor `own` that refuses the request; this factor is then left out.
    """
    columns = {
        factor: ["", *(each.name for each in values[1:] if not each.refuses)]
        for factor, values in table(operation).items()
        if factor != own
    }
    if reason is not None:
        columns.pop(factors.CONTENT.name, None)
    if reason is not None and reason.once:
        columns.pop(factors.CALLER.name, None)
    plain = [values[0].name for factor, values in table(operation).items() if factor == factors.STATE.name]
    state = [reason.name] if reason is not None and own == factors.STATE.name else plain
    if "identifier" in columns and not set(state).isdisjoint(factors.GIVEN_IDENTIFIER):
        columns["identifier"] = ["", ENCODED]
    return columns


#: Number of values that are combined in a gate run and in a nightly run.
PAIRS, TRIPLES = 2, 3


@cache
def taken(operation: str, strength: int = PAIRS) -> tuple[Row, ...]:
    """Rows of an operation without a reason for a refusal: all combinations of `strength` values.

    Contents are rotated. If accepted records are permanent, each value is in one row only (the first of every factor,
    then the second, and so on), sent by the author.
    """
    columns = stands_beside(operation)
    if operation in factors.STAYING:
        others = [values[1:] for name, values in columns.items() if name != factors.CALLER.name]
        return tuple(Row(operation, "", tuple(filter(None, row))) for row in zip_longest(*others))
    contents = columns.pop(factors.CONTENT.name, [""])
    made = [*_array(columns, strength, operation)]
    turns = max(len(made), len(contents))
    rows = [(*made[at % len(made)], contents[at % len(contents)]) for at in range(turns)]
    return tuple(dict.fromkeys(Row(operation, "", tuple(filter(None, row))) for row in rows))


def _rows_beside(operation: str, reason: Value, own: str, strength: int) -> list[tuple[str, ...]]:
    """The other values of each row with this reason; one row only for a reason that resembles others."""
    columns = stands_beside(operation, reason, own)
    rows = list(_array(columns, strength - 1, f"{operation} {reason.name}"))
    return [rows[crc32(reason.name.encode()) % len(rows)]] if reason.once else rows


@cache
def one_reason(operation: str, strength: int = PAIRS) -> tuple[Row, ...]:
    """Rows of an operation with one refusing value, combined with all `strength - 1` values that do not refuse."""
    rows = [
        Row(operation, reason.name, beside)
        for own, reason in refusing(operation)
        for beside in _rows_beside(operation, reason, own, strength)
        if beside or reason.name != "locked"  # the plain request shows whether a lock has ended
    ]
    return tuple(dict.fromkeys(rows))


#: Reasons that end a submission before a workflow is initiated, so that no record is locked. A scenario covers faulty
#: updates.
_TOO_LONG: Final = ("batch_too_long", "info_too_long")
_NOT_INITIATED: Final = {factors.CREATE_NAMED: ("faulty", *_TOO_LONG), factors.UPDATE: _TOO_LONG}
#: The steps that a submission with faulty content does not reach.
BEFORE_SAVE, BEFORE_INITIATE = (
    "workflow-order-validation-before-save",
    "workflow-order-validation-before-initiate",
)


def leaves_something(row: Row) -> bool:
    """Whether a wrongly accepted row would leave something, so that a check is worth a request."""
    if row.operation in factors.WORKFLOW:
        return row.reason in _NOT_INITIATED.get(row.operation, ())
    return row.reason in factors.CREDENTIALS and row.operation in (*factors.DRAFT_WRITES, "createAttachment")


def clauses_of_refusal(row: Row) -> tuple[str, ...]:
    """The clauses that a refused row shows: that of its reason, and those on what it does not leave."""
    faulty = row.operation == factors.CREATE_NAMED and row.reason == "faulty"
    return (row.clause, *((BEFORE_SAVE, BEFORE_INITIATE) if faulty else ()))


#: Forms of identifiers except the ordinary one.
FORMS: Final = ("uid_of_11", "uid_of_128", "uid_of_digits")
#: How an address spells an identifier, whatever its form.
ENCODED: Final = "uid_encoded"


@dataclass(frozen=True)
class Touch:
    """A change of a draft that resembles another one, by an account, with a form of identifier."""

    deed: str
    relation: str
    caller: str = ""
    form: str = ""

    def __str__(self) -> str:
        """The id of the row."""
        return "-".join(filter(None, (self.deed, self.relation, self.caller, self.form)))

    @property
    def clause(self) -> str:
        """The clause that protects the other draft."""
        return factors.clause_of_neighbours(self.deed, self.relation)


@cache
def touches() -> tuple[Touch, ...]:
    """Pairs of change, relation, account and form; and deletions of absent drafts.

    An absent draft can resemble another one only by its identifier; the author deletes it.
    """
    columns = {
        "deed": [*factors.DEEDS],
        "relation": [*factors.RELATIONS],
        "caller": ["author", "caller_other", "caller_nau"],
        "form": ["", *FORMS, ENCODED],
    }
    drawn = [Touch(*row) for row in _array(columns, 2)]
    made = dict.fromkeys(
        replace(each, form=each.form if each.form == ENCODED else "")
        if each.relation in factors.OF_IDENTIFIERS
        else each
        for each in drawn
    )
    return (*made, *(Touch(factors.DELETE_ABSENT, each, "author") for each in factors.OF_IDENTIFIERS))
