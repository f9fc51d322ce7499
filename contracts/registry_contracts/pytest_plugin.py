"""pytest's entry point of an installed wheel: `pytest --registry-contracts --target …` runs the contract cases.

With a file behind it, that file is run in their place.

A run of another project's tests imports this module and nothing else of the suite, and has none of its options.
"""

from __future__ import annotations

from pathlib import Path

import pytest

_CASES = Path(__file__).resolve().with_name("_promises") / "cases"
_FLAG = "--registry-contracts"
_PLUGIN = "registry_contracts.plugin"


def pytest_addoption(parser: pytest.Parser) -> None:
    """Declare the option that stands for the folder of the installed cases."""
    parser.addoption(
        _FLAG,
        action="store_true",
        help="Run the contract cases, or FILE as one; with --help, their options too.",
    )


def pytest_load_initial_conftests(early_config: pytest.Config, args: list[str]) -> None:
    """Load the plugin before the conftest files, which is the last moment to declare options."""
    named = any(Path(word.partition("::")[0]).resolve().is_relative_to(_CASES) for word in args)
    if named or _FLAG in args:
        early_config.pluginmanager.import_plugin(_PLUGIN)


def pytest_configure(config: pytest.Config) -> None:
    """Import cases as a checkout does, so that two files of one name are two modules, in xdist's workers as well."""
    if config.getoption(_FLAG):
        config.option.importmode = "importlib"
        config.option.plugins = [*config.option.plugins, _PLUGIN]
