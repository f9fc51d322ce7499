"""The run folder of a run whose settings or options cannot be used, for a pipeline that reads the verdict file.

Without it `latest` would go on leading to an older run, which may have passed.
"""

from __future__ import annotations

import json
import os
import re
import shlex
from argparse import ArgumentParser
from collections.abc import Generator, Sequence
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

import pytest

from contracts.errors import RegistryContractsError
from contracts.evidence.run_folder import new_folder, point_latest
from contracts.interface.profiles import Profile
from contracts.plugin.plan import FIXED_SEED, LISTING_OPTIONS, is_contract_run
from contracts.plugin.run import RUN, versions
from contracts.plugin.run_options import PLAN, PROFILE, REPORTS, TARGET
from contracts.reports.writers import write_all
from contracts.safe_text import complaint
from contracts.session.ledger import RUN_FILE
from contracts.session.namespace import new_run_token
from contracts.settings.settings_reader import BASE_URL
from contracts.settings.target import SANDBOX

_NOT_RUNS: Final = frozenset(word for words in LISTING_OPTIONS.values() for word in words)
_CREDENTIALS: Final = re.compile(r"//[^/\s]*@")
_GATE: Final = "gate"


@pytest.hookimpl(wrapper=True, trylast=True)
def pytest_cmdline_main(config: pytest.Config) -> Generator[None, object, object]:
    """Write the folder of a run that is refused, unless it has one already."""
    try:
        return (yield)
    except pytest.UsageError as error:
        if RUN not in config.stash and is_contract_run(config):
            _write(["pytest", *map(str, config.invocation_params.args)], complaint(error))
        raise


def write_refused_words(words: Sequence[str], reason: str) -> Path | None:
    """Write the folder of a command that was refused, such as `gate --realm zz`, as far as its words can be read.

    Returns:
        The folder; None where the words ask for no run, or nothing can be written.
    """
    # A gate refuses the options that list.
    if PLAN.flag in words or (words[0] != _GATE and _NOT_RUNS.intersection(words)):
        return None
    return _write(["registry-contracts", *words], reason)


def _write(words: Sequence[str], reason: str) -> Path | None:
    known = ArgumentParser(add_help=False, allow_abbrev=False, exit_on_error=False)
    for flag in (REPORTS.flag, PROFILE.flag, TARGET.flag, "--base-url"):
        known.add_argument(flag)
    # An option without its value is the last word.
    given = known.parse_known_args([*words, ""])[0]
    target = given.base_url or given.target
    if target is None:
        # A gate judges the embedded sandbox only where it is told to.
        target = "environment" if BASE_URL in os.environ else "none" if _GATE in words[:2] else SANDBOX
    # An address may hold what nobody is to see, and was perhaps refused for it.
    name = "environment" if "://" in target else Path(target).name.removesuffix(".toml") or "environment"
    token, now = new_run_token(), datetime.now(UTC)
    facts: dict[str, Any] = {
        "target": name,
        "target_kind": "development",
        "base_url": "",
        "profile": given.profile if given.profile in list(Profile) else str(Profile.GATE),
        "seed": FIXED_SEED,
        "realms": [],
        "clauses": [],
        "started": now.isoformat(),
        "finished": now.isoformat(),
        "workers": 0,
        "command": _CREDENTIALS.sub("//…@", shlex.join(words)),
        "versions": versions(),
        "environment": {"requests": 0, "retries": 0, "faults": {}, "breaker": None},
        "interrupted": False,
        "expected_workers": [],
        "token": token,
        "left": 0,
        "refused": reason,
    }
    folder = None
    # What stands in the way of a folder may be the reason itself.
    with suppress(OSError, RegistryContractsError):
        folder = new_folder(Path(given.reports or str(REPORTS.default)), f"{name}-{token}", at=now)
        point_latest(folder)
        (folder / RUN_FILE).write_text(json.dumps(facts, indent=2), encoding="utf-8")
        write_all(folder)
    return folder
