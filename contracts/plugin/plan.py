"""What a run judges, by its options, and its plan, which workers are told."""

from __future__ import annotations

import os
import secrets
import shlex
import tempfile
from argparse import ArgumentError
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from types import MappingProxyType
from typing import Final

import pytest

from contracts.errors import RegistryContractsError, SuiteError, UsageError, breakdown, suggestion
from contracts.evidence.run_comparison import Comparison
from contracts.evidence.run_folder import forget_latest, new_folder
from contracts.evidence.terms import Terms, load_terms
from contracts.interface.catalogue import Clause, load_catalogue
from contracts.interface.description import load_description
from contracts.interface.location import cases_directory
from contracts.interface.profiles import Profile
from contracts.plugin.finding_again import choose_finding
from contracts.plugin.hooks import Sandbox
from contracts.plugin.run_options import KEEP, RUN_OPTIONS, SEED, WAIT
from contracts.safe_text import complaint
from contracts.session.namespace import new_run_token
from contracts.session.shared_state import PRIVATE_PREFIX
from contracts.session.way import check_way
from contracts.settings.embedded_sandbox import sandbox_target
from contracts.settings.guard import refuse_production_realm
from contracts.settings.settings_reader import load_target
from contracts.settings.target import DEVELOPMENT_REALMS, SANDBOX, Target

#: Requests of a run in all four realms. A run that passes needs about half of it; the rest is for confirming what
#: does not pass.
REQUEST_BUDGETS: Final[Mapping[Profile, int]] = MappingProxyType(
    {Profile.SMOKE: 1_000, Profile.GATE: 10_000, Profile.NIGHTLY: 40_000, Profile.FULL: 60_000}
)
#: The seed of profiles that must do the same thing twice.
FIXED_SEED: Final = 1
#: The true limit of the interface document, which the sandbox enforces in the profile `full`.
ONE_GIGABYTE: Final = 1024**3
#: A small limit makes the clause cheap to judge on the embedded sandbox.
SMALL_LIMIT: Final = 6 * 1024**2
#: The name of allure-pytest, which `-p no:` turns off.
ALLURE: Final = "allure_pytest"
#: Options with which nothing is run, by their names in a configuration.
_LISTING: Final = (
    *("collectonly", "help", "version", "showfixtures", "show_fixtures_per_test", "markers", "cacheshow"),
    "--plan",
)


def request_budget(target: Target, profile: Profile) -> int:
    """The requests that a run may send: what the settings say, or else what the profile allows."""
    return target.pace.request_budget or REQUEST_BUDGETS[profile]


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


SELECTION = pytest.StashKey[Selection]()
#: The target that the settings name; None for the embedded sandbox.
TARGET = pytest.StashKey[Target | None]()
#: What the run is compared with.
COMPARISON = pytest.StashKey[Comparison]()


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
    """Register the marks and read the options into a selection; what cannot be used is one clear line."""
    for mark, words in (("contract", "a case of the contract suite"), ("smoke", "one of the profile smoke")):
        config.addinivalue_line("markers", f"{mark}: {words}; use contracts.cases.marks.{mark}")
    try:
        if not __debug__:
            raise UsageError(
                "Python leaves assertions out here; run it without -O and without PYTHONOPTIMIZE"
            )
        _check_words(config)
        choose_finding(config)
        selection = _read_selection(config)
        target = load_target(selection.target, os.environ, Path.cwd())
        check_way(target or Target(SANDBOX, "http://127.0.0.1"))
        for realm in selection.realms:
            refuse_production_realm(realm)
        _checked("realm", selection.realms, target.realms if target else DEVELOPMENT_REALMS)
        config.stash[SELECTION] = selection = _limited_to_terms(config, selection, target)
        config.stash[TARGET] = target
        config.stash[COMPARISON] = Comparison.of_options(
            target.name if target else SANDBOX,
            selection.reports,
            *map(config.getoption, ("--drift", "--baseline", "--history")),
        )
        if selection.sandbox_arguments and target is not None:
            raise UsageError("--sandbox-arguments is for the embedded sandbox; take it or the target away")
        if config.getoption("--plan") and getattr(config.option, "numprocesses", None):
            raise UsageError("--plan needs no workers; take -n away")
    except RegistryContractsError as error:
        raise pytest.UsageError(complaint(error)) from None


def is_contract_run(config: pytest.Config) -> bool:
    """Whether contract cases are to be run and not just listed: the suite's own, or any where a target is named."""
    if any(config.getoption(option, None) for option in _LISTING):
        return False
    if config.getoption("--target") is not None:
        return True
    paths = [Path(str(argument).partition("::")[0]).resolve() for argument in config.args]
    cases = cases_directory()
    return any(path.is_relative_to(cases) or cases.is_relative_to(path) for path in paths)


def _check_words(config: pytest.Config) -> None:
    """Insist that what pytest would refuse later can be used, before anything is begun or written."""
    for option in (KEEP, WAIT, SEED):
        given = config.getoption(option.flag)
        if given is not None and int(given) < 0:
            raise UsageError(f"{option.flag} must be 0 or more, not {given}")
    # -k and -m are read where items are chosen: here of none.
    marks = config.pluginmanager.get_plugin("mark")
    if marks is not None:
        marks.pytest_collection_modifyitems(items=[], config=config)
    if config.getoption("pyargs", default=False) or hasattr(config, "workerinput"):
        return
    for argument in config.args:
        place = argument.partition("::")[0]
        if not (config.invocation_params.dir / place).exists():
            raise UsageError(
                f"there is no '{place}' to take cases from; choose with --clause, --operation or -k"
            )


def _read_selection(config: pytest.Config) -> Selection:
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
    given = getattr(config, "workerinput", {}).get("contract_seed", config.getoption("--seed"))
    if given is not None:
        return int(given)
    return FIXED_SEED if Profile.GATE.includes(profile) else secrets.randbelow(2**32)


def _checked(what: str, names: Iterable[str], known: Iterable[str]) -> tuple[str, ...]:
    """The names, all of which must be known ones."""
    for name in names:
        if name not in known:
            raise UsageError(f"unknown {what} '{name}'; {suggestion(name, known)}")
    return tuple(names)


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
    token, now = new_run_token(), datetime.now(UTC)
    name = settings.name if settings else SANDBOX
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
        forget_latest(folder.parent)
        raise SuiteError(f"the run cannot begin: {breakdown(error)}") from error
    url = sandbox.base_url if sandbox else None
    taken = sandbox.size_limit if sandbox else limit
    return Plan(str(folder), private, token, now.isoformat(), url, taken), sandbox
