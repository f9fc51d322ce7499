"""Which cases run, and in which order: one item per realm (and operation) of a case.

Cases are selected by profile, options and consumer. First come those of the profile `smoke`, which find most for the
requests that they cost.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cache, lru_cache
from itertools import product
from pathlib import Path
from typing import Any, Final
from zlib import crc32

import pytest

from contracts.checks.table import UNIVERSAL
from contracts.errors import RegistryContractsError
from contracts.evidence.terms import Consumer
from contracts.interface.catalogue import Catalogue, Level, load_catalogue
from contracts.interface.description import load_description, operations_with
from contracts.interface.location import cases_directory
from contracts.interface.profiles import Profile
from contracts.plugin.forecast import Forecast, PlannedCase, without_realm
from contracts.plugin.plan import SELECTION, SMALL_LIMIT, TARGET, Selection, request_budget
from contracts.plugin.worker import WORKER
from contracts.session import used_up
from contracts.settings.embedded_sandbox import sandbox_target
from contracts.settings.target import ACCOUNT_ROLES, ANY_REALM, DEVELOPMENT_REALMS, DOCUMENT_REALMS, Target

MARK = "contract"
SMOKE = "smoke"
_PERSISTING: Final = "persistTemporaryFile"
_REALMS: Final = (*DEVELOPMENT_REALMS, ANY_REALM)
#: Pairs of clause and realm.
Cells = set[tuple[str, str]]
#: Why cases were left out, and the cells concerned; None for all of them.
Narrowing = tuple[str, list[list[str]] | None]
#: Reasons for cells that no case of this run can reach, by (clause, realm).
UNREACHED = pytest.StashKey[Mapping[tuple[str, str], str]]()
#: Where the selection leaves cases out.
NARROWED = pytest.StashKey[list[Narrowing]]()
_OFFERED = pytest.StashKey[list[pytest.Item]]()
#: Whether a case is in the profile `smoke`, in its realm.
_IN_SMOKE = pytest.StashKey[bool]()
#: Whether a case that a gate asks by turns has its turn in its realm; those of one function go round the realms.
_IN_TURN = pytest.StashKey[bool]()
#: Facts about a case are asked for many times while cases are chosen and ordered.
_kept: Final = lru_cache(maxsize=8192)


@_kept
def marks(item: pytest.Item) -> Sequence[pytest.Mark]:
    """The contract marks of a case: its own and those of its parameters."""
    return tuple(item.iter_markers(MARK))


def _most(item: pytest.Item, fact: str) -> Any:
    """The largest number that the marks of a case give for a fact."""
    return max((mark.kwargs[fact] or 0 for mark in marks(item)), default=0)


def _parameter(item: pytest.Item, name: str, default: str) -> str:
    callspec = getattr(item, "callspec", None)
    return str(callspec.params.get(name, default)) if callspec else default


@_kept
def clauses_of(item: pytest.Item) -> tuple[str, ...]:
    """Ids of the clauses an item tests, in the order declared."""
    clauses, catalogue = dict.fromkeys(declared_clauses(item)), load_catalogue()
    for operation in operations_of(item, catalogue) if _most(item, "faults") else ():
        clauses |= {clause.id: None for clause in catalogue.by_operation(operation) if clause.faults}
    return tuple(clauses)


def declared_clauses(item: pytest.Item) -> tuple[str, ...]:
    """Ids of the clauses that the marks of an item name."""
    return tuple(dict.fromkeys(clause for mark in marks(item) for clause in mark.kwargs["clauses"]))


def case_of(item: pytest.Item) -> str:
    """A case's id: the same from a checkout, from an installed wheel and from any working folder.

    A case of another folder, which only the table of clauses collects, goes by the name of its file.
    """
    return f"{_file_of(item.path)}::{item.nodeid.partition('::')[2]}"


@cache
def _file_of(path: Path) -> str:
    folder = cases_directory()
    return path.relative_to(folder).as_posix() if path.is_relative_to(folder) else path.name


@_kept
def realm_of(item: pytest.Item) -> str:
    """The realm an item runs in."""
    return _parameter(item, "realm", ANY_REALM)


def operations_of(item: pytest.Item, catalogue: Catalogue) -> tuple[str, ...]:
    """Operations an item exercises: its parameter, what its marks name, or those of its clauses."""
    if own := _parameter(item, "operation", ""):
        return (own,)
    named = [operation for mark in marks(item) for operation in mark.kwargs["operations"]]
    of_clauses = [name for clause in declared_clauses(item) for name in catalogue.clause(clause).operations]
    return tuple(dict.fromkeys(named or of_clauses))


def records_of(item: pytest.Item) -> int:
    """Permanent records that a case creates when it passes."""
    return int(_most(item, "records"))


def _files_of(item: pytest.Item) -> int:
    """Temporary files that a case uses up."""
    persists = _parameter(item, "operation", _PERSISTING) == _PERSISTING
    return int(_most(item, "files")) if persists else 0


def deals(item: pytest.Item) -> bool:
    """Whether what a case tries is dealt out among the realms of the run."""
    return not {"deal", "probe"}.isdisjoint(getattr(item, "fixturenames", ()))


def is_last(item: pytest.Item) -> bool:
    """Whether others have to run before a case: it uses up what they need, or builds on what they leave."""
    return bool(_most(item, "last"))


def requests_of(item: pytest.Item, profile: Profile = Profile.GATE) -> tuple[float, float]:
    """About how many requests a case sends in each realm, and how many it deals out among them besides."""
    mark = _smoke_of(item) if profile is Profile.SMOKE else None
    if mark and mark.kwargs["requests"] is not None:
        return mark.kwargs["requests"], 0
    nightly = _most(item, "nightly")
    if nightly and profile.includes(Profile.NIGHTLY):
        return nightly, 0
    return _most(item, "requests"), _most(item, "dealt")


@_kept
def _profile_of(item: pytest.Item) -> Profile:
    """The first profile that takes a case in."""
    first: Profile = min((mark.kwargs["profile"] for mark in marks(item)), key=list(Profile).index)
    return first


def _smoke_of(item: pytest.Item) -> pytest.Mark | None:
    """The mark that puts an item into `smoke`, whatever its realm."""
    callspec = getattr(item, "callspec", None)
    own = str(callspec.id).removeprefix(realm_of(item)).removeprefix("-") if callspec else ""
    marked = (mark for mark in item.iter_markers(SMOKE) if own in (mark.kwargs["parameters"] or (own,)))
    return next(marked, None)


def _is_of(item: pytest.Item, selection: Selection) -> bool:
    """Whether the profile of a selection takes a case in.

    A gate has to judge each must clause in each realm: what is not needed for that it asks in one realm by turns, and
    what can only be observed not at all, unless its clause is named.
    """
    profile = selection.profile
    if profile is Profile.SMOKE:
        return item.stash[_IN_SMOKE]
    if not profile.includes(_profile_of(item)):
        return False
    level = _level_of(item)
    if profile is not Profile.GATE or selection.clauses or (level is Level.MUST and not _most(item, "turns")):
        return True
    return level is not Level.SILENT and item.stash[_IN_TURN]


@_kept
def _level_of(item: pytest.Item) -> Level:
    """The strictest level of a case's clauses."""
    levels = {load_catalogue().clause(name).level for name in clauses_of(item)}
    return next((level for level in Level if level in levels), Level.MUST)


