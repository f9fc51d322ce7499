"""The hooks of a whole run: start, look at the target, plan for workers, clean-up, reports, history."""

from __future__ import annotations

import gc
import shutil
import time
from collections.abc import Generator, Iterable, Iterator
from contextlib import nullcontext, suppress
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import Any, Final

import pytest

from contracts.errors import RegistryContractsError, SuiteError, UsageError
from contracts.evidence.record import ExitCode
from contracts.evidence.run_folder import forget_latest, point_latest, prune
from contracts.evidence.verdicts import RunVerdict
from contracts.interface.location import keep_hypothesis_out
from contracts.plugin.case import is_case
from contracts.plugin.case_records import write_trouble
from contracts.plugin.collection import NARROWED, UNREACHED, forecast
from contracts.plugin.hooks import Sandbox
from contracts.plugin.interruption import (
    PYTEST_BROKE,
    SecretContainment,
    Stopping,
    leave_to_controller,
    signals_held,
)
from contracts.plugin.plan import ALLURE, COMPARISON, SELECTION, TARGET, Plan, is_contract_run, make_plan
from contracts.plugin.preflight import preflight
from contracts.plugin.run import RUN, Run
from contracts.plugin.run_options import KEEP, REPORTS, UNPACKED
from contracts.plugin.worker import BROKEN, BY_HAND, MAIN, WORKER, Worker, stop, stopped
from contracts.reports.writers import ALL, pack, unwritten, write_all
from contracts.safe_text import complaint
from contracts.session.ledger import LEDGER_FILE
from contracts.session.shared_state import remove_abandoned_private_folders
from contracts.session.sweep import Sweeper
from contracts.settings.embedded_sandbox import EmbeddedSandbox

#: How long workers may take to end the case they are in and to clean up.
_PATIENCE_SECONDS: Final = 60.0
_BROKEN: Final = (pytest.ExitCode.INTERNAL_ERROR, pytest.ExitCode.USAGE_ERROR)
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
    stopping.plan, config.stash[_RELEASED] = plan, (plan, sandbox)
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


@pytest.hookimpl(optionalhook=True)
def pytest_configure_node(node: Any) -> None:
    """Send the plan to an xdist worker; called in the controller."""
    run = node.config.stash.get(RUN, None)
    if run is not None:
        node.workerinput["contract_plan"] = asdict(run.plan)
        node.workerinput["contract_seed"] = run.worker.selection.seed
        run.nodes.append(node)
        run.write_facts()


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node: Any, error: object | None) -> None:
    """Note which worker died; one that ends as it should leaves no error, one that was stopped by hand this one."""
    if error and error != "keyboard-interrupt" and RUN in node.config.stash:
        node.config.stash[RUN].died.append(node.workerinput["workerid"])


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_node_collection_finished(node: Any, ids: list[str]) -> None:
    """Note how many cases there are; every worker collects alike."""
    if RUN in node.config.stash:
        node.config.stash[RUN].planned = len(ids)


@pytest.hookimpl(tryfirst=True)
def pytest_collection(session: pytest.Session) -> None:
    """Look at the target before any case sends something; one clear line when it cannot be judged."""
    config = session.config
    run = config.stash.get(RUN, None)
    if run is None:
        return
    run.stopping.begin()
    worker = run.worker
    try:
        run.obstacle, notes = preflight(worker, float(config.getoption("--wait")))
    except SuiteError as error:
        write_trouble(worker, "looking at the target", str(error))
        pytest.exit("the suite broke", returncode=ExitCode.ERROR)
    if run.obstacle:
        pytest.exit("no case can be judged", returncode=ExitCode.INCONCLUSIVE)
    _write_lines(config, [f"contract: {note}" for note in notes])
    # What killed runs left goes before this one adds anything; each run has an embedded sandbox of its own.
    remove_abandoned_private_folders()
    for swept in Sweeper(worker).runs(run.folder.parent) if run.plan.sandbox_url is None else ():
        _write_lines(config, [f"swept {swept.sentence}"])


@pytest.hookimpl(tryfirst=True)
def pytest_collection_finish(session: pytest.Session) -> None:
    """Note how many cases there are, and say what they will send."""
    # What is loaded by now stays until the end, so that the collector need not look at it again and again.
    gc.freeze()
    config = session.config
    if RUN in config.stash and not config.getoption("tx", None):
        config.stash[RUN].planned = sum(map(is_case, session.items))
        _write_lines(config, [f"contract: {forecast(config, session.items).summary}"])


@pytest.hookimpl(trylast=True, specname="pytest_collection_finish")
def pytest_plan_at_the_end(session: pytest.Session) -> None:
    """With `--plan`, say what would be sent, behind what pytest says of the collection, and end."""
    config = session.config
    if config.getoption("--plan") and WORKER not in config.stash and any(map(is_case, session.items)):
        config.stash[_SHOWN] = True
        told = forecast(config, session.items)
        _write_lines(config, ["", *told.lines(), "Nothing was sent."])
        config.hook.pytest_contract_forecast(forecast=told)
        session.items.clear()


def _write_lines(config: pytest.Config, lines: Iterable[str]) -> None:
    if reporter := config.pluginmanager.get_plugin("terminalreporter"):
        for line in lines:
            reporter.write_line(line)


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_sessionfinish(session: pytest.Session, exitstatus: int) -> Iterator[None]:
    """Close the files of this process; the controller writes the reports and sets the exit code."""
    config = session.config
    if RUN in config.stash:
        _finish(session, config.stash[RUN], exitstatus)
    elif config.stash.get(_SHOWN, False):
        session.exitstatus = pytest.ExitCode.OK
    elif WORKER in config.stash:
        worker = config.stash[WORKER]
        with worker.giving_up_where_broken(session):
            _write_unreached(config, worker)
            config.workeroutput["contract"] = worker.finish()  # type: ignore[attr-defined]
    return (yield)


