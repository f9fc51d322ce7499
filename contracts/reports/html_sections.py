"""HTML pages of reports: what all share, and the sections of `index.html` as data.

Each page is one file without network requests, with all text escaped and limits on its size. The sections are the grid,
the consumer's methods, silent points, findings and trends.
"""

from __future__ import annotations

import base64
import hashlib
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib.resources import files
from itertools import groupby
from typing import Any, Final

from jinja2 import Environment, FunctionLoader, StrictUndefined
from markupsafe import Markup

from contracts.evidence.causes import Cause
from contracts.evidence.findings import Cell, Finding, Standing, counts_for
from contracts.evidence.record import Case, RunRecord, Verdict
from contracts.evidence.terms import Consumer
from contracts.evidence.verdicts import RunVerdict, counting
from contracts.exchanges.exchange import Exchange
from contracts.exchanges.transcript import heading, request_text, response_text
from contracts.history.drift import shown
from contracts.history.observed_facts import SEEN, Change, read_facts
from contracts.history.runs import Past, PastRun
from contracts.interface.catalogue import Clause
from contracts.interface.operations import ANY_REALM
from contracts.reports.finding_files import STANDING_SENTENCES, commands_of, earlier_writes, shown_exchanges
from contracts.reports.shell_commands import NextCommand
from contracts.safe_text import cut, many, printable


def template_environment(package: str) -> Environment:
    """Make an environment for the templates of a package; texts are escaped, and made printable.

    Args:
        package: Its folder `templates` holds them.
    """
    environment = Environment(
        autoescape=True,
        loader=FunctionLoader(lambda name: template_text(package, name)),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        finalize=_finalize,
    )
    environment.filters["many"] = many
    environment.filters["clock"] = lambda moment: moment.replace("T", " ").partition(".")[0].partition("+")[0]
    return environment


def template_text(package: str, name: str) -> str:
    """Read a file beside a package's templates."""
    return files(package).joinpath(f"templates/{name}").read_text("utf-8")


def inlined(style: str, script: str) -> dict[str, str]:
    """Return what a page needs to hold its own style and script, and to allow no others.

    Returns:
        `style` and `script` as they stand in the page, `style_hash` and `script_hash` for its policy.
    """
    return {
        "style": Markup(style),  # noqa: S704 - the page's own style
        "script": Markup(script),  # noqa: S704 - the page's own script
        "style_hash": _hash(style),
        "script_hash": _hash(script),
    }


def _finalize(value: Any) -> Any:
    return printable(value) if isinstance(value, str) and not isinstance(value, Markup) else value


def _hash(text: str) -> str:
    return f"sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}"


#: Bytes that a page may have.
LARGEST: Final = 3_000_000
#: No text is cut below this, so that it can still be told from others.
_SHORTEST: Final = 24


@dataclass(frozen=True, slots=True)
class Limits:
    """Limits of one try.

    Attributes:
        lines: rows of one table.
        points: facts of one row, and lines of evidence of one question.
        cards: findings.
        budget: characters of all exchanges together; escaping can make up to five bytes of one.
        curl: characters of the curl lines of one finding.
        share: of the length that a text is cut at elsewhere, 0 to 1.
    """

    lines: int
    points: int
    cards: int
    budget: int
    curl: int
    share: float

    def cut(self, text: str, length: int) -> str:
        """Return a text, cut at its share of `length` characters."""
        return cut(text, max(_SHORTEST, round(length * self.share)))


#: What is tried in turn; the last fits any number of findings.
TRIES: Final = (
    Limits(lines=400, points=12, cards=200, budget=350_000, curl=6_000, share=1.0),
    Limits(lines=120, points=4, cards=60, budget=80_000, curl=1_500, share=0.4),
    Limits(lines=30, points=2, cards=20, budget=20_000, curl=300, share=0.1),
)


@dataclass(frozen=True, slots=True)
class CaseLine:
    """A case as a cell of the grid names it; `blocked` is the id of the finding that stood in its way."""

    case: Case
    held: int
    contradicted: int
    blocked: str | None


@dataclass(frozen=True, slots=True)
class Row:
    """One clause with its cells by realm and the cases behind each."""

    clause: Clause
    cells: Mapping[str, Cell]
    cases: Mapping[str, tuple[CaseLine, ...]]


@dataclass(frozen=True, slots=True)
class Family:
    """The rows of one clause family and how many cells have which verdict."""

    name: str
    rows: tuple[Row, ...]
    counts: Counter[Verdict]


