"""The end of a run in the controller: the wait for workers, clean-up, reports, history.

Once it is judged, a run goes into the history; its verdict does not depend on that.
"""

from __future__ import annotations

import gc
import shutil
import time
from contextlib import suppress
from pathlib import Path
from typing import Any, Final

import pytest

from contracts.errors import RegistryContractsError, UsageError
from contracts.evidence.journal import utc_now
from contracts.evidence.record import ExitCode, Verdict
from contracts.evidence.run_comparison import Comparison
from contracts.evidence.run_folder import point_latest, prune
from contracts.evidence.verdicts import RunVerdict
from contracts.plugin.attempts import VERDICT_PROPERTY
from contracts.plugin.collection import NARROWED, UNREACHED
from contracts.plugin.interruption import NODES, PYTEST_BROKE
from contracts.plugin.plan import SELECTION, TARGET, Plan, Sandbox
from contracts.plugin.run_facts import COUNTS, STOPPING, write_facts
from contracts.plugin.run_options import KEEP, UNPACKED
from contracts.plugin.worker import BROKEN, BY_HAND, MAIN, WORKER, Worker, stop, stopped
from contracts.reports.writers import ALL, pack, unwritten, write_all
from contracts.safe_text import complaint
from contracts.session.ledger import LEDGER_FILE
from contracts.settings.target import ANY_REALM, SANDBOX

PLAN = pytest.StashKey[Plan]()
VERDICT = pytest.StashKey[RunVerdict]()
#: What is wrong with the history, lines of it or all, in a line each.
COMPLAINTS = pytest.StashKey[list[str]]()
#: Why there are no reports.
TROUBLE = pytest.StashKey[str]()
EMBEDDED_SANDBOX = pytest.StashKey[Sandbox]()
#: How long workers may take to end the case they are in and to clean up.
_PATIENCE_SECONDS: Final = 60.0
_LOOK_AGAIN_SECONDS: Final = 0.05
_BROKEN: Final = (pytest.ExitCode.INTERNAL_ERROR, pytest.ExitCode.USAGE_ERROR)


def finish(session: pytest.Session, exitstatus: int) -> None:
    """Close the books of a run, write its reports, and give the session the run's exit code."""
    config = session.config
    config.stash[STOPPING].finishing = True
    # All that a run has recorded lasts until the reports are written: nothing of it is garbage.
    gc.disable()
    try:
        verdict = _concluded(config, exitstatus)
        config.stash[VERDICT] = verdict
        session.exitstatus = verdict.exit_code
        _put_away(config)
    except RegistryContractsError as error:
        _give_up(session, str(error))
    except Exception as error:  # noqa: BLE001 - the run ends here; one line says more than a traceback
        _give_up(session, unwritten("the run's verdict", error))
    finally:
        gc.enable()


def _concluded(config: pytest.Config, exitstatus: int) -> RunVerdict:
    plan = config.stash[PLAN]
    ended: dict[str, dict[str, Any]] = {}
    try:
        ended = await_workers(config)
        _note_troubles(config, exitstatus)
        write_unreached(config)
    finally:
        # What was created is removed, whatever became of the notes.
        config.stash[COUNTS] = [*ended.values(), config.stash[WORKER].finish(ended)]
    if EMBEDDED_SANDBOX in config.stash:
        config.stash[EMBEDDED_SANDBOX].ask_to_end()  # while the reports are written
    folder = Path(plan.folder)
    write_facts(config, plan, finished=True)
    _join_ledgers(folder)
    return write_all(folder, config.hook.pytest_contract_formats() or ALL)


def _put_away(config: pytest.Config) -> None:
    """Add the run to the history, pack its folder, remove old runs; trouble with the history fails nothing."""
    folder = Path(config.stash[PLAN].folder)
    try:
        config.stash[_COMPARISON].add_to_history(folder)
    except UsageError as error:
        config.stash[COMPLAINTS] = [*config.stash.get(COMPLAINTS, []), f"{error}; this run is not in it"]
    if not config.getoption(UNPACKED.flag):
        pack(folder)
    prune(folder.parent, int(config.getoption(KEEP.flag)))


