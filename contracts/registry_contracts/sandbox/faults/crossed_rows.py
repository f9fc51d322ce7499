"""What the rows of crossed faults are made of: an effect at a place, and what it breaks."""

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
    """Which requests an effect is about: those that have to be taken, or to be refused, or all."""

    TAKEN = "taken"
    REFUSED = "refused"
    ALL = "all"


@dataclass(frozen=True)
class Effect:
    """A row of the table: what goes wrong, at which place.

    Attributes:
        group: Each group is drawn as often as another.
        name: Behind the operation in the name of a fault.
        says: Behind the operation in its sentence.
        at: Its operations, each with the clauses that it breaks there, or a rule that gives them.
        make: Makes the effect for some values.
        acceptance: What has to be taken is refused, which no account explains alone.
        lost: What has to be taken has no effect, so that it is not taken either.
        clean: It breaks nothing beside a value of which it is not shown whether it is taken.
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
    """An effect that is the same under all values."""
    return Effect(group, name, says, at, lambda _: inject, **more)


def done(got: Answer) -> bool:
    """Whether a service did what it was asked for."""
    return got.success and not got.errors


def put_back(request: Request, rows: Rows, uid: str = "") -> None:
    """Let a record be what it was."""
    request.memory.held.put(uid or request.uid, rows)
    request.memory.changed = True
