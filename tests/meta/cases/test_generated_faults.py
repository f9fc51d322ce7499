"""Faults that Schemathesis generates: each has a clause, is dealt out, and is looked for again before it counts."""

from collections.abc import Iterator
from contextlib import nullcontext
from typing import Any

import pytest

from contracts.cases.contact_errors import Reporting
from contracts.cases.described_inputs import described_operation
from contracts.cases.fault_probe import Probe, Turns
from contracts.cases.generated_cases import Case, Fault, faults_of, for_each_case, with_fault
from contracts.cases.requests import ABSENT, Request
from contracts.checks.outcomes import Attempt, Contradiction, confirm
from contracts.errors import EnvironmentFault, SuiteError
from contracts.interface.catalogue import Level, load_catalogue
from contracts.interface.description import load_description
from contracts.session.namespace import Namespace
from tests.meta.messages import answer, exchange

REALMS = 3
REPORTING = Reporting(refuses=True, arrays=True, names=True, takes=True)
MISSING = Fault("header", ("Authorization",), "header.Authorization:missing", ABSENT)


class Scripted:
    """Answers in turn, with a status for each request."""

    def __init__(self, attempt: Attempt, turns: list[int | str]) -> None:
        self.attempt = attempt
        self._turns: Iterator[int | str] = iter(turns)
        self.sent = 0

    def send(self, fault: Fault) -> Any:  # noqa: ARG002 - every fault is answered alike
        """Give the next answer: a status, `weather` for none, or `spoilt` for one that the weather had a hand in."""
        self.sent += 1
        turn = next(self._turns)
        if turn == "weather":
            raise EnvironmentFault("no answer")
        status = turn if isinstance(turn, int) else 200
        sent = exchange(answer({}, status), "createContact", unsettled=int(turn == "spoilt"))
        self.attempt.exchanges.append(sent)
        return sent


def probe_of(operation: str, answers: Scripted, place: int = 0, realms: int = 1) -> Probe:
    """A probe whose faults are answered by a script, in one realm of so many."""
    attempt, turns = answers.attempt, Turns(place, realms)
    return Probe(operation, attempt, load_catalogue(), answers.send, lambda: REPORTING, turns)


@pytest.fixture
def probe(attempt: Attempt) -> Any:
    """Makes a probe and what answers it: `probe(*turns)`."""

    def make(*turns: int | str) -> tuple[Probe, Scripted]:
        answers = Scripted(attempt, list(turns))
        return probe_of("createContact", answers), answers

    return make


@pytest.fixture(params=load_description().operations)
def operation(request: pytest.FixtureRequest) -> str:
    """Each operation."""
    return str(request.param)


@pytest.fixture
def description(request: pytest.FixtureRequest, operation: str) -> Any:
    """Its description, of which cases are made."""
    request.session.testscollected -= 1
    return described_operation(operation)


@pytest.fixture
def dealt(operation: str) -> list[Probe]:
    """A probe for each realm of a run."""
    return [probe_of(operation, Scripted(Attempt(1), []), place, REALMS) for place in range(REALMS)]


@pytest.fixture
def due() -> Iterator[list[set[str]]]:
    """The musts on content of which each realm sends a fault; in the end they are the same in each."""
    sent: list[set[str]] = [set() for _ in range(REALMS)]
    yield sent
    assert sent[0] == sent[1] == sent[2]


@for_each_case
def test_every_generated_fault_has_a_clause_and_each_realm_gets_one_of_each_on_content(
    case: Case, operation: str, dealt: list[Probe], due: list[set[str]]
) -> None:
    for fault in faults_of(operation, case):
        assert load_catalogue().for_fault(operation, fault.key), fault.key
    for probe, clauses in zip(dealt, due, strict=True):
        found = [(fault, probe.clause_of(fault)) for fault in probe.due(case)]
        clauses |= {
            clause.id for fault, clause in found if fault.place == "body" and clause.level is Level.MUST
        }


@pytest.mark.parametrize(
    ("turns", "told"),
    [
        ((400,), None),
        ((200, 200), (True, 2, 2)),
        ((200, 400, 200), (True, 2, 3)),
        ((200, 400, 400, 400), (False, 1, 4)),
        (("weather", 400), None),
        (("spoilt", "weather", "spoilt", 400), None),
    ],
)
def test_a_fault_that_is_taken_is_looked_for_again_and_what_the_weather_spoilt_is_not_counted(
    probe: Any, attempt: Attempt, turns: tuple[int | str, ...], told: tuple[bool, int, int] | None
) -> None:
    made, exercise = probe(*turns)
    with pytest.raises(Contradiction) if told and told[0] else nullcontext():
        made.judge(MISSING)
    findings = [(each.confirmed, each.reproduced, each.attempts) for each in confirm([attempt])]
    assert (findings, exercise.sent) == ([told] if told else [], len(turns))
    assert bool(attempt.held) == (400 in turns)


def test_a_later_flicker_does_not_take_back_what_was_confirmed(probe: Any, attempt: Attempt) -> None:
    made, _ = probe(200, 200, 200, 400, 400, 400)
    with pytest.raises(Contradiction):
        made.judge(MISSING)
    made.judge(MISSING)
    (finding,) = confirm([attempt])
    assert (finding.confirmed, len(attempt.evidence)) == (True, 2)


def test_a_should_is_confirmed_without_ending_the_case(probe: Any, attempt: Attempt) -> None:
    made, _ = probe(200, 200)
    made.judge(Fault("query", ("schema",), "query.schema:missing", ABSENT))
    (finding,) = confirm([attempt])
    assert finding.confirmed


def test_a_fault_without_a_clause_is_the_suites_own() -> None:
    made = probe_of("getDraft", Scripted(Attempt(1), [404]))
    with pytest.raises(SuiteError, match="no clause speaks"):
        made.judge(Fault("header", ("Realm",), "header.Realm:no-such-kind", "x"))


def test_a_faulty_identifier_stays_inside_the_namespace() -> None:
    fresh = Namespace("test", seed="1")
    request = Request("saveDraft", {"uid": fresh.uid()})
    for uid, kind in (("a!" * 20, "pattern"), ("short", "too-short"), ("x" * 129, "too-long")):
        changed = with_fault(request, Fault("path", ("uid",), f"path.uid:{kind}", uid), fresh)
        assert changed.path["uid"].startswith(fresh.prefix)
        assert kind == "pattern" or len(changed.path["uid"]) == max(len(uid), len(fresh.prefix) + 1)
