"""Which cases run, and in which order: one item per realm (and operation) of a case.

Cases are selected by profile, options and consumer. First come those that find most faults for each request
they cost.
"""

from __future__ import annotations

import json
import time
from collections import Counter, defaultdict
from collections.abc import Generator, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import cache, cached_property
from itertools import accumulate, product
from pathlib import Path
from typing import Final

import pytest

from contracts.cases.marks import Profile
from contracts.checks.table import UNIVERSAL
from contracts.errors import RegistryContractsError, UsageError
from contracts.evidence.terms import Consumer
from contracts.interface.catalogue import Catalogue, load_catalogue
from contracts.interface.description import Description, load_description
from contracts.interface.location import cases_directory
from contracts.plugin.forecast import Forecast, PlannedCase, without_realm
from contracts.plugin.plan import SELECTION, SMALL_LIMIT, TARGET, Selection, request_budget
from contracts.plugin.worker import WORKER
from contracts.settings.embedded_sandbox import sandbox_target
from contracts.settings.target import ANY_REALM, DEVELOPMENT_REALMS, DOCUMENT_REALMS

ORDER_FILE: Final = Path(__file__).with_name("case_order.json")
#: What the cases of the profile `smoke` cost at most in all four realms, signing in and cleaning up apart.
SMOKE_REQUESTS: Final = 268


@dataclass(frozen=True, slots=True)
class Turn:
    """One place in the order.

    Attributes:
        case: The id of a case, with `*` for the realm.
        realm: Where it runs here, when all realms are judged.
    """

    case: str
    realm: str


