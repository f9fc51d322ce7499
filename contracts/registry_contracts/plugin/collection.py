"""Which cases run, and in which order: one item per realm (and operation) of a case.

Cases are selected by profile, options and consumer. First come those of the profile `smoke`, which find most for the
requests that they cost.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from itertools import product
from pathlib import Path
from typing import Final
from zlib import crc32

import pytest

from registry_contracts.cases.marks import Facts
from registry_contracts.checks.table import UNIVERSAL
from registry_contracts.errors import RegistryContractsError
from registry_contracts.evidence.record import Narrowed, Untested
from registry_contracts.evidence.terms import Consumer
from registry_contracts.interface.catalogue import Level, load_catalogue
from registry_contracts.interface.description import load_description
from registry_contracts.interface.location import cases_directory
from registry_contracts.interface.profiles import Profile
from registry_contracts.plugin.case import Case, case_of, is_case
from registry_contracts.plugin.forecast import Forecast
from registry_contracts.plugin.plan import SELECTION, Selection
from registry_contracts.plugin.worker import MAIN, WORKER, Worker
from registry_contracts.settings.target import ANY_REALM, DEVELOPMENT_REALMS, DOCUMENT_REALMS

#: Why cases were left out, and the cells concerned, pairs of clause and realm; None for all of them.
#: Reasons for cells that no case of this run can reach, by (clause, realm).
UNREACHED = pytest.StashKey[Mapping[tuple[str, str], str]]()
_BY_OPERATION: Final = "not selected by --operation"
#: Every case, before some are left out.
_OFFERED = pytest.StashKey[list[Case]]()
#: What creates the permanent records that cases use together: a contact of each realm serves the cases of all runs, two
#: submissions those of one run.
_ARRANGED: Final = (
    *(
        Case(f"[the kept contact of {realm}]", realm, Facts(records=1), needs=("realm.contact_schema",))
        for realm in DOCUMENT_REALMS
    ),
    *(
        Case(f"[submissions arranged in {realm}]", realm, Facts(records=2), needs=("realm.workflow_schema",))
        for realm in DEVELOPMENT_REALMS
    ),
)


@pytest.hookimpl(specname="pytest_collection")
def pytest_collect_what_is_chosen(session: pytest.Session) -> bool | None:
    """Collect from what the selection names, where that is not what pytest was given."""
    config = session.config
    worker = config.stash.get(WORKER, None)
    paths = worker.plan.paths if worker else config.stash[SELECTION].paths
    if list(paths) == config.args:
        return None
    session.perform_collect(list(paths))
    return True


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Give a case its realms, and its operations where it asks for them."""
    if not is_case(metafunc.definition):
        return
    try:
        operations = case_of(metafunc.definition).operations
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
    has = load_description().operations[operation].realms
    if has == (ANY_REALM,):
        yield ANY_REALM
    yield from (realm for realm in config.stash[SELECTION].realms if realm in has)


