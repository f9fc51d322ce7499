"""`summary.md`: the run on one page, for the job page of a build server; also statuses and counts for other reports."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Final, NamedTuple

from registry_contracts.errors import ExitCode
from registry_contracts.evidence.accepted import WARNING_DAYS, DeviationOutcome, DeviationState
from registry_contracts.evidence.cells import Cell, Remedy, of_the_end
from registry_contracts.evidence.findings import Standing
from registry_contracts.evidence.record import RunRecord, Verdict
from registry_contracts.evidence.verdicts import RunVerdict, faults_in_words
from registry_contracts.history.runs import read_past
from registry_contracts.reports.cards import following
from registry_contracts.reports.pages import markdown_template
from registry_contracts.safe_text import many

_COURSE_NAMES = {
    DeviationState.EXPIRED: "expired",
    DeviationState.GONE: "no longer happens",
    DeviationState.PARTLY: "partly gone",
    DeviationState.UNJUDGED: "not judged",
}
_COURSES = ("expired", "no longer happens", "partly gone", "expires soon", "accepted", "not judged")


class Colour(StrEnum):
    """The colour of a status; grey says that nothing was judged."""

    GREEN = "green"
    AMBER = "amber"
    RED = "red"
    GREY = "grey"


@dataclass(frozen=True, slots=True)
class Status:
    """The status of one possible reason: contract, blocking findings, settings, environment or suite.

    `verdicts` counts the clause and realm pairs that it accounts for; all statuses together account for each pair once.
    """

    name: str
    colour: Colour
    says: str
    verdicts: int


class UntestedGroup(NamedTuple):
    """Clauses that stayed untested for one reason, and the realms concerned, each once."""

    reason: str
    clauses: tuple[str, ...]
    realms: tuple[str, ...]


#: The remedies of unjudged pairs that a status accounts for.
_ANSWERS_FOR = {
    "blocked by findings": (Remedy.FINDING,),
    "settings": (Remedy.SETTING, Remedy.ACCOUNT),
    "environment": (Remedy.SERVICE,),
    "suite": (Remedy.SUITE,),
}


def statuses(record: RunRecord, verdict: RunVerdict) -> tuple[Status, ...]:
    """Return the statuses contract, blocked by findings, settings, environment and suite."""
    missing = Counter(cell.remedy for cell in verdict.cells)
    of = {name: sum(missing[remedy] for remedy in remedies) for name, remedies in _ANSWERS_FOR.items()}
    outside = sum(cell.remedy is None and not cell.verdict.given for cell in verdict.cells)
    verdicts = of | {"contract": missing[None] - outside, "suite": of["suite"] + outside}
    answers = {
        "contract": _contradicted(verdict) or _judged(verdict),
        "blocked by findings": _blocked(verdict, of["blocked by findings"]),
        "settings": _settings(record, missing),
        "environment": _environment(record, verdict, of["environment"]),
        "suite": _suite(record, verdict, of["suite"]),
    }
    return tuple(Status(name, *answer, verdicts[name]) for name, answer in answers.items())


def counts_per_realm(cells: Iterable[Cell]) -> dict[str, Counter[Verdict]]:
    """Return the number of clauses with each verdict, by realm."""
    counts: dict[str, Counter[Verdict]] = defaultdict(Counter)
    for cell in cells:
        counts[cell.realm][cell.verdict] += 1
    return dict(counts)


def untested_groups(cells: Iterable[Cell]) -> tuple[UntestedGroup, ...]:
    """Group untested cells by reason: missing settings first, then the most frequent reason."""
    groups: dict[str, list[Cell]] = defaultdict(list)
    for cell in cells:
        if cell.verdict is Verdict.UNTESTED:
            groups[cell.reason or "no reason was given"].append(cell)
    ordered = sorted(groups.items(), key=lambda pair: (not pair[1][0].settings, -len(pair[1]), pair[0]))
    return tuple(
        UntestedGroup(
            reason,
            clauses=tuple(dict.fromkeys(cell.clause.id for cell in group)),
            realms=tuple(dict.fromkeys(cell.realm for cell in group)),
        )
        for reason, group in ordered
    )


def deviation_groups(verdict: RunVerdict) -> dict[str, list[DeviationOutcome]]:
    """Return the deviations by state, those that must be changed first; no group is empty."""
    groups: dict[str, list[DeviationOutcome]] = {name: [] for name in _COURSES}
    for outcome in verdict.deviations:
        groups[_course(outcome)].append(outcome)
    return {name: outcomes for name, outcomes in groups.items() if outcomes}


def _course(outcome: DeviationOutcome) -> str:
    if outcome.course is DeviationState.HAPPENS:
        return "expires soon" if outcome.days_left <= WARNING_DAYS else "accepted"
    return _COURSE_NAMES[outcome.course]


def _contradicted(verdict: RunVerdict) -> tuple[Colour, str] | None:
    if failing := sum(cause.fails for cause in verdict.causes):
        return Colour.RED, f"{many(failing, 'finding')} against must clauses"
    if stale := sum(outcome.fails for outcome in verdict.deviations):
        return Colour.RED, f"{many(stale, 'deviation')} ran out or no longer happens"
    return None


def _judged(verdict: RunVerdict) -> tuple[Colour, str]:
    standings = Counter(cause.standing for cause in verdict.causes)
    judged = len({cell.clause.id for cell in verdict.cells if cell.assertions})
    if not judged:
        return Colour.GREY, "nothing was judged"
    if accepted := standings[Standing.DEVIATION] + standings[Standing.FAIL]:
        return Colour.AMBER, f"{many(accepted, 'finding')} accepted or outside the consumer"
    softer = standings[Standing.ADVISORY] + standings[Standing.UNCONFIRMED]
    if softer:
        return Colour.AMBER, f"{many(softer, 'finding')}, none against a confirmed must"
    if verdict.problems:
        return Colour.GREY, "nothing contradicted in what is left of the record"
    if verdict.exit_code is ExitCode.INCONCLUSIVE:
        return Colour.AMBER, f"nothing contradicted in the {many(judged, 'clause')} that could be judged"
    return Colour.GREEN, f"{many(judged, 'clause')} judged, nothing contradicted"


def _blocked(verdict: RunVerdict, verdicts: int) -> tuple[Colour, str]:
    if not verdicts:
        return Colour.GREEN, "no finding blocked another verdict"
    behind = sum(bool(cause.blocked_cases) for cause in verdict.causes)
    named = f"behind {many(behind, 'finding')}" if behind else "behind findings"
    return Colour.AMBER, f"{many(verdicts, 'verdict')} {named}"


def _settings(record: RunRecord, missing: Mapping[Remedy | None, int]) -> tuple[Colour, str]:
    wanted = [
        f"{missing[remedy]:,} for lack of {remedy}" for remedy in _ANSWERS_FOR["settings"] if missing[remedy]
    ]
    if record.run.breaker and of_the_end(record.run.breaker) in _ANSWERS_FOR["settings"]:
        return Colour.RED, "they stopped the run early"
    return (Colour.AMBER, ", ".join(wanted)) if wanted else (Colour.GREEN, "nothing was missing")


def _environment(record: RunRecord, verdict: RunVerdict, verdicts: int) -> tuple[Colour, str]:
    if record.run.breaker and of_the_end(record.run.breaker) is not Remedy.SERVICE:
        return Colour.GREEN, "it answered"
    if record.run.breaker and record.run.breaker in verdict.reason:
        return Colour.RED, "it stopped the run early"
    if record.run.breaker:
        return Colour.RED, f"stopped early: {record.run.breaker}"
    if faults := faults_in_words(record.run.environment):
        return Colour.AMBER, faults
    if verdicts:
        return Colour.AMBER, f"{many(verdicts, 'verdict')} could not be given"
    return Colour.GREEN, "no faults"


def _suite(record: RunRecord, verdict: RunVerdict, verdicts: int) -> tuple[Colour, str]:
    broken = sum(case.outcome is Verdict.ERROR for case in record.cases)
    if record.run.refused:
        return Colour.AMBER, "settings or options cannot be used; nothing was sent"
    if verdict.problems:
        return Colour.RED, "the evidence is incomplete"
    if broken or verdict.count(Verdict.ERROR):
        return Colour.RED, f"{many(broken, 'case')} broke"
    if record.run.interrupted:
        return Colour.AMBER, "interrupted by hand"
    if record.crashes:
        return Colour.AMBER, f"{many(len(record.crashes), 'worker')} died between two cases"
    colour, left = (
        (Colour.AMBER, f"; {many(verdicts, 'verdict')} not given") if verdicts else (Colour.GREEN, "")
    )
    return colour, f"{many(len(record.cases), 'case')} ran to the end{left}"


FILE_NAME: Final = "summary.md"
_AT_MOST: Final = 50


def write(record: RunRecord, verdict: RunVerdict, folder: Path) -> None:
    """Write `summary.md`.

    Raises:
        UsageError: the folder's file of earlier runs is damaged.
    """
    counts = counts_per_realm(verdict.cells)
    text = markdown_template("summary.md.j2").render(
        record=record,
        run=record.run,
        verdict=verdict,
        verdicts=list(Verdict),
        statuses=statuses(record, verdict),
        past=read_past(folder),
        deviations=deviation_groups(verdict),
        notes={
            "Could not be judged": verdict.unjudged_lines,
            "Waived": [outcome.sentence for outcome in verdict.waivers if outcome.needed],
            "Warnings": verdict.notes,
        },
        per_realm=counts,
        realms=[realm for realm in dict.fromkeys([*record.run.realms, *counts]) if realm in counts],
        at_most=_AT_MOST,
        following=following,
    )
    (folder / FILE_NAME).write_text(text, "utf-8")
