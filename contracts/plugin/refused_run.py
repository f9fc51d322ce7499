"""The run folder of a run whose settings or options cannot be used, for a pipeline that reads the verdict file.

Without it `latest` would go on leading to an older run, which may have passed.
"""

from __future__ import annotations

import json
import re
import shlex
from argparse import ArgumentParser
from collections.abc import Generator, Sequence
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

import pytest

from contracts.errors import RegistryContractsError
from contracts.evidence.record import Environment, RunFacts
from contracts.evidence.run_folder import new_folder, point_latest
from contracts.file_formats import plain
from contracts.interface.profiles import Profile
from contracts.plugin.plan import FIXED_SEED, LISTING_OPTIONS, is_contract_run
from contracts.plugin.run import RUN, versions
from contracts.plugin.run_options import PLAN, PROFILE, REPORTS
from contracts.reports.writers import write_all
from contracts.safe_text import complaint
from contracts.session.ledger import RUN_FILE
from contracts.session.namespace import new_run_token

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
    for flag in (REPORTS.flag, PROFILE.flag):
        known.add_argument(flag)
    # An option without its value is the last word.
    given = known.parse_known_args([*words, ""])[0]
    token, now = new_run_token(), datetime.now(UTC)
    run = RunFacts(
        target="none",
        target_kind="development",
        base_url="",
        profile=given.profile if given.profile in list(Profile) else str(Profile.GATE),
        seed=FIXED_SEED,
        realms=(),
        clauses=(),
        started=now.isoformat(),
        finished=now.isoformat(),
        workers=0,
        command=_CREDENTIALS.sub("//…@", shlex.join(words)),
        versions=versions(),
        environment=Environment(0, 0),
        interrupted=False,
        expected_workers=(),
        refused=reason,
        token=token,
    )
    folder = None
    # What stands in the way of a folder may be the reason itself.
    with suppress(OSError, RegistryContractsError):
        folder = new_folder(Path(given.reports or str(REPORTS.default)), f"refused-{token}", at=now)
        point_latest(folder)
        (folder / RUN_FILE).write_text(json.dumps(plain(run) | {"left": 0}), encoding="utf-8")
        write_all(folder)
    return folder
