"""Judges a record: a verdict per clause and realm (see `cells`), then the run's verdict and reason (design 3).

Waivers and accepted deviations are followed: what became of each, and which unjudged must clauses block the run.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date
from enum import StrEnum
from types import MappingProxyType

from contracts.evidence.causes import Cause, attribute, causes_of
from contracts.evidence.findings import (
    Cell,
    ConsumerScope,
    Evidence,
    Finding,
    Standing,
    apply_terms,
    judge_cell,
    merge_findings,
    missing_settings,
    scope_of,
    wanting_settings,
)
from contracts.evidence.record import Case, Environment, ExitCode, RunRecord, Verdict, deciding_exit_code
from contracts.evidence.remedies import NotJudged, Remedies
from contracts.evidence.terms import Deviation, Waiver
from contracts.history.drift import NO_DRIFT, DriftReport
from contracts.interface.catalogue import Clause
from contracts.interface.operations import ANY_REALM, in_realms
from contracts.safe_text import many


@dataclass(frozen=True, slots=True)
class WaiverOutcome:
    """A waiver and whether the run needed it; `realms` are those it was needed in."""

    waiver: Waiver
    realms: tuple[str, ...]
    says: str

    @property
    def needed(self) -> bool:
        """Whether a judgement was missing without it."""
        return bool(self.realms)

    @property
    def line(self) -> str:
        """File and line, the clause, and whether the waiver is needed."""
        return f"{self.waiver.place}: the waiver of {self.waiver.clause} {self.says}"


def counting(record: RunRecord, cells: Iterable[Cell]) -> list[Cell]:
    """Return the cells that matter to the consumer; without one, all of them."""
    consumer = record.run.terms.consumer
    return [cell for cell in cells if consumer is None or consumer.covers(cell.clause, cell.realm)]


def unjudged(record: RunRecord, cells: Iterable[Cell]) -> list[Cell]:
    """Return the must cells that could not be judged, waived ones included.

    The environment or a failed precondition stood in the way; under `strict` also: a setting is missing, or the
    cases on it ended before they reached it. What lies outside the profile, or what nothing can test, is not here.
    """
    return [
        cell
        for cell in counting(record, cells)
        if cell.clause.level == "must"
        and (cell.verdict is Verdict.INCONCLUSIVE or _refused(record, cell))
        and not _blocked_elsewhere(record, cell)
    ]


def blocking(record: RunRecord, cells: Iterable[Cell]) -> list[Cell]:
    """Return the must cells that could not be judged and are not waived."""
    return [cell for cell in unjudged(record, cells) if cell.clause.id not in record.run.waived]


def unjudged_lines(cells: Iterable[Cell], accepted: Mapping[str, str] = MappingProxyType({})) -> list[str]:
    """Word cells that could not be judged, a line for each reason, with its clauses and their realms.

    Args:
        accepted: Cases that stand behind an accepted deviation, with the file and line of its entry.
    """
    realms: dict[tuple[str, str], list[str]] = {}
    for cell in cells:
        reason = cell.reason or "no reason was given"
        behind = dict.fromkeys(accepted[case] for case in cell.cases if case in accepted)
        if behind:
            reason += (
                f"; behind the accepted deviation {', '.join(behind)}: a waiver does without the judgement"
            )
        realms.setdefault((cell.clause.id, reason), []).append(cell.realm)
    clauses: dict[tuple[str, str], list[str]] = {}
    for (clause, reason), places in realms.items():
        clauses.setdefault((reason, in_realms(places)), []).append(clause)
    return [f"{', '.join(names)} {where}: {reason}" for (reason, where), names in clauses.items()]


def follow_waivers(record: RunRecord, cells: Sequence[Cell]) -> list[WaiverOutcome]:
    """Say of every waiver of the consumer whether the run needed it, in the order of the file."""
    consumer = record.run.terms.consumer
    if consumer is None:
        return []
    missing = unjudged(record, cells)
    return [_follow(record, waiver, cells, missing) for waiver in consumer.waivers]


def _blocked_elsewhere(record: RunRecord, cell: Cell) -> bool:
    """Tell whether only operations that the consumer does not use stood in the way, and its own were judged."""
    consumer = record.run.terms.consumer
    if consumer is None or not consumer.operations:
        return False
    mine = [case for case in record.cases if case.realm == cell.realm and case.id in cell.cases]
    stuck = [case for case in mine if case.outcome is Verdict.INCONCLUSIVE and cell.clause.id in case.clauses]
    if not stuck or any(
        case.blocked_by is None or consumer.uses(case.blocked_by.operation) for case in stuck
    ):
        return False
    wanted = {name for case in stuck for name in case.operations if name in cell.clause.operations}
    held = {
        count.operation
        for case in mine
        for count in case.assertions
        if count.clause == cell.clause.id and count.held
    }
    used = {name for name in wanted if consumer.uses(name)}
    return bool(used) and used <= held


def _refused(record: RunRecord, cell: Cell) -> bool:
    wanting = bool(missing_settings(cell.reason)) or cell.unreached
    return record.run.strict and cell.verdict is Verdict.UNTESTED and wanting


def _follow(
    record: RunRecord, waiver: Waiver, cells: Sequence[Cell], missing: Sequence[Cell]
) -> WaiverOutcome:
    mine = [cell for cell in missing if cell.clause.id == waiver.clause]
    realms = tuple(cell.realm for cell in mine)
    return WaiverOutcome(
        waiver, realms, _needed(waiver, mine) if mine else _not_needed(record, waiver, cells)
    )


def _needed(waiver: Waiver, mine: Sequence[Cell]) -> str:
    realms = ", ".join(cell.realm for cell in mine)
    return f"does without a judgement in {realms} ({waiver.reason}): {mine[0].reason}"


def _not_needed(record: RunRecord, waiver: Waiver, cells: Sequence[Cell]) -> str:
    own = [cell for cell in cells if cell.clause.id == waiver.clause]
    if own and own[0].clause.level != "must":
        return f"is not needed: a {own[0].clause.level} never blocks a release; take the line out"
    if not counting(record, own):
        return "is not needed: the consumer does not use what it concerns; take the line out"
    if any(cell.verdict is Verdict.FAIL for cell in own):
        return "does not help: the clause was judged, and is contradicted; a deviation can accept that"
    if any(cell.assertions for cell in own):
        return "is no longer needed: the clause was judged; take the line out"
    return "is not needed: nothing blocks there; take the line out"


#: A date this close is warned of.
WARNING_DAYS = 14
#: The profiles in rising order, as the entries name them.
_PROFILES = ("smoke", "gate", "nightly", "full")
#: Verdicts that rest on all that was to be judged of a cell.
_JUDGED = frozenset({Verdict.PASS, Verdict.ADVISORY, Verdict.DEVIATION, Verdict.FAIL})


class DeviationState(StrEnum):
    """What became of a deviation; the first two fail a run."""

    EXPIRED = "expired"
    GONE = "gone"
    PARTLY = "partly"
    HAPPENS = "happens"
    UNJUDGED = "unjudged"


@dataclass(frozen=True, slots=True)
class DeviationOutcome:
    """A deviation and what the run saw of it, realm by realm.

    `counted` is false outside what the consumer uses. `findings` are ids. `says` is one line for people, without
    the file and line of the entry.
    """

    deviation: Deviation
    course: DeviationState
    days_left: int
    happens_in: tuple[str, ...]
    gone_in: tuple[str, ...]
    unjudged_in: tuple[str, ...]
    findings: tuple[str, ...]
    counted: bool
    says: str

    @property
    def fails(self) -> bool:
        """Whether the run fails until the entry is changed."""
        return self.counted and self.course in {DeviationState.EXPIRED, DeviationState.GONE}

    @property
    def warns(self) -> bool:
        """Whether the entry needs a look, though the run does not fail."""
        if self.fails:
            return False
        return (
            self.course in {DeviationState.EXPIRED, DeviationState.GONE, DeviationState.PARTLY}
            or self.days_left <= WARNING_DAYS
        )

    @property
    def line(self) -> str:
        """File and line, the clause, and what became of it."""
        operation = f" ({self.deviation.operation})" if self.deviation.operation else ""
        return f"{self.deviation.place}: the deviation on {self.deviation.clause}{operation} {self.says}"


def follow_deviations(
    record: RunRecord, cells: Iterable[Cell], findings: Sequence[Finding], day: date
) -> list[DeviationOutcome]:
    """Say what became of every deviation that the run was held to on a day, in the order of the file."""
    by_place = {(cell.clause.id, cell.realm): cell for cell in cells}
    return [
        _follow_deviation(record, by_place, findings, deviation, deviation.days_left(day))
        for deviation in record.run.terms.deviations
    ]


def _follow_deviation(
    record: RunRecord,
    cells: Mapping[tuple[str, str], Cell],
    findings: Sequence[Finding],
    deviation: Deviation,
    left: int,
) -> DeviationOutcome:
    mine = [
        finding
        for finding in findings
        if deviation.concerns(finding.clause, finding.realm, finding.operation)
    ]
    happens = tuple(realm for realm in deviation.realms if any(finding.realm == realm for finding in mine))
    gone = tuple(
        realm
        for realm in deviation.realms
        if realm not in happens and _judged(record, cells.get((deviation.clause, realm)), deviation)
    )
    course = _course(left, happens, gone)
    return DeviationOutcome(
        deviation=deviation,
        course=course,
        days_left=left,
        happens_in=happens,
        gone_in=gone,
        unjudged_in=tuple(realm for realm in deviation.realms if realm not in (*happens, *gone)),
        findings=tuple(finding.id for finding in mine),
        counted=_counted(record, deviation, cells),
        says=_summary(deviation, course, left, happens, gone),
    )


def _judged(record: RunRecord, cell: Cell | None, deviation: Deviation) -> bool:
    """Tell whether the run would have seen the contradiction, had it been there.

    Nothing stood in the way of a case on the clause, none was left out, and an assertion on the deviation's
    operation held. A run that was stopped early has seen too little.
    """
    if cell is None or cell.verdict not in _JUDGED:
        return False
    if record.run.interrupted or record.run.breaker or record.problems:
        return False
    if _PROFILES.index(record.run.profile) < _PROFILES.index(deviation.profile):
        return False
    if any(narrowing.touches(cell.clause.id, cell.realm) for narrowing in record.narrowed):
        return False
    return any(
        count.clause == deviation.clause and count.held and deviation.operation in {None, count.operation}
        for case in record.cases
        if case.realm == cell.realm
        for count in case.assertions
    )


def _counted(record: RunRecord, deviation: Deviation, cells: Mapping[tuple[str, str], Cell]) -> bool:
    terms = record.run.terms
    if terms.consumer is None:
        return True
    cell = next(
        (cells[deviation.clause, realm] for realm in deviation.realms if (deviation.clause, realm) in cells),
        None,
    )
    listed = cell.clause.operations if cell else ()
    operations = (deviation.operation,) if deviation.operation else listed
    return any(
        terms.counts(deviation.clause, realm, operation)
        for realm in deviation.realms
        for operation in operations
    )


def _course(left: int, happens: Sequence[str], gone: Sequence[str]) -> DeviationState:
    if left < 0:
        return DeviationState.EXPIRED
    if gone:
        return DeviationState.PARTLY if happens else DeviationState.GONE
    return DeviationState.HAPPENS if happens else DeviationState.UNJUDGED


def _summary(
    deviation: Deviation, course: DeviationState, left: int, happens: Sequence[str], gone: Sequence[str]
) -> str:
    if course is DeviationState.EXPIRED:
        seen = f"it still happens in {_places(happens)}" if happens else "nothing was seen of it"
        seen = f"it no longer happens in {_places(gone)}" if gone and not happens else seen
        advice = (
            "take the entry out"
            if gone and not happens
            else f"settle it with {deviation.owner}, or set a later date"
        )
        return f"ran out on {deviation.expires}, and {seen}; {advice}"
    if course is DeviationState.GONE:
        return f"no longer happens in {_places(gone)}: take the entry out"
    until = _until(deviation.expires, left)
    if course is DeviationState.PARTLY:
        leave_out = f"leave {_places(gone)} out of its realms"
        return f"happens in {_places(happens)}, no longer in {_places(gone)}: {leave_out}; {until}"
    if course is DeviationState.HAPPENS:
        return f"happens in {_places(happens)}; {until}"
    return f"was not judged in this run; {until}"


def _until(day: date, left: int) -> str:
    if left > WARNING_DAYS:
        return f"accepted until {day}"
    when = "today is its last day" if left == 0 else f"in {many(left, 'day')}"
    return f"it runs out on {day}, {when}"


def _places(realms: Sequence[str]) -> str:
    return ", ".join(realms)


#: Verdicts that say that a clause was judged.
_JUDGED_CELLS = (Verdict.FAIL, Verdict.ADVISORY, Verdict.DEVIATION, Verdict.OBSERVED, Verdict.PASS)
_KINDS_AT_MOST = 6


def faults_in_words(environment: Environment) -> str:
    """Return the kinds of faults and how often each was met; empty when there were none."""
    faults, retries = environment.faults, environment.retries
    if not faults and not retries:
        return ""
    ordered = sorted(faults.items(), key=lambda pair: (-pair[1], pair[0]))
    kinds = [f"{count} {kind}" if len(faults) > 1 else kind for kind, count in ordered[:_KINDS_AT_MOST]]
    kinds += [f"{len(ordered) - _KINDS_AT_MOST} kinds more"] if len(ordered) > _KINDS_AT_MOST else []
    shown = f" ({', '.join(kinds)})" if kinds else ""
    again = f", retried {many(retries, 'time')}" if retries else ""
    return f"{many(sum(faults.values()), 'fault')}{shown}{again}"


def environment_faults(environment: Environment, cells: Iterable[Cell]) -> str:
    """Return the faults of the environment and what was judged in spite of them; empty when there were none."""
    faults = faults_in_words(environment)
    if not faults:
        return ""
    counts = Counter(cell.verdict for cell in cells)
    judged = [f"{counts[verdict]} {verdict}" for verdict in _JUDGED_CELLS if counts[verdict]]
    return f"{faults}; judged all the same: {', '.join(judged) or 'nothing'}"


_SHOWN = 3


def interrupted(record: RunRecord, causes: Sequence[Cause]) -> str:
    """Why a run counts as interrupted."""
    cases = many(len(record.cases), "case")
    return f"stopped by hand after {cases}; {many(len(causes), 'finding')} until then"


def failed(record: RunRecord, causes: Sequence[Cause], deviations: Sequence[DeviationOutcome]) -> str:
    """Why a run failed: findings that count, by cause, with the consumer's methods, and deviations to be changed."""
    parts = []
    findings = [finding for cause in causes for finding in cause.all_findings]
    failing = [finding for finding in findings if finding.fails]
    if failing:
        leads = [cause.lead for cause in causes if cause.fails]
        realms = in_realms(sorted({finding.realm for finding in failing}))
        places = dict.fromkeys(
            f"{finding.clause} ({finding.operation or 'the service'})" for finding in leads
        )
        parts.append(f"{many(len(leads), 'finding')} {realms}: {listed(list(places))}")
    parts += [outcome.line for outcome in deviations if outcome.fails][:_SHOWN]
    more = sum(outcome.fails for outcome in deviations) - _SHOWN
    parts += [f"{many(more, 'deviation')} more to be changed"] if more > 0 else []
    methods = record.run.terms.methods_of(finding.operation for finding in failing)
    parts += [f"affects {listed(methods)}"] if methods else []
    return "; ".join([*parts, *_outside(record, findings)])


