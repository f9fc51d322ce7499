"""Makes `pytest` in a checkout the same run as `registry-contracts run`."""

from importlib.util import find_spec

import pytest

if find_spec("registry_contracts") is None:
    raise pytest.UsageError("the project is not installed here; README has the command, with pip install -e")

pytest_plugins = ("registry_contracts.plugin",)
