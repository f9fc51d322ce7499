"""`summary.md`: the run on one page, for the job page of a build server; lamps and counts for other reports, too."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from contracts.evidence.deviations import WARNING_DAYS, DeviationOutcome, DeviationState
from contracts.evidence.findings import Cell, Finding, Standing, missing_settings
from contracts.evidence.record import Environment, RunRecord, Verdict
from contracts.evidence.verdicts import RunVerdict, faults_in_words
from contracts.history.drift import DriftReport
from contracts.history.observed_facts import Severity
from contracts.history.runs import Past, read_past
from contracts.safe_text import inline, many

_COURSE_NAMES = {
    DeviationState.EXPIRED: "expired",
    DeviationState.GONE: "no longer happens",
    DeviationState.PARTLY: "partly gone",
    DeviationState.UNJUDGED: "not judged",
}
_COURSES = ("expired", "no longer happens", "partly gone", "expires soon", "accepted", "not judged")


class Light(StrEnum):
    """The colour of a lamp."""

    GREEN = "green"
    AMBER = "amber"
    RED = "red"
    DARK = "dark"


@dataclass(frozen=True, slots=True)
class Lamp:
    """One of three things that can go wrong, kept apart: the contract, the environment, the suite."""

    name: str
    light: Light
    says: str


@dataclass(frozen=True, slots=True)
class Wanting:
    """Clauses that went untested for one reason; `settings` names what is missing when that is the reason."""

    reason: str
    settings: str | None
    cells: tuple[Cell, ...]

    @property
    def clauses(self) -> tuple[str, ...]:
        """Ids of the clauses, each once."""
        return tuple(dict.fromkeys(cell.clause.id for cell in self.cells))

    @property
    def realms(self) -> tuple[str, ...]:
        """Realms concerned, each once."""
        return tuple(dict.fromkeys(cell.realm for cell in self.cells))


@dataclass(frozen=True, slots=True)
class DeviationGroup:
    """Deviations that took the same course; `name` is how people read it."""

    name: str
    outcomes: tuple[DeviationOutcome, ...]


def lamps(record: RunRecord, verdict: RunVerdict) -> tuple[Lamp, Lamp, Lamp]:
    """Return the lamps contract, environment and suite."""
    return _contract(verdict), _environment(record, verdict), _suite(record, verdict)


def counts_per_realm(cells: Iterable[Cell]) -> dict[str, Counter[Verdict]]:
    """Return how many clauses have which verdict, by realm."""
    counts: dict[str, Counter[Verdict]] = defaultdict(Counter)
    for cell in cells:
        counts[cell.realm][cell.verdict] += 1
    return dict(counts)


def wanting(cells: Iterable[Cell]) -> tuple[Wanting, ...]:
    """Group untested cells by reason: missing settings first, then the reason that concerns most clauses."""
    groups: dict[str, list[Cell]] = defaultdict(list)
    for cell in cells:
        if cell.verdict is Verdict.UNTESTED:
            groups[cell.reason or "no reason was given"].append(cell)
    reasons = [Wanting(reason, missing_settings(reason), tuple(group)) for reason, group in groups.items()]
    return tuple(sorted(reasons, key=lambda each: (each.settings is None, -len(each.cells), each.reason)))


def deviation_groups(verdict: RunVerdict) -> tuple[DeviationGroup, ...]:
    """Return the deviations by course, those that need a hand first; groups that are empty are left out."""
    groups: dict[str, list[DeviationOutcome]] = {name: [] for name in _COURSES}
    for outcome in verdict.deviations:
        groups[_course(outcome)].append(outcome)
    return tuple(DeviationGroup(name, tuple(found)) for name, found in groups.items() if found)


def _course(outcome: DeviationOutcome) -> str:
    if outcome.course is DeviationState.HAPPENS:
        return "expires soon" if outcome.days_left <= WARNING_DAYS else "accepted"
    return _COURSE_NAMES[outcome.course]


def _contract(verdict: RunVerdict) -> Lamp:
    return _contradicted(verdict) or _judged(verdict)


def _contradicted(verdict: RunVerdict) -> Lamp | None:
    if failing := sum(finding.fails for finding in verdict.findings):
        return Lamp("contract", Light.RED, f"{many(failing, 'finding')} against must clauses")
    if stale := sum(outcome.fails for outcome in verdict.deviations):
        return Lamp("contract", Light.RED, f"{many(stale, 'deviation')} ran out or no longer happens")
    return None


def _judged(verdict: RunVerdict) -> Lamp:
    standings = Counter(finding.standing for finding in verdict.findings)
    judged = len({cell.clause.id for cell in verdict.cells if cell.assertions})
    if not judged:
        return Lamp("contract", Light.DARK, "nothing was judged")
    if known := standings[Standing.DEVIATION] + standings[Standing.FAIL]:
        return Lamp("contract", Light.AMBER, f"{many(known, 'finding')} accepted or outside the consumer")
    softer = standings[Standing.ADVISORY] + standings[Standing.UNCONFIRMED]
    if softer:
        return Lamp("contract", Light.AMBER, f"{many(softer, 'finding')}, none against a confirmed must")
    if verdict.problems:
        return Lamp("contract", Light.DARK, "nothing contradicted in what is left of the record")
    return Lamp("contract", Light.GREEN, f"{many(judged, 'clause')} judged, nothing contradicted")


def _environment(record: RunRecord, verdict: RunVerdict) -> Lamp:
    if record.run.breaker:
        return Lamp("environment", Light.RED, f"stopped early: {record.run.breaker}")
    faults = faults_in_words(record.run.environment)
    unjudged = verdict.count(Verdict.INCONCLUSIVE)
    if faults:
        return Lamp("environment", Light.AMBER, faults)
    if unjudged:
        return Lamp("environment", Light.AMBER, f"{many(unjudged, 'verdict')} could not be given")
    return Lamp("environment", Light.GREEN, "no faults, no retries")


def _suite(record: RunRecord, verdict: RunVerdict) -> Lamp:
    broken = sum(case.outcome is Verdict.ERROR for case in record.cases)
    if verdict.problems:
        return Lamp("suite", Light.RED, "the evidence is not whole")
    if broken or verdict.count(Verdict.ERROR):
        return Lamp("suite", Light.RED, f"{many(broken, 'case')} broke")
    if record.run.interrupted:
        return Lamp("suite", Light.AMBER, "interrupted by hand")
    if record.crashes:
        return Lamp(
            "suite", Light.AMBER, f"{many(len(record.crashes), 'worker')} died, their cases ran again"
        )
    return Lamp("suite", Light.GREEN, f"{many(len(record.cases), 'case')} ran to the end")


FILE_NAME = "summary.md"
_FINDINGS_AT_MOST = 50
_CHANGES_AT_MOST = 30
_CLAUSES_AT_MOST = 8
_WHERE = (
    "In the run's folder: `index.html` shows exchanges and how to reproduce each finding, `findings/<id>.md` is "
    "ready for a ticket, `questions.md` holds questions to the owner of the service."
)
_LIGHTS = {Light.GREEN: "good", Light.AMBER: "**look**", Light.RED: "**bad**", Light.DARK: "dark"}


def write(record: RunRecord, verdict: RunVerdict, folder: Path) -> Path:
    """Write `summary.md` and return its path.

    Raises:
        UsageError: what the folder keeps of earlier runs was altered.
    """
    path = folder / FILE_NAME
    path.write_text("\n".join(_page(record, verdict, read_past(folder))) + "\n", "utf-8")
    return path


def _page(record: RunRecord, verdict: RunVerdict, past: Past) -> Iterator[str]:
    run = record.run
    yield f"## Registry contracts: {verdict.word} (exit code {int(verdict.exit_code)})"
    yield f"\n{inline(verdict.sentence, 1000)}\n"
    if verdict.problems:
        yield "> **This report is invalid: it is incomplete and must not be relied on:** " + inline(
            "; ".join(verdict.problems), 1000
        )
        yield ""
    yield from _table(
        ["Lamp", "", ""],
        [[lamp.name, _LIGHTS[lamp.light], inline(lamp.says)] for lamp in lamps(record, verdict)],
    )
    yield from _findings(verdict.findings, past)
    yield from _drift(verdict.drift)
    yield from _deviations(verdict)
    yield from _notes(verdict)
    yield from _counts(record, verdict)
    yield from _untested(verdict)
    left = len(record.residue) + len(record.leftovers)
    requests = many(run.environment.requests, "request")
    took = f"{run.seconds:.0f} s" if run.seconds is not None else "an unknown time (not finished)"
    settings = f"profile {inline(run.profile)}, seed {inline(str(run.seed))}"
    merged = f", merged from {many(len(run.shards), 'shard')}" if run.shards else ""
    settings += f", {run.shard.name}" if run.shard else merged
    yield (
        f"{inline(run.target)} ({inline(run.base_url)}), {settings}: {many(len(record.cases), 'case')}, "
        f"{requests}, {took}; {many(left, 'thing')} left on the target{_permanent(run.environment)}."
    )
    yield ""
    yield _WHERE


def _permanent(environment: Environment) -> str:
    """How many records the run has created that cannot be removed, and how many it might have."""
    created = environment.permanent_records
    most = environment.limits.get("permanent_records_per_realm")
    if not created:
        return ""
    listed = ", ".join(f"{inline(realm)} {count}" for realm, count in sorted(created.items()))
    return f", permanent records among them: {listed}" + (f" (at most {most:g} in a realm)" if most else "")


def _findings(findings: tuple[Finding, ...], past: Past) -> Iterator[str]:
    if not findings:
        return
    yield f"### {many(len(findings), 'finding')}\n"
    rows = [
        [
            f"`{each.id}`",
            str(each.standing) + ("" if each.counted else ", not counted"),
            inline(each.clause),
            inline(each.operation or "") + (f" ({inline(', '.join(each.methods))})" if each.methods else ""),
            inline(each.realm),
            inline(each.expected, 160),
            inline(each.seen, 160),
            inline(each.rate),
            *([inline(past.describe(each.clause, each.realm))] if past.runs else []),
        ]
        for each in findings[:_FINDINGS_AT_MOST]
    ]
    head = ["Id", "Standing", "Clause", "Operation", "Realm", "Expected", "Seen", "Rate"]
    yield from _table([*head, *(["Since when"] if past.runs else [])], rows)
    if len(findings) > _FINDINGS_AT_MOST:
        yield f"{many(len(findings) - _FINDINGS_AT_MOST, 'finding')} more in the report.\n"


def _drift(drift: DriftReport) -> Iterator[str]:
    if drift.sentence is None:
        return
    yield "### Drift\n"
    yield f"{inline(drift.sentence, 1000)}\n"
    if not drift.changes:
        return
    rows = [
        [
            f"**{change.severity}**" if change.severity is Severity.BREAKING else str(change.severity),
            str(change.kind) + (", outside the consumer" if change in drift.outside else ""),
            inline(change.clause),
            inline(change.operation),
            inline(", ".join(change.realms)),
            inline(change.says, 160),
        ]
        for change in drift.changes[:_CHANGES_AT_MOST]
    ]
    yield from _table(["Severity", "Change", "Clause", "Operation", "Realms", "Was, and is now"], rows)
    if len(drift.changes) > _CHANGES_AT_MOST:
        yield f"{many(len(drift.changes) - _CHANGES_AT_MOST, 'change')} more in the report.\n"


def _deviations(verdict: RunVerdict) -> Iterator[str]:
    if not verdict.deviations:
        return
    yield f"### {many(len(verdict.deviations), 'accepted deviation')}\n"
    rows = [
        [
            inline(each.deviation.clause)
            + (f" ({each.deviation.operation})" if each.deviation.operation else ""),
            f"**{group.name}**" if each.fails else group.name,
            inline(each.says),
            inline(f"{each.deviation.reason} ({each.deviation.owner})"),
            inline(each.deviation.issue),
            inline(each.deviation.place),
        ]
        for group in deviation_groups(verdict)
        for each in group.outcomes[:_FINDINGS_AT_MOST]
    ]
    yield from _table(["Clause", "Course", "", "Reason", "Issue", "Entry"], rows)


def _notes(verdict: RunVerdict) -> Iterator[str]:
    waived = [outcome.line for outcome in verdict.waivers if outcome.needed]
    unjudged = verdict.unjudged_lines
    for title, lines in (
        ("Could not be judged", unjudged),
        ("Waived", waived),
        ("To be seen to", verdict.notes),
    ):
        if lines:
            yield f"### {title}\n"
            yield from (f"- {inline(line)}" for line in lines[:_FINDINGS_AT_MOST])
            yield ""


def _counts(record: RunRecord, verdict: RunVerdict) -> Iterator[str]:
    counts = counts_per_realm(verdict.cells)
    yield "### Clauses by realm\n"
    realms = [realm for realm in dict.fromkeys([*record.run.realms, *counts]) if realm in counts]
    rows = [[realm, *(str(counts[realm][each] or "") for each in Verdict)] for realm in realms]
    yield from _table(["Realm", *map(str, Verdict)], rows)


def _untested(verdict: RunVerdict) -> Iterator[str]:
    groups = [group for group in wanting(verdict.cells) if group.settings]
    if not groups:
        return
    yield "### Untested for want of a setting\n"
    yield from _table(
        ["Missing", "Clauses", "Realms"],
        [[inline(group.settings or ""), _some(group.clauses), ", ".join(group.realms)] for group in groups],
    )


def _some(clauses: tuple[str, ...]) -> str:
    more = len(clauses) - _CLAUSES_AT_MOST
    listed = ", ".join(inline(clause) for clause in clauses[:_CLAUSES_AT_MOST])
    return f"{listed} and {more} more" if more > 0 else listed


def _table(head: list[str], rows: Iterable[list[str]]) -> Iterator[str]:
    yield f"| {' | '.join(head)} |"
    yield f"|{'---|' * len(head)}"
    for row in rows:
        yield f"| {' | '.join(row)} |"
    yield ""
