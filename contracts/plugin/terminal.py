"""The terminal output of a run: target and seed first, progress while it goes on, the run's verdict last."""

from __future__ import annotations

import os
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable, Generator, Iterable, Iterator
from contextlib import contextmanager
from enum import Enum, StrEnum
from pathlib import Path
from typing import IO, Any, Final

import pytest
from rich.console import Console
from rich.control import Control
from rich.segment import ControlType
from rich.text import Text

from contracts.errors import UsageError
from contracts.evidence.findings import ConsumerScope
from contracts.evidence.record import ExitCode, Verdict
from contracts.evidence.verdicts import RunVerdict
from contracts.history.runs import read_past
from contracts.interface.operations import in_realms
from contracts.plugin.controller import is_worker
from contracts.plugin.finding_again import command_of
from contracts.plugin.interruption import LastingOutput
from contracts.plugin.plan import SELECTION, TARGET
from contracts.plugin.protocol import VERDICT_PROPERTY
from contracts.plugin.session_finish import COMPLAINTS, PLAN, TROUBLE, VERDICT
from contracts.reports.build_server import annotate
from contracts.reports.finding_files import lines_of
from contracts.safe_text import complaint, cut, many, one_line, plain_line, printable
from contracts.session.shared_state import requests_counted

#: Set by a command that tells the verdict itself, after everything else.
LAST_LINE = pytest.StashKey[Callable[[str], None]]()
#: Tells pytest's line of counts.
COUNTS = pytest.StashKey[Callable[[], None]]()
#: Verdicts that pytest has no word for.
_LETTERS: Final[dict[str, tuple[str, str]]] = {
    Verdict.INCONCLUSIVE: ("inconclusive", "?"),
    Verdict.ADVISORY: ("advisory", "a"),
    Verdict.UNTESTED: ("untested", "u"),
    Verdict.OBSERVED: ("observed", "o"),
    ConsumerScope.DEVIATION: ("deviation", "d"),
    ConsumerScope.OUTSIDE: ("outside", "x"),
}
#: Of a finding's words; all of them stand in the report.
_LONGEST_LINE: Final = 2000
#: Must clauses that could not be judged are named up to this number.
_UNJUDGED_AT_MOST: Final = 20
#: Clauses that a run was asked for by name, and that are told one by one.
_CLAUSES_AT_MOST: Final = 20
_COLOUR: Final[dict[str, dict[str, bool]]] = {
    Verdict.INCONCLUSIVE: {"yellow": True},
    Verdict.ADVISORY: {"yellow": True},
    Verdict.UNTESTED: {"cyan": True},
    ConsumerScope.DEVIATION: {"yellow": True},
    ConsumerScope.OUTSIDE: {"cyan": True},
}


def pytest_report_header(config: pytest.Config) -> str | None:
    """Target, profile and seed, so that any output can be reproduced."""
    if is_worker(config) or not (PLAN in config.stash or config.getoption("--plan")):
        return None
    selection, target = config.stash[SELECTION], config.stash[TARGET]
    name = target.in_words if target else "the embedded sandbox"
    parts = [f"contract: {name}, profile {selection.profile}, seed {selection.seed}"]
    terms = selection.terms
    parts += [f"consumer {terms.consumer.file}"] if terms.consumer else []
    parts += (
        [f"{many(len(terms.deviations), 'deviation')} in {terms.deviations_file}"]
        if terms.deviations_file
        else []
    )
    return ", ".join(parts)


def pytest_report_teststatus(
    report: pytest.TestReport | pytest.CollectReport,
) -> tuple[str, str, tuple[str, dict[str, bool]]] | None:
    """Give inconclusive, advisory, untested and observed cases their own names in the summary."""
    verdict = dict(getattr(report, "user_properties", ())).get(VERDICT_PROPERTY)
    if verdict not in _LETTERS or report.failed or not _speaks(report):
        return None
    word, letter = _LETTERS[verdict]
    return word, letter, (word.upper(), _COLOUR.get(verdict, {"green": True}))