def _broken(problems: Sequence[str], cases: Sequence[Case], cells: Sequence[Cell]) -> Iterator[str]:
    if problems:
        yield f"the evidence is not whole: {listed(list(problems), '; ')}"
    if cases:
        first = f"{cases[0].name}: {cases[0].reason or 'no reason given'}"
        yield f"the suite broke in {many(len(cases), 'case')}: {first}"
    if cells and not (problems or cases):
        yield f"the suite contradicts itself on {cells[0].clause.id} {in_realms([cells[0].realm])}: {cells[0].reason}"


def inconclusive(record: RunRecord, blocking: Sequence[Cell]) -> str:
    """Why a run could not be judged."""
    if record.run.breaker:
        return f"the run was stopped early, {record.run.breaker}"
    stuck = [cell for cell in blocking if cell.verdict is Verdict.INCONCLUSIVE]
    if not stuck and all(missing_settings(cell.reason) for cell in blocking):
        clauses = dict.fromkeys(cell.clause.id for cell in blocking)
        settings = dict.fromkeys(filter(None, (missing_settings(cell.reason) for cell in blocking)))
        named = f" ({listed(list(clauses))})" if record.run.terms.consumer else ""
        untested = f"{many(len(clauses), 'must clause')}{named} untested"
        return f"strict: {untested}, missing settings: {listed(list(settings))}"
    shown = stuck or [cell for cell in blocking if not missing_settings(cell.reason)]
    places = dict.fromkeys(f"{cell.clause.id} {in_realms([cell.realm])}" for cell in shown)
    count = many(len(blocking), "verdict")
    return f"{count} on must clauses could not be given: {listed(list(places))}: {shown[0].reason}"


