"""What a proof makes of its trials: outcomes, when it holds, the report."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from registry_contracts.proving.floor import Floor
from registry_contracts.proving.report import Report
from registry_contracts.proving.trials import FAITHFUL, Found, Kind, Outcome, Part, Result, Trial

FAULT = Trial(Part.FIXED, Kind.FAULT, "a-fault", ("abs-dev",), 1, clauses=("uid-hyphen",), narrow=True)
DRAWN = replace(FAULT, part=Part.DRAWN, narrow=False)
SERVICE = replace(FAULT, kind=Kind.SERVICE, name="gzip+list-hal", clauses=())
WEATHER = replace(FAULT, part=Part.MANNERS, kind=Kind.WEATHER, name="resets", clauses=())
BENEATH = replace(WEATHER, fault="a-fault", clauses=("uid-hyphen",))
CASE = "test_uid.py::test_hyphens[abs-dev]"
OWN = Found("uid-hyphen", True, CASE, "seen")
FOREIGN = replace(OWN, clause="list-top")
FLOOR = Floor(60, 60, 7, "drawn")
SHOULD = replace(OWN, clause="list-title-sorted", must=False)


def found(trial: Trial = FAULT, **parts: Any) -> Result:
    return Result(
        trial, **{"findings": (OWN,), "found_by": (CASE,), "confirmed": True, "exit_code": 1, **parts}
    )


@pytest.mark.parametrize(
    ("trial", "parts", "outcome"),
    [
        (FAULT, {"found_by": (CASE,), "confirmed": True}, Outcome.FOUND),
        (FAULT, {"found_by": (CASE,), "confirmed": False}, Outcome.UNCONFIRMED),
        (FAULT, {"findings": (FOREIGN,), "exit_code": 1}, Outcome.ELSEWHERE),
        (replace(DRAWN, clauses=(SHOULD.clause,)), {"findings": (SHOULD,)}, Outcome.ADVISORY),
        (FAULT, {"altered": 0}, Outcome.UNALTERED),
        (FAULT, {"altered": 3, "reasons": ("uid-hyphen: budget",)}, Outcome.INCONCLUSIVE),
        (FAULT, {"altered": 3}, Outcome.NOT_SEEN),
        (FAULT, {"trouble": "took too long", "found_by": (CASE,)}, Outcome.TROUBLE),
        (SERVICE, {}, Outcome.PASS),
        (SERVICE, {"findings": (OWN,)}, Outcome.FALSE_ALARM),
        (replace(SERVICE, name=FAITHFUL), {"findings": (SHOULD,)}, Outcome.FALSE_ALARM),
        (SERVICE, {"false_passes": ("uid-hyphen: why",)}, Outcome.FALSE_PASS),
        (SERVICE, {"permanent": 31}, Outcome.TOO_MANY_LEFT),
        (SERVICE, {"unlisted": ("rc-somewhere-else",)}, Outcome.UNLISTED),
        (SERVICE, {"exit_code": 6}, Outcome.NOT_JUDGED),
        (WEATHER, {"exit_code": 0}, Outcome.PASS),
        (replace(WEATHER, reachable=False), {"exit_code": 6}, Outcome.PASS),
        (replace(WEATHER, reachable=False), {"exit_code": 1}, Outcome.WRONG_END),
        (BENEATH, {"exit_code": 1, "found_by": (CASE,)}, Outcome.PASS),
        (BENEATH, {"exit_code": 1}, Outcome.WRONG_END),
        (replace(WEATHER, kind=Kind.CANARY), {"wrong": ("versions theirs: changed",)}, Outcome.CHANGED),
        (replace(WEATHER, kind=Kind.KILL), {"wrong": ("draft abs-dev rc-1",)}, Outcome.LEFT),
    ],
)
def test_a_trial_ends_in_one_outcome(trial: Trial, parts: dict[str, Any], outcome: Outcome) -> None:
    ended = Result(trial, **parts)
    assert ended.outcome is outcome
    assert ended.why


def report(*results: Result, **parts: Any) -> Report:
    return Report(results, "python -m registry_contracts.proving", 60.0, 4, **parts)


def test_a_lost_fault_of_the_fixed_set_fails_the_proof_and_so_does_a_service_that_does_not_pass() -> None:
    for one, floor, code in (
        (Result(SERVICE), FLOOR, 0),
        (Result(FAULT, altered=2), FLOOR, 1),
        (found(confirmed=False), FLOOR, 1),
        (Result(SERVICE, exit_code=6), FLOOR, 1),
        (Result(SERVICE, trouble="took too long"), FLOOR, 3),
        (Result(DRAWN, altered=1), None, 1),
    ):
        assert report(*[found()] * 400, one, floor=floor).exit_code() == code


def test_a_draw_fails_when_chance_does_not_explain_what_it_missed() -> None:
    for missed, code in ((0, 0), (1, 0), (4, 0), (5, 1), (11, 1)):
        results = [*[found(DRAWN)] * (60 - missed), *[Result(DRAWN, altered=1)] * missed]
        assert report(*results, floor=FLOOR).exit_code() == code, missed
