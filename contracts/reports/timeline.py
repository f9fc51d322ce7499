"""Time lines: kept runs put together into nights, and what clauses, findings and observations did over them.

A run is kept as a few kilobytes (`NightRun`), so that a year of nights can be carried on after their folders are gone.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from functools import lru_cache
from itertools import groupby
from typing import Annotated, Any, Final, Literal

import msgspec
from msgspec import Meta

from contracts.evidence.findings import Standing
from contracts.evidence.record import ExitCode, Verdict, deciding_exit_code
from contracts.evidence.record import worst as worst_of
from contracts.evidence.verdicts import DeviationState
from contracts.file_formats import Count, Format, Moment, Name, Names, RunExitCode, RunWord
from contracts.history.baseline import accept_facts
from contracts.history.drift import compare, shown, without_moved_faults
from contracts.history.observed_facts import Change, Facts, Place, Value, read_facts
from contracts.history.runs import GREEN, RED, Mark, advance
from contracts.reports.kept_runs import KeptRun, moment, selection_of
from contracts.reports.verdict_json import CountedChange, DeviationEntry, TargetEntry
from contracts.safe_text import cut

_LONGEST: Final = 300
#: Runs of one night begin within so long, such as a job for each realm.
_NIGHT: Final = timedelta(hours=12)
_UNJUDGED: Final = frozenset({"inconclusive", "error", "untested"})


class NightFinding(Format, frozen=True, kw_only=True):
    """A finding by cause, as `verdict.json` has it, in a few words."""

    id: str
    clause: Name
    operation: str | None
    standing: Standing
    realms: Names
    was: str


class NightRun(Format, frozen=True, kw_only=True):
    """What is kept of one run: a member of `runs.zip`.

    `cells` maps clause id and realm to a verdict, `reasons` to why it is neither a pass nor an observation; `facts`
    holds what was observed, by clause, operation, realm and name. `left_out` says why the run is not compared.
    """

    format: Literal[1] = 1
    run: Name
    target: TargetEntry
    embedded: bool
    profile: str
    realms: Names
    started: Moment
    seconds: float | None
    verdict: RunWord
    exit_code: RunExitCode
    reason: Name
    requests: Count
    consumer: str | None
    left_out: Annotated[str | None, Meta(description="None where the run is compared with others.")]
    cells: Mapping[str, Mapping[str, Verdict]]
    reasons: Mapping[str, Mapping[str, str]]
    findings: tuple[NightFinding, ...]
    deviations: tuple[DeviationEntry, ...]
    drift: tuple[CountedChange, ...]
    facts: Mapping[str, Mapping[str, Mapping[str, Mapping[str, Value]]]]


def night_run(kept: KeptRun) -> NightRun:
    """Take from a kept run what its nights need."""
    verdict = kept.verdict
    chosen = selection_of(verdict)
    narrowed = f"it judged a selection ({chosen})" if chosen else None
    limited = f"it was limited to {verdict.consumer.file}" if verdict.consumer else None
    facts: dict[str, dict[str, dict[str, Mapping[str, Value]]]] = {}
    for place, values in _facts_of(kept).items():
        facts.setdefault(place.clause, {}).setdefault(place.operation, {})[place.realm] = values
    return NightRun(
        run=kept.name,
        target=verdict.target,
        embedded=kept.embedded,
        profile=verdict.profile,
        realms=verdict.realms,
        started=verdict.started,
        seconds=verdict.seconds,
        verdict=verdict.verdict,
        exit_code=verdict.exit_code,
        reason=cut(verdict.reason, _LONGEST),
        requests=verdict.environment.requests,
        consumer=verdict.consumer.file if verdict.consumer else None,
        left_out=kept.unfit or narrowed or limited,
        cells={
            clause.id: {realm: cell.verdict for realm, cell in clause.realms.items()}
            for clause in verdict.clauses
        },
        reasons={
            clause.id: reasons
            for clause in verdict.clauses
            if (
                reasons := {
                    realm: cut(cell.reason, _LONGEST)
                    for realm, cell in clause.realms.items()
                    if cell.reason and cell.verdict not in {Verdict.PASS, Verdict.OBSERVED}
                }
            )
        },
        findings=tuple(_findings(kept)),
        deviations=verdict.deviations,
        drift=verdict.drift,
        facts=facts,
    )


def _facts_of(kept: KeptRun) -> Facts:
    seen: dict[Place, list[bytes]] = defaultdict(list)
    for observation in kept.verdict.observations:
        place = Place(observation.clause, observation.operation or "", observation.realm)
        seen[place].append(msgspec.json.encode(observation.seen))
    facts = ((place, _read(tuple(seen[place]))) for place in sorted(seen))
    return {place: values for place, values in facts if values}


@lru_cache(maxsize=4096)
def _read(seen: tuple[bytes, ...]) -> dict[str, Value]:
    """The facts in what was seen at one place, as JSON: from night to night mostly the same."""
    somewhere = {"clause": "", "operation": "", "realm": ""}
    entries = [{**somewhere, "seen": msgspec.json.decode(value)} for value in seen]
    return next(iter(read_facts({"observations": entries}).values()), {})


def _findings(kept: KeptRun) -> Iterator[NightFinding]:
    causes = kept.verdict.causes
    for cause in causes:
        was = cut(cause.was, _LONGEST)
        yield NightFinding(
            id=cause.id,
            clause=cause.clause,
            operation=cause.operation,
            standing=cause.standing,
            realms=cause.realms,
            was=was,
        )
    grouped = {(cause.clause, cause.operation) for cause in causes}
    for finding in kept.verdict.findings:
        # An older format knows no causes; of a newer one, these only follow from others.
        if (finding.clause, finding.operation) not in grouped:
            yield NightFinding(
                id=finding.id,
                clause=finding.clause,
                operation=finding.operation,
                standing=finding.standing,
                realms=(finding.realm,),
                was=cut(f"{finding.operation or 'the service'} showed: {finding.seen}", _LONGEST),
            )


def facts_of(run: NightRun) -> Facts:
    """Return what a run observed, in the form that compares."""
    return {
        Place(clause, operation, realm): dict(values)
        for clause, operations in run.facts.items()
        for operation, realms in operations.items()
        for realm, values in realms.items()
    }


@dataclass(frozen=True, slots=True)
class Turn:
    """One change from a night to the next; `kind` is a key of `TURNS`, `verdict` the colour that it is shown in."""

    kind: str
    verdict: str
    clause: str
    realms: tuple[str, ...]
    says: str


#: Kinds of changes → how people read them; those that matter most come first.
TURNS: Final[Mapping[str, str]] = {
    "red": "contradicted now",
    "finding": "another finding",
    "expired": "a deviation has to be changed",
    "unjudged": "no longer judged",
    "drift": "drift from the baseline",
    "observed": "observed otherwise",
    "accepted": "accepted",
    "withdrawn": "no longer accepted",
    "green": "holds again",
    "gone": "finding gone",
    "settled": "drift settled",
    "judged": "judged again",
}


@dataclass(slots=True)
class Span:
    """Nights in a row with one verdict on a clause in a realm; `first` and `last` are their numbers."""

    verdict: str
    first: int
    last: int
    reason: str = ""


@dataclass(slots=True)
class FindingSpan:
    """A finding over the nights that saw it, with its latest words."""

    finding: NightFinding
    first: int
    last: int
    realms: dict[str, None] = field(default_factory=dict)


@dataclass(slots=True)
class Accepted:
    """An accepted deviation over the nights that were held to it, as the latest of them had it."""

    entry: DeviationEntry
    first: int
    last: int


@dataclass(slots=True)
class Night:
    """What one night said; several runs make one night where each judged realms of its own."""

    number: int
    started: datetime
    runs: list[NightRun]
    turns: list[Turn] = field(default_factory=list)
    cells: Mapping[tuple[str, str], str] = field(default_factory=dict)

    @property
    def exit_code(self) -> ExitCode:
        """The exit code that counts, of those of its runs."""
        return deciding_exit_code(ExitCode(run.exit_code) for run in self.runs)

    @property
    def realms(self) -> tuple[str, ...]:
        """The realms that it judged."""
        return tuple(dict.fromkeys(realm for run in self.runs for realm in run.realms))

    @property
    def counts(self) -> Counter[str]:
        """How many clause and realm pairs have which verdict."""
        return Counter(self.cells.values())


@dataclass
class Board:
    """The nights of one target, address and profile, and what became of everything over them."""

    target: str
    address: str
    profile: str
    nights: list[Night] = field(default_factory=list)
    spans: dict[tuple[str, str], list[Span]] = field(default_factory=dict)
    marks: dict[tuple[str, str], Mark] = field(default_factory=dict)
    findings: dict[tuple[str, str | None], list[FindingSpan]] = field(default_factory=dict)
    accepted: dict[tuple[str, str | None, tuple[str, ...]], Accepted] = field(default_factory=dict)
    drift: dict[tuple[Any, ...], tuple[int, int, CountedChange]] = field(default_factory=dict)
    observed: list[tuple[int, Change]] = field(default_factory=list)
    known: Facts = field(default_factory=dict)
    facts: Facts = field(default_factory=dict)

    @property
    def latest(self) -> Night:
        """The last night."""
        return self.nights[-1]

    def now(self, clause: str, realm: str) -> Span | None:
        """Return the last verdict on a clause in a realm."""
        spans = self.spans.get((clause, realm))
        return spans[-1] if spans else None

    def red_since(self, clause: str, realm: str) -> str | None:
        """Return since when a clause is contradicted; None where it is not."""
        mark = self.marks.get((clause, realm))
        return mark.red_since if mark else None

    def acceptance(self, clause: str, realm: str) -> DeviationEntry | None:
        """Return the deviation that speaks of a clause in a realm in the last night."""
        return next(
            (
                accepted.entry
                for (name, _, realms), accepted in self.accepted.items()
                if name == clause and realm in realms and accepted.last == self.latest.number
            ),
            None,
        )


def boards_of(runs: Iterable[NightRun]) -> list[Board]:
    """Put runs together into boards.

    Args:
        runs: Oldest first; those that are left out are passed over.
    """
    boards: dict[tuple[str, str, str], _Folding] = {}
    for run in runs:
        if run.left_out is None:
            address = "" if run.embedded else run.target.base_url
            key = (run.target.name, address, run.profile)
            boards.setdefault(key, _Folding(Board(*key))).take(run)
    return [boards[key].finished() for key in sorted(boards)]


class _Folding:
    """Folds the runs of a board, oldest first, into its nights."""

    def __init__(self, board: Board) -> None:
        self.board = board
        self._runs: list[NightRun] = []

    def take(self, run: NightRun) -> None:
        """Take the next run: into the night that is open, or into a new one."""
        if self._runs and not self._together(run):
            self._close()
        self._runs.append(run)

    def finished(self) -> Board:
        """Close the last night."""
        self._close()
        return self.board

    def _together(self, run: NightRun) -> bool:
        near = moment(run.started) - moment(self._runs[0].started) < _NIGHT
        return near and not any(set(earlier.realms) & set(run.realms) for earlier in self._runs)

    def _close(self) -> None:
        runs, self._runs = self._runs, []
        board = self.board
        night = Night(len(board.nights), moment(runs[0].started), runs)
        board.nights.append(night)
        night.cells, reasons = _cells(runs)
        night.turns += [*_clause_turns(board, night, reasons), *_finding_turns(board, night)]
        night.turns += [*_deviation_turns(board, night), *_drift_turns(board, night)]
        night.turns += list(_fact_turns(board, night))
        order = list(TURNS)
        night.turns.sort(key=lambda turn: (order.index(turn.kind), turn.clause))
        # What is told by now is in the spans; a year of it would fill the memory.
        night.runs = [_without_details(run) for run in runs]


def _without_details(run: NightRun) -> NightRun:
    return msgspec.structs.replace(run, cells={}, reasons={}, facts={})


def _cells(runs: Sequence[NightRun]) -> tuple[dict[tuple[str, str], str], dict[tuple[str, str], str]]:
    """The verdicts of a night; on a clause without realm the worst of its runs counts."""
    cells: dict[tuple[str, str], str] = {}
    reasons: dict[tuple[str, str], str] = {}
    for run in runs:
        for clause, realms in run.cells.items():
            by_realm = run.reasons.get(clause, {})
            for realm, verdict in realms.items():
                place = (clause, realm)
                if place in cells and Verdict(cells[place]).rank <= verdict.rank:
                    continue
                cells[place] = verdict._value_
                if realm in by_realm:
                    reasons[place] = by_realm[realm]
                else:
                    reasons.pop(place, None)
    return cells, reasons


def _clause_turns(board: Board, night: Night, reasons: Mapping[tuple[str, str], str]) -> Iterator[Turn]:
    turned: dict[tuple[str, str, str, str], list[str]] = defaultdict(list)
    started = night.started.isoformat()
    green = Mark(started, None)
    for place, verdict in night.cells.items():
        spans = board.spans.setdefault(place, [])
        before = spans[-1] if spans else None
        if before is not None and before.verdict == verdict and before.last == night.number - 1:
            # As in the night before, like nearly all: nothing turned.
            before.last, before.reason = night.number, reasons.get(place, "")
            if verdict in GREEN:
                board.marks[place] = green
            continue
        clause, realm = place
        mark = board.marks.get(place, Mark(None, None))
        spans.append(Span(verdict, night.number, night.number, reasons.get(place, "")))
        if night.number and (kind := _turn(before, mark, verdict)):
            turned[kind, verdict, clause, _turn_reason(kind, reasons.get(place, ""), mark)].append(realm)
        board.marks[place] = advance(mark, verdict, started)
    for (kind, verdict, clause, says), realms in turned.items():
        yield Turn(kind, verdict, clause, tuple(realms), says)


def _turn(before: Span | None, mark: Mark, verdict: str) -> str | None:
    """What a verdict is, after what stood before it; None where it is no change."""
    was = before.verdict if before else None
    if verdict in RED and mark.red_since is None:
        return "red"
    if verdict in GREEN and mark.red_since is not None:
        return "green"
    if verdict in RED and was in RED and verdict != was:
        return "accepted" if verdict == "deviation" else "withdrawn"
    if verdict in _UNJUDGED and was is not None and was not in _UNJUDGED:
        return "unjudged"
    return "judged" if was in _UNJUDGED and verdict not in _UNJUDGED else None


def _turn_reason(kind: str, reason: str, mark: Mark) -> str:
    since = f"was contradicted since {day(mark.red_since)}" if mark.red_since else ""
    return since if kind == "green" else reason


def _finding_turns(board: Board, night: Night) -> Iterator[Turn]:
    now: dict[tuple[str, str | None], list[NightFinding]] = defaultdict(list)
    for run in night.runs:
        for finding in run.findings:
            now[finding.clause, finding.operation].append(finding)
    turned = {turn.clause for turn in night.turns}
    for key, findings in now.items():
        spans = board.findings.setdefault(key, [])
        going = bool(spans) and spans[-1].last == night.number - 1
        if going:
            spans[-1].last, spans[-1].finding = night.number, findings[0]
        else:
            spans.append(FindingSpan(findings[0], night.number, night.number))
        realms = dict.fromkeys(realm for finding in findings for realm in finding.realms)
        fresh = [realm for realm in realms if realm not in spans[-1].realms]
        spans[-1].realms |= realms
        newly_red = any(night.number == span.first for realm in realms if (span := board.now(key[0], realm)))
        if night.number and fresh and not newly_red and key[0] not in turned:
            yield Turn("finding", str(findings[0].standing), key[0], tuple(fresh), findings[0].was)
    for key, spans in board.findings.items():
        ended = spans[-1].last == night.number - 1 and key not in now
        still = [realm for realm in spans[-1].realms if night.cells.get((key[0], realm)) in RED]
        if ended and still:
            yield Turn("gone", "pass", key[0], tuple(still), f"no longer on {key[1] or 'the service'}")


_WORST_COURSE: Final = (
    DeviationState.EXPIRED,
    DeviationState.GONE,
    DeviationState.PARTLY,
    DeviationState.HAPPENS,
    DeviationState.UNJUDGED,
)


def _deviation_turns(board: Board, night: Night) -> Iterator[Turn]:
    now: dict[tuple[str, str | None, tuple[str, ...]], DeviationEntry] = {}
    for entry in (entry for run in night.runs for entry in run.deviations):
        key = (entry.clause, entry.operation, entry.realms)
        if key not in now or _WORST_COURSE.index(entry.course) < _WORST_COURSE.index(now[key].course):
            now[key] = entry
    for key, entry in now.items():
        before = board.accepted.get(key)
        going = before is not None and before.last == night.number - 1
        first = before.first if going and before else night.number
        board.accepted[key] = Accepted(entry, first, night.number)
        if not night.number:
            continue
        if entry.fails and not (going and before and before.entry.fails):
            yield Turn("expired", "fail", entry.clause, entry.realms, entry.says)
        elif not (going and before) or (before.entry.expires, before.entry.owner) != (
            entry.expires,
            entry.owner,
        ):
            says = f"accepted by {entry.owner} until {entry.expires}: {entry.reason}"
            yield Turn("accepted", "deviation", entry.clause, entry.realms, says)
    for key, before in board.accepted.items():
        if before.last == night.number - 1 and key not in now:
            says = f"the entry of {before.entry.owner}, until {before.entry.expires}, was taken out"
            yield Turn("withdrawn", "untested", key[0], key[2], says)


def _drift_turns(board: Board, night: Night) -> Iterator[Turn]:
    now = {
        (change.clause, change.operation, change.point, change.now, change.realms): change
        for run in night.runs
        for change in run.drift
    }
    for key, change in now.items():
        before = board.drift.get(key)
        going = before is not None and before[1] == night.number - 1
        board.drift[key] = (before[0] if going and before else night.number, night.number, change)
        if night.number and not going:
            verdict = "advisory" if change.severity == "breaking" else "observed"
            yield Turn("drift", verdict, change.clause, change.realms, drift_says(change))
    for key, (_, last, change) in board.drift.items():
        if last == night.number - 1 and key not in now:
            yield Turn("settled", "pass", change.clause, change.realms, drift_says(change))


def _fact_turns(board: Board, night: Night) -> Iterator[Turn]:
    seen = {place: values for run in night.runs for place, values in facts_of(run).items()}
    board.facts = seen
    for change in _taken_in(board.known, seen):
        board.observed.append((night.number, change))
        sentence = f"{change.operation or 'the service'}: {change.says}"
        yield Turn("observed", "observed", change.clause, change.realms, sentence)


def _taken_in(known: Facts, seen: Facts) -> tuple[Change, ...]:
    """Take into what is known what a night saw, and return how it differs; a night sees a sample."""
    fresh = {place: values for place, values in seen.items() if known.get(place) != values}
    fresh = without_moved_faults(known, fresh) if fresh else fresh
    there = {place: known[place] for place in fresh if place in known}
    changes = compare(there, {place: fresh[place] for place in there})
    known |= accept_facts(there, fresh, changes)
    return changes


def drift_says(change: CountedChange) -> str:
    """Word a change against the baseline."""
    point = "" if change.point == "seen" else f"{change.point}: "
    where = change.operation or "the service"
    return f"{where}: {point}{change.was or 'not there'}, now {change.now or 'gone'} ({change.change})"


def day(text: str | None) -> str:
    """Return the day and minute of a moment, as people read it."""
    return f"{moment(text):%Y-%m-%d %H:%M}" if text else ""


@dataclass(frozen=True, slots=True)
class Side:
    """One of two that are put side by side: a night or a run."""

    name: str
    cells: Mapping[tuple[str, str], str]
    facts: Facts
    findings: Mapping[tuple[str, str | None], tuple[str, str]]


@dataclass(frozen=True, slots=True)
class Difference:
    """A clause in which two sides differ, in these realms; `kind` says whether by verdict, finding or observation."""

    kind: str
    clause: str
    realms: tuple[str, ...]
    one: str
    other: str


def side_of_night(name: str, board: Board) -> Side:
    """The last night of a board, as a side."""
    return Side(name, board.latest.cells, board.facts, _finding_texts(board.latest.runs))


def side_of_run(run: NightRun) -> Side:
    """A run, as a side."""
    cells, _ = _cells([run])
    return Side(run.run, cells, facts_of(run), _finding_texts([run]))


def _finding_texts(runs: Iterable[NightRun]) -> dict[tuple[str, str | None], tuple[str, str]]:
    lasts: dict[tuple[str, str | None], tuple[str, str]] = {}
    for finding in (finding for run in runs for finding in run.findings):
        lasts.setdefault((finding.clause, finding.operation), (", ".join(finding.realms), finding.was))
    return lasts


def differences(one: Side, other: Side) -> list[Difference]:
    """Return what differs between two sides, in realms that both judged: verdicts, findings, observations."""
    differing: dict[tuple[str, str, str, str], list[str]] = defaultdict(list)
    shared = {realm for _, realm in one.cells} & {realm for _, realm in other.cells}
    for clause, realm in dict.fromkeys([*one.cells, *other.cells]):
        was, now = one.cells.get((clause, realm), "not there"), other.cells.get((clause, realm), "not there")
        if realm in shared and was != now:
            differing["verdict", clause, was, now].append(realm)
    for key in dict.fromkeys([*one.findings, *other.findings]):
        if (key in one.findings) != (key in other.findings):
            sides = [run.findings.get(key) for run in (one, other)]
            verdicts = [side[1] if side else "no finding" for side in sides]
            differing["finding", key[0], verdicts[0], verdicts[1]].append(
                next(side[0] for side in sides if side)
            )
    for change in compare(
        one.facts, {place: one_ for place, one_ in other.facts.items() if place in one.facts}
    ):
        where = (
            f"{change.operation or 'the service'} {'' if change.point == 'seen' else change.point}".strip()
        )
        was, now = f"{where}: {change.was or 'not there'}", f"{where}: {change.now or 'gone'}"
        differing["observation", change.clause, was, now] += change.realms
    return [
        Difference(kind, clause, tuple(realms), a, b) for (kind, clause, a, b), realms in differing.items()
    ]


def realm_differences(board: Board) -> list[tuple[str, dict[str, str]]]:
    """Return the clauses on which realms of the last night differ, with the verdict of each."""
    rows = []
    for clause, group in groupby(sorted(board.latest.cells), key=lambda place: place[0]):
        verdicts = {realm: board.latest.cells[clause, realm] for _, realm in group}
        if len(set(verdicts.values())) > 1:
            rows.append((clause, verdicts))
    return rows


def worst(verdicts: Iterable[str]) -> str:
    """Return the worst of several verdicts."""
    return str(worst_of(map(Verdict, verdicts)))


def shown_value(value: Value) -> str:
    """Return the value of a fact as people read it."""
    return shown(value) or ""
