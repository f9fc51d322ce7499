"""Which cases run, and in which order: one item per realm (and operation) of a case.

Cases are selected by profile, options and consumer. First come those of the profile `smoke`, which find most for the
requests that they cost.
"""

from __future__ import annotations

import time
from collections.abc import Generator, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from functools import cache, lru_cache
from itertools import product
from pathlib import Path
from typing import Final

import pytest

from contracts.checks.table import UNIVERSAL
from contracts.errors import RegistryContractsError
from contracts.evidence.terms import Consumer
from contracts.interface.catalogue import Catalogue, load_catalogue
from contracts.interface.description import Description, load_description, operations_with
from contracts.interface.location import cases_directory
from contracts.interface.profiles import Profile
from contracts.plugin.forecast import Forecast, PlannedCase, without_realm
from contracts.plugin.plan import SELECTION, SMALL_LIMIT, TARGET, Selection, request_budget
from contracts.plugin.worker import WORKER
from contracts.session import used_up
from contracts.settings.embedded_sandbox import sandbox_target
from contracts.settings.target import ACCOUNT_ROLES, ANY_REALM, DEVELOPMENT_REALMS, DOCUMENT_REALMS, Target

#: A case with its clauses, its operations and its realm.
Facts = tuple[pytest.Item, tuple[str, ...], tuple[str, ...], str]


def outside(consumer: Consumer | None, cases: Iterable[Facts]) -> set[str]:
    """Return the node ids of the cases that a consumer does not need; without a consumer, none.

    A case is needed when it exercises an operation of the consumer's. One on another operation is needed too where
    it speaks of a clause that the consumer relies on and no case on the consumer's own operations does.
    """
    if consumer is None:
        return set()
    listed = list(cases)
    direct = [case for case in listed if _concerns(consumer, case)]
    judged = {(clause, realm) for _, clauses, _, realm in direct for clause in clauses}
    taken = {item.nodeid for item, *_ in direct}
    for item, clauses, _, realm in listed:
        if any((name, realm) not in judged and _relies(consumer, name, realm) for name in clauses):
            taken.add(item.nodeid)
    return {item.nodeid for item, *_ in listed} - taken


def _concerns(consumer: Consumer, case: Facts) -> bool:
    _, clauses, operations, realm = case
    return any(consumer.counts(clause, realm, operation) for clause in clauses for operation in operations)


def _relies(consumer: Consumer, name: str, realm: str) -> bool:
    """Whether the clause speaks, in the realm, of an operation of the consumer's; what every exchange shows aside."""
    offered = load_description().operations
    return name not in UNIVERSAL and any(
        realm in offered[operation].realms and consumer.counts(name, realm, operation)
        for operation in load_catalogue().clause(name).operations
    )


#: Pairs of clause and realm.
Cells = set[tuple[str, str]]
#: Why cases were left out, and the cells concerned; None for all of them.
Narrowing = tuple[str, list[list[str]] | None]


def narrowings(config: pytest.Config, left_out: Iterable[Cells]) -> list[Narrowing]:
    """Say where cases were left out, by options of the suite or of pytest itself.

    Args:
        config: The session's settings.
        left_out: The cells of each case that was left out.
    """
    narrowed: list[Narrowing] = []
    if config.getoption("lf", default=False):
        narrowed.append(("the run is for what failed last", None))
    if not _all_asked_for(config):
        narrowed.append(("the command names some cases only", None))
    if config.getoption("maxfail", 0):
        narrowed.append(("the run stops at the first failures", None))
    cells: Cells = set().union(*left_out)
    if cells:
        realms = {realm for clause in load_catalogue() for realm in clause.realms}
        cells |= set(product(UNIVERSAL, realms))
        narrowed.append(("cases were left out by the selection", [list(cell) for cell in sorted(cells)]))
    return narrowed


def _all_asked_for(config: pytest.Config) -> bool:
    cases = cases_directory()
    return any(cases.is_relative_to(Path(argument).resolve()) for argument in config.args)


