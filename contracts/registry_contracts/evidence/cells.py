"""Cells: the verdict on one clause in one realm, from all evidence on it, and the remedy where it was not given."""

import re
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import Final

from registry_contracts.evidence.findings import Finding, Standing
from registry_contracts.evidence.record import AssertionCount, Case, RunRecord, Verdict
from registry_contracts.evidence.terms import Terms
from registry_contracts.exchanges.foreign_answers import perhaps_foreign
from registry_contracts.interface.catalogue import Clause
from registry_contracts.interface.operations import ANY_REALM
from registry_contracts.interface.profiles import Profile
from registry_contracts.safe_text import many


@dataclass(slots=True)
class _Evidence:
    """The evidence of a run on one clause in one realm.

    `untested` holds reasons. `rotated_to`: other realms in which its rotated cases tested the clause. `left_out`: the
    selection left out cases on it.
    """

    terms: Terms
    cases: list[Case] = field(default_factory=list)
    findings: list[Finding] = field(default_factory=list)
    untested: list[str] = field(default_factory=list)
    observed: bool = False
    rotated_to: set[str] = field(default_factory=set)
    left_out: bool = False


class Remedy(StrEnum):
    """What is missing for a verdict."""

    FINDING = "a fixed finding"
    SETTING = "a setting"
    ACCOUNT = "an account"
    SERVICE = "a usable answer"
    SUITE = "a working case"


