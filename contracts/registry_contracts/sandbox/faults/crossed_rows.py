"""The rows of crossed faults: an effect, its operations, and the clauses that it breaks there."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Any

from registry_contracts.sandbox.faults.conditions import Condition
from registry_contracts.sandbox.faults.held import Rows
from registry_contracts.sandbox.faults.messages import Answer, Inject, Request

Clauses = tuple[str, ...]
Values = Sequence[Condition]
#: The clauses that an effect breaks at an operation under some values.
Rule = Callable[[str, Values], Clauses]
At = Mapping[str, Clauses | Rule]


class Side(Enum):
    """The requests that an effect is about: those that must be accepted, those that must be refused, or all."""

    TAKEN = "taken"
    REFUSED = "refused"
    ALL = "all"


@dataclass(frozen=True)
class Effect:
    """A row of the table.

    Attributes:
        group: All groups are drawn equally often.
        name: Follows the operation in the name of a fault.
        says: Follows the operation in its sentence.
        at: Its operations, each with the clauses that it breaks there or a rule that gives them.
        make: Makes the effect for some values.
        acceptance: It refuses what must be accepted.
        lost: It makes an accepted request have no effect.
        clean: It breaks nothing if a value of the request may be refused.
    """

    group: str
    name: str
    says: str
    at: At
    make: Callable[[Values], Inject]
    side: Side = Side.TAKEN
    acceptance: bool = False
    lost: bool = False
    clean: bool = False


def row(group: str, name: str, says: str, at: At, inject: Inject, **more: Any) -> Effect:
    """Make a row whose effect is the same for all values."""
    return Effect(group, name, says, at, lambda _: inject, **more)


def done(got: Answer) -> bool:
    """Whether the service accepted the request: a success without errors."""
    return got.success and not got.errors


def put_back(request: Request, rows: Rows, uid: str = "") -> None:
    """Restore the rows of a record."""
    request.memory.held.put(uid or request.uid, rows)
    request.memory.changed = True
