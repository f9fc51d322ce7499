"""Connects a run with earlier ones: the accepted baseline that it is compared with, and the history it is added to."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Final

import pytest

from contracts.errors import RegistryContractsError, UsageError
from contracts.evidence import run_history
from contracts.evidence.run_history import realms_of_operations
from contracts.history.baseline import path_of, read, save_drift_settings
from contracts.history.drift_report import Mode
from contracts.history.runs import FILE_NAME, Entry, append, read_line
from contracts.history.runs import read as read_history
from contracts.history.trends import past_of, write_past
from contracts.plugin.options import SELECTION, TARGET
from contracts.plugin.session_finish import PLAN, VERDICT
from contracts.settings.target import SANDBOX

#: Switches the history off.
OFF: Final = "off"


@dataclass(frozen=True)
class Memory:
    """Where a run looks things up, and where it writes them down.

    Attributes:
        history: The history file; None when it is switched off.
    """

    mode: Mode
    baseline: Path
    history: Path | None


MEMORY = pytest.StashKey[Memory]()
#: What went wrong with the history, lines of it or all, in a line each.
COMPLAINTS = pytest.StashKey[list[str]]()


def pytest_addoption(parser: pytest.Parser) -> None:
    """Declare the options about baseline and history."""
    add = parser.getgroup("contract", "registry contracts").addoption
    add(
        "--drift",
        metavar="MODE",
        default=str(Mode.WARN),
        help="what drift from the baseline does: warn (default), fail (breaking drift fails the run) or off",
    )
    add("--baseline", metavar="FILE", help="accepted observations; default: baselines/<target>.yaml")
    add(
        "--history",
        metavar="FILE",
        help=f"file that the run is added to, or '{OFF}'; default: {FILE_NAME} in the reports",
    )


def pytest_configure(config: pytest.Config) -> None:
    """See that baseline and mode can be used, before anything is sent."""
    if hasattr(config, "workerinput"):
        return
    try:
        config.stash[MEMORY] = _memory(config)
    except RegistryContractsError as error:
        raise pytest.UsageError(str(error)) from None


def _memory(config: pytest.Config) -> Memory:
    mode, target = config.getoption("--drift"), config.stash[TARGET]
    if mode not in list(Mode):
        raise UsageError(f"--drift takes {', '.join(Mode)}, not '{mode}'")
    if config.stash[SELECTION].shard is not None:
        return _of_a_shard(config, Mode(mode))
    named = config.getoption("--baseline")
    path = Path(named) if named else path_of(target.name if target else SANDBOX)
    if mode != Mode.OFF and read(path, realms_of_operations()) is None and named:
        raise UsageError(f"there is no baseline {path}; `registry-contracts drift accept` writes one")
    history = config.getoption("--history")
    default = config.stash[SELECTION].reports / FILE_NAME
    file = None if history == OFF else Path(history) if history else default
    return Memory(Mode(mode), path, file)


def _of_a_shard(config: pytest.Config, mode: Mode) -> Memory:
    """Nothing: a part of a run is neither compared with anything nor remembered; the merged run is."""
    named = {
        "--drift fail": mode is Mode.FAIL,
        "--baseline": config.getoption("--baseline"),
        "--history": config.getoption("--history") not in (None, OFF),
    }
    for option, given in named.items():
        if given:
            raise UsageError(f"{option} is for whole runs; give it to `registry-contracts merge`")
    return Memory(Mode.OFF, path_of(SANDBOX), None)


@pytest.hookimpl(trylast=True)
def pytest_sessionstart(session: pytest.Session) -> None:
    """Keep in the run's folder what its reports compare with."""
    stash = session.config.stash
    if PLAN not in stash or MEMORY not in stash:
        return
    memory, folder, target = stash[MEMORY], Path(stash[PLAN].folder), stash[TARGET]
    try:
        save_drift_settings(folder, memory.mode, memory.baseline, realms_of_operations())
        if memory.history is not None:
            history = read_history(memory.history)
            stash[COMPLAINTS] = [f"{line}; passed over" for line in history.damaged]
            write_past(folder, past_of(history, target.name if target else SANDBOX))
    except UsageError as error:
        raise pytest.UsageError(str(error)) from None


@pytest.hookimpl(trylast=True)
def pytest_sessionfinish(session: pytest.Session) -> None:
    """Add the run to the history, once it is judged; trouble with the file is told and fails nothing."""
    stash = session.config.stash
    file = stash[MEMORY].history if VERDICT in stash and MEMORY in stash else None
    path = Path(stash[PLAN].folder) / run_history.FILE_NAME if file else None
    if file is None or path is None or not path.exists():
        return
    entry = read_line(path.read_text("utf-8"))
    try:
        if isinstance(entry, Entry):
            append(file, entry)
    except UsageError as error:
        stash[COMPLAINTS] = [*stash.get(COMPLAINTS, []), f"{error}; this run is not in it"]
