"""The findings as the page shows them: one card each, within a budget of text that keeps the page small."""

from collections.abc import Iterator
from dataclasses import dataclass

from contracts.evidence.contradictions import Finding
from contracts.evidence.findings import SAYS, shown_exchanges
from contracts.evidence.limits import Limits
from contracts.evidence.record import RecordedExchange, RunRecord
from contracts.evidence.transcript import heading, request_text, response_text
from contracts.evidence.verdicts import RunVerdict
from contracts.history.past import Past
from contracts.interface.clauses import Clause

_EXCHANGES_AT_MOST = 8
_BODY_CHARACTERS = 4_000


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
    file; `curl` is None when it is too long to be read. `since` says since when the clause is contradicted, empty
    without a history; `new`: earlier runs judged it, and it was not red in the last.
    """

    finding: Finding
    clause: Clause | None
    says: str
    case_names: tuple[str, ...]
    blocks: int
    exchanges: tuple[ShownExchange, ...]
    hidden: int
    curl: str | None
    since: str
    new: bool


def cards(record: RunRecord, verdict: RunVerdict, past: Past, limits: Limits) -> Iterator[Card]:
    """Yield the cards of the findings, worst first; past the budget they come without exchanges."""
    clauses = {cell.clause.id: cell.clause for cell in verdict.cells}
    names = {case.id: case.name for case in record.cases}
    blocking = list(verdict.blocked.values())
    left = limits.budget
    for finding in verdict.findings[: limits.cards]:
        shown = tuple(map(_shown, shown_exchanges(record, finding)[-_EXCHANGES_AT_MOST:]))
        size = sum(exchange.size for exchange in shown)
        shown, left = (shown, left - size) if size <= left else ((), left)
        curl = "\n".join(finding.curl)
        known = past.since(finding.clause, finding.realm)
        yield Card(
            finding=finding,
            clause=clauses.get(finding.clause),
            says=SAYS[finding.standing],
            case_names=tuple(dict.fromkeys(names.get(case, case) for case in finding.cases)),
            blocks=blocking.count(finding.id),
            exchanges=shown,
            hidden=len(finding.exchanges) - len(shown),
            curl=curl if len(curl) <= limits.curl else None,
            since=past.tells(finding.clause, finding.realm),
            new=bool(known.runs) and known.red_since is None,
        )


def _shown(exchange: RecordedExchange) -> ShownExchange:
    return ShownExchange(
        heading=heading(exchange),
        request=request_text(exchange, _BODY_CHARACTERS),
        response=response_text(exchange, _BODY_CHARACTERS),
    )
