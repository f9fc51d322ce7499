"""Judges a record: a verdict per clause and realm (see `cells`), then the run's verdict and reason."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date
from functools import cached_property

from registry_contracts.errors import ExitCode
from registry_contracts.evidence.accepted import (
    DeviationOutcome,
    WaiverOutcome,
    counting,
    follow_deviations,
    follow_waivers,
    unjudged,
)
from registry_contracts.evidence.causes import Cause, attribute, causes_of
from registry_contracts.evidence.cells import Cell, NotJudged, cells_of, not_judged, with_remedies
from registry_contracts.evidence.findings import Finding, Standing, merge_findings
from registry_contracts.evidence.record import PRECEDENCE, Case, Environment, RunRecord, Verdict
from registry_contracts.evidence.repairs import Repair, repairs, unexplained
from registry_contracts.history.drift import NO_DRIFT, DriftReport
from registry_contracts.interface.catalogue import Clause
from registry_contracts.interface.operations import ANY_REALM, in_realms
from registry_contracts.safe_text import listed, many

_KINDS_AT_MOST = 6


def faults_in_words(environment: Environment) -> str:
    """Return the faults by kind and number as text; empty without faults."""
    faults, retries = environment.faults, environment.retries
    if not faults:
        return ""
    ordered = sorted(faults.items(), key=lambda pair: (-pair[1], pair[0]))
    kinds = [f"{count} {kind}" if len(faults) > 1 else kind for kind, count in ordered[:_KINDS_AT_MOST]]
    kinds += [f"{len(ordered) - _KINDS_AT_MOST} kinds more"] if len(ordered) > _KINDS_AT_MOST else []
    again = f", retried {many(retries, 'time')}" if retries else ""
    return f"{many(sum(faults.values()), 'fault')} ({', '.join(kinds)}){again}"


def environment_faults(environment: Environment, cells: Iterable[Cell]) -> str:
    """Return the environment faults and the verdicts given in spite of them; empty without faults."""
    faults = faults_in_words(environment)
    if not faults:
        return ""
    counts = Counter(cell.verdict for cell in cells)
    judged = [f"{counts[verdict]} {verdict}" for verdict in Verdict if verdict.given and counts[verdict]]
    return f"{faults}; judged anyway: {', '.join(judged) or 'nothing'}"


_SHOWN = 3


def _why_failed(
    record: RunRecord, causes: Sequence[Cause[Finding]], deviations: Sequence[DeviationOutcome]
) -> str:
    """Why a run failed: causes that count, with the consumer's methods, and deviations that must be changed."""
    parts = []
    findings = [finding for cause in causes for finding in cause.all_findings]
    failing = [finding for finding in findings if finding.fails]
    if failing:
        leads = [cause.lead for cause in causes if cause.fails]
        realms = in_realms(sorted({finding.realm for finding in failing}))
        places = dict.fromkeys(
            f"{finding.clause} ({finding.operation or 'the service'})" for finding in leads
        )
        parts.append(f"{many(len(leads), 'finding')} {realms}: {listed(places)}")
    parts += [outcome.sentence for outcome in deviations if outcome.fails][:_SHOWN]
    more = sum(outcome.fails for outcome in deviations) - _SHOWN
    parts += [f"{many(more, 'deviation')} more to be changed"] if more > 0 else []
    methods = record.run.terms.methods_of(finding.operation for finding in failing)
    parts += [f"affects {listed(methods)}"] if methods else []
    return "; ".join([*parts, *_outside(record, findings)])


def _why_broken(problems: Sequence[str], cases: Sequence[Case], cells: Sequence[Cell]) -> Iterator[str]:
    if problems:
        yield f"the evidence is incomplete: {listed(problems, '; ')}"
    if cases:
        first = f"{cases[0].name}: {cases[0].reason or 'no reason given'}"
        yield f"the suite broke in {many(len(cases), 'case')}: {first}"
    if cells and not (problems or cases):
        yield f"the suite contradicts itself on {cells[0].clause.id} {in_realms([cells[0].realm])}: {cells[0].reason}"


def _why_inconclusive(record: RunRecord, blocking: Sequence[Cell]) -> str:
    """Why a run could not be judged."""
    if record.run.breaker:
        return f"the run was stopped early, {record.run.breaker}"
    stuck = [cell for cell in blocking if cell.verdict is Verdict.INCONCLUSIVE]
    if not stuck and all(cell.settings for cell in blocking):
        clauses = dict.fromkeys(cell.clause.id for cell in blocking)
        settings = dict.fromkeys(name for cell in blocking for name in cell.settings)
        named = f" ({listed(clauses)})" if record.run.terms.consumer else ""
        untested = f"{many(len(clauses), 'must clause')}{named} untested"
        return f"strict: {untested}, missing settings: {listed(settings)}"
    shown = stuck or [cell for cell in blocking if not cell.settings]
    places = dict.fromkeys(f"{cell.clause.id} {in_realms([cell.realm])}" for cell in shown)
    count = many(len(blocking), "verdict")
    return f"{count} on must clauses could not be given: {listed(places)}: {shown[0].reason}"


