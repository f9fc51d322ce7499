"""What passes the proxy, judged in a thread of its own, so that no answer waits for it, and kept in `traffic.har`."""

from __future__ import annotations

import queue
import threading
from collections import Counter
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import replace
from datetime import UTC, datetime
from importlib.metadata import version
from itertools import count
from pathlib import Path
from types import TracebackType
from typing import Final, Self

from registry_contracts.errors import SuiteError
from registry_contracts.exchanges.exchange import UNKNOWN_BODY, Exchange
from registry_contracts.exchanges.har import FILE_NAME, add, har_writer
from registry_contracts.exchanges.redaction import TrafficRedactor
from registry_contracts.manual import check
from registry_contracts.manual.check import CheckFacts
from registry_contracts.manual.traffic_findings import Feed, Seen, TrafficVerdict, verdict_of
from registry_contracts.manual.traffic_watch import Watch
from registry_contracts.safe_text import plain_line
from registry_contracts.session.session import secrets_of
from registry_contracts.settings.target import Target

#: Bytes of bodies that may wait to be judged; what comes on top is judged without its bodies.
_WAITING: Final = 24 * 1024 * 1024
_END: Final = None


class BackgroundJudge:
    """Takes exchanges from the path of the traffic, and judges them one after another.

    Args:
        watch: Judges; used by the thread only, until it is closed.
        show: Called for each exchange, without secrets, in the thread.
    """

    def __init__(self, watch: Watch, show: Callable[[Seen], None]) -> None:
        self._watch = watch
        self._show = show
        self._queue: queue.SimpleQueue[Exchange | None] = queue.SimpleQueue()
        self._lock = threading.Lock()
        self._waiting = 0
        self._judge = ThreadPoolExecutor(1, thread_name_prefix="judge")
        # Holds whatever ends the work before its time, so that traffic passes all the same, until `close` tells it.
        self._work_done = self._judge.submit(self._work)

    def hand_over(self, exchange: Exchange) -> None:
        """Have an exchange judged; returns at once. Nothing is kept any more once judging broke."""
        if self._work_done.done():
            return
        weight = _weight(exchange)
        with self._lock:
            if self._waiting + weight > _WAITING:
                exchange, weight = _without_bodies(exchange), 0
            self._waiting += weight
        self._queue.put(exchange)

    def close(self) -> None:
        """Judge what still waits, and end.

        Raises:
            SuiteError: judging broke.
        """
        self._queue.put(_END)
        self._judge.shutdown()
        broke = self._work_done.exception()
        if broke is not None:
            raise SuiteError(f"judging the traffic broke: {broke!r}") from broke

    def _work(self) -> None:
        for number in count(1):
            exchange = self._queue.get()
            if exchange is _END:
                return
            with self._lock:
                self._waiting -= _weight(exchange)
            # What passes and what is sent by hand is one list, in the order of the archive.
            self._show(self._watch.take(replace(exchange, number=number, id=f"entry {number}")))


def _weight(exchange: Exchange) -> int:
    response = exchange.response
    return len(exchange.request_body.content) + (len(response.content) if response else 0)


def _without_bodies(exchange: Exchange) -> Exchange:
    """The exchange with its bodies unknown, those that are empty aside."""
    response = exchange.response
    if response is not None and response.content:
        response = replace(response, body=UNKNOWN_BODY)
    body = UNKNOWN_BODY if exchange.request_body.content else exchange.request_body
    return replace(exchange, request_body=body, response=response)


_KIND: Final = "proxy"
#: How often the same is said while traffic passes.
_OFTEN: Final = 3
_PROGRAM: Final = "registry-contracts"


class TrafficRecorder:
    """Judges and keeps what passes, for as long as its `with` block lasts.

    Args:
        folder: Takes the archive and the report.
        alone: No other client writes to the target meanwhile.
        say: Takes a line for each finding as it comes.

    Attributes:
        feed: What passed lately.
    """

    def __init__(self, target: Target, folder: Path, *, alone: bool, say: Callable[[str], None]) -> None:
        self._target = target
        self._folder = folder
        self._alone = alone
        self._say = say
        self._started = datetime.now(UTC)
        redactor = TrafficRedactor(secrets_of(target))
        self._watch = Watch(redactor, alone=alone, settle_seconds=target.pace.settle_seconds)
        self._times_said: Counter[object] = Counter()
        self._open = ExitStack()
        self.feed = Feed()

    def __enter__(self) -> Self:
        """Begin the archive."""
        comment = f"through the proxy to {self._target.name}"
        writer = har_writer(self._folder / FILE_NAME, version(_PROGRAM), comment)
        self._archive = self._open.enter_context(writer)
        self._background = BackgroundJudge(self._watch, self._show)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Judge what still waits, and end the archive."""
        try:
            self._background.close()
        finally:
            self._open.close()

    def hand_over(self, exchange: Exchange) -> None:
        """Take an exchange; returns at once."""
        self._background.hand_over(exchange)

    def report(self) -> TrafficVerdict:
        """Write the report; after the `with` block.

        Raises:
            UsageError: it cannot be written.
        """
        verdict = verdict_of(self._watch.tally)
        facts = CheckFacts(
            kind=_KIND,
            source=None,
            target=self._target.name,
            base_url=self._target.base_url,
            started=self._started.isoformat(),
            finished=datetime.now(UTC).isoformat(),
            alone=self._alone,
        )
        check.write(self._watch.tally, verdict, facts, self._folder)
        return verdict

    @property
    def lines(self) -> list[str]:
        """What to say at the end."""
        tally = self._watch.tally
        return [*check.finding_lines(tally), "", *check.coverage_lines(tally, 0)]

    def _show(self, seen: Seen) -> None:
        self._keep(seen)
        self.feed.publish(seen)
        self._tell(seen)

    def _keep(self, seen: Seen) -> None:
        exchange = seen.exchange
        what = ", ".join(dict.fromkeys(finding.what for finding in seen.findings))
        parts = (exchange.id, exchange.operation or "no operation of the description", what)
        add(self._archive, exchange, "; ".join(part for part in parts if part))

    def _tell(self, seen: Seen) -> None:
        """Say what an exchange shows; the same of the same operation a few times only."""
        for finding in seen.findings:
            kind = (finding.side, finding.what, finding.fault, finding.operation, finding.realm)
            self._times_said[kind] += 1
            if self._times_said[kind] <= _OFTEN:
                more = "; more of it is counted in silence" if self._times_said[kind] == _OFTEN else ""
                self._say(check.one_line(finding) + more)
        if seen.exchange.response is None:
            why = plain_line(seen.exchange.fault or "")
            self._times_said[why] += 1
            if self._times_said[why] == 1:
                self._say(f"#{seen.number} no answer of the service: {why}")
