"""What traffic shows to be wrong, and on whose side."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class Side(StrEnum):
    """Who breaks the interface."""

    REQUEST = "request"
    ANSWER = "answer"


class Standing(StrEnum):
    """How much a finding weighs.

    A fault decides the verdict. Advice contradicts a should, or what the document does not firmly rule out. A remark
    is what somebody should look at: something else than a broken promise could explain it.
    """

    FAULT = "fault"
    ADVICE = "advice"
    REMARK = "remark"


@dataclass(frozen=True)
class TrafficFinding:
    """One thing that an exchange shows to be wrong.

    Attributes:
        side: `request` when the client breaks the interface, `answer` when the service does.
        standing: How much it weighs.
        clause: The clause it speaks of; None for a mistake of a request that no clause names.
        level: The clause's level, `must` or `should`; None without a clause.
        fault: For a request, what is wrong in the catalogue's notation, such as `body.firstName:missing`.
        operation: operationId.
        realm: The realm of the request, `any` where the operation carries none.
        expected: What keeps the interface.
        seen: What was there, without secrets.
        entry: Number of the exchange that shows it, counted from one.
        because_of: Number of the earlier exchange that it follows from, or None.
    """

    side: Side
    standing: Standing
    clause: str | None
    level: str | None
    fault: str | None
    operation: str
    realm: str
    expected: str
    seen: str
    entry: int
    because_of: int | None = None

    @property
    def decides(self) -> bool:
        """Whether the verdict turns on it."""
        return self.standing is Standing.FAULT

    @property
    def what(self) -> str:
        """The clause, or the fault where no clause speaks of it."""
        return self.clause or self.fault or "request"
