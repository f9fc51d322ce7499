"""Faults that Schemathesis generates: one that is taken is looked for again before it counts."""

from collections.abc import Iterator
from typing import Any

import pytest

from registry_contracts.cases.contact_requests import Reporting
from registry_contracts.cases.fault_probe import Probe
from registry_contracts.cases.generated_cases import Fault, with_fault
from registry_contracts.cases.hostile_input import Deal
from registry_contracts.cases.requests import ABSENT, Request
from registry_contracts.checks.outcomes import MOST_REPLAYS, Attempt, confirm
from registry_contracts.errors import EnvironmentFault
from registry_contracts.interface.catalogue import load_catalogue
from registry_contracts.session.namespace import Namespace
from tests.meta.messages import answer, exchange

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
