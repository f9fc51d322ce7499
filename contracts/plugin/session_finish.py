"""The end of a run in the controller: `run.json`, the wait for workers, clean-up, reports, history.

`run.json` holds what the controller knows of the run as a whole; it is written at the start and completed here. Once it
is judged, a run goes into the history; its verdict does not depend on that.
"""

from __future__ import annotations

import gc
import json
import os
import platform
import shutil
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import asdict
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import Any, Final

import pytest

from contracts.errors import RegistryContractsError, UsageError
from contracts.evidence.record import ExitCode, Verdict, journal_path, utc_now
from contracts.evidence.run_comparison import Comparison
from contracts.evidence.run_folder import point_latest, prune
from contracts.evidence.verdicts import RunVerdict
from contracts.file_formats import plain
from contracts.interface.catalogue import load_catalogue
from contracts.interface.description import operations_with
from contracts.interface.operations import PERMANENT_KINDS
from contracts.plugin.attempts import VERDICT_PROPERTY
from contracts.plugin.collection import NARROWED, UNREACHED
from contracts.plugin.finding_again import command_of
from contracts.plugin.interruption import CRASHED_WORKERS, PYTEST_BROKE, Stopping
from contracts.plugin.plan import SELECTION, TARGET, Plan, Sandbox, request_budget
from contracts.plugin.run_options import KEEP, UNPACKED
from contracts.plugin.worker import (
    BREAKER_FILE,
    BROKEN_FILE,
    MAIN,
    STOP_FILE,
    WORKER,
    Worker,
    counts_path,
    put_together,
)
from contracts.reports.writers import ALL, pack, unwritten, write_all
from contracts.safe_text import complaint
from contracts.session.ledger import LEDGER_FILE, RUN_FILE, read_entries, residue
from contracts.session.namespace import SUITE_PREFIX
from contracts.settings.target import ANY_REALM, SANDBOX

#: Where processes that collect leave what they found in the private folder; the controller may collect nothing.
_FILE: Final = "planned.json"


def note_planned(config: pytest.Config, plan: Plan, count: int, forecast: str) -> None:
    """Leave what was collected where the controller finds it; every process of a run collects alike.

    Args:
        count: How many cases there are.
        forecast: What they will send, in a line.
    """
    path = Path(plan.private) / _FILE
    fresh = path.with_suffix(f".{_name(config)}")
    fresh.write_text(json.dumps([count, forecast]), encoding="utf-8")
    fresh.replace(path)


def is_planned(plan: Plan) -> bool:
    """Whether a process of the run has left what was collected already."""
    return (Path(plan.private) / _FILE).exists()


def forecast_line(plan: Plan) -> str:
    """What a run will send, in a line, as the first process to collect has worked it out."""
    return str(_planned(plan)[1])


def planned_cases(config: pytest.Config, plan: Plan) -> int | None:
    """How many cases have to run for the run to be whole; None when unknown, or when some may be left out."""
    return None if config.getoption("maxfail", 0) else _planned(plan)[0]


def _planned(plan: Plan) -> Any:
    path = Path(plan.private) / _FILE
    return json.loads(path.read_text(encoding="utf-8")) if path.exists() else (None, "")


def _name(config: pytest.Config) -> str:
    return str(getattr(config, "workerinput", {}).get("workerid", "main"))


#: Every process with a share in the run.
NAMES = pytest.StashKey[list[str]]()
#: Why the target could not be judged at all.
OBSTACLE = pytest.StashKey[str]()
#: Whether a person stopped the run.
STOPPED_BY_HAND = pytest.StashKey[bool]()


def write_facts(config: pytest.Config, plan: Plan, *, finished: bool) -> None:
    """Write `run.json`; without the closing record the run counts as going on, or as killed.

    Args:
        finished: The books are closed: nothing more comes.
    """
    folder = Path(plan.folder)
    facts = _facts(config, plan) | {"finished": datetime.now(UTC).isoformat() if finished else None}
    if finished:
        facts["left"] = len(config.stash[WORKER].ledger.removable())
        names = config.stash[NAMES]
        facts["without_journal"] = [name for name in names if not journal_path(folder, name).exists()]
    # In one piece, whenever the run is killed.
    fresh = folder / f".{RUN_FILE}.new"
    fresh.write_text(json.dumps(facts, indent=2), encoding="utf-8")
    fresh.replace(folder / RUN_FILE)


def _facts(config: pytest.Config, plan: Plan) -> dict[str, Any]:
    selection, target = config.stash[SELECTION], config.stash[WORKER].target
    return {
        "planned": planned_cases(config, plan),
        "died": config.stash.get(CRASHED_WORKERS, []),
        "target": target.name,
        "target_kind": target.kind,
        "base_url": target.base_url,
        "profile": str(selection.profile),
        "seed": selection.seed,
        "realms": list(selection.realms or target.realms),
        "clauses": selection.judged(load_catalogue()),
        "started": plan.started,
        "workers": max(1, len(config.stash[NAMES]) - 1),
        "command": command_of(config),
        "versions": versions(),
        "environment": _environment(config, plan),
        "interrupted": config.stash.get(STOPPED_BY_HAND, False),
        "expected_workers": config.stash[NAMES],
        "strict": selection.strict,
        "waived": selection.terms.waived,
        "terms": plain(selection.terms),
        "settings": {realm: asdict(target.realm_settings(realm)) for realm in target.realms},
        "token": plan.token,
        "process": {"pid": os.getpid(), "host": platform.node()},
    }


