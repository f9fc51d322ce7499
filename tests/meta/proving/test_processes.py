"""Work in forks: side by side, within a time, nothing left behind."""

from __future__ import annotations

import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests.meta.program import eventually

SCRIPT = """
import os, sys, time
from pathlib import Path
from registry_contracts.proving.processes import SideBySide
here = Path(sys.argv[1])
def work(task):
    name, seconds = task
    (here / f"{name}.pid").write_text(str(os.getpid()))
    time.sleep(seconds)
    return 0
queue = SideBySide(work, 2, float(sys.argv[2]))
for word in sys.argv[3:]:
    name, seconds = word.split(":")
    queue.add((name, float(seconds)))
for ended in queue.results():
    print(ended.task[0], ended.code, ended.late, flush=True)
    if ended.task[0] == "stop":
        break
"""


@pytest.mark.parametrize(
    ("longest", "tasks", "said"),
    [
        (0.3, ["slow:600"], ["slow -9 True"]),
        (600, ["slow:600", "stop:0.3"], ["stop 0 False"]),
    ],
    ids=["too long", "left early"],
)
def test_tasks_end_and_leave_nothing(
    tmp_path: Path, longest: float, tasks: list[str], said: list[str]
) -> None:
    command = [sys.executable, "-c", SCRIPT, str(tmp_path), str(longest), *tasks]
    done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=120)
    assert done.stdout.splitlines() == said
    assert not any(runs(int(path.read_text())) for path in tmp_path.glob("*.pid"))


def test_the_end_of_the_proof_ends_all_forks_and_what_they_started(tmp_path: Path) -> None:
    script = SCRIPT.replace("time.sleep(seconds)", "os.fork(); time.sleep(seconds)")
    command = [sys.executable, "-c", script, str(tmp_path), "600", "slow:600", "other:600"]
    files = [tmp_path / f"{name}.pid" for name in ("slow", "other")]
    with subprocess.Popen(command) as process:
        assert eventually(lambda: all(path.exists() and path.read_text() for path in files))
        process.kill()
        assert process.wait(60) == -signal.SIGKILL
    groups = [int(path.read_text()) for path in files]
    assert eventually(lambda: not any(map(runs, groups)))


def runs(group: int) -> bool:
    """Whether a process of a group is at work; one that only waits to be collected by init is not."""
    command = ["ps", "-eo", "pgid=,stat="]
    listed = subprocess.run(command, capture_output=True, text=True, check=True)
    states = [line.split() for line in listed.stdout.splitlines()]
    return any(int(of) == group and not state.startswith("Z") for of, state in states)
