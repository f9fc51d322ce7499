"""Sends the faults of generated cases, each in an otherwise valid request, and judges the answers.

Which cases a gate sends is dealt out among its realms. A contradiction is confirmed on fresh data before it counts.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Final

from contracts.cases.contact_requests import Reporting, note_made_up
from contracts.cases.drafts import never_used
from contracts.cases.generated_cases import Case, Fault, faults_of, with_fault
from contracts.cases.requests import ValidRequests
from contracts.cases.sample_records import CONTACT_FIELDS, MANDATORY_FIELDS, Samples, without
from contracts.cases.shared_documents import ABSENT as NO_ATTACHMENT
from contracts.checks.documents import ERROR_NAMED, ERRORS_ARRAY
from contracts.checks.errors_array import MANDATORY
from contracts.checks.outcomes import (
    MOST_REPLAYS,
    Attempt,
    Blocked,
    CheckOutcome,
    Contradiction,
    Result,
    observed,
    usable,
)
from contracts.checks.table import refusal_due
from contracts.errors import EnvironmentFault, SuiteError
from contracts.exchanges.exchange import Exchange
from contracts.interface.catalogue import Catalogue, Clause, Level
from contracts.interface.description import load_description
from contracts.interface.operations import PERMANENT_KINDS
from contracts.session.actor import Actor
from contracts.session.namespace import Namespace

#: Sightings that a fault of the environment may spoil before one is taken as it is.
_MOST_SPOILT: Final = 3
#: Valid names of what is not there.
_ABSENT: Final = {"uid": never_used(), "attachmentId": str(NO_ATTACHMENT)}
_NAMED: Final = "contact-mandatory-"


@dataclass(frozen=True)
class Turns:
    """Which cases a realm of a run sends.

    Attributes:
        place: The realm's place among those of the run that have the operation.
        realms: How many these are.
        everything: Each realm sends every case, as in a night.
    """

    place: int
    realms: int
    everything: bool = False

    def of(self, number: int, *, everywhere: bool) -> bool:
        """Whether it is this realm's turn at a case; at the first of a clause it may be every realm's."""
        return self.everything or number % self.realms == self.place or (everywhere and number == 0)


class Exercise:
    """Sends faults of one operation as one actor, each in an otherwise valid request."""

    def __init__(
        self,
        operation: str,
        bases: ValidRequests,
        actor: Actor,
        samples: Samples,
        fresh: Namespace,
        reporting: Callable[[], Reporting],
    ) -> None:
        self._operation = operation
        self._bases = bases
        self._actor = actor
        self._samples = samples
        self._fresh = fresh
        #: How a contact operation reports faulty records.
        self.reporting = reporting

    def send(self, fault: Fault) -> Exchange:
        """Send the fault on fresh data."""
        request = with_fault(self._bases.request(self._operation), fault, self._fresh)
        if self._operation.endswith("Contact") and fault.place == "body" and isinstance(request.body, dict):
            # Nothing that may be refused for a reason of its own.
            others = CONTACT_FIELDS.keys() - {"header", *MANDATORY_FIELDS, *fault.steps[:1]}
            request = replace(request, body=without(request.body, *others))
        return note_made_up(request.send(self._actor), request.body, self._samples)


class Probe:
    """Judges the faults of one operation's generated cases by the clauses that speak about them."""

    def __init__(
        self, operation: str, attempt: Attempt, catalogue: Catalogue, exercise: Exercise, turns: Turns
    ) -> None:
        self._operation = operation
        self._attempt = attempt
        self._catalogue = catalogue
        self._exercise = exercise
        self._turns = turns
        self._met: Counter[str] = Counter()
        described = load_description().operations[operation]
        self._adds_records = described.permanent and described.stores in PERMANENT_KINDS
        self._looks = described.safe

    def due(self, case: Case) -> Iterator[Fault]:
        """The faults of a generated case that this realm sends.

        Where what is accepted stays, only what a must rules out is sent, and of a submission what a should does, once:
        a record for each fault that a service takes would use up the places of cases that need one.
        """
        for fault in faults_of(self._operation, case):
            clause = self.clause_of(fault)
            if fault.for_nights and not self._turns.everything:
                continue
            number = self._met[clause.id]
            self._met[clause.id] += 1
            if self._stays(clause, number) or (clause.level is Level.SILENT and self._seen_enough(number)):
                continue
            if self._turns.of(number, everywhere=self._by_itself(fault)):
                yield fault

    def _stays(self, clause: Clause, number: int) -> bool:
        once = clause.level is Level.SHOULD and number == 0 and clause.family == "workflow"
        return self._adds_records and clause.level is not Level.MUST and not once

    def _seen_enough(self, number: int) -> bool:
        return number >= self._turns.realms and not self._turns.everything

    def _by_itself(self, fault: Fault) -> bool:
        """Whether no other case judges the clause of a fault, which has fewer generated cases than a run has realms."""
        if self._operation.endswith("Contact") and fault.kind == "missing":
            return True
        of_text = CONTACT_FIELDS.get("".join(fault.steps[:1]), "string") == "string"
        return fault.place == "body" and (of_text or fault.kind != "wrong-kind")

    def clause_of(self, fault: Fault) -> Clause:
        """The clause that speaks about a fault.

        Raises:
            SuiteError: the catalogue knows none, so that nobody can say whether it may be taken.
        """
        clause = self._catalogue.for_fault(self._operation, fault.key)
        if clause is None:
            raise SuiteError(f"{self._operation}: no clause speaks about the generated fault {fault.key}")
        return clause

    def judge(self, fault: Fault) -> None:
        """Send a fault; one about which the document is silent is observed.

        Raises:
            Contradiction: the fault was accepted, twice, against a must.
        """
        clause = self.clause_of(fault)
        if clause.level is Level.SILENT:
            self._observe(clause, fault)
            return
        first = self._contradiction(clause, fault)
        if first is None:
            return
        confirmed = self._attempt.confirmed.get(first.key, (0, 0))
        # Where another fault has shown this already, a sighting that does not come back must not stand in for it.
        contradictions = [first] if confirmed[0] > 1 else self._noted([first])
        seen, replay = 1, 1
        while seen == 1 and replay <= MOST_REPLAYS:
            replay += 1
            again = self._contradiction(clause, fault)
            if again is not None:
                seen += 1
                contradictions = self._noted([*contradictions, again])
        if contradictions:
            return
        self._attempt.confirmed[first.key] = max(confirmed, (seen, replay))
        if seen > 1 and clause.level is Level.MUST:
            raise Contradiction(first)

    def _noted(self, results: list[Result]) -> list[Result]:
        """Note contradictions; returns those that are still to be noted: none."""
        for result in results:
            self._attempt.note(result)
        return []

    def _observe(self, clause: Clause, fault: Fault) -> None:
        exchange = self._exercise.send(fault)
        if exchange.response is not None and exchange.fault is None:
            seen = {"fault": fault.key, "status": exchange.response.status}
            self._attempt.observations.append(observed(clause.id, self._operation, seen))

    def _contradiction(self, clause: Clause, fault: Fault) -> Result | None:
        """Send the fault, on fresh data again while the environment may be behind an answer against the clause.

        Returns:
            The contradiction, which is not noted yet; None when the fault was refused.
        """
        for _ in range(_MOST_SPOILT):
            before = len(self._attempt.exchanges)
            try:
                result = self._judged(clause, fault)
            except EnvironmentFault:
                continue
            if result is None or not any(exchange.doubtful for exchange in self._attempt.exchanges[before:]):
                return result
        return self._judged(clause, fault)

    def _judged(self, clause: Clause, fault: Fault) -> Result | None:
        exchange = self._exercise.send(fault)
        results = list(self._results(clause, fault, exchange))
        for result in results:
            if result.outcome is CheckOutcome.CONTRADICTED:
                self._relies_on_absence(fault)
                return result
        self._attempt.held[results[0].key] += 1
        return None

    def _results(self, clause: Clause, fault: Fault, exchange: Exchange) -> Iterator[Result]:
        """What the checks say of the answer: refused, and for a contact's content told with the field."""
        if not (fault.steps and self._operation.endswith("Contact") and fault.place == "body"):
            due = refusal_due(clause, self._operation, fault.key)
            yield due.check.judge(clause, self._operation, exchange, due.arguments, due.expected)
            return
        named = clause.id.startswith(_NAMED) and fault.kind == "missing"
        self._exercise.reporting().relies_on(exchange, fault.steps[0], named=named)
        yield ERRORS_ARRAY.judge(clause, self._operation, exchange)
        if named:
            arguments = {"code": MANDATORY, "field": fault.name}
            yield ERROR_NAMED.judge(clause, self._operation, exchange, arguments)

    def _relies_on_absence(self, fault: Fault) -> None:
        """See that an operation which looks for something refuses what is absent, when it did not refuse a bad name.

        Raises:
            Blocked: it does not, so that a bad name cannot be told apart; absence has clauses of its own.
        """
        absent = _ABSENT.get(fault.name) if fault.place == "path" and fault.kind != "unknown-value" else None
        if absent is None or not self._looks:
            return
        control = self._exercise.send(replace(fault, value=absent))
        if not usable(control).refusal:
            raise Blocked(self._operation, "does not refuse what is absent, so nothing can be told apart")
