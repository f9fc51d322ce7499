"""`summary.md`: the run on one page, for the job page of a build server; lamps and counts for other reports, too."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from contracts.evidence.accepted import WARNING_DAYS, DeviationOutcome, DeviationState
from contracts.evidence.causes import Cause
from contracts.evidence.findings import Cell, Standing, missing_settings
from contracts.evidence.record import Environment, ExitCode, RunRecord, Verdict
from contracts.evidence.remedies import NOT_GIVEN, NotJudged, Remedy, of_the_end, remedies_of
from contracts.evidence.verdicts import RunVerdict, faults_in_words
from contracts.history.drift import DriftReport
from contracts.history.observed_facts import Severity
from contracts.history.runs import Past, read_past
from contracts.reports.cards import following
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
    """Whose fault it is: the contract's, a finding's that stood in the way, the environment's, the suite's.

    `verdicts` counts the clause and realm pairs that it answers for; all lamps together answer for each pair once.
    """

    name: str
    light: Light
    says: str
    verdicts: int


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


#: What a lamp answers for of what was not judged; the others count what lies outside the run, too.
_ANSWERS_FOR = {
    "blocked by findings": (Remedy.FINDING,),
    "settings": (Remedy.SETTING, Remedy.ACCOUNT),
    "environment": (Remedy.SERVICE,),
    "suite": (Remedy.SUITE,),
}


def lamps(record: RunRecord, verdict: RunVerdict) -> tuple[Lamp, ...]:
    """Return the lamps contract, blocked by findings, settings, environment and suite."""
    cells = remedies_of(record, verdict.cells, verdict.findings, verdict.blocked)
    missing = Counter(remedy for _, remedy in cells)
    counts = {name: sum(missing[remedy] for remedy in remedies) for name, remedies in _ANSWERS_FOR.items()}
    outside = sum(remedy is None and cell.verdict in NOT_GIVEN for cell, remedy in cells)
    lit = (
        ("contract", _contradicted(verdict) or _judged(verdict), missing[None] - outside),
        (
            "blocked by findings",
            _blocked(verdict, counts["blocked by findings"]),
            counts["blocked by findings"],
        ),
        ("settings", _settings(record, missing), counts["settings"]),
        ("environment", _environment(record, verdict, counts["environment"]), counts["environment"]),
        ("suite", _suite(record, verdict, counts["suite"]), counts["suite"] + outside),
    )
    return tuple(Lamp(name, light, says, number) for name, (light, says), number in lit)


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
    return tuple(
        sorted(reasons, key=lambda reason: (reason.settings is None, -len(reason.cells), reason.reason))
    )


def deviation_groups(verdict: RunVerdict) -> tuple[DeviationGroup, ...]:
    """Return the deviations by course, those that need a hand first; groups that are empty are left out."""
    groups: dict[str, list[DeviationOutcome]] = {name: [] for name in _COURSES}
    for outcome in verdict.deviations:
        groups[_course(outcome)].append(outcome)
    return tuple(DeviationGroup(name, tuple(outcomes)) for name, outcomes in groups.items() if outcomes)


def _course(outcome: DeviationOutcome) -> str:
    if outcome.course is DeviationState.HAPPENS:
        return "expires soon" if outcome.days_left <= WARNING_DAYS else "accepted"
    return _COURSE_NAMES[outcome.course]


def _contradicted(verdict: RunVerdict) -> tuple[Light, str] | None:
    if failing := sum(cause.fails for cause in verdict.causes):
        return Light.RED, f"{many(failing, 'finding')} against must clauses"
    if stale := sum(outcome.fails for outcome in verdict.deviations):
        return Light.RED, f"{many(stale, 'deviation')} ran out or no longer happens"
    return None


def _judged(verdict: RunVerdict) -> tuple[Light, str]:
    standings = Counter(cause.lead.standing for cause in verdict.causes)
    judged = len({cell.clause.id for cell in verdict.cells if cell.assertions})
    if not judged:
        return Light.DARK, "nothing was judged"
    if accepted := standings[Standing.DEVIATION] + standings[Standing.FAIL]:
        return Light.AMBER, f"{many(accepted, 'finding')} accepted or outside the consumer"
    softer = standings[Standing.ADVISORY] + standings[Standing.UNCONFIRMED]
    if softer:
        return Light.AMBER, f"{many(softer, 'finding')}, none against a confirmed must"
    if verdict.problems:
        return Light.DARK, "nothing contradicted in what is left of the record"
    if verdict.exit_code is ExitCode.INCONCLUSIVE:
        return Light.AMBER, f"nothing contradicted in the {many(judged, 'clause')} that could be judged"
    return Light.GREEN, f"{many(judged, 'clause')} judged, nothing contradicted"


def _blocked(verdict: RunVerdict, verdicts: int) -> tuple[Light, str]:
    if not verdicts:
        return Light.GREEN, "no finding stood in the way of another verdict"
    behind = sum(bool(cause.cases) for cause in verdict.causes)
    named = f"behind {many(behind, 'finding')}" if behind else "behind findings"
    return Light.AMBER, f"{many(verdicts, 'verdict')} {named}"


def _settings(record: RunRecord, missing: Mapping[Remedy | None, int]) -> tuple[Light, str]:
    wanted = [
        f"{missing[remedy]:,} for want of {remedy}" for remedy in _ANSWERS_FOR["settings"] if missing[remedy]
    ]
    if record.run.breaker and of_the_end(record.run.breaker) in _ANSWERS_FOR["settings"]:
        return Light.RED, "they stopped the run early"
    return (Light.AMBER, ", ".join(wanted)) if wanted else (Light.GREEN, "nothing was missing")


def _environment(record: RunRecord, verdict: RunVerdict, verdicts: int) -> tuple[Light, str]:
    if record.run.breaker and of_the_end(record.run.breaker) is not Remedy.SERVICE:
        return Light.GREEN, "it answered"
    if record.run.breaker and record.run.breaker in verdict.reason:
        return Light.RED, "it stopped the run early"
    if record.run.breaker:
        return Light.RED, f"stopped early: {record.run.breaker}"
    if faults := faults_in_words(record.run.environment):
        return Light.AMBER, faults
    if verdicts:
        return Light.AMBER, f"{many(verdicts, 'verdict')} could not be given"
    return Light.GREEN, "no faults, no retries"


def _suite(record: RunRecord, verdict: RunVerdict, verdicts: int) -> tuple[Light, str]:
    broken = sum(case.outcome is Verdict.ERROR for case in record.cases)
    if record.run.refused:
        return Light.AMBER, "settings or options cannot be used; nothing was sent"
    if verdict.problems:
        return Light.RED, "the evidence is not whole"
    if broken or verdict.count(Verdict.ERROR):
        return Light.RED, f"{many(broken, 'case')} broke"
    if record.run.interrupted:
        return Light.AMBER, "interrupted by hand"
    if record.crashes:
        return Light.AMBER, f"{many(len(record.crashes), 'worker')} died between two cases"
    light, left = (Light.AMBER, f"; {many(verdicts, 'verdict')} not given") if verdicts else (Light.GREEN, "")
    return light, f"{many(len(record.cases), 'case')} ran to the end{left}"


FILE_NAME = "summary.md"
_FINDINGS_AT_MOST = 50
_CHANGES_AT_MOST = 30
_WHERE = (
    "In the run's folder: `index.html` shows exchanges and how to reproduce each finding, `findings/<id>.md` is "
    "ready for a ticket."
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
    ending = f"exit code {int(verdict.exit_code)}, target: {inline(verdict.target)}"
    yield f"## Registry contracts: {verdict.word} ({ending})"
    yield f"\n{inline(verdict.sentence, 1000)}\n"
    if verdict.problems:
        yield "> **This report is invalid: it is incomplete and must not be relied on:** " + inline(
            "; ".join(verdict.problems), 1000
        )
        yield ""
    yield from _table(
        ["Whose fault", "", "", "Verdicts"],
        [
            [lamp.name, _LIGHTS[lamp.light], inline(lamp.says), f"{lamp.verdicts:,}"]
            for lamp in lamps(record, verdict)
        ],
    )
    yield from _not_judged(verdict.not_judged)
    yield from _findings(verdict.causes, past)
    yield from _drift(verdict.drift)
    yield from _deviations(verdict)
    yield from _notes(verdict)
    yield from _counts(record, verdict)
    left = len(record.residue) + len(record.leftovers)
    requests = many(run.environment.requests, "request")
    took = f"{run.seconds:.0f} s" if run.seconds is not None else "an unknown time (not finished)"
    settings = f"profile {inline(run.profile)}, seed {inline(str(run.seed))}"
    yield (
        f"{inline(run.target_in_words)}, {settings}: {many(len(record.cases), 'case')}, "
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


def _not_judged(groups: tuple[NotJudged, ...]) -> Iterator[str]:
    if groups:
        yield "### Not judged\n"
        rows = [
            [f"{group.verdicts:,}", group.remedy, inline("; ".join(group.reasons), 600), group.next_step]
            for group in groups
        ]
        yield from _table(["Verdicts", "For want of", "Reasons", "Next step"], rows)


def _findings(causes: tuple[Cause, ...], past: Past) -> Iterator[str]:
    if not causes:
        return
    yield f"### {many(len(causes), 'finding')}\n"
    rows = [
        [
            str(number),
            str(cause.lead.standing) + ("" if cause.lead.counted else ", not counted"),
            "<br>".join(
                [
                    f"{inline(cause.heading, 300)} **{inline(cause.was, 400)}**",
                    *(inline(words, 400) for words in cause.details_in_words),
                ]
            ),
            inline(cause.lead.operation or "")
            + (f" ({inline(', '.join(cause.lead.methods))})" if cause.lead.methods else ""),
            inline(", ".join(cause.realms)),
            inline("; ".join(filter(None, (cause.lead.rate_in_words, cause.stood_in_the_way)))),
            inline(following(cause)),
            f"`{cause.id}` {inline(cause.lead.clause)}",
            *([inline(past.describe(cause.lead.clause, cause.lead.realm))] if past.runs else []),
        ]
        for number, cause in enumerate(causes[:_FINDINGS_AT_MOST], start=1)
    ]
    head = [
        "",
        "Standing",
        "What should be, and what was",
        "Operation",
        "Realms",
        "How often",
        "From it follows",
        "Id and clause",
    ]
    yield from _table([*head, *(["Since when"] if past.runs else [])], rows)
    if len(causes) > _FINDINGS_AT_MOST:
        yield f"{many(len(causes) - _FINDINGS_AT_MOST, 'finding')} more in the report.\n"


def _drift(drift: DriftReport) -> Iterator[str]:
    if drift.sentence is None:
        return
    yield "### Drift\n"
    yield f"{inline(drift.sentence, 1000)}\n"
    if not drift.changes:
        return
    rows = [
        [
            f"**{cause.severity}**" if cause.severity is Severity.BREAKING else str(cause.severity),
            str(cause.kind) + (", outside the consumer" if drift.outside.issuperset(cause.changes) else ""),
            inline(", ".join(cause.realms)),
            inline(cause.says, 300),
        ]
        for cause in drift.causes[:_CHANGES_AT_MOST]
    ]
    yield from _table(["Severity", "Change", "Realms", "What differs"], rows)
    if len(drift.causes) > _CHANGES_AT_MOST:
        yield f"{many(len(drift.causes) - _CHANGES_AT_MOST, 'cause')} more in the report.\n"


def _deviations(verdict: RunVerdict) -> Iterator[str]:
    if not verdict.deviations:
        return
    yield f"### {many(len(verdict.deviations), 'accepted deviation')}\n"
    rows = [
        [
            inline(outcome.clause) + (f" ({outcome.operation})" if outcome.operation else ""),
            f"**{group.name}**" if outcome.fails else group.name,
            inline(outcome.says),
            inline(f"{outcome.reason} ({outcome.owner})"),
            inline(outcome.issue),
            inline(outcome.place),
        ]
        for group in deviation_groups(verdict)
        for outcome in group.outcomes[:_FINDINGS_AT_MOST]
    ]
    yield from _table(["Clause", "Course", "", "Reason", "Issue", "Entry"], rows)


def _notes(verdict: RunVerdict) -> Iterator[str]:
    waived = [outcome.sentence for outcome in verdict.waivers if outcome.needed]
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
    rows = [[realm, *(str(counts[realm][kind] or "") for kind in Verdict)] for realm in realms]
    yield from _table(["Realm", *map(str, Verdict)], rows)


def _table(head: list[str], rows: Iterable[list[str]]) -> Iterator[str]:
    yield f"| {' | '.join(head)} |"
    yield f"|{'---|' * len(head)}"
    for row in rows:
        yield f"| {' | '.join(row)} |"
    yield ""