def _why_passed(
    record: RunRecord,
    cells: Sequence[Cell],
    findings: Sequence[Finding],
    waivers: Sequence[WaiverOutcome],
    reached: int,
) -> str:
    """The number of assertions behind a pass, and what it leaves out."""
    clauses = len({cell.clause.id for cell in cells if cell.assertions})
    judged = Counter(cell.realm for cell in cells if cell.assertions)
    of_realms = [f"{number:,} in {realm}" for realm, number in judged.items() if realm != ANY_REALM]
    where = f"({', '.join(of_realms)})" if of_realms[1:] else in_realms(judged)
    parts = [f"{many(reached, 'assertion')} on {many(clauses, 'clause')} {where}"]
    consumer = record.run.terms.consumer
    if consumer.operations:
        parts[0] += f", {many(len(consumer.operations), 'operation')} of {consumer.file}"
    accepted = len({f.deviation for f in findings if f.standing is Standing.DEVIATION and f.counted})
    parts += [f"{many(accepted, 'accepted deviation')}"] if accepted else []
    waived = sum(waiver.needed for waiver in waivers)
    parts += [f"{many(waived, 'must clause')} waived"] if waived else []
    without = {waiver.clause for waiver in waivers if waiver.needed}
    wanting = {cell.clause.id for cell in cells if cell.clause.level == "must" and cell.settings} - without
    parts += [f"{many(len(wanting), 'must clause')} untested: a setting is missing"] if wanting else []
    return "; ".join([*parts, *_outside(record, findings)])


def _outside(record: RunRecord, findings: Iterable[Finding]) -> list[str]:
    consumer = record.run.terms.consumer
    number = sum(finding.standing is Standing.FAIL and not finding.counted for finding in findings)
    return [f"{many(number, 'finding')} outside {consumer.file} not counted"] if consumer and number else []


@dataclass(frozen=True)
class RunVerdict:
    """The answer of a run.

    `cells` are in the catalogue's order, realms within a clause in the run's order. `blocked` maps a case to the
    finding that blocked it. `problems` says why the evidence is incomplete, `crashes` that workers died without harm,
    `unwritten` which reports could not be written. `unjudged` are the must cells that could not be judged and are not
    waived; `not_judged` groups unjudged cells by remedy; `repairs` counts faults that retries overcame.
    """

    exit_code: ExitCode
    reason: str
    target: str
    cells: tuple[Cell, ...]
    findings: tuple[Finding, ...]
    causes: tuple[Cause[Finding], ...]
    blocked: Mapping[str, str]
    problems: tuple[str, ...]
    crashes: tuple[str, ...]
    deviations: tuple[DeviationOutcome, ...]
    waivers: tuple[WaiverOutcome, ...]
    drift: DriftReport
    unjudged: tuple[Cell, ...]
    not_judged: tuple[NotJudged, ...]
    environment_faults: str
    repairs: tuple[Repair, ...]
    unwritten: tuple[str, ...]

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
        """Warnings that do not fail the run, a line each."""
        entries = [outcome.sentence for outcome in self.deviations if outcome.warns]
        unneeded = [outcome.sentence for outcome in self.waivers if not outcome.needed]
        # With exit code ERROR the reason already names them.
        missing = () if self.exit_code is ExitCode.ERROR else self.unwritten
        return (*missing, *self.crashes, *entries, *unneeded)

    @property
    def unjudged_lines(self) -> list[str]:
        """The must clauses that could not be judged and are not waived, with reasons, a line each."""
        entries = {finding.id: finding.deviation for finding in self.findings if finding.deviation}
        accepted = {case: entries[key] for case, key in self.blocked.items() if key in entries}
        realms: dict[tuple[str, str], list[str]] = defaultdict(list)
        for cell in self.unjudged:
            reason = cell.reason or "no reason was given"
            if behind := dict.fromkeys(accepted[case] for case in cell.cases if case in accepted):
                reason += f"; behind the accepted deviation {', '.join(behind)}: a waiver would allow that"
            realms[cell.clause.id, reason].append(cell.realm)
        clauses: dict[str, list[str]] = defaultdict(list)
        for (clause, reason), places in realms.items():
            clauses[f"{in_realms(places)}: {reason}"].append(clause)
        return [f"{', '.join(names)} {where_and_why}" for where_and_why, names in clauses.items()]

    def count(self, verdict: Verdict) -> int:
        """Return how many cells have a verdict."""
        return sum(cell.verdict is verdict for cell in self.cells)

    @cached_property
    def clauses(self) -> Mapping[str, Clause]:
        """The clauses of all cells, by id."""
        return {cell.clause.id: cell.clause for cell in self.cells}

    def accepting(self, finding: Finding) -> DeviationOutcome | None:
        """Return the deviation that accepts a finding, or None."""
        return next((entry for entry in self.deviations if entry.place == finding.deviation), None)


