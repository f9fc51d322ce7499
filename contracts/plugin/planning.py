"""Which cases a run is to have, and what the shards of one plan have in common; `run.json` says it."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path
from typing import Any, Final

import pytest

from contracts.evidence.shards import EMBEDDED, Shard, digest
from contracts.plugin.collection import DEALT
from contracts.plugin.options import SELECTION, Selection
from contracts.plugin.plan import Plan
from contracts.target.model import Target

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
