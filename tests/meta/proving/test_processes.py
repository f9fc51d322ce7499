"""Work in forks ends in time or with the proof, and leaves nothing behind."""

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
    (here / f"{task}.pid").write_text(str(os.getpid()))
    os.fork()
    time.sleep(600)
queue = SideBySide(work, 2, float(sys.argv[2]))
for task in ("one", "other"):
    queue.add(task)
for ended in queue.results():
    print(ended.code, ended.late, flush=True)
"""


@pytest.mark.parametrize(("longest", "said"), [(600, ""), (3, "-9 True\n" * 2)], ids=["killed", "late"])
def test_forks_and_what_they_started_end_in_time_and_with_the_proof(
    tmp_path: Path, longest: int, said: str
) -> None:
    command = [sys.executable, "-c", SCRIPT, str(tmp_path), str(longest)]
    files = [tmp_path / f"{name}.pid" for name in ("one", "other")]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert eventually(lambda: all(path.exists() and path.read_text() for path in files))
        if not said:
            process.kill()
        assert process.communicate(timeout=60)[0] == said
    groups = [int(path.read_text()) for path in files]
    assert eventually(lambda: not any(map(runs, groups)))


def runs(group: int) -> bool:
    """Whether a process of a group is at work; one that only waits to be collected by init is not."""
    command = ["ps", "-eo", "pgid=,stat="]
    listed = subprocess.run(command, capture_output=True, text=True, check=True)
    states = [line.split() for line in listed.stdout.splitlines()]
    return any(int(of) == group and not state.startswith("Z") for of, state in states)
