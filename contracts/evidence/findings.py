"""Findings as reports show them: equal contradictions put together, with a stable id and their part in the verdict."""

import hashlib
from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import date
from enum import StrEnum

from contracts.evidence.record import Case, SeenFinding
from contracts.evidence.terms import Deviation, Terms


class Standing(StrEnum):
    """What a finding does to the verdict of its clause; members stand worst first."""

    FAIL = "fail"
    ADVISORY = "advisory"
    DEVIATION = "deviation"
    UNCONFIRMED = "unconfirmed"
    OBSERVED = "observed"


@dataclass(frozen=True, slots=True)
class Finding:
    """One contradiction of one clause on one operation in one realm, with the best evidence of all seen.

    `reproduced` of `attempts` replays showed it again. `cases` are the node ids of the cases that saw it. `accepted`
    is the deviation that speaks of it, not expired; `counted` is false outside what the consumer uses, whose
    `methods` call the operation.
    """

    id: str
    clause: str
    realm: str
    operation: str | None
    standing: Standing
    role: str | None
    expected: str
    seen: str
    confirmed: bool
    reproduced: int
    attempts: int
    cases: tuple[str, ...]
    exchanges: tuple[str, ...]
    curl: tuple[str, ...]
    command: str
    accepted: Deviation | None = None
    counted: bool = True
    methods: tuple[str, ...] = ()

    @property
    def fails(self) -> bool:
        """Whether the finding fails the run."""
        return self.standing is Standing.FAIL and self.counted

    @property
    def intermittent(self) -> bool:
        """Whether the contradiction was confirmed, but not by every replay."""
        return self.confirmed and self.reproduced < self.attempts

    @property
    def rate(self) -> str:
        """How often the contradiction came back, in words."""
        times = f"{self.reproduced} of {self.attempts}"
        if not self.confirmed:
            return f"not confirmed: came back in {times} replays"
        return (
            f"intermittent: came back in {times} replays"
            if self.intermittent
            else f"came back in {times} replays"
        )


def finding_id(clause: str, realm: str, operation: str | None) -> str:
    """Return the id of a finding: ten hexadecimal digits, the same in every run."""
    return hashlib.sha256(f"{clause}|{realm}|{operation or ''}".encode()).hexdigest()[:10]


def merge_findings(seen: Iterable[SeenFinding], levels: Mapping[str, str]) -> tuple[Finding, ...]:
    """Put equal contradictions together.

    Args:
        seen: what the cases saw.
        levels: clause id to level; a clause that is not there counts as a must, which hides nothing.

    Returns:
        One finding per clause, realm and operation: worst standing first, then by clause, operation, realm.
    """
    groups: dict[str, list[SeenFinding]] = defaultdict(list)
    for each in seen:
        groups[finding_id(each.clause, each.realm, each.operation)].append(each)
    findings = [_merge(key, group, levels.get(group[0].clause, "must")) for key, group in groups.items()]
    return _sorted(findings)


def apply_terms(terms: Terms, day: date, findings: Iterable[Finding]) -> tuple[Finding, ...]:
    """Say of each finding whether a deviation accepts it on `day`, whether it counts, and whom it concerns.

    Returns:
        The findings in the order of `merge_findings`; an accepted one stands as a deviation, unless it was not
        confirmed or the document is silent, which fails nobody as it is.
    """
    held = []
    for each in findings:
        accepted = terms.accepted(each.clause, each.realm, each.operation, day)
        firm = each.standing in {Standing.FAIL, Standing.ADVISORY}
        held.append(
            replace(
                each,
                standing=Standing.DEVIATION if accepted and firm else each.standing,
                accepted=accepted,
                counted=terms.counts(each.clause, each.realm, each.operation),
                methods=terms.methods_of([each.operation]),
            )
        )
    return _sorted(held)


def _sorted(findings: Iterable[Finding]) -> tuple[Finding, ...]:
    """Order findings: those that count first, the worst standing first."""
    ranks = {standing: rank for rank, standing in enumerate(Standing)}
    return tuple(
        sorted(
            findings,
            key=lambda f: (not f.counted, ranks[f.standing], f.clause, f.operation or "", f.realm),
        )
    )


def blocked_cases(cases: Iterable[Case], findings: Iterable[Finding]) -> dict[str, str]:
    """Map the id of each case that something blocked to the id of the finding on that operation and realm."""
    by_place: dict[tuple[str | None, str], str] = {}
    for finding in findings:
        by_place.setdefault((finding.operation, finding.realm), finding.id)
    links = {}
    for case in cases:
        if case.blocked_by is None or case.blocked_by.operation is None:
            continue
        blocking = by_place.get((case.blocked_by.operation, case.blocked_by.realm or case.realm))
        if blocking is not None:
            links[case.id] = blocking
    return links


def _merge(key: str, group: list[SeenFinding], level: str) -> Finding:
    best = max(group, key=_weight)
    return Finding(
        id=key,
        clause=best.clause,
        realm=best.realm,
        operation=best.operation,
        standing=_standing(level, best.confirmed),
        role=best.role,
        expected=best.expected,
        seen=best.seen,
        confirmed=best.confirmed,
        reproduced=best.reproduced,
        attempts=best.attempts,
        cases=tuple(dict.fromkeys(each.case for each in group)),
        exchanges=best.exchanges,
        curl=best.curl,
        command=best.command,
    )


def _weight(seen: SeenFinding) -> tuple[bool, float, bool, int, int]:
    """Order evidence: confirmed, reproduced more often, with exchanges to show, and the shorter sequence."""
    rate = seen.reproduced / seen.attempts if seen.attempts else 0.0
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

    Returns:
        `counts` as soon as one counts and is not accepted, and where there are none.
    """
    seen = list(contradictions)
    if not seen or any(counted and not accepted for counted, accepted in seen):
        return ConsumerScope.COUNTS
    return ConsumerScope.DEVIATION if any(accepted for _, accepted in seen) else ConsumerScope.OUTSIDE


def scope_of(findings: Iterable[Finding]) -> ConsumerScope:
    """Weigh the findings of one case; a should that is contradicted says nothing beside a must."""
    return scope_of_contradictions(
        (each.counted, each.standing is Standing.DEVIATION)
        for each in findings
        if each.standing in {Standing.FAIL, Standing.DEVIATION}
    )
