"""A pytest plugin whose second worker dies before it has begun anything."""

import os

import pytest


@pytest.hookimpl(tryfirst=True)
def pytest_configure(config: pytest.Config) -> None:
    """End the process of the worker gw1 as an operating system short of memory would."""
    workerinput = getattr(config, "workerinput", {})
    if workerinput.get("workerid") == "gw1":
        os._exit(9)