def judge(
    record: RunRecord,
    catalogue: Iterable[Clause],
    drift: DriftReport = NO_DRIFT,
    unwritten: tuple[str, ...] = (),
    day: date | None = None,
) -> RunVerdict:
    """Judge a record; the same record gives the same verdict.

    Args:
        catalogue: the clauses; those that the run did not select appear only if there is evidence on them.
        unwritten: a line for each report that could not be written, which is an error of the suite.
        day: by which deviations expire; the day of the run by default.
    """
    clauses = {clause.id: clause for clause in catalogue}
    levels = {key: str(clause.level) for key, clause in clauses.items()}
    terms, day = record.run.terms, day or record.run.day
    # The faults that stopped a run are its reason, and no findings.
    doubtful = () if record.run.breaker else unexplained(record)
    findings = merge_findings(record.findings, levels, terms, day, doubtful)
    cells = tuple(cells_of(record, clauses, findings))
    causes, blocked = attribute(causes_of(record, findings, clauses), record.cases, cells)
    cells = with_remedies(record, cells, findings, blocked)
    verdict = RunVerdict(
        # Replaced below, once everything else is known.
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
        unjudged=tuple(cell for cell in unjudged(record, cells) if cell.clause.id not in record.run.waived),
        environment_faults=environment_faults(record.run.environment, cells),
        crashes=record.crashes,
        repairs=repairs(record),
        unwritten=unwritten,
        target=record.run.target_in_words,
        not_judged=not_judged(cells),
    )
    holding = dict(_applicable_exit_codes(record, verdict))
    code = min(holding, key=PRECEDENCE.index)
    # If nothing was judged, the breaker's reason says all about the environment.
    nothing_judged = bool(record.run.breaker) and not any(cell.verdict.given for cell in cells)
    with_faults = code is ExitCode.INCONCLUSIVE and verdict.environment_faults and not nothing_judged
    reason = f"{holding[code]}; {verdict.environment_faults}" if with_faults else holding[code]
    return replace(verdict, exit_code=code, reason=reason)


def _suite_mistakes(record: RunRecord, clauses: Mapping[str, Clause]) -> Iterator[str]:
    """Yield the suite's own mistakes: clauses the catalogue does not know, failures without a finding."""
    named = {clause for case in record.cases for clause in case.clauses}
    named |= {each.clause for each in record.findings} | {each.clause for each in record.observations}
    named |= {each.clause for each in record.untested}
    for clause in sorted(named - clauses.keys()):
        yield f"the catalogue has no clause '{clause}', but a case names it"
    explained = {case for finding in record.findings if finding.confirmed for case in finding.cases}
    for case in record.cases:
        if case.outcome is Verdict.FAIL and case.id not in explained:
            yield f"'{case.name}' failed {in_realms([case.realm])}, but wrote no confirmed finding"


def _applicable_exit_codes(record: RunRecord, verdict: RunVerdict) -> Iterator[tuple[ExitCode, str]]:
    """Yield every exit code that holds, with its reason."""
    if record.run.refused:
        yield ExitCode.USAGE, record.run.refused
        return
    findings, cells = verdict.findings, counting(record, verdict.cells)
    cases = many(len(record.cases), "case")
    if record.run.interrupted:
        findings_so_far = many(len(verdict.causes), "finding")
        yield ExitCode.INTERRUPTED, f"stopped by hand after {cases}; {findings_so_far} until then"
    failing = any(finding.fails for finding in findings) or any(each.fails for each in verdict.deviations)
    if failing or verdict.drift.blocking:
        reason = _why_failed(record, verdict.causes, verdict.deviations) if failing else None
        yield ExitCode.FAIL, "; ".join(filter(None, (reason, verdict.drift.blocking)))
    broken = [case for case in record.cases if case.outcome is Verdict.ERROR]
    unexplained = [cell for cell in verdict.cells if cell.verdict is Verdict.ERROR]
    if verdict.problems or broken or unexplained or verdict.unwritten:
        reasons = [*_why_broken(verdict.problems, broken, unexplained), *verdict.unwritten]
        yield ExitCode.ERROR, "; ".join(reasons)
    if verdict.unjudged or record.run.breaker:
        yield ExitCode.INCONCLUSIVE, _why_inconclusive(record, verdict.unjudged)
    if reached := _reached(record):
        yield ExitCode.PASS, _why_passed(record, cells, findings, verdict.waivers, reached)
    else:
        where = f" on what {record.run.terms.consumer.file} uses" if record.run.terms.consumer else ""
        yield ExitCode.NOTHING_TESTED, f"no assertion was reached{where} by {cases}"


def _reached(record: RunRecord) -> int:
    """Count the assertions that affect the verdict."""
    return sum(
        count.held + count.contradicted
        for case in record.cases
        for count in case.assertions
        if record.run.terms.consumer.counts(count.clause, case.realm, count.operation)
    )
