"""Long runs show progress: a line that renews itself in a terminal, plain lines elsewhere when asked for."""

import io
import os
import pty
import re
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from contracts.plugin.terminal import Display, DisplayMode, RunProgress, case_in_words
from contracts.session.shared_state import RequestBudget, requests_counted
from tests.meta.program import Program

DEFECTIVE = (
    "run",
    "--realm=abs-dev",
    "--clause=attachment-create-accepted",
    "--sandbox-arguments=--fault attachment-text-only",
)
PATIENCE = 600.0


class Clock:
    """A clock that the test sets."""

    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


def worked(course: RunProgress, clock: Clock, cases: int, seconds_each: float, verdict: str = "pass") -> None:
    for number in range(cases):
        name = f"test_{verdict}_{number}_{clock.now}"
        course.begins(name)
        clock.now += seconds_each
        course.judged(name, verdict)
        course.ends(name)


def test_a_course_counts_by_verdict_and_names_what_runs() -> None:
    clock = Clock()
    course = RunProgress(lambda: 1234, clock=clock)
    course.total = 100
    worked(course, clock, 9, 1.0)
    worked(course, clock, 1, 1.0, "fail")
    course.begins("scenario/test_draft_text.py::test_text_is_kept[abs-dev-getDraft]")
    clock.now += 5.0
    course.begins("scenario/test_x.py::test_other[bch-dev]")
    assert course.words() == (
        "10 of 100 cases · 15 s · about 2 min left · 9 pass, 1 fail · 1,234 requests · "
        "now: text is kept (abs-dev-getDraft) for 5 s and 1 other"
    )


def test_the_time_left_is_told_from_an_earlier_run_where_there_is_one() -> None:
    clock, sent = Clock(), [0]
    course = RunProgress(lambda: sent[0], expected_requests=1000, clock=clock)
    course.total = 1000
    worked(course, clock, 5, 1.0)
    sent[0] = 250
    assert course.seconds_left == 15.0
    sent[0] = 1200
    assert course.seconds_left == 5.0 * 995 / 5


def test_no_estimate_is_made_from_nothing() -> None:
    clock = Clock()
    course = RunProgress(clock=clock)
    course.total = 10
    worked(course, clock, 4, 10.0)
    assert course.seconds_left is None
    assert "left" not in course.words()


def test_a_report_of_a_worker_that_died_disturbs_nothing() -> None:
    course = RunProgress()
    course.judged("never begun", "error")
    course.ends("never begun")
    course.ends("nor this")
    assert (course.done, course.words()) == (0, "0 cases · 0 s · 0 requests")


def test_a_name_from_a_node_id_holds_no_control_characters() -> None:
    assert case_in_words("a/b.py::test_x_y[abs-dev-\x1b[2J]") == "x y (abs-dev-\\x1b[2J)"


def test_requests_are_counted_where_the_workers_count_them(tmp_path: Path) -> None:
    assert requests_counted(tmp_path) == 0
    budget = RequestBudget(tmp_path, 100)
    for _ in range(3):
        budget.take()
    assert requests_counted(tmp_path) == 3


class Looked(io.StringIO):
    """A stream that says when something has been written for the n-th time."""

    def __init__(self, times: int) -> None:
        super().__init__()
        self._times = times
        self.enough = threading.Event()

    def write(self, text: str) -> int:
        self._times -= 1
        if self._times <= 0:
            self.enough.set()
        return super().write(text)


@pytest.mark.parametrize("manner", list(DisplayMode))
def test_a_display_renews_itself_and_ends(manner: DisplayMode) -> None:
    stream = Looked(6)
    display = Display(stream, manner, lambda: "3 of 9 cases", interval=0.01)
    display.start()
    assert stream.enough.wait(PATIENCE)
    display.tell("fail: something")
    display.stop()
    written = stream.getvalue()
    assert "fail: something\n" in written
    assert "3 of 9 cases" in written
    display.stop()
    assert stream.getvalue().replace("\r\x1b[2K", "") == written.replace("\r\x1b[2K", "")


def in_a_terminal(folder: Path, *words: str) -> str:
    """What a run writes to a terminal."""
    environment = {
        name: value for name, value in os.environ.items() if not name.startswith(("REGISTRY_", "PYTEST_"))
    }
    environment = {**environment, "TERM": "xterm", "COLUMNS": "120"}
    environment.pop("CI", None)
    ours, theirs = pty.openpty()
    command = [sys.executable, "-c", "from contracts.cli import main; main()", *words]
    process = subprocess.Popen(command, cwd=folder, env=environment, stdout=theirs, stderr=theirs)
    os.close(theirs)
    written = b""
    while True:
        try:
            block = os.read(ours, 65536)
        except OSError:  # the other end is closed
            break
        if not block:
            break
        written += block
    os.close(ours)
    assert process.wait(PATIENCE) == 1, written.decode()
    return written.decode()


def test_a_terminal_sees_the_first_finding_as_it_comes_and_a_clean_end(tmp_path: Path) -> None:
    written = in_a_terminal(tmp_path, *DEFECTIVE)
    before, _, after = written.partition("= contract =")
    live = before[before.rindex("collected") :]
    assert re.search(
        r"\x1b\[2K.*fail: .*\(abs-dev.*attachment-create-accepted \(createAttachment\): expected", live
    )
    assert re.search(r"\d of \d+ cases? · \d+ s · ", live)
    # The last of it takes the line away; then come the counts, and no letters or percentages stand between.
    assert re.search(r"\x1b\[2K\s*(\x1b\[\d+m)*=+ [^\r]*2 failed[^\r]*=\S*\s*=*$", live)
    assert "[100%]" not in written
    assert "verdict: fail: " in after
    assert "\x1b[2K" not in after


def test_an_option_that_says_nothing_is_refused(program: Program) -> None:
    ended = program("run", "--progress=sometimes")
    assert ended.code == 4
    assert "--progress takes auto, always, never, not 'sometimes'" in ended.err