MARK = "contract"
_PERSISTING = "persistTemporaryFile"
SMOKE = "smoke"
_REALMS = (*DEVELOPMENT_REALMS, ANY_REALM)
#: Reasons for cells that no case of this run can reach, by (clause, realm).
UNREACHED = pytest.StashKey[Mapping[tuple[str, str], str]]()
#: Where the selection leaves cases out.
NARROWED = pytest.StashKey[list[Narrowing]]()
_OFFERED = pytest.StashKey[list[pytest.Item]]()
#: Whether a case is in the profile `smoke`, in its realm.
_IN_SMOKE = pytest.StashKey[bool]()
#: Facts about a case are asked for many times while cases are chosen and ordered.
_kept: Final = lru_cache(maxsize=8192)


@_kept
def marks(node: pytest.Item) -> Sequence[pytest.Mark]:
    """The contract marks of a case: its own and those of its parameters."""
    return tuple(node.iter_markers(MARK))


@_kept
def clauses_of(item: pytest.Item) -> tuple[str, ...]:
    """Ids of the clauses an item tests, in the order declared."""
    clauses, catalogue = dict.fromkeys(declared_clauses(item)), load_catalogue()
    if any(mark.kwargs["faults"] for mark in marks(item)):
        for operation in operations_of(item, catalogue):
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
    callspec = getattr(item, "callspec", None)
    return str(callspec.params["realm"]) if callspec and "realm" in callspec.params else ANY_REALM


def operations_of(item: pytest.Item, catalogue: Catalogue) -> tuple[str, ...]:
    """Operations an item exercises: its parameter, what its marks name, or those of its clauses."""
    callspec = getattr(item, "callspec", None)
    if callspec and "operation" in callspec.params:
        return (str(callspec.params["operation"]),)
    named = [operation for mark in marks(item) for operation in mark.kwargs["operations"]]
    of_clauses = [name for clause in declared_clauses(item) for name in catalogue.clause(clause).operations]
    return tuple(dict.fromkeys(named or of_clauses))


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Give a case its realms, and its operations where it asks for them."""
    if not marks(metafunc.definition):
        return
    catalogue, description = load_catalogue(), load_description()
    operations = _declared_operations(metafunc.definition, catalogue)
    realms = _realms(metafunc.config)
    if "operation" in metafunc.fixturenames:
        pairs = [
            pytest.param(realm, operation, id=f"{realm}-{operation}")
            for operation in operations
            for realm in _realms_of(operation, description, realms)
        ]
        metafunc.parametrize(("realm", "operation"), pairs)
    elif "realm" in metafunc.fixturenames:
        realms_of_case = dict.fromkeys(
            realm for operation in operations for realm in _realms_of(operation, description, realms)
        )
        metafunc.parametrize("realm", list(realms_of_case))


def _declared_operations(definition: pytest.Item, catalogue: Catalogue) -> tuple[str, ...]:
    try:
        return operations_of(definition, catalogue)
    except RegistryContractsError as error:
        raise pytest.UsageError(f"{definition.nodeid}: {error}") from None


def _realms(config: pytest.Config) -> tuple[str, ...]:
    target, selection = config.stash[TARGET], config.stash[SELECTION]
    offered = target.realms if target else DEVELOPMENT_REALMS
    return tuple(realm for realm in offered if not selection.realms or realm in selection.realms)


def _realms_of(operation: str, description: Description, realms: Iterable[str]) -> Iterator[str]:
    has = description.operations[operation].realms
    return iter(has) if has == (ANY_REALM,) else (realm for realm in realms if realm in has)


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_collection(session: pytest.Session) -> Generator[None, object, object]:
    """Measure how long collecting takes, and how long the run has gone on when this process can begin."""
    began = time.perf_counter()
    result = yield
    worker = session.config.stash.get(WORKER, None)
    if worker is not None:
        gone = datetime.now(UTC) - datetime.fromisoformat(worker.plan.started)
        worker.spent |= {"collection": time.perf_counter() - began, "start": gone.total_seconds()}
    return result


@pytest.hookimpl(tryfirst=True, specname="pytest_collection_modifyitems")
def pytest_note_every_case(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Note every case, and whether it is in `smoke`, before -k and the like take some away."""
    config.stash[_OFFERED] = offered = [item for item in items if marks(item)]
    first_realms: dict[str, str] = {}
    for item in offered:
        first = first_realms.setdefault(without_realm(case_of(item)), realm_of(item))
        mark = _smoke_of(item)
        item.stash[_IN_SMOKE] = bool(mark and (mark.kwargs["every_realm"] or realm_of(item) == first))


