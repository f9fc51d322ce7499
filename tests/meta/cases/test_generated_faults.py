"""Generated faults are judged one by one, each looked for again before it counts."""

from collections.abc import Iterator
from typing import Any

import pytest

from contracts.cases.fault_probe import Probe, firm, judged
from contracts.cases.generated_faults import ABSENT, Fault, one_of_each
from contracts.checks.outcomes import Attempt, Contradiction, confirm
from contracts.errors import EnvironmentFault
from contracts.interface.catalogue import load_catalogue
from tests.meta.messages import answer, exchange

MISSING = Fault("body", "firstName", "missing", ABSENT)


class Exercise:
    """Answers in turn, with a status for each request."""

    def __init__(self, attempt: Attempt, turns: list[int | str]) -> None:
        self._attempt = attempt
        self._turns: Iterator[int | str] = iter(turns)
        self.sent = 0

    def send(self, _fault: Fault) -> Any:
        """Give the next answer: a status, `weather` for none, or `spoilt` for one that the weather had a hand in."""
        self.sent += 1
        turn = next(self._turns)
        if turn == "weather":
            raise EnvironmentFault("no answer")
        status = turn if isinstance(turn, int) else 200
        sent = exchange(answer({}, status), "createContact", unsettled=int(turn == "spoilt"))
        self._attempt.exchanges.append(sent)
        return sent

    def usual(self, _fault: Fault) -> Any:
        """A text stands everywhere."""
        return "text"


@pytest.fixture
def probe(attempt: Attempt, catalogue: Any) -> Any:
    """Makes a probe and its exercise: `probe(*turns)`."""

    def make(*turns: int | str) -> tuple[Probe, Exercise]:
        exercise = Exercise(attempt, list(turns))
        scripted: Any = exercise
        return Probe("createContact", attempt, catalogue, scripted, ()), exercise

    return make


def test_a_refused_fault_holds(probe: Any, attempt: Attempt) -> None:
    made, exercise = probe(400)
    made.judge(MISSING)
    assert (sum(attempt.held.values()), exercise.sent, attempt.evidence) == (1, 1, [])


def test_an_accepted_fault_is_confirmed_at_once(probe: Any, attempt: Attempt) -> None:
    made, exercise = probe(200, 200)
    with pytest.raises(Contradiction):
        made.judge(MISSING)
    (finding,) = confirm([attempt])
    assert (finding.confirmed, finding.reproduced, finding.attempts, exercise.sent) == (True, 2, 2, 2)


def test_a_fault_accepted_now_and_then_has_its_rate(probe: Any, attempt: Attempt) -> None:
    made, _ = probe(200, 400, 200)
    with pytest.raises(Contradiction):
        made.judge(MISSING)
    (finding,) = confirm([attempt])
    assert (finding.confirmed, finding.reproduced, finding.attempts) == (True, 2, 3)


def test_a_fault_accepted_once_is_unconfirmed(probe: Any, attempt: Attempt) -> None:
    made, exercise = probe(200, 400, 400, 400)
    made.judge(MISSING)
    (finding,) = confirm([attempt])
    assert (finding.confirmed, exercise.sent) == (False, 4)
    assert attempt.keys == attempt.dismissed


def test_a_later_flicker_does_not_take_back_what_was_confirmed(probe: Any, attempt: Attempt) -> None:
    made, _ = probe(200, 200, 200, 400, 400, 400)
    with pytest.raises(Contradiction):
        made.judge(MISSING)
    made.judge(MISSING)
    (finding,) = confirm([attempt])
    assert (finding.confirmed, len(attempt.evidence)) == (True, 2)


@pytest.mark.parametrize("spoiling", [("weather",), ("spoilt",), ("spoilt", "weather", "spoilt")])
def test_what_the_weather_spoilt_is_sent_again_and_not_counted(
    probe: Any, attempt: Attempt, spoiling: tuple[str, ...]
) -> None:
    made, exercise = probe(*spoiling, 400)
    made.judge(MISSING)
    assert (sum(attempt.held.values()), attempt.evidence, exercise.sent) == (1, [], len(spoiling) + 1)
    assert not attempt.contradicted.total()


def test_weather_that_lasts_is_told_as_weather(probe: Any) -> None:
    made, exercise = probe(*["weather"] * 4)
    with pytest.raises(EnvironmentFault):
        made.judge(MISSING)
    assert exercise.sent == 4


def test_a_should_is_confirmed_without_ending_the_case(probe: Any, attempt: Attempt, catalogue: Any) -> None:
    key = next(
        key
        for clause in catalogue.by_operation("createContact")
        if clause.level == "should"
        for key in clause.faults
        if "*" not in key
    )
    place, _, kind = key.partition(":")
    where, _, name = place.partition(".")
    made, _ = probe(200, 200)
    made.judge(Fault(where, name, kind, [17] if kind == "wrong-kind" else "x"))
    (finding,) = confirm([attempt])
    assert finding.confirmed


@pytest.mark.parametrize(
    ("value", "usual", "ruled_out"),
    [
        (7, "text", False),
        (True, "text", False),
        (None, "text", False),
        ([1], "text", True),
        ("text", {}, True),
    ],
)
def test_only_plainly_other_kinds_are_ruled_out(value: Any, usual: Any, ruled_out: bool) -> None:
    assert firm(Fault("body", "firstName", "wrong-kind", value), usual) is ruled_out


def test_every_realm_of_a_run_gets_a_fault_that_is_judged() -> None:
    realms = ("abs-dev", "bch-dev", "chm-dev")
    catalogue = load_catalogue()
    for realm in realms:
        dealt = one_of_each(
            "createContact", realm, realms, lambda fault: judged(catalogue, "createContact", fault)
        )
        assert dealt
        assert all(judged(catalogue, "createContact", fault) for fault in dealt)


def test_what_would_stay_for_good_is_not_sent_to_be_observed() -> None:
    unknown = Fault("header", "Realm", "no-such-kind", "x")
    assert not judged(load_catalogue(), "createContact", unknown)
    assert judged(load_catalogue(), "getDraft", unknown)