def nothing(record: RunRecord) -> str:
    """Why a run has tested nothing."""
    where = f" on what {record.run.terms.consumer.file} uses" if record.run.terms.consumer else ""
    return f"no assertion was reached{where} by {many(len(record.cases), 'case')}"


def passed(
    record: RunRecord,
    cells: Sequence[Cell],
    findings: Sequence[Finding],
    waivers: Sequence[WaiverOutcome],
    reached: int,
) -> str:
    """What a pass rests on, and what it leaves out."""
    clauses = len({cell.clause.id for cell in cells if cell.assertions})
    realms = len({cell.realm for cell in cells if cell.assertions} - {ANY_REALM}) or 1
    parts = [f"{many(reached, 'assertion')} on {many(clauses, 'clause')} in {many(realms, 'realm')}"]
    consumer = record.run.terms.consumer
    if consumer is not None and consumer.operations:
        parts[0] += f", {many(len(consumer.operations), 'operation')} of {consumer.file}"
    accepted = len(
        {
            finding.accepted
            for finding in findings
            if finding.standing is Standing.DEVIATION and finding.counted
        }
    )
    parts += [f"{many(accepted, 'accepted deviation')}"] if accepted else []
    waived = sum(waiver.needed for waiver in waivers)
    parts += [f"{many(waived, 'must clause')} waived"] if waived else []
    without = {waiver.waiver.clause for waiver in waivers if waiver.needed}
    wanting = wanting_settings((cell.clause, cell.reason) for cell in cells) - without
    parts += [f"{many(len(wanting), 'must clause')} untested for want of a setting"] if wanting else []
    return "; ".join([*parts, *_outside(record, findings)])


