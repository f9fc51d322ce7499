"""Ctrl-C once reports and cleans up; twice stops at once and says what is left (design 5)."""

from __future__ import annotations

import os
import shutil
import signal
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from types import FrameType
from typing import Final

import pytest

from contracts.evidence.outcomes import ExitCode
from contracts.plugin.plan import Plan
from contracts.safe_text import many
from contracts.session.ledger import Entry, read_entries, removable, residue

_SIGNALS: Final = (signal.SIGINT, signal.SIGTERM)
#: Two signals this close together, in seconds, are one wish: a terminal and a job runner may both send theirs.
_ONE_WISH_SECONDS: Final = 0.3
_MOST_NAMED: Final = 10
_PID_FILES: Final = "pid-*"


def note_pid(private: Path, name: str) -> None:
    """Leave the process id of a worker where the controller finds it."""
    (private / f"pid-{name}").write_text(str(os.getpid()), encoding="ascii")


class Stopping:
    """Takes Ctrl-C and SIGTERM, which a job that is cancelled is sent, for one run.

    Args:
        config: pytest's; the terminal of the run is its.
        plan: The run.
    """

    def __init__(self, config: pytest.Config, plan: Plan) -> None:
        self._config = config
        self._plan = plan
        self._first = 0.0
        #: Whether the run is closing its books already, which no first Ctrl-C interrupts.
        self.finishing = False

    def listen(self) -> None:
        """Take the signals from now on."""
        if threading.current_thread() is threading.main_thread():
            for number in _SIGNALS:
                signal.signal(number, self._heard)

    def _heard(self, _number: int, _frame: FrameType | None) -> None:
        now = time.monotonic()
        if self._first and now - self._first < _ONE_WISH_SECONDS:
            return
        if self._first:
            self._stop_at_once()
        self._first = now
        self._say("stopping: what is under way is cleaned up and reported; Ctrl-C again stops at once")
        if not self.finishing:
            raise KeyboardInterrupt

    def _say(self, text: str) -> None:
        capture = self._config.pluginmanager.getplugin("capturemanager")
        if capture is not None:
            capture.suspend(in_=True)
        sys.stderr.write(f"\n{text}\n")
        sys.stderr.flush()
        if capture is not None:
            capture.resume()

    def _stop_at_once(self) -> None:
        """End the workers and this process; nothing is cleaned, and the ledgers say what that leaves."""
        private = Path(self._plan.private)
        for path in private.glob(_PID_FILES):
            _kill(int(path.read_text(encoding="ascii") or 0))
        self._say("\n".join(what_is_left(self._plan)))
        shutil.rmtree(private, ignore_errors=True)
        os._exit(ExitCode.INTERRUPTED)


def what_is_left(plan: Plan) -> Iterator[str]:
    """Lines that say what a run that was stopped at once has left on its target."""
    folder = Path(plan.folder)
    entries = read_entries(sorted(folder.glob("ledger*.jsonl")))
    drafts, kept = removable(entries), list(residue(entries))
    yield f"stopped at once: {_places(drafts, 'draft')} not removed, {len(kept)} things that nobody can remove"
    if plan.sandbox_url is not None:
        yield "the embedded sandbox is gone, and everything with it"
    elif drafts:
        yield f"the next run with these reports removes them, or: registry-contracts sweep --reports {folder.parent}"
    yield f"the ledger: {folder}"


def _places(drafts: list[Entry], word: str) -> str:
    named = ", ".join(f"{draft.identifier} in {draft.realm}" for draft in drafts[:_MOST_NAMED])
    more = len(drafts) - _MOST_NAMED
    count = many(len(drafts), word)
    return f"{count} ({named}{f' and {more} more' if more > 0 else ''})" if drafts else count


def _kill(pid: int) -> None:
    if pid and pid != os.getpid():
        try:
            os.kill(pid, signal.SIGKILL if hasattr(signal, "SIGKILL") else signal.SIGTERM)
        except ProcessLookupError:
            return  # it has ended by itself
