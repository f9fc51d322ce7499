"""Rows: the combinations of the factor table that are sent, made by covering arrays.

A pair counts only where nothing else refuses the request. So `one_reason` has each value that refuses beside values of
the other factors that do not, `pure_refusals` each operation with each invalid credential, and `touches` what is done
to drafts beside others.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from typing import Final

from covertable import make  # type: ignore[import-untyped]
from covertable.sorters import hash as by_hash  # type: ignore[import-untyped]

from registry_contracts.model import factors
from registry_contracts.model.factors import Value, refusing, table, value_named

#: Reasons that are much like another one.
_ALIKE: Final = ("token_half", "no_document", "realm_unknown_in_query")
_CREDENTIALS: Final = ("anonymous", "token_invented", "token_half")


@dataclass(frozen=True)
class Row:
    """One request: an operation, the value for which it is refused, and the other values that are not plain."""

    operation: str
    reason: str
    beside: tuple[str, ...] = ()

    def __str__(self) -> str:
        """The id of the row."""
        return "-".join((self.operation, self.reason, *self.beside))

    @cached_property
    def names(self) -> frozenset[str]:
        """The names of all its values that are not plain."""
        return frozenset((self.reason, *self.beside))

    @property
    def clause(self) -> str:
        """The clause by which it is refused."""
        return value_named(self.operation, self.reason).clause(self.operation)

    @property
    def values(self) -> list[Value]:
        """Its values that are not plain."""
        return [value_named(self.operation, name) for name in (self.reason, *self.beside)]

    @property
    def alone(self) -> bool:
        """Whether nothing in it but the reason can have it refused."""
        return not any(each.may for each in self.values)

    @property
    def rights(self) -> str:
        """The clause of the workflow by which the caller may be refused besides; empty for none."""
        if not any(each.rights for each in self.values) or self.operation not in factors.WORKFLOW:
            return ""
        return f"workflow-{'update' if self.operation == factors.UPDATE else 'create'}-rights"

    @property
    def words(self) -> str:
        """Its values for a finding."""
        return " and ".join(each.words for each in self.values)

    def of(self, *names: str) -> str:
        """That of these values which it has; the first of them is the plain one, and stands for none."""
        return next((name for name in names if name in self.names), names[0])

    def without(self, name: str) -> Row:
        """The same with one factor set back to its plain value."""
        return Row(self.operation, self.reason, tuple(each for each in self.beside if each != name))


def _array(columns: Mapping[str, Sequence[str]], strength: int, salt: str = "") -> Iterator[tuple[str, ...]]:
    """Rows of values such that any so many of different columns stand together in one; plain ones are left out."""
    several = {name: values for name, values in columns.items() if len(values) > 1}
    strength = min(strength, len(several))
    made = make(several, strength=strength, sorter=by_hash, salt=salt) if several else [{}]
    for row in made:
        yield tuple(row[name] for name in several if row[name])


def _beside(operation: str, reason: Value, own: str) -> dict[str, list[str]]:
    """The values that do not refuse a request, of each factor but the reason's own; the plain one is an empty text."""
    columns = {
        factor: ["", *(each.name for each in values[1:] if not each.refuses)]
        for factor, values in table(operation).items()
        if factor != own
    }
    state = reason.name if own == factors.STATE.name else table(operation).get("state", (reason,))[0].name
    if state in factors.GIVEN_IDENTIFIER and "identifier" in columns:
        columns["identifier"] = ["", "uid_encoded"]
    return columns


@cache
def one_reason(operation: str) -> tuple[Row, ...]:
    """Each value that refuses requests of an operation, with each value of the other factors that does not."""
    rows = [
        Row(operation, reason.name, beside)
        for own, reason in refusing(operation)
        if operation in factors.WORKFLOW or reason.name not in _CREDENTIALS
        for beside in _array(_beside(operation, reason, own), 1, f"{operation} {reason.name}")
        if beside or reason.name != "locked"  # whether a lock has ended tells the plain request
    ]
    return tuple(dict.fromkeys(rows))


def second_rate(rows: Sequence[Row]) -> Iterator[Row]:
    """The rows that a gate of one realm does without: of each reason all but the first where the author calls.

    Of reasons that are alike it is sent one there.
    """
    seen: Counter[tuple[str, str]] = Counter()
    for row in rows:
        if row.reason in _CREDENTIALS and row.operation not in factors.WORKFLOW:
            continue
        own = not any(each.rights for each in row.values)
        seen[row.operation, row.reason] += own
        if row.reason in _ALIKE or (own and seen[row.operation, row.reason] > 1):
            yield row


@cache
def pure_refusals() -> tuple[Row, ...]:
    """Each operation outside the workflow with each invalid credential, and either with each value of the others."""
    by_uid = {
        "operation": factors.BY_UID,
        "credential": _CREDENTIALS,
        "identifier": ["", *(each.name for each in factors.IDENTIFIER.values[1:])],
    }
    rows = [Row(row[0], row[1], row[2:]) for row in _array(by_uid, 2)]
    for operation in ("listDrafts", *factors.CONTACTS):
        reason = value_named(operation, _CREDENTIALS[0])
        columns = {"credential": _CREDENTIALS, **_beside(operation, reason, factors.CALLER.name)}
        rows += [Row(operation, row[0], row[1:]) for row in _array(columns, 1)]
    return tuple(dict.fromkeys(rows))


def leaves_something(row: Row) -> bool:
    """Whether a refused row would leave something if it were taken after all, so that a look is worth a request."""
    return row.reason == "anonymous" and row.operation in (*factors.DRAFT_WRITES, "createAttachment")


@dataclass(frozen=True)
class Touch:
    """Something done to a draft that is near another one, by an account; of files, to a document."""

    deed: str
    relation: str
    caller: str = ""

    def __str__(self) -> str:
        """The id of the row."""
        return "-".join(filter(None, (self.deed, self.relation, self.caller)))

    @property
    def clause(self) -> str:
        """The clause by which the other draft stays as it was."""
        return factors.clause_of_neighbours(self.deed, self.relation)


@cache
def touches() -> tuple[Touch, ...]:
    """Everything that is done to drafts, beside a neighbour of each relation, and either by each account."""
    columns = {
        "deed": [*factors.DEEDS],
        "relation": [*factors.RELATIONS],
        "caller": ["author", "caller_other", "caller_nau"],
    }
    return tuple(Touch(*row) for row in _array(columns, 2))
