"""Two workers do what one does: the same answer, one sign-in for each role, nothing left behind."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.meta.plugin.rules import hidden

pytestmark = pytest.mark.usefixtures("nothing_left")
WORDS = ("-k", "test_content or test_save or test_should or test_only_sends")


def essence(ended: Any) -> Any:
    """A verdict without what two runs may differ in."""
    verdict = ended.verdict
    findings = [
        {key: finding[key] for key in ("id", "clause", "realm", "operation", "expected", "confirmed", "rate")}
        for finding in verdict["findings"]
    ]
    kept = {key: verdict[key] for key in ("verdict", "exit_code", "reason", "clauses", "profile", "seed")}
    return kept | {"findings": findings}


def test_two_workers_give_the_same_verdict(run: Any, faulty: Callable[..., Any], tmp_path: Path) -> None:
    service = faulty(hidden)
    target = f"--target={service.target}"
    one = run(*WORDS, target, reports=tmp_path / "one")
    signed_in = service.app.count("POST", "/token")
    two = run(*WORDS, target, "-n", "2", reports=tmp_path / "two")
    assert one.code == two.code == 1, one.said + two.said
    assert one.cells()["draft-save-creates", "abs-dev"] == "pass"
    assert essence(one) == essence(two)
    assert signed_in == 4
    assert service.app.count("POST", "/token") == 8
    assert one.verdict["leftovers"] == two.verdict["leftovers"] == []


def test_a_run_outlives_its_tokens(run: Any, faulty: Callable[..., Any]) -> None:
    service = faulty(token_lifetime=0.4, delay=0.05)  # two dozen requests take three lifetimes at least
    ended = run("-k", "test_many", "--realm=abs-dev", f"--target={service.target}")
    assert ended.code == 0, ended.said
    assert service.app.count("POST", "/token") > 4


def test_a_worker_that_dies_before_it_begins_is_named_and_does_no_harm(
    run: Any, faulty: Callable[..., Any]
) -> None:
    service = faulty()
    ended = run("-k", "test_save", "-n", "2", "-p", "dying", f"--target={service.target}")
    assert ended.code == 0, ended.said
    assert "warning: worker gw1 died; what it was at was done by others" in ended.out
    assert ended.verdict["notes"] == ["worker gw1 died; what it was at was done by others"]
    assert ended.cells()["draft-save-creates", "abs-dev"] == "pass"


def crashing(run: Any, service: Any, which: str, *workers: str) -> Any:
    """Run twelve cases of which some take their worker with them."""
    run.environment |= {"CRASH_MARK": str(run.scratch / "crashed"), "CRASH_CASES": which}
    words = ("-k", "test_many", "--realm=abs-dev", "-p", "crashing")
    return run(*words, *workers, f"--target={service.target}")


def test_the_case_of_a_worker_that_was_killed_runs_again_on_another(
    run: Any, faulty: Callable[..., Any]
) -> None:
    service = faulty()
    ended = crashing(run, service, "once", "-n", "2")
    assert ended.code == 0, ended.said
    assert "1 rerun" in ended.out
    assert len(ended.verdict["notes"]) == 1
    assert ended.verdict["cases"] == 12
    assert all(case["outcome"] == "pass" for case in ended.cases().values())
    # What the dead worker had saved is removed by those who outlive it.
    assert ended.verdict["leftovers"] == []
    saved = {path for method, path in service.app.requests if method == "PUT"}
    assert saved <= {path for method, path in service.app.requests if method == "DELETE"}


def test_a_case_that_takes_two_workers_with_it_is_an_error_and_the_others_are_judged(
    run: Any, faulty: Callable[..., Any]
) -> None:
    ended = crashing(run, faulty(), "always", "-n", "2")
    assert ended.code == 3, ended.said
    assert len([case for case in ended.cases().values() if case["outcome"] == "pass"]) == 11
    assert "not whole" in ended.verdict["reason"]
    junit = (ended.folder / "junit.xml").read_text(encoding="utf-8")
    assert "ended in the middle of this case" in junit


@pytest.mark.parametrize(("breaks_at", "most_cases"), [("case", 11), ("end", 13)])
@pytest.mark.parametrize(
    ("breaks_with", "words"),
    [("disk", "OSError: [Errno 28] No space left on device"), ("mistake", "KeyError: 'no such thing'")],
)
def test_a_worker_that_cannot_go_on_stops_the_run_and_says_why_in_a_line(
    run: Any, faulty: Callable[..., Any], breaks_at: str, most_cases: int, breaks_with: str, words: str
) -> None:
    run.environment |= {"BREAKS_AT": breaks_at, "BREAKS_WITH": breaks_with}
    chosen = ("-k", "test_many", "--realm=abs-dev", "-n", "2", "-p", "broken_journal")
    ended = run(*chosen, f"--target={faulty().target}")
    assert ended.code == 3, ended.said
    assert f"worker: worker gw0 broke: {words}" in ended.verdict["reason"]
    assert "Traceback" not in ended.said
    assert "INTERNALERROR" not in ended.said
    assert len(ended.cases()) <= most_cases
