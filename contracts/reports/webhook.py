"""Webhook settings, and the summary of a run that is posted: for a bounded time, and without showing the address."""

from __future__ import annotations

import json
import logging
import os
import threading
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final
from urllib.parse import urlsplit

import requests

from contracts.errors import UsageError
from contracts.safe_text import cut

FORMAT: Final = 1
#: Findings and changes that stand in a summary one by one; the report holds them all.
MOST_LISTED: Final = 10
_LONGEST: Final = 300


def summary_of(verdict: Mapping[str, Any], report: str | None) -> dict[str, Any]:
    """Return the summary of a run that is posted to a webhook.

    Args:
        verdict: The content of `verdict.json`, from which secrets are out.
        report: Address where people find the report; None where there is none.

    Returns:
        Plain data that fits `contracts/reports/schemas/notification.schema.json`. The member `text` is one line
        for people, which chat systems show as it is.
    """
    environment = verdict["environment"]
    return {
        "format": FORMAT,
        "text": _text(verdict, report),
        "verdict": verdict["verdict"],
        "exit_code": verdict["exit_code"],
        "reason": _short(verdict["reason"]),
        "complete": verdict["complete"],
        "target": dict(verdict["target"]),
        "profile": verdict["profile"],
        "seed": verdict["seed"],
        "realms": list(verdict["realms"]),
        "consumer": verdict["consumer"]["file"] if verdict["consumer"] else None,
        "started": verdict["started"],
        "finished": verdict["finished"],
        "seconds": verdict["seconds"],
        "counts": dict(verdict["counts"]),
        "cases": verdict["cases"],
        "requests": environment["requests"],
        "breaker": _short(environment["breaker"]) if environment["breaker"] else None,
        "findings": _findings(verdict["findings"]),
        "drift": _drift(verdict["drift"]),
        "deviations": [
            {"clause": each["clause"], "course": each["course"], "fails": each["fails"], "says": each["says"]}
            for each in verdict["deviations"]
        ],
        "left": len(verdict["residue"]) + len(verdict["leftovers"]),
        "report": report,
    }


def _text(verdict: Mapping[str, Any], report: str | None) -> str:
    name, profile = verdict["target"]["name"], verdict["profile"]
    line = f"Registry contracts, {name}, {profile}: {verdict['verdict']}: {verdict['reason']}"
    return _short(line) + (f" {report}" if report else "")


def _findings(findings: list[Mapping[str, Any]]) -> dict[str, Any]:
    return {
        "total": len(findings),
        "failing": sum(each["standing"] == "fail" and each["counted"] for each in findings),
        "first": [
            {
                name: each[name]
                for name in ("id", "clause", "operation", "realm", "standing", "counted", "rate")
            }
            | {"expected": _short(each["expected"]), "seen": _short(each["seen"])}
            for each in findings[:MOST_LISTED]
        ],
    }


def _drift(changes: list[Mapping[str, Any]]) -> dict[str, Any]:
    return {
        "breaking": sum(each["severity"] == "breaking" for each in changes),
        "additive": sum(each["severity"] == "additive" for each in changes),
        "first": [
            {name: each[name] for name in ("clause", "operation", "realms", "change", "severity")}
            | {"point": _short(each["point"])}
            | {name: None if each[name] is None else _short(each[name]) for name in ("was", "now")}
            for each in changes[:MOST_LISTED]
        ],
    }


def _short(text: str) -> str:
    return cut(" ".join(text.split()), _LONGEST)


#: How long a run may wait for its webhook after its verdict is printed.
PATIENCE_SECONDS: Final = 20.0
#: Waits between the tries.
PAUSES: Final = (1.0, 2.0, 4.0, 8.0)
#: Time limit of one try.
_TIMEOUT_SECONDS: Final = 6.0
#: Statuses below 500 after which another try may succeed.
_WORTH_ANOTHER_TRY: Final = frozenset({408, 425, 429})
_THREAD: Final = "webhook"


@dataclass(frozen=True)
class Webhook:
    """Where to post; the address is a secret, so nothing shows it."""

    url: str = field(repr=False)

    @property
    def origin(self) -> tuple[str, str | None, int | None]:
        """Scheme, host and port; they say where a request goes."""
        parts = urlsplit(self.url)
        return parts.scheme, parts.hostname, parts.port or {"http": 80, "https": 443}.get(parts.scheme)


def webhook(text: str, given_by: str) -> Webhook:
    """Read the address of a webhook.

    Args:
        text: The address.
        given_by: The option or variable that holds it, for messages.

    Raises:
        UsageError: it is no http or https address; the message does not repeat it.
    """
    try:
        parts = urlsplit(text.strip())
        usable = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:
        usable = False
    if not usable or len(text.split()) != 1:
        raise UsageError(
            f"{given_by} is not a web address; give https://… or leave it out (it is not shown: a secret)"
        )
    return Webhook(text.strip())