def _outside(record: RunRecord, findings: Iterable[Finding]) -> list[str]:
    consumer = record.run.terms.consumer
    number = sum(finding.standing is Standing.FAIL and not finding.counted for finding in findings)
    return [f"{many(number, 'finding')} outside {consumer.file} not counted"] if consumer and number else []


def listed(items: Sequence[str], separator: str = ", ") -> str:
    """Return the first few of several things, and how many more there are."""
    more = len(items) - _SHOWN
    return separator.join(items[:_SHOWN]) + (f" and {more} more" if more > 0 else "")


@dataclass(frozen=True, slots=True)
class RunVerdict:
    """The answer of a run.

    `cells` stand in the catalogue's order, realms within a clause in the run's order. `causes` holds the findings
    grouped by what they come from. `blocked` maps a case to the finding that stood in its way. `problems` says why
    the evidence cannot be relied on as a whole. `deviations` and `waivers` say what became of each that the run
    was held to, `drift` how its observations differ from the accepted baseline. `unjudged` are the must cells that
    could not be judged and are not waived. `environment_faults` says which faults of the environment were met, and
    what was judged all the same; empty for none. `crashes` says of workers that died without harm that they did.
    `unwritten` names each report that could not be written, with the reason; none of it touches what was judged.
    `target` says what was judged, in words; `not_judged` what was not, by what would remedy it.
    """

    exit_code: ExitCode
    reason: str
    cells: tuple[Cell, ...]
    findings: tuple[Finding, ...]
    causes: tuple[Cause, ...]
    blocked: Mapping[str, str]
    problems: tuple[str, ...]
    deviations: tuple[DeviationOutcome, ...] = ()
    waivers: tuple[WaiverOutcome, ...] = ()
    drift: DriftReport = NO_DRIFT
    unjudged: tuple[Cell, ...] = ()
    environment_faults: str = ""
    crashes: tuple[str, ...] = ()
    unwritten: tuple[str, ...] = ()
    target: str = ""
    not_judged: tuple[NotJudged, ...] = ()

    @property
    def word(self) -> str:
        """The verdict in a word or two: `pass`, `fail`, `nothing tested`, …."""
        return self.exit_code.word

    @property
    def sentence(self) -> str:
        """The verdict and its reason in one line."""
        return f"{self.word}: {self.reason}"

    @property
    def line(self) -> str:
        """The sentence with the exit code and the target, as a terminal's last line has it."""
        return f"{self.sentence} (exit code {int(self.exit_code)}, target: {self.target})"

    @property
    def notes(self) -> tuple[str, ...]:
        """What needs attention and does not fail the run, a line each."""
        entries = [outcome.line for outcome in self.deviations if outcome.warns]
        # Beside a worse verdict the reason does not speak of them.
        missing = () if self.exit_code is ExitCode.ERROR else self.unwritten
        return (
            *missing,
            *self.crashes,
            *entries,
            *(outcome.line for outcome in self.waivers if not outcome.needed),
        )

    @property
    def unjudged_lines(self) -> list[str]:
        """The must clauses that could not be judged and are not waived, a line each, with what stood in the way."""
        places = {
            finding.id: finding.accepted.place for finding in self.findings if finding.accepted is not None
        }
        behind = {case: places[key] for case, key in self.blocked.items() if key in places}
        return unjudged_lines(self.unjudged, behind)

    def count(self, verdict: Verdict) -> int:
        """Return how many cells have a verdict."""
        return sum(cell.verdict is verdict for cell in self.cells)

    def findings_of(self, case: Case) -> tuple[Finding, ...]:
        """Return the findings that a case saw."""
        return tuple(finding for finding in self.findings if case.id in finding.cases)

    def causes_of(self, case: Case) -> tuple[Cause, ...]:
        """Return what the findings of a case come from."""
        return tuple(
            cause for cause in self.causes if any(case.id in finding.cases for finding in cause.all_findings)
        )

    def scope_of(self, case: Case) -> ConsumerScope:
        """Tell what the contradictions of a case mean for the run."""
        return scope_of(self.findings_of(case))


