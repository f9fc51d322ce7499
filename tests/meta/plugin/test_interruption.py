"""A run that is stopped reports what it saw, removes its drafts and leaves no process and no token behind."""

import json
import os
import signal
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

pytestmark = pytest.mark.usefixtures("nothing_left")


def stop(process: Any, number: int, *, group: bool, ready: Callable[[], bool]) -> None:
    """Send a signal once the service has seen enough."""
    deadline = time.monotonic() + 120
    while not ready() and process.poll() is None and time.monotonic() < deadline:
        time.sleep(0.02)
    assert process.poll() is None, process.communicate()
    (os.killpg if group else os.kill)(process.pid, number)


@pytest.mark.parametrize(
    ("number", "group", "workers"),
    [
        (signal.SIGINT, False, ()),
        (signal.SIGTERM, False, ()),
        (signal.SIGHUP, False, ()),
        (signal.SIGINT, False, ("-n", "2")),
        (signal.SIGINT, True, ("-n", "2")),
    ],
    ids=["ctrl-c", "terminated", "hung-up", "ctrl-c-workers", "ctrl-c-all"],
)
def test_a_stopped_run_cleans_up_and_reports(
    run: Any, faulty: Callable[..., Any], number: int, group: bool, workers: tuple[str, ...]
) -> None:
    service = faulty(delay=0.05)
    process = run.start("-k", "test_many", f"--target={service.target}", *workers)
    stop(process, number, group=group, ready=lambda: cases_ended(run) >= 1)
    ended = run.end(process)
    assert ended.code == 2, ended.said
    assert ended.verdict["verdict"] == "interrupted"
    assert "Traceback" not in ended.said
    assert ended.verdict["leftovers"] == []
    saved = {path for method, path in service.app.requests if method == "PUT"}
    deleted = {path for method, path in service.app.requests if method == "DELETE"}
    # More may be deleted than arrived: a save that was cut off on its way may have happened, for all the run knows.
    assert saved <= deleted
    assert 1 <= len(ended.cases()) < 36


@pytest.mark.parametrize("workers", [(), ("-n", "2")], ids=["alone", "workers"])
def test_an_interruption_that_python_drops_is_made_up_for_after_the_case(
    run: Any, faulty: Callable[..., Any], workers: tuple[str, ...]
) -> None:
    ended = run("-k", "test_many", "-p", "swallowing", f"--target={faulty(delay=0.05).target}", *workers)
    assert ended.code == 2, ended.said
    assert (ended.verdict["verdict"], ended.verdict["leftovers"]) == ("interrupted", [])
    assert len(ended.cases()) < 36


def test_a_terminal_that_is_closed_while_workers_start_stops_the_run(
    run: Any, faulty: Callable[..., Any]
) -> None:
    process = run.start_fresh("-k", "test_many", "-n", "2", f"--target={faulty().target}")
    stop(process, signal.SIGHUP, group=True, ready=lambda: has_workers(run))
    ended = run.end(process)
    assert ended.code == 2, ended.said
    assert ended.verdict["verdict"] == "interrupted"
    assert "Traceback" not in ended.said


def has_workers(run: Any) -> bool:
    """Whether the run has started a worker; the second one is started after that."""
    return any('"gw0"' in path.read_text("utf-8") for path in run.reports.glob("*/run.json"))


def test_the_embedded_sandbox_ends_with_an_interrupted_run(run: Any) -> None:
    process = run.start("-k", "test_waiting", "--realm=abs-dev")
    stop(process, signal.SIGINT, group=True, ready=lambda: written(run, "ledger-main.jsonl"))
    assert sandboxes(run)
    ended = run.end(process)
    assert ended.code == 2, ended.said
    assert ended.verdict["leftovers"] == []
    assert not sandboxes(run)


def written(run: Any, name: str) -> bool:
    """Whether a file of the run folder holds something already."""
    return any(path.stat().st_size for path in run.reports.glob(f"*/{name}"))


def cases_ended(run: Any) -> int:
    """How many cases the journals of the run tell the end of; a line that is being written is none yet."""
    lines = [
        line
        for journal in run.reports.glob("*/journal-*.jsonl")
        for line in journal.read_text("utf-8").splitlines()
    ]
    return sum(line.endswith("}") and json.loads(line)["kind"] == "case" for line in lines)


def sandboxes(run: Any) -> list[str]:
    """Embedded sandboxes of this test's runs that are alive, known by their variables."""
    found = []
    for entry in Path("/proc").iterdir():
        with suppress(OSError):  # it has just ended, or is somebody else's
            mine = f"TMPDIR={run.private_parent}".encode() in (entry / "environ").read_bytes()
            if mine and b"serve_as_child" in (entry / "cmdline").read_bytes():
                found.append(entry.name)
    return found
