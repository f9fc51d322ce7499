"""A pytest plugin with which a worker dies in the middle of a case, as a system short of memory ends it."""

import os
import signal

import pytest


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: pytest.Item) -> object:
    """End this process once the case has done its work, before the controller hears of it."""
    result = yield
    if item.name == "test_many[abs-dev-4]":
        os.kill(os.getpid(), signal.SIGKILL)
    return result