def judge(
    record: RunRecord,
    catalogue: Iterable[Clause],
    drift: DriftReport = NO_DRIFT,
    unwritten: tuple[str, ...] = (),
    day: date | None = None,
) -> RunVerdict:
    """Judge a record against the clauses it was run for.

    Args:
        catalogue: the clauses; those the run did not select appear only where something was seen of them.
        drift: how its observations differ from the accepted baseline.
        unwritten: a line for each report that could not be written, which is an error of the suite.
        day: what deviations are held against; the day of the run by default.

    Returns:
        The verdict of the run, with every cell and finding. The same record gives the same verdict.
    """
    clauses = {clause.id: clause for clause in catalogue}
    levels = {key: str(clause.level) for key, clause in clauses.items()}
    terms, day = record.run.terms, day or record.run.day
    findings = apply_terms(terms, day, merge_findings(record.findings, levels))
    cells = tuple(_cells(record, clauses, findings))
    causes, blocked = attribute(causes_of(record, findings, clauses), record.cases, cells)
    verdict = RunVerdict(
        # The worst, until the rest is known that the answer is made from.
        exit_code=ExitCode.ERROR,
        reason="not judged yet",
        cells=cells,
        findings=findings,
        causes=causes,
        blocked=blocked,
        problems=(*record.problems, *_suite_mistakes(record, clauses)),
        deviations=tuple(follow_deviations(record, cells, findings, day)),
        waivers=tuple(follow_waivers(record, cells)),
        drift=drift,
        unjudged=tuple(blocking(record, cells)),
        environment_faults=environment_faults(record.run.environment, cells),
        crashes=record.crashes,
        unwritten=unwritten,
        target=record.run.target_in_words,
        not_judged=Remedies(record, cells, findings, blocked).not_judged(),
    )
    holding = dict(_applicable_exit_codes(record, verdict))
    code = deciding_exit_code(holding)
    # What stopped a run that judged nothing is all there is to tell of the environment.
    nothing_judged = bool(record.run.breaker) and not any(verdict.count(kind) for kind in _JUDGED_CELLS)
    with_faults = code is ExitCode.INCONCLUSIVE and verdict.environment_faults and not nothing_judged
    reason = f"{holding[code]}; {verdict.environment_faults}" if with_faults else holding[code]
    return replace(verdict, exit_code=code, reason=reason)