def clauses_of(verdict: RunVerdict) -> dict[str, Clause]:
    """Return the clauses that the verdict speaks of, by id."""
    return {cell.clause.id: cell.clause for cell in verdict.cells}


def realms_of(record: RunRecord, verdict: RunVerdict) -> list[str]:
    """Return the columns of the grid: the run's realms, then `any` when a clause is judged once for all."""
    seen = {cell.realm for cell in verdict.cells}
    order = [*record.run.realms, ANY_REALM]
    return [realm for realm in order if realm in seen] + sorted(seen - set(order))


def families(record: RunRecord, verdict: RunVerdict) -> list[Family]:
    """Return the rows of the grid by clause family, in the catalogue's order."""
    by_id = {case.id: case for case in record.cases}
    rows: dict[str, list[Row]] = {}
    for _, group in groupby(verdict.cells, key=lambda cell: cell.clause.id):
        cells = list(group)
        row = Row(
            clause=cells[0].clause,
            cells={cell.realm: cell for cell in cells},
            cases={cell.realm: _case_lines(cell, by_id, verdict) for cell in cells},
        )
        rows.setdefault(cells[0].clause.family, []).append(row)
    return [Family(name, tuple(members), _count(members)) for name, members in rows.items()]


def _count(rows: Iterable[Row]) -> Counter[Verdict]:
    return Counter(cell.verdict for row in rows for cell in row.cells.values())


def _case_lines(cell: Cell, by_id: Mapping[str, Case], verdict: RunVerdict) -> tuple[CaseLine, ...]:
    cases = sorted((by_id[case] for case in cell.cases), key=lambda case: case.outcome.rank)
    # A universal check is reached by nearly every case: those that list the clause come first.
    cases.sort(key=lambda case: cell.clause.id not in case.clauses)
    lines = []
    for case in cases:
        count = counts_for(cell.clause.id, case)
        lines.append(CaseLine(case, count.held, count.contradicted, verdict.blocked.get(case.id)))
    return tuple(lines)


_TOUCHING = frozenset({Standing.FAIL, Standing.ADVISORY, Standing.DEVIATION, Standing.UNCONFIRMED})


@dataclass(frozen=True, slots=True)
class Use:
    """One method of the SDK, or an operation that no method is named for.

    `findings` are those on its operations that count; `unjudged` counts the clauses on them that could not be judged.
    """

    name: str
    operations: tuple[str, ...]
    findings: tuple[Finding, ...]
    unjudged: int

    @property
    def verdict(self) -> Verdict:
        """The worst that was said of it."""
        standings = {finding.standing for finding in self.findings}
        for standing, verdict in _VERDICTS.items():
            if standing in standings:
                return verdict
        return Verdict.INCONCLUSIVE if self.unjudged else Verdict.PASS


_VERDICTS: Mapping[Standing, Verdict] = {
    Standing.FAIL: Verdict.FAIL,
    Standing.ADVISORY: Verdict.ADVISORY,
    Standing.DEVIATION: Verdict.DEVIATION,
}


@dataclass(frozen=True, slots=True)
class Scope:
    """What counts for the consumer: `inside` and `clauses` count clauses, `outside` are findings by cause."""

    consumer: Consumer
    uses: tuple[Use, ...]
    inside: int
    clauses: int
    outside: tuple[Cause, ...]


def scope(record: RunRecord, verdict: RunVerdict) -> Scope | None:
    """Return what counts for the run's consumer, or None when the run had none."""
    consumer = record.run.terms.consumer
    if consumer is None:
        return None
    cells = counting(record, verdict.cells)
    named = {name for called in consumer.methods.values() for name in called}
    methods = {**consumer.methods, **{name: (name,) for name in consumer.operations if name not in named}}
    return Scope(
        consumer=consumer,
        uses=tuple(_use(name, called, verdict, cells) for name, called in methods.items()),
        inside=len({cell.clause.id for cell in cells}),
        clauses=len({cell.clause.id for cell in verdict.cells}),
        outside=tuple(cause for cause in verdict.causes if not cause.lead.counted),
    )


def _use(name: str, operations: tuple[str, ...], verdict: RunVerdict, cells: list[Cell]) -> Use:
    touching = tuple(
        finding
        for finding in verdict.findings
        if finding.counted and finding.standing in _TOUCHING and finding.operation in {None, *operations}
    )
    stuck = {
        cell.clause.id
        for cell in cells
        if cell.verdict is Verdict.INCONCLUSIVE and set(cell.clause.operations) & set(operations)
    }
    return Use(name, operations, touching, len(stuck))


