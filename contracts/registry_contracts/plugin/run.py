"""A run from its first line to its reports, in the process that starts it (the controller)."""

from __future__ import annotations

import json
import os
import platform
import shutil
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Generator, Iterable, Iterator
from contextlib import ExitStack, suppress
from dataclasses import asdict, dataclass, field, replace
from datetime import UTC, datetime
from functools import partial
from importlib.metadata import version
from pathlib import Path
from typing import Any, Final

import pytest

from registry_contracts.errors import ExitCode, RegistryContractsError, SuiteError, UsageError, breakdown
from registry_contracts.evidence.journal import journal_path
from registry_contracts.evidence.run_comparison import Comparison
from registry_contracts.evidence.run_folder import (
    forget_latest,
    new_folder,
    point_latest,
    prune,
    set_folder_aside,
)
from registry_contracts.evidence.verdicts import RunVerdict
from registry_contracts.file_formats import plain
from registry_contracts.interface.location import keep_hypothesis_out
from registry_contracts.plugin.case import is_case
from registry_contracts.plugin.collection import forecast
from registry_contracts.plugin.finding_again import command_of
from registry_contracts.plugin.hooks import Sandbox
from registry_contracts.plugin.interruption import (
    PYTEST_BROKE,
    SecretContainment,
    Stopping,
    leave_to_controller,
    signals_held,
)
from registry_contracts.plugin.plan import (
    SELECTION,
    Plan,
    Selection,
    is_contract_run,
    read_selection,
    request_budget,
)
from registry_contracts.plugin.preflight import preflight
from registry_contracts.plugin.protocol import verdict_of
from registry_contracts.plugin.worker import BREAKER, BROKEN, BY_HAND, MAIN, WORKER, Worker
from registry_contracts.reports.writers import ALL, pack, unwritten, write_all
from registry_contracts.safe_text import complaint
from registry_contracts.session.draft_cleanup import sweep_runs
from registry_contracts.session.ledger import LEDGER_FILE, RUN_FILE
from registry_contracts.session.namespace import new_run_token
from registry_contracts.session.shared_state import PRIVATE_PREFIX, remove_abandoned_private_folders
from registry_contracts.settings.embedded_sandbox import EmbeddedSandbox

#: How long workers may take to end their case and to clean up.
_PATIENCE_SECONDS: Final = 60.0
#: Packages whose versions `run.json` names.
_VERSIONS: Final = {
    "suite": "registry-contracts",
    **{name: name for name in ("schemathesis", "hypothesis", "pytest")},
}
_BROKEN: Final = (pytest.ExitCode.INTERNAL_ERROR, pytest.ExitCode.USAGE_ERROR)


