"""pytest's entry point in an installed wheel: `pytest --registry-contracts --target …` runs the contract cases.

A file on the command line runs instead of them. Runs of other projects import this module only, and have no other
option of the suite.
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
    """Load the plugin before conftest files are read: options cannot be declared later."""
    named = any(Path(word.partition("::")[0]).resolve().is_relative_to(_CASES) for word in args)
    if named or _FLAG in args:
        early_config.pluginmanager.import_plugin(_PLUGIN)


def pytest_configure(config: pytest.Config) -> None:
    """Import cases by `importlib`, as a checkout does, also in xdist's workers: two files may have the same name."""
    if config.getoption(_FLAG):
        config.option.importmode = "importlib"
        config.option.plugins = [*config.option.plugins, _PLUGIN]