@dataclass(frozen=True)
class CaseOrder:
    """The order of cases.

    Attributes:
        command: What measured it.
        faults: How many drawn faults it was measured on.
        requests: All places, in order, with the requests that each costs with what it has to arrange there.
    """

    command: str
    faults: int
    requests: Mapping[Turn, float]

    @property
    def turns(self) -> tuple[Turn, ...]:
        """All places, in order."""
        return tuple(self.requests)

    @cached_property
    def realms(self) -> Mapping[str, tuple[str, ...]]:
        """Every case that it knows, with its realms as they take turns."""
        realms: dict[str, tuple[str, ...]] = {}
        for turn in self.requests:
            realms[turn.case] = (*realms.get(turn.case, ()), turn.realm)
        return realms

    def place(self, turn: Turn) -> int:
        """A number to sort by; a case that the order does not know stands in the middle."""
        return self._places.get(turn, len(self.requests) // 2)

    @cached_property
    def _places(self) -> Mapping[Turn, int]:
        return {turn: number for number, turn in enumerate(self.requests)}

    @cached_property
    def smoke(self) -> frozenset[Turn]:
        """The places that the profile `smoke` takes in: the first, as far as there is room."""
        spent = zip(self.requests, accumulate(self.requests.values()), strict=True)
        return frozenset(turn for turn, sum_so_far in spent if sum_so_far <= SMOKE_REQUESTS)


def write_order(path: Path, order: CaseOrder) -> None:
    """Write an order, a line for each place.

    Raises:
        UsageError: the file cannot be written.
    """
    head = json.dumps({"command": order.command, "faults": order.faults})[1:-1]
    lines = [json.dumps([turn.realm, turn.case, cost]) for turn, cost in order.requests.items()]
    text = f'{{{head}, "turns": [\n' + ",\n".join(lines) + "\n]}\n"
    try:
        path.write_text(text, encoding="utf-8")
    except OSError as error:
        raise UsageError(f"cannot write '{path}': {error.strerror}") from None


@cache
def read_order() -> CaseOrder:
    """The order that is kept with the library."""
    content = json.loads(ORDER_FILE.read_text(encoding="utf-8"))
    requests = {Turn(case, realm): cost for realm, case, cost in content["turns"]}
    return CaseOrder(content["command"], content["faults"], requests)


def turns(offered: Sequence[tuple[str, str]]) -> list[Turn]:
    """The turns of cases; where not all realms are judged, those that are take up a case's first turns.

    Args:
        offered: The id and the realm of every case that could run.
    """
    order = read_order()
    realms: dict[str, dict[str, None]] = defaultdict(dict)
    for case, realm in offered:
        realms[without_realm(case)][realm] = None
    taken: dict[Turn, Turn] = {}
    for case, names in realms.items():
        own = sorted((Turn(case, name) for name in names), key=order.place)
        places = (Turn(case, name) for name in order.realms.get(case, ()))
        taken |= dict(zip(own, places, strict=False))
    wanted = [Turn(without_realm(case), realm) for case, realm in offered]
    return [taken.get(turn, turn) for turn in wanted]


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
_REALMS = (*DEVELOPMENT_REALMS, ANY_REALM)
#: Reasons for cells that no case of this run can reach, by (clause, realm).
UNREACHED = pytest.StashKey[Mapping[tuple[str, str], str]]()
#: Where the selection leaves cases out.
NARROWED = pytest.StashKey[list[Narrowing]]()
_OFFERED = pytest.StashKey[list[pytest.Item]]()
#: A case's turn in the order of cases.
_TURN = pytest.StashKey[Turn]()
_MARKS = pytest.StashKey[Sequence[pytest.Mark]]()
#: The clauses of a case, its realm, and the first profile that takes it in, once they were asked for.
_CLAUSES = pytest.StashKey[tuple[str, ...]]()
_REALM = pytest.StashKey[str]()
_PROFILE = pytest.StashKey[Profile]()


def marks(node: pytest.Item) -> Sequence[pytest.Mark]:
    """The contract marks of a case: its own and those of its parameters."""
    known = node.stash.get(_MARKS, None)
    if known is None:
        node.stash[_MARKS] = known = tuple(node.iter_markers(MARK))
    return known


def clauses_of(item: pytest.Item) -> tuple[str, ...]:
    """Ids of the clauses an item tests, in the order declared."""
    known = item.stash.get(_CLAUSES, None)
    if known is None:
        clauses = [clause for mark in marks(item) for clause in mark.kwargs["clauses"]]
        if any(mark.kwargs["faults"] for mark in marks(item)):
            clauses += _about_faults(operations_of(item, load_catalogue()))
        item.stash[_CLAUSES] = known = tuple(dict.fromkeys(clauses))
    return known


def _about_faults(operations: Iterable[str]) -> Iterator[str]:
    for operation in operations:
        yield from (clause.id for clause in load_catalogue().by_operation(operation) if clause.faults)


def case_of(item: pytest.Item) -> str:
    """A case's id: the same from a checkout, from an installed wheel and from any working folder.

    A case of another folder, which only the table of clauses collects, goes by the name of its file.
    """
    return f"{_file_of(item.path)}::{item.nodeid.partition('::')[2]}"


@cache
def _file_of(path: Path) -> str:
    folder = cases_directory()
    return path.relative_to(folder).as_posix() if path.is_relative_to(folder) else path.name


def realm_of(item: pytest.Item) -> str:
    """The realm an item runs in."""
    known = item.stash.get(_REALM, None)
    if known is None:
        callspec = getattr(item, "callspec", None)
        known = str(callspec.params["realm"]) if callspec and "realm" in callspec.params else ANY_REALM
        item.stash[_REALM] = known
    return known


def operations_of(item: pytest.Item, catalogue: Catalogue) -> tuple[str, ...]:
    """Operations an item exercises: its parameter, what its marks name, or those of its clauses."""
    callspec = getattr(item, "callspec", None)
    if callspec and "operation" in callspec.params:
        return (str(callspec.params["operation"]),)
    named = [operation for mark in marks(item) for operation in mark.kwargs["operations"]]
    declared = [clause for mark in marks(item) for clause in mark.kwargs["clauses"]]
    of_clauses = [name for clause in declared for name in catalogue.clause(clause).operations]
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
    """Note every case, and its turn in the order of cases, before -k and the like take some away."""
    config.stash[_OFFERED] = offered = [item for item in items if marks(item)]
    for item, turn in zip(offered, turns([(case_of(item), realm_of(item)) for item in offered]), strict=True):
        item.stash[_TURN] = turn


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Keep what the selection asks for; start with the cases that find most, those that use things up last."""
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
    target = config.stash[TARGET] or sandbox_target("", SMALL_LIMIT)
    items = [item for item in items if marks(item)]
    cases = [PlannedCase(case_of(item), realm_of(item), clauses_of(item)) for item in items]
    records: Counter[str] = Counter()
    for realm, number in _planned_records(items).values():
        records[realm] += number if any(case.realm == realm for case in cases) else 0
    return Forecast(
        cases,
        target,
        load_catalogue(),
        records=records,
        # A run that was stopped while it collected has not selected anything.
        unreached=config.stash.get(UNREACHED, {}),
        budget=request_budget(target, profile),
        profile=profile,
    )


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


def _profile_of(item: pytest.Item) -> Profile:
    """The first profile that takes a case in."""
    known = item.stash.get(_PROFILE, None)
    if known is None:
        known = min((mark.kwargs["profile"] for mark in marks(item)), key=list(Profile).index)
        item.stash[_PROFILE] = known
    return known


def _reason_to_drop(item: pytest.Item, selection: Selection, catalogue: Catalogue) -> str | None:
    if realm_of(item) not in _REALMS:
        return "in no realm of this run"  # pytest's stand-in for a case without parameters
    if not selection.profile.includes(_profile_of(item)) and not _in_smoke(item, selection):
        return f"out of the profile {selection.profile}"
    if selection.clauses and not set(selection.clauses) & set(clauses_of(item)):
        return "not selected by --clause"
    if selection.operations and not set(selection.operations) & set(operations_of(item, catalogue)):
        return "not selected by --operation"
    return None


def _in_smoke(item: pytest.Item, selection: Selection) -> bool:
    """Whether a case of a gate stands so early in the order of cases that the profile `smoke` takes it in."""
    gate = selection.profile is Profile.SMOKE and Profile.GATE.includes(_profile_of(item))
    return gate and not is_last(item) and item.stash[_TURN] in read_order().smoke


def _planned_records(items: Iterable[pytest.Item]) -> dict[str, tuple[str, int]]:
    """Permanent records that the cases of a run create when they pass, by the id of the case."""
    planned = {case_of(item): (realm_of(item), records_of(item)) for item in items if records_of(item)}
    # One contact of each realm serves the cases of all runs, and two submissions those of one run.
    kept = {f"[the kept contact of {realm}]": (realm, 1) for realm in DOCUMENT_REALMS}
    arranged = {f"[submissions arranged in {realm}]": (realm, 2) for realm in DEVELOPMENT_REALMS}
    return planned | kept | arranged


def records_of(item: pytest.Item) -> int:
    """Permanent records that a case creates when it passes."""
    return max((mark.kwargs["records"] for mark in marks(item)), default=0)


def is_last(item: pytest.Item) -> bool:
    """Whether others have to run before a case: it uses up what they need, or builds on what they leave."""
    return any(mark.kwargs["last"] for mark in marks(item))


def _place(item: pytest.Item) -> tuple[int, int, int]:
    """Where an item stands in the run, the lowest first.

    Cases that create permanent records run late: until then their places are room for requests that must be refused.
    Of the last ones, those that are long come before these, so that no worker is left alone with one at the end.
    """
    last, turn = is_last(item), item.stash.get(_TURN, None)
    longest = max((mark.kwargs["requests"] for mark in marks(item)), default=0) if last else 0
    group = 2 if last and not longest else 1 if last or records_of(item) else 0
    return group, -longest, read_order().place(turn) if turn else 0