def _cells(record: RunRecord, clauses: Mapping[str, Clause], findings: Sequence[Finding]) -> Iterator[Cell]:
    evidence = _evidence(record, clauses, findings)
    realms = (ANY_REALM, *record.run.realms)
    selected = set(record.run.clauses)
    for clause in clauses.values():
        expected = set(clause.realms) if clause.id in selected else set()
        seen = [realm for key, realm in evidence if key == clause.id]
        for realm in dict.fromkeys([*realms, *seen]):
            if realm in expected or (clause.id, realm) in evidence:
                yield judge_cell(clause, realm, evidence.get((clause.id, realm), Evidence()))


def _evidence(
    record: RunRecord, clauses: Mapping[str, Clause], findings: Sequence[Finding]
) -> dict[tuple[str, str], Evidence]:
    cases: dict[tuple[str, str], list[Case]] = defaultdict(list)
    turns: dict[tuple[str, str], dict[str, None]] = defaultdict(dict)
    for case in record.cases:
        asserted = [count.clause for count in case.assertions]
        # A case that runs in more realms than a clause of it holds in says nothing of it in the others.
        own = [name for name in case.clauses if name not in clauses or case.realm in clauses[name].realms]
        for clause in dict.fromkeys([*own, *asserted]):
            cases[clause, case.realm].append(case)
        for clause in asserted if case.deals else ():
            turns[clause, case.anywhere][case.realm] = None

    def dealt(clause: str, realm: str) -> tuple[str, ...]:
        mine = cases.get((clause, realm), ())
        held = all(case.outcome is Verdict.PASS for case in mine)
        return (
            tuple(sorted({place for case in mine for place in turns[clause, case.anywhere]})) if held else ()
        )

    keyed = [
        {(entry.clause, entry.realm) for entry in group}
        for group in (findings, record.observations, record.untested)
    ]
    places = dict.fromkeys([*cases, *sorted(set().union(*keyed))])
    return {
        place: Evidence(
            cases=tuple(cases.get(place, ())),
            findings=tuple(finding for finding in findings if (finding.clause, finding.realm) == place),
            observations=tuple(
                observation
                for observation in record.observations
                if (observation.clause, observation.realm) == place
            ),
            untested=tuple(entry for entry in record.untested if (entry.clause, entry.realm) == place),
            dealt=dealt(*place),
        )
        for place in places
    }


