"""The webhook: posts a summary of a run to an address that is a secret, patiently and for a bounded time."""

from __future__ import annotations

import logging
import os
import threading
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any, Final, Literal
from urllib.parse import urlsplit

import requests
from msgspec import Meta
from requests.utils import get_environ_proxies

from contracts.errors import UsageError
from contracts.evidence.findings import Standing
from contracts.evidence.verdicts import DeviationState
from contracts.file_formats import Count, Format, Moment, Name, RunExitCode, RunWord, Seconds, Seed, plain
from contracts.history.observed_facts import Severity
from contracts.reports import verdict_json
from contracts.reports.verdict_json import (
    CauseEntry,
    CountedChange,
    FindingEntry,
    FindingId,
    Rate,
    TargetEntry,
    VerdictFile,
)
from contracts.safe_text import cut
from contracts.settings.target import target_in_words

#: Findings and changes that are listed one by one; the report holds them all.
MOST_LISTED: Final = 10
_LONGEST: Final = 300
Short = Annotated[str, Meta(max_length=_LONGEST)]


class NotifiedFinding(Format, frozen=True, kw_only=True):
    """A finding by cause, with the realms that show it; `counted` is false outside what the consumer uses.

    `should` and `was` say in words what should be and what was; `follows` counts findings that only follow from it.
    """

    id: FindingId
    clause: str
    operation: str | None
    realms: tuple[str, ...]
    standing: Standing
    counted: bool
    rate: Rate
    should: Short
    was: Short
    expected: Short
    seen: Short
    follows: Count
    blocked_cases: Count


class NotifiedFindings(Format, frozen=True):
    """The findings of a run by cause, and how many of them fail it."""

    total: Count
    failing: Count
    first: Annotated[tuple[NotifiedFinding, ...], Meta(max_length=MOST_LISTED)]


class NotifiedChange(Format, frozen=True, kw_only=True):
    """A change of an observation; `point` is what differs within the clause."""

    clause: str
    operation: str
    realms: tuple[str, ...]
    change: str
    severity: Severity
    point: Short
    was: Short | None
    now: Short | None


class NotifiedDrift(Format, frozen=True):
    """How the run differs from the accepted baseline."""

    breaking: Count
    additive: Count
    first: Annotated[tuple[NotifiedChange, ...], Meta(max_length=MOST_LISTED)]


class NotifiedDeviation(Format, frozen=True):
    """What became of an accepted deviation."""

    clause: str
    course: DeviationState
    fails: bool
    says: str


class Notification(Format, frozen=True, kw_only=True):
    """What a webhook receives about a run.

    `consumer` is the file that limits the run, `breaker` says why it was stopped early, `left` counts what it left on
    the target, `report` is where people find the report.
    """

    format: Literal[2] = 2
    text: Annotated[Name, Meta(description="All of it in one line, for chat systems that show this member.")]
    verdict: RunWord
    exit_code: RunExitCode
    reason: Name
    complete: bool
    target: TargetEntry
    profile: str
    seed: Seed
    realms: Annotated[tuple[str, ...], Meta(extra_json_schema={"uniqueItems": True})]
    consumer: str | None
    started: Moment
    finished: Moment | None
    seconds: Seconds | None
    counts: Annotated[
        Mapping[str, Count], Meta(description="Number of clause and realm pairs with each verdict.")
    ]
    cases: Count
    requests: Count
    breaker: str | None
    findings: NotifiedFindings
    drift: NotifiedDrift
    deviations: tuple[NotifiedDeviation, ...]
    left: Count
    report: str | None


def notification_of(verdict: VerdictFile, report: str | None) -> Notification:
    """Return what a webhook receives about a run.

    Args:
        verdict: The content of `verdict.json`, from which secrets are out.
        report: Address where people find the report, if any.
    """
    environment = verdict.environment
    return Notification(
        text=_line(verdict, report),
        verdict=verdict.verdict,
        exit_code=verdict.exit_code,
        reason=_short(verdict.reason),
        complete=verdict.complete,
        target=verdict.target,
        profile=verdict.profile,
        seed=verdict.seed,
        realms=verdict.realms,
        consumer=verdict.consumer.file if verdict.consumer else None,
        started=verdict.started,
        finished=verdict.finished,
        seconds=verdict.seconds,
        counts={str(word): number for word, number in verdict.counts.items()},
        cases=verdict.cases,
        requests=environment.requests,
        breaker=_short(environment.breaker) if environment.breaker else None,
        findings=_findings(verdict),
        drift=_drift(verdict.drift),
        deviations=tuple(
            NotifiedDeviation(entry.clause, entry.course, entry.fails, entry.says)
            for entry in verdict.deviations
        ),
        left=len(verdict.residue) + len(verdict.leftovers),
        report=report,
    )


