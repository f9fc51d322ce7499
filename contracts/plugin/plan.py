"""The plan of a run: what its options select, and what workers are told.

It declares the options to pytest, and the hooks for programs that embed runs.
"""

from __future__ import annotations

import os
import secrets
import shlex
import tempfile
from argparse import ArgumentError
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from types import MappingProxyType
from typing import Final, Protocol

import pytest
from _pytest.mark.expression import Expression

from contracts.checks.outcomes import Attempt, Confirmed
from contracts.errors import RegistryContractsError, SuiteError, UsageError, breakdown, suggestion
from contracts.evidence.record import Verdict
from contracts.evidence.run_folder import LATEST, new_folder
from contracts.evidence.terms import Terms, load_terms
from contracts.interface.catalogue import Clause, load_catalogue
from contracts.interface.description import load_description
from contracts.interface.location import cases_directory
from contracts.interface.profiles import Profile
from contracts.plugin.finding_again import choose_finding
from contracts.plugin.forecast import Forecast
from contracts.plugin.run_options import KEEP, RUN_OPTIONS, SEED, WAIT
from contracts.safe_text import complaint
from contracts.session.namespace import new_run_token
from contracts.session.shared_state import PRIVATE_PREFIX, private_parent
from contracts.settings.embedded_sandbox import EmbeddedSandbox, sandbox_target
from contracts.settings.guard import refuse_production_realm
from contracts.settings.settings_reader import load_target
from contracts.settings.target import DEVELOPMENT_REALMS, SANDBOX, Target

#: Requests of a run in all four realms. A run that passes needs about half of it; the rest is for confirming what
#: does not pass.
REQUEST_BUDGETS: Final[Mapping[Profile, int]] = MappingProxyType(
    {Profile.SMOKE: 1_000, Profile.GATE: 10_000, Profile.NIGHTLY: 40_000, Profile.FULL: 60_000}
)


def request_budget(target: Target, profile: Profile) -> int:
    """The requests that a run may send: what the settings say, or else what the profile allows."""
    return target.pace.request_budget or REQUEST_BUDGETS[profile]


#: The seed of profiles that must do the same thing twice.
FIXED_SEED = 1


@dataclass(frozen=True)
class Selection:
    """What a run judges.

    Attributes:
        target: Settings file or name; None for the variables or else the sandbox.
        realms, clauses, operations: Empty for all.
        sandbox_arguments: More options for the embedded sandbox; only where it is the target.
        terms: The consumer that the run is limited to, and the deviations accepted on the target.
    """

    target: str | None
    profile: Profile
    realms: tuple[str, ...]
    clauses: tuple[str, ...]
    operations: tuple[str, ...]
    seed: int
    strict: bool
    reports: Path
    sandbox_arguments: tuple[str, ...] = ()
    terms: Terms = field(default_factory=Terms)

    def judged(self, clauses: Iterable[Clause]) -> list[str]:
        """Ids of the clauses that the run judges."""
        consumer = self.terms.consumer
        return [
            clause.id
            for clause in clauses
            if (not self.clauses or clause.id in self.clauses)
            and (consumer is None or any(consumer.covers(clause, realm) for realm in clause.realms))
        ]


def pytest_addoption(parser: pytest.Parser) -> None:
    """Declare the options of a contract run."""
    group = parser.getgroup("contract", "registry contracts")
    for option in RUN_OPTIONS:
        try:
            group.addoption(option.flag, **option.for_pytest())
        except (ValueError, ArgumentError):
            other = "another plugin of pytest has an option of this name"
            raise pytest.UsageError(f"{option.flag}: {other}; leave it out with -p no:NAME") from None


@pytest.hookimpl(tryfirst=True)
def pytest_configure(config: pytest.Config) -> None:
    """Register the mark and read the options into a selection; what cannot be used is one clear line."""
    config.addinivalue_line("markers", "contract: a case of the contract suite; use contracts.cases.contract")
    config.addinivalue_line(
        "markers", "smoke: a contract case of the profile smoke; use contracts.cases.marks.smoke"
    )
    try:
        if not __debug__:
            raise UsageError(
                "Python leaves assertions out here; run it without -O and without PYTHONOPTIMIZE"
            )
        _check_places(config)
        _check_counts(config)
        _check_expressions(config)
        choose_finding(config)
        selection = read_selection(config)
        target = load_target(selection.target, os.environ, Path.cwd())
        _check_realms(selection.realms, target)
        selection = _limited_to_terms(config, selection, target)
        if config.getoption("--first"):
            config.option.maxfail = 1
        if config.getoption("--plan") and getattr(config.option, "numprocesses", None):
            raise UsageError("--plan needs no workers; take -n away")
        if selection.sandbox_arguments and target is not None:
            raise UsageError("--sandbox-arguments is for the embedded sandbox; take it or the target away")
        if config.getoption("--plan") and selection.sandbox_arguments:
            # Nothing else would read them where nothing is sent.
            EmbeddedSandbox(arguments=selection.sandbox_arguments).__enter__().stop()
    except RegistryContractsError as error:
        raise pytest.UsageError(complaint(error)) from None
    config.stash[SELECTION] = selection
    config.stash[TARGET] = target


#: The name of allure-pytest, which `-p no:` turns off.
ALLURE: Final = "allure_pytest"

#: Options with which pytest shows something and runs nothing, by their names in a configuration.
LISTING_OPTIONS: Final[Mapping[str, tuple[str, ...]]] = MappingProxyType(
    {
        "collectonly": ("--collect-only", "--co"),
        "help": ("--help", "-h"),
        "version": ("--version", "-V"),
        "showfixtures": ("--fixtures", "--funcargs"),
        "show_fixtures_per_test": ("--fixtures-per-test",),
        "markers": ("--markers",),
        "cacheshow": ("--cache-show",),
    }
)


