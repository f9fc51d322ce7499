"""The plan of a run, made by the controller and sent to its workers, and the hooks for programs that embed runs."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from typing import Any, Protocol

import pytest

from contracts.cases.marks import Profile
from contracts.checks.outcomes import Confirmed
from contracts.errors import SuiteError, UsageError, breakdown
from contracts.evidence.run_folder import LATEST, new_folder
from contracts.plugin.forecast import Forecast
from contracts.plugin.selection import Selection
from contracts.session.namespace import new_run_token
from contracts.session.private_folder import PRIVATE_PREFIX
from contracts.settings.embedded_sandbox import sandbox_target
from contracts.settings.target import Target


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
    def pytest_contract_target(self, target: Target) -> Target | None:
        """Name the settings of a sandbox that needs others than the embedded one; None leaves them as they are.

        Args:
            target: The settings that the run has so far.
        """

    @pytest.hookspec(firstresult=True)
    def pytest_contract_formats(self) -> Sequence[str] | None:
        """Name the report formats this run writes (`contracts.reports.writers.WRITERS`); None for all of them."""

    @pytest.hookspec
    def pytest_contract_forecasts(self, forecasts: Mapping[Profile, Forecast]) -> None:
        """A plan was made and nothing is sent; called with what a run of each profile would cost."""

    @pytest.hookspec
    def pytest_contract_finding(self, item: pytest.Item, finding: Confirmed) -> None:
        """A case found a contradiction; called once it is confirmed or dismissed."""


def pytest_addhooks(pluginmanager: pytest.PytestPluginManager) -> None:
    """Declare the hooks."""
    pluginmanager.add_hookspecs(ContractHooks)


#: The true limit of the interface document, which the sandbox enforces in the profile `full`.
ONE_GIGABYTE = 1024**3
#: A small limit makes the clause cheap to judge on the embedded sandbox.
SMALL_LIMIT = 6 * 1024**2


@dataclass(frozen=True)
class Plan:
    """Facts of a run that its workers share; JSON-able, without secrets.

    Attributes:
        folder: Run folder in the reports.
        private: Folder (0700) outside the reports for tokens and pace.
        sandbox_url: Base URL of the embedded sandbox; None for a target of the settings.
    """

    folder: str
    private: str
    token: str
    started: str
    sandbox_url: str | None
    size_limit: int

    def as_input(self) -> dict[str, Any]:
        """The plan as xdist can send it."""
        return asdict(self)

    def target(self, settings: Target | None) -> Target:
        """The target to aim at."""
        if self.sandbox_url is None and settings is not None:
            return settings
        return sandbox_target(self.sandbox_url or "", self.size_limit)


def make_plan(
    selection: Selection, settings: Target | None, start: Callable[[int, tuple[str, ...]], Sandbox]
) -> tuple[Plan, Sandbox | None]:
    """Create the run's folders and start the embedded sandbox when it is the target.

    Args:
        start: Starts the sandbox with a largest upload in bytes and more options.

    Raises:
        UsageError: the reports folder cannot be written, or the sandbox is not installed.
        SuiteError: the sandbox does not start.
    """
    token = new_run_token()
    now = datetime.now(UTC)
    name = settings.name if settings else "sandbox"
    folder = new_folder(selection.reports, f"{name}-{token}", "write reports to", at=now)
    limit = ONE_GIGABYTE if selection.profile is Profile.FULL else SMALL_LIMIT
    try:
        sandbox = start(limit, selection.sandbox_arguments) if settings is None else None
        # The last step, so that nothing that fails leaves it behind.
        private = tempfile.mkdtemp(prefix=PRIVATE_PREFIX)
    except UsageError:
        folder.rmdir()
        raise
    except (SuiteError, OSError) as error:
        folder.rmdir()
        # There is no newest run, and an older one must not be taken for it.
        (folder.parent / LATEST).unlink(missing_ok=True)
        raise SuiteError(f"the run cannot begin: {breakdown(error)}") from error
    url = sandbox.base_url if sandbox else None
    taken = sandbox.size_limit if sandbox else limit
    return Plan(str(folder), private, token, now.isoformat(), url, taken), sandbox