def _line(verdict: VerdictFile, report: str | None) -> str:
    judged = target_in_words(verdict.target.name, verdict.target.base_url)
    line = f"Registry contracts, {judged}, {verdict.profile}: {verdict.verdict}: {verdict.reason}"
    return _short(line) + (f" {report}" if report else "")


def _findings(verdict: VerdictFile) -> NotifiedFindings:
    by_id = {finding.id: finding for finding in verdict.findings}
    return NotifiedFindings(
        total=len(verdict.causes),
        failing=sum(cause.standing is Standing.FAIL and cause.counted for cause in verdict.causes),
        first=tuple(_notified(cause, by_id[cause.id]) for cause in verdict.causes[:MOST_LISTED]),
    )


def _notified(cause: CauseEntry, lead: FindingEntry) -> NotifiedFinding:
    return NotifiedFinding(
        id=cause.id,
        clause=cause.clause,
        operation=cause.operation,
        realms=cause.realms,
        standing=cause.standing,
        counted=cause.counted,
        rate=lead.rate,
        should=_short(cause.should),
        was=_short(cause.was),
        expected=_short(lead.expected),
        seen=_short(lead.seen),
        follows=len(cause.follows),
        blocked_cases=cause.blocked_cases,
    )


def _drift(changes: Sequence[CountedChange]) -> NotifiedDrift:
    return NotifiedDrift(
        breaking=sum(change.severity is Severity.BREAKING for change in changes),
        additive=sum(change.severity is Severity.ADDITIVE for change in changes),
        first=tuple(
            NotifiedChange(
                clause=change.clause,
                operation=change.operation,
                realms=change.realms,
                change=change.change,
                severity=change.severity,
                point=_short(change.point),
                was=None if change.was is None else _short(change.was),
                now=None if change.now is None else _short(change.now),
            )
            for change in changes[:MOST_LISTED]
        ),
    )


def _short(text: str) -> str:
    return cut(" ".join(text.split()), _LONGEST)


#: How long a run waits for its webhook after it has printed its verdict.
DEADLINE_SECONDS: Final = 20.0
#: Waits between the attempts.
PAUSES: Final = (1.0, 2.0, 4.0, 8.0)
#: Time limit of one attempt.
_TIMEOUT_SECONDS: Final = 6.0
#: Refusals that may be none a moment later.
_TEMPORARY: Final = frozenset({408, 425, 429})
_THREAD: Final = "webhook"


@dataclass(frozen=True)
class WebhookAddress:
    """Where to post; the address is a secret, so nothing shows it."""

    url: str = field(repr=False)

    @property
    def origin(self) -> tuple[str, str | None, int | None]:
        """Scheme, host and port."""
        parts = urlsplit(self.url)
        return parts.scheme, parts.hostname, parts.port or {"http": 80, "https": 443}.get(parts.scheme)


