"""`index.html`: a page with verdict, findings, unjudged clauses, clauses by realm, and trends."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from functools import partial
from itertools import groupby
from pathlib import Path
from typing import Any, Final

from registry_contracts.evidence.causes import Cause
from registry_contracts.evidence.cells import Cell, counts_for
from registry_contracts.evidence.findings import Finding
from registry_contracts.evidence.record import Case, RunRecord, Verdict
from registry_contracts.evidence.verdicts import RunVerdict
from registry_contracts.exchanges.exchange import Exchange
from registry_contracts.exchanges.transcript import heading, request_text, response_text
from registry_contracts.history.drift import shown
from registry_contracts.history.observed_facts import facts_of
from registry_contracts.history.runs import Past, PastRun, read_past
from registry_contracts.interface.operations import ANY_REALM
from registry_contracts.reports.cards import Card, cards_of
from registry_contracts.reports.pages import Limits, html_template, inlined, within_limits
from registry_contracts.reports.summary import counts_per_realm, deviation_groups, statuses, untested_groups
from registry_contracts.reports.verdict_json import coverage_of_run

FILE_NAME: Final = "index.html"
_PAGE: Final = "report.html.j2"
_CASES_AT_MOST: Final = 6
_POINTS_AT_MOST: Final = 6
_EXCHANGES_AT_MOST: Final = 8
_BODY_CHARACTERS: Final = 4_000
_FLAKY_AT_MOST: Final = 30
#: The meaning of each verdict on a clause in a realm.
MEANINGS: Final[Mapping[Verdict, str]] = {
    Verdict.FAIL: "a must of the document is contradicted, confirmed on fresh data",
    Verdict.ERROR: "the suite itself broke",
    Verdict.INCONCLUSIVE: "the environment or a finding prevented a verdict",
    Verdict.ADVISORY: "a reasonable reading of the document is contradicted",
    Verdict.DEVIATION: "contradicted, known and accepted until a day",
    Verdict.UNTESTED: "out of the profile, a setting is missing, or no request could show it",
    Verdict.OBSERVED: "the document is silent; what was seen is noted",
    Verdict.PASS: "an assertion was reached, and held",
}
#: Verdict of a run → the verdict of a clause with the same mark and colour.
KINDS: Final[Mapping[str, str]] = {
    **{str(verdict): str(verdict) for verdict in Verdict},
    "interrupted": "inconclusive",
    "nothing tested": "untested",
    "usage": "inconclusive",
}


def write(record: RunRecord, verdict: RunVerdict, folder: Path) -> None:
    """Write `index.html`.

    Raises:
        UsageError: the folder's file of earlier runs is damaged.
    """
    (folder / FILE_NAME).write_text(render(record, verdict, read_past(folder)), "utf-8", newline="\n")


def render(record: RunRecord, verdict: RunVerdict, past: Past) -> str:
    """Return the page: texts from outside are escaped, and only the page's own script may run."""
    cards = list(cards_of(record, verdict))
    content: dict[str, Any] = {
        "record": record,
        "run": record.run,
        "verdict": verdict,
        "verdicts": list(Verdict),
        "kinds": KINDS,
        "statuses": statuses(record, verdict),
        "realms": _realms(record, verdict),
        "meanings": MEANINGS,
        "deviations": deviation_groups(verdict),
        "runs": _runs(record, verdict, past),
        "flaky": _flaky(past),
        "broken": [case for case in record.cases if case.outcome is Verdict.ERROR],
        "untested": untested_groups(verdict.cells),
        "cases_at_most": _CASES_AT_MOST,
        "heading": heading,
        "since": partial(_since, past),
        "new": partial(_new, past),
        "families": _families(verdict),
        "facts": _facts(record),
        "cases_of": partial(_cases, {case.id: case for case in record.cases}),
        "count": lambda rows: Counter(cell.verdict for cells in rows for cell in cells.values()),
        "points_at_most": _POINTS_AT_MOST,
        "operations": sorted({name for clause in verdict.clauses.values() for name in clause.operations}),
        "totals": Counter(cell.verdict for cell in verdict.cells),
        "levels": Counter(str(clause.level) for clause in verdict.clauses.values()),
        "per_realm": counts_per_realm(verdict.cells),
        "judged": any(cell.assertions for cell in verdict.cells),
        "coverage": coverage_of_run(record),
        **inlined(f":root {{ --realms: {len(_realms(record, verdict))}; --cell: 106px; }}\n"),
    }

    def page(limits: Limits) -> str:
        on_it = cards[: limits.cards]
        carded = {finding.id for card in on_it for finding in card.cause.all_findings}
        template = html_template(_PAGE, limits)
        texts = _exchanges(on_it, limits.budget)
        return template.render(**content, limits=limits, cards=on_it, texts=texts, carded=carded)

    return within_limits(page)


