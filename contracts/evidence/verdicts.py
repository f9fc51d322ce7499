"""Judges a record: a verdict per clause and realm, then the run's verdict and exit code (design 3)."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from contracts.evidence.cells import Cell, Evidence, judge_cell, missing_settings
from contracts.evidence.contradictions import Finding, Standing, blocked_cases, put_together
from contracts.evidence.outcomes import ExitCode, Verdict, first_that_holds
from contracts.evidence.plain import many
from contracts.evidence.record import Case, RunRecord
from contracts.interface.clauses import Clause
from contracts.interface.operations import ANY_REALM

_SHOWN = 3


@dataclass(frozen=True, slots=True)
class RunVerdict:
    """The answer of a run.

    `cells` stand in the catalogue's order, realms within a clause in the run's order. `blocked` maps a case
    to the finding that stood in its way. `problems` says why the evidence cannot be relied on as a whole.
    """

    exit_code: ExitCode
    reason: str
    cells: tuple[Cell, ...]
    findings: tuple[Finding, ...]
    blocked: Mapping[str, str]
    problems: tuple[str, ...]

    @property
    def word(self) -> str:
        """The verdict in a word or two: `pass`, `fail`, `nothing tested`, …."""
        return self.exit_code.word

    @property
    def sentence(self) -> str:
        """The verdict and its reason in one line."""
        return f"{self.word}: {self.reason}"

    def count(self, verdict: Verdict) -> int:
        """Return how many cells have a verdict."""
        return sum(cell.verdict is verdict for cell in self.cells)


def judge(record: RunRecord, catalogue: Iterable[Clause]) -> RunVerdict:
    """Judge a record against the clauses it was run for.

    Args:
        record: what the run saw.
        catalogue: the clauses; those the run did not select appear only where something was seen of them.

    Returns:
        The verdict of the run, with every cell and finding. The same record gives the same verdict.
    """
    clauses = {clause.id: clause for clause in catalogue}
    levels = {key: str(clause.level) for key, clause in clauses.items()}
    findings = put_together(record.findings, levels)
    cells = tuple(_cells(record, clauses, findings))
    problems = (*record.problems, *_contradictions_of_its_own(record, clauses))
    reasons = dict(_holding(record, cells, findings, problems))
    code = first_that_holds(reasons)
    return RunVerdict(
        exit_code=code,
        reason=reasons[code],
        cells=cells,
        findings=findings,
        blocked=blocked_cases(record.cases, findings),
        problems=problems,
    )


def refused_untested(record: RunRecord, cells: Iterable[Cell]) -> list[Cell]:
    """Return the must cells a strict run does not forgive: untested for want of a setting, not waived."""
    return [
        cell
        for cell in cells
        if cell.clause.level == "must"
        and cell.verdict is Verdict.UNTESTED
        and missing_settings(cell.reason)
        and cell.clause.id not in record.run.waived
    ]


def _cells(record: RunRecord, clauses: Mapping[str, Clause], findings: Sequence[Finding]) -> Iterator[Cell]:
    evidence = _evidence(record, findings)
    realms = (ANY_REALM, *record.run.realms)
    selected = set(record.run.clauses)
    for clause in clauses.values():
        expected = set(clause.realms) if clause.id in selected else set()
        seen = [realm for key, realm in evidence if key == clause.id]
        for realm in dict.fromkeys([*realms, *seen]):
            if realm in expected or (clause.id, realm) in evidence:
                yield judge_cell(clause, realm, evidence.get((clause.id, realm), Evidence()))


def _evidence(record: RunRecord, findings: Sequence[Finding]) -> dict[tuple[str, str], Evidence]:
    cases: dict[tuple[str, str], list[Case]] = defaultdict(list)
    for case in record.cases:
        touched = [*case.clauses, *(count.clause for count in case.assertions)]
        for clause in dict.fromkeys(touched):
            cases[clause, case.realm].append(case)
    keyed = [
        {(each.clause, each.realm) for each in group}
        for group in (findings, record.observations, record.untested)
    ]
    places = dict.fromkeys([*cases, *sorted(set().union(*keyed))])
    return {
        place: Evidence(
            cases=tuple(cases.get(place, ())),
            findings=tuple(each for each in findings if (each.clause, each.realm) == place),
            observations=tuple(each for each in record.observations if (each.clause, each.realm) == place),
            untested=tuple(each for each in record.untested if (each.clause, each.realm) == place),
        )
        for place in places
    }


def _contradictions_of_its_own(record: RunRecord, clauses: Mapping[str, Clause]) -> Iterator[str]:
    """Yield the suite's own mistakes: clauses the catalogue does not know, failures without a finding."""
    named = {clause for case in record.cases for clause in case.clauses}
    named |= {each.clause for each in record.findings} | {each.clause for each in record.observations}
    named |= {each.clause for each in record.untested}
    for clause in sorted(named - clauses.keys()):
        yield f"the catalogue has no clause '{clause}', yet a case speaks of it"
    explained = {finding.case for finding in record.findings if finding.confirmed}
    for case in record.cases:
        if case.outcome is Verdict.FAIL and case.id not in explained:
            yield f"'{case.name}' in {case.realm} failed, but wrote no confirmed finding"


