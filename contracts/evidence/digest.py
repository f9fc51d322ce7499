"""What every report for people shows: three lamps, counts per realm, and what settings are wanting."""

from collections import Counter, defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum

from contracts.evidence.cells import Cell, missing_settings
from contracts.evidence.contradictions import Standing
from contracts.evidence.deviations import WARNING_DAYS, Course, DeviationOutcome
from contracts.evidence.outcomes import Verdict
from contracts.evidence.plain import many
from contracts.evidence.record import RunRecord
from contracts.evidence.verdicts import RunVerdict
from contracts.evidence.weather import faults_in_words

_COURSE_NAMES = {
    Course.EXPIRED: "expired",
    Course.GONE: "no longer happens",
    Course.PARTLY: "partly gone",
    Course.UNJUDGED: "not judged",
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
    found = [Wanting(reason, missing_settings(reason), tuple(group)) for reason, group in groups.items()]
    return tuple(sorted(found, key=lambda each: (each.settings is None, -len(each.cells), each.reason)))


def deviation_groups(verdict: RunVerdict) -> tuple[DeviationGroup, ...]:
    """Return the deviations by course, those that need a hand first; groups that are empty are left out."""
    groups: dict[str, list[DeviationOutcome]] = {name: [] for name in _COURSES}
    for outcome in verdict.deviations:
        groups[_course(outcome)].append(outcome)
    return tuple(DeviationGroup(name, tuple(found)) for name, found in groups.items() if found)


def _course(outcome: DeviationOutcome) -> str:
    if outcome.course is Course.HAPPENS:
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
    if record.deaths:
        return Lamp("suite", Light.AMBER, f"{many(len(record.deaths), 'worker')} died, their cases ran again")
    return Lamp("suite", Light.GREEN, f"{many(len(record.cases), 'case')} ran to the end")
