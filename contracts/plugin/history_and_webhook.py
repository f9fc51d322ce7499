"""Where a run goes once it is judged: into the history, compared with the accepted baseline, and to a webhook.

The verdict depends on neither.
"""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from contracts.errors import RegistryContractsError, UsageError
from contracts.evidence.run_comparison import OFF, Comparison
from contracts.evidence.run_folder import prune
from contracts.history.drift import Mode
from contracts.plugin.run_options import KEEP, UNPACKED
from contracts.plugin.selection import SELECTION, TARGET
from contracts.plugin.session_finish import COMPLAINTS, PLAN, VERDICT
from contracts.reports import verdict_json
from contracts.reports.webhook import OPTION, REPORT_OPTION, Delivery, WebhookSettings, webhook_settings
from contracts.reports.writers import pack
from contracts.safe_text import complaint
from contracts.settings.target import SANDBOX

_COMPARISON = pytest.StashKey[Comparison]()
_SETTINGS = pytest.StashKey[WebhookSettings]()
_DELIVERY = pytest.StashKey[Delivery]()
#: Set by a command that prints the outcome itself, after its own last line.
REPORTED_BY_COMMAND = pytest.StashKey[bool]()


def pytest_configure(config: pytest.Config) -> None:
    """Check baseline, mode and webhook settings before anything is sent."""
    if hasattr(config, "workerinput"):
        return
    try:
        config.stash[_COMPARISON] = _comparison(config)
        settings = _webhook_settings(config)
    except RegistryContractsError as error:
        raise pytest.UsageError(complaint(error)) from None
    if settings is not None:
        config.stash[_SETTINGS] = settings


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


def _webhook_settings(config: pytest.Config) -> WebhookSettings | None:
    target = config.stash[TARGET]
    notify, report = config.getoption(OPTION), config.getoption(REPORT_OPTION)
    return webhook_settings(notify, report, target.base_url if target else None)


@pytest.hookimpl(trylast=True)
def pytest_sessionstart(session: pytest.Session) -> None:
    """Write into the run's folder what its reports compare with."""
    stash = session.config.stash
    if PLAN not in stash or _COMPARISON not in stash:
        return
    try:
        stash[COMPLAINTS] = stash[_COMPARISON].note_in(Path(stash[PLAN].folder))
    except UsageError as error:
        raise pytest.UsageError(complaint(error)) from None


@pytest.hookimpl(trylast=True)
def pytest_sessionfinish(session: pytest.Session) -> None:
    """Add the run to the history, pack its folder, remove old runs, send its summary; no trouble fails it."""
    stash = session.config.stash
    if VERDICT not in stash:
        return
    folder = Path(stash[PLAN].folder)
    try:
        if _COMPARISON in stash:
            stash[_COMPARISON].add_to_history(folder)
    except UsageError as error:
        stash[COMPLAINTS] = [*stash.get(COMPLAINTS, []), f"{error}; this run is not in it"]
    if not session.config.getoption(UNPACKED.flag):
        pack(folder)
    keep = session.config.getoption(KEEP.flag)
    prune(folder.parent, int(keep))
    path = folder / verdict_json.FILE_NAME
    if _SETTINGS in stash and path.exists():
        stash[_DELIVERY] = stash[_SETTINGS].send(path)


@pytest.hookimpl(trylast=True)
def pytest_unconfigure(config: pytest.Config) -> None:
    """Print the outcome at the very end, after the verdict."""
    if not config.stash.get(REPORTED_BY_COMMAND, False):
        report_outcome(config)


def report_outcome(config: pytest.Config) -> None:
    """Wait for the notification, if there is one, and print on standard error whether it arrived."""
    if _DELIVERY in config.stash:
        sys.stdout.flush()
        sys.stderr.write(f"{config.stash[_DELIVERY].outcome()}\n")
