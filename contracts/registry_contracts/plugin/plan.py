"""What a run judges, by its options (`Selection`), and the facts that its workers share (`Plan`)."""

from __future__ import annotations

import ast
import os
import re
import secrets
import shlex
from argparse import ArgumentError
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType
from typing import Final

import pytest

from registry_contracts.errors import UsageError, refuse_empty_values, suggestion
from registry_contracts.evidence.terms import Terms, load_terms
from registry_contracts.file_formats import LARGEST_SEED
from registry_contracts.interface.catalogue import load_catalogue
from registry_contracts.interface.description import load_description
from registry_contracts.interface.location import cases_directory
from registry_contracts.interface.profiles import Profile
from registry_contracts.plugin.finding_again import choose_finding
from registry_contracts.plugin.run_options import RUN_OPTIONS, RUN_SETTINGS
from registry_contracts.safe_text import plain_line
from registry_contracts.session.transport_settings import check_transport_settings
from registry_contracts.settings.embedded_sandbox import (
    DEFAULT_SIZE_LIMIT,
    DOCUMENT_SIZE_LIMIT,
    sandbox_target,
)
from registry_contracts.settings.guard import refuse_production_realm
from registry_contracts.settings.settings_reader import load_target, refuse_sandbox_arguments
from registry_contracts.settings.target import DEVELOPMENT_REALMS, SANDBOX, Target

#: Requests of a run in all four realms. A run that passes needs about half; the rest is for confirming findings.
REQUEST_BUDGETS: Final[Mapping[Profile, int]] = MappingProxyType(
    {Profile.SMOKE: 1_000, Profile.GATE: 10_000, Profile.NIGHTLY: 40_000, Profile.FULL: 60_000}
)
#: The seed of the profiles that repeat the same requests in each run.
FIXED_SEED: Final = 1
#: Options with which pytest runs no tests, by their names in a configuration.
_LISTING: Final = (
    *("collectonly", "help", "version", "showfixtures", "show_fixtures_per_test", "markers", "cacheshow"),
    "--plan",
)
#: A name, number, quoted text or operator of `-k` and `-m`.
_WORD: Final = re.compile(r"""(?:"[^"]*"|'[^']*'|[^\s(),"'])+""")
_OPERATORS: Final = ("and", "or", "not")


def request_budget(target: Target, profile: Profile) -> int:
    """The requests that a run may send: what the settings say, or else what the profile allows."""
    return target.pace.request_budget or REQUEST_BUDGETS[profile]


@dataclass(frozen=True)
class Selection:
    """What a run judges.

    Attributes:
        target: Settings file or name; None for the variables or else the sandbox.
        clauses, operations: Empty for all.
        sandbox_arguments: More options for the embedded sandbox; only where it is the target.
        terms: The consumer that the run is limited to, and the deviations accepted on the target.
        settings: The target that these name; None for the embedded sandbox.
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
    settings: Target | None = None

    @property
    def name(self) -> str:
        """The name of the target."""
        return self.settings.name if self.settings else SANDBOX

    @property
    def size_limit(self) -> int:
        """Largest upload that the embedded sandbox takes, in bytes: a small one makes its clause cheap to judge."""
        return DOCUMENT_SIZE_LIMIT if self.profile is Profile.FULL else DEFAULT_SIZE_LIMIT

    def aim(self, sandbox_url: str | None = None) -> Target:
        """The target; `sandbox_url` is the address of the embedded sandbox."""
        return self.settings or sandbox_target(sandbox_url or "", self.size_limit)

    @property
    def judged(self) -> list[str]:
        """Ids of the clauses that the run judges."""
        consumer = self.terms.consumer
        return [
            clause.id
            for clause in load_catalogue()
            if (not self.clauses or clause.id in self.clauses)
            and any(consumer.covers(clause, realm) for realm in clause.realms)
        ]


SELECTION = pytest.StashKey[Selection]()


def pytest_addoption(parser: pytest.Parser) -> None:
    """Declare the options of a contract run."""
    group = parser.getgroup("contract", "registry contracts")
    for option in RUN_OPTIONS:
        try:
            group.addoption(option.flag, **option.for_pytest())
        except (ValueError, ArgumentError):
            other = "another plugin of pytest has an option of this name"
            raise pytest.UsageError(f"{option.flag}: {other}; leave it out with -p no:NAME") from None


def is_contract_run(config: pytest.Config) -> bool:
    """Whether contract cases run and are not just listed: the suite's own, or any if a target is named."""
    if any(config.getoption(option, None) for option in _LISTING):
        return False
    asked = config.getoption("--registry-contracts", default=False) or config.inipath == RUN_SETTINGS
    if asked or config.getoption("--target") is not None:
        return True
    paths = [Path(str(argument).partition("::")[0]).resolve() for argument in config.args]
    cases = cases_directory()
    return any(path.is_relative_to(cases) or cases.is_relative_to(path) for path in paths)