@dataclass(eq=False)
class Run:
    """A run, as a pytest plugin in the controller.

    Attributes:
        nodes: xdist's controllers of the workers.
        died: Names of workers that died.
        planned: How many cases have to run for the run to be complete.
        sent: Counts of requests, retries and faults of all finished processes.
        failed: Reasons of failures outside the cases, by where they happened.
        complaints: What is wrong with the history, one line each.
        trouble: Why there are no reports.
        unbegun: No case can be judged on this target.
        held: Holds signals while the session starts.
    """

    config: pytest.Config
    worker: Worker
    stopping: Stopping
    comparison: Comparison
    sandbox: Sandbox | None = None
    nodes: list[Any] = field(default_factory=list)
    died: list[str] = field(default_factory=list)
    planned: int | None = None
    sent: Counter[str] = field(default_factory=Counter)
    failed: dict[str, str] = field(default_factory=dict)
    complaints: list[str] = field(default_factory=list)
    verdict: RunVerdict | None = None
    trouble: str | None = None
    unbegun: bool = False
    held: ExitStack = field(default_factory=ExitStack)

    @property
    def folder(self) -> Path:
        """The run's folder in the reports."""
        return Path(self.worker.plan.folder)

    @property
    def over(self) -> bool:
        """Whether there is a verdict, or a reason why there is none."""
        return self.verdict is not None or self.trouble is not None

    def hold_signals(self) -> None:
        """Hold signals until the collection.

        They would end workers that are starting, and pytest skips the finish of a session that is interrupted while it
        starts: there would be no reports, and nobody would stop the workers.
        """
        self.config.add_cleanup(self.held.close)
        self.held.enter_context(signals_held())

    # xdist's hooks about workers.

    @pytest.hookimpl(optionalhook=True)
    def pytest_configure_node(self, node: Any) -> None:
        """Send the plan to a worker."""
        node.workerinput["contract_plan"] = asdict(self.worker.plan)
        self.nodes.append(node)
        self.write_facts()

    @pytest.hookimpl(optionalhook=True)
    def pytest_testnodedown(self, node: Any, error: object | None) -> None:
        """Note a worker that died: one with an error other than that of Ctrl-C."""
        if error and error != "keyboard-interrupt":
            self.died.append(node.workerinput["workerid"])

    @pytest.hookimpl(optionalhook=True)
    def pytest_xdist_node_collection_finished(self, ids: list[str]) -> None:
        """Note the number of cases, which is the same in every worker."""
        self.planned = len(ids)

    # pytest's hooks about collecting and running.

    @pytest.hookimpl(tryfirst=True)
    def pytest_collection(self) -> bool | None:
        """Run the preflight check before any case; report in one line if the target cannot be judged."""
        self.held.close()
        try:
            obstacle, notes = preflight(self.worker, float(self.config.getoption("--wait")))
        except UsageError as error:
            raise pytest.UsageError(complaint(error)) from None
        except SuiteError as error:
            self.worker.write_trouble("checking the target", str(error))
            pytest.exit("the suite broke", returncode=ExitCode.ERROR)
        if obstacle:
            self.unbegun = True
            self.worker.stop(BREAKER, obstacle)
            return True
        if aside := set_folder_aside(self.folder.parent):
            notes.append(f"'latest' in the reports was a folder instead of a link; it is now '{aside}'")
        write_lines(self.config, [f"contract: {note}" for note in notes])
        # Remove what killed runs left before this run adds anything. An embedded sandbox is new in each run.
        remove_abandoned_private_folders()
        for swept in sweep_runs(self.worker, self.folder.parent) if self.sandbox is None else ():
            write_lines(self.config, [f"swept {swept.sentence}"])
        return None

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtestloop(self) -> bool | None:
        """Run nothing if no case can be judged."""
        return True if self.unbegun else None

    @pytest.hookimpl(tryfirst=True)
    def pytest_collection_finish(self, session: pytest.Session) -> None:
        """Note the number of cases, and print the forecast."""
        if not self.config.getoption("tx", None):
            self.planned = sum(map(is_case, session.items))
            write_lines(self.config, [f"contract: {forecast(self.config, session.items).summary}"])

    def pytest_runtest_logreport(self, report: pytest.TestReport | pytest.CollectReport) -> None:
        """Note a failed test that is no case."""
        if report.failed and verdict_of(report) is None:
            lines = [line for line in report.longreprtext.splitlines() if line.strip()]
            self.failed[report.nodeid] = lines[-1] if lines else "failed"

    #: The same for files that cannot be collected.
    pytest_collectreport = pytest_runtest_logreport

    # The end of the run.

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_sessionfinish(self, session: pytest.Session, exitstatus: int) -> Iterator[None]:
        """Finish the evidence, write the reports, and give the session the run's exit code."""
        self.stopping.finishing = True
        if (
            exitstatus == pytest.ExitCode.USAGE_ERROR
            and not self.planned
            and not self.worker.ledger.removable()
        ):
            # A usage error before the first case, such as an unknown case: there is nothing to report.
            return (yield)
        try:
            self.verdict = self._concluded(exitstatus)
            self._archive()
        except RegistryContractsError as error:
            self.trouble = str(error)
        except Exception as error:  # noqa: BLE001 - pytest would end with 1 for whatever breaks here, which is a verdict
            self.trouble = unwritten("the run's verdict", error)
        session.exitstatus = ExitCode.ERROR
        if self.trouble is not None:
            # Even without reports `latest` must lead to this run, not to an older one that passed.
            self.trouble = self.worker.redactor.text(self.trouble)
            with suppress(OSError):
                point_latest(self.folder)
        elif self.verdict is not None:
            session.exitstatus = self.verdict.exit_code
        return (yield)

    def _concluded(self, exitstatus: int) -> RunVerdict:
        try:
            self._await_workers()
            self._write_troubles(exitstatus)
        finally:
            # Remove what was created, even if the lines before failed.
            self.sent.update(self.worker.finish())
        self.write_facts(finished=True)
        parts = sorted(self.folder.glob("ledger-*.jsonl"))
        (self.folder / LEDGER_FILE).write_text("".join(part.read_text("utf-8") for part in parts), "utf-8")
        for part in parts:
            part.unlink()
        return write_all(self.folder, self.config.hook.pytest_contract_formats() or ALL)

    def _await_workers(self) -> None:
        """Wait for xdist's workers to end their case and finish; after Ctrl-C they are still at work."""
        alive = (node for node in self.nodes if node.workerinput["workerid"] not in self.died)
        at_work = [node for node in alive if not hasattr(node, "workeroutput")]
        if at_work:
            self.worker.stop(BY_HAND, BY_HAND)
        for node in at_work:
            node.shutdown()
        deadline = time.monotonic() + _PATIENCE_SECONDS
        for node in at_work:
            # The channel of a worker that died is closed too.
            with suppress(EOFError, node.channel.TimeoutError, node.channel.RemoteError):
                node.channel.waitclose(max(0.0, deadline - time.monotonic()))
        for node in self.nodes:
            self.sent.update(getattr(node, "workeroutput", {}).get("contract", {}))

    def _write_troubles(self, exitstatus: int) -> None:
        """Write failures outside the cases to the evidence, so that no report says pass."""
        broke = self.config.stash.get(PYTEST_BROKE, "")
        for where, why in self.failed.items():
            self.worker.write_trouble(where, why)
        kind, why = self.worker.stopped
        if kind == BROKEN:
            self.worker.write_trouble("worker", why)
        if exitstatus in _BROKEN or broke:
            words = f"pytest itself failed{f': {broke}' if broke else ''}; -v shows the traceback"
            self.worker.write_trouble("pytest", words)

    def _archive(self) -> None:
        """Add the run to the history, pack its folder, remove old runs; problems with the history fail nothing."""
        try:
            self.comparison.add_to_history(self.folder)
        except UsageError as error:
            self.complaints.append(f"{error}; this run is not in it")
        if not self.config.getoption("--unpacked"):
            pack(self.folder)
        prune(self.folder.parent, int(self.config.getoption("--keep")))

    # `run.json`.

    def write_facts(self, *, finished: bool = False) -> None:
        """Write `run.json`; until it is written as finished, the run counts as running or killed."""
        facts = self._facts() | {"finished": datetime.now(UTC).isoformat() if finished else None}
        if finished:
            names = facts["expected_workers"]
            facts["left"] = len(self.worker.ledger.removable())
            facts["without_journal"] = [
                name for name in names if not journal_path(self.folder, name).exists()
            ]
        # Replace the file at once: the run may be killed at any moment.
        fresh = self.folder / f".{RUN_FILE}.new"
        fresh.write_text(json.dumps(facts, indent=2), encoding="utf-8")
        fresh.replace(self.folder / RUN_FILE)

    def _facts(self) -> dict[str, Any]:
        selection, target = self.worker.selection, self.worker.target
        workers = [node.workerinput["workerid"] for node in self.nodes]
        return {
            # A run that stops at its first failures may leave cases out.
            "planned": None if self.config.getoption("maxfail", 0) else self.planned,
            "died": self.died,
            "target": target.name,
            "target_kind": target.kind,
            "base_url": target.base_url,
            "profile": str(selection.profile),
            "seed": selection.seed,
            "realms": list(selection.realms),
            "clauses": selection.judged,
            "started": self.worker.plan.started,
            "workers": max(1, len(workers)),
            "command": command_of(self.config),
            "versions": {"python": platform.python_version()}
            | {name: version(package) for name, package in _VERSIONS.items()},
            "environment": self._environment(),
            "interrupted": self.stopping.asked,
            "expected_workers": [MAIN, *workers],
            "strict": selection.strict,
            "waived": selection.terms.waived,
            "terms": plain(selection.terms),
            "settings": {realm: asdict(target.realm_settings(realm)) for realm in target.realms},
            "token": self.worker.plan.token,
            "process": {"pid": os.getpid(), "host": platform.node()},
        }

    def _environment(self) -> dict[str, Any]:
        sent = self.sent.copy()
        kind, why = self.worker.stopped
        target, embedded = self.worker.target, self.worker.target.is_sandbox
        return {
            "requests": sent.pop("requests", 0),
            "retries": sent.pop("retries", 0),
            "faults": dict(sent),
            "breaker": why if kind == BREAKER else None,
            # Null means no limit.
            "limits": {
                "requests_per_second": None if embedded else target.pace.requests_per_second,
                "concurrency": None if embedded else target.pace.concurrency,
                "request_budget": request_budget(target, self.worker.selection.profile),
                "permanent_records_per_realm": target.pace.permanent_records,
            },
            "permanent_records": self.worker.permanent_records.counted(target.realms),
        }


