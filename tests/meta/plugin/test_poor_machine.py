"""Whatever the machine lacks, a run ends as what it found out, or as 3, 4 or 6 in clear lines."""

import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

pytestmark = pytest.mark.usefixtures("nothing_left")
MANY = ("-k", "test_many", "--realm=abs-dev")


def honest(ended: Any, *codes: int) -> None:
    """The run ended with one of some codes, and showed no traceback."""
    assert ended.code in codes, ended.output
    assert "Traceback" not in ended.output
    assert ended.output.count("INTERNALERROR") <= 1, ended.output


def older_run(reports: Path) -> None:
    """A reports folder whose `latest` leads to an older run that passed."""
    (reports / "20200101-000000-old").mkdir(parents=True)
    (reports / "latest").symlink_to("20200101-000000-old")


@pytest.mark.parametrize(("size", "workers"), [(1_000, ()), (60_000, ()), (60_000, ("-n", "2"))])
def test_files_that_take_no_more_are_an_error_and_drafts_are_removed(
    run: Any, faulty: Callable[..., Any], size: int, workers: tuple[str, ...]
) -> None:
    service = faulty()
    older_run(run.reports)
    run.environment["LIMIT"] = str(size)
    honest(run(*MANY, *workers, "-p", "limiting", f"--target={service.target}"), 3)
    assert (run.reports / "latest").readlink().name != "20200101-000000-old"
    asked = {
        verb: {path for method, path in service.app.requests if method == verb} for verb in ("PUT", "DELETE")
    }
    assert asked["PUT"] <= asked["DELETE"]


def test_a_full_disk_is_an_error_and_latest_does_not_lead_to_an_older_run(run: Any) -> None:
    unshare = shutil.which("unshare") or "unshare"
    disk = run.scratch / "disk"
    disk.mkdir()
    mounted = [unshare, "-rm", "sh", "-c", f'mount -t tmpfs -o size=200k none {disk} && "$@"', "sh"]
    if subprocess.run([*mounted, "true"], capture_output=True, check=False).returncode:
        pytest.skip("a disk of its own takes a name space, which this machine does not give")
    older = f"mkdir {disk}/20200101-000000-old && ln -s 20200101-000000-old {disk}/latest"
    script = f'{older} && "$@"; code=$?; readlink {disk}/latest; exit $code'
    words = [sys.executable, "-m", "pytest", *MANY, "-p", "no:cacheprovider", f"--reports={disk}"]
    ended = subprocess.run(
        [*mounted, "sh", "-c", script, "sh", *words],
        cwd=run.checkout, env=run._env(), capture_output=True, text=True, check=False
    )  # fmt: skip
    assert ended.returncode == 3, ended.stdout + ended.stderr
    assert "Traceback" not in ended.stdout + ended.stderr
    assert "No space left on device" in ended.stdout + ended.stderr
    assert not ended.stdout.rstrip().endswith("-old")


#: What lies where a run wants to write, and how the run ends.
IN_THE_WAY: dict[str, tuple[Callable[[Path], object], int]] = {
    "": (os.mkfifo, 4),
    "latest": (Path.mkdir, 3),
    "history.jsonl": (os.mkfifo, 4),
    ".history.jsonl.lock": (os.mkfifo, 0),
}


@pytest.mark.parametrize("name", IN_THE_WAY)
def test_what_lies_in_the_way_of_the_reports_is_told(run: Any, name: str) -> None:
    make, code = IN_THE_WAY[name]
    if name:
        run.reports.mkdir()
    make(run.reports / name)
    honest(run("--profile=smoke", "--realm=abs-dev", program=True), code)