Seen = Mapping[str, Any]
"""The content of `observations.json` (see `observations.build`)."""


@dataclass(frozen=True, slots=True)
class RealmGroup:
    """Realms that gave the same value at a point; `value` is in words."""

    realms: tuple[str, ...]
    value: str


@dataclass(frozen=True, slots=True)
class Point:
    """One fact of an operation; `name` is empty where the fact has none of its own."""

    name: str
    agreed: tuple[RealmGroup, ...]

    @property
    def differs(self) -> bool:
        """Whether realms do not agree."""
        return len(self.agreed) > 1


@dataclass(frozen=True, slots=True)
class ObservedOperation:
    """All that was seen of one clause on one operation; `clause` is None when the catalogue does not know it."""

    id: str
    clause: Clause | None
    operation: str
    realms: tuple[str, ...]
    points: tuple[Point, ...]


def observed_points(
    seen: Seen, clauses: Mapping[str, Clause], realms: Sequence[str]
) -> list[ObservedOperation]:
    """Return what was seen, a sight for each clause and operation, in the catalogue's order.

    Args:
        clauses: those of the run by id, in the catalogue's order.
        realms: in the order to show them in.
    """
    values_of: dict[tuple[str, str], dict[str, dict[str, str]]] = defaultdict(lambda: defaultdict(dict))
    for place, facts in read_facts(seen).items():
        for name, value in facts.items():
            values_of[place.clause, place.operation][_name(name)][place.realm] = shown(value) or ""
    order = {name: rank for rank, name in enumerate(clauses)}
    lines = [
        ObservedOperation(
            id=clause,
            clause=clauses.get(clause),
            operation=operation,
            realms=_sorted({realm for values in points.values() for realm in values}, realms),
            points=tuple(Point(name, group_realms(values, realms)) for name, values in points.items()),
        )
        for (clause, operation), points in values_of.items()
    ]
    return sorted(lines, key=lambda sight: (order.get(sight.id, len(order)), sight.id, sight.operation))


def differences(seen: Seen, clauses: Mapping[str, Clause], realms: Sequence[str]) -> list[ObservedOperation]:
    """Return the points on which realms do not agree, by clause and operation, in the catalogue's order."""
    points_of: dict[tuple[str, str], list[Point]] = defaultdict(list)
    for difference in seen["realm_differences"]:
        point = Point(_name(difference["point"]), group_realms(difference["values"], realms))
        points_of[difference["clause"], difference["operation"]].append(point)
    order = {name: rank for rank, name in enumerate(clauses)}
    lines = [
        ObservedOperation(
            clause,
            clauses.get(clause),
            operation,
            _sorted({realm for point in points for group in point.agreed for realm in group.realms}, realms),
            tuple(points),
        )
        for (clause, operation), points in points_of.items()
    ]
    return sorted(lines, key=lambda sight: (order.get(sight.id, len(order)), sight.id, sight.operation))


def group_realms(values: Mapping[str, str], realms: Sequence[str]) -> tuple[RealmGroup, ...]:
    """Put realms with the same value together; the value that most realms give comes first."""
    groups: dict[str, list[str]] = defaultdict(list)
    for realm, value in values.items():
        groups[value].append(realm)
    realm_groups = [RealmGroup(_sorted(names, realms), value) for value, names in groups.items()]
    return tuple(sorted(realm_groups, key=lambda group: (-len(group.realms), _places(group.realms, realms))))


def values_by_realm(change: Change, lines: Iterable[ObservedOperation]) -> tuple[RealmGroup, ...]:
    """Return how realms differ now at the point that a change is about; empty where they agree."""
    name = _name(change.point)
    return next(
        (
            point.agreed
            for sight in lines
            if (sight.id, sight.operation) == (change.clause, change.operation)
            for point in sight.points
            if point.name == name
        ),
        (),
    )


def _name(point: str) -> str:
    return "" if point == SEEN else point


def _places(names: Iterable[str], realms: Sequence[str]) -> list[int]:
    return [realms.index(name) if name in realms else len(realms) for name in names]


def _sorted(names: Iterable[str], realms: Sequence[str]) -> tuple[str, ...]:
    return tuple(sorted(names, key=lambda name: (*_places([name], realms), name)))


_EXCHANGES_AT_MOST = 8
_BODY_CHARACTERS = 4_000


