"""Properties: what Hypothesis draws is bounded by requests, and kept."""

from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import strategies as st
from hypothesis.database import ExampleDatabase, InMemoryExampleDatabase

from registry_contracts.cases.properties import Properties, example_database
from registry_contracts.checks.claims import Expect
from registry_contracts.checks.outcomes import MOST_REPLAYS, Attempt, Blocked, Contradiction
from registry_contracts.errors import EnvironmentFault
from registry_contracts.interface.catalogue import load_catalogue
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