class Notice:
    """One summary, posted by a thread of its own while the run goes on.

    Args:
        to: The webhook.
        content: JSON to post.
        patience: Seconds from the start until it is given up.
        pauses: Seconds between the tries; there is one try more than pauses.
    """

    def __init__(
        self,
        to: Webhook,
        content: Mapping[str, Any],
        patience: float = PATIENCE_SECONDS,
        pauses: Sequence[float] = PAUSES,
    ) -> None:
        self._to = to
        self._content = content
        self._pauses = pauses
        self._deadline = time.monotonic() + patience
        self._patience = patience
        self._given_up = threading.Event()
        self._line: str | None = None
        # Nothing waits for it longer than its time limit, not even the interpreter at its end.
        self._thread = threading.Thread(target=self._send, name=_THREAD, daemon=True)

    def start(self) -> None:
        """Begin to send."""
        for name in ("urllib3.connectionpool", "urllib3.util.retry"):
            logging.getLogger(name).addFilter(_keeps_the_address)
        self._thread.start()

    def outcome(self) -> str:
        """Wait for the end, at most until the patience is over, and say in one line whether it arrived."""
        self._thread.join(max(0.0, self._deadline - time.monotonic()))
        self._given_up.set()
        return self._line or f"not notified: the webhook did not take it within {self._patience:.0f} s"

    def _send(self) -> None:
        why = "it was not reached"
        with requests.Session() as session:
            for number, pause in enumerate((*self._pauses, None), start=1):
                taken, why, again = self._try(session, number)
                if taken or not again or pause is None or not self._pause(pause):
                    break
        self._line = f"notified: {why}" if taken else f"not notified: {why}"

    def _try(self, session: requests.Session, number: int) -> tuple[bool, str, bool]:
        """Post once; whether it was taken, in words, and whether another try may help."""
        left = max(0.1, min(_TIMEOUT_SECONDS, self._deadline - time.monotonic()))
        try:
            with session.post(
                self._to.url, json=self._content, timeout=left, allow_redirects=False, stream=True
            ) as answer:
                status = answer.status_code
        except requests.Timeout:
            return False, _tries("the webhook did not answer in time", number), True
        except requests.ConnectionError:
            return False, _tries("there is no connection to the webhook", number), True
        except requests.RequestException:
            return False, "the address of the webhook cannot be used", False
        said = _tries(f"the webhook answered {status}", number)
        return 200 <= status < 300, said, status >= 500 or status in _WORTH_ANOTHER_TRY

    def _pause(self, seconds: float) -> bool:
        """Wait before the next try; False when there is no time left for one."""
        if time.monotonic() + seconds >= self._deadline:
            return False
        return not self._given_up.wait(seconds)


def _tries(said: str, number: int) -> str:
    return said if number == 1 else f"{said} (after {number} tries)"


def _keeps_the_address(record: logging.LogRecord) -> bool:
    """Leave out what the HTTP library would log of a post: it names the path, which is the secret."""
    return record.threadName != _THREAD


OPTION: Final = "--notify"
#: Variable that holds the webhook's address, which is a secret: it does not show in a list of processes.
VARIABLE: Final = "REGISTRY_NOTIFY_URL"
REPORT_OPTION: Final = "--report-url"
REPORT_VARIABLE: Final = "REGISTRY_REPORT_URL"


def without_address(words: Iterable[str]) -> list[str]:
    """Return the words of a command without the webhook's address, fit to be written down."""
    kept: list[str] = []
    for word in words:
        if word.startswith(f"{OPTION}="):
            kept.append(f"{OPTION}=…")
        else:
            kept.append("…" if kept and kept[-1] == OPTION else word)
    return kept


@dataclass(frozen=True)
class WebhookSettings:
    """Webhook settings.

    Attributes:
        webhook: Where the summary is posted.
        report: Address where people find the report; None where there is none.
    """

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


def webhook_settings(notify: str | None, report: str | None, target: str | None) -> WebhookSettings | None:
    """Read the webhook settings from options and variables.

    Args:
        notify: Value of `--notify`; None for the variable.
        report: Value of `--report-url`; None for the variable.
        target: Base URL of the target, which is no webhook; None where it has no lasting one.

    Returns:
        None where no webhook is given.

    Raises:
        UsageError: an address cannot be used.
    """
    found = _webhook(notify, target)
    shown = _report(report)
    return WebhookSettings(found, shown) if found else None


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
