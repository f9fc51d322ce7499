"""Which runs are over, and which private folders are no longer needed."""

import json
import platform
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from registry_contracts.session import shared_state
from registry_contracts.session.sweep import earlier_runs

URL = "http://registry.example"
LINE = {"number": 1, "operation": "saveDraft", "what": "draft", "realm": "abs-dev", "role": "author"}
LINE |= {"identifier": "rc-dead0000001", "state": "intended", "at": "2026-01-01T00:00:00+00:00", "by": "main"}


def now(hours_ago: float = 0) -> str:
    return (datetime.now(UTC) - timedelta(hours=hours_ago)).isoformat()


@pytest.mark.parametrize(
    ("facts", "swept"),
    [
        ({}, True),
        ({"finished": "2026-01-01T00:00:00+00:00", "left": 0}, False),
        ({"finished": "2026-01-01T00:00:00+00:00", "left": 2}, True),
        ({"base_url": "http://another.example"}, False),
        ({"token": None}, False),
        ({"process": {"pid": 1, "host": "another-machine"}}, False),
        ({"process": {"pid": 1, "host": "another-machine"}, "started": now(25)}, True),
    ],
    ids=["dead", "finished", "leftovers", "another-target", "no-token", "elsewhere", "elsewhere-long-ago"],
)
def test_only_runs_that_are_over_go(tmp_path: Path, facts: dict[str, Any], swept: bool) -> None:
    folder = tmp_path / "one"
    folder.mkdir()
    process = {"pid": 1, "host": platform.node()}
    known = {"base_url": URL, "token": "dead", "finished": None, "started": now(), "process": process}
    (folder / "run.json").write_text(json.dumps({**known, **facts}))
    (folder / "ledger-main.jsonl").write_text(json.dumps(LINE) + "\n")
    found = [draft.identifier for run in earlier_runs(tmp_path, URL) for draft in run.drafts]
    assert found == (["rc-dead0000001"] if swept else [])


def test_private_folders_of_dead_runs_go_and_no_others(tmp_path: Path) -> None:
    places = {name: tmp_path / f"registry-contracts-{name}" for name in ("alive", "dead", "new", "open")}
    for path in places.values():
        path.mkdir(mode=0o700)
    alive = shared_state.ProcessLock(places["alive"], "main")
    for name in ("dead", "open"):
        (places[name] / "alive-main.lock").touch()
        (places[name] / "token-author.json").write_text("{}")
    places["open"].chmod(0o755)
    (tmp_path / "registry-contracts-link").symlink_to(places["dead"])
    assert list(shared_state.abandoned_private_folders(tmp_path)) == [places["dead"]]
    assert shared_state.remove_abandoned_private_folders(tmp_path) == 1
    assert {name for name, path in places.items() if path.exists()} == {"alive", "new", "open"}
    alive.release()
    assert not shared_state.process_alive(places["alive"])
