"""Which cases a run is to have, and what the shards of one plan have in common; `run.json` says it.

`run.json`: what the controller knows of the run as a whole, written when it starts and completed when it ends.
"""

from __future__ import annotations

import json
import os
import platform
import shlex
from collections import Counter
from dataclasses import asdict
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import Any, Final

import pytest

from contracts.evidence.journal import journal_path
from contracts.evidence.record import EMBEDDED, Shard, digest
from contracts.evidence.run_folder import RUN_FILE
from contracts.interface.catalogue import load_catalogue
from contracts.plugin.collection import DEALT
from contracts.plugin.options import SELECTION, Selection, request_budget
from contracts.plugin.plan import Plan
from contracts.plugin.worker import BREAKER_FILE, WORKER, counts_path, put_together
from contracts.plugin.worker_crashes import DIED
from contracts.reports.webhook import without_address
from contracts.session.ledger import read_entries, residue
from contracts.session.limits import PERMANENT
from contracts.settings.target import Target

#: Where processes that collect leave what they found in the private folder; the controller may collect nothing.
_FILE: Final = "planned.json"


def note_planned(config: pytest.Config, plan: Plan, count: int) -> None:
    """Leave what was collected where the controller finds it; every process of a run collects alike.

    Args:
        count: How many cases there are.
    """
    path = Path(plan.private) / _FILE
    fresh = path.with_suffix(f".{_name(config)}")
    fresh.write_text(json.dumps([count, config.stash.get(DEALT, None)]), encoding="utf-8")
    fresh.replace(path)


def planned_cases(config: pytest.Config, plan: Plan) -> int | None:
    """How many cases have to run for the run to be whole; None when nobody knows, or when some may be left out."""
    return None if config.getoption("maxfail", 0) else _planned(plan)[0]


def _planned(plan: Plan) -> Any:
    path = Path(plan.private) / _FILE
    return json.loads(path.read_text(encoding="utf-8")) if path.exists() else (None, None)


def shard_of(config: pytest.Config, plan: Plan, target: Target, versions: dict[str, str]) -> Shard | None:
    """Return which part of its plan a run is; None for a run that is whole.

    Args:
        versions: Of the suite and of what makes its data.
    """
    selection = config.stash[SELECTION]
    if selection.shard is None:
        return None
    cases, told = _planned(plan)[1] or (None, None)
    return Shard(
        number=selection.shard.number,
        of=selection.shard.of,
        plan=_plan(selection, plan, target, versions),
        all_cases=told,
        cases=None if cases is None else tuple(cases),
    )


def _plan(selection: Selection, plan: Plan, target: Target, versions: dict[str, str]) -> dict[str, Any]:
    embedded = plan.sandbox_url is not None
    settings = {realm: asdict(target.realm_settings(realm)) for realm in target.realms}
    return {
        "target": target.name,
        "address": EMBEDDED if embedded else target.base_url,
        "profile": str(selection.profile),
        "seed": selection.seed,
        "realms": list(selection.realms or target.realms),
        "clauses": list(selection.clauses),
        "operations": list(selection.operations),
        "strict": selection.strict,
        "options of the sandbox": list(selection.sandbox_arguments),
        "settings": digest([settings, asdict(target.attachments), sorted(target.accounts)]),
        "consumer or deviations": digest(selection.terms.as_facts()),
        **{f"version of {name}": number for name, number in versions.items()},
    }


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
    shard = shard_of(config, plan, target, versions())
    return {
        "shard": shard.as_facts() if shard else None,
        "planned": planned_cases(config, plan),
        "died": config.stash.get(DIED, []),
        "target": target.name,
        "target_kind": target.kind,
        "base_url": target.base_url,
        "profile": str(selection.profile),
        "seed": selection.seed,
        "realms": list(selection.realms or target.realms),
        "clauses": selection.judged(load_catalogue()),
        "started": plan.started,
        "workers": max(1, len(config.stash[NAMES]) - 1),
        "command": shlex.join(["pytest", *without_address(map(str, config.invocation_params.args))]),
        "versions": versions(),
        "environment": _environment(config, plan),
        "interrupted": config.stash.get(STOPPED_BY_HAND, False),
        "expected_workers": config.stash[NAMES],
        "strict": selection.strict,
        "waived": selection.terms.waived,
        "terms": selection.terms.as_facts(),
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
        "permanent_records": _permanent_records(config, plan),
        **put_together(measured),
    }


def _permanent_records(config: pytest.Config, plan: Plan) -> dict[str, int]:
    """How many contacts and submissions the run has created in each realm, or may have created."""
    given = config.stash[WORKER].namespace.grants
    left = residue(read_entries(sorted(Path(plan.folder).glob("ledger-*.jsonl"))))
    records = {
        (entry.realm, entry.identifier or str(entry.key))
        for entry in left
        if entry.what in PERMANENT and not given(entry.identifier)
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
        "permanent_records_per_realm": None if embedded else target.pace.permanent_records,
    }
