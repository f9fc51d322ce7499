"""The run folder of a run whose settings or options cannot be used, for a pipeline that reads the verdict file.

Without it `latest` would go on leading to an older run, which may have passed.
"""

from __future__ import annotations

import json
import os
import re
import shlex
from collections.abc import Generator, Mapping, Sequence
from contextlib import suppress
from datetime import UTC, datetime
from itertools import pairwise
from pathlib import Path
from typing import Any, Final

import pytest

from contracts.errors import RegistryContractsError
from contracts.evidence.run_folder import new_folder, point_latest
from contracts.interface.profiles import Profile
from contracts.plugin.plan import FIXED_SEED, LISTING_OPTIONS, SELECTION, TARGET, is_contract_run
from contracts.plugin.run_facts import versions
from contracts.plugin.run_options import PLAN, PROFILE, REPORTS
from contracts.plugin.run_options import TARGET as TARGET_OPTION
from contracts.plugin.session_finish import PLAN as RUN_PLAN
from contracts.reports.writers import write_all
from contracts.safe_text import complaint
from contracts.session.ledger import RUN_FILE
from contracts.session.namespace import new_run_token
from contracts.settings.settings_reader import BASE_URL
from contracts.settings.target import SANDBOX, Target

_NOT_RUNS: Final = frozenset(word for words in LISTING_OPTIONS.values() for word in words)
_FROM_VARIABLES: Final = "environment"
_CREDENTIALS: Final = re.compile(r"//[^/\s]*@")
_NONE_NAMED: Final = "none"
_GATE: Final = "gate"


def write_refused_words(words: Sequence[str], reason: str) -> Path | None:
    """Write the folder of a run that was refused, as far as its words can be read.

    Args:
        words: Those of the command, such as `gate --realm zz`.
        reason: Why it cannot be run, a line.

    Returns:
        The folder; None where the words ask for no run, or nothing can be written.
    """
    # A gate refuses the options that list.
    if PLAN.flag in words or (words[0] != _GATE and _NOT_RUNS.intersection(words)):
        return None
    address = _value(words, "--base-url")
    named = _value(words, TARGET_OPTION.flag)
    profile = _value(words, PROFILE.flag)
    if address is None and named is None and words[0] == _GATE and BASE_URL not in os.environ:
        named = _NONE_NAMED  # a gate judges the embedded sandbox only where it is told to
    return _write(
        Path(_value(words, REPORTS.flag) or str(REPORTS.default)),
        _target_facts(address or named, None),
        profile if profile in list(Profile) else str(Profile.GATE),
        ["registry-contracts", *words],
        reason,
    )


@pytest.hookimpl(wrapper=True, trylast=True)
def pytest_cmdline_main(config: pytest.Config) -> Generator[None, object, object]:
    """Write the folder of a run that is refused, unless it has one already."""
    try:
        return (yield)
    except pytest.UsageError as error:
        if RUN_PLAN not in config.stash and is_contract_run(config):
            write_refused_session(config, complaint(error))
        raise


def write_refused_session(config: pytest.Config, reason: str) -> Path | None:
    """Write the folder of a run whose options pytest has read, and which was refused; see `write_refused_words`."""
    selection = config.stash.get(SELECTION, None)
    profile = str(selection.profile) if selection else str(config.getoption(PROFILE.flag))
    return _write(
        Path(str(config.getoption(REPORTS.flag))),
        _target_facts(config.getoption(TARGET_OPTION.flag), config.stash.get(TARGET, None)),
        profile if profile in list(Profile) else str(Profile.GATE),
        ["pytest", *map(str, config.invocation_params.args)],
        reason,
    )


def _value(words: Sequence[str], flag: str) -> str | None:
    """The value of an option in words that nobody has parsed; of several the last."""
    values = [word.partition("=")[2] for word in words if word.startswith(f"{flag}=")]
    values += [value for word, value in pairwise(words) if word == flag]
    return values[-1] if values else None


def _target_facts(named: str | None, target: Target | None) -> Mapping[str, str]:
    """What is known of the target; its settings may be what could not be read."""
    if target is not None:
        return {"target": target.name, "target_kind": target.kind, "base_url": target.base_url}
    if named is None:
        named = _FROM_VARIABLES if BASE_URL in os.environ else SANDBOX
    # An address may hold what nobody is to see, and was perhaps refused for it.
    name = _FROM_VARIABLES if "://" in named else Path(named).name.removesuffix(".toml") or _FROM_VARIABLES
    return {"target": name, "target_kind": "development", "base_url": ""}


def _without_credentials(word: str) -> str:
    """A word of a command; an address in it may have been refused for the credentials that it holds."""
    return _CREDENTIALS.sub("//…@", word)


def _write(
    reports: Path, target: Mapping[str, str], profile: str, words: Sequence[str], reason: str
) -> Path | None:
    token, now = new_run_token(), datetime.now(UTC)
    try:
        folder = new_folder(reports, f"{target['target']}-{token}", at=now)
    except RegistryContractsError:
        return None  # that may be the reason itself
    facts: dict[str, Any] = {
        **target,
        "profile": profile,
        "seed": FIXED_SEED,
        "realms": [],
        "clauses": [],
        "started": now.isoformat(),
        "finished": datetime.now(UTC).isoformat(),
        "workers": 0,
        "command": shlex.join(map(_without_credentials, words)),
        "versions": versions(),
        "environment": {"requests": 0, "retries": 0, "faults": {}, "breaker": None},
        "interrupted": False,
        "expected_workers": [],
        "token": token,
        "left": 0,
        "refused": reason,
    }
    with suppress(OSError, RegistryContractsError):
        point_latest(folder)
        (folder / RUN_FILE).write_text(json.dumps(facts, indent=2), encoding="utf-8")
        write_all(folder)
    return folder
