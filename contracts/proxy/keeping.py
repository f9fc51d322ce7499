"""Keeps what passed through the proxy: `traffic.har` while it passes, and the report at the end."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from types import TracebackType
from typing import Final, Self

from harfile import Creator, HarFile

from contracts.evidence import har
from contracts.evidence.plain import plain_line
from contracts.evidence.record import RecordedExchange
from contracts.proxy.beside import Beside
from contracts.session.redaction import Redactor
from contracts.target.model import Target
from contracts.traffic import reporting, telling
from contracts.traffic.check_json import Occasion
from contracts.traffic.discretion import Discretion
from contracts.traffic.feed import Feed, Seen
from contracts.traffic.passed import Passed
from contracts.traffic.verdict import TrafficVerdict, verdict_of
from contracts.traffic.watching import Watch

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
        redactor = Redactor(account.password.reveal() for account in target.accounts.values())
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
        reporting.write(self._watch.tally, verdict, occasion, self._folder)
        return verdict

    @property
    def lines(self) -> list[str]:
        """What to say at the end."""
        tally = self._watch.tally
        return [*telling.finding_lines(tally), "", *telling.coverage_lines(tally, 0)]

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
                self._say(telling.one_line(finding) + more)
        if not seen.status:
            why = plain_line(str(seen.exchange["response"]["statusText"]))
            self._told[why] += 1
            if self._told[why] == 1:
                self._say(f"#{seen.number} no answer of the service: {why}")
