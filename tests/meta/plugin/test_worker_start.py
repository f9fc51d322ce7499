"""Workers are forks of one process that has imported everything, and end as processes of their own would."""

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from execnet.gateway_io import popen_args
from execnet.xspec import XSpec

from contracts.plugin import worker_start
from tests.meta.program import PATIENCE, eventually

pytestmark = [
    pytest.mark.usefixtures("nothing_left"),
    pytest.mark.skipif(sys.platform != "linux", reason="workers are forks on Linux alone"),
]
_READY = "import os, sys; print(os.getpid(), flush=True)"


def _prepare() -> None:
    sys.modules["prepared_for_workers"] = SimpleNamespace(word="prepared")  # type: ignore[assignment]


@pytest.fixture
def server() -> Iterator[Any]:
    address, handle = worker_start.start_server(_prepare)
    yield SimpleNamespace(address=address, handle=handle)
    if Path(f"/proc/self/fd/{handle.lifeline}").exists():
        handle.stop()


def worker(address: str, *lines: str, **environment: str) -> Any:
    """Start a client as xdist starts a worker, and send it the code of the worker."""
    command = worker_start.client_command(address)
    process = subprocess.Popen(
        popen_args(XSpec(f"popen//python={command}")),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=os.environ | environment,
        text=True,
    )
    process.stdin.write(repr("\n".join(lines)) + "\n")  # type: ignore[union-attr]
    process.stdin.flush()  # type: ignore[union-attr]
    return process


def test_a_worker_has_what_was_prepared_and_streams_and_environment_of_its_own(server: Any) -> None:
    process = worker(
        server.address,
        "import prepared_for_workers, os, sys",
        "print(prepared_for_workers.word, os.environ['MINE'], sys.stdin.readline(), os.getppid())",
        "print('complaint', file=sys.stderr)",
        MINE="own",
    )
    out, errors = process.communicate("more\n", timeout=PATIENCE)
    assert out == f"prepared own more\n {server.handle.pid}\n"
    assert (errors, process.returncode) == ("complaint\n", 0)
    assert "MINE" not in os.environ


@pytest.mark.parametrize(
    ("line", "code"),
    [
        ("raise SystemExit(3)", 3),
        ("raise ValueError", 1),
        ("import os; os._exit(7)", 7),
        ("import os, signal; os.kill(os.getpid(), signal.SIGKILL)", 128 + signal.SIGKILL),
    ],
    ids=["exit", "error", "at-once", "killed"],
)
def test_the_client_ends_as_its_worker_does(server: Any, line: str, code: int) -> None:
    process = worker(server.address, line)
    process.communicate(timeout=PATIENCE)
    assert process.returncode == code
    # The server is there for the next.
    assert worker(server.address, "print('next')").communicate(timeout=PATIENCE)[0] == "next\n"


def test_forks_draw_different_random_numbers(server: Any) -> None:
    drawn = {
        worker(server.address, "import random; print(random.random())").communicate(timeout=PATIENCE)[0]
        for _ in range(2)
    }
    assert len(drawn) == 2


def test_a_client_that_is_killed_takes_its_worker_along(server: Any) -> None:
    process = worker(server.address, _READY, "sys.stdin.read()", "import time; time.sleep(600)")
    pid = int(process.stdout.readline())
    process.kill()
    process.communicate(timeout=PATIENCE)
    assert eventually(lambda: not _is_there(pid))


def test_without_the_server_the_client_becomes_the_worker(server: Any) -> None:
    server.handle.stop()
    process = worker(
        server.address, "import os, sys", "print(os.getpid(), 'prepared_for_workers' in sys.modules)"
    )
    assert process.communicate(timeout=PATIENCE)[0] == f"{process.pid} False\n"


def test_a_server_that_cannot_prepare_leaves_the_workers_to_themselves() -> None:
    address, handle = worker_start.start_server(lambda: 1 / 0)
    process = worker(address, "import os; print(os.getpid())")
    assert process.communicate(timeout=PATIENCE)[0] == f"{process.pid}\n"
    handle.stop()


def test_an_address_is_no_use_to_another_process_s_children(server: Any) -> None:
    process = worker(server.address, "import os; print(os.getppid())")
    assert process.communicate(timeout=PATIENCE)[0] == f"{server.handle.pid}\n"
    command = popen_args(XSpec(f"popen//python={worker_start.client_command(server.address)}"))
    nested = f"import subprocess; subprocess.run({command!r}, input={_PARENT!r}, text=True)"
    out = subprocess.run([sys.executable, "-c", nested], capture_output=True, text=True, check=True).stdout
    assert int(out) != server.handle.pid


_PARENT = repr("import os; print(os.getppid(), flush=True)") + "\n"


def test_the_server_ends_with_the_controller_and_its_workers_notice(server: Any) -> None:
    process = worker(server.address, _READY, "print(sys.stdin.readline(), end='')", "print(os.getppid())")
    process.stdout.readline()
    server.handle.stop()
    assert not _is_there(server.handle.pid)
    out, _ = process.communicate("still here\n", timeout=PATIENCE)
    assert out.startswith("still here\n")
    assert int(out.splitlines()[-1]) != server.handle.pid


def test_the_workers_of_a_run_are_forks_of_one_process(run: Any, faulty: Any) -> None:
    noted = run.scratch / "parents"
    run.environment |= {"PARENTS_FILE": str(noted)}
    ended = run("-k", "test_many", "-n", "2", "-p", "parents", f"--target={faulty().target}")
    assert ended.code == 0, ended.output
    controller, *parents = (line.split() for line in noted.read_text().splitlines())
    assert len(parents) == 2
    ((name, parent),) = {tuple(each) for each in parents}
    assert (controller[0], name) == ("controller", "worker")
    assert parent != controller[1]


def _is_there(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True
