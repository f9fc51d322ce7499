"""Hook specifications for programs that embed runs; `registry_contracts.plugin` declares them to pytest."""

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

    def stop(self) -> None:
        """End it; a second call does nothing."""


class ContractHooks:
    """Specifications; registered with pytest's plugin manager."""

    @pytest.hookspec(firstresult=True)
    def pytest_contract_sandbox(self, size_limit: int, arguments: Sequence[str]) -> Sandbox | None:
        """Return a sandbox for this run that already answers; None starts the embedded one as its own process.

        Args:
            size_limit: Largest upload that it accepts, in bytes.
            arguments: More options for it, as `--sandbox-arguments` gives them.
        """

    @pytest.hookspec(firstresult=True)
    def pytest_contract_target(self, target: Target) -> Target | None:
        """Return other settings for a sandbox that needs them; None leaves them unchanged."""

    @pytest.hookspec(firstresult=True)
    def pytest_contract_formats(self) -> Sequence[str] | None:
        """Return the report formats of this run (`registry_contracts.reports.writers.WRITERS`); None for all."""

    @pytest.hookspec
    def pytest_contract_case(
        self,
        item: pytest.Item,
        verdict: Verdict,
        reports: Sequence[pytest.TestReport],
        findings: Sequence[Finding],
        attempts: Sequence[Attempt],
    ) -> None:
        """Called when a case is judged and its findings are confirmed or dismissed, before its reports go out."""
