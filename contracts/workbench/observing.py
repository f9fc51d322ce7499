"""What one answer shows at silent points, and how that compares with what was accepted of the target."""

from __future__ import annotations

import platform
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Final

from contracts.drift import baseline as baselines
from contracts.drift.changes import Change, Kind
from contracts.drift.comparing import compare
from contracts.drift.facts import Facts, read_facts
from contracts.drift.values import shown
from contracts.evidence.drifting import realms_of_operations
from contracts.evidence.observations_answers import answers_of
from contracts.evidence.outcomes import Verdict
from contracts.evidence.record import Case, RecordedExchange, RunFacts, RunRecord
from contracts.interface.catalogue import load_catalogue
from contracts.judging.attempts import Observation
from contracts.target.model import Target

#: Answers are read from steady cases that went well; what is sent by hand counts as one.
_CASE: Final = "scenario/by-hand"
_MOST_POINTS: Final = 12
_NEED_A_RUN: Final = (Kind.VALUE_GONE, Kind.LESS)


@dataclass(frozen=True)
class Point:
    """One fact that was seen at a silent point.

    Attributes:
        accepted: What the baseline says; None where it has no word on it.
    """

    clause: str
    operation: str
    realm: str
    name: str
    seen: str
    accepted: str | None


@dataclass(frozen=True)
class Sights:
    """What was seen, and how it differs from the baseline.

    Attributes:
        baseline: The baseline's file; None when the target has none.
    """

    points: tuple[Point, ...]
    changes: tuple[Change, ...]
    baseline: Path | None


def sights(
    exchanges: Iterable[RecordedExchange],
    before: Iterable[RecordedExchange],
    noted: Iterable[tuple[Observation, str]],
    target: Target,
    baseline: Path | None = None,
) -> Sights:
    """Read what exchanges show at silent points.

    Args:
        exchanges: What was sent by hand.
        before: What was sent to arrange it, so that what was saved is told from what the service added.
        noted: What checks observed, each with its realm.
        baseline: File of the baseline; by default that of the target.

    Raises:
        UsageError: the baseline's file cannot be used.
    """
    meant = list(exchanges)
    facts = _facts([*before, *meant], list(noted), target)
    wanted = {each.operation for each in meant}
    facts = {place: values for place, values in facts.items() if place.operation in wanted}
    path = baseline or baselines.path_of(target.name)
    accepted = baselines.read(path, realms_of_operations())
    known = accepted.facts if accepted else {}
    # One answer cannot show that a value, or an alternative to it, is gone.
    changes = [change for change in compare(known, facts) if change.kind not in _NEED_A_RUN]
    return Sights(tuple(_points(facts, known))[:_MOST_POINTS], tuple(changes), path if accepted else None)


def _points(facts: Facts, known: Facts) -> Iterator[Point]:
    for place, values in facts.items():
        for name, value in values.items():
            before = known.get(place, {}).get(name)
            yield Point(place.clause, place.operation, place.realm, name, shown(value) or "", shown(before))


def _facts(exchanges: list[RecordedExchange], noted: list[tuple[Observation, str]], target: Target) -> Facts:
    own = {each.id: _as_of_a_case(each) for each in exchanges}
    record = _record(own, target)
    observations = [
        {"clause": each.clause, "operation": each.operation, "realm": realm, "seen": each.seen}
        for each, realm in noted
    ]
    return read_facts({"observations": observations, "answers": answers_of(record)})


def _as_of_a_case(exchange: RecordedExchange) -> RecordedExchange:
    return RecordedExchange(**(asdict(exchange) | {"case": _CASE}))


def _record(exchanges: dict[str, RecordedExchange], target: Target) -> RunRecord:
    clauses = tuple(clause.id for clause in load_catalogue())
    run = RunFacts(
        target=target.name,
        target_kind=target.kind,
        base_url=target.base_url,
        profile="by hand",
        seed=None,
        realms=target.realms,
        clauses=clauses,
        started="2000-01-01T00:00:00+00:00",
        finished=None,
        workers=1,
        command="",
        versions={"python": platform.python_version()},
        environment={},
        interrupted=False,
        expected_workers=(),
    )
    case = Case(
        id=_CASE,
        name="by hand",
        doc="",
        realm="any",
        clauses=(),
        operations=(),
        profile=None,
        outcome=Verdict.OBSERVED,
        reason=None,
        blocked_by=None,
        attempts=1,
        started=None,
        seconds=0.0,
        requests=len(exchanges),
        assertions=(),
        worker="main",
    )
    return RunRecord(run, (case,), (), (), exchanges, (), (), (), (), ())
