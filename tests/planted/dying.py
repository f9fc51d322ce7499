"""A pytest plugin whose first worker dies before it has begun anything."""

import os

import pytest


@pytest.hookimpl(tryfirst=True)
def pytest_configure(config: pytest.Config) -> None:
    """End the process of the worker gw0 as an operating system short of memory would."""
    workerinput = getattr(config, "workerinput", {})
    if workerinput.get("workerid") == "gw0":
        os._exit(9)
