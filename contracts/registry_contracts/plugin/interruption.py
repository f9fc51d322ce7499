"""Interruptions of a run: signals and internal errors of pytest.

Redacts secrets from the output of these errors, which no report redacts.
"""

from __future__ import annotations

import logging
import os
import shutil
import signal
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext, suppress
from functools import partial
from pathlib import Path
from types import FrameType
from typing import Any, Final

import pytest

from registry_contracts.errors import INTERRUPTING_SIGNALS, ExitCode, breakdown
from registry_contracts.plugin.plan import Plan
from registry_contracts.plugin.worker import MAIN, Worker
from registry_contracts.safe_text import displayed, many, plain_line
from registry_contracts.session.ledger import read_entries, removable, residue

#: Two signals this close together, in seconds, count as one: a terminal and a job runner may both send one.
_SAME_SIGNAL_SECONDS: Final = 0.3


@contextmanager
def signals_held() -> Iterator[None]:
    """Block signals in this process and in the workers that it starts; each worker unblocks them when it is ready.

    A terminal signals all processes of a run. A worker that is still starting would die, and pytest's start fail.
    """
    before = signal.pthread_sigmask(signal.SIG_BLOCK, INTERRUPTING_SIGNALS)
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def leave_to_controller() -> None:
    """Let a worker ignore signals that reach all processes of a run: the controller tells it when to stop."""
    ctrl_c = signal.getsignal(signal.SIGINT)
    for number in INTERRUPTING_SIGNALS:
        signal.signal(number, signal.SIG_IGN)
    # Signals that arrived while this worker started are ignored too.
    signal.pthread_sigmask(signal.SIG_UNBLOCK, INTERRUPTING_SIGNALS)
    signal.signal(signal.SIGINT, ctrl_c)  # xdist's own worker takes it from now on


class Stopping:
    """Handles the signals of Ctrl-C, a cancelled job and a closed terminal for one run.

    Attributes:
        plan: The run's plan, once the run has begun.
        finishing: The run is already writing its results; the first Ctrl-C does not interrupt that.
    """

    def __init__(self, config: pytest.Config) -> None:
        self._config = config
        self.plan: Plan | None = None
        self._last = 0.0
        self.finishing = False

    def listen(self) -> None:
        """Handle the signals from now on."""
        if threading.current_thread() is threading.main_thread():
            for number in INTERRUPTING_SIGNALS:
                # A signal that is ignored, as under nohup, stays ignored.
                if signal.getsignal(number) is not signal.SIG_IGN:
                    signal.signal(number, self._on_signal)

    @property
    def asked(self) -> bool:
        """Whether the run is to stop."""
        return self._last > 0

    @pytest.hookimpl(trylast=True)
    def pytest_runtest_logfinish(self) -> None:
        """Interrupt the session after a case if the first interruption was lost: Python drops one in a callback."""
        if self.asked and not self.finishing:
            raise KeyboardInterrupt

    @pytest.hookimpl(tryfirst=True)
    def pytest_keyboard_interrupt(self, excinfo: pytest.ExceptionInfo[BaseException]) -> None:
        """Keep only the outermost traceback entry: formatting all takes seconds, and pytest fails on some entries."""
        if not self._config.getoption("fulltrace"):
            excinfo.traceback = excinfo.traceback[:1]

    def _on_signal(self, _number: int, _frame: FrameType | None) -> None:
        now = time.monotonic()
        if self.asked and now - self._last < _SAME_SIGNAL_SECONDS:
            return
        if self.asked and self.plan is not None:
            self._stop_at_once(self.plan)
        self._last = now
        if self.plan is None:
            raise KeyboardInterrupt  # nothing was sent yet, and there is nothing to report
        # pytest would warn of files that the interruption leaves open; at its end it puts its own hook back.
        sys.unraisablehook = lambda _: None
        self._say("stopping: cleaning up and writing the reports; Ctrl-C again stops at once")
        if not self.finishing:
            raise KeyboardInterrupt

    def _say(self, text: str) -> None:
        capture: Any = self._config.pluginmanager.getplugin("capturemanager")
        # A closed terminal takes no output.
        with capture.global_and_fixture_disabled() if capture else nullcontext(), suppress(OSError):
            sys.stderr.write(f"\n{text}\n")
            sys.stderr.flush()

    def _stop_at_once(self, plan: Plan) -> None:
        """End this process without clean-up; its workers notice, and the ledgers list what is left."""
        self._say("\n".join(what_is_left(plan)))
        shutil.rmtree(plan.private, ignore_errors=True)
        os._exit(ExitCode.INTERRUPTED)


def what_is_left(plan: Plan) -> Iterator[str]:
    """Lines that describe what a run that was stopped at once left on its target."""
    folder = Path(plan.folder)
    entries = read_entries(sorted(folder.glob("ledger*.jsonl")))
    drafts, kept = removable(entries), list(residue(entries))
    yield f"stopped at once: {many(len(drafts), 'draft')} not removed, {len(kept)} things that cannot be removed"
    if plan.sandbox_url is not None:
        yield "the embedded sandbox is gone with all its data"
    elif drafts:
        yield f"the next run with these reports removes them, or: registry-contracts sweep --reports {folder.parent}"
    yield f"the ledger: {folder}"


#: Loggers below the session: they quote data from the wire that they cannot parse, secrets included.
_LOGGERS: Final = ("urllib3.connection", "urllib3.connectionpool", "urllib3.response", "urllib3.util.retry")
_LONGEST_BREAKDOWN: Final = 300
#: The internal error of pytest in the controller.
PYTEST_BROKE = pytest.StashKey[str]()


class SecretContainment:
    """Redacts secrets from pytest's internal errors, and disables loggers that would quote secrets."""

    def __init__(self, config: pytest.Config, worker: Worker) -> None:
        self._config = config
        self._worker = worker
        for logger in map(logging.getLogger, _LOGGERS):
            config.add_cleanup(partial(setattr, logger, "disabled", logger.disabled))
            logger.disabled = True

    @pytest.hookimpl(tryfirst=True)
    def pytest_internalerror(self, excrepr: object, excinfo: pytest.ExceptionInfo[BaseException]) -> None:
        """End the session with one line on pytest's internal error instead of its traceback; -v shows all."""
        redacted = self._worker.redactor.text
        why = plain_line(redacted(breakdown(excinfo.value)), _LONGEST_BREAKDOWN)
        self._config.stash[PYTEST_BROKE] = why
        session: pytest.Session | None = self._config.pluginmanager.get_plugin("session")
        if self._worker.name != MAIN and session is not None:
            self._worker.give_up(session, excinfo.value)
        whole = self._config.get_verbosity() > 0
        text = displayed(redacted(str(excrepr))) if whole else why
        pytest.exit(f"pytest broke: {text}", returncode=pytest.ExitCode.INTERNAL_ERROR)
