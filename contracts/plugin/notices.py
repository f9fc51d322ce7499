"""Tells a webhook how the run ended: beside the last words of the run, and without any say in its verdict."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import Final
from urllib.parse import urlsplit

import pytest

from contracts.errors import RegistryContractsError, UsageError
from contracts.evidence import verdict_json
from contracts.notifying.payload import summary_of
from contracts.notifying.posting import Notice, Webhook, webhook
from contracts.notifying.wording import OPTION, VARIABLE
from contracts.plugin.closing import PLAN, VERDICT
from contracts.plugin.options import TARGET
from contracts.target.model import Target

REPORT_OPTION: Final = "--report-url"
REPORT_VARIABLE: Final = "REGISTRY_REPORT_URL"

_WEBHOOK = pytest.StashKey[Webhook]()
_REPORT = pytest.StashKey[str | None]()
NOTICE = pytest.StashKey[Notice]()
#: Set by a command that has a last word of its own, after which it says what became of the notice.
AWAITED_BY_COMMAND = pytest.StashKey[bool]()


def pytest_addoption(parser: pytest.Parser) -> None:
    """Declare the options about the webhook."""
    add = parser.getgroup("contract", "registry contracts").addoption
    add(OPTION, metavar="URL", help=f"webhook that is told how the run ended; better: variable {VARIABLE}")
    add(
        REPORT_OPTION,
        metavar="URL",
        help=f"where people find the report, for the webhook; or {REPORT_VARIABLE}",
    )


def pytest_configure(config: pytest.Config) -> None:
    """See that the webhook can be used, before anything is sent."""
    if hasattr(config, "workerinput"):
        return
    try:
        found = _asked_for(config, config.stash[TARGET])
        config.stash[_REPORT] = _report_url(config)
    except RegistryContractsError as error:
        raise pytest.UsageError(str(error)) from None
    if found is not None:
        config.stash[_WEBHOOK] = found


def _asked_for(config: pytest.Config, target: Target | None) -> Webhook | None:
    given = config.getoption(OPTION)
    text, source = (given, OPTION) if given is not None else (os.environ.get(VARIABLE), VARIABLE)
    if text is None or (source == VARIABLE and not text.strip()):
        return None
    found = webhook(text, source)
    if target is not None and found.origin == Webhook(target.base_url).origin:
        raise UsageError(f"{source} leads to the target itself; a webhook is somewhere else")
    return found


def _report_url(config: pytest.Config) -> str | None:
    given = config.getoption(REPORT_OPTION)
    text = given if given is not None else os.environ.get(REPORT_VARIABLE, "").strip() or None
    if text is not None and urlsplit(text).scheme not in ("http", "https"):
        raise UsageError(f"{REPORT_OPTION} is not a web address: '{text}'; give https://… or leave it out")
    return text


@pytest.hookimpl(trylast=True)
def pytest_sessionfinish(session: pytest.Session) -> None:
    """Send the summary on its way as soon as the run is judged."""
    stash = session.config.stash
    if VERDICT not in stash or _WEBHOOK not in stash:
        return
    path = Path(stash[PLAN].folder) / verdict_json.FILE_NAME
    if path.exists():
        content = summary_of(json.loads(path.read_text("utf-8")), stash[_REPORT])
        stash[NOTICE] = Notice(stash[_WEBHOOK], content)
        stash[NOTICE].start()


@pytest.hookimpl(trylast=True)
def pytest_unconfigure(config: pytest.Config) -> None:
    """Say at the very end whether it arrived; the verdict stands in the terminal already."""
    if not config.stash.get(AWAITED_BY_COMMAND, False):
        tell(config)


def tell(config: pytest.Config) -> None:
    """Wait for the notice, if there is one, and say on standard error what became of it."""
    if NOTICE in config.stash:
        sys.stdout.flush()
        sys.stderr.write(f"{config.stash[NOTICE].outcome()}\n")
