"""What traffic shows to be wrong, and on whose side.

The latest exchanges, for the terminal and the live page.
"""

from __future__ import annotations

import threading
from collections import deque
from dataclasses import dataclass
from enum import StrEnum
from typing import Final
from urllib.parse import urlsplit

from contracts.exchanges.exchange import Exchange
from contracts.interface.operations import ANY_REALM


class Side(StrEnum):
    """Who breaks the interface."""

    REQUEST = "request"
    ANSWER = "answer"


class Standing(StrEnum):
    """How much a finding weighs.

    A fault decides the verdict. Advice contradicts a should, or what the document does not firmly rule out. A remark
    is worth a look: something else than a broken promise could explain it.
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
        exchange: Secrets taken out.
    """

    exchange: Exchange
    findings: tuple[TrafficFinding, ...] = ()

    @property
    def number(self) -> int:
        """Counted from one, in the order of judging."""
        return self.exchange.number

    @property
    def path(self) -> str:
        """With the query, as it was sent; secrets taken out."""
        parts = urlsplit(self.exchange.url)
        return parts.path + (f"?{parts.query}" if parts.query else "")

    @property
    def realm(self) -> str | None:
        """The realm it names, or None."""
        return None if self.exchange.realm == ANY_REALM else self.exchange.realm

    @property
    def milliseconds(self) -> float:
        """From the request's arrival to the end of the response."""
        return round((self.exchange.seconds or 0.0) * 1000, 3)


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