def _speaks(report: pytest.TestReport | pytest.CollectReport) -> bool:
    """Whether this phase's report is the one that counts: the call, or a set-up that did not get so far."""
    return report.when == "call" or (report.when == "setup" and report.skipped)


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    """The verdict with its reason, the findings in a line each, and where the report stands."""
    if TROUBLE in config.stash:
        terminalreporter.section("contract")
        _tell(terminalreporter, config, f"error: {config.stash[TROUBLE]} (exit code {int(ExitCode.ERROR)})")
    if VERDICT not in config.stash:
        return
    verdict = config.stash[VERDICT]
    _count(terminalreporter, config)
    terminalreporter.section("contract")
    folder = Path(config.stash[PLAN].folder)
    for styled in lines_of(verdict, command_of(config), folder):
        markup = {styled.colour: True} if styled.colour else {}
        terminalreporter.write_line(one_line(styled.text), bold=styled.bold, **markup)
    for line in _asked_for(verdict, config.stash[SELECTION].clauses):
        terminalreporter.write_line(one_line(line))
    for line in terms_lines(verdict):
        terminalreporter.write_line(line)
    if verdict.environment_faults and verdict.exit_code is not ExitCode.INCONCLUSIVE:
        terminalreporter.write_line(f"environment: {plain_line(verdict.environment_faults, _LONGEST_LINE)}")
    for trouble in config.stash.get(COMPLAINTS, []):
        terminalreporter.write_line(f"history: {plain_line(trouble, _LONGEST_LINE)}")
    if verdict.drift.sentence:
        terminalreporter.write_line(f"drift: {plain_line(verdict.drift.sentence, _LONGEST_LINE)}")
    report = folder / "index.html"
    # A page that could not be written is named in the verdict; what there is besides stands in the folder.
    terminalreporter.write_line(f"report: {report if report.exists() else folder}")
    annotate(verdict)
    _tell(terminalreporter, config, verdict.line)


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_sessionfinish(session: pytest.Session, exitstatus: int) -> Generator[None, object, object]:
    """Say the verdict even where pytest itself broke; it leaves its own summary out then."""
    result = yield
    reporter = session.config.pluginmanager.get_plugin("terminalreporter")
    if exitstatus == pytest.ExitCode.INTERNAL_ERROR and PLAN in session.config.stash and reporter is not None:
        pytest_terminal_summary(reporter, session.config)
    return result


def _count(terminalreporter: Any, config: pytest.Config) -> None:
    """Say how many cases ended how, and why the run stopped early, before the verdict, which is the last line."""
    if COUNTS in config.stash:
        config.stash[COUNTS]()
    session = terminalreporter._session
    for why in filter(None, (session.shouldfail, session.shouldstop)):
        terminalreporter.write_line(f"stopped: {why}")
    # The reporter would say so once more, behind the verdict; nothing runs any more.
    session._shouldfail = session._shouldstop = False


def _tell(terminalreporter: pytest.TerminalReporter, config: pytest.Config, line: str) -> None:
    """Tell the verdict here, or to the command that wants it for its own last line."""
    if LAST_LINE in config.stash:
        config.stash[LAST_LINE](plain_line(line, _LONGEST_LINE))
    else:
        terminalreporter.write_line(f"verdict: {plain_line(line, _LONGEST_LINE)}")


def _asked_for(verdict: RunVerdict, clauses: Iterable[str]) -> Iterator[str]:
    """How each clause fared that the run was asked for by name, in which realms."""
    for name in list(dict.fromkeys(clauses))[:_CLAUSES_AT_MOST]:
        cells = [cell for cell in verdict.cells if cell.clause.id == name]
        realms: dict[tuple[str, str], list[str]] = {}
        for cell in cells:
            why = cell.reason if cell.verdict in {Verdict.INCONCLUSIVE, Verdict.UNTESTED} else None
            realms.setdefault((str(cell.verdict), cut(why or "", _LONGEST)), []).append(cell.realm)
        outcomes = [
            f"{word} {in_realms(of)}{f' ({why})' if why else ''}" for (word, why), of in realms.items()
        ]
        yield f"{name}: {'; '.join(outcomes) or 'in no realm of this run'}"


def terms_lines(verdict: RunVerdict) -> Iterator[str]:
    """What fails the run, what could not be judged, what is waived, and what is to be seen to besides."""
    yield from (f"change: {outcome.line}" for outcome in verdict.deviations if outcome.fails)
    inconclusive = verdict.exit_code is ExitCode.INCONCLUSIVE
    yield from (f"not judged: {cut(group.line, _LONGEST)}" for group in verdict.not_judged if inconclusive)
    unjudged = verdict.unjudged_lines if inconclusive else []
    yield from (f"unjudged: {line}" for line in unjudged[:_UNJUDGED_AT_MOST])
    more = len(unjudged) - _UNJUDGED_AT_MOST
    yield from ([f"unjudged: {more} more in the report"] if more > 0 else [])
    yield from (f"waived: {outcome.line}" for outcome in verdict.waivers if outcome.needed)
    yield from (f"warning: {note}" for note in verdict.notes)


