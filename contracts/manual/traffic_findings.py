"""What traffic shows to be wrong, and on whose side.

What passed lately, for whoever looks on while it happens: the terminal and the page.
"""

from __future__ import annotations

import threading
from collections import deque
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, Final


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


#: How many exchanges a feed remembers.
KEPT: Final = 2000


@dataclass(frozen=True)
class Seen:
    """One exchange that was judged.

    Attributes:
        number: Counted from one, in the order of judging.
        at: When the request came, ISO 8601.
        path: With the query, as it was sent; secrets taken out.
        operation: operationId, or None when it is no operation of the interface.
        realm: The realm it names, or None.
        status: Of the answer; 0 when there was none.
        milliseconds: From the request's arrival to the end of the answer.
        exchange: An entry in the form of HAR 1.2, secrets taken out.
    """

    number: int
    at: str
    method: str
    path: str
    operation: str | None
    realm: str | None
    status: int
    milliseconds: float
    findings: tuple[TrafficFinding, ...] = ()
    exchange: dict[str, Any] = field(default_factory=dict)


class Feed:
    """Keeps the last exchanges and wakes who waits for the next; for any thread.

    Args:
        kept: How many are kept; the oldest go first.
    """

    def __init__(self, kept: int = KEPT) -> None:
        self._last: deque[Seen] = deque(maxlen=kept)
        self._news = threading.Condition()
        self._closed = False

    def publish(self, seen: Seen) -> None:
        """Add an exchange."""
        with self._news:
            self._last.append(seen)
            self._news.notify_all()

    def close(self) -> None:
        """Wake everybody who waits; nothing more will come."""
        with self._news:
            self._closed = True
            self._news.notify_all()

    def since(self, number: int) -> list[Seen]:
        """What is kept of the exchanges after a number, in their order."""
        with self._news:
            return self._after(number)

    def wait(self, number: int, seconds: float) -> list[Seen]:
        """Like `since`, but waits for news when there is nothing yet.

        Blocks its thread: on an event loop call it through `asyncio.to_thread`.

        Returns:
            Nothing when the time passed without news, or when the feed was closed.
        """
        with self._news:
            self._news.wait_for(lambda: self._closed or bool(self._after(number)), timeout=seconds)
            return self._after(number)

    def _after(self, number: int) -> list[Seen]:
        return [seen for seen in self._last if seen.number > number]
