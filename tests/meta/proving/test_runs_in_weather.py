"""Narrow runs of the suite in bad weather: never a finding made by it, and a defect beneath it found all the same."""

import json
from pathlib import Path
from typing import Any

from contracts.proving.runs import RunOutcome, run_altered

CLAUSES = ["draft-get-content", "draft-delete-removes"]


def run_in(weather: str, reports: Path, *more: str, clauses: Any = CLAUSES) -> RunOutcome:
    arguments = ["--weather", weather, "--weather-seed", "1", *more]
    extra = ["--realm=abs-dev", "--history=off"]
    return run_altered(arguments, "gate", 1, clauses=clauses, reports=reports, extra=extra)


def test_a_run_gets_through_resets_and_says_what_it_met(tmp_path: Path) -> None:
    done = run_in("resets:share=0.15", tmp_path)
    assert (done.verdict, done.findings) == ("pass", ())
    assert done.faults
    assert "weather: " in done.said
    assert "judged in it: " in done.said


def test_a_defect_is_found_beneath_the_weather(tmp_path: Path) -> None:
    done = run_in(
        "gateway-html:share=0.1", tmp_path, "--defect", "draft-content-texts-cut", clauses=CLAUSES[:1]
    )
    assert done.verdict == "fail"
    assert {finding["clause"] for finding in done.findings} == {"draft-get-content"}
    assert done.faults


def test_a_service_that_refuses_connections_is_known_to_be_down(tmp_path: Path) -> None:
    done = run_in("outage-from-start", tmp_path)
    assert (done.verdict, done.exit_code, done.findings) == ("inconclusive", 6, ())
    assert "cannot be judged" in json.loads((done.folder / "verdict.json").read_text("utf-8"))["reason"]


def test_a_service_that_never_answers_is_known_to_be_down(run_against: Any) -> None:
    done = run_against("outage-from-start:as=silent", timeout=1, clauses=CLAUSES)
    verdict = json.loads((done / "verdict.json").read_text("utf-8"))
    assert (verdict["verdict"], verdict["exit_code"], verdict["findings"]) == ("inconclusive", 6, [])
    assert "cannot be judged" in verdict["reason"]


def test_an_operation_that_is_gone_leaves_the_rest_to_be_judged(run_against: Any) -> None:
    done = run_against("hanging-operation:operation=deleteDraft", timeout=1, clauses=CLAUSES)
    verdict = json.loads((done / "verdict.json").read_text("utf-8"))
    cells = {clause["id"]: clause["realms"].get("abs-dev") for clause in verdict["clauses"]}
    assert verdict["exit_code"] == 6
    assert "deleteDraft is given up" in str(cells["draft-delete-removes"]["reason"])
    assert cells["draft-get-content"]["held"] > 0
    assert verdict["environment"]["faults"]["no answer within the time limit"] <= 10
