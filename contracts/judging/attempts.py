"""What happened in one attempt at a case: assertions reached, evidence found, exchanges made."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import Any

from contracts.judging.outcomes import Evidence
from contracts.session.exchange import Exchange


@dataclass(frozen=True)
class Observation:
    """What was seen at a silent point."""

    clause: str
    operation: str
    seen: Any


@dataclass
class Attempt:
    """One attempt at a case.

    Attributes:
        number: 1 for the first, higher for confirmations.
        held, contradicted: Assertions by (clause, operation).
        evidence: Contradictions of must and should clauses, in the order seen.
        confirmed: Keys of evidence that the case itself replayed on fresh data already, with their rates.
    """

    number: int
    held: Counter[tuple[str, str]] = field(default_factory=Counter)
    contradicted: Counter[tuple[str, str]] = field(default_factory=Counter)
    evidence: list[Evidence] = field(default_factory=list)
    confirmed: dict[tuple[str, str], tuple[int, int]] = field(default_factory=dict)
    observations: list[Observation] = field(default_factory=list)
    exchanges: list[Exchange] = field(default_factory=list)

    def note(self, evidence: Evidence) -> None:
        """Add evidence of a contradiction."""
        self.contradicted[evidence.key] += 1
        self.evidence.append(evidence)

    @property
    def dismissed(self) -> set[tuple[str, str]]:
        """Findings that the case itself looked for again and did not see."""
        return {key for key, (reproduced, _) in self.confirmed.items() if reproduced < 2}

    @property
    def keys(self) -> set[tuple[str, str]]:
        """The findings this attempt would make."""
        return {evidence.key for evidence in self.evidence}