def versions() -> dict[str, str]:
    """Versions of the suite and of what generates and runs its cases."""
    named = {"suite": "registry-contracts"} | {
        name: name for name in ("schemathesis", "hypothesis", "pytest")
    }
    python = platform.python_version()
    return {"python": python} | {name: version(package) for name, package in named.items()}


def _environment(config: pytest.Config, plan: Plan) -> dict[str, Any]:
    private = Path(plan.private)
    counted: Counter[str] = Counter()
    faults: Counter[str] = Counter()
    measured = []
    for path in private.glob(counts_path(private, "*").name):
        counts = json.loads(path.read_text(encoding="utf-8"))
        faults.update(counts["faults"])
        counted.update({name: counts.get(name, 0) for name in ("requests", "retries")})
        measured.append(counts)
    breaker = private / BREAKER_FILE
    reason = breaker.read_text(encoding="utf-8") if breaker.exists() else config.stash.get(OBSTACLE, None)
    return {
        "requests": counted["requests"],
        "retries": counted["retries"],
        "faults": dict(faults),
        "breaker": reason,
        "limits": _limits(config, plan),
        "permanent_records": _permanent_records(plan),
        **put_together(measured),
    }


def _permanent_records(plan: Plan) -> dict[str, int]:
    """How many contacts and submissions the run has created in each realm, or may have created."""
    creating = operations_with(method="POST")
    left = residue(read_entries(sorted(Path(plan.folder).glob("ledger-*.jsonl"))))
    records = {
        (entry.realm, entry.identifier or str(entry.key))
        for entry in left
        if entry.what in PERMANENT_KINDS
        # An update of another identifier is one of a record that was there, or that the service named itself.
        and (entry.operation in creating or entry.identifier.startswith(SUITE_PREFIX))
    }
    return dict(Counter(realm for realm, _ in sorted(records)))


def _limits(config: pytest.Config, plan: Plan) -> dict[str, Any]:
    """What the run may do to its target; null is no limit."""
    target = config.stash[WORKER].target
    embedded = plan.sandbox_url is not None
    return {
        "requests_per_second": None if embedded else target.pace.requests_per_second,
        "concurrency": None if embedded else target.pace.concurrency,
        "request_budget": request_budget(target, config.stash[SELECTION].profile),
        "permanent_records_per_realm": target.pace.permanent_records,
    }


PLAN = pytest.StashKey[Plan]()
VERDICT = pytest.StashKey[RunVerdict]()
#: What is wrong with the history, lines of it or all, in a line each.
COMPLAINTS = pytest.StashKey[list[str]]()
#: Why there are no reports.
TROUBLE = pytest.StashKey[str]()
STOPPING = pytest.StashKey[Stopping]()
EMBEDDED_SANDBOX = pytest.StashKey[Sandbox]()
#: How long workers may take to end the case they are in and to clean up.
_PATIENCE_SECONDS: Final = 60.0
_LOOK_AGAIN_SECONDS: Final = 0.05
_BROKEN: Final = (pytest.ExitCode.INTERNAL_ERROR, pytest.ExitCode.USAGE_ERROR)


def finish(session: pytest.Session, exitstatus: int) -> None:
    """Close the books of a run, write its reports, and give the session the run's exit code."""
    config = session.config
    if STOPPING in config.stash:
        config.stash[STOPPING].finishing = True
        if config.stash[STOPPING].asked:
            config.stash[STOPPED_BY_HAND] = True
    try:
        with _no_garbage_collection():
            verdict = _concluded(config, exitstatus)
    except RegistryContractsError as error:
        _give_up(session, str(error))
    except Exception as error:  # noqa: BLE001 - the run ends here; one line says more than a traceback
        _give_up(session, unwritten("the run's verdict", error))
    else:
        config.stash[VERDICT] = verdict
        session.exitstatus = verdict.exit_code


@contextmanager
def _no_garbage_collection() -> Iterator[None]:
    """Spare the collector its search through a run's record, all of which lasts until the reports are written."""
    collecting = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if collecting:
            gc.enable()


def _concluded(config: pytest.Config, exitstatus: int) -> RunVerdict:
    plan = config.stash[PLAN]
    try:
        await_workers(config)
        _note_troubles(config, exitstatus)
        write_unreached(config)
    finally:
        # What was created is removed, whatever became of the notes.
        config.stash[WORKER].finish()
    if EMBEDDED_SANDBOX in config.stash:
        config.stash[EMBEDDED_SANDBOX].ask_to_end()  # while the reports are written
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
    if counts_path(private, node.workerinput["workerid"]).exists():
        return False
    channel = node.channel
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
    broken = Path(worker.plan.private) / BROKEN_FILE
    if broken.exists():
        note_trouble(worker, "worker", broken.read_text(encoding="utf-8"))
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


@pytest.hookimpl(trylast=True)
def pytest_sessionfinish(session: pytest.Session) -> None:
    """Add the run to the history, pack its folder, remove old runs; no trouble fails it."""
    stash = session.config.stash
    if VERDICT not in stash:
        return
    folder = Path(stash[PLAN].folder)
    try:
        if _COMPARISON in stash:
            stash[_COMPARISON].add_to_history(folder)
    except UsageError as error:
        stash[COMPLAINTS] = [*stash.get(COMPLAINTS, []), f"{error}; this run is not in it"]
    if not session.config.getoption(UNPACKED.flag):
        pack(folder)
    keep = session.config.getoption(KEEP.flag)
    prune(folder.parent, int(keep))
