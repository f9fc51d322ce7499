"""What a proof makes of its trials: outcomes, when it holds, the floor of a draw, the report."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from contracts.errors import UsageError
from contracts.proving.floor import Share, read_floor, write_floor
from contracts.proving.report import Report, put_between
from contracts.proving.trials import FAITHFUL, Found, Kind, Outcome, Part, Result, Trial
from tests.meta.program import CHECKOUT

FAULT = Trial(Part.FIXED, Kind.FAULT, "a-fault", ("abs-dev",), 1, clauses=("uid-hyphen",), narrow=True)
DRAWN = replace(FAULT, part=Part.DRAWN, narrow=False)
SERVICE = replace(FAULT, kind=Kind.SERVICE, name="gzip+list-hal", clauses=())
WEATHER = replace(FAULT, part=Part.MANNERS, kind=Kind.WEATHER, name="resets", clauses=())
BENEATH = replace(WEATHER, fault="a-fault", clauses=("uid-hyphen",))
CASE = "test_uid.py::test_hyphens[abs-dev]"
OWN = Found("uid-hyphen", True, CASE, "seen")
FOREIGN = replace(OWN, clause="list-top")
SHOULD = replace(OWN, clause="list-title-sorted", must=False)


def result(trial: Trial = FAULT, **parts: Any) -> Result:
    return Result(trial, **parts)


def found(trial: Trial = FAULT, **parts: Any) -> Result:
    return result(trial, findings=(OWN,), found_by=(CASE,), confirmed=True, exit_code=1, **parts)


@pytest.mark.parametrize(
    ("trial", "parts", "outcome"),
    [
        (FAULT, {"found_by": (CASE,), "confirmed": True}, Outcome.FOUND),
        (FAULT, {"found_by": (CASE,), "confirmed": False}, Outcome.UNCONFIRMED),
        (FAULT, {"findings": (FOREIGN,), "exit_code": 1}, Outcome.ELSEWHERE),
        (replace(DRAWN, clauses=(SHOULD.clause,)), {"findings": (SHOULD,)}, Outcome.ADVISORY),
        (FAULT, {"altered": 0}, Outcome.UNALTERED),
        (FAULT, {"altered": 3, "exit_code": 6}, Outcome.INCONCLUSIVE),
        (FAULT, {"altered": 3, "reasons": ("uid-hyphen: budget",)}, Outcome.INCONCLUSIVE),
        (FAULT, {"altered": 3}, Outcome.NOT_SEEN),
        (FAULT, {"trouble": "took too long", "found_by": (CASE,)}, Outcome.TROUBLE),
        (SERVICE, {}, Outcome.PASS),
        (SERVICE, {"findings": (OWN,)}, Outcome.FALSE_ALARM),
        (SERVICE, {"findings": (SHOULD,)}, Outcome.PASS),
        (replace(SERVICE, name=FAITHFUL), {"findings": (SHOULD,)}, Outcome.FALSE_ALARM),
        (SERVICE, {"false_passes": ("uid-hyphen: why",)}, Outcome.FALSE_PASS),
        (SERVICE, {"permanent": 31}, Outcome.TOO_MANY_LEFT),
        (replace(SERVICE, name=FAITHFUL), {"permanent": 21}, Outcome.TOO_MANY_LEFT),
        (SERVICE, {"unlisted": ("rc-somewhere-else",)}, Outcome.UNLISTED),
        (SERVICE, {"exit_code": 6}, Outcome.NOT_JUDGED),
        (WEATHER, {"exit_code": 0}, Outcome.PASS),
        (WEATHER, {"exit_code": 6}, Outcome.WRONG_END),
        (replace(WEATHER, reachable=False), {"exit_code": 6}, Outcome.PASS),
        (replace(WEATHER, reachable=False), {"exit_code": 1}, Outcome.WRONG_END),
        (BENEATH, {"exit_code": 1, "found_by": (CASE,)}, Outcome.PASS),
        (BENEATH, {"exit_code": 1}, Outcome.WRONG_END),
        (BENEATH, {"exit_code": 0}, Outcome.WRONG_END),
        (replace(BENEATH, reachable=False), {"exit_code": 6}, Outcome.PASS),
        (replace(WEATHER, kind=Kind.CANARY), {"exit_code": 1}, Outcome.PASS),
        (replace(WEATHER, kind=Kind.CANARY), {"wrong": ("versions theirs: changed",)}, Outcome.CHANGED),
        (replace(WEATHER, kind=Kind.KILL), {"wrong": ("draft abs-dev rc-1",)}, Outcome.LEFT),
    ],
)
def test_a_trial_ends_in_one_outcome(trial: Trial, parts: dict[str, Any], outcome: Outcome) -> None:
    ended = result(trial, **parts)
    assert ended.outcome is outcome
    assert ended.why


def report(*results: Result, **parts: Any) -> Report:
    return Report(results, "python -m contracts.proving", 60.0, 4, **parts)


def test_a_lost_fault_of_the_fixed_set_fails_the_proof_whatever_the_others_do(tmp_path: Path) -> None:
    write_floor(tmp_path / "floor.json", Share(60, 60), 7, "drawn")
    floor = read_floor(tmp_path / "floor.json")
    lost = result(altered=2)
    assert report(*[found()] * 400, floor=floor).exit_code() == 0
    assert report(*[found()] * 400, lost, floor=floor).exit_code() == 1
    assert report(found(), replace(found(), confirmed=False)).exit_code() == 1
    assert report(found(), result(altered=0)).exit_code() == 1


def test_a_draw_fails_when_chance_does_not_explain_what_it_missed(tmp_path: Path) -> None:
    write_floor(tmp_path / "floor.json", Share(60, 60), 7, "drawn")
    floor = read_floor(tmp_path / "floor.json")
    assert (floor.share, floor.seed) == ((60, 60), 7)
    for missed, code in ((0, 0), (1, 0), (4, 0), (5, 1), (11, 1)):
        results = [*[found(DRAWN)] * (60 - missed), *[result(DRAWN, altered=1)] * missed]
        assert report(*results, floor=floor).exit_code() == code, missed
    assert report(found(DRAWN), result(DRAWN, altered=1)).exit_code() == 1
    (tmp_path / "floor.json").write_text("[]", "utf-8")
    with pytest.raises(UsageError):
        read_floor(tmp_path / "floor.json")


def test_one_trial_that_says_nothing_or_one_service_that_does_not_pass_keeps_the_proof_from_holding() -> None:
    assert report(found(), result(SERVICE)).exit_code() == 0
    assert report(found(), result(SERVICE, exit_code=6)).exit_code() == 1
    assert report(found(), result(SERVICE, trouble="took too long")).exit_code() == 3


def test_the_report_names_what_does_not_hold_who_found_what_and_who_found_nothing() -> None:
    functions = ("test_uid.py::test_hyphens", "test_uid.py::test_idle")
    lost = result(replace(FAULT, name="another"), altered=0)
    aside = replace(found(), findings=(OWN, FOREIGN))
    made = report(found(requests=12), lost, aside, result(SERVICE, findings=(OWN,)), functions=functions)
    text = "\n".join(made.lines())
    assert "| faults of the fixed set that are found on their own clause | 2 of 3 |" in text
    assert "| fault another | abs-dev | the fault made no difference |" in text
    assert "| service gzip list-hal | abs-dev | false alarm | uid-hyphen: seen |" in text
    assert "| `uid-hyphen` | 2 of 3 | `hyphens` |" in text
    assert "Rows of the fixed set whose run found clauses that are not theirs: `a-fault (list-top)`." in text
    assert "Test functions that found no fault: `test_uid.py::test_idle`." in text
    assert "Must clauses that no fault breaks alone: `attachment-create-accepted`," in text
    first, last = made.closing_lines()
    assert first == "found nothing: test_uid.py::test_idle"
    assert last.startswith("proof: does not hold: 2 of 3 faults of the fixed set found")


def test_the_report_goes_between_the_marks_of_a_document(tmp_path: Path) -> None:
    document, (begin, end) = tmp_path / "proof.md", ("<!-- begin proof -->", "<!-- end proof -->")
    document.write_text(f"before\n{begin}\nold\n{end}\nafter\n", encoding="utf-8")
    put_between(document, "proof", "a table")
    put_between(document, "proof", "")
    assert document.read_text(encoding="utf-8") == f"before\n{begin}\n\na table\n\n{end}\nafter\n"
    document.write_text("no marks", encoding="utf-8")
    with pytest.raises(UsageError, match="lacks the line"):
        put_between(document, "proof", "a table")


def test_the_floor_that_ci_holds_a_draw_against_can_be_read() -> None:
    assert read_floor(CHECKOUT / ".ci" / "drawn.json").share.found > 0