def _give_up(session: pytest.Session, why: str) -> None:
    """End without reports; `latest` leads to this run nevertheless, and not to one that passed."""
    session.config.stash[TROUBLE] = session.config.stash[WORKER].redactor.text(why)
    session.exitstatus = ExitCode.ERROR
    with suppress(OSError):
        point_latest(Path(session.config.stash[PLAN].folder))


def await_workers(config: pytest.Config) -> dict[str, dict[str, Any]]:
    """Let xdist's workers end the case they are in and close their books; after Ctrl-C they are still at work.

    Returns:
        What each of them has sent, met and taken, by name; without those that died.
    """
    nodes = config.stash[NODES]
    at_work = [node for node in nodes if _at_work(node)]
    if at_work:
        stop(Path(config.stash[PLAN].private), BY_HAND, BY_HAND)
    for node in at_work:
        node.shutdown()
    deadline = time.monotonic() + _PATIENCE_SECONDS
    while any(map(_at_work, at_work)) and time.monotonic() < deadline:
        time.sleep(_LOOK_AGAIN_SECONDS)
    told = {node.workerinput["workerid"]: getattr(node, "workeroutput", {}).get("contract") for node in nodes}
    return {name: counts for name, counts in told.items() if counts}


def _at_work(node: Any) -> bool:
    channel = getattr(node, "channel", None)
    if channel is None or hasattr(node, "workeroutput"):
        return False
    try:
        channel.waitclose(0)  # `isclosed` stays false when the process dies
    except channel.TimeoutError:
        return True
    except (channel.RemoteError, EOFError):
        pass
    return False


def release(config: pytest.Config) -> None:
    """Stop the embedded sandbox and remove the private folder; a second call does nothing."""
    if WORKER in config.stash:
        config.stash[WORKER].close()
    if EMBEDDED_SANDBOX in config.stash:
        config.stash[EMBEDDED_SANDBOX].stop()
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


def _note_troubles(config: pytest.Config, exitstatus: int) -> None:
    """Put into the evidence what failed outside the cases, so that no report says pass beside it."""
    worker = config.stash[WORKER]
    reporter = config.pluginmanager.get_plugin("terminalreporter")
    stats = reporter.stats if reporter else {}
    for report in [*stats.get("failed", ()), *stats.get("error", ())]:
        if not any(name == VERDICT_PROPERTY for name, _ in getattr(report, "user_properties", ())):
            lines = [line for line in report.longreprtext.splitlines() if line.strip()]
            note_trouble(worker, report.nodeid, lines[-1] if lines else "failed")
    kind, why = stopped(worker.private) or ("", "")
    if kind == BROKEN:
        note_trouble(worker, "worker", why)
    if exitstatus in _BROKEN or PYTEST_BROKE in config.stash:
        broke = config.stash.get(PYTEST_BROKE, "")
        note_trouble(
            worker, "pytest", f"pytest itself broke{f': {broke}' if broke else ''}; -v shows the traceback"
        )


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
    (folder / LEDGER_FILE).write_text("".join(part.read_text(encoding="utf-8") for part in parts), "utf-8")
    for part in parts:
        part.unlink()


_COMPARISON = pytest.StashKey[Comparison]()


def pytest_configure(config: pytest.Config) -> None:
    """Check baseline and mode before anything is sent."""
    if hasattr(config, "workerinput"):
        return
    try:
        config.stash[_COMPARISON] = _comparison(config)
    except RegistryContractsError as error:
        raise pytest.UsageError(complaint(error)) from None


def _comparison(config: pytest.Config) -> Comparison:
    selection, target = config.stash[SELECTION], config.stash[TARGET]
    drift, baseline, history = map(config.getoption, ("--drift", "--baseline", "--history"))
    name = target.name if target else SANDBOX
    return Comparison.of_options(name, selection.reports, drift, baseline, history)


@pytest.hookimpl(trylast=True)
def pytest_sessionstart(session: pytest.Session) -> None:
    """Write into the run's folder what its reports compare with."""
    stash = session.config.stash
    if PLAN not in stash or _COMPARISON not in stash:
        return
    try:
        stash[COMPLAINTS] = stash[_COMPARISON].note_in(Path(stash[PLAN].folder))
    except UsageError as error:
        raise pytest.UsageError(complaint(error)) from None
