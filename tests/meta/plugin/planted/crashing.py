"""A pytest plugin with which workers die in the middle of a case, as an operating system short of memory ends them."""

import os
import signal
from pathlib import Path

import pytest

#: Cases that take the worker with them: the first once in a run, the second each time it is tried.
ONCE, ALWAYS = "test_many[abs-dev-3]", "test_many[abs-dev-4]"


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: pytest.Item) -> object:
    """End this process once the case has done its work, before the controller hears of it."""
    result = yield
    mark = Path(os.environ["CRASH_MARK"])
    chosen = os.environ["CRASH_CASES"].split()
    if item.name == ONCE and "once" in chosen and not mark.exists():
        mark.touch()
        os.kill(os.getpid(), signal.SIGKILL)
    if item.name == ALWAYS and "always" in chosen:
        os._exit(1)
    return result
