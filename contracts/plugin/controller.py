"""The hooks of a whole run: start, look at the target, plan for workers, end (`contracts.plugin.session_finish`)."""

from __future__ import annotations

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
    NODES,
    SecretContainment,
    Stopping,
    leave_to_controller,
    signals_held,
)
from contracts.plugin.plan import ALLURE, SELECTION, TARGET, Plan, Sandbox, is_contract_run, make_plan
from contracts.plugin.preflight import clock_in_words, preflight
from contracts.plugin.run_facts import DIED, OBSTACLE, PLANNED, STOPPING, write_facts
from contracts.plugin.session_finish import (
    EMBEDDED_SANDBOX,
    PLAN,
    finish,
    note_trouble,
    release,
    write_unreached,
)
from contracts.plugin.worker import MAIN, WORKER, Worker
from contracts.reports.writers import unwritten
from contracts.safe_text import complaint
from contracts.session.draft_cleanup import Sweeper
from contracts.session.shared_state import remove_abandoned_private_folders
from contracts.settings.embedded_sandbox import EmbeddedSandbox

#: What `--alluredir` says.
_ALLURE_FOLDER = pytest.StashKey[str | None]()
#: Whether it was said what would be sent.
_SHOWN = pytest.StashKey[bool]()


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
    config.stash[NODES], config.stash[DIED] = [], []
    if sandbox is not None:
        config.stash[EMBEDDED_SANDBOX] = sandbox
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


@pytest.hookimpl(optionalhook=True)
def pytest_configure_node(node: Any) -> None:
    """Send the plan to an xdist worker; called in the controller."""
    if PLAN not in node.config.stash:
        return
    node.workerinput["contract_plan"] = asdict(node.config.stash[PLAN])
    node.workerinput["contract_seed"] = node.config.stash[SELECTION].seed
    node.config.stash[NODES].append(node)
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


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node: Any, error: object | None) -> None:
    """Note which worker died; one that ends as it should leaves no error, one that was stopped by hand this one."""
    if error and error != "keyboard-interrupt" and DIED in node.config.stash:
        node.config.stash[DIED].append(node.workerinput["workerid"])


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_node_collection_finished(node: Any, ids: list[str]) -> None:
    """Note how many cases there are; every worker collects alike."""
    node.config.stash[PLANNED] = len(ids)


@pytest.hookimpl(tryfirst=True)
def pytest_collection_finish(session: pytest.Session) -> None:
    """Note how many cases there are, and say what they will send."""
    config = session.config
    if PLAN in config.stash and not config.getoption("tx", None):
        config.stash[PLANNED] = sum(any(marks(item)) for item in session.items)
        _write_lines(config, [f"contract: {forecast(config, session.items).summary}"])


@pytest.hookimpl(trylast=True, specname="pytest_collection_finish")
def pytest_plan_at_the_end(session: pytest.Session) -> None:
    """With `--plan`, say what would be sent, behind what pytest says of the collection, and end."""
    config = session.config
    planned = config.getoption("--plan") and WORKER not in config.stash and not is_worker(config)
    if planned and any(map(any, map(marks, session.items))):
        config.stash[_SHOWN] = True
        _write_lines(config, ["", *forecast(config, session.items).lines()])
        config.hook.pytest_contract_forecasts(forecasts=forecasts(config))
        session.items.clear()


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
        elif config.stash.get(_SHOWN, False):
            session.exitstatus = pytest.ExitCode.OK
    elif WORKER in config.stash:
        worker = config.stash[WORKER]
        with worker.giving_up_where_broken(session):
            write_unreached(config)
            config.workeroutput["contract"] = worker.finish()  # type: ignore[attr-defined]
    return (yield)


@pytest.hookimpl(trylast=True)
def pytest_unconfigure(config: pytest.Config) -> None:
    """Leave nothing behind, however the session ended."""
    if not is_worker(config):
        release(config)
