"""Judges the proxy's traffic in a thread of its own, so that no answer waits, and records it in `traffic.har`."""

from __future__ import annotations

import threading
from collections import Counter, deque
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import replace
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import Final, Self

from registry_contracts.errors import SuiteError
from registry_contracts.exchanges.exchange import UNKNOWN_BODY, Exchange
from registry_contracts.exchanges.har import FILE_NAME, add, har_writer
from registry_contracts.safe_text import plain_line
from registry_contracts.session.session import secrets_of
from registry_contracts.settings.target import Target
from registry_contracts.traffic.judge import Judge
from registry_contracts.traffic.redaction import TrafficRedactor
from registry_contracts.traffic.report import Judged, TrafficReport, fault_of, one_line

#: Limit of bytes of bodies that wait to be judged; beyond it, exchanges are judged without bodies.
_MOST_WAITING: Final = 24 * 1024 * 1024
#: Number of exchanges that the page can still show.
_MOST_KEPT: Final = 2000
#: How often the same finding is printed while traffic passes.
_OFTEN: Final = 3


class TrafficRecorder:
    """Judges and records traffic during its `with` block.

    Args:
        folder: Folder of the archive and the report.
        alone: Whether no other client writes to the target meanwhile.
        say: Takes a line for each finding as it comes, in the judging thread.

    Attributes:
        report: The results so far; only for the judging thread until the block ends.
    """

    def __init__(self, target: Target, folder: Path, *, alone: bool, say: Callable[[str], None]) -> None:
        self._target = target
        self._folder = folder
        self._say = say
        self.report = TrafficReport("proxy", target=target.name, base_url=target.base_url, alone=alone)
        self.report.started = datetime.now(UTC).isoformat()
        redactor = TrafficRedactor(secrets_of(target))
        self._judge = Judge(self.report, redactor, settle_seconds=target.pace.settle_seconds)
        self._times_said: Counter[object] = Counter()
        self._open = ExitStack()
        self._lock = threading.Lock()
        self._waiting = 0
        self._number = 0
        self._broke: BaseException | None = None
        self._last: deque[Judged] = deque(maxlen=_MOST_KEPT)

    def __enter__(self) -> Self:
        """Begin the archive."""
        comment = f"through the proxy to {self._target.name}"
        writer = har_writer(self._folder / FILE_NAME, version("registry-contracts"), comment)
        self._archive = self._open.enter_context(writer)
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="judge")
        return self

    def __exit__(self, *_: object) -> None:
        """Judge the waiting exchanges, and end the archive; raises `SuiteError` if judging broke."""
        with self._open:
            self._thread.shutdown()
        if self._broke is not None:
            raise SuiteError(f"judging the traffic broke: {self._broke!r}") from self._broke

    def hand_over(self, exchange: Exchange) -> None:
        """Queue an exchange to be judged. If judging broke, traffic still passes, but is not recorded."""
        if self._broke is not None:
            return
        with self._lock:
            if self._waiting + _weight(exchange) > _MOST_WAITING:
                exchange = _without_bodies(exchange)
            self._waiting += _weight(exchange)
        self._thread.submit(self._take, exchange)

    def since(self, number: int) -> list[Judged]:
        """Return the last exchanges after a number, in order; thread-safe."""
        with self._lock:
            return [judged for judged in self._last if judged.exchange.number > number]

    def end(self) -> None:
        """Write the report; after the `with` block. Raises `UsageError` if it cannot be written."""
        self.report.finished = datetime.now(UTC).isoformat()
        self.report.write(self._folder)

    def _take(self, exchange: Exchange) -> None:
        with self._lock:
            self._waiting -= _weight(exchange)
        if self._broke is not None:
            return
        # Numbers follow the order of the archive, in which exchanges end.
        self._number += 1
        try:
            judged = self._judge.take(replace(exchange, number=self._number, id=f"entry {self._number}"))
            self._keep(judged)
            self._tell(judged)
        except BaseException as error:  # noqa: BLE001 - traffic still passes, and the end of the block raises it
            self._broke = error

    def _keep(self, judged: Judged) -> None:
        exchange = judged.exchange
        what = ", ".join(dict.fromkeys(finding.clause for finding in judged.findings))
        parts = (exchange.id, exchange.operation or "no operation of the description", what)
        add(self._archive, exchange, "; ".join(part for part in parts if part))
        with self._lock:
            self._last.append(judged)

    def _tell(self, judged: Judged) -> None:
        """Print an exchange's findings; a repeated finding only a few times."""
        for finding in judged.findings:
            kind = finding.id, fault_of(finding)
            self._times_said[kind] += 1
            if self._times_said[kind] <= _OFTEN:
                more = "; further ones are only counted" if self._times_said[kind] == _OFTEN else ""
                self._say(one_line(finding) + more)
        if judged.exchange.response is None:
            why = plain_line(judged.exchange.fault or "")
            self._times_said[why] += 1
            if self._times_said[why] == 1:
                self._say(f"{judged.exchange.id}: no answer of the service: {why}")


def _weight(exchange: Exchange) -> int:
    response = exchange.response
    return len(exchange.request_body.content) + (len(response.content) if response else 0)


def _without_bodies(exchange: Exchange) -> Exchange:
    """Return the exchange with its bodies unknown, unless they are empty."""
    response = exchange.response
    if response is not None and response.content:
        response = replace(response, body=UNKNOWN_BODY)
    body = UNKNOWN_BODY if exchange.request_body.content else exchange.request_body
    return replace(exchange, request_body=body, response=response)
