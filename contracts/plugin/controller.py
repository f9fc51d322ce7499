"""The hooks of a whole run: start, look at the target, plan for workers, end (`contracts.plugin.session_finish`)."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Iterator
from contextlib import nullcontext, suppress
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from contracts.errors import SuiteError, UsageError
from contracts.evidence.record import ExitCode
from contracts.evidence.run_folder import point_latest
from contracts.interface.location import keep_hypothesis_out
from contracts.plugin.collection import forecast, forecasts, marks
from contracts.plugin.documented_names import look_at_names
from contracts.plugin.interruption import (
    SecretContainment,
    Stopping,
    WorkerCrashes,
    leave_to_controller,
    signals_held,
)
from contracts.plugin.plan import ALLURE, SELECTION, TARGET, Plan, Sandbox, is_contract_run, make_plan
from contracts.plugin.preflight import clock_in_words, preflight
from contracts.plugin.session_finish import (
    EMBEDDED_SANDBOX,
    NAMES,
    OBSTACLE,
    PLAN,
    STOPPED_BY_HAND,
    STOPPING,
    finish,
    forecast_line,
    is_planned,
    note_planned,
    note_trouble,
    release,
    write_facts,
    write_unreached,
)
from contracts.plugin.worker import MAIN, WORKER, Worker
from contracts.reports import html
from contracts.reports.writers import unwritten
from contracts.safe_text import complaint
from contracts.session.draft_cleanup import Sweeper
from contracts.session.shared_state import remove_abandoned_private_folders
from contracts.settings.embedded_sandbox import EmbeddedSandbox

#: What `--alluredir` says.
_ALLURE_FOLDER = pytest.StashKey[str | None]()
#: Whether it was said what will be sent, or would be.
_PLANNED = pytest.StashKey[bool]()
_LEFT_OPEN = pytest.PytestUnraisableExceptionWarning


def is_worker(config: pytest.Config) -> bool:
    """Whether this process is an xdist worker."""
    return hasattr(config, "workerinput")


@pytest.hookimpl(tryfirst=True)
def pytest_configure(config: pytest.Config) -> None:
    """Let allure-pytest begin with the run, and not before: its results stand in the run's folder by default."""
    if config.pluginmanager.has_plugin(ALLURE) and is_contract_run(config):
        config.stash[_ALLURE_FOLDER] = config.option.allure_report_dir
        config.option.allure_report_dir = None


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_sessionstart(session: pytest.Session) -> Iterator[None]:
    """Prepare the run in the controller, which then starts the workers, and this process's share of it in these."""
    config = session.config
    if not is_worker(config):
        if is_contract_run(config):
            _begin(config)
    elif "contract_plan" in _input(config):
        leave_to_controller()
        given = _input(config)
        accompanied = given["workercount"] > 1
        _begin_work(config, Plan(**given["contract_plan"]), given["workerid"], accompanied=accompanied)
    with signals_held() if STOPPING in config.stash else nullcontext():
        return (yield)


def _input(config: pytest.Config) -> dict[str, Any]:
    """The input of this xdist worker from the controller."""
    sent: dict[str, Any] = config.workerinput  # type: ignore[attr-defined]
    return sent


def _begin(config: pytest.Config) -> None:
    config.stash[STOPPING] = stopping = Stopping(config)
    stopping.listen()
    config.pluginmanager.register(stopping)
    try:
        plan, sandbox = make_plan(config.stash[SELECTION], config.stash[TARGET], partial(_start, config))
    except UsageError as error:
        raise pytest.UsageError(complaint(error)) from None
    except SuiteError as error:
        # A signal for all processes may end the sandbox before it has a session of its own.
        code = ExitCode.INTERRUPTED if stopping.asked else ExitCode.ERROR
        pytest.exit(complaint(error), returncode=code)
    config.stash[PLAN] = stopping.plan = plan
    try:
        _open(config, plan, sandbox)
    except OSError as error:
        # A disk that is full, say; `latest` leads to this run nevertheless, and not to one that passed.
        with suppress(OSError):
            point_latest(Path(plan.folder))
        pytest.exit(unwritten("the run's folder", error), returncode=ExitCode.ERROR)