#: The run; only in the controller.
RUN = pytest.StashKey[Run]()


def write_lines(config: pytest.Config, lines: Iterable[str]) -> None:
    """Print lines between those of pytest."""
    if reporter := config.pluginmanager.get_plugin("terminalreporter"):
        for line in lines:
            reporter.write_line(line)


@pytest.hookimpl(tryfirst=True)
def pytest_configure(config: pytest.Config) -> None:
    """Register the marks, read the options, and begin the run; report options that cannot be used in one line."""
    marks = {
        "contract": "a case of the contract suite",
        "smoke": "one of the profile smoke",
        "for_each_row": "one for each row of the factor table",
    }
    for mark, words in marks.items():
        config.addinivalue_line("markers", f"{mark}: {words}; use registry_contracts.cases.marks.{mark}")
    given: dict[str, Any] | None = getattr(config, "workerinput", None)
    contract = is_contract_run(config)
    try:
        config.stash[SELECTION] = selection = read_selection(config)
        option = config.getoption
        history = not option("--no-history") and option("--history")
        comparison = Comparison.of_options(
            selection.name, selection.reports, option("--drift"), option("--baseline"), history
        )
        if given is not None and "contract_plan" in given:
            leave_to_controller()
            _begin_work(config, Plan(**given["contract_plan"]), given["workerid"])
        elif given is None and contract:
            _begin(config, selection, comparison)
    except RegistryContractsError as error:
        raise pytest.UsageError(complaint(error)) from None


