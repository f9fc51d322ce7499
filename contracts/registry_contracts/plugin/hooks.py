"""The hooks for programs that embed runs; `registry_contracts.plugin` declares them to pytest."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

import pytest

from registry_contracts.checks.outcomes import Attempt
from registry_contracts.evidence.findings import Finding
from registry_contracts.evidence.record import Verdict
from registry_contracts.settings.target import Target


class Sandbox(Protocol):
    """A sandbox that serves one run."""

    @property
    def base_url(self) -> str:
        """Where it answers."""

    def ask_to_end(self) -> None:
        """Tell it that nothing more is sent, and do not wait for its end."""

    def stop(self) -> None:
        """End it; a second call does nothing."""


class ContractHooks:
    """Specifications; registered with pytest's plugin manager."""

    @pytest.hookspec(firstresult=True)
    def pytest_contract_sandbox(self, size_limit: int, arguments: Sequence[str]) -> Sandbox | None:
        """Start the sandbox of this run in another way than as a process of its own; it answers already.

        Args:
            size_limit: Largest upload it is to take, in bytes.
            arguments: More options for it, as `--sandbox-arguments` gives them.
        """

    @pytest.hookspec(firstresult=True)
    def pytest_contract_target(self, target: Target) -> Target | None:
        """Name the settings of a sandbox that needs others than the embedded one; None leaves them as they are."""

    @pytest.hookspec(firstresult=True)
    def pytest_contract_formats(self) -> Sequence[str] | None:
        """Name the formats of this run's report (`registry_contracts.reports.writers.WRITERS`); None for all."""

    @pytest.hookspec
    def pytest_contract_case(
        self,
        item: pytest.Item,
        verdict: Verdict,
        reports: Sequence[pytest.TestReport],
        findings: Sequence[Finding],
        attempts: Sequence[Attempt],
    ) -> None:
        """A case has been judged, its findings are confirmed or dismissed; called before its reports go out."""
