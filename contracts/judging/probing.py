"""Judges generated faults one by one, each confirmed on fresh data before it counts."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

from contracts.errors import EnvironmentFault
from contracts.generation.faults import Fault
from contracts.interface.catalogue import Catalogue, Clause, Level
from contracts.judging.attempts import Attempt, Observation
from contracts.judging.claims import Claim
from contracts.judging.confirmation import MOST_REPLAYS
from contracts.judging.outcomes import Contradiction
from contracts.session.exchange import Exchange

#: Sightings that the weather may spoil before one is taken as it is.
_MOST_SPOILT = 3
#: Operations whose accepted requests leave something that cannot be removed: only what must be refused is sent.
_PERMANENT = frozenset(
    {"createContact", "createWorkflowRecord", "createWorkflowRecordWithIdentifier", "updateWorkflowRecord"}
)


class Exercise(Protocol):
    """How faults of one operation are sent; `contracts.generation.grafting.Exercise` is one."""

    def send(self, fault: Fault) -> Exchange:
        """Send the fault in an otherwise valid request, on fresh data."""

    def usual(self, fault: Fault) -> Any:
        """The valid value that stands where the fault is put."""


class Probe:
    """Sends faults of one operation and judges the answers by the clauses that speak about them.

    Args:
        faults: The faults to send, in order.
    """

    def __init__(
        self,
        operation: str,
        attempt: Attempt,
        catalogue: Catalogue,
        exercise: Exercise,
        faults: Sequence[Fault],
    ) -> None:
        self._operation = operation
        self._attempt = attempt
        self._catalogue = catalogue
        self._exercise = exercise
        self.faults = faults

    def judge(self, fault: Fault) -> None:
        """Send a fault; what no must or should speaks about is observed, never judged.

        Raises:
            Contradiction: the fault was accepted, twice, against a must.
        """
        clause = self._catalogue.for_fault(self._operation, fault.key)
        if clause is None or clause.level is Level.SILENT or not firm(fault, self._exercise.usual(fault)):
            self._observe(clause, fault)
            return
        before = len(self._attempt.evidence)
        first = self._contradicts(clause, fault)
        if first is None:
            return
        key, seen, replay = first.evidence.key, 1, 1
        while seen == 1 and replay <= MOST_REPLAYS:
            replay += 1
            seen += self._contradicts(clause, fault) is not None
        known = self._attempt.confirmed.get(key, (0, 0))
        if seen == 1 and known[0] > 1:
            # Another fault has shown this already; a sighting that did not come back must not stand in for it.
            del self._attempt.evidence[before:]
            return
        self._attempt.confirmed[key] = max(known, (seen, replay))
        if seen > 1 and clause.level is Level.MUST:
            raise first

    def _observe(self, clause: Clause | None, fault: Fault) -> None:
        if self._operation in _PERMANENT:
            return
        exchange = self._exercise.send(fault)
        answer = exchange.response
        unspoilt = answer is not None and exchange.fault is None
        if clause is not None and clause.level is Level.SILENT and answer is not None and unspoilt:
            seen = {"fault": fault.key, "status": answer.status}
            self._attempt.observations.append(Observation(clause.id, self._operation, seen))

    def _contradicts(self, clause: Clause, fault: Fault) -> Contradiction | None:
        """Send the fault, on fresh data again while the weather has a hand in the answer."""
        for _ in range(_MOST_SPOILT):
            before, noted = len(self._attempt.exchanges), len(self._attempt.evidence)
            try:
                found = self._contradicts_once(clause, fault)
            except EnvironmentFault:
                continue
            if found is None or not any(each.doubtful for each in self._attempt.exchanges[before:]):
                return found
            self._drop(noted)
        return self._contradicts_once(clause, fault)

    def _drop(self, noted: int) -> None:
        """Forget evidence, from a place in its list on."""
        for evidence in self._attempt.evidence[noted:]:
            self._attempt.contradicted[evidence.key] -= 1
        del self._attempt.evidence[noted:]

    def _contradicts_once(self, clause: Clause, fault: Fault) -> Contradiction | None:
        exchange = self._exercise.send(fault)
        evidence = len(self._attempt.evidence)
        try:
            Claim(clause, self._operation, self._attempt).turned_down(exchange, f"{fault.key} refused")
        except Contradiction as contradiction:
            return contradiction
        noted = self._attempt.evidence[evidence:]
        return Contradiction(noted[0]) if noted else None


def firm(fault: Fault, usual: Any) -> bool:
    """Whether the document really rules a fault out.

    A number or a boolean where a text is due, and null in place of a member that may be left out, are read kindly by
    many services; the document does not say.
    """
    if fault.place != "body" or fault.kind != "wrong-kind":
        return True
    lenient = isinstance(usual, str) and isinstance(fault.value, int | float)
    return not lenient and fault.value is not None
