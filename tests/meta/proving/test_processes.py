"""Work in forks: side by side, within a time, nothing left behind."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

SCRIPT = """
import os, sys, time
from pathlib import Path
from contracts.proving.processes import SideBySide
here = Path(sys.argv[1])
def work(task):
    name, seconds, code = task
    (here / f"{name}.pid").write_text(str(os.getpid()))
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


def run(folder: Path, longest: float, *tasks: str) -> list[str]:
    """Run tasks `name:seconds:code` and return a line for each that ended."""
    command = [sys.executable, "-c", SCRIPT, str(folder), str(longest), *tasks]
    done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=120)
    return sorted(done.stdout.splitlines())


def test_each_task_ends_with_its_code(tmp_path: Path) -> None:
    assert run(tmp_path, 60, "a:0:0", "b:0.1:3", "c:0:1") == ["a 0 False", "b 3 False", "c 1 False"]


def test_a_task_may_follow_from_another(tmp_path: Path) -> None:
    assert run(tmp_path, 60, "first:0:0") == ["first 0 False", "second 4 False"]


def test_what_takes_too_long_is_ended(tmp_path: Path) -> None:
    assert run(tmp_path, 0.3, "slow:600:0", "quick:0:0")[1] == "slow -9 True"


def test_leaving_early_ends_all_forks(tmp_path: Path) -> None:
    assert run(tmp_path, 600, "slow:600:0", "stop:0.3:0") == ["stop 0 False"]
    process = int((tmp_path / "slow.pid").read_text())
    with pytest.raises(ProcessLookupError):
        os.kill(process, 0)


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP, signal.SIGKILL])
def test_the_end_of_the_proof_ends_all_forks_and_what_they_started(tmp_path: Path, number: int) -> None:
    # Under nohup the own tests ignore SIGHUP, and so would what they start.
    listening = f"import signal; signal.signal({int(number)}, signal.SIG_DFL)\n" * (number != signal.SIGKILL)
    script = listening + SCRIPT.replace("time.sleep(seconds)", "os.fork(); time.sleep(seconds)")
    command = [sys.executable, "-c", script, str(tmp_path), "600", "slow:600:0", "other:600:0"]
    with subprocess.Popen(command) as process:
        groups = [_written(tmp_path / f"{name}.pid") for name in ("slow", "other")]
        process.send_signal(number)
        assert process.wait(60) == -number
    until = time.monotonic() + 60
    while any(map(_runs, groups)):
        assert time.monotonic() < until
        time.sleep(0.02)


def _written(path: Path) -> int:
    until = time.monotonic() + 60
    while not (path.exists() and path.read_text()):
        assert time.monotonic() < until
        time.sleep(0.02)
    return int(path.read_text())


def _runs(group: int) -> bool:
    """Whether a process of a group is at work; one that only waits to be collected by init is not."""
    command = ["ps", "-eo", "pgid=,stat="]
    listed = subprocess.run(command, capture_output=True, text=True, check=True)
    states = [line.split() for line in listed.stdout.splitlines()]
    return any(int(of) == group and not state.startswith("Z") for of, state in states)


def test_an_error_in_a_fork_stays_there(tmp_path: Path) -> None:
    script = SCRIPT.replace("time.sleep(seconds)", "raise ValueError('lost')")
    command = [sys.executable, "-c", script, str(tmp_path), "60", "a:0:0"]
    started = time.monotonic()
    done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=120)
    assert done.stdout.splitlines() == ["a 3 False"]
    assert time.monotonic() - started < 60
