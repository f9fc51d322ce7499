"""Which cases run, and in which order: one item per realm (and operation) of a case.

Profile, options and consumer select the cases. Those of the profile `smoke` run first: they find the most per request.
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
from registry_contracts.plugin.worker import MAIN, WORKER
from registry_contracts.settings.target import ANY_REALM, DEVELOPMENT_REALMS, DOCUMENT_REALMS

#: (clause, realm) → why no case of this run reaches the cell.
UNREACHED = pytest.StashKey[Mapping[tuple[str, str], str]]()
_BY_OPERATION: Final = "not selected by --operation"
#: Every collected case, before the selection.
_OFFERED = pytest.StashKey[list[Case]]()
#: Stand-ins for what creates the permanent records that cases share: one contact per realm for all runs, two
#: submissions per realm for one run.
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


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Parametrize a case with its realms, and with its operations and rows if it has these arguments."""
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
    if of_rows := metafunc.definition.get_closest_marker("for_each_row"):
        metafunc.parametrize("row", of_rows.args[0](metafunc.config.stash[SELECTION].profile))


def _realms_of(operation: str, config: pytest.Config) -> Iterator[str]:
    """The realms of the run in which an operation exists."""
    has = load_description().operations[operation].realms
    if has == (ANY_REALM,):
        yield ANY_REALM
    yield from (realm for realm in config.stash[SELECTION].realms if realm in has)


@pytest.hookimpl(tryfirst=True, specname="pytest_collection_modifyitems")
def pytest_note_every_case(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Note every case before -k and the like remove some; set `smoke` and `rotated_here` from the full list."""
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
        case.rotated_here = case.realm == own[turn % len(own)]


def _in_profile(case: Case, selection: Selection) -> bool:
    """Whether the profile of a selection includes a case.

    A gate run judges each MUST in each realm. Other cases run in one realm, rotated. Cases that only observe are left
    out, unless their clause is named. A nightly run rotates the cases that only it has.
    """
    profile = selection.profile
    if profile is Profile.SMOKE:
        return case.smoke is not None
    if not profile.includes(Profile(case.facts.profile)):
        return False
    rotated = case.facts.turns and Profile(case.facts.profile) is profile
    if profile is not Profile.GATE or selection.clauses:
        return case.rotated_here or bool(selection.clauses) or not rotated
    return (case.level is Level.MUST and not rotated) or (
        case.level is not Level.SILENT and case.rotated_here
    )


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Keep the selected cases; sort `smoke` to the front, and cases that use things up to the end."""
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
    items[:] = sorted((item for item in items if offered.get(item) not in reasons), key=_sort_key)
    if worker := config.stash.get(WORKER, None):
        planned = {
            case.id: (case.realm, case.facts.records) for case in [*cases, *_ARRANGED] if case.facts.records
        }
        worker.permanent_records.plan(planned)
        if worker.name in (MAIN, "gw0"):  # one process does it for all
            for (clause, realm), reason in unreached.items():
                worker.journal.write("untested", Untested(clause, realm, reason))
            for each in _narrowings(config, cases, reasons):
                worker.journal.write("narrowed", each)


def _reason_to_drop(case: Case, selection: Selection) -> str | None:
    if not case.cells:
        return "in no realm of this run"  # pytest's stand-in for a case without parameters
    if not _in_profile(case, selection):
        return f"out of the profile {selection.profile}"
    if selection.clauses and not set(selection.clauses) & set(case.clauses):
        return "not selected by --clause"
    if selection.operations and not set(selection.operations) & set(case.operations):
        return _BY_OPERATION
    return None


def _needed(consumer: Consumer, cases: set[Case]) -> set[Case]:
    """The cases that a consumer needs.

    A case is needed if it exercises an operation of the consumer. A case on another operation is needed if the consumer
    relies on its clause, and no case on the consumer's own operations always judges that clause. Rotated cases may miss
    some of their clauses, since they explore.
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
    """Report where options of the suite or of pytest left cases out.

    Cases outside the profile count in `smoke` only: every larger profile judges all must clauses.

    Args:
        reasons: Why the suite left a case out; pytest gives no reason for its own.
    """
    directory, selection, option = cases_directory(), config.stash[SELECTION], config.getoption
    everything = any(directory.is_relative_to(Path(argument).resolve()) for argument in config.args)
    asked = {
        "the run is for what failed last": option("lf", default=False),
        "the command names some cases only": not everything,
        "the command leaves files out": option("ignore", None) or option("ignore_glob", None),
        "the run stops at the first failures": option("maxfail", 0) or option("stepwise", default=False),
    }
    left_out = {
        case
        for case in {*config.stash[_OFFERED]}.difference(kept)
        if selection.profile is Profile.SMOKE or _in_profile(case, selection)
    }
    yield from (Narrowed(why, None) for why, holds in asked.items() if holds)
    if left_out:
        cells = {cell for case in left_out for cell in case.cells}
        cells |= set(product(UNIVERSAL, {realm for clause in load_catalogue() for realm in clause.realms}))
        series = all(reasons.get(case, _BY_OPERATION) != _BY_OPERATION for case in left_out)
        yield Narrowed("cases were left out by the selection", frozenset(cells), series)


def _sort_key(item: pytest.Item) -> tuple[int, float, bool]:
    """The position of an item in the run; the lowest runs first.

    Cases that create permanent records run late: until then, requests that must be refused may use up their budget.
    Of the cases at the end the longest run first, so that no worker is left alone with a long one.
    """
    if not is_case(item):
        return 0, 0, True
    case = case_of(item)
    if case.facts.last:
        return 1 + case.facts.last, -sum(case.sends(Profile.GATE)), False
    return int(bool(case.facts.records)), 0, case.smoke is None


def forecast(config: pytest.Config, items: Iterable[pytest.Item]) -> Forecast:
    """Estimate a run of these items: requests, permanent records, clauses that stay untested."""
    selection = config.stash[SELECTION]
    cases = [case_of(item) for item in items if is_case(item)]
    realms = {case.realm for case in cases}
    arranged = [case for case in _ARRANGED if case.realm in realms]
    # A run that is stopped during the collection has no selection yet.
    unreached = config.stash.get(UNREACHED, {})
    return Forecast([*cases, *arranged], selection, unreached)