@dataclass(frozen=True, slots=True)
class ShownExchange:
    """An exchange as text, cut to what a person reads; `culprit`: it is the one that gives the finding away."""

    heading: str
    request: str
    response: str
    culprit: bool

    @property
    def size(self) -> int:
        """Characters that the exchange takes on the page."""
        return len(self.request) + len(self.response)


@dataclass(frozen=True, slots=True)
class FindingCard:
    """The findings of a cause with what the page says of them.

    `before` are the earlier writes that its exchanges rely on. `hidden` counts the exchanges that are only in the
    finding's own file; `next` leaves out lines that are too long to be read. `since` says by realms since when the
    clause is contradicted, empty without a history; `new`: earlier runs judged it, and it was not red in the last.
    """

    cause: Cause
    clause: Clause | None
    says: str
    case_names: tuple[str, ...]
    before: tuple[ShownExchange, ...]
    exchanges: tuple[ShownExchange, ...]
    hidden: int
    next: tuple[NextCommand, ...]
    since: tuple[RealmGroup, ...]
    new: bool

    @property
    def finding(self) -> Finding:
        """The finding whose evidence is shown."""
        return self.cause.lead


def finding_cards(
    record: RunRecord, verdict: RunVerdict, past: Past, limits: Limits
) -> Iterator[FindingCard]:
    """Yield a card for each cause, worst first; past the budget they come without exchanges."""
    clauses = {cell.clause.id: cell.clause for cell in verdict.cells}
    names = {case.id: case.name for case in record.cases}
    left = limits.budget
    for cause in verdict.causes[: limits.cards]:
        finding = cause.lead
        kept = shown_exchanges(record, finding)[-_EXCHANGES_AT_MOST:]
        culprit = record.exchanges.get(cause.culprit)
        shown = tuple(_shown(exchange, cause.marks, exchange is culprit) for exchange in kept)
        sent = shown_exchanges(record, finding)
        relied_on = earlier_writes(record, sent)
        before = tuple(_shown(exchange, cause.marks, False) for exchange in relied_on)
        size = sum(exchange.size for exchange in (*before, *shown))
        before, shown, left = (before, shown, left - size) if size <= left else ((), (), left)
        commands = commands_of(record, cause)
        histories = [
            past.since(realm_finding.clause, realm_finding.realm) for realm_finding in cause.findings
        ]
        since = {
            realm_finding.realm: past.describe(realm_finding.clause, realm_finding.realm)
            for realm_finding in cause.findings
        }
        cases = dict.fromkeys(case for realm_finding in cause.findings for case in realm_finding.cases)
        yield FindingCard(
            cause=cause,
            clause=clauses.get(finding.clause),
            says=STANDING_SENTENCES[finding.standing],
            case_names=tuple(dict.fromkeys(names.get(case, case) for case in cases)),
            before=before,
            exchanges=shown,
            hidden=len(finding.exchanges) - len(shown),
            next=tuple(command for command in commands if len(command.line) <= limits.curl),
            since=group_realms({realm: words for realm, words in since.items() if words}, record.run.realms),
            new=all(history.runs and history.red_since is None for history in histories),
        )


def _shown(exchange: Exchange, marks: Sequence[str], culprit: bool) -> ShownExchange:
    return ShownExchange(
        heading=heading(exchange),
        request=request_text(exchange, _BODY_CHARACTERS),
        response=response_text(exchange, _BODY_CHARACTERS, marks),
        culprit=culprit,
    )


#: A chart of few runs keeps its bars as thin as one of this many.
_COLUMNS = 16
_GAP = 0.16
#: What is there but small still has to be seen, in hundredths of the strip's height.
_LOWEST = 6.0
_FLAKY_AT_MOST = 30
_RED = ("fail", "advisory", "deviation")
_UNJUDGED = ("inconclusive", "error")

Pieces = Callable[[PastRun], Mapping[str, float]]


@dataclass(frozen=True, slots=True)
class Bar:
    """One piece of a bar: `x` and `width` in columns, `y` and `height` in hundredths, `kind` names its colour."""

    x: float
    y: float
    width: float
    height: float
    kind: str
    title: str


@dataclass(frozen=True, slots=True)
class Strip:
    """One figure over all runs: its name, its bars, and the figure of this run in words."""

    name: str
    bars: tuple[Bar, ...]
    says: str


@dataclass(frozen=True, slots=True)
class Flaky:
    """A clause that came and went in a realm over the last runs."""

    clause: str
    realm: str
    flips: int


