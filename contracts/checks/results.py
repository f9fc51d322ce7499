"""What a check says about one clause on one operation: held, contradicted, blocked or observed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any


class CheckOutcome(StrEnum):
    """How a check ends."""

    HELD = "held"
    CONTRADICTED = "contradicted"
    BLOCKED = "blocked"
    OBSERVED = "observed"


@dataclass(frozen=True, slots=True)
class Result:
    """The result of one check.

    Attributes:
        clause, operation: What it is about.
        expected: What keeps the clause, in words that a reader understands without the code; empty at a silent point.
        seen: What was there, in words; why nothing can be said, for a blocked check; any JSON value for an observation.
        exchanges: Ids of the exchanges that show it, in their order.
        role: The account role of the last of them.
        check: Id of the check in the table; empty for a comparison that a case makes by itself.
        arguments: Values that the check compared with, so that it can be run again.
    """

    clause: str
    operation: str
    outcome: CheckOutcome
    expected: str = ""
    seen: Any = ""
    exchanges: tuple[str, ...] = ()
    role: str = ""
    check: str = ""
    arguments: Mapping[str, Any] = field(default_factory=dict)

    @property
    def key(self) -> tuple[str, str]:
        """What makes two contradictions the same finding within one realm."""
        return self.clause, self.operation


def contradicted(
    clause: str,
    operation: str,
    expected: str,
    seen: str,
    exchanges: tuple[str, ...] = (),
    role: str = "",
) -> Result:
    """The result of a comparison that no check of the table stands for."""
    return Result(clause, operation, CheckOutcome.CONTRADICTED, expected, seen, exchanges, role)


def observed(clause: str, operation: str, seen: Any) -> Result:
    """The result at a point where the interface document is silent; `seen` is any JSON value."""
    return Result(clause, operation, CheckOutcome.OBSERVED, seen=seen)
