"""Shows how far a run has come: one line that renews itself in a terminal, or a line now and then elsewhere."""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Callable
from enum import Enum
from typing import IO, Final

from rich.console import Console
from rich.control import Control
from rich.segment import ControlType
from rich.text import Text

#: How often the line in a terminal is renewed, and how often a line is written elsewhere.
LIVE_SECONDS: Final = 0.5
PLAIN_SECONDS: Final = 30.0


class Manner(Enum):
    """How progress is shown."""

    LIVE = "live"
    PLAIN = "plain"


def own_stream() -> IO[str]:
    """Return a stream to where standard output leads now, which stays when pytest captures what cases print."""
    return os.fdopen(
        os.dup(sys.__stdout__.fileno() if sys.__stdout__ else 1), "w", encoding="utf-8", errors="replace"
    )


class Display:
    """Writes progress until it is stopped.

    Args:
        stream: Where to; the display does not close it.
        manner: A line that renews itself, or a line at every interval.
        says: Gives the line, on one line and of any length.
        interval: Seconds between two lines; by default what fits the manner.
    """

    def __init__(
        self, stream: IO[str], manner: Manner, says: Callable[[], str], interval: float | None = None
    ) -> None:
        self._console = Console(file=stream, highlight=False, markup=False, emoji=False)
        self._live = manner is Manner.LIVE
        self._says = says
        self._interval = interval or (LIVE_SECONDS if self._live else PLAIN_SECONDS)
        self._lock = threading.Lock()
        self._begun = False
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._renew, name="progress", daemon=True)

    def start(self) -> None:
        """Begin to show it; a second call does nothing."""
        if not self._begun:
            self._begun = True
            self._thread.start()

    def tell(self, line: str, style: str = "") -> None:
        """Write a line that stays, above the one that renews itself."""
        with self._lock:
            self._erase()
            self._console.print(Text(line, style=style), soft_wrap=True)
            self._draw()

    def stop(self) -> None:
        """Take the line away; nothing is written any more."""
        with self._lock:
            self._over.set()
            self._erase()
        if self._thread.is_alive():
            self._thread.join()

    def _renew(self) -> None:
        while not self._over.wait(self._interval):
            with self._lock:
                if self._over.is_set():
                    return
                if self._live:
                    self._erase()
                    self._draw()
                else:
                    self._console.print(Text(f"progress: {self._says()}"), soft_wrap=True)

    def _draw(self) -> None:
        if self._live:
            line = Text(self._says(), style="dim", no_wrap=True)
            # The last column stays free: many terminals would break the line there.
            line.truncate(max(1, self._console.width - 1), overflow="ellipsis")
            self._console.print(line, end="")

    def _erase(self) -> None:
        if self._live:
            self._console.control(Control(ControlType.CARRIAGE_RETURN, (ControlType.ERASE_IN_LINE, 2)))