@dataclass(frozen=True, slots=True)
class Trends:
    """What the page says of earlier runs.

    `runs` are all that are known, the latest first and this one before them; `strips` show those of this run's
    profile, as others judge other clauses. `columns` is the width of every strip.
    """

    runs: tuple[PastRun, ...]
    strips: tuple[Strip, ...]
    columns: int
    compared: int
    flaky: tuple[Flaky, ...]


def trends(record: RunRecord, verdict: RunVerdict, past: Past, name: str) -> Trends | None:
    """Put this run after those before it.

    Args:
        name: of this run's folder.

    Returns:
        The trends, or None when no earlier run is known.
    """
    if not past.runs:
        return None
    now = _now(record, verdict, name)
    alike = [*(run for run in past.runs if run.profile == now.profile), now]
    columns = max(len(alike), _COLUMNS)
    return Trends(
        runs=(now, *reversed(past.runs)),
        strips=tuple(_strips(alike, columns)),
        columns=columns,
        compared=len(alike) - 1,
        flaky=_flaky(past),
    )


def _now(record: RunRecord, verdict: RunVerdict, name: str) -> PastRun:
    run = record.run
    counts = {str(kind): number for kind in Verdict if (number := verdict.count(kind))}
    return PastRun(
        name,
        run.started,
        run.profile,
        verdict.word,
        run.environment.requests,
        run.seconds or 0.0,
        counts,
    )


def _strips(runs: Sequence[PastRun], columns: int) -> Iterator[Strip]:
    now, before = runs[-1], runs[:-1]
    passed = sum(run.verdict == "pass" for run in before)
    words = (
        f"{now.verdict} now; {passed} of {len(before)} before it passed" if before else f"{now.verdict} now"
    )
    yield Strip("Verdict", _bars(runs, columns, _verdict), words)
    for name, kinds in (("Contradicted", _RED), ("Not judged", _UNJUDGED)):
        pieces = _counted(kinds)
        yield Strip(name, _bars(runs, columns, pieces), _figures(runs, pieces, ""))
    yield Strip("Requests", _bars(runs, columns, _requests), _figures(runs, _requests, ""))
    yield Strip("Time", _bars(runs, columns, _seconds), _figures(runs, _seconds, " s"))


def _verdict(run: PastRun) -> Mapping[str, float]:
    return {run.verdict: 1.0}


def _requests(run: PastRun) -> Mapping[str, float]:
    return {"plain": float(run.requests)}


def _seconds(run: PastRun) -> Mapping[str, float]:
    return {"plain": run.seconds}


def _counted(kinds: Sequence[str]) -> Pieces:
    return lambda run: {kind: float(run.counts.get(kind, 0)) for kind in kinds}


def _figures(runs: Sequence[PastRun], pieces: Pieces, unit: str) -> str:
    """Return the figure of this run and the span of those before it."""
    *before, now = (sum(pieces(run).values()) for run in runs)
    text = f"{now:,.0f}{unit} now"
    if not before:
        return text
    low, high = f"{min(before):,.0f}", f"{max(before):,.0f}"
    return f"{text}; {low}{unit} before" if low == high else f"{text}; {low} to {high}{unit} before"


def _bars(runs: Sequence[PastRun], columns: int, pieces: Pieces) -> tuple[Bar, ...]:
    highest = max(sum(pieces(run).values()) for run in runs) or 1.0
    bars: list[Bar] = []
    for column, run in enumerate(runs, start=columns - len(runs)):
        top = 100.0
        for kind, value in pieces(run).items():
            if not value:
                continue
            height = max(_LOWEST, 100.0 * value / highest)
            top = max(0.0, top - height)
            title = f"{run.started[:16].replace('T', ' ')}: {_worded(kind, value)}"
            bars.append(Bar(column + _GAP / 2, round(top, 2), 1 - _GAP, round(height, 2), kind, title))
    return tuple(bars)


def _worded(kind: str, value: float) -> str:
    return f"{value:,.0f}" if kind == "plain" else kind if value == 1.0 else f"{value:,.0f} {kind}"


def _flaky(past: Past) -> tuple[Flaky, ...]:
    flaky = [
        Flaky(clause, realm, since.flips)
        for clause, realms in past.cells.items()
        for realm, since in realms.items()
        if since.flips > 1
    ]
    flaky.sort(key=lambda trend: (-trend.flips, trend.clause, trend.realm))
    return tuple(flaky[:_FLAKY_AT_MOST])