@pytest.hookimpl(wrapper=True, trylast=True)
def pytest_cmdline_main(config: pytest.Config) -> Generator[None, object, object]:
    """After a usage error, remove the link `latest` and the run's folder: `latest` must not lead to an older run.

    Also reports an interruption that comes before pytest's terminal reporter exists.
    """
    contract = is_contract_run(config)
    try:
        code = yield
    except pytest.UsageError:
        run = config.stash.get(RUN, None)
        if contract and (run is None or not run.over):
            if run is not None:
                shutil.rmtree(run.folder, ignore_errors=True)
            forget_latest(Path(config.getoption("--reports") or "reports"))
        raise
    if code == pytest.ExitCode.INTERRUPTED and config.pluginmanager.get_plugin("terminalreporter") is None:
        sys.stderr.write("interrupted before anything was sent\n")
    return code


def _begin(config: pytest.Config, selection: Selection, comparison: Comparison) -> None:
    stopping = Stopping(config)
    stopping.listen()
    config.pluginmanager.register(stopping)
    token, now, folder = new_run_token(), datetime.now(UTC), None
    try:
        sandbox = _start_sandbox(config, selection) if selection.settings is None else None
        private = tempfile.mkdtemp(prefix=PRIVATE_PREFIX)
        config.add_cleanup(partial(shutil.rmtree, private, ignore_errors=True))
        folder = new_folder(selection.reports, f"{selection.name}-{token}", "write reports to", at=now)
        url = sandbox.base_url if sandbox else None
        plan = Plan(str(folder), private, token, now.isoformat(), url, selection.seed)
        worker = _begin_work(config, plan, MAIN)
        config.stash[RUN] = run = Run(config, worker, stopping, comparison, sandbox)
        config.pluginmanager.register(run)
        run.write_facts()
        run.complaints += comparison.note_in(folder)
        run.hold_signals()
        stopping.plan = plan
    except (UsageError, KeyboardInterrupt):
        if folder is not None:
            shutil.rmtree(folder, ignore_errors=True)
        raise
    except (OSError, SuiteError) as error:
        # For example a full disk. Even now `latest` must not lead to an older run that passed.
        with suppress(OSError):
            point_latest(folder) if folder else forget_latest(selection.reports)
        why = complaint(f"the run cannot begin: {breakdown(error)}")
        pytest.exit(why, returncode=ExitCode.ERROR)


def _start_sandbox(config: pytest.Config, selection: Selection) -> Sandbox:
    limit, arguments = selection.size_limit, selection.sandbox_arguments
    given: Sandbox | None = config.hook.pytest_contract_sandbox(size_limit=limit, arguments=arguments)
    sandbox = given or EmbeddedSandbox(limit, arguments).__enter__()
    config.add_cleanup(sandbox.stop)
    return sandbox


def _begin_work(config: pytest.Config, plan: Plan, name: str) -> Worker:
    config.stash[SELECTION] = selection = replace(config.stash[SELECTION], seed=plan.seed)
    target = selection.aim(plan.sandbox_url)
    target = config.hook.pytest_contract_target(target=target) or target
    config.stash[WORKER] = worker = Worker(name, plan, target, selection)
    config.add_cleanup(worker.close)
    keep_hypothesis_out()
    config.pluginmanager.register(SecretContainment(config, worker))
    return worker


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_sessionfinish(session: pytest.Session) -> Iterator[None]:
    """Finish an xdist worker, and send its counts to the controller."""
    config = session.config
    if WORKER in config.stash and RUN not in config.stash:
        worker = config.stash[WORKER]
        try:
            config.workeroutput["contract"] = worker.finish()  # type: ignore[attr-defined]
        except Exception as error:  # noqa: BLE001 - pytest calls no hook for what breaks here
            worker.give_up(session, error)
    return (yield)
