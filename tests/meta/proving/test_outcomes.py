"""What a proof makes of its trials: outcomes, when it holds, the report."""

from dataclasses import replace
from typing import Any

import pytest

from registry_contracts.proving.floor import Floor, Share
from registry_contracts.proving.report import Report
from registry_contracts.proving.trials import FAITHFUL, Found, Kind, Outcome, Part, Result, Trial

FAULT = Trial(Part.FIXED, Kind.FAULT, "a-fault", ("abs-dev",), 1, clauses=("uid-hyphen",), narrow=True)
DRAWN = replace(FAULT, part=Part.DRAWN, narrow=False)
SERVICE = replace(FAULT, kind=Kind.SERVICE, name="gzip+list-hal", clauses=())
NETWORK = replace(FAULT, part=Part.MANNERS, kind=Kind.NETWORK_FAULT, name="resets", clauses=())
BENEATH = replace(NETWORK, fault="a-fault", clauses=("uid-hyphen",))
CASE = "test_uid.py::test_hyphens[abs-dev]"
OWN = Found("uid-hyphen", True, CASE, "seen")
FOREIGN = replace(OWN, clause="list-top")
FLOOR = Floor(110, 120, (7, 8), "2026-11-29", "0123abc", "drawn")
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
        (FAULT, {"altered": 3, "mattered": 0}, Outcome.UNALTERED),
        (FAULT, {"altered": 3, "mattered": 0, "findings": (OWN,), "found_by": (CASE,)}, Outcome.UNPROMISED),
        (FAULT, {"mattered": 3, "reasons": ("uid-hyphen: budget",)}, Outcome.INCONCLUSIVE),
        (FAULT, {"mattered": 3}, Outcome.NOT_SEEN),
        (FAULT, {"trouble": "took too long", "found_by": (CASE,)}, Outcome.TROUBLE),
        (SERVICE, {}, Outcome.PASS),
        (SERVICE, {"findings": (OWN,)}, Outcome.FALSE_ALARM),
        (replace(SERVICE, name=FAITHFUL), {"findings": (SHOULD,)}, Outcome.FALSE_ALARM),
        (SERVICE, {"false_passes": ("uid-hyphen: why",)}, Outcome.FALSE_PASS),
        (SERVICE, {"permanent": 31}, Outcome.TOO_MANY_LEFT),
        (SERVICE, {"unlisted": ("rc-somewhere-else",)}, Outcome.UNLISTED),
        (SERVICE, {"exit_code": 6}, Outcome.NOT_JUDGED),
        (replace(NETWORK, reachable=False), {"exit_code": 6}, Outcome.PASS),
        (replace(NETWORK, reachable=False), {"exit_code": 1}, Outcome.WRONG_END),
        (BENEATH, {"exit_code": 1, "found_by": (CASE,)}, Outcome.PASS),
        (BENEATH, {"exit_code": 1}, Outcome.WRONG_END),
        (replace(NETWORK, kind=Kind.CANARY), {"wrong": ("versions theirs: changed",)}, Outcome.CHANGED),
        (replace(NETWORK, kind=Kind.KILL), {"wrong": ("draft abs-dev rc-1",)}, Outcome.LEFT),
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
        (Result(FAULT, mattered=2), FLOOR, 1),
        (found(confirmed=False), FLOOR, 1),
        (Result(SERVICE, exit_code=6), FLOOR, 1),
        (Result(SERVICE, trouble="took too long"), FLOOR, 3),
        (Result(DRAWN, mattered=1), None, 1),
    ):
        assert report(*[found()] * 400, one, floor=floor).exit_code() == code


def test_a_draw_fails_below_the_interval_of_what_was_measured() -> None:
    assert [round(each, 2) for each in Share(110, 120).interval] == [0.85, 0.95]
    for missed, code in ((0, 0), (1, 0), (8, 0), (10, 1), (11, 1)):
        results = [*[found(DRAWN)] * (60 - missed), *[Result(DRAWN, mattered=1)] * missed]
        assert report(*results, floor=FLOOR).exit_code() == code, missed


def test_a_drawn_fault_that_made_no_difference_is_told_apart_and_need_not_be_found() -> None:
    never, silent = Result(DRAWN, altered=0, mattered=0), Result(DRAWN, altered=4, mattered=0)
    told = report(found(DRAWN), never, silent, floor=FLOOR)
    assert (told.drawn, told.exit_code(), told.bad) == ((1, 1), 0, [])
    assert "1 and 1 others that made no difference" in next(filter(None, reversed([*told.closing_lines()])))