def _holding(
    record: RunRecord, cells: Sequence[Cell], findings: Sequence[Finding], problems: Sequence[str]
) -> Iterator[tuple[ExitCode, str]]:
    """Yield every exit code that holds, with its reason."""
    if record.run.interrupted:
        yield ExitCode.INTERRUPTED, _interrupted(record, findings)
    failing = [finding for finding in findings if finding.standing is Standing.FAIL]
    if failing:
        yield ExitCode.FAIL, _failed(failing)
    broken = [case for case in record.cases if case.outcome is Verdict.ERROR]
    unexplained = [cell for cell in cells if cell.verdict is Verdict.ERROR]
    if problems or broken or unexplained:
        yield ExitCode.ERROR, _broken(problems, broken, unexplained)
    unjudged = [c for c in cells if c.clause.level == "must" and c.verdict is Verdict.INCONCLUSIVE]
    refused = refused_untested(record, cells) if record.run.strict else []
    if unjudged or refused or record.run.breaker:
        yield ExitCode.INCONCLUSIVE, _inconclusive(record.run.breaker, unjudged, refused)
    reached = sum(count.held + count.contradicted for case in record.cases for count in case.assertions)
    if not reached:
        yield ExitCode.NOTHING_TESTED, _nothing(record)
    else:
        yield ExitCode.PASS, _passed(cells, reached)


def _interrupted(record: RunRecord, findings: Sequence[Finding]) -> str:
    cases = many(len(record.cases), "case")
    return f"stopped by hand after {cases}; {many(len(findings), 'finding')} until then"


def _failed(failing: Sequence[Finding]) -> str:
    realms = ", ".join(sorted({finding.realm for finding in failing}))
    places = dict.fromkeys(f"{finding.clause} ({finding.operation})" for finding in failing)
    return f"{many(len(failing), 'finding')} in {realms}: {_listed(list(places))}"


def _broken(problems: Sequence[str], cases: Sequence[Case], cells: Sequence[Cell]) -> str:
    if problems:
        return f"the evidence is not whole: {_listed(list(problems), '; ')}"
    if cases:
        first = f"{cases[0].name}: {cases[0].reason or 'no reason given'}"
        return f"the suite broke in {many(len(cases), 'case')}: {first}"
    return f"the suite contradicts itself on {cells[0].clause.id} in {cells[0].realm}: {cells[0].reason}"


def _inconclusive(breaker: str | None, unjudged: Sequence[Cell], refused: Sequence[Cell]) -> str:
    if breaker:
        return f"the run was stopped early, {breaker}"
    if unjudged:
        places = dict.fromkeys(f"{cell.clause.id} in {cell.realm}" for cell in unjudged)
        count = many(len(unjudged), "verdict")
        return f"{count} on must clauses could not be given: {_listed(list(places))}: {unjudged[0].reason}"
    clauses = dict.fromkeys(cell.clause.id for cell in refused)
    settings = dict.fromkeys(filter(None, (missing_settings(cell.reason) for cell in refused)))
    return (
        f"strict: {many(len(clauses), 'must clause')} untested, missing settings: {_listed(list(settings))}"
    )


def _nothing(record: RunRecord) -> str:
    return f"no assertion was reached by {many(len(record.cases), 'case')}"


def _passed(cells: Sequence[Cell], reached: int) -> str:
    clauses = len({cell.clause.id for cell in cells if cell.assertions})
    realms = len({cell.realm for cell in cells if cell.assertions} - {ANY_REALM}) or 1
    wanting = len({c.clause.id for c in cells if c.clause.level == "must" and missing_settings(c.reason)})
    note = f"; {many(wanting, 'must clause')} untested for want of a setting" if wanting else ""
    return f"{many(reached, 'assertion')} on {many(clauses, 'clause')} in {many(realms, 'realm')}{note}"


def _listed(items: Sequence[str], separator: str = ", ") -> str:
    more = len(items) - _SHOWN
    return separator.join(items[:_SHOWN]) + (f" and {more} more" if more > 0 else "")
