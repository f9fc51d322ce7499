"""pytest's entry point of an installed wheel: it brings the plugin in where contract cases are asked for.

A run of another project's tests imports this module and nothing else of the suite, has none of its options, and keeps
a package of its own that is called `contracts`. PYTEST_DONT_REWRITE
"""

from __future__ import annotations

from pathlib import Path

import pytest

_CASES = Path(__file__).resolve().with_name("contracts") / "_promises" / "cases"
#: The name of that folder for `--pyargs`.
_PACKAGE = "contracts._promises.cases"
_PLUGIN = "registry_contracts"


def pytest_load_initial_conftests(early_config: pytest.Config, args: list[str]) -> None:
    """Load the plugin before the conftest files, which is the last moment to declare options."""
    if any(map(_names_cases, args)):
        early_config.pluginmanager.import_plugin(_PLUGIN)


def _names_cases(word: str) -> bool:
    return word.startswith(_PACKAGE) or Path(word.partition("::")[0]).resolve().is_relative_to(_CASES)
