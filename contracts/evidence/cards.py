"""The findings as the page shows them: one card each, within a budget of text that keeps the page small."""

from collections.abc import Iterator
from dataclasses import dataclass

from contracts.evidence.contradictions import Finding
from contracts.evidence.findings import SAYS, shown_exchanges
from contracts.evidence.record import RecordedExchange, RunRecord
from contracts.evidence.transcript import heading, request_text, response_text
from contracts.evidence.verdicts import RunVerdict
from contracts.interface.clauses import Clause

CARDS_AT_MOST = 200
_EXCHANGES_AT_MOST = 8
_BODY_CHARACTERS = 4_000
_CURL_CHARACTERS = 6_000
# All exchanges of the page together; escaping can make up to five characters of one.
_BUDGET = 350_000


@dataclass(frozen=True, slots=True)
class ShownExchange:
    """An exchange as text, cut to what a person reads."""

    heading: str
    request: str
    response: str

    @property
    def size(self) -> int:
        """Characters that the exchange takes on the page."""
        return len(self.request) + len(self.response)


@dataclass(frozen=True, slots=True)
class Card:
    """A finding with what the page says of it.

    `blocks` counts the cases it stood in the way of; `hidden` the exchanges that are only in the finding's own
    file; `curl` is None when it is too long to be read.
    """

    finding: Finding
    clause: Clause | None
    says: str
    case_names: tuple[str, ...]
    blocks: int
    exchanges: tuple[ShownExchange, ...]
    hidden: int
    curl: str | None


def cards(record: RunRecord, verdict: RunVerdict) -> Iterator[Card]:
    """Yield the cards of the findings, worst first; past the budget they come without exchanges."""
    clauses = {cell.clause.id: cell.clause for cell in verdict.cells}
    names = {case.id: case.name for case in record.cases}
    blocking = list(verdict.blocked.values())
    left = _BUDGET
    for finding in verdict.findings[:CARDS_AT_MOST]:
        shown = tuple(map(_shown, shown_exchanges(record, finding)[-_EXCHANGES_AT_MOST:]))
        size = sum(exchange.size for exchange in shown)
        shown, left = (shown, left - size) if size <= left else ((), left)
        curl = "\n".join(finding.curl)
        yield Card(
            finding=finding,
            clause=clauses.get(finding.clause),
            says=SAYS[finding.standing],
            case_names=tuple(dict.fromkeys(names.get(case, case) for case in finding.cases)),
            blocks=blocking.count(finding.id),
            exchanges=shown,
            hidden=len(finding.exchanges) - len(shown),
            curl=curl if len(curl) <= _CURL_CHARACTERS else None,
        )


def _shown(exchange: RecordedExchange) -> ShownExchange:
    return ShownExchange(
        heading=heading(exchange),
        request=request_text(exchange, _BODY_CHARACTERS),
        response=response_text(exchange, _BODY_CHARACTERS),
    )