#: Before this many cases and seconds any estimate would be a guess.
_LEAST_CASES: Final = 5
_LEAST_SECONDS: Final = 3.0
_MINUTE: Final = 60.0
_MINUTES_FROM: Final = 100.0


class RunProgress:
    """What the controller knows of a run while its cases run.

    Args:
        requests: Gives the number of requests sent so far.
        expected_requests: How many earlier runs of the same kind have sent; None when there is none like it.
        clock: Seconds that never go back.
    """

    def __init__(
        self,
        requests: Callable[[], int] = lambda: 0,
        expected_requests: int | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.total: int | None = None
        self.done = 0
        self.counts: Counter[str] = Counter()
        self._requests = requests
        self._expected = expected_requests
        self._clock = clock
        self._began: float | None = None
        self._running: dict[str, float] = {}
        self._verdicts: dict[str, str] = {}
        # The display reads in a thread of its own.
        self._lock = threading.Lock()

    def begins(self, case: str) -> None:
        """Note that a case starts somewhere."""
        with self._lock:
            self._running[case] = now = self._clock()
            self._began = now if self._began is None else self._began

    def judged(self, case: str, verdict: str) -> None:
        """Note a case's verdict; of several reports of a case the last one speaks."""
        with self._lock:
            self._verdicts[case] = verdict

    def ends(self, case: str) -> None:
        """Note that a case is over."""
        with self._lock:
            if self._running.pop(case, None) is not None:
                self.done += 1
                self.counts[self._verdicts.pop(case, "pass")] += 1

    @property
    def seconds(self) -> float:
        """How long the cases have been running."""
        return self._clock() - self._began if self._began is not None else 0.0

    @property
    def seconds_left(self) -> float | None:
        """An estimate of what is left; None as long as there is nothing to make one from.

        Requests say more than cases, for long cases come first; they need an earlier run to compare with.
        """
        if self.done < _LEAST_CASES or self.seconds < _LEAST_SECONDS or not self.total:
            return None
        sent = self._requests()
        if self._expected and 0 < sent < self._expected:
            return self.seconds * (self._expected - sent) / sent
        return self.seconds * max(0, self.total - self.done) / self.done

    def words(self) -> str:
        """Say it in one line, what matters most first, for it may be cut at the end."""
        with self._lock:
            return " · ".join(self._parts())

    def _parts(self) -> Iterator[str]:
        yield f"{self.done:,} of {many(self.total, 'case')}" if self.total else many(self.done, "case")
        yield _span(self.seconds)
        left = self.seconds_left
        if left is not None:
            yield f"about {_span(max(1.0, left))} left"
        if self.counts:
            yield ", ".join(f"{number:,} {verdict}" for verdict, number in self.counts.most_common())
        yield many(self._requests(), "request")
        if self._running:
            yield f"now: {self._under_way()}"

    def _under_way(self) -> str:
        """The case that has been running longest, and how many others there are."""
        case, since = min(self._running.items(), key=lambda running: running[1])
        took = self._clock() - since
        others = len(self._running) - 1
        return "".join(
            [
                case_in_words(case),
                f" for {_span(took)}" if took >= _LEAST_SECONDS else "",
                f" and {many(others, 'other')}" if others else "",
            ]
        )


def case_in_words(case: str) -> str:
    """Word a node id: the name of the case, with its realm and what else tells it from its siblings."""
    name, bracket, parameters = case.rpartition("::")[2].partition("[")
    words = name.removeprefix("test_").replace("_", " ")
    return printable(f"{words} ({parameters.removesuffix(']')})" if bracket else words)


def _span(seconds: float) -> str:
    return f"{seconds:.0f} s" if seconds < _MINUTES_FROM else f"{seconds / _MINUTE:.0f} min"


#: How often the line in a terminal is renewed, and how often a line is written elsewhere.
LIVE_SECONDS: Final = 0.5
PLAIN_SECONDS: Final = 30.0


class DisplayMode(Enum):
    """How progress is shown."""

    LIVE = "live"
    PLAIN = "plain"


def own_stream() -> IO[str]:
    """Return a stream to where standard output leads now, which stays when pytest captures what cases print."""
    return os.fdopen(
        os.dup(sys.__stdout__.fileno() if sys.__stdout__ else 1), "w", encoding="utf-8", errors="replace"
    )


class Display:
    """Writes progress until it is stopped.

    Args:
        stream: Where to; the display does not close it.
        manner: A line that renews itself, or a line at every interval.
        says: Gives the line, on one line and of any length.
        interval: Seconds between two lines; by default what fits the manner.
    """

    def __init__(
        self, stream: IO[str], manner: DisplayMode, says: Callable[[], str], interval: float | None = None
    ) -> None:
        self._console = Console(file=stream, highlight=False, markup=False, emoji=False)
        self._live = manner is DisplayMode.LIVE
        self._says = says
        self._interval = interval or (LIVE_SECONDS if self._live else PLAIN_SECONDS)
        self._lock = threading.Lock()
        self._begun = False
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._renew, name="progress", daemon=True)

    def start(self) -> None:
        """Begin to show it; a second call does nothing."""
        if not self._begun:
            self._begun = True
            self._thread.start()

    def tell(self, line: str, style: str = "") -> None:
        """Write a line that stays, above the one that renews itself."""
        with self._lock:
            self._erase()
            self._console.print(Text(line, style=style), soft_wrap=True)
            self._draw()

    def stop(self) -> None:
        """Take the line away; nothing is written any more."""
        with self._lock:
            self._over.set()
            self._erase()
        if self._thread.is_alive():
            self._thread.join()

    def _renew(self) -> None:
        while not self._over.wait(self._interval):
            with self._lock:
                if self._over.is_set():
                    return
                if self._live:
                    self._erase()
                    self._draw()
                else:
                    self._console.print(Text(f"progress: {self._says()}"), soft_wrap=True)

    def _draw(self) -> None:
        if self._live:
            line = Text(self._says(), style="dim", no_wrap=True)
            # The last column stays free: many terminals would break the line there.
            line.truncate(max(1, self._console.width - 1), overflow="ellipsis")
            self._console.print(line, end="")

    def _erase(self) -> None:
        if self._live:
            self._console.control(Control(ControlType.CARRIAGE_RETURN, (ControlType.ERASE_IN_LINE, 2)))