def _realms(record: RunRecord, verdict: RunVerdict) -> list[str]:
    """The columns of the grid: the run's realms, then `any` for clauses that are judged once for all realms."""
    seen = {cell.realm for cell in verdict.cells}
    order = [*record.run.realms, ANY_REALM]
    return [realm for realm in order if realm in seen] + sorted(seen - set(order))


def _families(verdict: RunVerdict) -> Mapping[str, list[dict[str, Cell]]]:
    """The rows of the grid by clause family, in the catalogue's order; each holds a clause's cells by realm."""
    families: dict[str, list[dict[str, Cell]]] = defaultdict(list)
    for _, group in groupby(verdict.cells, key=lambda cell: cell.clause.id):
        cells = {cell.realm: cell for cell in group}
        families[next(iter(cells.values())).clause.family].append(cells)
    return families


def _facts(record: RunRecord) -> defaultdict[tuple[str, str], list[str]]:
    """What was observed at silent points, as text, by clause and realm; empty for a pair without any."""
    facts = defaultdict[tuple[str, str], list[str]](list)
    for place, values in facts_of(record.observations).items():
        facts[place.clause, place.realm] += [
            f"{place.operation} {point}: {shown(value)}" for point, value in values.items()
        ]
    return facts


def _cases(by_id: Mapping[str, Case], cell: Cell) -> list[Case]:
    """The cases of a cell; those that list the clause come first, since universal checks run in nearly every case."""
    listed, clause = [by_id[case] for case in cell.cases], cell.clause.id
    return sorted(
        listed,
        key=lambda case: (
            clause not in case.clauses,
            case.outcome.rank,
            -counts_for(clause, case).contradicted,
        ),
    )


def _exchanges(cards: Iterable[Card], budget: int) -> dict[str, list[tuple[Exchange, str, str]]]:
    """The exchanges of cards by cause, with request and response as text; cards beyond the budget get none."""
    fitting, most = {}, _BODY_CHARACTERS
    for card in cards:
        marks, around = card.cause.marks, (*card.before, *card.shown[-_EXCHANGES_AT_MOST:])
        texts = [(each, request_text(each, most), response_text(each, most, marks)) for each in around]
        size = sum(len(request) + len(response) for _, request, response in texts)
        if size <= budget:
            budget -= size
            fitting[card.cause.id] = texts
    return fitting


def _since(past: Past, cause: Cause[Finding]) -> str:
    """Since when a clause is contradicted, as text; empty without a history."""
    words = {past.describe(finding.clause, finding.realm): finding.realm for finding in cause.findings}
    return "; ".join(f"{realm}: {text}" if words.keys() - {text} else text for text, realm in words.items())


def _new(past: Past, cause: Cause[Finding]) -> bool:
    """Whether earlier runs judged the clauses, and the last of them was not red."""
    histories = [past.of(finding.clause, finding.realm) for finding in cause.findings]
    return all(history.runs and history.red_since is None for history in histories)


def _runs(record: RunRecord, verdict: RunVerdict, past: Past) -> list[PastRun]:
    """This run and the earlier ones of its series, the latest first; empty without earlier ones."""
    run = record.run
    counts = {str(kind): number for kind in Verdict if (number := verdict.count(kind))}
    requests, seconds = run.environment.requests, run.seconds or 0.0
    now = PastRun("this run", run.started, run.profile, verdict.word, requests, seconds, counts)
    return [now, *reversed(past.runs)] if past.runs else []


def _flaky(past: Past) -> list[tuple[str, str, int]]:
    """Flaky clauses of earlier runs, with realm and number of flips."""
    places = [
        (clause, realm, trend.flips)
        for clause, realms in past.cells.items()
        for realm, trend in realms.items()
        if trend.flaky
    ]
    return sorted(places, key=lambda place: (-place[2], *place[:2]))[:_FLAKY_AT_MOST]