@pytest.hookimpl(tryfirst=True, specname="pytest_collection_modifyitems")
def pytest_note_every_case(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Note every case, and whether it is in `smoke` and has its turn, before -k and the like take some away."""
    config.stash[_OFFERED] = offered = [case_of(item) for item in items if is_case(item)]
    realms: dict[str, dict[str, list[str]]] = {}
    for case in offered:
        realms.setdefault(case.function, {}).setdefault(case.name, []).append(case.realm)
    for case in offered:
        of_function = realms[case.function]
        own = of_function[case.name]
        turn = crc32(case.function.encode()) + list(of_function).index(case.name)
        if case.smoke and not (case.smoke["every_realm"] or case.realm == own[0]):
            case.smoke = None
        case.only = len(own) == 1
        case.in_turn = case.realm == own[turn % len(own)] and not (case.only and case.facts.several)


def _is_of(case: Case, selection: Selection) -> bool:
    """Whether the profile of a selection takes a case in.

    A gate has to judge each must clause in each realm: what is not needed for that it asks in one realm by turns, and
    what can only be observed not at all, unless its clause is named. So a night does with what it alone asks by turns.
    """
    profile = selection.profile
    if profile is Profile.SMOKE:
        return case.smoke is not None
    if not profile.includes(Profile(case.facts.profile)):
        return False
    by_turns = case.facts.turns and Profile(case.facts.profile) is profile
    if profile is not Profile.GATE or selection.clauses:
        return case.in_turn or bool(selection.clauses) or not by_turns
    return (case.level is Level.MUST and not by_turns) or (case.level is not Level.SILENT and case.in_turn)


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(
    session: pytest.Session, config: pytest.Config, items: list[pytest.Item]
) -> None:
    """Keep what the selection asks for; begin with `smoke`, and end with the cases that use things up."""
    selection = config.stash[SELECTION]
    offered = {item: case_of(item) for item in items if is_case(item)}
    reasons = {case: why for case in offered.values() if (why := _reason_to_drop(case, selection))}
    if consumer := selection.terms.consumer:
        chosen = {*offered.values()} - reasons.keys()
        reasons |= dict.fromkeys(chosen - _needed(consumer, chosen), f"outside {consumer.file}")
    dropped = [item for item, case in offered.items() if case in reasons]
    cases = [case for case in offered.values() if case not in reasons]
    reached = {cell for case in cases for cell in case.cells}
    config.stash[UNREACHED] = unreached = {
        cell: why for case, why in reasons.items() for cell in case.cells if cell not in reached
    }
    if dropped:
        config.hook.pytest_deselected(items=dropped)
    items[:] = sorted((item for item in items if offered.get(item) not in reasons), key=_place)
    if worker := config.stash.get(WORKER, None):
        planned = {
            case.id: (case.realm, case.facts.records) for case in [*cases, *_ARRANGED] if case.facts.records
        }
        worker.permanent_records.plan(planned)
        with worker.giving_up_where_broken(session):
            _write_unreached(worker, unreached, _narrowings(config, cases, reasons))


def _reason_to_drop(case: Case, selection: Selection) -> str | None:
    if not case.cells:
        return "in no realm of this run"  # pytest's stand-in for a case without parameters
    if not _is_of(case, selection):
        return f"out of the profile {selection.profile}"
    if selection.clauses and not set(selection.clauses) & set(case.clauses):
        return "not selected by --clause"
    if selection.operations and not set(selection.operations) & set(case.operations):
        return _BY_OPERATION
    return None


def _needed(consumer: Consumer, cases: set[Case]) -> set[Case]:
    """The cases that a consumer needs.

    A case is needed when it exercises an operation of the consumer's. One on another operation is needed too where
    it speaks of a clause that the consumer relies on and no case on the consumer's own operations is sure to judge it:
    one that goes by turns explores, and may not come to each of its clauses.
    """
    catalogue, offered = load_catalogue(), load_description().operations

    def relies(name: str, realm: str) -> bool:
        of_clause = catalogue.clause(name).operations
        here = [operation for operation in of_clause if realm in offered[operation].realms]
        return name not in UNIVERSAL and any(consumer.counts(name, realm, each) for each in here)

    direct = {
        case
        for case in cases
        for operation in case.operations
        if any(consumer.counts(clause, realm, operation) for clause, realm in case.cells)
    }
    judged = {cell for case in direct if not case.facts.turns for cell in case.cells}
    return direct | {case for case in cases if any(relies(*cell) for cell in case.cells - judged)}


def _narrowings(
    config: pytest.Config, kept: Iterable[Case], reasons: Mapping[Case, str]
) -> Iterator[Narrowed]:
    """Say where cases were left out, by options of the suite or of pytest itself.

    From the gate on, a profile takes in all that must be.

    Args:
        reasons: Why the suite left a case out; pytest gives none.
    """
    directory, selection, option = cases_directory(), config.stash[SELECTION], config.getoption
    everything = any(directory.is_relative_to(Path(argument).resolve()) for argument in selection.paths)
    asked = {
        "the run is for what failed last": option("lf", default=False),
        "the command names some cases only": not everything,
        "the command leaves files out": option("ignore", None) or option("ignore_glob", None),
        "the run stops at the first failures": option("maxfail", 0) or option("stepwise", default=False),
    }
    left_out = {
        case
        for case in {*config.stash[_OFFERED]}.difference(kept)
        if selection.profile is Profile.SMOKE or _is_of(case, selection)
    }
    yield from (Narrowed(why, None) for why, holds in asked.items() if holds)
    if left_out:
        cells = {cell for case in left_out for cell in case.cells}
        cells |= set(product(UNIVERSAL, {realm for clause in load_catalogue() for realm in clause.realms}))
        series = all(reasons.get(case, _BY_OPERATION) != _BY_OPERATION for case in left_out)
        yield Narrowed("cases were left out by the selection", frozenset(cells), series)


def _write_unreached(
    worker: Worker, unreached: Mapping[tuple[str, str], str], narrowed: Iterable[Narrowed]
) -> None:
    """Say of each cell without a case why there is none; one process says it for all."""
    if worker.name in (MAIN, "gw0"):
        for (clause, realm), reason in unreached.items():
            worker.journal.write("untested", Untested(clause, realm, reason))
        for each in narrowed:
            worker.journal.write("narrowed", each)


def _place(item: pytest.Item) -> tuple[int, float, bool]:
    """Where an item stands in the run, the lowest first.

    Cases that create permanent records run late: until then their places are room for requests that must be refused.
    Of the last ones, those that are long come first, so that no worker is left alone with one at the end.
    """
    if not is_case(item):
        return 0, 0, True
    case = case_of(item)
    if case.facts.last:
        return 2, -sum(case.sends(Profile.GATE)), False
    return int(bool(case.facts.records)), 0, case.smoke is None


def forecast(config: pytest.Config, items: Iterable[pytest.Item]) -> Forecast:
    """What a run of these items will send and leave, and what it leaves untested."""
    selection = config.stash[SELECTION]
    cases = [case_of(item) for item in items if is_case(item)]
    realms = {case.realm for case in cases}
    arranged = [case for case in _ARRANGED if case.realm in realms]
    # A run that was stopped while it collected has not selected anything.
    unreached = config.stash.get(UNREACHED, {})
    return Forecast([*cases, *arranged], selection, unreached)