#: Findings that are shown as they come; the others stand at the end of the run.
_FIRST_FINDINGS: Final = 10
#: Earlier runs that are looked at for how many requests a run like this one sends.
_RUNS_LOOKED_AT: Final = 5
#: Characters of a finding that is shown as it comes.
_LONGEST: Final = 300
_RED: Final = ("fail", "error")


#: What pytest lists in its short summary unless it is told otherwise.
_DEFAULT_REPORTCHARS: Final = "fE"


class ShowProgress(StrEnum):
    """Whether progress is shown."""

    AUTO = "auto"
    ALWAYS = "always"
    NEVER = "never"


@pytest.hookimpl(trylast=True)
def pytest_configure(config: pytest.Config) -> None:
    """See that the option says something, and leave pytest's own account of failures to `-v`."""
    mode = config.getoption("--progress")
    if mode not in list(ShowProgress):
        error = UsageError(f"--progress takes {', '.join(ShowProgress)}, not '{mode}'")
        raise pytest.UsageError(complaint(error))
    reporter = config.pluginmanager.get_plugin("terminalreporter")
    if reporter is not None and not is_worker(config):
        reporter._tw._file = LastingOutput(reporter._tw._file)
        _tell_once(config, reporter)


@pytest.hookimpl(tryfirst=True)
def pytest_collection(session: pytest.Session) -> None:
    """Keep the paths of files back: the cases of one file stand apart where some are in `smoke`, which runs first."""
    reporter: Any = session.config.pluginmanager.get_plugin("terminalreporter")
    if reporter is not None and PLAN in session.config.stash and session.config.get_verbosity() <= 0:
        reporter.showfspath = False


