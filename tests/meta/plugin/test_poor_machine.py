"""Whatever the machine lacks, a run ends as what it found out, or as 3, 4 or 6 in clear lines."""

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

pytestmark = pytest.mark.usefixtures("nothing_left")
MANY = ("-k", "test_many", "--realm=abs-dev")


@pytest.mark.parametrize("size", [1_000, 60_000])
def test_a_full_disk_is_an_error_and_drafts_go(run: Any, faulty: Callable[..., Any], size: int) -> None:
    service = faulty()
    # `latest` leads to an older run, which passed.
    (run.reports / "20200101-000000-old").mkdir(parents=True)
    (run.reports / "latest").symlink_to("20200101-000000-old")
    run.environment["LIMIT"] = str(size)
    ended = run.apart(*MANY, "-p", "limiting", f"--target={service.target}")
    assert (ended.code, "Traceback" in ended.output) == (3, False), ended.output
    assert (run.reports / "latest").readlink().name != "20200101-000000-old"
    assert service.app.paths("PUT") <= service.app.paths("DELETE")


#: What lies where a run wants to write, and how the run ends.
IN_THE_WAY: dict[str, tuple[Callable[[Path], object], int]] = {
    "": (os.mkfifo, 4),
    "latest": (Path.mkdir, 0),
    "history.jsonl": (os.mkfifo, 4),
}


@pytest.mark.parametrize("name", IN_THE_WAY)
def test_what_lies_in_the_way_of_the_reports_is_told(run: Any, name: str) -> None:
    make, code = IN_THE_WAY[name]
    if name:
        run.reports.mkdir()
    make(run.reports / name)
    ended = run("--profile=smoke", "--realm=abs-dev", program=True)
    assert (ended.code, "Traceback" in ended.output) == (code, False), ended.output
