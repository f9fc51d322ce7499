"""Findings: contradictions of clauses, merged over cases and weighed by the terms of the run."""

import hashlib
from collections import defaultdict
from collections.abc import Iterable, Mapping
from datetime import date
from enum import StrEnum
from typing import Annotated, Any, Final

from msgspec import Meta, structs

from registry_contracts.evidence.terms import Terms
from registry_contracts.file_formats import Count, Format, Name, Names, OpenFormat

FindingId = Annotated[str, Meta(pattern="^[0-9a-f]{10}$")]
FindingIds = Annotated[tuple[FindingId, ...], Meta(extra_json_schema={"uniqueItems": True})]


class Standing(StrEnum):
    """The effect of a finding on the verdict of its clause; the worst comes first."""

    FAIL = "fail"
    ADVISORY = "advisory"
    DEVIATION = "deviation"
    UNCONFIRMED = "unconfirmed"
    OBSERVED = "observed"


class Reproduce(Format, frozen=True):
    """How to reproduce a finding: the command of a run, and curl commands."""

    command: str
    curl: tuple[str, ...]


#: Members of a finding before it is weighed.
UNWEIGHED: Final[Mapping[str, Any]] = {
    "id": "0" * 10,
    "standing": Standing.UNCONFIRMED,
    "intermittent": False,
    "counted": True,
    "methods": (),
    "deviation": None,
}
Rate = Annotated[
    tuple[Count, Count], Meta(description="How many of how many tries showed the contradiction.")
]


class Finding(OpenFormat, frozen=True, kw_only=True):
    """A contradiction of a clause on an operation in a realm, in journals, memory and every report.

    If several cases saw it, it has the best evidence. `check` names the check that saw it; empty if a case compared by
    itself. `cases` are node ids. The terms of the run set the rest: `counted` is false outside what the consumer uses;
    `methods` are those of the consumer that call the operation; `deviation` is file and line of the entry that accepts
    it.
    """

    clause: Name
    realm: Name
    operation: str | None
    role: str | None
    expected: str
    seen: str
    confirmed: bool
    rate: Rate
    exchanges: tuple[Name, ...]
    check: str = ""
    cases: Annotated[tuple[Name, ...], Meta(min_length=1, extra_json_schema={"uniqueItems": True})]
    reproduce: Reproduce
    id: FindingId
    standing: Standing
    intermittent: bool
    counted: bool
    methods: Names
    deviation: str | None

    def __post_init__(self) -> None:
        """Derive the id from clause, realm and operation."""
        structs.force_setattr(self, "id", finding_id(self.clause, self.realm, self.operation))

    def weighed(self, level: str, terms: Terms, day: date) -> "Finding":
        """The finding with its standing, by the level of its clause and the terms of the run.

        A deviation that accepts it on `day` replaces the standings fail and advisory only.
        """
        accepted = terms.accepted(self.clause, self.realm, self.operation, day)
        standing = _standing(level, self.confirmed)
        firm = standing in {Standing.FAIL, Standing.ADVISORY}
        return structs.replace(
            self,
            standing=Standing.DEVIATION if accepted and firm else standing,
            intermittent=self.confirmed and self.rate[0] < self.rate[1],
            counted=terms.consumer.counts(self.clause, self.realm, self.operation),
            methods=terms.methods_of([self.operation]),
            deviation=accepted.place if accepted else None,
        )

    @property
    def fails(self) -> bool:
        """Whether the finding fails the run."""
        return self.standing is Standing.FAIL and self.counted

    @property
    def line(self) -> str:
        """Clause, operation, expected and seen, in one line."""
        return f"{self.clause} ({self.operation}): expected {self.expected}; seen: {self.seen}"

    @property
    def rate_in_words(self) -> str:
        """How often the contradiction was repeated, as text."""
        times = f"seen in {self.rate[0]} of {self.rate[1]} tries"
        if not self.confirmed:
            return f"not confirmed: {times}"
        return f"intermittent: {times}" if self.intermittent else times


def finding_id(clause: str, realm: str, operation: str | None) -> str:
    """Return the id of a finding: ten hexadecimal digits, the same in every run."""
    return hashlib.sha256(f"{clause}|{realm}|{operation or ''}".encode()).hexdigest()[:10]


def merge_findings(
    seen: Iterable[Finding],
    levels: Mapping[str, str],
    terms: Terms,
    day: date,
    doubtful: Iterable[Finding] = (),
) -> tuple[Finding, ...]:
    """Merge findings of the same contradiction, keep the best evidence, and weigh each by the terms on `day`.

    Findings that count come first, then the worst standing. `levels` maps clause ids; an unknown clause counts as a
    must, so that nothing is hidden. `doubtful` findings are advisory at most, and left out if `seen` has the same.
    """
    sure = _by_id(seen)
    merged = [
        _merged(group).weighed(levels.get(group[0].clause, "must"), terms, day) for group in sure.values()
    ]
    for key, group in _by_id(doubtful).items():
        if key not in sure:
            level = "silent" if levels.get(group[0].clause) == "silent" else "should"
            merged.append(group[0].weighed(level, terms, day))
    ranks = list(Standing)
    merged.sort(key=lambda f: (not f.counted, ranks.index(f.standing), f.clause, f.operation or "", f.realm))
    return tuple(merged)


def _by_id(findings: Iterable[Finding]) -> dict[str, list[Finding]]:
    groups: dict[str, list[Finding]] = defaultdict(list)
    for finding in findings:
        groups[finding.id].append(finding)
    return groups


def _merged(group: list[Finding]) -> Finding:
    cases = tuple(dict.fromkeys(case for finding in group for case in finding.cases))
    return structs.replace(max(group, key=_weight), cases=cases)


def _weight(seen: Finding) -> tuple[bool, float, bool, int, int]:
    """Sort key for evidence: confirmed, reproduced more often, with exchanges, with fewer exchanges."""
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


def scope_of(findings: Iterable[Finding]) -> ConsumerScope:
    """Weigh the findings of one case; contradicted shoulds are ignored.

    `counts` if any finding counts and is not accepted, or if there are none.
    """
    seen = [each for each in findings if each.standing in {Standing.FAIL, Standing.DEVIATION}]
    if not seen or any(each.counted and each.standing is Standing.FAIL for each in seen):
        return ConsumerScope.COUNTS
    accepted = any(each.standing is Standing.DEVIATION for each in seen)
    return ConsumerScope.DEVIATION if accepted else ConsumerScope.OUTSIDE
