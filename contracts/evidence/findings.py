"""Findings put together from what cases saw, and cells: the verdict on one clause in one realm."""

import hashlib
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date
from enum import StrEnum
from typing import Annotated, Final

from msgspec import Meta, structs

from contracts.evidence.record import (
    AssertionCount,
    Case,
    Contradiction,
    RunRecord,
    SeenFinding,
    Untested,
    Verdict,
)
from contracts.evidence.terms import Terms
from contracts.file_formats import Format, Names
from contracts.interface.catalogue import Clause
from contracts.interface.description import operations_with

FindingId = Annotated[str, Meta(pattern="^[0-9a-f]{10}$")]
FindingIds = Annotated[tuple[FindingId, ...], Meta(extra_json_schema={"uniqueItems": True})]
#: So many cases confirm together what each of them saw once: one more than a single case, since there are many.
_CASES_TOGETHER: Final = 3


class Standing(StrEnum):
    """What a finding does to the verdict of its clause; members stand worst first."""

    FAIL = "fail"
    ADVISORY = "advisory"
    DEVIATION = "deviation"
    UNCONFIRMED = "unconfirmed"
    OBSERVED = "observed"


class Reproduce(Format, frozen=True):
    """How a finding is sent again."""

    command: str
    curl: tuple[str, ...]


