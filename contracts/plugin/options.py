"""The selection that the options of a run make, and the share of the target's pace that a shard may use."""

from __future__ import annotations

import difflib
import os
import secrets
import shlex
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import MappingProxyType
from typing import Final

import pytest

from contracts.cases.marks import Profile
from contracts.errors import RegistryContractsError, UsageError
from contracts.evidence.terms import Terms
from contracts.evidence.terms_files import load_terms
from contracts.interface.catalogue import Clause, load_catalogue
from contracts.interface.description import load_description
from contracts.plugin.sharding import ShardNumber, read_shard_number
from contracts.settings.lookup import load_target
from contracts.settings.target import DEVELOPMENT_REALMS, PRODUCTION_REALMS, SANDBOX, Target

#: Requests of a run in all four realms. A run that passes needs about half of it; the rest is for confirming what
#: does not pass.
REQUEST_BUDGETS: Final[Mapping[Profile, int]] = MappingProxyType(
    {Profile.SMOKE: 1_000, Profile.GATE: 10_000, Profile.NIGHTLY: 40_000, Profile.FULL: 60_000}
)


def request_budget(target: Target, profile: Profile) -> int:
    """The requests that a run may send: what the settings say, or else what the profile allows."""
    return target.pace.request_budget or REQUEST_BUDGETS[profile]


def share_of(target: Target, profile: Profile, part: ShardNumber) -> Target:
    """Return the target as one shard may treat it: all of them together keep the pace and the budget of a run.

    Permanent records need no dividing: the cases that make them in one realm are all in one shard.

    Raises:
        UsageError: there are more shards than the target takes requests at once.
    """
    pace = target.pace
    if part.of > pace.concurrency:
        raise UsageError(
            f"--shard {part}: the target takes {pace.concurrency} requests at once (setting pace.concurrency), "
            "one for each shard at least; make fewer shards"
        )
    rate = pace.requests_per_second
    shared = replace(
        pace,
        requests_per_second=rate and rate / part.of,
        concurrency=pace.concurrency // part.of,
        request_budget=request_budget(target, profile) // part.of or 1,
    )
    return replace(target, pace=shared)


#: The seed of profiles that must do the same thing twice.
FIXED_SEED = 1


