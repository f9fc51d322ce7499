"""A pytest plugin that does, once the first case is over, what a neighbour on the machine might do."""

import os
import shutil
import signal
from pathlib import Path

import pytest

from contracts.plugin.plan import Plan
from contracts.plugin.session_finish import PLAN


def _end_children(_: Plan) -> None:
    for path in Path("/proc/self/task").glob("*/children"):
        for child in path.read_text("ascii").split():
            os.kill(int(child), signal.SIGKILL)


def _remove_ledgers(plan: Plan) -> None:
    for path in Path(plan.folder).glob("ledger*.jsonl"):
        path.unlink()


DEEDS = {
    "removes the reports": lambda plan: shutil.rmtree(Path(plan.folder).parent),
    "empties the journal": lambda plan: os.truncate(Path(plan.folder) / "journal-main.jsonl", 0),
    "removes the ledger": _remove_ledgers,
    "clears the temporary folder": lambda plan: shutil.rmtree(plan.private),
    "kills the embedded sandbox": _end_children,
}


class _Neighbour:
    def __init__(self, config: pytest.Config) -> None:
        self._config = config
        self._done = False

    def pytest_runtest_logfinish(self) -> None:
        if not self._done:
            self._done = True
            DEEDS[os.environ["DEED"]](self._config.stash[PLAN])


def pytest_configure(config: pytest.Config) -> None:
    """Let the neighbour in."""
    config.pluginmanager.register(_Neighbour(config))
