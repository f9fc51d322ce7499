"""Pytest hooks of a contract run, for programs that embed the suite, such as the proof."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

import pytest

from contracts.checks.outcomes import Confirmed


class Sandbox(Protocol):
    """A sandbox that serves one run."""

    @property
    def base_url(self) -> str:
        """Where it answers."""

    @property
    def size_limit(self) -> int:
        """Largest upload it takes, in bytes; what the run was to ask for may be more than it can wait for."""

    def stop(self) -> None:
        """End it; a second call does nothing."""


class ContractHooks:
    """Specifications; registered with pytest's plugin manager."""

    @pytest.hookspec(firstresult=True)
    def pytest_contract_sandbox(self, size_limit: int, arguments: Sequence[str]) -> Sandbox | None:
        """Start the sandbox of this run in another way than as a process of its own.

        Args:
            size_limit: Largest upload it is to take, in bytes.
            arguments: More options for it, as `--sandbox-arguments` gives them.

        Returns:
            A sandbox that answers already, or None to leave it to others.
        """

    @pytest.hookspec(firstresult=True)
    def pytest_contract_formats(self) -> Sequence[str] | None:
        """Name the report formats this run writes (`contracts.reports.writers.WRITERS`); None for all of them."""

    @pytest.hookspec
    def pytest_contract_finding(self, item: pytest.Item, finding: Confirmed) -> None:
        """A case found a contradiction; called once it is confirmed or dismissed."""


def pytest_addhooks(pluginmanager: pytest.PytestPluginManager) -> None:
    """Declare the hooks."""
    pluginmanager.add_hookspecs(ContractHooks)
