"""Judges what passes in a thread of its own, so that no answer ever waits for it.

Keeps what passed through the proxy: `traffic.har` while it passes, and the report at the end.
"""

from __future__ import annotations

import queue
import threading
from collections import Counter
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from types import TracebackType
from typing import Final, Self

from harfile import Creator, HarFile

from contracts.errors import SuiteError
from contracts.evidence.record import RecordedExchange
from contracts.exchanges.traffic_exchange import UNKNOWN, Passed
from contracts.manual import check_report
from contracts.manual.check_report import Occasion
from contracts.manual.traffic_findings import Feed, Seen
from contracts.manual.traffic_redaction import Discretion
from contracts.manual.traffic_summary import TrafficVerdict, verdict_of
from contracts.manual.traffic_watch import Watch
from contracts.reports import har
from contracts.safe_text import plain_line
from contracts.session.session import redactor_of
from contracts.settings.target import Target

#: Bytes of bodies that may wait to be judged; what comes on top is judged without its bodies.
_WAITING: Final = 24 * 1024 * 1024
_END: Final = None


class Beside:
    """Takes exchanges from the path of the traffic, and judges them one after another.

    Args:
        watch: Judges; used by the thread only, until it is closed.
        feed: Is told of each exchange.
        keep: Called for each exchange, without secrets, in the thread.
        say: Called for each exchange after that, in the thread.
    """

    def __init__(
        self,
        watch: Watch,
        feed: Feed,
        keep: Callable[[RecordedExchange, Seen], None],
        say: Callable[[Seen], None],
    ) -> None:
        self._watch = watch
        self._feed = feed
        self._keep = keep
        self._say = say
        self._queue: queue.SimpleQueue[Passed | None] = queue.SimpleQueue()
        self._lock = threading.Lock()
        self._waiting = 0
        self._judge = ThreadPoolExecutor(1, thread_name_prefix="judge")
        # Holds whatever ends the work before its time, so that traffic passes all the same, until `close` tells it.
        self._work_done = self._judge.submit(self._work)

    def hand_over(self, passed: Passed) -> None:
        """Have an exchange judged; returns at once. Nothing is kept any more once judging broke."""
        if self._work_done.done():
            return
        weight = _weight(passed)
        with self._lock:
            if self._waiting + weight > _WAITING:
                passed = replace(
                    passed,
                    request_body=UNKNOWN if passed.request_body.content else passed.request_body,
                    answer_body=UNKNOWN if passed.answer_body.content else passed.answer_body,
                )
                weight = 0
            self._waiting += weight
        self._queue.put(passed)

    def close(self) -> None:
        """Judge what still waits, and end.

        Raises:
            SuiteError: judging broke.
        """
        self._queue.put(_END)
        self._judge.shutdown()
        self._feed.close()
        broke = self._work_done.exception()
        if broke is not None:
            raise SuiteError(f"judging the traffic broke: {broke!r}") from broke

    def _work(self) -> None:
        while (passed := self._queue.get()) is not _END:
            with self._lock:
                self._waiting -= _weight(passed)
            seen, recorded = self._watch.take(passed)
            self._keep(recorded, seen)
            self._feed.publish(seen)
            self._say(seen)


def _weight(passed: Passed) -> int:
    return len(passed.request_body.content) + len(passed.answer_body.content)


_KIND: Final = "proxy"
#: How often the same is said while traffic passes.
_OFTEN: Final = 3
_PROGRAM: Final = "registry-contracts"


class Keeper:
    """Judges and keeps what passes, for as long as its `with` block lasts.

    Args:
        folder: Takes the archive and the report.
        alone: Nobody else writes to the target meanwhile.
        say: Takes a line for each finding as it comes.

    Attributes:
        feed: What passed lately.
    """

    def __init__(
        self, target: Target, folder: Path, *, alone: bool, strict_client: bool, say: Callable[[str], None]
    ) -> None:
        self._target = target
        self._folder = folder
        self._alone = alone
        self._strict = strict_client
        self._say = say
        self._started = datetime.now(UTC)
        redactor = redactor_of(target)
        self._watch = Watch(Discretion(redactor), alone=alone, strict_client=strict_client)
        self._told: Counter[object] = Counter()
        self.feed = Feed()

    def __enter__(self) -> Self:
        """Begin the archive."""
        self._file = (self._folder / har.FILE_NAME).open("w", encoding="utf-8", newline="\n")
        comment = f"through the proxy to {self._target.name}"
        self._archive = HarFile.open(
            self._file, creator=Creator(name=_PROGRAM, version=version(_PROGRAM)), comment=comment
        )
        self._beside = Beside(self._watch, self.feed, self._keep, self._tell)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Judge what still waits, and end the archive."""
        try:
            self._beside.close()
        finally:
            self._archive.close()
            self._file.close()

    def hand_over(self, passed: Passed) -> None:
        """Take an exchange; returns at once."""
        self._beside.hand_over(passed)

    def report(self) -> TrafficVerdict:
        """Write the report; after the `with` block.

        Raises:
            UsageError: it cannot be written.
        """
        verdict = verdict_of(self._watch.tally)
        occasion = Occasion(
            kind=_KIND,
            source=None,
            target=self._target.name,
            base_url=self._target.base_url,
            started=self._started.isoformat(),
            finished=datetime.now(UTC).isoformat(),
            alone=self._alone,
            strict_client=self._strict,
        )
        check_report.write(self._watch.tally, verdict, occasion, self._folder)
        return verdict

    @property
    def lines(self) -> list[str]:
        """What to say at the end."""
        tally = self._watch.tally
        return [*check_report.finding_lines(tally), "", *check_report.coverage_lines(tally, 0)]

    def _keep(self, recorded: RecordedExchange, seen: Seen) -> None:
        found = ", ".join(dict.fromkeys(each.what for each in seen.findings))
        parts = (recorded.id, recorded.operation or "no operation of the description", found)
        har.add(self._archive, recorded, "; ".join(part for part in parts if part))

    def _tell(self, seen: Seen) -> None:
        """Say what an exchange shows; the same of the same operation a few times only."""
        for finding in seen.findings:
            kind = (finding.side, finding.what, finding.fault, finding.operation, finding.realm)
            self._told[kind] += 1
            if self._told[kind] <= _OFTEN:
                more = "; more of it is counted in silence" if self._told[kind] == _OFTEN else ""
                self._say(check_report.one_line(finding) + more)
        if not seen.status:
            why = plain_line(str(seen.exchange["response"]["statusText"]))
            self._told[why] += 1
            if self._told[why] == 1:
                self._say(f"#{seen.number} no answer of the service: {why}")
