"""Two workers do what one does, and what becomes of a run whose worker dies; only the session opens connections."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.meta.plugin.rules import hiding

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
    service = faulty(hiding())
    target = f"--target={service.target}"
    one = run.apart(*WORDS, target, reports=tmp_path / "one")
    signed_in = service.app.count("POST", "/token")
    two = run.apart(*WORDS, target, "-n", "2", reports=tmp_path / "two")
    assert one.code == two.code == 1, one.output + two.output
    assert one.cells()["draft-save-creates", "abs-dev"] == "pass"
    assert essence(one) == essence(two)
    assert signed_in == 5  # once more for the account that is used first, where no other worker uses it
    assert service.app.count("POST", "/token") == signed_in + 4
    assert one.verdict["leftovers"] == two.verdict["leftovers"] == []


def test_a_case_that_kills_its_worker_is_an_error_and_no_more(run: Any, faulty: Callable[..., Any]) -> None:
    service = faulty()
    ended = run.apart(
        "-k", "test_many", "--realm=abs-dev", "-p", "crashing", "-n", "1", f"--target={service.target}"
    )
    assert ended.code == 3, ended.output
    assert len([case for case in ended.cases().values() if case["outcome"] == "pass"]) == 11
    assert "not whole" in ended.verdict["reason"]
    junit = (ended.folder / "junit.xml").read_text(encoding="utf-8")
    assert "ended in the middle of this case" in junit
    # What the dead worker had saved is removed by those who outlive it.
    assert ended.verdict["leftovers"] == []
    saved = {path for method, path in service.app.requests if method == "PUT"}
    assert saved <= {path for method, path in service.app.requests if method == "DELETE"}


def test_only_the_transport_opens_connections(run: Any, tmp_path: Path) -> None:
    log = tmp_path / "connections"
    run.environment["DOOR_WATCH_LOG"] = str(log)
    chosen = (
        "test_save or (test_single_faults and getDraftInfo) or test_signing_in or test_past_the_transport"
    )
    ended = run.apart("-k", chosen, "--realm=abs-dev", "-p", "door_watch")
    assert ended.code == 3, ended.output
    assert [case["outcome"] for case in ended.cases().values()].count("error") == 1
    other = [line for line in log.read_text(encoding="utf-8").splitlines() if line != "door"]
    assert [line.partition(" (")[0] for line in other] == ["past the door: socket.connect"]
