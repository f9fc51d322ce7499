"""The consumer on the page: which of its methods the findings touch, and how much lies outside of what it uses."""

from collections.abc import Mapping
from dataclasses import dataclass

from contracts.evidence.cells import Cell
from contracts.evidence.contradictions import Finding, Standing
from contracts.evidence.outcomes import Verdict
from contracts.evidence.record import RunRecord
from contracts.evidence.terms import Consumer
from contracts.evidence.verdicts import RunVerdict
from contracts.evidence.waiving import counting

_TOUCHING = frozenset({Standing.FAIL, Standing.ADVISORY, Standing.DEVIATION, Standing.UNCONFIRMED})


@dataclass(frozen=True, slots=True)
class Use:
    """One method of the SDK, or an operation that no method is named for.

    `findings` are those on its operations that count; `unjudged` counts the clauses on them that could not be judged.
    """

    name: str
    operations: tuple[str, ...]
    findings: tuple[Finding, ...]
    unjudged: int

    @property
    def verdict(self) -> Verdict:
        """The worst that was said of it."""
        standings = {finding.standing for finding in self.findings}
        for standing, verdict in _VERDICTS.items():
            if standing in standings:
                return verdict
        return Verdict.INCONCLUSIVE if self.unjudged else Verdict.PASS


_VERDICTS: Mapping[Standing, Verdict] = {
    Standing.FAIL: Verdict.FAIL,
    Standing.ADVISORY: Verdict.ADVISORY,
    Standing.DEVIATION: Verdict.DEVIATION,
}


@dataclass(frozen=True, slots=True)
class Scope:
    """What of the run counts for the consumer. `inside` and `clauses` count clauses; `outside` are findings."""

    consumer: Consumer
    uses: tuple[Use, ...]
    inside: int
    clauses: int
    outside: tuple[Finding, ...]


def scope(record: RunRecord, verdict: RunVerdict) -> Scope | None:
    """Return what counts for the run's consumer, or None when the run had none."""
    consumer = record.run.terms.consumer
    if consumer is None:
        return None
    cells = counting(record, verdict.cells)
    named = {name for called in consumer.methods.values() for name in called}
    methods = {**consumer.methods, **{name: (name,) for name in consumer.operations if name not in named}}
    return Scope(
        consumer=consumer,
        uses=tuple(_use(name, called, verdict, cells) for name, called in methods.items()),
        inside=len({cell.clause.id for cell in cells}),
        clauses=len({cell.clause.id for cell in verdict.cells}),
        outside=tuple(finding for finding in verdict.findings if not finding.counted),
    )


def _use(name: str, operations: tuple[str, ...], verdict: RunVerdict, cells: list[Cell]) -> Use:
    touching = tuple(
        finding
        for finding in verdict.findings
        if finding.counted and finding.standing in _TOUCHING and finding.operation in {None, *operations}
    )
    stuck = {
        cell.clause.id
        for cell in cells
        if cell.verdict is Verdict.INCONCLUSIVE and set(cell.clause.operations) & set(operations)
    }
    return Use(name, operations, touching, len(stuck))