@dataclass(frozen=True)
class Selection:
    """What a run is asked to judge.

    Attributes:
        target: Settings file or name; None for the variables or else the sandbox.
        realms, clauses, operations: Empty for all.
        sandbox_arguments: More options for the embedded sandbox; only where it is the target.
        terms: The consumer that the run is limited to, and the deviations accepted on the target.
        shard: Which part of the cases to run; None for all of them.
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
    shard: ShardNumber | None = None

    def judged(self, clauses: Iterable[Clause]) -> list[str]:
        """Ids of the clauses that the run is asked to judge."""
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
    add = group.addoption
    add(
        "--target",
        metavar="FILE|NAME",
        help="target settings; without: REGISTRY_… variables, else the sandbox",
    )
    add("--profile", metavar="PROFILE", default="gate", help="smoke, gate (default), nightly or full")
    add(
        "--realm", metavar="REALM", action="append", default=[], help="judge only this realm; may be repeated"
    )
    add("--clause", metavar="ID", action="append", default=[], help="judge only this clause; may be repeated")
    add("--operation", metavar="ID", action="append", default=[], help="only this operation; may be repeated")
    add("--seed", metavar="N", type=int, help="seed of generated data; by default fixed in smoke and gate")
    add(
        "--sandbox-arguments",
        metavar="WORDS",
        default="",
        help="more options for the embedded sandbox, such as '--variant list-docs'",
    )
    add(
        "--consumer",
        metavar="FILE",
        help="judge only what an SDK uses: a TOML file that names operations or methods",
    )
    add(
        "--deviations",
        metavar="FILE",
        help="contradictions accepted on the target; default: deviations/<target>.toml, where it is there",
    )
    add(
        "--shard",
        metavar="N/M",
        help="run one of M parts of the cases; `registry-contracts merge` puts the reports together",
    )
    add("--reports", metavar="DIR", default="reports", help="folder for the evidence; default: reports")


@pytest.hookimpl(tryfirst=True)
def pytest_configure(config: pytest.Config) -> None:
    """Register the mark and turn what the person asked for into a selection, or into one clear line."""
    config.addinivalue_line(
        "markers", "contract: a case of the contract suite; use contracts.cases.marks.contract"
    )
    try:
        selection = read_selection(config)
        target = load_target(selection.target, os.environ, Path.cwd())
        _check_realms(selection.realms, target)
        selection = _held_to_terms(config, selection, target)
        _check_sandbox_arguments(selection, target)
        if target is not None and selection.shard is not None:
            target = share_of(target, selection.profile, selection.shard)
    except RegistryContractsError as error:
        raise pytest.UsageError(str(error)) from None
    config.stash[SELECTION] = selection
    config.stash[TARGET] = target


SELECTION = pytest.StashKey[Selection]()
#: The target that the settings name; None for the embedded sandbox.
TARGET = pytest.StashKey[Target | None]()


def read_selection(config: pytest.Config) -> Selection:
    """The selection that the options ask for.

    Raises:
        UsageError: an unknown profile, realm, clause or operation.
    """
    option = config.getoption
    catalogue, description = load_catalogue(), load_description()
    profile = _known("profile", [option("--profile")], list(Profile))[0]
    operations = _known("operation", option("--operation"), list(description.operations))
    clauses = tuple(catalogue.clause(clause).id for clause in option("--clause"))
    return Selection(
        target=option("--target"),
        profile=Profile(profile),
        realms=tuple(option("--realm")),
        clauses=clauses,
        operations=operations,
        seed=_seed(config, Profile(profile)),
        # pytest has an option of this name; here it also means: no must clause left out for want of a setting.
        strict=bool(config.getini("strict")),
        reports=Path(option("--reports")),
        sandbox_arguments=tuple(shlex.split(option("--sandbox-arguments"))),
        shard=_shard(config, Profile(profile)),
    )


def _shard(config: pytest.Config, profile: Profile) -> ShardNumber | None:
    asked = config.getoption("--shard")
    if asked is None:
        return None
    part = read_shard_number(asked)
    if config.getoption("--seed") is None and not Profile.GATE.includes(profile):
        raise UsageError(
            f"--shard {part} with the profile {profile} needs --seed: all shards have to make the same data"
        )
    return part


def _seed(config: pytest.Config, profile: Profile) -> int:
    """The seed asked for, the controller's under xdist, or one that fits the profile."""
    workerinput = getattr(config, "workerinput", None)
    if workerinput and "contract_seed" in workerinput:
        return int(workerinput["contract_seed"])
    asked = config.getoption("--seed")
    if asked is not None:
        return int(asked)
    return FIXED_SEED if Profile.GATE.includes(profile) else secrets.randbelow(2**32)


def _known(what: str, asked: list[str], known: list[str]) -> tuple[str, ...]:
    for name in asked:
        if name not in known:
            close = difflib.get_close_matches(name, known, n=1)
            hint = f"did you mean '{close[0]}'?" if close else f"known: {', '.join(known)}"
            raise UsageError(f"unknown {what} '{name}'; {hint}")
    return tuple(asked)


def _check_realms(asked: tuple[str, ...], target: Target | None) -> None:
    for realm in asked:
        if realm in PRODUCTION_REALMS:
            raise UsageError(f"'{realm}' is a production realm, which is refused; use {realm}-dev")
    realms = list(target.realms if target else DEVELOPMENT_REALMS)
    _known("realm", list(asked), realms)


def _held_to_terms(config: pytest.Config, selection: Selection, target: Target | None) -> Selection:
    """Read the consumer file and the deviations; the consumer's realms limit the run's."""
    name = target.name if target else SANDBOX
    files = config.getoption("--consumer"), config.getoption("--deviations")
    terms = load_terms(*files, selection.target, name, Path.cwd())
    used = terms.consumer.realms if terms.consumer else ()
    if not terms.consumer or not used:
        return replace(selection, terms=terms)
    offered = target.realms if target else DEVELOPMENT_REALMS
    asked = selection.realms or offered
    realms = tuple(realm for realm in asked if realm in used)
    if not realms:
        raise UsageError(
            f"{terms.consumer.file} uses {', '.join(used)}, but the run is asked for {', '.join(asked)}; "
            "name a realm that is in both"
        )
    return replace(selection, terms=terms, realms=realms)


def _check_sandbox_arguments(selection: Selection, target: Target | None) -> None:
    if selection.sandbox_arguments and target is not None:
        raise UsageError("--sandbox-arguments is for the embedded sandbox; take it or the target away")
