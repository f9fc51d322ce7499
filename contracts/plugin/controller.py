"""Begins a run, and this process's share of it, and releases what it holds."""

from __future__ import annotations

import gc
import shutil
import tempfile
from collections.abc import Generator, Iterator
from contextlib import suppress
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from contracts.errors import RegistryContractsError, SuiteError, UsageError, breakdown
from contracts.evidence.record import ExitCode
from contracts.evidence.run_comparison import Comparison
from contracts.evidence.run_folder import forget_latest, new_folder, point_latest
from contracts.interface.location import keep_hypothesis_out
from contracts.plugin.hooks import Sandbox
from contracts.plugin.interruption import SecretContainment, Stopping, leave_to_controller
from contracts.plugin.plan import SELECTION, Plan, Selection, is_contract_run, read_selection
from contracts.plugin.run import RUN, Run
from contracts.plugin.run_options import REPORTS
from contracts.plugin.worker import MAIN, WORKER, Worker
from contracts.reports.writers import unwritten
from contracts.safe_text import complaint
from contracts.session.namespace import new_run_token
from contracts.session.shared_state import PRIVATE_PREFIX
from contracts.settings.embedded_sandbox import EmbeddedSandbox

#: Whether the session has begun.
_IN_SESSION = pytest.StashKey[bool]()


@pytest.hookimpl(tryfirst=True)
def pytest_configure(config: pytest.Config) -> None:
    """Register the marks, read the options, and begin what they ask for; what cannot be used is one clear line."""
    for mark, words in (("contract", "a case of the contract suite"), ("smoke", "one of the profile smoke")):
        config.addinivalue_line("markers", f"{mark}: {words}; use contracts.cases.marks.{mark}")
    given: dict[str, Any] | None = getattr(config, "workerinput", None)
    try:
        config.stash[SELECTION] = selection = read_selection(config)
        compared = "--drift", "--baseline", "--history"
        comparison = Comparison.of_options(
            selection.name, selection.reports, *map(config.getoption, compared)
        )
        if given is not None and "contract_plan" in given:
            leave_to_controller()
            plan, accompanied = Plan(**given["contract_plan"]), given["workercount"] > 1
            _begin_work(config, plan, given["workerid"], accompanied=accompanied)
        elif given is None and is_contract_run(config):
            _begin(config, selection, comparison)
    except RegistryContractsError as error:
        raise pytest.UsageError(complaint(error)) from None


@pytest.hookimpl(wrapper=True, trylast=True)
def pytest_cmdline_main(config: pytest.Config) -> Generator[None, object, object]:
    """Let `latest` lead to no older run where this one is refused, by whomever, and leave no folder of it."""
    try:
        return (yield)
    except pytest.UsageError:
        if _IN_SESSION not in config.stash and is_contract_run(config):
            if WORKER in config.stash:
                shutil.rmtree(config.stash[WORKER].plan.folder, ignore_errors=True)
            forget_latest(Path(config.getoption(REPORTS.flag)))
        raise


def pytest_sessionstart(session: pytest.Session) -> None:
    """Note that the session begins, at whose end there are reports."""
    session.config.stash[_IN_SESSION] = True


def _begin(config: pytest.Config, selection: Selection, comparison: Comparison) -> None:
    stopping = Stopping(config)
    stopping.listen()
    config.pluginmanager.register(stopping)
    token, now = new_run_token(), datetime.now(UTC)
    folder = new_folder(selection.reports, f"{selection.name}-{token}", "write reports to", at=now)
    try:
        sandbox = _start_sandbox(config, selection) if selection.settings is None else None
        # The last step, so that nothing that fails leaves it behind.
        private = tempfile.mkdtemp(prefix=PRIVATE_PREFIX)
    except (UsageError, SuiteError, OSError) as error:
        folder.rmdir()
        if isinstance(error, UsageError):
            raise
        forget_latest(folder.parent)
        # A signal for all processes may end the sandbox before it has a session of its own.
        code = ExitCode.INTERRUPTED if stopping.asked else ExitCode.ERROR
        pytest.exit(complaint(f"the run cannot begin: {breakdown(error)}"), returncode=code)
    url = sandbox.base_url if sandbox else None
    stopping.plan = plan = Plan(str(folder), private, token, now.isoformat(), url)
    config.add_cleanup(partial(_release, config, plan, sandbox))
    try:
        worker = _begin_work(config, plan, MAIN)
        config.stash[RUN] = run = Run(config, worker, stopping, comparison, sandbox)
        config.pluginmanager.register(run)
        run.write_facts()
        run.complaints += comparison.note_in(run.folder)
    except (OSError, SuiteError) as error:
        # A disk that is full, say; `latest` leads to this run nevertheless, and not to one that passed.
        with suppress(OSError):
            point_latest(folder)
        broken = isinstance(error, SuiteError)
        why = f"the run cannot begin: {breakdown(error)}" if broken else unwritten("the run's folder", error)
        pytest.exit(complaint(why), returncode=ExitCode.ERROR)


def _start_sandbox(config: pytest.Config, selection: Selection) -> Sandbox:
    limit, arguments = selection.size_limit, selection.sandbox_arguments
    embedded: Sandbox | None = config.hook.pytest_contract_sandbox(size_limit=limit, arguments=arguments)
    return embedded or EmbeddedSandbox(limit, arguments).__enter__()


def _release(config: pytest.Config, plan: Plan, sandbox: Sandbox | None) -> None:
    """Stop the embedded sandbox and remove the private folder, however the session ended."""
    if WORKER in config.stash:
        config.stash[WORKER].close()
    if sandbox is not None:
        sandbox.stop()
    shutil.rmtree(plan.private, ignore_errors=True)


def _begin_work(config: pytest.Config, plan: Plan, name: str, *, accompanied: bool = False) -> Worker:
    selection = config.stash[SELECTION]
    target = selection.aim(plan.sandbox_url)
    target = config.hook.pytest_contract_target(target=target) or target
    config.stash[WORKER] = worker = Worker(name, plan, target, selection, accompanied=accompanied)
    keep_hypothesis_out()
    config.pluginmanager.register(SecretContainment(config, worker.redactor))
    return worker


@pytest.hookimpl(tryfirst=True)
def pytest_collection_finish() -> None:
    """Keep what is loaded by now from the collector: it stays until the end."""
    gc.freeze()


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_sessionfinish(session: pytest.Session) -> Iterator[None]:
    """Close the books of a worker beside the controller, which says what it has sent and met."""
    config = session.config
    if WORKER in config.stash and RUN not in config.stash:
        worker = config.stash[WORKER]
        with worker.giving_up_where_broken(session):
            config.workeroutput["contract"] = worker.finish()  # type: ignore[attr-defined]
    return (yield)
