"""Connects a run with earlier ones: the accepted baseline that it is compared with, and the history it is added to."""

from __future__ import annotations

from pathlib import Path

import pytest

from contracts.errors import RegistryContractsError, UsageError
from contracts.evidence.comparison import OFF, Comparison
from contracts.history.drift import Mode
from contracts.plugin.options import SELECTION, TARGET
from contracts.plugin.session_finish import PLAN, VERDICT
from contracts.settings.target import SANDBOX

COMPARISON = pytest.StashKey[Comparison]()
#: What is wrong with the history, lines of it or all, in a line each.
COMPLAINTS = pytest.StashKey[list[str]]()


def pytest_configure(config: pytest.Config) -> None:
    """Check baseline and mode before anything is sent."""
    if hasattr(config, "workerinput"):
        return
    try:
        config.stash[COMPARISON] = _comparison(config)
    except RegistryContractsError as error:
        raise pytest.UsageError(str(error)) from None


def _comparison(config: pytest.Config) -> Comparison:
    selection, target = config.stash[SELECTION], config.stash[TARGET]
    drift, baseline, history = map(config.getoption, ("--drift", "--baseline", "--history"))
    name = target.name if target else SANDBOX
    if selection.shard is None or drift not in list(Mode):
        return Comparison.of_options(name, selection.reports, drift, baseline, history)
    # A part of a run is neither compared nor added to the history; the merged run is.
    given = {
        "--drift fail": drift == Mode.FAIL,
        "--baseline": baseline,
        "--history": history not in (None, OFF),
    }
    for option, value in given.items():
        if value:
            raise UsageError(f"{option} is for whole runs; give it to `registry-contracts merge`")
    return Comparison.of_options(name, selection.reports, Mode.OFF, None, OFF)


@pytest.hookimpl(trylast=True)
def pytest_sessionstart(session: pytest.Session) -> None:
    """Write into the run's folder what its reports compare with."""
    stash = session.config.stash
    if PLAN not in stash or COMPARISON not in stash:
        return
    try:
        stash[COMPLAINTS] = stash[COMPARISON].note_in(Path(stash[PLAN].folder))
    except UsageError as error:
        raise pytest.UsageError(str(error)) from None


@pytest.hookimpl(trylast=True)
def pytest_sessionfinish(session: pytest.Session) -> None:
    """Add the run to the history once it is judged; trouble with the file is reported and fails nothing."""
    stash = session.config.stash
    if VERDICT not in stash or COMPARISON not in stash:
        return
    try:
        stash[COMPARISON].add_to_history(Path(stash[PLAN].folder))
    except UsageError as error:
        stash[COMPLAINTS] = [*stash.get(COMPLAINTS, []), f"{error}; this run is not in it"]
