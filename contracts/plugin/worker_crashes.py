"""Workers that die: their case runs once more on another one, and the run says so."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest

#: Names of the workers that died.
DIED = pytest.StashKey[list[str]]()
#: How a report calls a case that is to run again.
RERUN = "rerun"


class Deaths:
    """Looks after the cases of workers that die in them.

    Args:
        config: pytest's, of the controller.
    """

    def __init__(self, config: pytest.Config) -> None:
        self._died = config.stash.setdefault(DIED, [])
        self._times: Counter[str] = Counter()
        self._stopped = False

    @pytest.hookimpl(optionalhook=True)
    def pytest_testnodedown(self, node: Any, error: object | None) -> None:
        """Note who died; a worker that ends as it should leaves no error, one that was stopped by hand this one."""
        self._stopped = error == "keyboard-interrupt"
        if error and not self._stopped:
            self._died.append(node.workerinput["workerid"])

    @pytest.hookimpl(optionalhook=True)
    def pytest_handlecrashitem(self, crashitem: str, report: pytest.TestReport, sched: Any) -> None:
        """Run a case once more when a worker has died in it; one that takes a second one with it is at fault."""
        if self._stopped:
            return
        self._times[crashitem] += 1
        if self._times[crashitem] == 1:
            sched.mark_test_pending(crashitem)
            report.outcome = RERUN  # type: ignore[assignment]

    @pytest.hookimpl(tryfirst=True)
    def pytest_report_teststatus(self, report: Any) -> tuple[str, str, tuple[str, dict[str, bool]]] | None:
        """Show a case that is to run again as that."""
        if report.outcome != RERUN:
            return None
        return RERUN, "R", ("RERUN", {"yellow": True})
