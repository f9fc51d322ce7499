"""A pytest plugin: the embedded sandbox of a run that a test makes in this process is served by a thread of it.

PYTEST_DONT_REWRITE: it is imported before pytest could, and holds no assertion.
"""

from collections.abc import Sequence
from contextlib import ExitStack
from types import SimpleNamespace

from tests.meta.sandbox_client import sandbox


def pytest_contract_sandbox(size_limit: int, arguments: Sequence[str]) -> SimpleNamespace:
    """Serve one run."""
    served = ExitStack()
    url = served.enter_context(sandbox("--size-limit", str(size_limit), *arguments))
    return SimpleNamespace(base_url=url, stop=served.close)
