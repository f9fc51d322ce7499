"""What the process that starts a run knows of it, and `run.json`: written at the start, and completed at the end."""

from __future__ import annotations

import json
import os
import platform
from collections import Counter
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import Any

import pytest

from contracts.evidence.journal import journal_path
from contracts.evidence.verdicts import RunVerdict
from contracts.file_formats import plain
from contracts.interface.catalogue import load_catalogue
from contracts.interface.description import operations_with
from contracts.interface.operations import PERMANENT_KINDS
from contracts.plugin.attempts import VERDICT_PROPERTY
from contracts.plugin.finding_again import command_of
from contracts.plugin.hooks import Sandbox
from contracts.plugin.interruption import Stopping
from contracts.plugin.plan import Plan, request_budget
from contracts.plugin.worker import BREAKER, MAIN, Worker, stopped
from contracts.session.ledger import RUN_FILE, read_entries, residue
from contracts.session.namespace import SUITE_PREFIX


@dataclass(eq=False)
class Run:
    """A run in its controller; a plugin of pytest that notes what fails outside the cases.

    Attributes:
        nodes: The controllers of its workers, as xdist makes them.
        died: Names of workers that died.
        planned: How many cases have to run for the run to be whole.
        counts: What each process has sent and met, once it is over.
        obstacle: Why the target could not be judged at all.
        failed: Why something failed that is no case, by where.
        complaints: What is wrong with the history, lines of it or all, in a line each.
        trouble: Why there are no reports.
    """

    config: pytest.Config
    plan: Plan
    worker: Worker
    stopping: Stopping
    sandbox: Sandbox | None = None
    nodes: list[Any] = field(default_factory=list)
    died: list[str] = field(default_factory=list)
    planned: int | None = None
    counts: list[dict[str, Any]] = field(default_factory=list)
    obstacle: str | None = None
    failed: dict[str, str] = field(default_factory=dict)
    complaints: list[str] = field(default_factory=list)
    verdict: RunVerdict | None = None
    trouble: str | None = None

    @property
    def folder(self) -> Path:
        """Where its evidence stands."""
        return Path(self.plan.folder)

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Note a test that is no case, and failed."""
        self._note(report)

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        """Note what cannot be collected."""
        self._note(report)

    def _note(self, report: pytest.TestReport | pytest.CollectReport) -> None:
        if report.failed and VERDICT_PROPERTY not in dict(getattr(report, "user_properties", ())):
            lines = [line for line in report.longreprtext.splitlines() if line.strip()]
            self.failed[report.nodeid] = lines[-1] if lines else "failed"

    def write_facts(self, *, finished: bool = False) -> None:
        """Write `run.json`; without the closing record the run counts as going on, or as killed."""
        facts = self._facts() | {"finished": datetime.now(UTC).isoformat() if finished else None}
        if finished:
            names = facts["expected_workers"]
            facts["left"] = len(self.worker.ledger.removable())
            facts["without_journal"] = [
                name for name in names if not journal_path(self.folder, name).exists()
            ]
        # In one piece, whenever the run is killed.
        fresh = self.folder / f".{RUN_FILE}.new"
        fresh.write_text(json.dumps(facts, indent=2), encoding="utf-8")
        fresh.replace(self.folder / RUN_FILE)

    def _facts(self) -> dict[str, Any]:
        selection, target = self.worker.selection, self.worker.target
        workers = [node.workerinput["workerid"] for node in self.nodes]
        return {
            # Some may be left out of a run that stops at its first failures.
            "planned": None if self.config.getoption("maxfail", 0) else self.planned,
            "died": self.died,
            "target": target.name,
            "target_kind": target.kind,
            "base_url": target.base_url,
            "profile": str(selection.profile),
            "seed": selection.seed,
            "realms": list(selection.realms or target.realms),
            "clauses": selection.judged(load_catalogue()),
            "started": self.plan.started,
            "workers": max(1, len(workers)),
            "command": command_of(self.config),
            "versions": versions(),
            "environment": self._environment(),
            "interrupted": self.stopping.asked,
            "expected_workers": [MAIN, *workers],
            "strict": selection.strict,
            "waived": selection.terms.waived,
            "terms": plain(selection.terms),
            "settings": {realm: asdict(target.realm_settings(realm)) for realm in target.realms},
            "token": self.plan.token,
            "process": {"pid": os.getpid(), "host": platform.node()},
        }

    def _environment(self) -> dict[str, Any]:
        faults: Counter[str] = Counter()
        for counts in self.counts:
            faults.update(counts["faults"])
        kind, why = stopped(Path(self.plan.private)) or ("", "")
        target, embedded = self.worker.target, self.sandbox is not None
        return {
            "requests": sum(counts["requests"] for counts in self.counts),
            "retries": sum(counts["retries"] for counts in self.counts),
            "faults": dict(faults),
            "breaker": why if kind == BREAKER else self.obstacle,
            # What the run may do to its target; null is no limit.
            "limits": {
                "requests_per_second": None if embedded else target.pace.requests_per_second,
                "concurrency": None if embedded else target.pace.concurrency,
                "request_budget": request_budget(target, self.worker.selection.profile),
                "permanent_records_per_realm": target.pace.permanent_records,
            },
            "permanent_records": self._permanent_records(),
        }

    def _permanent_records(self) -> dict[str, int]:
        """How many contacts and submissions the run has created in each realm, or may have created."""
        creating = operations_with(method="POST")
        records = {
            (entry.realm, entry.identifier or str(entry.key))
            for entry in residue(read_entries(sorted(self.folder.glob("ledger-*.jsonl"))))
            if entry.what in PERMANENT_KINDS
            # An update of another identifier is one of a record that was there, or that the service named itself.
            and (entry.operation in creating or entry.identifier.startswith(SUITE_PREFIX))
        }
        return dict(Counter(realm for realm, _ in sorted(records)))


#: The run, in its controller.
RUN = pytest.StashKey[Run]()


def versions() -> dict[str, str]:
    """Versions of the suite and of what generates and runs its cases."""
    named = {"suite": "registry-contracts", "schemathesis": "schemathesis"}
    named |= {name: name for name in ("hypothesis", "pytest")}
    return {"python": platform.python_version()} | {name: version(package) for name, package in named.items()}