def _open(config: pytest.Config, plan: Plan, sandbox: Sandbox | None) -> None:
    """Begin the run's files and the controller's share of it."""
    config.stash[NAMES] = [MAIN]
    if sandbox is not None:
        config.stash[EMBEDDED_SANDBOX] = sandbox
    config.pluginmanager.register(_StopWatcher(config))
    config.pluginmanager.register(WorkerCrashes(config))
    if config.getoption("tx", None):
        config.pluginmanager.register(_Preparation())
    _begin_work(config, plan, MAIN)
    write_facts(config, plan, finished=False)


def _start(config: pytest.Config, size_limit: int, arguments: tuple[str, ...]) -> Sandbox:
    embedded: Sandbox | None = config.hook.pytest_contract_sandbox(size_limit=size_limit, arguments=arguments)
    return embedded or EmbeddedSandbox(size_limit, arguments).__enter__()


def _begin_work(config: pytest.Config, plan: Plan, name: str, *, accompanied: bool = False) -> None:
    target = plan.target(config.stash[TARGET])
    target = config.hook.pytest_contract_target(target=target) or target
    config.stash[WORKER] = worker = Worker(
        name, plan, target, config.stash[SELECTION], accompanied=accompanied
    )
    keep_hypothesis_out()
    config.pluginmanager.register(SecretContainment(config, worker.redactor))
    if config.pluginmanager.has_plugin(ALLURE):
        from contracts.plugin.allure_results import AllureResults  # noqa: PLC0415 - `-p no:allure_pytest`

        folder, given = Path(plan.folder), config.stash.get(_ALLURE_FOLDER, None)
        config.option.allure_report_dir = given  # which workers are told
        clean = name == MAIN and config.option.clean_alluredir
        place = Path(given) if given else folder / "allure"
        config.pluginmanager.register(AllureResults(config, folder / "index.html", place, clean=clean))


class _StopWatcher:
    """Tells Ctrl-C from pytest's own reasons to stop, which it reports as interruptions too.

    An interruption comes between any two steps, so that a file just opened may be left to the garbage collection: a
    warning of that must not turn the exit code of the run into another.
    """

    def __init__(self, config: pytest.Config) -> None:
        self._config = config

    def pytest_keyboard_interrupt(self, excinfo: pytest.ExceptionInfo[BaseException]) -> None:
        """Note why the session ends."""
        self._config.stash[STOPPED_BY_HAND] = excinfo.type is KeyboardInterrupt
        self._config.addinivalue_line("filterwarnings", f"ignore::pytest.{_LEFT_OPEN.__name__}")

    @pytest.hookimpl(tryfirst=True)
    def pytest_unconfigure(self) -> None:
        """Pass over what is collected last, too."""
        if self._config.stash.get(STOPPED_BY_HAND, False):
            warnings.filterwarnings("ignore", category=_LEFT_OPEN)


class _Preparation:
    """Makes ready for the end of a run while workers are at work, and the controller has nothing to do."""

    def __init__(self) -> None:
        self._prepared = False

    def pytest_runtest_logreport(self) -> None:
        """Compile the templates of the page once the first case is over."""
        if not self._prepared:
            self._prepared = True
            with suppress(OSError):  # which the writing of the page tells
                html.prepare()


@pytest.hookimpl(optionalhook=True)
def pytest_configure_node(node: Any) -> None:
    """Send the plan to an xdist worker; called in the controller."""
    if PLAN not in node.config.stash:
        return
    node.workerinput["contract_plan"] = asdict(node.config.stash[PLAN])
    node.workerinput["contract_seed"] = node.config.stash[SELECTION].seed
    node.config.stash[NAMES].append(node.workerinput["workerid"])
    write_facts(node.config, node.config.stash[PLAN], finished=False)


