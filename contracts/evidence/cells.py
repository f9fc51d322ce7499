"""One cell of the grid: the verdict on one clause in one realm, from the cases that touched it."""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from contracts.evidence.findings import Finding, Standing
from contracts.evidence.outcomes import Verdict
from contracts.evidence.record import AssertionCount, Case, Observation, Untested
from contracts.interface.catalogue import Clause

_MISSING_SETTING = re.compile(r"\bsettings? (?P<names>.+?) (?:is missing|are missing|has no unused id left)")


@dataclass(frozen=True, slots=True)
class Evidence:
    """All that a run holds on one clause in one realm."""

    cases: tuple[Case, ...] = ()
    findings: tuple[Finding, ...] = ()
    observations: tuple[Observation, ...] = ()
    untested: tuple[Untested, ...] = ()


@dataclass(frozen=True, slots=True)
class Cell:
    """The verdict on one clause in one realm.

    `held` and `contradicted` count assertions; `cases` are node ids; `findings` are finding ids; `reason` is
    None only for a pass and an observation without anything to add. `unreached` says that cases took the clause up
    and none came to an assertion on it.
    """

    clause: Clause
    realm: str
    verdict: Verdict
    reason: str | None
    held: int
    contradicted: int
    cases: tuple[str, ...]
    findings: tuple[str, ...]
    unreached: bool = False

    @property
    def assertions(self) -> int:
        """How many assertions about the clause were reached in this realm."""
        return self.held + self.contradicted


def judge_cell(clause: Clause, realm: str, evidence: Evidence) -> Cell:
    """Give the verdict on `clause` in `realm`: the worst of what the evidence says.

    Design section 3: a pass needs an assertion that was reached and held; findings that were not confirmed do
    not fail; a clause that holds in one case and is inconclusive in another is inconclusive; a clause that
    nothing is said of is untested.
    """
    counts = [counts_for(clause.id, case) for case in evidence.cases]
    held, contradicted = sum(count.held for count in counts), sum(count.contradicted for count in counts)
    statements = [*_from_findings(evidence.findings, held), *_from_cases(clause, evidence.cases)]
    statements += _from_assertions(clause, evidence, held, contradicted)
    statements += [(Verdict.UNTESTED, untested.reason) for untested in evidence.untested]
    unreached = not statements and bool(evidence.cases) and clause.untested is None
    if not statements:
        statements = [(Verdict.UNTESTED, _why_untested(clause, evidence.cases))]
    verdict, reason = min(statements, key=_weight)
    return Cell(
        clause=clause,
        realm=realm,
        verdict=verdict,
        reason=reason,
        held=held,
        contradicted=contradicted,
        cases=tuple(case.id for case in evidence.cases),
        findings=tuple(finding.id for finding in evidence.findings),
        unreached=unreached,
    )


Statement = tuple[Verdict, str | None]


def _weight(statement: Statement) -> tuple[int, bool]:
    """Order statements: the worst first, of equals the one that names a setting, as that can be set."""
    verdict, reason = statement
    return verdict.rank, missing_settings(reason) is None


def missing_settings(reason: str | None) -> str | None:
    """Return the settings that a reason names as missing ("setting X is missing"), or None."""
    match = _MISSING_SETTING.search(reason or "")
    return match["names"] if match else None


def _from_findings(findings: Iterable[Finding], held: int) -> Iterator[Statement]:
    for finding in findings:
        place = f"{finding.operation or 'the service'}: {finding.seen}"
        if finding.standing is Standing.FAIL:
            yield Verdict.FAIL, place
        elif finding.standing is Standing.ADVISORY:
            yield Verdict.ADVISORY, place
        elif finding.standing is Standing.DEVIATION and finding.accepted is not None:
            accepted = finding.accepted
            until = f"accepted until {accepted.expires} ({accepted.place})"
            yield Verdict.DEVIATION, f"{until}: {accepted.reason}; {place}"
        elif finding.standing is Standing.UNCONFIRMED:
            reason = f"contradicted once, not again ({finding.rate}): {place}"
            yield (Verdict.PASS if held else Verdict.INCONCLUSIVE), reason


def _from_cases(clause: Clause, cases: Iterable[Case]) -> Iterator[Statement]:
    # Only a case that lists the clause counts here: a universal check is judged apart from the case that ran it.
    for case in cases:
        if clause.id not in case.clauses:
            continue
        if case.outcome in {Verdict.ERROR, Verdict.INCONCLUSIVE}:
            cause = case.blocked_by.cause if case.blocked_by else None
            yield case.outcome, case.reason or cause or f"{case.name}: no reason was given"
        elif case.outcome is Verdict.UNTESTED:
            yield Verdict.UNTESTED, case.reason or f"{case.name}: no assertion was reached"


def _from_assertions(clause: Clause, evidence: Evidence, held: int, contradicted: int) -> Iterator[Statement]:
    if clause.level == "silent":
        if held or contradicted or evidence.observations:
            yield Verdict.OBSERVED, None
        return
    explained = {case for finding in evidence.findings for case in finding.cases}
    if any(counts_for(clause.id, case).contradicted for case in evidence.cases if case.id not in explained):
        yield _contradicted_without_finding(clause.level)
    if held:
        yield Verdict.PASS, None


def _contradicted_without_finding(level: str) -> Statement:
    if level == "should":
        return Verdict.ADVISORY, "an assertion was contradicted"
    return Verdict.ERROR, "an assertion was contradicted, but the case wrote no finding"


def _why_untested(clause: Clause, cases: tuple[Case, ...]) -> str:
    if not cases:
        return clause.untested or "no case took it up in this run"
    stopped = next((case for case in cases if case.outcome is Verdict.FAIL), None)
    if stopped is not None:
        return f"no assertion was reached: '{stopped.name}' stopped at another finding"
    return f"no assertion was reached by {_names(cases)}"


def _names(cases: tuple[Case, ...]) -> str:
    first = f"'{cases[0].name}'"
    return first if len(cases) == 1 else f"{first} and {len(cases) - 1} more"


def counts_for(clause: str, case: Case) -> AssertionCount:
    """Return how often `case` held and contradicted `clause`, all operations together."""
    counts = [count for count in case.assertions if count.clause == clause]
    held, contradicted = sum(count.held for count in counts), sum(count.contradicted for count in counts)
    return AssertionCount(clause, None, held, contradicted)
