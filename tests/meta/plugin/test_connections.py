"""Nothing but the session's transport opens a connection, whatever a run does."""

from pathlib import Path
from typing import Any

import pytest

pytestmark = pytest.mark.usefixtures("nothing_left")
WORDS = ("--realm=abs-dev", "-p", "door_watch")


@pytest.mark.parametrize("workers", [(), ("-n", "2")], ids=["alone", "workers"])
def test_every_connection_goes_through_the_transport(
    run: Any, tmp_path: Path, workers: tuple[str, ...]
) -> None:
    log = tmp_path / "connections"
    run.environment["DOOR_WATCH_LOG"] = str(log)
    ended = run(
        "-k", "test_save or (test_single_faults and getDraftInfo) or test_signing_in", *WORDS, *workers
    )
    assert ended.code == 0, ended.said
    assert len(ended.cases()) == 3
    assert set(log.read_text(encoding="utf-8").splitlines()) == {"door"}


def test_the_watch_would_see_another_way_out(run: Any, tmp_path: Path) -> None:
    log = tmp_path / "connections"
    run.environment["DOOR_WATCH_LOG"] = str(log)
    ended = run("-k", "test_past_the_transport", *WORDS)
    assert ended.code == 3, ended.said
    assert "past the door: socket.connect" in log.read_text(encoding="utf-8")
