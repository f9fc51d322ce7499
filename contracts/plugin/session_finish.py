"""The end of a run in the controller: workers waited for, books closed, reports written, everything put away."""

from __future__ import annotations

import shutil
import time
from contextlib import suppress
from pathlib import Path
from typing import Any, Final

import pytest

from contracts.errors import RegistryContractsError
from contracts.evidence.journal import utc_now
from contracts.evidence.outcomes import ExitCode, Verdict
from contracts.evidence.verdicts import RunVerdict
from contracts.plugin.collection import ELSEWHERE, NARROWED, UNREACHED
from contracts.plugin.hooks import Sandbox
from contracts.plugin.interruption import Stopping
from contracts.plugin.plan import Plan
from contracts.plugin.protocol import VERDICT as CASE_VERDICT
from contracts.plugin.run_facts import write_facts
from contracts.plugin.secret_containment import BROKE
from contracts.plugin.worker import MAIN, STOP_FILE, WORKER, Worker, counts_path
from contracts.reports.writers import ALL, point_latest, unwritten, write_all
from contracts.settings.target import ANY_REALM

PLAN = pytest.StashKey[Plan]()
VERDICT = pytest.StashKey[RunVerdict]()
#: Why there are no reports.
TROUBLE = pytest.StashKey[str]()
STOPPING = pytest.StashKey[Stopping]()
SANDBOX = pytest.StashKey[Sandbox]()
#: How long workers may take to end the case they are in and to clean up.
_PATIENCE_SECONDS: Final = 60.0
_LOOK_AGAIN_SECONDS: Final = 0.05
_BROKEN: Final = (pytest.ExitCode.INTERNAL_ERROR, pytest.ExitCode.USAGE_ERROR)


def finish(session: pytest.Session, exitstatus: int) -> None:
    """Close the books of a run, write its reports, and give the session the run's exit code."""
    config = session.config
    if STOPPING in config.stash:
        config.stash[STOPPING].finishing = True
    try:
        verdict = _concluded(config, exitstatus)
    except RegistryContractsError as error:
        _give_up(session, str(error))
    except Exception as error:  # noqa: BLE001 - nobody behind this could tell more than a traceback; the run ends here
        _give_up(session, unwritten("the run's verdict", error))
    else:
        config.stash[VERDICT] = verdict
        session.exitstatus = verdict.exit_code


def _concluded(config: pytest.Config, exitstatus: int) -> RunVerdict:
    plan = config.stash[PLAN]
    try:
        await_workers(config)
        _note_troubles(config, exitstatus)
        write_unreached(config)
    finally:
        # What was created is removed, whatever became of the notes.
        config.stash[WORKER].close()
    folder = Path(plan.folder)
    write_facts(config, plan, finished=True)
    _join_ledgers(folder)
    return write_all(folder, config.hook.pytest_contract_formats() or ALL)


def _give_up(session: pytest.Session, why: str) -> None:
    """End without reports; `latest` leads to this run nevertheless, and not to one that passed."""
    session.config.stash[TROUBLE] = session.config.stash[WORKER].redactor.text(why)
    session.exitstatus = ExitCode.ERROR
    with suppress(OSError):
        point_latest(Path(session.config.stash[PLAN].folder))


def await_workers(config: pytest.Config) -> None:
    """Let xdist's workers end the case they are in and close their books; after Ctrl-C they are still at work."""
    sessions = config.pluginmanager.get_plugin("dsession")
    nodes = tuple(getattr(sessions, "_active_nodes", ()))
    private = Path(config.stash[PLAN].private)
    if nodes:
        (private / STOP_FILE).write_text("stopped by hand", encoding="utf-8")
    for node in nodes:
        node.shutdown()
    deadline = time.monotonic() + _PATIENCE_SECONDS
    while any(_at_work(node, private) for node in nodes) and time.monotonic() < deadline:
        time.sleep(_LOOK_AGAIN_SECONDS)


def _at_work(node: Any, private: Path) -> bool:
    closed = counts_path(private, node.workerinput["workerid"]).exists()
    return not closed and not node.channel.isclosed()


def release(config: pytest.Config) -> None:
    """Stop the embedded sandbox and remove the private folder; a second call does nothing."""
    if WORKER in config.stash:
        config.stash[WORKER].gone()
    if SANDBOX in config.stash:
        config.stash[SANDBOX].stop()
    if PLAN in config.stash:
        shutil.rmtree(config.stash[PLAN].private, ignore_errors=True)


def write_unreached(config: pytest.Config) -> None:
    """Say of each cell without a case why there is none; one process says it for all."""
    worker = config.stash[WORKER]
    if worker.name in (MAIN, "gw0"):
        for (clause, realm), reason in config.stash.get(UNREACHED, {}).items():
            worker.journal.write("untested", clause=clause, realm=realm, reason=reason)
        for reason, cells in config.stash.get(NARROWED, []):
            worker.journal.write("narrowed", reason=reason, cells=cells)
        _write_parting(config, worker)


def _write_parting(config: pytest.Config, worker: Worker) -> None:
    """Say what a shard leaves to the others; `merge` takes these lines out again."""
    part = worker.selection.shard
    if part is None:
        return
    reason = f"this is shard {part.number} of {part.of}: other cases are in the others"
    worker.journal.write("narrowed", reason=reason, cells=None, elsewhere=True)
    for clause, realm in config.stash.get(ELSEWHERE, []):
        worker.journal.write("untested", clause=clause, realm=realm, reason=reason, elsewhere=True)


def _note_troubles(config: pytest.Config, exitstatus: int) -> None:
    """Put into the evidence what failed outside the cases, so that no report says pass beside it."""
    worker = config.stash[WORKER]
    reporter = config.pluginmanager.get_plugin("terminalreporter")
    stats = reporter.stats if reporter else {}
    for report in [*stats.get("failed", ()), *stats.get("error", ())]:
        if not any(name == CASE_VERDICT for name, _ in getattr(report, "user_properties", ())):
            lines = [line for line in report.longreprtext.splitlines() if line.strip()]
            note_trouble(worker, report.nodeid, lines[-1] if lines else "failed")
    if exitstatus in _BROKEN or BROKE in config.stash:
        note_trouble(worker, "pytest", "pytest itself broke; its traceback is in the terminal output")


def note_trouble(worker: Worker, where: str, why: str) -> None:
    """Write down as an error what went wrong outside the cases."""
    worker.journal.write(
        "case",
        case=f"[{where}]",
        name=where,
        doc="",
        realm=ANY_REALM,
        clauses=[],
        operations=[],
        profile=str(worker.selection.profile),
        outcome=str(Verdict.ERROR),
        reason=worker.redactor.text(why),
        blocked_by=None,
        attempts=1,
        started=utc_now(),
        seconds=0.0,
        requests=0,
        assertions=[],
    )


def _join_ledgers(folder: Path) -> None:
    parts = sorted(folder.glob("ledger-*.jsonl"))
    (folder / "ledger.jsonl").write_text("".join(part.read_text(encoding="utf-8") for part in parts), "utf-8")
    for part in parts:
        part.unlink()