class Finding(Contradiction, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A contradiction of a clause on an operation in a realm, as memory and every machine-readable report hold it.

    Its evidence is the best of all that cases saw. `counted` is false outside what the consumer uses, whose `methods`
    call the operation; `deviation` is file and line of the entry that accepts it. `cases` are node ids.
    """

    id: FindingId
    standing: Standing
    intermittent: bool
    counted: bool
    methods: Names
    deviation: str | None
    cases: Annotated[tuple[str, ...], Meta(min_length=1, extra_json_schema={"uniqueItems": True})]
    reproduce: Reproduce

    @property
    def fails(self) -> bool:
        """Whether the finding fails the run."""
        return self.standing is Standing.FAIL and self.counted

    @property
    def rate_in_words(self) -> str:
        """How often the contradiction came back."""
        times = f"seen in {self.rate[0]} of {self.rate[1]} tries"
        if not self.confirmed:
            return f"not confirmed: {times}"
        return f"intermittent: {times}" if self.intermittent else times


def finding_id(clause: str, realm: str, operation: str | None) -> str:
    """Return the id of a finding: ten hexadecimal digits, the same in every run."""
    return hashlib.sha256(f"{clause}|{realm}|{operation or ''}".encode()).hexdigest()[:10]


def seen_in_run(record: RunRecord) -> Iterator[SeenFinding]:
    """The contradictions of a run; what several cases saw alike, each on data of its own, they confirm together.

    Alike is what one check, or else one clause, saw at one operation. Its rate is that of all tries at it in the run.
    Where the run met a fault of the environment nothing is confirmed so, which may come of it, and no list of drafts:
    that holds those of other people, who may work in it at any moment.
    """
    alike: dict[tuple[str | None, str], list[SeenFinding]] = defaultdict(list)
    for finding in record.findings:
        alike[finding.operation, finding.check or finding.clause].append(finding)
    shared = operations_with(answers="list", family="draft")
    for (operation, _), group in alike.items():
        cases, clauses = ({getattr(each, name) for each in group} for name in ("case", "clause"))
        together = len(cases) >= _CASES_TOGETHER and operation not in shared and not record.faults
        looks = ((case, count) for case in record.cases for count in case.assertions)
        tries = {
            case.id: case.attempts
            for case, each in looks
            if each.operation == operation and each.clause in clauses
        }
        tries |= {each.case: each.rate[1] for each in group}
        rate = (sum(each.rate[0] for each in group), sum(tries.values()))
        for each in group:
            alone = each.confirmed or not together
            yield each if alone else structs.replace(each, confirmed=True, rate=rate)


def merge_findings(
    seen: Iterable[SeenFinding],
    levels: Mapping[str, str],
    terms: Terms,
    day: date,
    doubtful: Iterable[SeenFinding] = (),
) -> tuple[Finding, ...]:
    """Put equal contradictions together, and say of each whether a deviation accepts it on `day` and whether it counts.

    Those that count come first, the worst standing first. `levels` maps clause ids; a clause that is not there counts
    as a must, which hides nothing. An accepted one stands as a deviation, unless it is no failure as it is. What is
    `doubtful` is advice at most, and no more where the same was seen.
    """
    groups: dict[str, list[SeenFinding]] = defaultdict(list)
    for finding in seen:
        groups[finding_id(finding.clause, finding.realm, finding.operation)].append(finding)
    level_of = {key: levels.get(group[0].clause, "must") for key, group in groups.items()}
    for finding in doubtful:
        key = finding_id(finding.clause, finding.realm, finding.operation)
        if key not in groups:
            groups[key] = [finding]
            level_of[key] = "silent" if levels.get(finding.clause) == "silent" else "should"
    merged = (_merge(key, group, level_of[key], terms, day) for key, group in groups.items())
    ranks = list(Standing)
    return tuple(
        sorted(
            merged,
            key=lambda f: (not f.counted, ranks.index(f.standing), f.clause, f.operation or "", f.realm),
        )
    )


def _merge(key: str, group: list[SeenFinding], level: str, terms: Terms, day: date) -> Finding:
    best = max(group, key=_weight)
    accepted = terms.accepted(best.clause, best.realm, best.operation, day)
    standing = _standing(level, best.confirmed)
    firm = standing in {Standing.FAIL, Standing.ADVISORY}
    return Finding(
        **{name: getattr(best, name) for name in Contradiction.__struct_fields__},
        id=key,
        standing=Standing.DEVIATION if accepted and firm else standing,
        intermittent=best.confirmed and best.rate[0] < best.rate[1],
        counted=terms.counts(best.clause, best.realm, best.operation),
        methods=terms.methods_of([best.operation]),
        deviation=accepted.place if accepted else None,
        cases=tuple(dict.fromkeys(finding.case for finding in group)),
        reproduce=Reproduce(best.command, best.curl),
    )


def _weight(seen: SeenFinding) -> tuple[bool, float, bool, int, int]:
    """Order evidence: confirmed, reproduced more often, with exchanges to show, and the shorter sequence."""
    reproduced, attempts = seen.rate
    rate = reproduced / attempts if attempts else 0.0
    return seen.confirmed, rate, bool(seen.exchanges), -len(seen.exchanges), -len(seen.seen)


def _standing(level: str, confirmed: bool) -> Standing:
    if level == "silent":
        return Standing.OBSERVED
    if not confirmed:
        return Standing.UNCONFIRMED
    return Standing.FAIL if level == "must" else Standing.ADVISORY


class ConsumerScope(StrEnum):
    """The weight of a contradicted case."""

    COUNTS = "counts"
    DEVIATION = "deviation"
    OUTSIDE = "outside"


def scope_of_contradictions(contradictions: Iterable[tuple[bool, bool]]) -> ConsumerScope:
    """Weigh contradictions, each given as whether it counts for the consumer and whether a deviation accepts it.

    `counts` as soon as one counts and is not accepted, and where there are none.
    """
    seen = list(contradictions)
    if not seen or any(counted and not accepted for counted, accepted in seen):
        return ConsumerScope.COUNTS
    return ConsumerScope.DEVIATION if any(accepted for _, accepted in seen) else ConsumerScope.OUTSIDE


def scope_of(findings: Iterable[Finding]) -> ConsumerScope:
    """Weigh the findings of one case; a should that is contradicted says nothing beside a must."""
    return scope_of_contradictions(
        (finding.counted, finding.standing is Standing.DEVIATION)
        for finding in findings
        if finding.standing in {Standing.FAIL, Standing.DEVIATION}
    )


_MISSING_SETTING = re.compile(r"\bsettings? (?P<names>.+?) (?:is missing|are missing|has no unused id left)")


@dataclass(slots=True)
class Evidence:
    """All that a run holds on one clause in one realm; `dealt`: the realms where its cases had the clause's turn."""

    terms: Terms
    cases: list[Case] = field(default_factory=list)
    findings: list[Finding] = field(default_factory=list)
    untested: list[Untested] = field(default_factory=list)
    observed: bool = False
    dealt: set[str] = field(default_factory=set)


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
    not fail; a clause that holds in one case and is inconclusive in another is inconclusive, and untested where
    that case lacks a setting that the clause needs; a clause that nothing is said of is untested.
    """
    counts = [counts_for(clause.id, case) for case in evidence.cases]
    held, contradicted = sum(count.held for count in counts), sum(count.contradicted for count in counts)
    statements = [*_from_findings(evidence, held), *_from_cases(clause, evidence.cases, held)]
    statements += _from_assertions(clause, evidence, held, contradicted)
    statements += [(Verdict.UNTESTED, untested.reason) for untested in evidence.untested]
    unreached = not (statements or evidence.dealt) and bool(evidence.cases) and clause.untested is None
    if evidence.dealt:
        statements = statements or [
            (Verdict.UNTESTED, f"dealt out: its turn was in {', '.join(sorted(evidence.dealt))}")
        ]
    if not statements:
        statements = [(Verdict.UNTESTED, _why_untested(clause, evidence.cases))]
    verdict, reason = min(statements, key=_statement_weight)
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


def _statement_weight(statement: Statement) -> tuple[int, bool]:
    """Order statements: the worst first, of equals the one that names a setting, as that can be set."""
    verdict, reason = statement
    return verdict.rank, missing_settings(reason) is None


def missing_settings(reason: str | None) -> str | None:
    """Return the settings that a reason names as missing ("setting X is missing"), or None."""
    match = _MISSING_SETTING.search(reason or "")
    return match["names"] if match else None


def wanting_settings(cells: Iterable[tuple[Clause, str | None]]) -> set[str]:
    """The must clauses that lack a setting in a realm at least, by clauses with the reason of each of their cells."""
    return {clause.id for clause, reason in cells if clause.level == "must" and missing_settings(reason)}


def _from_findings(evidence: Evidence, held: int) -> Iterator[Statement]:
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
    # Only a case that lists the clause counts here: a universal check is judged apart from the case that ran it.
    for case in cases:
        if clause.id not in case.clauses:
            continue
        if case.outcome in {Verdict.ERROR, Verdict.INCONCLUSIVE}:
            cause = case.blocked_by.cause if case.blocked_by else None
            yield case.outcome, case.reason or cause or f"{case.name}: no reason was given"
        elif case.outcome is Verdict.UNTESTED and not (held and _lacks_for_others(clause, case.reason)):
            yield Verdict.UNTESTED, case.reason or f"{case.name}: no assertion was reached"


def _lacks_for_others(clause: Clause, reason: str | None) -> bool:
    """Whether the setting that a case lacks is one that other clauses of it need, and this one does not."""
    lacking = missing_settings(reason)
    needed = {need.rpartition(".")[2] for need in clause.needs}
    return lacking is not None and needed.isdisjoint(re.split(r"[., ]+", lacking))


def _from_assertions(clause: Clause, evidence: Evidence, held: int, contradicted: int) -> Iterator[Statement]:
    if clause.level == "silent":
        if held or contradicted or evidence.observed:
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


def _why_untested(clause: Clause, cases: Sequence[Case]) -> str:
    if not cases:
        return clause.untested or "no case took it up in this run"
    stopped = next((case for case in cases if case.outcome is Verdict.FAIL), None)
    if stopped is not None:
        return f"no assertion was reached: '{stopped.name}' stopped at another finding"
    return f"no assertion was reached by {_names(cases)}"


def _names(cases: Sequence[Case]) -> str:
    first = f"'{cases[0].name}'"
    return first if len(cases) == 1 else f"{first} and {len(cases) - 1} more"


def counts_for(clause: str, case: Case) -> AssertionCount:
    """Return how often `case` held and contradicted `clause`, all operations together."""
    counts = [count for count in case.assertions if count.clause == clause]
    held, contradicted = sum(count.held for count in counts), sum(count.contradicted for count in counts)
    return AssertionCount(clause, None, held, contradicted)
