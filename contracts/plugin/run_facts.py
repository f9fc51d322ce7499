"""`run.json`: what the controller knows of the run as a whole; written at the start and completed at the end."""

from __future__ import annotations

import json
import os
import platform
from collections import Counter
from dataclasses import asdict
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import Any

import pytest

from contracts.evidence.journal import journal_path
from contracts.file_formats import plain
from contracts.interface.catalogue import load_catalogue
from contracts.interface.description import operations_with
from contracts.interface.operations import PERMANENT_KINDS
from contracts.plugin.finding_again import command_of
from contracts.plugin.interruption import NODES, Stopping
from contracts.plugin.plan import SELECTION, Plan, request_budget
from contracts.plugin.worker import BREAKER, MAIN, WORKER, put_together, stopped
from contracts.session.ledger import RUN_FILE, read_entries, residue
from contracts.session.namespace import SUITE_PREFIX

STOPPING = pytest.StashKey[Stopping]()
#: How many cases have to run for the run to be whole.
PLANNED = pytest.StashKey[int]()
#: Names of the workers that died.
DIED = pytest.StashKey[list[str]]()
#: What each process has sent, met and taken, once it is over.
COUNTS = pytest.StashKey[list[dict[str, Any]]]()
#: Why the target could not be judged at all.
OBSTACLE = pytest.StashKey[str]()


def write_facts(config: pytest.Config, plan: Plan, *, finished: bool) -> None:
    """Write `run.json`; without the closing record the run counts as going on, or as killed.

    Args:
        finished: The books are closed: nothing more comes.
    """
    folder = Path(plan.folder)
    facts = _facts(config, plan) | {"finished": datetime.now(UTC).isoformat() if finished else None}
    if finished:
        facts["left"] = len(config.stash[WORKER].ledger.removable())
        names = facts["expected_workers"]
        facts["without_journal"] = [name for name in names if not journal_path(folder, name).exists()]
    # In one piece, whenever the run is killed.
    fresh = folder / f".{RUN_FILE}.new"
    fresh.write_text(json.dumps(facts, indent=2), encoding="utf-8")
    fresh.replace(folder / RUN_FILE)


def _facts(config: pytest.Config, plan: Plan) -> dict[str, Any]:
    selection, target = config.stash[SELECTION], config.stash[WORKER].target
    workers = [node.workerinput["workerid"] for node in config.stash[NODES]]
    return {
        # Some may be left out of a run that stops at its first failures.
        "planned": None if config.getoption("maxfail", 0) else config.stash.get(PLANNED, None),
        "died": config.stash.get(DIED, []),
        "target": target.name,
        "target_kind": target.kind,
        "base_url": target.base_url,
        "profile": str(selection.profile),
        "seed": selection.seed,
        "realms": list(selection.realms or target.realms),
        "clauses": selection.judged(load_catalogue()),
        "started": plan.started,
        "workers": max(1, len(workers)),
        "command": command_of(config),
        "versions": versions(),
        "environment": _environment(config, plan),
        "interrupted": config.stash[STOPPING].asked,
        "expected_workers": [MAIN, *workers],
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
    counted: Counter[str] = Counter()
    faults: Counter[str] = Counter()
    measured = config.stash.get(COUNTS, [])
    for counts in measured:
        faults.update(counts["faults"])
        counted.update({name: counts[name] for name in ("requests", "retries")})
    kind, why = stopped(Path(plan.private)) or ("", "")
    reason = why if kind == BREAKER else config.stash.get(OBSTACLE, None)
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