# Items.


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Give a case its realms, and its operations where it asks for them."""
    if not marks(metafunc.definition):
        return
    try:
        operations = operations_of(metafunc.definition, load_catalogue())
    except RegistryContractsError as error:
        raise pytest.UsageError(f"{metafunc.definition.nodeid}: {error}") from None
    realms = {name: list(_realms_of(name, metafunc.config)) for name in operations}
    if "operation" in metafunc.fixturenames:
        pairs = [(realm, name) for name in operations for realm in realms[name]]
        ids = [f"{realm}-{name}" for realm, name in pairs]
        metafunc.parametrize(("realm", "operation"), pairs, ids=ids)
    elif "realm" in metafunc.fixturenames:
        metafunc.parametrize("realm", list(dict.fromkeys(realm for of in realms.values() for realm in of)))


def _realms_of(operation: str, config: pytest.Config) -> Iterator[str]:
    """The realms of a run that have an operation."""
    target, selection = config.stash[TARGET], config.stash[SELECTION]
    has = load_description().operations[operation].realms
    if has == (ANY_REALM,):
        yield ANY_REALM
    for realm in target.realms if target else DEVELOPMENT_REALMS:
        if realm in has and (not selection.realms or realm in selection.realms):
            yield realm


@pytest.hookimpl(tryfirst=True, specname="pytest_collection_modifyitems")
def pytest_note_every_case(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Note every case, and whether it is in `smoke` and has its turn, before -k and the like take some away."""
    config.stash[_OFFERED] = offered = [item for item in items if marks(item)]
    cases: dict[str, dict[str, list[str]]] = {}
    for item in offered:
        name = without_realm(case_of(item))
        cases.setdefault(name.partition("[")[0], {}).setdefault(name, []).append(realm_of(item))
    for item in offered:
        name, mark = without_realm(case_of(item)), _smoke_of(item)
        function = name.partition("[")[0]
        own, turn = cases[function][name], crc32(function.encode()) + list(cases[function]).index(name)
        item.stash[_IN_SMOKE] = bool(mark and (mark.kwargs["every_realm"] or realm_of(item) == own[0]))
        item.stash[_IN_TURN] = realm_of(item) == own[turn % len(own)]


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Keep what the selection asks for; begin with `smoke`, and end with the cases that use things up."""
    selection = config.stash[SELECTION]
    reasons = {item: _reason_to_drop(item, selection) for item in items if marks(item)}
    if consumer := selection.terms.consumer:
        needed = _needed(consumer, [item for item, reason in reasons.items() if not reason])
        outside = f"outside {consumer.file}"
        reasons = {item: reason or (None if item in needed else outside) for item, reason in reasons.items()}
    kept = [item for item in items if not reasons.get(item)]
    unreached = {cell: why for item, why in reasons.items() if why for cell in _cells(item)}
    for cell in {cell for item in kept for cell in _cells(item)} & unreached.keys():
        del unreached[cell]
    config.stash[UNREACHED] = unreached
    config.stash[NARROWED] = _narrowings(config, kept)
    if len(kept) < len(items):
        config.hook.pytest_deselected(items=[item for item in items if reasons.get(item)])
    items[:] = sorted(kept, key=_place)
    if worker := config.stash.get(WORKER, None):
        worker.permanent_records.plan(_planned_records(items))


def _cells(item: pytest.Item) -> Cells:
    realm = realm_of(item)
    return {(clause, realm) for clause in clauses_of(item)} if marks(item) and realm in _REALMS else set()


def _reason_to_drop(item: pytest.Item, selection: Selection) -> str | None:
    if realm_of(item) not in _REALMS:
        return "in no realm of this run"  # pytest's stand-in for a case without parameters
    if not _is_of(item, selection):
        return f"out of the profile {selection.profile}"
    if selection.clauses and not set(selection.clauses) & set(clauses_of(item)):
        return "not selected by --clause"
    if selection.operations and not set(selection.operations) & set(operations_of(item, load_catalogue())):
        return "not selected by --operation"
    return None


def _needed(consumer: Consumer, items: list[pytest.Item]) -> set[pytest.Item]:
    """The cases that a consumer needs.

    A case is needed when it exercises an operation of the consumer's. One on another operation is needed too where
    it speaks of a clause that the consumer relies on and no case on the consumer's own operations does.
    """
    catalogue, offered = load_catalogue(), load_description().operations

    def relies(name: str, realm: str) -> bool:
        of_clause = catalogue.clause(name).operations
        here = [operation for operation in of_clause if realm in offered[operation].realms]
        return name not in UNIVERSAL and any(consumer.counts(name, realm, each) for each in here)

    direct = {
        item
        for item in items
        for operation in operations_of(item, catalogue)
        if any(consumer.counts(clause, realm, operation) for clause, realm in _cells(item))
    }
    judged = {cell for item in direct for cell in _cells(item)}
    return direct | {item for item in items if any(relies(*cell) for cell in _cells(item) - judged)}


def _narrowings(config: pytest.Config, kept: Iterable[pytest.Item]) -> list[Narrowing]:
    """Say where cases were left out, by options of the suite or of pytest itself.

    From the gate on, a profile takes in all that must be.
    """
    cases, selection = cases_directory(), config.stash[SELECTION]
    everything = any(cases.is_relative_to(Path(argument).resolve()) for argument in config.args)
    asked = {
        "the run is for what failed last": config.getoption("lf", default=False),
        "the command names some cases only": not everything,
        "the run stops at the first failures": config.getoption("maxfail", 0),
    }
    taken = set(kept)
    cells: Cells = set()
    for item in config.stash[_OFFERED]:
        if item not in taken and (selection.profile is Profile.SMOKE or _is_of(item, selection)):
            cells |= _cells(item)
    narrowed: list[Narrowing] = [(why, None) for why, holds in asked.items() if holds]
    if cells:
        cells |= set(product(UNIVERSAL, {realm for clause in load_catalogue() for realm in clause.realms}))
        narrowed.append(("cases were left out by the selection", [list(cell) for cell in sorted(cells)]))
    return narrowed


def _place(item: pytest.Item) -> tuple[int, float, bool]:
    """Where an item stands in the run, the lowest first.

    Cases that create permanent records run late: until then their places are room for requests that must be refused.
    Of the last ones, those that are long come first, so that no worker is left alone with one at the end.
    """
    if is_last(item):
        return 2, -sum(requests_of(item)), False
    return int(bool(records_of(item))), 0, not item.stash.get(_IN_SMOKE, False)


# What they will send and leave.

#: Permanent records that cases use together, by realm, and the setting without which there are none: a contact of each
#: realm serves the cases of all runs, two submissions those of one run.
_ARRANGED: Final = {
    **{f"[the kept contact of {realm}]": (realm, 1, "realm.contact_schema") for realm in DOCUMENT_REALMS},
    **{
        f"[submissions arranged in {realm}]": (realm, 2, "realm.workflow_schema")
        for realm in DEVELOPMENT_REALMS
    },
}


def _planned_records(items: Iterable[pytest.Item]) -> dict[str, tuple[str, int]]:
    """Permanent records that the cases of a run create when they pass, by the id of the case."""
    planned = {case_of(item): (realm_of(item), records_of(item)) for item in items if records_of(item)}
    return planned | {name: (realm, number) for name, (realm, number, _) in _ARRANGED.items()}


def forecasts(config: pytest.Config) -> dict[Profile, Forecast]:
    """What a run of each profile would send and leave, whatever profile was asked for."""
    told = {}
    for profile in Profile:
        selection = replace(config.stash[SELECTION], profile=profile)
        items = [item for item in config.stash[_OFFERED] if not _reason_to_drop(item, selection)]
        told[profile] = forecast(config, items, profile)
    return told


def forecast(config: pytest.Config, items: Iterable[pytest.Item], profile: Profile | None = None) -> Forecast:
    """What a run of these items will send and leave, and what it leaves untested.

    Args:
        profile: How far the run goes; None for the profile of this one.
    """
    selection = config.stash[SELECTION]
    profile = profile or selection.profile
    target, catalogue = config.stash[TARGET] or sandbox_target("", SMALL_LIMIT), load_catalogue()
    cases = [
        PlannedCase(
            case_of(item),
            realm_of(item),
            tuple(_spoken_of(item, catalogue)),
            *requests_of(item, profile),
            records=records_of(item),
            files=_files_of(item),
            deals=deals(item),
            needs=_needs_of(item, catalogue),
        )
        for item in items
        if marks(item)
    ]
    realms = {case.realm for case in cases}
    return Forecast(
        cases,
        target,
        catalogue,
        arranged=[
            (realm, number)
            for realm, number, need in _ARRANGED.values()
            if realm in realms and not target.missing(need, realm)
        ],
        files=_unused_files(config, target),
        counts=consumer.covers if (consumer := selection.terms.consumer) else None,
        # A run that was stopped while it collected has not selected anything.
        unreached=config.stash.get(UNREACHED, {}),
        budget=request_budget(target, profile),
    )


def _spoken_of(item: pytest.Item, catalogue: Catalogue) -> Iterator[str]:
    """The clauses that a case says something of with its own operation, where it has one."""
    operation = _parameter(item, "operation", "")
    for clause in map(catalogue.clause, clauses_of(item)):
        if not operation or operation in clause.operations:
            yield clause.id


def _needs_of(item: pytest.Item, catalogue: Catalogue) -> tuple[str, ...]:
    """Accounts and settings without which a case sends nothing, as the catalogue names them.

    The accounts are its fixtures; the settings are those of its clauses, unless its mark names them.
    """
    fixtures = set(getattr(item, "fixturenames", ()))
    own = [mark.kwargs["needs"] for mark in marks(item) if mark.kwargs["needs"] is not None]
    of_clauses = {need for name in declared_clauses(item) for need in catalogue.clause(name).needs}
    needs = {f"realm.{name}" for name in own[0]} if own else of_clauses
    needs = {need for need in needs if not need.startswith("account.")}
    needs |= {f"account.{role}" for role in ACCOUNT_ROLES if role in fixtures}
    operations = set(operations_of(item, catalogue))
    if operations <= {*operations_with(family="contact")}:
        needs.add("realm.contact_schema")
    elif operations <= {*operations_with(stores="submission")} and (
        "ordinary" in fixtures or _most(item, "faults")
    ):
        needs.add("realm.workflow_schema")
    return (*sorted(needs), *(["realm.temporary_files"] if _files_of(item) else []))


def _unused_files(config: pytest.Config, target: Target) -> dict[str, int]:
    """How many temporary files no run has used up yet, in each realm whose settings name some."""
    kept = config.stash[SELECTION].reports / used_up.FILE_NAME if config.stash[TARGET] else None
    used = used_up.UsedUp(kept, target.base_url)
    named = {realm: set(target.realm_settings(realm).temporary_files) for realm in target.realms}
    return {realm: len(files - used.of(realm)) for realm, files in named.items() if files}
