"""What passed lately, for whoever looks on while it happens: the terminal and the page."""

from __future__ import annotations

import threading
from collections import deque
from dataclasses import dataclass, field
from typing import Any, Final

from contracts.traffic.findings import TrafficFinding

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