def _tell_once(config: pytest.Config, reporter: Any) -> None:
    """Keep back what pytest says of findings and of a clean stop, which stand in this section already."""
    failures, stopped = reporter.summary_failures, reporter._report_keyboardinterrupt
    counts, cases_in_short = reporter.summary_stats, reporter.short_test_summary

    def only_unexplained() -> None:
        everything = reporter.stats.get("failed", [])
        cases = {report.nodeid for report in everything if _is_finding(report)}
        # A part of a case that found something is told with its case.
        reporter.stats["failed"] = [
            report
            for report in everything
            if not (
                _is_finding(report) or (isinstance(report, pytest.SubtestReport) and report.nodeid in cases)
            )
        ]
        failures()
        reporter.stats["failed"] = everything

    def unless_told() -> None:
        if VERDICT not in config.stash:
            stopped()

    def unless_judged(summary: Callable[[], None]) -> Callable[[], None]:
        return lambda: None if VERDICT in config.stash or config.getoption("--plan") else summary()

    def before_the_verdict() -> None:
        cases_in_short()
        counts()

    reporter._report_keyboardinterrupt = unless_told
    reporter.summary_stats = unless_judged(counts)
    reporter.short_test_summary = unless_judged(cases_in_short)
    config.stash[COUNTS] = before_the_verdict
    if config.get_verbosity() > 0:
        return
    if config.getoption("tbstyle") == "auto":
        reporter.summary_failures = only_unexplained
    if config.getoption("reportchars") == _DEFAULT_REPORTCHARS:
        reporter.reportchars = "w"


def _is_finding(report: pytest.TestReport) -> bool:
    return (VERDICT_PROPERTY, str(Verdict.FAIL)) in report.user_properties


@pytest.hookimpl(wrapper=True)
def pytest_runtestloop(session: pytest.Session) -> Generator[None, object, object]:
    """Show progress while cases run, and take it away before anything else is written."""
    manner = _display_mode(session.config) if PLAN in session.config.stash else None
    if is_worker(session.config) or manner is None:
        return (yield)
    with _shown(session, manner):
        return (yield)


@contextmanager
def _shown(session: pytest.Session, manner: DisplayMode) -> Iterator[None]:
    config = session.config
    course = _run_progress(config)
    course.total = len(session.items) if session.items else None
    stream = own_stream()
    display = Display(stream, manner, course.words)
    watching = _CaseWatcher(course, display)
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


def _display_mode(config: pytest.Config) -> DisplayMode | None:
    """How progress is to be shown; None for not at all."""
    mode = config.getoption("--progress")
    if mode == ShowProgress.NEVER:
        return None
    terminal = _is_terminal()
    undisturbed = config.get_verbosity() == 0 and config.getoption("capture") != "no"
    if mode == ShowProgress.AUTO and not (terminal and undisturbed and not os.environ.get("CI")):
        return None
    return DisplayMode.LIVE if terminal and undisturbed else DisplayMode.PLAIN


def _is_terminal() -> bool:
    return sys.__stdout__ is not None and sys.__stdout__.isatty() and os.environ.get("TERM") != "dumb"


def _run_progress(config: pytest.Config) -> RunProgress:
    plan, selection = config.stash[PLAN], config.stash[SELECTION]
    private = Path(plan.private)
    whole = not (selection.clauses or selection.operations or selection.realms or selection.terms.consumer)
    chosen = config.getoption("keyword") or config.getoption("markexpr")
    runs = read_past(Path(plan.folder)).runs if whole and not chosen else ()
    alike = [run.requests for run in runs if run.profile == str(selection.profile)]
    return RunProgress(lambda: requests_counted(private), max(alike[-_RUNS_LOOKED_AT:], default=None))


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


class _CaseWatcher:
    """Follows the cases, here or in the workers, and tells what they find."""

    def __init__(self, course: RunProgress, display: Display) -> None:
        self._course = course
        self._display = display
        self._told = 0

    @pytest.hookimpl(optionalhook=True)
    def pytest_xdist_node_collection_finished(self, ids: list[str]) -> None:
        """Learn the number of cases from the workers."""
        self._course.total = len(ids)

    def pytest_runtest_logstart(self, nodeid: str) -> None:
        """A case begins; with the first one, pytest has written its header."""
        self._course.begins(nodeid)
        self._display.start()

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """A case has its verdict; the first findings are shown at once."""
        verdict = dict(report.user_properties).get(VERDICT_PROPERTY)
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
        verdict = dict(report.user_properties)[VERDICT_PROPERTY]
        says = printable(lines[-1]) if lines else ""
        line = f"{verdict}: {case_in_words(report.nodeid)}: {says}"
        self._display.tell(cut(line, _LONGEST), style="red")