@pytest.hookimpl(tryfirst=True)
def pytest_collection(session: pytest.Session) -> None:
    """Look at the target before any case sends something; one clear line when it cannot be judged."""
    config = session.config
    if PLAN not in config.stash:
        return
    config.stash[STOPPING].begin()
    try:
        obstacle = preflight(config.stash[WORKER], float(config.getoption("--wait")))
        names = None if obstacle else look_at_names(config.stash[WORKER])
    except SuiteError as error:
        note_trouble(config.stash[WORKER], "looking at the target", str(error))
        pytest.exit("the suite broke", returncode=ExitCode.ERROR)
    if obstacle:
        config.stash[OBSTACLE] = obstacle
        pytest.exit("no case can be judged", returncode=ExitCode.INCONCLUSIVE)
    notes = filter(None, (clock_in_words(config.stash[WORKER]), names))
    _write_lines(config, [f"contract: {line}" for line in notes])
    _sweep(config)


@pytest.hookimpl(tryfirst=True)
def pytest_collection_finish(session: pytest.Session) -> None:
    """Record for the controller what was collected."""
    config = session.config
    if WORKER in config.stash:
        plan = config.stash[WORKER].plan
        if not is_planned(plan):
            count = sum(any(marks(item)) for item in session.items)
            note_planned(config, plan, count, forecast(config, session.items).summary)
        if not is_worker(config):
            _tell_forecast(config)


@pytest.hookimpl(trylast=True, specname="pytest_collection_finish")
def pytest_plan_at_the_end(session: pytest.Session) -> None:
    """With `--plan`, say what would be sent, behind what pytest says of the collection, and end."""
    config = session.config
    planned = config.getoption("--plan") and WORKER not in config.stash and not is_worker(config)
    if planned and any(map(any, map(marks, session.items))):
        config.stash[_PLANNED] = True
        _write_lines(config, ["", *forecast(config, session.items).lines()])
        config.hook.pytest_contract_forecasts(forecasts=forecasts(config))
        session.items.clear()


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_node_collection_finished(node: Any) -> None:
    """Say what will be sent, once the first worker has worked it out."""
    if PLAN in node.config.stash:
        _tell_forecast(node.config)


def _tell_forecast(config: pytest.Config) -> None:
    if not config.stash.get(_PLANNED, False):
        config.stash[_PLANNED] = True
        _write_lines(config, [f"contract: {forecast_line(config.stash[PLAN])}"])


def _write_lines(config: pytest.Config, lines: Iterable[str]) -> None:
    reporter = config.pluginmanager.get_plugin("terminalreporter")
    if reporter is not None:
        for line in lines:
            reporter.write_line(line)


def _sweep(config: pytest.Config) -> None:
    """Remove what killed runs left, before this run adds anything."""
    remove_abandoned_private_folders()
    worker = config.stash[WORKER]
    if worker.plan.sandbox_url is not None:
        return  # each run has a sandbox of its own
    for swept in Sweeper(worker).runs(Path(worker.plan.folder).parent):
        _write_lines(config, [f"swept {swept.sentence}"])


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_sessionfinish(session: pytest.Session, exitstatus: int) -> Iterator[None]:
    """Close the files of this process; the controller writes the reports and sets the exit code."""
    config = session.config
    if not is_worker(config):
        if PLAN in config.stash:
            finish(session, exitstatus)
        elif config.stash.get(_PLANNED, False):
            session.exitstatus = pytest.ExitCode.OK
    elif WORKER in config.stash:
        worker = config.stash[WORKER]
        with worker.giving_up_where_broken(session):
            write_unreached(config)
            worker.finish()
    return (yield)


@pytest.hookimpl(trylast=True)
def pytest_unconfigure(config: pytest.Config) -> None:
    """Leave nothing behind, however the session ended."""
    if not is_worker(config):
        release(config)
