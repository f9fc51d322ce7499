"""The pytest plugin: `pytest --target … --profile … --realm …` gives the same run as `registry-contracts run`.

Active only for items marked `contract`; everything else in a pytest run stays as pytest has it.

The commands import this package before pytest does. It holds no assertion, so pytest need not warn:
PYTEST_DONT_REWRITE
"""

from importlib import import_module
from typing import Final

import pytest

_PARTS: Final = ("plan", "allure_results", "run", "collection", "protocol", "fixtures", "terminal")


def pytest_addhooks(pluginmanager: pytest.PytestPluginManager) -> None:
    """Register the parts; `pytest_plugins` would also make pytest rewrite their assertions, and there are none."""
    pluginmanager.add_hookspecs(import_module(f"{__name__}.hooks").ContractHooks)
    for part in _PARTS:
        name = f"{__name__}.{part}"
        pluginmanager.register(import_module(name), name)
