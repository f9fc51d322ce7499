"""Reads a case from its marks and parameters: clauses, realm, requests, permanent records, needed settings."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cache, cached_property, reduce
from operator import or_
from pathlib import Path
from typing import Any, Final

import pytest

from registry_contracts.cases.marks import Facts
from registry_contracts.checks.outcomes import Blocked
from registry_contracts.evidence.record import CaseBegun, Verdict
from registry_contracts.interface.catalogue import Level, load_catalogue
from registry_contracts.interface.description import operations_with
from registry_contracts.interface.location import cases_directory
from registry_contracts.interface.profiles import Profile
from registry_contracts.settings.target import ACCOUNT_ROLES, ANY_REALM, DEVELOPMENT_REALMS, Target

MARK: Final = "contract"
SMOKE: Final = "smoke"
_PERSISTING: Final = "persistTemporaryFile"
_REALMS: Final = (*DEVELOPMENT_REALMS, ANY_REALM)
_REALM: Final = re.compile("|".join(rf"\b{realm}\b" for realm in DEVELOPMENT_REALMS))


@dataclass(eq=False)
class Case:
    """A case in one realm.

    Attributes:
        id: The same in a checkout, in an installed wheel and in any working folder.
        facts: The content of its marks.
        clauses: The clauses of its marks; a case that sends generated faults also has the clauses on these.
        operation: Its parameter `operation`; empty without one.
        operations: What it exercises: its parameter, the operations of its marks, or those of its clauses.
        smoke: Arguments of the mark that puts it into the profile `smoke` in its realm; None without one.
        needs: Settings and accounts without which it sends nothing, as the catalogue names them.
        deals: Its inputs are distributed over its realms in the run.
        title, doc: Name and docstring of its function.
        rotated_here: A rotated case runs in one realm of a gate, and this is the one.
    """

    id: str
    realm: str
    facts: Facts = field(default_factory=Facts)
    clauses: tuple[str, ...] = ()
    operation: str = ""
    operations: tuple[str, ...] = ()
    smoke: Mapping[str, Any] | None = None
    needs: tuple[str, ...] = ()
    deals: bool = False
    title: str = ""
    doc: str = ""
    rotated_here: bool = False

    @cached_property
    def begun(self) -> CaseBegun:
        """The journal's record of its beginning."""
        return CaseBegun(
            id=self.id,
            name=self.title or self.id,
            realm=self.realm,
            clauses=self.clauses,
            operations=self.operations,
        )

    @cached_property
    def level(self) -> Level:
        """The strictest level of its clauses."""
        levels = {load_catalogue().clause(name).level for name in self.clauses}
        return next((level for level in Level if level in levels), Level.MUST)

    @cached_property
    def name(self) -> str:
        """Its id, the same for each realm."""
        return _REALM.sub("*", self.id)

    @property
    def function(self) -> str:
        """The id of its function."""
        return self.id.partition("[")[0]

    @property
    def cells(self) -> set[tuple[str, str]]:
        """Its clauses in its realm; none if it has no realm in the run."""
        return {(name, self.realm) for name in self.clauses} if self.realm in _REALMS else set()

    def sends(self, profile: Profile) -> tuple[float, float]:
        """Estimated requests in its realm, and in addition those that it distributes over its realms."""
        if profile is Profile.SMOKE and self.smoke and self.smoke["requests"] is not None:
            return self.smoke["requests"], 0
        if self.facts.nightly and profile.includes(Profile.NIGHTLY):
            return self.facts.nightly, 0
        return self.facts.requests, self.facts.dealt

    def lacks(self, target: Target) -> frozenset[str]:
        """Its needs that a target does not meet."""
        return frozenset(need for need in self.needs if target.missing(need, self.realm))


@dataclass(frozen=True)
class Ending:
    """How one attempt ended: a verdict before confirmation, why, and which settings were missing."""

    verdict: Verdict
    reason: str | None = None
    blocked: Blocked | None = None
    settings: tuple[str, ...] = ()


def is_case(item: pytest.Item) -> bool:
    """Whether an item is a case of the suite."""
    return item.get_closest_marker(MARK) is not None


_CASE = pytest.StashKey[Case]()


def case_of(item: pytest.Item) -> Case:
    """The case of an item; it is read once.

    Raises:
        RegistryContractsError: its marks name an unknown clause.
    """
    if _CASE not in item.stash:
        item.stash[_CASE] = _read(item)
    return item.stash[_CASE]


def _read(item: pytest.Item) -> Case:
    facts = reduce(or_, (mark.args[0] for mark in item.iter_markers(MARK)))
    catalogue, parameters = load_catalogue(), getattr(getattr(item, "callspec", None), "params", {})
    operation, realm = str(parameters.get("operation", "")), str(parameters.get("realm", ANY_REALM))
    of_clauses = (name for clause in facts.clauses for name in catalogue.clause(clause).operations)
    operations = (operation,) if operation else tuple(dict.fromkeys(facts.operations or of_clauses))
    faults = operations if facts.faults else ()
    covered = (clause.id for name in faults for clause in catalogue.by_operation(name) if clause.faults)
    if operation not in ("", _PERSISTING):
        facts = replace(facts, files=0)
    fixtures = set(getattr(item, "fixturenames", ()))
    return Case(
        f"{_file_of(item.path)}::{item.nodeid.partition('::')[2]}",
        realm,
        facts,
        tuple(dict.fromkeys([*facts.clauses, *covered])),
        operation,
        operations,
        _smoke_of(item, realm),
        tuple(_needs(facts, operations, fixtures)),
        deals=not fixtures.isdisjoint(("deal", "probe")),
        title=getattr(item, "originalname", item.name).removeprefix("test_").replace("_", " "),
        doc=" ".join((getattr(getattr(item, "function", None), "__doc__", None) or "").split()),
    )


@cache
def _file_of(path: Path) -> str:
    """The path below the folder of all cases; of a case from another folder the file name."""
    folder = cases_directory()
    return path.relative_to(folder).as_posix() if path.is_relative_to(folder) else path.name


def _smoke_of(item: pytest.Item, realm: str) -> Mapping[str, Any] | None:
    callspec = getattr(item, "callspec", None)
    own = str(callspec.id).removeprefix(realm).removeprefix("-") if callspec else ""
    marks = (mark.kwargs for mark in item.iter_markers(SMOKE))
    return next((mark for mark in marks if own in (mark["parameters"] or (own,))), None)


def _needs(facts: Facts, operations: tuple[str, ...], fixtures: set[str]) -> Iterator[str]:
    """Accounts of the case's fixtures, and settings of its mark or its clauses, without which it sends nothing."""
    of_clauses = (need for name in facts.clauses for need in load_catalogue().clause(name).needs)
    own = of_clauses if facts.needs is None else (f"realm.{name}" for name in facts.needs)
    needs = {need for need in own if not need.startswith("account.")}
    needs |= {f"account.{role}" for role in ACCOUNT_ROLES if role in fixtures}
    if {*operations} <= {*operations_with(family="contact")}:
        needs.add("realm.contact_schema")
    elif {*operations} <= {*operations_with(stores="submission")} and (
        "ordinary" in fixtures or facts.faults
    ):
        needs.add("realm.workflow_schema")
    yield from sorted(needs)
    if facts.files:
        yield "realm.temporary_files"
