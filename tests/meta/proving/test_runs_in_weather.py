"""Narrow runs on other services and in bad weather: never a false finding, and a defect beneath found all the same."""

import json
import re
import shlex
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from contracts.proving.manners import LOOKALIKES, Change, canary, changes
from contracts.proving.processes import RunOutcome, read_outcome
from contracts.settings.embedded_sandbox import SANDBOX_SETTINGS
from tests.meta.program import Program

CLAUSES = ("draft-get-content", "draft-delete-removes")
#: A case of a few dozen requests; each fault that it meets is waited for.
READING = "test_any_content_that_was_saved_comes_back"
Run = Callable[..., RunOutcome]


@pytest.fixture
def run_in(program: Program) -> Run:
    """Return a runner of a few clauses in one realm, or of one case, on a sandbox behind some weather."""

    def run(weather: str, *more: str, case: str = "") -> RunOutcome:
        arguments = shlex.join(["--weather", weather, "--weather-seed", "1", *more])
        chosen = ["-k", case] if case else of(CLAUSES)
        return outcome(program, f"--sandbox-arguments={arguments}", *chosen)

    return run


@pytest.fixture
def run_against(program: Program, start_sandbox: Callable[..., Any]) -> Run:
    """Return a runner of these clauses that waits a second for an answer, against a sandbox that was served by hand."""

    def run(weather: str) -> RunOutcome:
        text = SANDBOX_SETTINGS.read_text("utf-8")
        text = text.replace("http://127.0.0.1:8080", start_sandbox("--weather", weather).url)
        shutil.copytree(SANDBOX_SETTINGS.parent / "samples", program.folder / "samples")
        target = program.folder / "service.toml"
        target.write_text(re.sub(r"timeout_seconds = \d+", "timeout_seconds = 1", text), "utf-8")
        for role in ("author", "other", "restricted", "nau"):
            program.environment[f"SANDBOX_{role.upper()}_EMAIL"] = f"{role}@sandbox.test"
            program.environment[f"SANDBOX_{role.upper()}_PASSWORD"] = f"sandbox-{role}"
        return outcome(program, f"--target={target}", *of(CLAUSES))

    return run


def of(clauses: tuple[str, ...]) -> list[str]:
    return [f"--clause={clause}" for clause in clauses]


def outcome(program: Program, *words: str) -> RunOutcome:
    ended = program("run", "--seed=1", "--realm=abs-dev", "--history=off", *words)
    folder = (program.folder / "reports" / "latest").resolve()
    return read_outcome(folder / "verdict.json", ended.code, 0.0, ended.out)


def verdict_of(done: RunOutcome) -> dict[str, Any]:
    content: dict[str, Any] = json.loads((done.folder / "verdict.json").read_text("utf-8"))
    return content


def test_a_run_gets_through_resets_and_says_what_it_met(run_in: Run) -> None:
    done = run_in("resets:share=0.15", case=READING)
    assert (done.verdict, done.findings) == ("pass", ())
    assert done.faults
    assert "environment: " in done.said
    assert "judged all the same: " in done.said


def test_a_defect_is_found_beneath_the_weather(run_in: Run) -> None:
    done = run_in("gateway-html:share=0.1", "--defect", "draft-content-texts-cut", case=READING)
    assert done.verdict == "fail"
    assert {finding["clause"] for finding in done.findings} == {"draft-get-content"}
    assert done.faults


def test_a_service_that_refuses_connections_is_known_to_be_down(run_in: Run) -> None:
    done = run_in("outage-from-start")
    assert (done.verdict, done.exit_code, done.findings) == ("inconclusive", 6, ())
    assert "cannot be judged" in verdict_of(done)["reason"]


def test_a_service_that_never_answers_is_known_to_be_down(run_against: Run) -> None:
    done = run_against("outage-from-start:as=silent")
    assert (done.verdict, done.exit_code, done.findings) == ("inconclusive", 6, ())
    assert "cannot be judged" in verdict_of(done)["reason"]


