"""The reason of a run's verdict, as one sentence for people."""

from collections.abc import Iterable, Sequence

from contracts.evidence.cells import Cell, missing_settings
from contracts.evidence.contradictions import Finding, Standing
from contracts.evidence.deviations import DeviationOutcome
from contracts.evidence.outcomes import Verdict
from contracts.evidence.plain import many
from contracts.evidence.record import Case, RunRecord
from contracts.evidence.waiving import WaiverOutcome
from contracts.interface.operations import ANY_REALM

_SHOWN = 3


def interrupted(record: RunRecord, findings: Sequence[Finding]) -> str:
    """Why a run counts as interrupted."""
    cases = many(len(record.cases), "case")
    return f"stopped by hand after {cases}; {many(len(findings), 'finding')} until then"


def failed(record: RunRecord, findings: Sequence[Finding], deviations: Sequence[DeviationOutcome]) -> str:
    """Why a run failed: findings that count, with the consumer's methods, and deviations to be changed."""
    said = []
    failing = [finding for finding in findings if finding.fails]
    if failing:
        realms = ", ".join(sorted({finding.realm for finding in failing}))
        places = dict.fromkeys(f"{finding.clause} ({_where(finding)})" for finding in failing)
        said.append(f"{many(len(failing), 'finding')} in {realms}: {listed(list(places))}")
    said += [outcome.line for outcome in deviations if outcome.fails][:_SHOWN]
    more = sum(outcome.fails for outcome in deviations) - _SHOWN
    said += [f"{many(more, 'deviation')} more to be changed"] if more > 0 else []
    methods = record.run.terms.methods_of(finding.operation for finding in failing)
    said += [f"affects {listed(methods)}"] if methods else []
    return "; ".join([*said, *_outside(record, findings)])


def broken(
    problems: Sequence[str], cases: Sequence[Case], cells: Sequence[Cell], unwritten: Sequence[str]
) -> str:
    """Why the suite itself is to blame; a report that is missing is named beside whatever else is."""
    said = [_broken(problems, cases, cells)] if problems or cases or cells else []
    return "; ".join([*said, *unwritten])


def _broken(problems: Sequence[str], cases: Sequence[Case], cells: Sequence[Cell]) -> str:
    if problems:
        return f"the evidence is not whole: {listed(list(problems), '; ')}"
    if cases:
        first = f"{cases[0].name}: {cases[0].reason or 'no reason given'}"
        return f"the suite broke in {many(len(cases), 'case')}: {first}"
    return f"the suite contradicts itself on {cells[0].clause.id} in {cells[0].realm}: {cells[0].reason}"


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
    places = dict.fromkeys(f"{cell.clause.id} in {cell.realm}" for cell in shown)
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
    said = [f"{many(reached, 'assertion')} on {many(clauses, 'clause')} in {many(realms, 'realm')}"]
    consumer = record.run.terms.consumer
    if consumer is not None and consumer.operations:
        said[0] += f", {many(len(consumer.operations), 'operation')} of {consumer.file}"
    accepted = len(
        {each.accepted for each in findings if each.standing is Standing.DEVIATION and each.counted}
    )
    said += [f"{many(accepted, 'accepted deviation')}"] if accepted else []
    waived = sum(waiver.needed for waiver in waivers)
    said += [f"{many(waived, 'must clause')} waived"] if waived else []
    given = {waiver.waiver.clause for waiver in waivers if waiver.needed}
    wanting = {c.clause.id for c in cells if c.clause.level == "must" and missing_settings(c.reason)} - given
    said += [f"{many(len(wanting), 'must clause')} untested for want of a setting"] if wanting else []
    return "; ".join([*said, *_outside(record, findings)])


def _where(finding: Finding) -> str:
    return str(finding.operation or "the service")


def _outside(record: RunRecord, findings: Iterable[Finding]) -> list[str]:
    consumer = record.run.terms.consumer
    number = sum(each.standing is Standing.FAIL and not each.counted for each in findings)
    return [f"{many(number, 'finding')} outside {consumer.file} not counted"] if consumer and number else []


def listed(items: Sequence[str], separator: str = ", ") -> str:
    """Return the first few of several things, and how many more there are."""
    more = len(items) - _SHOWN
    return separator.join(items[:_SHOWN]) + (f" and {more} more" if more > 0 else "")
