"""The run as a whole: started once by the controller, shared with the workers, closed with the reports."""

from __future__ import annotations

import json
import platform
import shlex
import shutil
from collections import Counter
from collections.abc import Iterator
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import Any

import pytest

from contracts.errors import UsageError
from contracts.evidence.collecting import RUN_FILE
from contracts.evidence.outcomes import ExitCode
from contracts.evidence.reports import write_all
from contracts.evidence.verdicts import RunVerdict
from contracts.interface.catalogue import load_catalogue
from contracts.interface.location import cases_directory
from contracts.plugin.collection import UNREACHED
from contracts.plugin.options import SELECTION, TARGET
from contracts.plugin.plan import Plan, make_plan
from contracts.plugin.preflight import preflight
from contracts.plugin.protocol import VERDICT as CASE_VERDICT
from contracts.plugin.worker import WORKER, Worker
from contracts.target.embedded import EmbeddedSandbox

PLAN = pytest.StashKey[Plan]()
VERDICT = pytest.StashKey[RunVerdict]()
#: Why the target could not be judged at all.
OBSTACLE = pytest.StashKey[str]()
#: The controller's own share of a run: signing in, looking at the target, and the cases when there are no workers.
MAIN = "main"
_SANDBOX = pytest.StashKey[EmbeddedSandbox]()
_NAMES = pytest.StashKey[list[str]]()
_PYTESTS_OWN = (pytest.ExitCode.TESTS_FAILED, pytest.ExitCode.INTERNAL_ERROR, pytest.ExitCode.USAGE_ERROR)


def is_worker(config: pytest.Config) -> bool:
    """Whether this process is an xdist worker."""
    return hasattr(config, "workerinput")


def _is_contract_run(config: pytest.Config) -> bool:
    """Whether the paths asked for hold contract cases, and they are to be run and not just listed."""
    if config.getoption("collectonly") or config.getoption("help"):
        return False
    asked = [Path(str(argument).partition("::")[0]).resolve() for argument in config.args]
    cases = cases_directory()
    return any(path.is_relative_to(cases) or cases.is_relative_to(path) for path in asked)


@pytest.hookimpl(tryfirst=True)
def pytest_sessionstart(session: pytest.Session) -> None:
    """Prepare the run in the controller, and this process's share of it in the workers."""
    config = session.config
    if not is_worker(config):
        if _is_contract_run(config):
            _begin(config)
    elif "contract_plan" in _input(config):
        _begin_work(config, Plan(**_input(config)["contract_plan"]), _input(config)["workerid"])


def _input(config: pytest.Config) -> dict[str, Any]:
    """What the controller sent to this xdist worker."""
    sent: dict[str, Any] = config.workerinput  # type: ignore[attr-defined]
    return sent


def _begin(config: pytest.Config) -> None:
    try:
        plan, sandbox = make_plan(config.stash[SELECTION], config.stash[TARGET])
    except UsageError as error:
        raise pytest.UsageError(str(error)) from None
    config.stash[PLAN] = plan
    config.stash[_NAMES] = [MAIN]
    if sandbox is not None:
        config.stash[_SANDBOX] = sandbox
    _begin_work(config, plan, MAIN)


def _begin_work(config: pytest.Config, plan: Plan, name: str) -> None:
    target = plan.target(config.stash[TARGET])
    config.stash[WORKER] = Worker(name, plan, target, config.stash[SELECTION])


@pytest.hookimpl(optionalhook=True)
def pytest_configure_node(node: Any) -> None:
    """Tell an xdist worker the plan; called in the controller."""
    if PLAN not in node.config.stash:
        return
    node.workerinput["contract_plan"] = node.config.stash[PLAN].as_input()
    node.workerinput["contract_seed"] = node.config.stash[SELECTION].seed
    node.config.stash[_NAMES].append(node.workerinput["workerid"])


@pytest.hookimpl(tryfirst=True)
def pytest_collection(session: pytest.Session) -> None:
    """Look at the target before anything else is sent; one clear line when it cannot be judged."""
    if PLAN not in session.config.stash:
        return
    obstacle = preflight(session.config.stash[WORKER])
    if obstacle:
        session.config.stash[OBSTACLE] = obstacle
        pytest.exit(obstacle, returncode=ExitCode.INCONCLUSIVE)


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_sessionfinish(session: pytest.Session, exitstatus: int) -> Iterator[None]:
    """Close this process's books; the controller writes the reports and sets the exit code."""
    config = session.config
    if is_worker(config):
        if WORKER in config.stash:
            _write_unreached(config)
            config.stash[WORKER].close()
        return (yield)
    if PLAN in config.stash:
        try:
            _finish(session, exitstatus)
        finally:
            _release(config)
    return (yield)


def _finish(session: pytest.Session, exitstatus: int) -> None:
    config = session.config
    _write_unreached(config)
    config.stash[WORKER].close()
    plan = config.stash[PLAN]
    folder = Path(plan.folder)
    _write_facts(config, plan, interrupted=exitstatus == pytest.ExitCode.INTERRUPTED)
    _join_ledgers(folder)
    verdict = write_all(folder)
    config.stash[VERDICT] = verdict
    if exitstatus in _PYTESTS_OWN and not _only_contradictions(config):
        session.exitstatus = ExitCode.ERROR
    else:
        session.exitstatus = verdict.exit_code


def _only_contradictions(config: pytest.Config) -> bool:
    """Whether everything that pytest counts as failed is a contract case, which has its place in the verdict."""
    reporter = config.pluginmanager.get_plugin("terminalreporter")
    stats = reporter.stats if reporter else {}
    bad = [*stats.get("failed", ()), *stats.get("error", ())]
    return all(
        any(name == CASE_VERDICT for name, _ in getattr(report, "user_properties", ())) for report in bad
    )


def _release(config: pytest.Config) -> None:
    if _SANDBOX in config.stash:
        config.stash[_SANDBOX].__exit__(None, None, None)
    shutil.rmtree(config.stash[PLAN].private, ignore_errors=True)


def _write_unreached(config: pytest.Config) -> None:
    """Say of each cell without a case why there is none; one process says it for all."""
    worker = config.stash[WORKER]
    if worker.name in (MAIN, "gw0"):
        for (clause, realm), reason in config.stash.get(UNREACHED, {}).items():
            worker.journal.write("untested", clause=clause, realm=realm, reason=reason)


def _write_facts(config: pytest.Config, plan: Plan, *, interrupted: bool) -> None:
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
        "workers": max(1, len(config.stash[_NAMES]) - 1),
        "command": shlex.join(["pytest", *config.invocation_params.args]),
        "versions": versions(),
        "environment": _environment(Path(plan.private), config),
        "interrupted": interrupted,
        "expected_workers": config.stash[_NAMES],
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
    for path in private.glob("counts-*.json"):
        counted.update(json.loads(path.read_text(encoding="utf-8")))
    breaker = private / "breaker"
    reason = breaker.read_text(encoding="utf-8") if breaker.exists() else config.stash.get(OBSTACLE, None)
    return {
        "requests": counted.pop("requests", 0),
        "retries": counted.pop("retries", 0),
        "faults": dict(counted),
        "breaker": reason,
    }


def _join_ledgers(folder: Path) -> None:
    parts = sorted(folder.glob("ledger-*.jsonl"))
    (folder / "ledger.jsonl").write_text("".join(part.read_text(encoding="utf-8") for part in parts), "utf-8")
    for part in parts:
        part.unlink()
