"""A run that is stopped or killed reports what it saw, and leaves no draft, no process and no token behind."""

import json
import os
import shutil
import signal
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from registry_contracts.reports.writers import write_all
from tests.meta.program import PATIENCE, eventually
from tests.meta.sandbox_client import SandboxClient


def until(ready: Callable[[], bool], process: Any) -> None:
    """Wait for a state of a run that goes on."""
    eventually(lambda: ready() or process.poll() is not None)
    assert process.poll() is None, process.communicate()
    assert ready()


@pytest.mark.parametrize(
    ("number", "workers"), [(signal.SIGTERM, ()), (signal.SIGINT, ("-n", "1"))], ids=["terminated", "ctrl-c"]
)
def test_a_stopped_run_cleans_up_and_reports(
    run: Any, faulty: Any, number: int, workers: tuple[str, ...]
) -> None:
    service = faulty(delay=0.05)
    process = run.start("-k", "test_many", f"--target={service.target}", *workers)
    # The preflight check saves one draft, and each of the first two cases one.
    until(lambda: len(saved(service)) > 2, process)
    lines = command_lines(run)
    assert lines
    assert not [line for line in lines if b"sandbox-author" in line], "others on the machine can read them"
    # A terminal tells all processes of a run.
    (os.killpg if workers else os.kill)(process.pid, number)
    ended = run.end(process)
    assert (ended.code, ended.verdict["verdict"]) == (2, "interrupted"), ended.output
    assert ended.verdict["leftovers"] == []
    assert "Traceback" not in ended.output
    assert 1 <= len(ended.cases()) < 36
    # The run also deletes a draft whose save was cut off, since that may have happened.
    assert service.app.paths("PUT") <= service.app.paths("DELETE")


def command_lines(run: Any) -> list[bytes]:
    """Command lines of the processes of this test's runs, which are known by their variables."""
    found = []
    for entry in Path("/proc").iterdir():
        with suppress(OSError):  # it has just ended, or belongs to another user
            if f"TMPDIR={run.private_parent}".encode() in (entry / "environ").read_bytes():
                found.append((entry / "cmdline").read_bytes())
    return found


WAITING = ("-k", "test_waiting")


def saved(service: Any) -> set[str]:
    return {path for method, path in service.app.done if method == "PUT" and path.endswith("/draft")}


def test_a_run_that_is_alive_is_left_alone(run: Any, faulty: Any) -> None:
    service = faulty()
    process = run.start(*WAITING, "--realm=bch-dev", f"--target={service.target}")
    until(lambda: bool(saved(service)), process)
    theirs = saved(service)
    ended = run("-k", "test_save", "--realm=abs-dev", f"--target={service.target}")
    swept = run.sweep(f"--target={service.target}", "--older-than=0")
    assert "swept run" not in ended.out
    assert not theirs & service.app.paths("DELETE"), swept.output
    assert "its run is still active" in swept.out
    process.send_signal(signal.SIGINT)
    assert run.end(process).code == 2
    assert theirs <= service.app.paths("DELETE")


def test_without_a_ledger_only_own_drafts_go(run: Any, faulty: Any) -> None:
    service = faulty()
    process = run.start(*WAITING, f"--target={service.target}")
    # The preflight check saves one draft, and the case that waits another.
    until(lambda: len(saved(service)) > 1, process)
    os.kill(process.pid, signal.SIGKILL)
    killed = run.end(process)
    # Wait until it is known whether the requests under way were stored.
    eventually(lambda: len(service.app.done) >= len(service.app.requests))
    left = saved(service)
    verdict = write_all(killed.folder, ("verdict", "summary"))
    assert (verdict.exit_code, "no closing record" in verdict.reason) == (3, True)
    dry = run.sweep(f"--target={service.target}", "--dry-run")
    assert (dry.code, service.app.paths("DELETE")) == (0, set()), dry.output
    assert all(dry.out.count(path.split("/")[4]) == 1 for path in left), dry.output
    shutil.rmtree(run.reports)
    own = ["rc-report-2026-final", "rc-abcdmadebyaperson0001", "rc-keep-author-contact"]
    with SandboxClient(service.url) as person:
        for name in own:
            person.save(name).raise_for_status()
    young = run.sweep(f"--target={service.target}")
    assert (young.code, service.app.paths("DELETE")) == (0, set()), young.output
    assert "younger than 24 hours" in young.out
    done = run.sweep(f"--target={service.target}", "--older-than=0")
    assert (done.code, service.app.paths("DELETE")) == (0, left), done.output
    everything = run.sweep(f"--target={service.target}", "--all-of-mine")
    removed = {path.split("/")[4] for path in service.app.paths("DELETE") - left}
    assert removed == set(own[:2]), everything.output


def test_ctrl_c_twice_stops_at_once_and_says_what_is_left(run: Any, faulty: Any) -> None:
    deleting, ended_at_once = threading.Event(), threading.Event()

    def held_deletes(method: str, _path: str, _before: int) -> None:
        if method == "DELETE":
            deleting.set()
            ended_at_once.wait(PATIENCE)

    service = faulty(held_deletes)
    process = run.start(*WAITING, "--realm=abs-dev", f"--target={service.target}")
    until(lambda: len(saved(service)) == 2, process)
    os.kill(process.pid, signal.SIGINT)
    until(deleting.is_set, process)
    time.sleep(0.4)  # two signals closer together than this are one wish
    os.kill(process.pid, signal.SIGINT)
    ended = run.end(process)
    ended_at_once.set()
    assert ended.code == 2, ended.output
    assert "stopped at once: 2 drafts not removed" in ended.err
    assert "registry-contracts sweep" in ended.err
    assert json.loads((ended.folder / "run.json").read_text(encoding="utf-8"))["finished"] is None
    assert run.sweep(f"--target={service.target}").code == 0