def _finish(session: pytest.Session, run: Run, exitstatus: int) -> None:
    """Close the books of a run, write its reports, and give the session the run's exit code."""
    run.stopping.finishing = True
    # All that a run has recorded lasts until the reports are written: nothing of it is garbage.
    gc.disable()
    try:
        run.verdict = _concluded(run, exitstatus)
        _put_away(run)
    except RegistryContractsError as error:
        run.trouble = str(error)
    except Exception as error:  # noqa: BLE001 - the run ends here; one line says more than a traceback
        run.trouble = unwritten("the run's verdict", error)
    finally:
        # What pytest still collects, it need not look for among all this.
        gc.freeze()
        gc.enable()
    if run.trouble is None and run.verdict is not None:
        session.exitstatus = run.verdict.exit_code
        return
    # Without reports `latest` leads to this run nevertheless, and not to one that passed.
    run.trouble = run.worker.redactor.text(run.trouble or "")
    session.exitstatus = ExitCode.ERROR
    with suppress(OSError):
        point_latest(run.folder)


def _concluded(run: Run, exitstatus: int) -> RunVerdict:
    ended: dict[str, dict[str, Any]] = {}
    try:
        ended = _await_workers(run)
        _write_troubles(run, exitstatus)
        _write_unreached(run.config, run.worker)
    finally:
        # What was created is removed, whatever became of the notes.
        run.counts = [*ended.values(), run.worker.finish(ended)]
    if run.sandbox is not None:
        run.sandbox.ask_to_end()  # while the reports are written
    run.write_facts(finished=True)
    parts = sorted(run.folder.glob("ledger-*.jsonl"))
    (run.folder / LEDGER_FILE).write_text("".join(part.read_text("utf-8") for part in parts), "utf-8")
    for part in parts:
        part.unlink()
    return write_all(run.folder, run.config.hook.pytest_contract_formats() or ALL)


def _await_workers(run: Run) -> dict[str, dict[str, Any]]:
    """Let xdist's workers end the case they are in and close their books; after Ctrl-C they are still at work.

    Returns:
        What each of them has sent and met, by name; without those that died.
    """
    names = {id(node): node.workerinput["workerid"] for node in run.nodes}
    at_work = [
        node for node in run.nodes if not hasattr(node, "workeroutput") and names[id(node)] not in run.died
    ]
    if at_work:
        stop(Path(run.plan.private), BY_HAND, BY_HAND)
    for node in at_work:
        node.shutdown()
    deadline = time.monotonic() + _PATIENCE_SECONDS
    for node in at_work:
        # A worker that died says nothing more; its channel is closed as that of one which has ended.
        with suppress(EOFError, node.channel.TimeoutError, node.channel.RemoteError):
            node.channel.waitclose(max(0.0, deadline - time.monotonic()))
    told = {names[id(node)]: getattr(node, "workeroutput", {}).get("contract") for node in run.nodes}
    return {name: counts for name, counts in told.items() if counts}


def _write_troubles(run: Run, exitstatus: int) -> None:
    """Put into the evidence what failed outside the cases, so that no report says pass beside it."""
    worker, broke = run.worker, run.config.stash.get(PYTEST_BROKE, "")
    for where, why in run.failed.items():
        write_trouble(worker, where, why)
    kind, why = stopped(worker.private) or ("", "")
    if kind == BROKEN:
        write_trouble(worker, "worker", why)
    if exitstatus in _BROKEN or broke:
        words = f"pytest itself broke{f': {broke}' if broke else ''}; -v shows the traceback"
        write_trouble(worker, "pytest", words)


def _write_unreached(config: pytest.Config, worker: Worker) -> None:
    """Say of each cell without a case why there is none; one process says it for all."""
    if worker.name in (MAIN, "gw0"):
        for (clause, realm), reason in config.stash.get(UNREACHED, {}).items():
            worker.journal.write("untested", clause=clause, realm=realm, reason=reason)
        for reason, cells in config.stash.get(NARROWED, []):
            worker.journal.write("narrowed", reason=reason, cells=cells)


def _put_away(run: Run) -> None:
    """Add the run to the history, pack its folder, remove old runs; trouble with the history fails nothing."""
    try:
        run.config.stash[COMPARISON].add_to_history(run.folder)
    except UsageError as error:
        run.complaints.append(f"{error}; this run is not in it")
    if not run.config.getoption(UNPACKED.flag):
        pack(run.folder)
    prune(run.folder.parent, int(run.config.getoption(KEEP.flag)))


#: What is released when pytest ends, however the session ended.
_RELEASED = pytest.StashKey[tuple[Plan, Sandbox | None]]()


@pytest.hookimpl(trylast=True)
def pytest_unconfigure(config: pytest.Config) -> None:
    """Stop the embedded sandbox and remove the private folder, however the session ended."""
    plan, sandbox = config.stash.get(_RELEASED, (None, None))
    if plan is not None and WORKER in config.stash:
        config.stash[WORKER].close()
    if sandbox is not None:
        sandbox.stop()
    if plan is not None:
        shutil.rmtree(plan.private, ignore_errors=True)