def _smoke_of(item: pytest.Item) -> pytest.Mark | None:
    """The mark that puts an item into `smoke`, whatever its realm."""
    callspec = getattr(item, "callspec", None)
    own = str(callspec.id).removeprefix(realm_of(item)).removeprefix("-") if callspec else ""
    marked = (mark for mark in item.iter_markers(SMOKE) if own in (mark.kwargs["parameters"] or (own,)))
    return next(marked, None)


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Keep what the selection asks for; begin with `smoke`, and end with the cases that use things up."""
    catalogue, selection = load_catalogue(), config.stash[SELECTION]
    kept: list[pytest.Item] = []
    dropped: list[pytest.Item] = []
    reasons: dict[tuple[str, str], str] = {}
    consumer = selection.terms.consumer
    others = outside(consumer, _facts(items, selection, catalogue))
    for item in items:
        reason = _reason_to_drop(item, selection, catalogue) if marks(item) else None
        if not reason and item.nodeid in others:
            reason = f"outside {consumer.file}" if consumer else None
        (dropped if reason else kept).append(item)
        if reason and realm_of(item) in _REALMS:
            reasons |= {(clause, realm_of(item)): reason for clause in clauses_of(item)}
    for item in kept:
        for clause in clauses_of(item):
            reasons.pop((clause, realm_of(item)), None)
    config.stash[UNREACHED] = reasons
    config.stash[NARROWED] = narrowings(config, _left_out(config.stash[_OFFERED], kept, selection))
    if dropped:
        config.hook.pytest_deselected(items=dropped)
    items[:] = sorted(kept, key=_place)
    worker = config.stash.get(WORKER, None)
    if worker is not None:
        worker.permanent_records.plan(_planned_records(items))


def forecasts(config: pytest.Config) -> dict[Profile, Forecast]:
    """What a run of each profile would send and leave, whatever profile was asked for."""
    catalogue, selection = load_catalogue(), config.stash[SELECTION]
    return {
        profile: forecast(
            config,
            [
                item
                for item in config.stash[_OFFERED]
                if not _reason_to_drop(item, replace(selection, profile=profile), catalogue)
            ],
            profile,
        )
        for profile in Profile
    }


def forecast(config: pytest.Config, items: Iterable[pytest.Item], profile: Profile | None = None) -> Forecast:
    """What a run of these items will send and leave, and what it leaves untested.

    Args:
        profile: How far the run goes; None for the profile of this one.
    """
    selection = config.stash[SELECTION]
    profile = profile or selection.profile
    target, catalogue = config.stash[TARGET] or sandbox_target("", SMALL_LIMIT), load_catalogue()
    items = [item for item in items if marks(item)]
    cases = [
        PlannedCase(
            case_of(item),
            realm_of(item),
            clauses_of(item),
            *requests_of(item, profile),
            records=records_of(item),
            deals=deals(item),
            files=_files_of(item),
            of_faults=frozenset(clauses_of(item)).difference(declared_clauses(item)),
            needs=_needs_of(item, catalogue),
        )
        for item in items
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


#: The setting without which a case on contacts sends nothing; elsewhere a record of a made-up schema may serve.
_CONTACTS: Final = "realm.contact_schema"


def _needs_of(item: pytest.Item, catalogue: Catalogue) -> tuple[str, ...]:
    """Accounts and settings without which a case sends nothing, as the catalogue names them."""
    operations, fixtures = set(operations_of(item, catalogue)), set(getattr(item, "fixturenames", ()))
    needs = {f"account.{role}" for role in ACCOUNT_ROLES if role in fixtures}
    own = next((mark.kwargs["needs"] for mark in marks(item) if mark.kwargs["needs"] is not None), None)
    of_clauses = {need for name in declared_clauses(item) for need in catalogue.clause(name).needs}
    of_clauses = of_clauses if own is None else {f"realm.{name}" for name in own}
    needs |= {need for need in of_clauses - {_CONTACTS} if not need.startswith("account.")}
    sends_records = "ordinary" in fixtures or any(mark.kwargs["faults"] for mark in marks(item))
    if operations <= {*operations_with(family="contact")} and (sends_records or _CONTACTS in of_clauses):
        needs.add(_CONTACTS)
    if operations <= {*operations_with(stores="submission")} and sends_records:
        needs.add("realm.workflow_schema")
    return (*sorted(needs), *(["realm.temporary_files"] if _files_of(item) else []))


def _facts(items: list[pytest.Item], selection: Selection, catalogue: Catalogue) -> Iterator[Facts]:
    """The cases that the rest of the selection asks for, with what a consumer wants to know of them."""
    for item in items:
        if marks(item) and not _reason_to_drop(item, selection, catalogue):
            yield item, clauses_of(item), operations_of(item, catalogue), realm_of(item)


def _left_out(offered: list[pytest.Item], kept: list[pytest.Item], selection: Selection) -> Iterator[Cells]:
    """The cells of each case that the selection takes away; from the gate on, a profile takes in all that must be."""
    taken = {item.nodeid for item in kept}
    for item in offered:
        beyond = selection.profile is not Profile.SMOKE and not selection.profile.includes(_profile_of(item))
        if item.nodeid not in taken and realm_of(item) in _REALMS and not beyond:
            yield {(clause, realm_of(item)) for clause in clauses_of(item)}


@_kept
def _profile_of(item: pytest.Item) -> Profile:
    """The first profile that takes a case in."""
    first: Profile = min((mark.kwargs["profile"] for mark in marks(item)), key=list(Profile).index)
    return first


def _reason_to_drop(item: pytest.Item, selection: Selection, catalogue: Catalogue) -> str | None:
    if realm_of(item) not in _REALMS:
        return "in no realm of this run"  # pytest's stand-in for a case without parameters
    if not _is_of(item, selection.profile):
        return f"out of the profile {selection.profile}"
    if selection.clauses and not set(selection.clauses) & set(clauses_of(item)):
        return "not selected by --clause"
    if selection.operations and not set(selection.operations) & set(operations_of(item, catalogue)):
        return "not selected by --operation"
    return None


def _is_of(item: pytest.Item, profile: Profile) -> bool:
    """Whether a profile takes a case in."""
    return item.stash[_IN_SMOKE] if profile is Profile.SMOKE else profile.includes(_profile_of(item))


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


def records_of(item: pytest.Item) -> int:
    """Permanent records that a case creates when it passes."""
    return max((mark.kwargs["records"] for mark in marks(item)), default=0)


def _files_of(item: pytest.Item) -> int:
    """Temporary files that a case uses up."""
    callspec = getattr(item, "callspec", None)
    operation = callspec.params.get("operation", _PERSISTING) if callspec else _PERSISTING
    return max((mark.kwargs["files"] for mark in marks(item)), default=0) if operation == _PERSISTING else 0


def _unused_files(config: pytest.Config, target: Target) -> dict[str, int]:
    """How many temporary files no run has used up yet, in each realm whose settings name some."""
    kept = config.stash[SELECTION].reports / used_up.FILE_NAME if config.stash[TARGET] else None
    used = used_up.UsedUp(kept, target.base_url)
    return {
        realm: len(set(target.realm_settings(realm).temporary_files) - used.of(realm))
        for realm in target.realms
        if target.realm_settings(realm).temporary_files
    }


def deals(item: pytest.Item) -> bool:
    """Whether what a case tries is dealt out among the realms of the run."""
    return not {"deal", "probe"}.isdisjoint(getattr(item, "fixturenames", ()))


def is_last(item: pytest.Item) -> bool:
    """Whether others have to run before a case: it uses up what they need, or builds on what they leave."""
    return any(mark.kwargs["last"] for mark in marks(item))


def requests_of(item: pytest.Item, profile: Profile = Profile.GATE) -> tuple[float, float]:
    """About how many requests a case sends in each realm, and how many it deals out among them besides."""
    mark = _smoke_of(item) if profile is Profile.SMOKE else None
    if mark and mark.kwargs["requests"] is not None:
        return mark.kwargs["requests"], 0
    sent, dealt, nightly = (
        max((mark.kwargs[key] or 0 for mark in marks(item)), default=0)
        for key in ("requests", "dealt", "nightly")
    )
    return (nightly, 0) if nightly and profile.includes(Profile.NIGHTLY) else (sent, dealt)


def _place(item: pytest.Item) -> tuple[int, float, bool]:
    """Where an item stands in the run, the lowest first.

    Cases that create permanent records run late: until then their places are room for requests that must be refused.
    Of the last ones, those that are long come first, so that no worker is left alone with one at the end.
    """
    if is_last(item):
        return 2, -sum(requests_of(item)), False
    return int(bool(records_of(item))), 0, not item.stash.get(_IN_SMOKE, False)