def is_contract_run(config: pytest.Config) -> bool:
    """Whether the paths of the command hold contract cases, which are to be run and not just listed."""
    if any(config.getoption(option, None) for option in (*LISTING_OPTIONS, "--plan")):
        return False
    paths = [Path(str(argument).partition("::")[0]).resolve() for argument in config.args]
    cases = cases_directory()
    return any(path.is_relative_to(cases) or cases.is_relative_to(path) for path in paths)


def _check_places(config: pytest.Config) -> None:
    """Insist that the files and folders of cases are there, before anything is begun or written."""
    if config.getoption("pyargs", default=False) or hasattr(config, "workerinput"):
        return
    for argument in config.args:
        place = argument.partition("::")[0]
        if not (config.invocation_params.dir / place).exists():
            raise UsageError(
                f"there is no '{place}' to take cases from; choose with --clause, --operation or -k"
            )


def _check_counts(config: pytest.Config) -> None:
    """Insist that no count is negative: of run folders to keep, that would be none, the run's own included."""
    for option in (KEEP, WAIT, SEED):
        given = config.getoption(option.flag)
        if given is not None and int(given) < 0:
            raise UsageError(f"{option.flag} must be 0 or more, not {given}")


def _check_expressions(config: pytest.Config) -> None:
    """Insist that what chooses cases can be read, before anything is begun or written."""
    for flag, option in (("-k", "keyword"), ("-m", "markexpr")):
        text = config.getoption(option, default="") or ""
        try:
            Expression.compile(text)
        except SyntaxError as error:
            raise UsageError(
                f"{flag} '{text}' cannot be read at column {error.offset}: {error.msg}"
            ) from None


SELECTION = pytest.StashKey[Selection]()
#: The target that the settings name; None for the embedded sandbox.
TARGET = pytest.StashKey[Target | None]()


def read_selection(config: pytest.Config) -> Selection:
    """Read the selection from the options.

    Raises:
        UsageError: an unknown profile, clause or operation.
    """
    option = config.getoption
    catalogue, description = load_catalogue(), load_description()
    profile = Profile(_checked("profile", [option("--profile") or Profile.GATE], list(Profile))[0])
    return Selection(
        target=option("--target"),
        profile=profile,
        realms=tuple(option("--realm")),
        clauses=tuple(catalogue.clause(clause).id for clause in option("--clause")),
        operations=_checked("operation", option("--operation"), description.operations),
        seed=_seed(config, profile),
        # pytest has an option of this name; here it also means: no must clause left out for want of a setting.
        strict=bool(config.getini("strict")),
        reports=Path(option("--reports")),
        sandbox_arguments=tuple(shlex.split(option("--sandbox-arguments"))),
    )


def _seed(config: pytest.Config, profile: Profile) -> int:
    """The seed of the options, the controller's under xdist, or one that fits the profile."""
    workerinput = getattr(config, "workerinput", None)
    if workerinput and "contract_seed" in workerinput:
        return int(workerinput["contract_seed"])
    seed = config.getoption("--seed")
    if seed is not None:
        return int(seed)
    return FIXED_SEED if Profile.GATE.includes(profile) else secrets.randbelow(2**32)


def _checked(what: str, names: Iterable[str], known: Iterable[str]) -> tuple[str, ...]:
    """The names, all of which must be known ones."""
    for name in names:
        if name not in known:
            raise UsageError(f"unknown {what} '{name}'; {suggestion(name, known)}")
    return tuple(names)


def _check_realms(realms: tuple[str, ...], target: Target | None) -> None:
    for realm in realms:
        refuse_production_realm(realm)
    _checked("realm", realms, target.realms if target else DEVELOPMENT_REALMS)


def _limited_to_terms(config: pytest.Config, selection: Selection, target: Target | None) -> Selection:
    """Read the consumer file and the deviations; the consumer's realms limit the run's."""
    name = target.name if target else SANDBOX
    files = config.getoption("--consumer"), config.getoption("--deviations")
    terms = load_terms(*files, selection.target, name, Path.cwd())
    used = terms.consumer.realms if terms.consumer else ()
    if not terms.consumer or not used:
        return replace(selection, terms=terms)
    selected = selection.realms or (target.realms if target else DEVELOPMENT_REALMS)
    realms = tuple(realm for realm in selected if realm in used)
    if not realms:
        raise UsageError(
            f"{terms.consumer.file} uses {', '.join(used)}, but the run is for {', '.join(selected)}; "
            "name a realm that is in both"
        )
    return replace(selection, terms=terms, realms=realms)


class Sandbox(Protocol):
    """A sandbox that serves one run."""

    @property
    def base_url(self) -> str:
        """Where it answers."""

    @property
    def size_limit(self) -> int:
        """Largest upload it takes, in bytes; what the run was to ask for may be more than it can wait for."""

    def ask_to_end(self) -> None:
        """Tell it that nothing more is sent, and do not wait for its end."""

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
    def pytest_contract_case(
        self,
        item: pytest.Item,
        verdict: Verdict,
        reports: Sequence[pytest.TestReport],
        findings: Sequence[Confirmed],
        attempts: Sequence[Attempt],
    ) -> None:
        """A case has been judged, its findings are confirmed or dismissed; called before its reports go out."""


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
        private = tempfile.mkdtemp(prefix=PRIVATE_PREFIX, dir=private_parent())
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
