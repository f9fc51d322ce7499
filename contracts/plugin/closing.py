"""The end of a run in the controller: workers waited for, books closed, reports written, everything put away."""

from __future__ import annotations

import json
import platform
import shlex
import shutil
import time
from collections import Counter
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import Any, Final

import pytest

from contracts.errors import RegistryContractsError
from contracts.evidence.collecting import RUN_FILE
from contracts.evidence.journal import utc_now
from contracts.evidence.outcomes import ExitCode, Verdict
from contracts.evidence.reports import ALL, write_all
from contracts.evidence.verdicts import RunVerdict
from contracts.interface.catalogue import load_catalogue
from contracts.plugin.collection import UNREACHED
from contracts.plugin.hooks import Sandbox
from contracts.plugin.options import SELECTION
from contracts.plugin.plan import Plan
from contracts.plugin.protocol import VERDICT as CASE_VERDICT
from contracts.plugin.worker import BREAKER_FILE, STOP_FILE, WORKER, Worker, counts_path
from contracts.target.model import ANY_REALM

PLAN = pytest.StashKey[Plan]()
VERDICT = pytest.StashKey[RunVerdict]()
#: Why the target could not be judged at all.
OBSTACLE = pytest.StashKey[str]()
#: Why there are no reports.
TROUBLE = pytest.StashKey[str]()
#: Whether a person stopped the run.
STOPPED_BY_HAND = pytest.StashKey[bool]()
SANDBOX = pytest.StashKey[Sandbox]()
#: Every process with a share in the run.
NAMES = pytest.StashKey[list[str]]()
#: The controller's own share of a run: signing in, looking at the target, and the cases when there are no workers.
MAIN = "main"
#: How long workers may take to end the case they are in and to clean up.
_PATIENCE_SECONDS: Final = 60.0
_LOOK_AGAIN_SECONDS: Final = 0.05
_BROKEN: Final = (pytest.ExitCode.INTERNAL_ERROR, pytest.ExitCode.USAGE_ERROR)


def finish(session: pytest.Session, exitstatus: int) -> None:
    """Close the books of a run, write its reports, and give the session the run's exit code."""
    config = session.config
    plan = config.stash[PLAN]
    await_workers(config)
    _note_troubles(config, exitstatus)
    write_unreached(config)
    config.stash[WORKER].close()
    folder = Path(plan.folder)
    _write_facts(config, plan)
    _join_ledgers(folder)
    try:
        verdict = write_all(folder, config.hook.pytest_contract_formats() or ALL)
    except RegistryContractsError as error:
        config.stash[TROUBLE] = str(error)
        session.exitstatus = ExitCode.ERROR
        return
    config.stash[VERDICT] = verdict
    session.exitstatus = verdict.exit_code


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


def _note_troubles(config: pytest.Config, exitstatus: int) -> None:
    """Put into the evidence what failed outside the cases, so that no report says pass beside it."""
    worker = config.stash[WORKER]
    reporter = config.pluginmanager.get_plugin("terminalreporter")
    stats = reporter.stats if reporter else {}
    for report in [*stats.get("failed", ()), *stats.get("error", ())]:
        if not any(name == CASE_VERDICT for name, _ in getattr(report, "user_properties", ())):
            lines = [line for line in report.longreprtext.splitlines() if line.strip()]
            note_trouble(worker, report.nodeid, lines[-1] if lines else "failed")
    if exitstatus in _BROKEN:
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


def _write_facts(config: pytest.Config, plan: Plan) -> None:
    selection, target = config.stash[SELECTION], config.stash[WORKER].target
    facts = {
        "target": target.name,
        "target_kind": target.kind,
        "base_url": target.base_url,
        "profile": str(selection.profile),
        "seed": selection.seed,
        "realms": list(selection.realms or target.realms),
        "clauses": list(selection.clauses) or [clause.id for clause in load_catalogue()],
        "started": plan.started,
        "finished": datetime.now(UTC).isoformat(),
        "workers": max(1, len(config.stash[NAMES]) - 1),
        "command": shlex.join(["pytest", *config.invocation_params.args]),
        "versions": versions(),
        "environment": _environment(Path(plan.private), config),
        "interrupted": config.stash.get(STOPPED_BY_HAND, False),
        "expected_workers": config.stash[NAMES],
        "strict": selection.strict,
    }
    (Path(plan.folder) / RUN_FILE).write_text(json.dumps(facts, indent=2), encoding="utf-8")


def versions() -> dict[str, str]:
    """Versions of the suite and of what generates and runs its cases."""
    named = {"suite": "registry-contracts"} | {
        name: name for name in ("schemathesis", "hypothesis", "pytest")
    }
    python = platform.python_version()
    return {"python": python} | {name: version(package) for name, package in named.items()}


def _environment(private: Path, config: pytest.Config) -> dict[str, Any]:
    counted: Counter[str] = Counter()
    faults: Counter[str] = Counter()
    for path in private.glob(counts_path(private, "*").name):
        counts = json.loads(path.read_text(encoding="utf-8"))
        faults.update(counts.pop("faults"))
        counted.update(counts)
    breaker = private / BREAKER_FILE
    reason = breaker.read_text(encoding="utf-8") if breaker.exists() else config.stash.get(OBSTACLE, None)
    return {
        "requests": counted["requests"],
        "retries": counted["retries"],
        "faults": dict(faults),
        "breaker": reason,
    }


def _join_ledgers(folder: Path) -> None:
    parts = sorted(folder.glob("ledger-*.jsonl"))
    (folder / "ledger.jsonl").write_text("".join(part.read_text(encoding="utf-8") for part in parts), "utf-8")
    for part in parts:
        part.unlink()