def test_an_operation_that_is_gone_leaves_the_rest_to_be_judged(run_against: Run) -> None:
    done = run_against("hanging-operation:operation=deleteDraft")
    assert done.exit_code == 6
    cells = {clause["id"]: clause["realms"].get("abs-dev") for clause in verdict_of(done)["clauses"]}
    assert "deleteDraft is given up" in str(cells["draft-delete-removes"]["reason"])
    assert cells["draft-get-content"]["held"] > 0
    assert done.faults["no answer within the time limit"] <= 10


REPORTS = {
    "verdict.json",
    "index.html",
    "findings",
    "junit.xml",
    "traffic.har",
    "allure",
    "observations.json",
    "questions.md",
    "summary.md",
    "history-entry.json",
}


def test_a_variant_raises_no_alarm_and_every_report_is_written(program: Program) -> None:
    words = [
        "--profile=nightly",
        "--seed=1",
        "--realm=abs-dev",
        "--sandbox-arguments=--variant half-pairs-kept",
    ]
    ended = program("run", *words, "-k", "odd_records", "--operation=saveDraft")
    folder = (program.folder / "reports" / "latest").resolve()
    done = read_outcome(folder / "verdict.json", ended.code, 0.0)
    assert (done.verdict, done.exit_code, done.findings, done.inconclusive) == ("pass", 0, (), ()), ended.out
    assert done.requests > 10
    assert {path.name for path in folder.iterdir()} >= REPORTS
    assert "oddTexts" in (folder / "observations.json").read_text("utf-8")


def test_an_order_that_is_passed_over_shows_among_items_that_are_others_in_each_answer(
    program: Program,
) -> None:
    altered = "--variant list-items-volatile --defect list-order-ignored"
    words = ["--seed=1", "--realm=abs-dev", "--clause=list-orderby-heeded", f"--sandbox-arguments={altered}"]
    ended = program("run", *words)
    done = read_outcome(program.folder / "reports" / "latest" / "verdict.json", ended.code, 0.0)
    assert (done.exit_code, [finding["clause"] for finding in done.findings]) == (
        1,
        ["list-orderby-heeded"],
    ), ended.out


def test_lists_that_are_late_and_not_found_while_they_are_empty_raise_no_alarm(program: Program) -> None:
    altered = "--variant lists-late --variant list-empty-404 --variant list-own-only"
    words = ["--seed=1", "--realm=abs-dev", f"--sandbox-arguments={altered}"]
    ended = program("run", *words, "-k", "test_list_paging and test_top_bounds_the_list")
    done = read_outcome(program.folder / "reports" / "latest" / "verdict.json", ended.code, 0.0)
    assert (done.verdict, done.findings, done.inconclusive) == ("pass", (), ()), ended.out


@pytest.mark.usefixtures("forked_runs")
@pytest.mark.parametrize(
    ("words", "defect"),
    [
        (("--profile", "smoke"), None),
        (("-k", "uid_lengths", "-n", "2"), "uid-accepts-ten"),
    ],
    ids=["smoke", "broken"],
)
def test_a_run_changes_nobody_elses_records(
    tmp_path: Path, words: tuple[str, ...], defect: str | None
) -> None:
    sandbox = ("--defect", defect) if defect else ()
    seen = canary(tmp_path / "canary", (*words, "--realm=abs-dev"), sandbox)
    assert seen.changed == ()
    assert seen.planted == 9 * len(LOOKALIKES)
    assert seen.permanent <= 12
    assert seen.code == (1 if defect else 0)


def test_the_canary_would_notice() -> None:
    before: dict[tuple[str, ...], str] = {
        ("versions", "abs-dev", "theirs", "draft"): "1",
        ("versions", "abs-dev", "named", "draft"): "1",
    }
    assert changes(before, before, frozenset()) == []
    found = changes(before, {("versions", "abs-dev", "theirs", "draft"): "2"}, frozenset({"named"}))
    assert found == [Change(("versions", "abs-dev", "theirs", "draft"), "changed")]
    assert [change.how for change in changes(before, {}, frozenset({"named"}))] == ["gone"]