def read_address(text: str, source: str) -> WebhookAddress:
    """Read the address of a webhook.

    Args:
        source: The option or variable that holds it, for messages.

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
            f"{source} is not a web address; give https://… or leave it out (it is not shown: a secret)"
        )
    return WebhookAddress(text.strip())


class Delivery:
    """One notification on its way to a webhook, sent in the background while the run ends.

    Args:
        content: JSON to post.
        deadline: Seconds from the start until it is given up.
        pauses: Seconds between the attempts; there is one attempt more than pauses.
    """

    def __init__(
        self,
        address: WebhookAddress,
        content: Mapping[str, Any],
        deadline: float = DEADLINE_SECONDS,
        pauses: Sequence[float] = PAUSES,
    ) -> None:
        self._address = address
        self._content = content
        self._pauses = pauses
        self._deadline = time.monotonic() + deadline
        self._seconds = deadline
        self._given_up = threading.Event()
        self._line: str | None = None
        # A daemon: the interpreter does not wait for it at its end either.
        self._thread = threading.Thread(target=self._send, name=_THREAD, daemon=True)

    def start(self) -> None:
        """Begin to send."""
        for name in ("urllib3.connectionpool", "urllib3.util.retry"):
            logging.getLogger(name).addFilter(_hides_the_address)
        self._thread.start()

    def outcome(self) -> str:
        """Wait for the end, at most until the deadline, and return one line that says whether it arrived."""
        self._thread.join(max(0.0, self._deadline - time.monotonic()))
        self._given_up.set()
        return self._line or f"not notified: the webhook did not take it within {self._seconds:.0f} s"

    def _send(self) -> None:
        with requests.Session() as session:
            # Entries of ~/.netrc would go along as credentials; the usual proxies and certificates are kept.
            session.trust_env = False
            session.proxies = dict(get_environ_proxies(self._address.url))
            session.verify = os.environ.get("REQUESTS_CA_BUNDLE") or os.environ.get("CURL_CA_BUNDLE") or True
            for number, pause in enumerate((*self._pauses, None), start=1):
                taken, why, again = self._attempt(session, number)
                if taken or not again or pause is None or not self._pause(pause):
                    break
        self._line = f"notified: {why}" if taken else f"not notified: {why}"

    def _attempt(self, session: requests.Session, number: int) -> tuple[bool, str, bool]:
        """Post once; return whether it was taken, in words, and whether another attempt may help."""
        left = max(0.1, min(_TIMEOUT_SECONDS, self._deadline - time.monotonic()))
        try:
            with session.post(
                self._address.url, json=self._content, timeout=left, allow_redirects=False, stream=True
            ) as response:
                status = response.status_code
        except requests.Timeout:
            return False, _after("the webhook did not answer in time", number), True
        except requests.ConnectionError:
            return False, _after("there is no connection to the webhook", number), True
        except requests.RequestException:
            return False, "the address of the webhook cannot be used", False
        line = _after(f"the webhook answered {status}", number)
        return 200 <= status < 300, line, status >= 500 or status in _TEMPORARY

    def _pause(self, seconds: float) -> bool:
        """Wait before the next attempt; False when there is no time left for one."""
        if time.monotonic() + seconds >= self._deadline:
            return False
        return not self._given_up.wait(seconds)


def _after(line: str, number: int) -> str:
    return line if number == 1 else f"{line} (after {number} tries)"


def _hides_the_address(record: logging.LogRecord) -> bool:
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
    """Webhook settings: where to post, and where people find the report, if anywhere."""

    address: WebhookAddress
    report: str | None

    def send(self, path: Path) -> Delivery:
        """Send the notification about a run on its way.

        Args:
            path: The run's `verdict.json`.
        """
        content = plain(notification_of(verdict_json.read(path), self.report))
        delivery = Delivery(self.address, content)
        delivery.start()
        return delivery


def webhook_settings(notify: str | None, report: str | None, target: str | None) -> WebhookSettings | None:
    """Read the webhook settings from options, or from variables where an option is not given.

    Args:
        notify: Value of `--notify`; None for the variable.
        report: Value of `--report-url`; None for the variable.
        target: Base URL of the target, which is no webhook; None where it has no lasting one.

    Returns:
        The settings; None when no webhook is named.

    Raises:
        UsageError: an address cannot be used.
    """
    address = _address(notify, target)
    shown = _report(report)
    return WebhookSettings(address, shown) if address else None


def _address(given: str | None, target: str | None) -> WebhookAddress | None:
    text, source = (given, OPTION) if given is not None else (os.environ.get(VARIABLE), VARIABLE)
    if text is None or (source == VARIABLE and not text.strip()):
        return None
    address = read_address(text, source)
    if target is not None and address.origin == WebhookAddress(target).origin:
        raise UsageError(f"{source} leads to the target itself; a webhook is somewhere else")
    return address


def _report(given: str | None) -> str | None:
    text = given if given is not None else os.environ.get(REPORT_VARIABLE, "").strip() or None
    if text is not None and urlsplit(text).scheme not in ("http", "https"):
        raise UsageError(f"{REPORT_OPTION} is not a web address: '{text}'; give https://… or leave it out")
    return text
