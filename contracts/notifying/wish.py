"""What somebody asked for who wants to be told how a run ended: by options, or by variables."""

from __future__ import annotations

import json
import os
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

from contracts.errors import UsageError
from contracts.notifying.payload import summary_of
from contracts.notifying.posting import Notice, Webhook, webhook
from contracts.notifying.wording import OPTION, REPORT_OPTION, REPORT_VARIABLE, VARIABLE


@dataclass(frozen=True)
class Wish:
    """Who is told, and where people find the report; None where nobody said."""

    webhook: Webhook
    report: str | None

    def send(self, verdict: Path) -> Notice:
        """Set the summary of a verdict on its way.

        Args:
            verdict: A run's `verdict.json`.
        """
        notice = Notice(self.webhook, summary_of(json.loads(verdict.read_text("utf-8")), self.report))
        notice.start()
        return notice


def wish_of(notify: str | None, report: str | None, target: str | None) -> Wish | None:
    """Read what was asked for.

    Args:
        notify: What `--notify` was given; None for the variable.
        report: What `--report-url` was given; None for the variable.
        target: Base URL of the target, which is no webhook; None where it has no lasting one.

    Returns:
        None when nobody is to be told.

    Raises:
        UsageError: an address cannot be used.
    """
    found = _webhook(notify, target)
    shown = _report(report)
    return Wish(found, shown) if found else None


def _webhook(given: str | None, target: str | None) -> Webhook | None:
    text, source = (given, OPTION) if given is not None else (os.environ.get(VARIABLE), VARIABLE)
    if text is None or (source == VARIABLE and not text.strip()):
        return None
    found = webhook(text, source)
    if target is not None and found.origin == Webhook(target).origin:
        raise UsageError(f"{source} leads to the target itself; a webhook is somewhere else")
    return found


def _report(given: str | None) -> str | None:
    text = given if given is not None else os.environ.get(REPORT_VARIABLE, "").strip() or None
    if text is not None and urlsplit(text).scheme not in ("http", "https"):
        raise UsageError(f"{REPORT_OPTION} is not a web address: '{text}'; give https://… or leave it out")
    return text
