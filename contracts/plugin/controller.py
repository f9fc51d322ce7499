"""Begins a run, and this process's share of it, and releases what it holds."""

from __future__ import annotations

import gc
import shutil
from collections.abc import Generator, Iterator
from contextlib import nullcontext, suppress
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from contracts.errors import SuiteError, UsageError
from contracts.evidence.record import ExitCode
from contracts.evidence.run_folder import forget_latest, point_latest
from contracts.interface.location import keep_hypothesis_out
from contracts.plugin.case import is_case
from contracts.plugin.collection import forecast, write_unreached
from contracts.plugin.hooks import Sandbox
from contracts.plugin.interruption import SecretContainment, Stopping, leave_to_controller, signals_held
from contracts.plugin.plan import ALLURE, COMPARISON, SELECTION, TARGET, Plan, is_contract_run, make_plan
from contracts.plugin.run import RUN, Run, write_lines
from contracts.plugin.run_options import REPORTS
from contracts.plugin.worker import MAIN, WORKER, Worker
from contracts.reports.writers import unwritten
from contracts.safe_text import complaint
from contracts.settings.embedded_sandbox import EmbeddedSandbox

#: What `--alluredir` says.
_ALLURE_FOLDER = pytest.StashKey[str | None]()
#: Whether it was said what would be sent.
_SHOWN = pytest.StashKey[bool]()


@pytest.hookimpl(tryfirst=True)
def pytest_configure(config: pytest.Config) -> None:
    """Let allure-pytest begin with the run, and not before: its results stand in the run's folder by default."""
    if config.pluginmanager.has_plugin(ALLURE) and is_contract_run(config):
        config.stash[_ALLURE_FOLDER] = config.option.allure_report_dir
        config.option.allure_report_dir = None


@pytest.hookimpl(wrapper=True, trylast=True)
def pytest_cmdline_main(config: pytest.Config) -> Generator[None, object, object]:
    """Let `latest` lead to no older run where this one is refused."""
    try:
        return (yield)
    except pytest.UsageError:
        if RUN not in config.stash and is_contract_run(config):
            forget_latest(Path(config.getoption(REPORTS.flag)))
        raise


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_sessionstart(session: pytest.Session) -> Iterator[None]:
    """Prepare the run in the controller, which then starts the workers, and this process's share of it in these."""
    config = session.config
    given: dict[str, Any] | None = getattr(config, "workerinput", None)
    if given is None and is_contract_run(config):
        _begin(config)
    elif given is not None and "contract_plan" in given:
        leave_to_controller()
        plan, accompanied = Plan(**given["contract_plan"]), given["workercount"] > 1
        _begin_work(config, plan, given["workerid"], accompanied=accompanied)
    with signals_held() if RUN in config.stash else nullcontext():
        return (yield)


def _begin(config: pytest.Config) -> None:
    stopping = Stopping(config)
    stopping.listen()
    config.pluginmanager.register(stopping)
    try:
        start = partial(_start, config)
        plan, sandbox = make_plan(config.stash[SELECTION], config.stash[TARGET], start)
    except UsageError as error:
        raise pytest.UsageError(complaint(error)) from None
    except SuiteError as error:
        # A signal for all processes may end the sandbox before it has a session of its own.
        code = ExitCode.INTERRUPTED if stopping.asked else ExitCode.ERROR
        pytest.exit(complaint(error), returncode=code)
    stopping.plan = plan
    config.add_cleanup(partial(_release, config, plan, sandbox))
    try:
        worker = _begin_work(config, plan, MAIN)
        config.stash[RUN] = run = Run(config, plan, worker, stopping, sandbox)
        config.pluginmanager.register(run)
        run.write_facts()
        run.complaints += config.stash[COMPARISON].note_in(run.folder)
    except UsageError as error:
        raise pytest.UsageError(complaint(error)) from None
    except OSError as error:
        # A disk that is full, say; `latest` leads to this run nevertheless, and not to one that passed.
        with suppress(OSError):
            point_latest(Path(plan.folder))
        pytest.exit(unwritten("the run's folder", error), returncode=ExitCode.ERROR)


def _release(config: pytest.Config, plan: Plan, sandbox: Sandbox | None) -> None:
    """Stop the embedded sandbox and remove the private folder, however the session ended."""
    if WORKER in config.stash:
        config.stash[WORKER].close()
    if sandbox is not None:
        sandbox.stop()
    shutil.rmtree(plan.private, ignore_errors=True)


def _start(config: pytest.Config, size_limit: int, arguments: tuple[str, ...]) -> Sandbox:
    embedded: Sandbox | None = config.hook.pytest_contract_sandbox(size_limit=size_limit, arguments=arguments)
    return embedded or EmbeddedSandbox(size_limit, arguments).__enter__()


def _begin_work(config: pytest.Config, plan: Plan, name: str, *, accompanied: bool = False) -> Worker:
    target = plan.target(config.stash[TARGET])
    target = config.hook.pytest_contract_target(target=target) or target
    selection = config.stash[SELECTION]
    config.stash[WORKER] = worker = Worker(name, plan, target, selection, accompanied=accompanied)
    keep_hypothesis_out()
    config.pluginmanager.register(SecretContainment(config, worker.redactor))
    if config.pluginmanager.has_plugin(ALLURE):
        from contracts.plugin.allure_results import AllureResults  # noqa: PLC0415 - `-p no:allure_pytest`

        folder, given = Path(plan.folder), config.stash.get(_ALLURE_FOLDER, None)
        config.option.allure_report_dir = given  # which workers are told
        clean = name == MAIN and config.option.clean_alluredir
        place = Path(given) if given else folder / "allure"
        config.pluginmanager.register(AllureResults(config, folder / "index.html", place, clean=clean))
    return worker


@pytest.hookimpl(tryfirst=True)
def pytest_collection_finish() -> None:
    """Keep what is loaded by now from the collector: it stays until the end."""
    gc.freeze()


@pytest.hookimpl(trylast=True, specname="pytest_collection_finish")
def pytest_plan_at_the_end(session: pytest.Session) -> None:
    """With `--plan`, say what would be sent, behind what pytest says of the collection, and end."""
    config = session.config
    if config.getoption("--plan") and WORKER not in config.stash and any(map(is_case, session.items)):
        config.stash[_SHOWN] = True
        write_lines(config, ["", *forecast(config, session.items).lines(), "Nothing was sent."])
        session.items.clear()


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_sessionfinish(session: pytest.Session) -> Iterator[None]:
    """Close the files of a worker; a plan is no run without cases."""
    config = session.config
    if config.stash.get(_SHOWN, False):
        session.exitstatus = pytest.ExitCode.OK
    elif WORKER in config.stash and RUN not in config.stash:
        worker = config.stash[WORKER]
        with worker.giving_up_where_broken(session):
            write_unreached(config, worker)
            config.workeroutput["contract"] = worker.finish()  # type: ignore[attr-defined]
    return (yield)
