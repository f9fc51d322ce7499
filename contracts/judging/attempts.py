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

    def forget_doubtful(self) -> None:
        """Drop what was seen in bad weather, but for what the case itself saw again on fresh data."""
        self.evidence = [evidence for evidence in self.evidence if evidence.key in self.confirmed]
        for key in self.contradicted.keys() - self.confirmed.keys():
            del self.contradicted[key]

    @property
    def clouded(self) -> bool:
        """Whether the environment may have a hand in what was seen."""
        return any(exchange.doubtful for exchange in self.exchanges)

    @property
    def shut_out(self) -> bool:
        """Whether a contradiction shows in an answer that may only mean that a token is not known any more."""
        shown = {name for evidence in self.evidence for name in evidence.exchanges}
        answers = (exchange.response for exchange in self.exchanges if exchange.id in shown)
        return any(answer is not None and answer.status in (401, 403) for answer in answers)

    @property
    def met_a_page(self) -> bool:
        """Whether an HTML page came where JSON was due, which a gateway may have sent."""
        answers = (exchange.response for exchange in self.exchanges)
        return any(answer is not None and answer.hollow_page for answer in answers)

    @property
    def keys(self) -> set[tuple[str, str]]:
        """The findings this attempt would make."""
        return {evidence.key for evidence in self.evidence}