def read_selection(config: pytest.Config) -> Selection:
    """Read the options of a run, and set the paths that pytest collects from.

    Raises:
        RegistryContractsError: they cannot be used.
    """
    if not __debug__:
        raise UsageError("Python ignores assertions here; run it without -O and without PYTHONOPTIMIZE")
    _check_values(config)
    config.args[:] = choose_finding(config, _paths_of(config))
    option, description = config.getoption, load_description()
    profile = Profile(_checked("profile", [option("--profile") or Profile.GATE], list(Profile))[0])
    clauses = tuple(load_catalogue().clause(clause).id for clause in option("--clause"))
    operations = _checked("operation", option("--operation"), description.operations)
    settings, arguments = (
        load_target(option("--target"), os.environ, Path.cwd()),
        option("--sandbox-arguments"),
    )
    refuse_sandbox_arguments(settings, arguments)
    check_transport_settings(settings or Target(SANDBOX, "http://127.0.0.1"))
    offered = settings.realms if settings else DEVELOPMENT_REALMS
    for realm in option("--realm"):
        refuse_production_realm(realm)
    realms = _checked("realm", option("--realm"), offered) or offered
    files, name = (option("--consumer"), option("--deviations")), settings.name if settings else SANDBOX
    terms = load_terms(*files, option("--target"), name, Path.cwd())
    if option("--plan") and getattr(config.option, "numprocesses", None):
        raise UsageError("--plan needs no workers; leave -n out")
    return Selection(
        target=option("--target"),
        profile=profile,
        realms=_limited(terms, realms),
        clauses=clauses,
        operations=operations,
        seed=_seed_of(profile) if option("--seed") is None else option("--seed"),
        # pytest's own option; here it also means that no must clause may lack a setting.
        strict=bool(config.getini("strict")),
        reports=Path(option("--reports")),
        sandbox_arguments=tuple(shlex.split(arguments)),
        terms=terms,
        settings=settings,
    )


def _seed_of(profile: Profile) -> int:
    return FIXED_SEED if Profile.GATE.includes(profile) else secrets.randbelow(2**32)


def _paths_of(config: pytest.Config) -> list[str]:
    """Paths of the command line to collect from; a named file replaces the folder of all cases."""
    cases, named = str(cases_directory()), config.args_source is pytest.Config.ArgsSource.ARGS
    if config.getoption("--registry-contracts", default=False) and not named:
        return [cases]
    return config.args[1:] if config.args[1:] and config.args[0] == cases else config.args


def _check_values(config: pytest.Config) -> None:
    """Refuse option values, before the run begins, that pytest would refuse only later."""
    with_value = [option for option in RUN_OPTIONS if not (option.switch or option.repeatable)]
    given = [f"{option.flag}={config.getoption(option.flag)}" for option in with_value]
    refuse_empty_values(given, [option.flag for option in with_value])
    for option in (option for option in RUN_OPTIONS if option.integer):
        given = config.getoption(option.flag)
        if given is not None and not 0 <= int(given) <= LARGEST_SEED:
            raise UsageError(f"{option.flag} must be from 0 to {LARGEST_SEED}, not {plain_line(str(given))}")
    limited = config.getoption("max_warnings") is not None or config.getini("max_warnings")
    if limited and is_contract_run(config):
        raise UsageError(
            "--max-warnings cannot be used in a contract run, where exit code 6 means inconclusive; remove it from the "
            "command, PYTEST_ADDOPTS or pytest's settings file"
        )
    for choosing in ("-k", "-m"):
        _check_expression(choosing, config.getoption(choosing, ""))
    if config.getoption("pyargs", default=False) or hasattr(config, "workerinput"):
        return
    for argument in config.args:
        place = argument.partition("::")[0]
        if not (config.invocation_params.dir / place).exists():
            raise UsageError(
                f"there is no '{place}' to take cases from; choose with --clause, --operation or -k"
            )


def _check_expression(option: str, expression: str) -> None:
    """Refuse an expression that pytest could not parse when it selects items."""
    as_names = _WORD.sub(lambda word: word[0] if word[0] in _OPERATORS else "name", expression)
    try:
        ast.parse(as_names.strip() or "name", mode="eval")
    except SyntaxError:
        raise UsageError(f"Wrong expression passed to '{option}': {expression}") from None


def _checked(what: str, names: Iterable[str], known: Iterable[str]) -> tuple[str, ...]:
    """The names, all of them known.

    Raises:
        UsageError: one is unknown.
    """
    for name in names:
        if name not in known:
            raise UsageError(f"unknown {what} '{name}'; {suggestion(name, known)}")
    return tuple(names)


def _limited(terms: Terms, realms: tuple[str, ...]) -> tuple[str, ...]:
    """The realms of a run that its consumer uses.

    Raises:
        UsageError: there is none.
    """
    used = terms.consumer.realms
    limited = tuple(realm for realm in realms if realm in used or not used)
    if used and not limited:
        raise UsageError(
            f"{terms.consumer.file} uses {', '.join(used)}, but the run is for {', '.join(realms)}; "
            "name a realm that is in both"
        )
    return limited


@dataclass(frozen=True)
class Plan:
    """Facts of a run that its workers share; JSON-able, without secrets.

    Attributes:
        folder: Run folder in the reports.
        private: Folder (0700) outside the reports for tokens and pace.
        sandbox_url: Base URL of the embedded sandbox; None for a target of the settings.
        seed: The controller's; workers would draw others.
    """

    folder: str
    private: str
    token: str
    started: str
    sandbox_url: str | None
    seed: int