def _suite_mistakes(record: RunRecord, clauses: Mapping[str, Clause]) -> Iterator[str]:
    """Yield the suite's own mistakes: clauses the catalogue does not know, failures without a finding."""
    named = {clause for case in record.cases for clause in case.clauses}
    named |= {finding.clause for finding in record.findings} | {
        observation.clause for observation in record.observations
    }
    named |= {clause.clause for clause in record.untested}
    for clause in sorted(named - clauses.keys()):
        yield f"the catalogue has no clause '{clause}', yet a case speaks of it"
    explained = {finding.case for finding in record.findings if finding.confirmed}
    for case in record.cases:
        if case.outcome is Verdict.FAIL and case.id not in explained:
            yield f"'{case.name}' failed {in_realms([case.realm])}, but wrote no confirmed finding"


def _applicable_exit_codes(record: RunRecord, verdict: RunVerdict) -> Iterator[tuple[ExitCode, str]]:
    """Yield every exit code that holds, with its reason."""
    if record.run.refused:
        yield ExitCode.USAGE, record.run.refused
        return
    findings, cells = verdict.findings, counting(record, verdict.cells)
    if record.run.interrupted:
        yield ExitCode.INTERRUPTED, interrupted(record, verdict.causes)
    failing = any(finding.fails for finding in findings) or any(
        deviation.fails for deviation in verdict.deviations
    )
    if failing or verdict.drift.blocking:
        reason = failed(record, verdict.causes, verdict.deviations) if failing else None
        yield ExitCode.FAIL, "; ".join(filter(None, (reason, verdict.drift.blocking)))
    broken = [case for case in record.cases if case.outcome is Verdict.ERROR]
    unexplained = [cell for cell in verdict.cells if cell.verdict is Verdict.ERROR]
    if verdict.problems or broken or unexplained or verdict.unwritten:
        reasons = [*_broken(verdict.problems, broken, unexplained), *verdict.unwritten]
        yield ExitCode.ERROR, "; ".join(reasons)
    if verdict.unjudged or record.run.breaker:
        yield ExitCode.INCONCLUSIVE, inconclusive(record, verdict.unjudged)
    reached = _reached(record)
    if not reached:
        yield ExitCode.NOTHING_TESTED, nothing(record)
    else:
        yield ExitCode.PASS, passed(record, cells, findings, verdict.waivers, reached)


def _reached(record: RunRecord) -> int:
    """Count the assertions that bear on the verdict."""
    return sum(
        count.held + count.contradicted
        for case in record.cases
        for count in case.assertions
        if record.run.terms.counts(count.clause, case.realm, count.operation)
    )
