"""A pytest plugin that swallows the interruption of a run, as Python does where it comes in a callback of its own."""

import signal
from contextlib import suppress

import pytest


def pytest_configure(config: pytest.Config) -> None:
    """Watch the process that the signals go to."""
    if not hasattr(config, "workerinput"):
        config.pluginmanager.register(Swallowing())


class Swallowing:
    """Interrupts the run at its first case."""

    def __init__(self) -> None:
        self._done = False

    def pytest_runtest_logstart(self) -> None:
        """Send the signal, and let nothing come of it."""
        if not self._done:
            self._done = True
            with suppress(KeyboardInterrupt):
                signal.raise_signal(signal.SIGINT)