@dataclass(frozen=True, slots=True)
class Cell:
    """The verdict on one clause in one realm.

    `held` and `contradicted` count assertions; `cases` are node ids; `findings` are finding ids; `reason` may be None
    for a pass or an observation. `unreached` says that no case reached an assertion on the clause although all ran;
    `settings` are the missing settings that kept it from being judged; `remedy` is None if the verdict was given, or
    lies outside the run.
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
    settings: tuple[str, ...] = ()
    remedy: Remedy | None = None

    @property
    def assertions(self) -> int:
        """How many assertions about the clause were reached in this realm."""
        return self.held + self.contradicted


def cells_of(record: RunRecord, clauses: Mapping[str, Clause], findings: Sequence[Finding]) -> Iterator[Cell]:
    """Judge each clause in each realm, in the order of `clauses` and of the run's realms.

    Clauses that the run did not select, and other realms, appear only if there is evidence on them.
    """
    evidence, selected = _evidence(record, clauses, findings), set(record.run.clauses)
    for clause in clauses.values():
        expected = clause.realms if clause.id in selected else ()
        seen = [realm for name, realm in evidence if name == clause.id]
        for realm in dict.fromkeys([ANY_REALM, *record.run.realms, *seen]):
            if realm in expected or realm in seen:
                yield _judged(clause, realm, evidence[clause.id, realm])


def _evidence(
    record: RunRecord, clauses: Mapping[str, Clause], findings: Sequence[Finding]
) -> dict[tuple[str, str], _Evidence]:
    found: dict[tuple[str, str], _Evidence] = defaultdict(lambda: _Evidence(record.run.terms))
    turns: dict[tuple[str, str], set[str]] = defaultdict(set)
    for case in record.cases:
        asserted = [count.clause for count in case.assertions]
        # A case may run in realms in which one of its clauses does not hold.
        own = [name for name in case.clauses if name not in clauses or case.realm in clauses[name].realms]
        for clause in dict.fromkeys([*own, *asserted]):
            found[clause, case.realm].cases.append(case)
        for clause in asserted if case.deals else ():
            turns[clause, case.anywhere].add(case.realm)
    for finding in findings:
        found[finding.clause, finding.realm].findings.append(finding)
    # In smoke, a case that distributes its inputs sends only the first of them.
    in_part = record.run.profile == Profile.SMOKE
    for (clause, realm), evidence in found.items():
        shortened = in_part and all(case.deals for case in evidence.cases)
        evidence.left_out = shortened or any(each.touches(clause, realm) for each in record.narrowed)
        if all(case.outcome is Verdict.PASS or case.quiet for case in evidence.cases):
            evidence.rotated_to.update(*(turns[clause, case.anywhere] for case in evidence.cases))
    for observation in record.observations:
        found[observation.clause, observation.realm].observed = True
    for untested in record.untested:
        found[untested.clause, untested.realm].untested.append(untested.reason)
    return found


def _judged(clause: Clause, realm: str, evidence: _Evidence) -> Cell:
    """Judge `clause` in `realm` by the worst statement of the evidence.

    A pass needs an assertion that was reached and held. Unconfirmed findings do not fail. A clause that holds in one
    case and is inconclusive in another is inconclusive; if the other case lacks a setting that the clause needs, it is
    untested. A clause without statements is untested.
    """
    counts = [counts_for(clause.id, case) for case in evidence.cases]
    held, contradicted = sum(count.held for count in counts), sum(count.contradicted for count in counts)
    statements = [*_from_findings(evidence, held), *_from_cases(clause, evidence.cases, held)]
    statements += _from_assertions(clause, evidence, held, contradicted)
    statements += [(Verdict.UNTESTED, reason) for reason in evidence.untested]
    due = bool(evidence.cases) and clause.untested is None and not evidence.left_out
    unreached = due and not (statements or evidence.rotated_to)
    lacking = {case.reason: case.settings for case in evidence.cases}
    # Of equally bad statements, one that names a missing setting comes first, since that can be set.
    verdict, reason = min(
        statements or [(Verdict.UNTESTED, _why_untested(clause, evidence))],
        key=lambda each: (each[0].rank, not lacking.get(each[1])),
    )
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
        settings=lacking.get(reason, ()),
    )


Statement = tuple[Verdict, str | None]


def _from_findings(evidence: _Evidence, held: int) -> Iterator[Statement]:
    for finding in evidence.findings:
        place = f"{finding.operation or 'the service'}: {finding.seen}"
        accepted = evidence.terms.entry(finding.deviation)
        if finding.standing is Standing.DEVIATION and accepted is not None:
            until = f"accepted until {accepted.expires} ({accepted.place})"
            yield Verdict.DEVIATION, f"{until}: {accepted.reason}; {place}"
        elif finding.standing is Standing.UNCONFIRMED:
            reason = f"contradicted once, not again ({finding.rate_in_words}): {place}"
            yield (Verdict.PASS if held else Verdict.INCONCLUSIVE), reason
        elif finding.standing is not Standing.OBSERVED:
            yield Verdict(finding.standing.value), place


def _from_cases(clause: Clause, cases: Iterable[Case], held: int) -> Iterator[Statement]:
    # The outcome of a case counts only for clauses that it lists: universal checks are judged separately.
    for case in cases:
        if clause.id not in case.clauses or case.quiet:
            continue
        if case.outcome in {Verdict.ERROR, Verdict.INCONCLUSIVE}:
            cause = case.blocked_by.cause if case.blocked_by else None
            yield case.outcome, case.reason or cause or f"{case.name}: no reason was given"
        elif case.outcome is Verdict.UNTESTED and not (held and _lacks_for_others(clause, case)):
            yield Verdict.UNTESTED, case.reason or f"{case.name}: no assertion was reached"


def _lacks_for_others(clause: Clause, case: Case) -> bool:
    """Whether only other clauses of a case need the setting that it lacks."""
    needed = {need.rpartition(".")[2] for need in clause.needs}
    return bool(case.settings) and needed.isdisjoint(name.rpartition(".")[2] for name in case.settings)


def _from_assertions(
    clause: Clause, evidence: _Evidence, held: int, contradicted: int
) -> Iterator[Statement]:
    if clause.level == "silent":
        if held or contradicted or evidence.observed:
            yield Verdict.OBSERVED, None
        return
    explained = {case for finding in evidence.findings for case in finding.cases}
    if any(counts_for(clause.id, case).contradicted for case in evidence.cases if case.id not in explained):
        why = "an assertion was contradicted"
        lost = (Verdict.ERROR, f"{why}, but the case wrote no finding")
        yield (Verdict.ADVISORY, why) if clause.level == "should" else lost
    if held:
        yield Verdict.PASS, None


def _why_untested(clause: Clause, evidence: _Evidence) -> str:
    if evidence.rotated_to:
        return f"rotated: tested in {', '.join(sorted(evidence.rotated_to))}"
    if not evidence.cases:
        return clause.untested or "no case took it up in this run"
    first, *others = evidence.cases
    stopped = next((case for case in evidence.cases if case.outcome is Verdict.FAIL), None)
    if stopped is not None:
        return f"no assertion was reached: '{stopped.name}' stopped at another finding"
    more = f" and {len(others)} more" if others else ""
    return f"no assertion was reached by '{first.name}'{more}"


def counts_for(clause: str, case: Case) -> AssertionCount:
    """Return how often assertions of `case` on `clause` held and were contradicted, over all operations."""
    counts = [count for count in case.assertions if count.clause == clause]
    held, contradicted = sum(count.held for count in counts), sum(count.contradicted for count in counts)
    return AssertionCount(clause, None, held, contradicted)


#: Reasons that name an account, a setting, and the setting that limits permanent records.
_OF_AN_ACCOUNT: Final = re.compile(r"'s account may not write|e-mail and password")
_OF_A_SETTING: Final = re.compile(r"\bsetting ")
_OF_RECORDS: Final = "pace.permanent_records"
_REASONS_AT_MOST: Final = 3
NEXT_STEPS: Final = {
    Remedy.FINDING: "fix or accept the findings first, and run again",
    Remedy.SETTING: "give the settings that the reasons name; `registry-contracts doctor` says what each adds",
    Remedy.ACCOUNT: "give the role an account with its rights, and run `registry-contracts doctor --write`",
    Remedy.SERVICE: "check whether and what the service answered, fix that, and run again",
    Remedy.SUITE: "report it to the suite with the run's folder",
}


@dataclass(frozen=True, slots=True)
class NotJudged:
    """Verdicts that were not given and need the same remedy; `reasons` are the most frequent."""

    remedy: Remedy
    verdicts: int
    reasons: tuple[str, ...]

    @property
    def next_step(self) -> str:
        """What to do."""
        return NEXT_STEPS[self.remedy]

    @property
    def line(self) -> str:
        """Number, remedy, next step and first reason in one line."""
        count = f"{many(self.verdicts, 'verdict')} for lack of {self.remedy}"
        return f"{count}: {self.next_step}; first of all: {self.reasons[0]}"


def with_remedies(
    record: RunRecord, cells: Iterable[Cell], findings: Sequence[Finding], blocked: Collection[str]
) -> tuple[Cell, ...]:
    """Return the cells, each with its remedy; `blocked` are the ids of the cases that a finding blocked."""
    cases = {case.id: case for case in record.cases}
    failing = {finding.realm for finding in findings if finding.fails}

    def remedy(cell: Cell) -> Remedy | None:
        if cell.verdict.given or not record.run.terms.consumer.covers(cell.clause, cell.realm):
            return None
        account = any(name.startswith("accounts.") for name in cell.settings)
        if account or (not cell.settings and _OF_AN_ACCOUNT.search(cell.reason or "")):
            return Remedy.ACCOUNT
        if cell.settings or cell.verdict is Verdict.ERROR:
            return Remedy.SETTING if cell.settings else Remedy.SUITE
        mine = [cases[name] for name in cell.cases if name in cases]
        if cell.verdict is Verdict.UNTESTED:
            return _not_reached(record, cell, mine)
        stuck = [case for case in mine if case.outcome is Verdict.INCONCLUSIVE]
        refused = any(case.blocked_by is not None for case in stuck)
        if (refused and cell.realm in failing) or any(case.id in blocked for case in stuck):
            return Remedy.FINDING
        return _of_environment(record, stuck, refused=refused)

    return tuple(replace(cell, remedy=remedy(cell)) for cell in cells)


def _of_environment(record: RunRecord, stuck: Sequence[Case], *, refused: bool) -> Remedy:
    if record.run.breaker:
        return of_the_end(record.run.breaker)
    names = {case.id for case in stuck}
    sent = (each for each in record.exchanges.values() if each.case in names)
    faulty = any(each.fault or perhaps_foreign(each) for each in sent)
    # A request whose answer was lost may have created a permanent record, which counts against the limit.
    faulty = faulty or (bool(record.faults) and any(_OF_RECORDS in (case.reason or "") for case in stuck))
    return Remedy.SERVICE if faulty or refused else Remedy.SUITE


def not_judged(cells: Iterable[Cell]) -> tuple[NotJudged, ...]:
    """Group the verdicts that were not given by remedy."""
    reasons: dict[Remedy, Counter[str]] = {remedy: Counter() for remedy in Remedy}
    for cell in cells:
        if cell.remedy is not None:
            reasons[cell.remedy][cell.reason or "no reason was given"] += 1
    return tuple(
        NotJudged(remedy, texts.total(), tuple(text for text, _ in texts.most_common(_REASONS_AT_MOST)))
        for remedy, texts in reasons.items()
        if texts
    )


def _not_reached(record: RunRecord, cell: Cell, cases: list[Case]) -> Remedy | None:
    """The remedy if no assertion on a clause was reached although one should have been; otherwise None."""
    if cell.unreached:
        if any(case.outcome is Verdict.FAIL for case in cases):
            return Remedy.FINDING
        if cell.clause.level != "must":
            return None  # no verdict depends on it
        # Another realm may have had these inputs, and its case may have been stopped.
        distributed = {case.anywhere for case in cases if case.deals}
        reasons = [other.reason or "" for other in record.cases if other.anywhere in distributed]
        return Remedy.ACCOUNT if any(map(_OF_AN_ACCOUNT.search, reasons)) else Remedy.SUITE
    early = record.run.breaker and cell.clause.untested is None
    return of_the_end(record.run.breaker or "") if early else None


def of_the_end(breaker: str) -> Remedy:
    """The remedy for a run that was stopped early, by the reason."""
    if _OF_AN_ACCOUNT.search(breaker):
        return Remedy.ACCOUNT
    return Remedy.SETTING if _OF_A_SETTING.search(breaker) else Remedy.SERVICE
