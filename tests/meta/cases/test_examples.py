"""What Hypothesis and Schemathesis draw: bounded by requests, kept, and looked for again before it counts."""

from collections.abc import Callable, Iterator
from typing import Any

import pytest
from hypothesis import strategies as st
from hypothesis.database import ExampleDatabase, InMemoryExampleDatabase

from registry_contracts.cases.contact_requests import Reporting
from registry_contracts.cases.fault_probe import Probe
from registry_contracts.cases.generated_cases import Fault, with_fault
from registry_contracts.cases.hostile_input import Deal
from registry_contracts.cases.properties import Properties, example_database
from registry_contracts.cases.requests import ABSENT, Request
from registry_contracts.checks.claims import Expect
from registry_contracts.checks.outcomes import MOST_REPLAYS, Attempt, Blocked, Contradiction, confirm
from registry_contracts.errors import EnvironmentFault
from registry_contracts.interface.catalogue import load_catalogue
from registry_contracts.session.namespace import Namespace
from tests.meta.messages import answer, exchange

CLAUSE = "draft-get-content"
NUMBERS = st.integers(0, 10_000)


class Trial:
    """A property of numbers that costs two requests for each."""

    def __init__(self, breaks: Callable[[int], bool] = lambda _: False) -> None:
        self.attempt, self.breaks = Attempt(1), breaks
        self.claims = Expect(self.attempt, load_catalogue(), [CLAUSE])
        self.judged: list[int] = []

    def judge(self, number: int) -> None:
        self.judged.append(number)
        self.attempt.exchanges += [exchange(answer({}))] * 2
        self.claims(CLAUSE).holds(not self.breaks(number), expected="small", seen=str(number))

    def hold(self, *, seed: int = 1, database: ExampleDatabase | None = None, **options: Any) -> None:
        properties = Properties(
            self.attempt, seed, database or InMemoryExampleDatabase(), thorough=options.pop("thorough", False)
        )
        properties.hold(NUMBERS, self.judge, **({"requests": 40, "each": 2} | options))


@pytest.mark.parametrize(("thorough", "examples"), [(False, 10), (True, 80)])
def test_a_property_keeps_to_its_budget(thorough: bool, examples: int) -> None:
    made = Trial()
    made.hold(requests=20, thorough=thorough)
    assert len(made.judged) == made.attempt.held[CLAUSE, "getDraft"] == examples


def test_shrinking_ends_with_its_budget() -> None:
    made = Trial(lambda number: number % 2 == 1)
    with pytest.raises(Contradiction):
        made.hold(requests=20)
    assert len(made.judged) < 10 + 12 + 3


def test_what_does_not_come_back_is_not_confirmed() -> None:
    once = iter([True])
    made = Trial(lambda _: next(once, False))
    with pytest.raises(Contradiction):
        made.hold()
    assert not made.attempt.confirmed
    assert len(made.judged) > MOST_REPLAYS


def test_a_failing_example_is_played_first_the_next_time(tmp_path: Any) -> None:
    database = example_database(tmp_path, "here", None)
    first, second = Trial(lambda number: number > 5_000), Trial()
    with pytest.raises(Contradiction):
        first.hold(database=database)
    second.hold(seed=7, database=example_database(tmp_path, "here", None))
    assert second.judged[0] == int(first.attempt.evidence[-1].seen)


@pytest.mark.parametrize(
    ("obstacle", "examples"), [(Blocked("getDraft", "answered 500"), 20), (EnvironmentFault("reset"), 1)]
)
def test_an_obstacle_is_raised_at_the_end(obstacle: Exception, examples: int) -> None:
    def stumble(_: int) -> bool:
        raise obstacle

    made = Trial(stumble)
    with pytest.raises(type(obstacle)):
        made.hold()
    assert len(made.judged) == examples


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


@pytest.fixture
def probe(attempt: Attempt) -> Any:
    """Makes a probe and what answers it: `probe(*turns)`."""

    def make(*turns: int | str) -> tuple[Probe, Scripted]:
        answers = Scripted(attempt, list(turns))
        given = load_catalogue(), answers.send, lambda: REPORTING, Deal(place=0, realms=1)
        return Probe("createContact", attempt, *given), answers

    return make


@pytest.mark.parametrize(
    ("turns", "told"),
    [
        ((400,), None),
        ((200, 200), (True, 2, 2)),
        ((200, 400, 200), (True, 2, 3)),
        ((200, *[400] * MOST_REPLAYS), (False, 1, 1 + MOST_REPLAYS)),
        (("weather", 400), None),
        (("spoilt", "weather", "spoilt", 400), None),
        (("weather",) * 4, None),
    ],
)
def test_a_fault_that_is_taken_is_looked_for_again_and_what_the_weather_spoilt_is_not_counted(
    probe: Any, attempt: Attempt, turns: tuple[int | str, ...], told: tuple[bool, int, int] | None
) -> None:
    made, exercise = probe(*turns)
    made.judge(MISSING)
    findings = [(each.confirmed, *each.rate) for each in confirm([attempt])]
    assert (findings, exercise.sent) == ([told] if told else [], len(turns))
    assert bool(attempt.held) == (400 in turns)
    # What stands in the way of one fault is noted, and the next one is judged.
    assert isinstance(attempt.obstacle, EnvironmentFault) == (turns[-1] == "weather")


def test_a_faulty_identifier_stays_inside_the_namespace() -> None:
    fresh = Namespace("test", seed="1")
    request = Request("saveDraft", {"uid": fresh.uid()})
    for uid, kind in (("a!" * 20, "pattern"), ("short", "too-short"), ("x" * 129, "too-long")):
        changed = with_fault(request, Fault("path", ("uid",), f"path.uid:{kind}", uid), fresh)
        assert changed.path["uid"].startswith(fresh.prefix)
        assert kind == "pattern" or len(changed.path["uid"]) == max(len(uid), len(fresh.prefix) + 1)
