"""Two workers give one verdict, and what becomes of a run whose worker dies; only the session opens connections."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.meta.plugin.conftest import hiding

pytestmark = pytest.mark.usefixtures("nothing_left")


def test_two_workers_share_their_tokens_and_give_one_verdict(run: Any, faulty: Callable[..., Any]) -> None:
    service = faulty(hiding())
    ended = run.apart(
        "-k", "test_content or test_save or test_should", f"--target={service.target}", "-n", "2"
    )
    assert ended.code == 1, ended.output
    found = {(each["clause"], each["realm"], each["confirmed"]) for each in ended.verdict["findings"]}
    assert found == {("draft-get-content", realm, True) for realm in ("abs-dev", "bch-dev", "chm-dev")}
    assert ended.cells()["draft-save-creates", "abs-dev"] == "pass"
    assert service.app.count("POST", "/token") == 4
    assert ended.verdict["leftovers"] == []


def test_a_case_that_kills_its_worker_is_an_error_and_no_more(run: Any, faulty: Callable[..., Any]) -> None:
    service = faulty()
    ended = run.apart(
        "-k", "test_many", "--realm=abs-dev", "-p", "crashing", "-n", "1", f"--target={service.target}"
    )
    assert ended.code == 3, ended.output
    assert len([case for case in ended.cases().values() if case["outcome"] == "pass"]) == 11
    assert "incomplete" in ended.verdict["reason"]
    junit = (ended.folder / "junit.xml").read_text(encoding="utf-8")
    assert "ended in the middle of this case" in junit
    # What the dead worker had saved is removed by those who outlive it.
    assert ended.verdict["leftovers"] == []
    assert service.app.paths("PUT") <= service.app.paths("DELETE")


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
