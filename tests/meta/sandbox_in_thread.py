"""A pytest plugin: the embedded sandbox of a run that a test makes in this process is served by a thread of it.

PYTEST_DONT_REWRITE: it is imported before pytest could, and holds no assertion.
"""

from collections.abc import Sequence
from contextlib import ExitStack

from tests.meta.sandbox_client import sandbox


class Threaded:
    """A sandbox that serves one run."""

    def __init__(self, size_limit: int, arguments: Sequence[str]) -> None:
        self._served = ExitStack()
        options = ["--size-limit", str(size_limit), *arguments]
        self.base_url = self._served.enter_context(sandbox(*options))

    def ask_to_end(self) -> None:
        """Take the wish without a hurry."""

    def stop(self) -> None:
        """End it; a second call does nothing."""
        self._served.close()


def pytest_contract_sandbox(size_limit: int, arguments: Sequence[str]) -> Threaded:
    """Serve it."""
    return Threaded(size_limit, arguments)
