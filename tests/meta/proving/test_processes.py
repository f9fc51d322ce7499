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
    name, seconds, code = task
    (here / f"{name}.pid").write_text(str(os.getpid()))
    if name == "lost":
        raise ValueError("lost")
    time.sleep(seconds)
    return code
queue = SideBySide(work, 2, float(sys.argv[2]))
for word in sys.argv[3:]:
    name, seconds, code = word.split(":")
    queue.add((name, float(seconds), int(code)))
for ended in queue.results():
    print(ended.task[0], ended.code, ended.late, flush=True)
    if ended.task[0] == "first":
        queue.add(("second", 0.0, 4))
    if ended.task[0] == "stop":
        break
"""


ALL = {"a:0:0": "a 0", "b:0.1:3": "b 3", "c:0:1": "c 1", "lost:0:0": "lost 3", "first:0:0": "first 0"}


@pytest.mark.parametrize(
    ("longest", "tasks", "said"),
    [
        # Each with its code, one that an error ended, and one that another one added.
        (60, [*ALL], sorted(f"{line} False" for line in (*ALL.values(), "second 4"))),
        (0.3, ["slow:600:0"], ["slow -9 True"]),
        (600, ["slow:600:0", "stop:0.3:0"], ["stop 0 False"]),
    ],
    ids=["in time", "too long", "left early"],
)
def test_tasks_end_and_leave_nothing(
    tmp_path: Path, longest: float, tasks: list[str], said: list[str]
) -> None:
    command = [sys.executable, "-c", SCRIPT, str(tmp_path), str(longest), *tasks]
    done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=120)
    assert sorted(done.stdout.splitlines()) == said
    assert not any(runs(int(path.read_text())) for path in tmp_path.glob("*.pid"))


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGKILL])
def test_the_end_of_the_proof_ends_all_forks_and_what_they_started(tmp_path: Path, number: int) -> None:
    script = SCRIPT.replace("time.sleep(seconds)", "os.fork(); time.sleep(seconds)")
    command = [sys.executable, "-c", script, str(tmp_path), "600", "slow:600:0", "other:600:0"]
    files = [tmp_path / f"{name}.pid" for name in ("slow", "other")]
    with subprocess.Popen(command) as process:
        assert eventually(lambda: all(path.exists() and path.read_text() for path in files))
        process.send_signal(number)
        assert process.wait(60) == -number
    groups = [int(path.read_text()) for path in files]
    assert eventually(lambda: not any(map(runs, groups)))


def runs(group: int) -> bool:
    """Whether a process of a group is at work; one that only waits to be collected by init is not."""
    command = ["ps", "-eo", "pgid=,stat="]
    listed = subprocess.run(command, capture_output=True, text=True, check=True)
    states = [line.split() for line in listed.stdout.splitlines()]
    return any(int(of) == group and not state.startswith("Z") for of, state in states)
