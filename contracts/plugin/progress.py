"""Long runs show progress (`--progress auto|always|never`): what runs now, counts, time left, first findings."""

from __future__ import annotations

import os
import sys
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import pytest

from contracts.errors import UsageError
from contracts.evidence.plain import printable
from contracts.history.past import read_past
from contracts.plugin.closing import PLAN
from contracts.plugin.controller import is_worker
from contracts.plugin.options import SELECTION
from contracts.plugin.progress_course import Course, case_in_words
from contracts.plugin.weighing import VERDICT
from contracts.session.budget import requests_counted
from contracts.shortening import cut

if TYPE_CHECKING:
    from contracts.plugin.progress_display import Display, Manner

#: Findings that are told as they come; the others stand at the end of the run.
_FIRST_FINDINGS: Final = 10
#: Earlier runs that are looked at for how many requests a run like this one sends.
_RUNS_LOOKED_AT: Final = 5
#: Characters of a finding that is told as it comes.
_LONGEST: Final = 300
_RED: Final = ("fail", "error")


class Progress(StrEnum):
    """Whether progress is shown."""

    AUTO = "auto"
    ALWAYS = "always"
    NEVER = "never"


def pytest_addoption(parser: pytest.Parser) -> None:
    """Declare the option."""
    parser.getgroup("contract", "registry contracts").addoption(
        "--progress",
        metavar="WHEN",
        default=str(Progress.AUTO),
        help="show what runs now and how long it takes: auto (default; in a terminal), always or never",
    )


def pytest_configure(config: pytest.Config) -> None:
    """See that the option says something."""
    asked = config.getoption("--progress")
    if asked not in list(Progress):
        error = UsageError(f"--progress takes {', '.join(Progress)}, not '{asked}'")
        raise pytest.UsageError(str(error))


@pytest.hookimpl(wrapper=True)
def pytest_runtestloop(session: pytest.Session) -> Generator[None, object, object]:
    """Show progress while cases run, and take it away before anything else is written."""
    manner = _manner(session.config) if PLAN in session.config.stash else None
    if is_worker(session.config) or manner is None:
        return (yield)
    with _shown(session, manner):
        return (yield)


@contextmanager
def _shown(session: pytest.Session, manner: Manner) -> Iterator[None]:
    # Not imported by runs that show nothing.
    from contracts.plugin.progress_display import Display, own_stream  # noqa: PLC0415

    config = session.config
    course = _course(config)
    course.total = len(session.items) if session.items else None
    stream = own_stream()
    display = Display(stream, manner, course.words)
    watching = _Watching(course, display)
    config.pluginmanager.register(watching)
    if config.get_verbosity() <= 0:
        _quieten(config)
        config.pluginmanager.register(letters := _NoLetters())
    else:
        letters = None
    try:
        yield
    finally:
        display.stop()
        stream.close()
        config.pluginmanager.unregister(watching)
        if letters is not None:
            config.pluginmanager.unregister(letters)


def _manner(config: pytest.Config) -> Manner | None:
    """How progress is to be shown; None for not at all."""
    asked = config.getoption("--progress")
    if asked == Progress.NEVER:
        return None
    terminal = _is_terminal()
    undisturbed = config.get_verbosity() == 0 and config.getoption("capture") != "no"
    if asked == Progress.AUTO and not (terminal and undisturbed and not os.environ.get("CI")):
        return None
    from contracts.plugin.progress_display import Manner  # noqa: PLC0415

    return Manner.LIVE if terminal and undisturbed else Manner.PLAIN


def _is_terminal() -> bool:
    return sys.__stdout__ is not None and sys.__stdout__.isatty() and os.environ.get("TERM") != "dumb"


def _course(config: pytest.Config) -> Course:
    plan, selection = config.stash[PLAN], config.stash[SELECTION]
    private = Path(plan.private)
    whole = not (selection.clauses or selection.operations or selection.realms or selection.terms.consumer)
    chosen = config.getoption("keyword") or config.getoption("markexpr")
    runs = read_past(Path(plan.folder)).runs if whole and not chosen else ()
    alike = [run.requests for run in runs if run.profile == str(selection.profile)]
    return Course(lambda: requests_counted(private), max(alike[-_RUNS_LOOKED_AT:], default=None))


def _quieten(config: pytest.Config) -> None:
    """Keep pytest's own progress back: paths, letters and percentages would break the line."""
    reporter: Any = config.pluginmanager.get_plugin("terminalreporter")
    if reporter is not None:
        reporter.showfspath = False
        # It has no other switch once options are read.
        reporter._show_progress_info = False


class _NoLetters:
    """Takes away the letter of each case; the counts stay."""

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_report_teststatus(self) -> Generator[None, Any, Any]:
        """Keep the category and say nothing."""
        status = yield
        return (status[0], "", "") if status else status


class _Watching:
    """Follows the cases, here or in the workers, and tells what they find."""

    def __init__(self, course: Course, display: Display) -> None:
        self._course = course
        self._display = display
        self._told = 0

    @pytest.hookimpl(optionalhook=True)
    def pytest_xdist_node_collection_finished(self, ids: list[str]) -> None:
        """Learn the number of cases from the workers."""
        self._course.total = len(ids)

    def pytest_runtest_logstart(self, nodeid: str) -> None:
        """A case begins; with the first one all that pytest has to say before is said."""
        self._course.begins(nodeid)
        self._display.start()

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """A case has its verdict; the first findings are told at once."""
        verdict = dict(report.user_properties).get(VERDICT)
        if verdict is None:
            return
        self._course.judged(report.nodeid, str(verdict))
        if report.failed and verdict in _RED:
            self._tell(report)

    def pytest_runtest_logfinish(self, nodeid: str) -> None:
        """A case is over."""
        self._course.ends(nodeid)

    def _tell(self, report: pytest.TestReport) -> None:
        self._told += 1
        if self._told == _FIRST_FINDINGS + 1:
            self._display.tell("further findings: at the end of the run")
        if self._told > _FIRST_FINDINGS:
            return
        lines = report.longreprtext.strip().splitlines()
        verdict = dict(report.user_properties)[VERDICT]
        says = printable(lines[-1]) if lines else ""
        line = f"{verdict}: {case_in_words(report.nodeid)}: {says}"
        self._display.tell(cut(line, _LONGEST), style="red")
