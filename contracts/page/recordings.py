"""Recordings opened in the page: the exchanges of a case or a finding of a run, or those of a HAR."""

from __future__ import annotations

from collections import OrderedDict, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

from contracts.errors import UsageError
from contracts.evidence.findings import Finding, Standing
from contracts.evidence.record import RunRecord
from contracts.evidence.run_folder import BEGUN, collect
from contracts.evidence.verdicts import RunVerdict, judge
from contracts.exchanges.exchange import Exchange
from contracts.exchanges.har import read_har_text
from contracts.exchanges.redaction import TrafficRedactor
from contracts.interface.catalogue import load_catalogue
from contracts.manual import traffic_findings
from contracts.manual.traffic_findings import Feed, Seen, Side, TrafficFinding
from contracts.manual.traffic_watch import Watch, sites_without_credentials
from contracts.page.live import row_of
from contracts.session.ledger import RUN_FILE

#: Runs that are offered, and recordings that are kept open; the oldest go first.
_RUNS: Final = 50
_OPEN: Final = 20
_STANDING: Final = {
    Standing.FAIL: traffic_findings.Standing.FAULT,
    Standing.DEVIATION: traffic_findings.Standing.FAULT,
    Standing.ADVISORY: traffic_findings.Standing.ADVICE,
}
Json = dict[str, Any]


class Recordings:
    """What was opened in the page of late; reads files only, and sends nothing.

    Args:
        reports: Folder of the runs.
    """

    def __init__(self, reports: Path) -> None:
        self._reports = reports
        self._open: OrderedDict[int, Feed] = OrderedDict()
        self._run: tuple[str, RunRecord, RunVerdict] | None = None

    def runs(self) -> Json:
        """The runs of the reports folder, the latest first."""
        return {"runs": self._names()[:_RUNS]}

    def _names(self) -> list[str]:
        folders = (path.parent for path in self._reports.glob(f"*/{RUN_FILE}"))
        return sorted(
            (folder.name for folder in folders if BEGUN.match(folder.name) and not folder.is_symlink()),
            reverse=True,
        )

    def run(self, query: Mapping[str, Any]) -> Json:
        """The findings and cases of a run.

        Args:
            query: `run`, its name.

        Raises:
            UsageError: there is none of this name, or it cannot be read.
        """
        name, record, verdict = self._read(query)
        sent: dict[str, int] = defaultdict(int)
        for exchange in record.exchanges.values():
            sent[exchange.case] += 1
        return {
            "run": name,
            "verdict": verdict.sentence,
            "findings": [
                {
                    "id": cause.id,
                    "says": cause.headline,
                    "place": cause.place,
                    "clause": cause.lead.clause,
                    "standing": str(cause.lead.standing),
                }
                for cause in verdict.causes
            ],
            "cases": [
                {
                    "id": case.id,
                    "name": case.name,
                    "realm": case.realm,
                    "outcome": str(case.outcome),
                    "clauses": list(case.clauses),
                    "operations": list(case.operations),
                    "exchanges": sent[case.id],
                }
                for case in record.cases
                if sent[case.id]
            ],
        }

    def exchanges(self, query: Mapping[str, Any]) -> Json:
        """Open the exchanges of a case or a finding of a run, in the order they were sent.

        Args:
            query: `run`, and the id of a `case` or of a `finding`.

        Raises:
            UsageError: there is none.
        """
        name, record, verdict = self._read(query)
        findings = [finding for cause in verdict.causes for finding in cause.all_findings]
        finding_id = str(query.get("finding") or "")
        chosen = next((finding for finding in findings if finding.id == finding_id), None)
        if chosen is not None:
            # What the case did before belongs to it: a finding that takes several requests starts there.
            shown = [record.exchanges[key] for key in chosen.exchanges if key in record.exchanges]
            return self._opened(f"{chosen.clause} in {chosen.realm}, {name}", _seen(shown, findings))
        shown = list(record.exchanges_of(str(query.get("case") or "")))
        if not shown:
            raise UsageError(f"{name} holds no exchange of this case or finding; open the run again")
        return self._opened(f"{_short(shown[0].case)}, {name}", _seen(shown, findings))

    def har(self, query: Mapping[str, Any]) -> Json:
        """Open a HAR, and judge what it holds.

        Args:
            query: `name` and `text`.

        Raises:
            UsageError: it is none; one line.
        """
        name = str(query.get("name") or "the HAR")
        archive = read_har_text(str(query.get("text") or ""), name)
        watch = Watch(TrafficRedactor(), without_credentials=sites_without_credentials(archive.exchanges))
        numbered = (replace(each, number=number) for number, each in enumerate(archive.exchanges, 1))
        return self._opened(name, [watch.take(each) for each in numbered])

    def feed(self, opened: object) -> Feed:
        """The exchanges of a recording.

        Raises:
            UsageError: it is not open any more.
        """
        feed = self._open.get(int(opened)) if str(opened).isdigit() else None  # type: ignore[call-overload]
        if feed is None:
            raise UsageError("this recording is not open any more; open it again")
        return feed

    def _read(self, query: Mapping[str, Any]) -> tuple[str, RunRecord, RunVerdict]:
        name = str(query.get("run") or "")
        if self._run is None or self._run[0] != name:
            if name not in self._names():
                raise UsageError(f"no run '{name}' in '{self._reports}'")
            record = collect(self._reports / name)
            self._run = name, record, judge(record, list(load_catalogue()))
        return self._run

    def _opened(self, title: str, seen: Sequence[Seen]) -> Json:
        number = next(reversed(self._open), 0) + 1
        feed = self._open[number] = Feed(len(seen))
        for each in seen:
            feed.publish(each)
        if len(self._open) > _OPEN:
            self._open.popitem(last=False)
        return {"opened": number, "title": title, "rows": [row_of(each) for each in seen]}


def _short(case: str) -> str:
    return case.rpartition("::")[2]


def _seen(exchanges: Iterable[Exchange], findings: Sequence[Finding]) -> list[Seen]:
    """Recorded exchanges as the list shows them, each with the findings that cite it."""
    return [
        Seen(
            replace(exchange, number=number),
            tuple(_found(finding, number) for finding in findings if exchange.id in finding.exchanges),
        )
        for number, exchange in enumerate(exchanges, 1)
    ]


def _found(finding: Finding, number: int) -> TrafficFinding:
    catalogue = load_catalogue()
    in_catalogue = finding.clause in catalogue
    return TrafficFinding(
        side=Side.ANSWER,
        standing=_STANDING.get(finding.standing, traffic_findings.Standing.REMARK),
        clause=finding.clause,
        level=str(catalogue.clause(finding.clause).level) if in_catalogue else None,
        fault=None,
        operation=finding.operation or "",
        realm=finding.realm,
        expected=finding.expected,
        seen=finding.seen,
        entry=number,
    )
