"""Sends the summary of a finished run to a webhook; the verdict does not depend on it."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from contracts.errors import RegistryContractsError
from contracts.plugin.options import TARGET
from contracts.plugin.session_finish import PLAN, VERDICT
from contracts.reports import verdict_json
from contracts.reports.webhook import OPTION, REPORT_OPTION, Delivery, WebhookSettings, webhook_settings

_SETTINGS = pytest.StashKey[WebhookSettings]()
DELIVERY = pytest.StashKey[Delivery]()
#: Set by a command that prints the outcome itself, after its own last line.
REPORTED_BY_COMMAND = pytest.StashKey[bool]()


def pytest_configure(config: pytest.Config) -> None:
    """Check the webhook settings before anything is sent."""
    if hasattr(config, "workerinput"):
        return
    target = config.stash[TARGET]
    notify, report = config.getoption(OPTION), config.getoption(REPORT_OPTION)
    try:
        settings = webhook_settings(notify, report, target.base_url if target else None)
    except RegistryContractsError as error:
        raise pytest.UsageError(str(error)) from None
    if settings is not None:
        config.stash[_SETTINGS] = settings


@pytest.hookimpl(trylast=True)
def pytest_sessionfinish(session: pytest.Session) -> None:
    """Send the summary as soon as the run is judged."""
    stash = session.config.stash
    if VERDICT not in stash or _SETTINGS not in stash:
        return
    path = Path(stash[PLAN].folder) / verdict_json.FILE_NAME
    if path.exists():
        stash[DELIVERY] = stash[_SETTINGS].send(path)


@pytest.hookimpl(trylast=True)
def pytest_unconfigure(config: pytest.Config) -> None:
    """Print the outcome at the very end, after the verdict."""
    if not config.stash.get(REPORTED_BY_COMMAND, False):
        report_outcome(config)


def report_outcome(config: pytest.Config) -> None:
    """Wait for the notification, if there is one, and print on standard error whether it arrived."""
    if DELIVERY in config.stash:
        sys.stdout.flush()
        sys.stderr.write(f"{config.stash[DELIVERY].outcome()}\n")
