"""How many requests a run may send in all: a number for all workers together, with some kept back for cleaning."""

from __future__ import annotations

import threading
from pathlib import Path

from filelock import FileLock

from contracts.errors import EnvironmentFault

#: Share of the budget that only signing in, cleaning and sweeping may use, and its least number of requests.
_KEPT_BACK = 20
_LEAST_KEPT_BACK = 20
#: A worker takes places in blocks, so that few requests have to look at the shared file.
_LARGEST_BLOCK = 25
_FILE = "requests"


class BudgetSpent(EnvironmentFault):
    """The run has sent as many requests as its settings allow; this one was not sent."""


class RequestBudget:
    """The requests of a run, counted in its private folder.

    Args:
        folder: Private folder that all workers of the run see.
        most: Requests that the run may send, repetitions included; None for as many as it likes.
    """

    def __init__(self, folder: Path, most: int | None) -> None:
        self._most = most
        self._path = folder / _FILE
        self._lock = FileLock(folder / "requests.lock")
        self._block = max(1, min(_LARGEST_BLOCK, (most or 0) // 400))
        self._left = 0
        self._threads = threading.Lock()

    @property
    def for_cases(self) -> int | None:
        """What of the budget the cases may use."""
        if self._most is None:
            return None
        return self._most - max(min(_LEAST_KEPT_BACK, self._most // 4), self._most // _KEPT_BACK)

    def take(self, *, essential: bool = False) -> None:
        """Count one request before it is sent.

        Args:
            essential: It signs in, cleans or sweeps, and may use what is kept back.

        Raises:
            BudgetSpent: it would be one too many.
        """
        if self._most is None or self.for_cases is None:
            return
        if essential:
            if not self._reserve(1, self._most):
                raise self._spent(self._most)
            return
        with self._threads:
            self._left = self._left or self._reserve(self._block, self.for_cases)
            if not self._left:
                raise self._spent(self.for_cases)
            self._left -= 1

    def _reserve(self, wanted: int, limit: int) -> int:
        """Take up to `wanted` places below a limit."""
        with self._lock:
            try:
                used = int(self._path.read_text(encoding="utf-8"))
            except FileNotFoundError:
                used = 0
            taken = max(0, min(wanted, limit - used))
            if taken:
                fresh = self._path.with_suffix(".new")
                fresh.write_text(str(used + taken), encoding="utf-8")
                fresh.replace(self._path)
        return taken

    def _spent(self, limit: int) -> BudgetSpent:
        kept = f", {limit:,} of them for cases" if limit != self._most else ""
        return BudgetSpent(
            f"the request budget of this run is spent: {self._most:,}{kept} (setting pace.request_budget)"
        )


def requests_counted(folder: Path) -> int:
    """Return how many requests the workers of a run have sent or are about to send; 0 before the first.

    Args:
        folder: The run's private folder.
    """
    try:
        return int((folder / _FILE).read_text(encoding="utf-8"))
    except (FileNotFoundError, ValueError):
        return 0
