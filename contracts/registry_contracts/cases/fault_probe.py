"""Sends the faults of generated cases, each in an otherwise valid request, and judges the answers.

A gate run rotates the cases over its realms. A contradiction is confirmed on fresh data before it counts.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from dataclasses import replace
from typing import Final

from registry_contracts.cases.contact_requests import TOLD_CLAUSES, Reporting
from registry_contracts.cases.drafts import need_refusal, never_used
from registry_contracts.cases.generated_cases import Case, Fault, fault_of, with_fault
from registry_contracts.cases.hostile_input import Deal
from registry_contracts.cases.identifiers import LOOKS, STORES
from registry_contracts.cases.requests import OrdinaryRequests
from registry_contracts.cases.sample_records import CONTACT_FIELDS, MANDATORY_FIELDS, without
from registry_contracts.cases.shared_documents import ABSENT as NO_ATTACHMENT
from registry_contracts.cases.world import World
from registry_contracts.checks import errors_array
from registry_contracts.checks.claims import Expect
from registry_contracts.checks.outcomes import (
    OBSTACLES,
    Attempt,
    Contradiction,
    Result,
    contradicted,
    observed,
    usable,
)
from registry_contracts.checks.table import refused_for
from registry_contracts.errors import EnvironmentFault, SuiteError
from registry_contracts.exchanges import readers
from registry_contracts.exchanges.exchange import Exchange
from registry_contracts.interface.catalogue import Catalogue, Clause, Level
from registry_contracts.interface.description import load_description
from registry_contracts.interface.operations import PERMANENT_KINDS

#: Attempts that an environment fault may spoil before the next one counts as it is.
_MOST_SPOILT: Final = 3
#: Cases of one clause in a brief run.
MOST_IN_BRIEF: Final = 3
_SEVERAL: Final = "errors-several-faults"
#: Valid identifiers of things that do not exist.
_ABSENT: Final = {"uid": never_used(), "attachmentId": str(NO_ATTACHMENT)}
#: Sends faults in one request, on fresh data.
Send = Callable[..., Exchange]


def sending(operation: str, ordinary: OrdinaryRequests, world: World) -> Send:
    """A function that sends faults of an operation as the author, in an otherwise valid request."""

    def send(*faults: Fault) -> Exchange:
        request = ordinary.on_shared_data(operation)
        for fault in faults:
            request = with_fault(request, fault, world.fresh)
        in_body = all(fault.place == "body" for fault in faults)
        if operation.endswith("Contact") and in_body and isinstance(request.body, dict):
            # Leave out optional fields, which may be refused for other reasons.
            faulty = {step for fault in faults for step in fault.steps[:1]}
            others = CONTACT_FIELDS.keys() - {"header", *MANDATORY_FIELDS, *faulty}
            request = replace(request, body=without(request.body, *others))
        return request.send(world.author)

    return send


class Probe:
    """Judges the faults of one operation's generated cases by their clauses.

    Args:
        reporting: How a contact operation reports faulty records.
        deal: Rotates the faults over the realms that have the operation; `most` limits them to so many per MUST clause.
        everything: Each realm sends every case, as in a nightly run.
    """

    def __init__(
        self,
        operation: str,
        attempt: Attempt,
        catalogue: Catalogue,
        send: Send,
        reporting: Callable[[], Reporting],
        deal: Deal,
        *,
        everything: bool = False,
    ) -> None:
        self._operation = operation
        self._attempt = attempt
        self._catalogue = catalogue
        self._send = send
        self._reporting = reporting
        self._deal = deal
        self._everything = everything
        self._met: Counter[str] = Counter()
        described = load_description().operations[operation]
        self._adds_records = described.permanent and described.stores in PERMANENT_KINDS
        self._looks = described.safe

    def judge_all(self, cases: Iterable[Case]) -> None:
        """Judge the faults of generated cases: first a contact's field faults together in few records, the rest alone.

        A fault that the errors report among others counts as reported alone. A contradiction of a fault's clause needs
        the fault sent alone. Each realm sends one at least.
        """
        made = [fault for case in cases if (fault := fault_of(self._operation, case))]
        faults = list(self._due(made)) or [each for each in made if self._is_ruled_out(each)][:1]
        of_fields = (each for each in faults if self._field_of(each) and self._speaks_of(each))
        told = self._told_together(_records(of_fields)[: self._deal.most])
        for fault in faults:
            if id(fault) not in told:
                self.judge(fault)

    def _speaks_of(self, fault: Fault) -> bool:
        return self.clause_of(fault).level is not Level.SILENT

    def _is_ruled_out(self, fault: Fault) -> bool:
        return self.clause_of(fault).level is Level.MUST and not self._is_near_miss(fault)

    def _due(self, faults: Iterable[Fault]) -> Iterator[Fault]:
        """The faults that this realm sends: the first of a clause that no other case judges, and its share of the rest.

        If accepted records are permanent, only faults that a MUST rules out are sent (for submissions also the first
        that a SHOULD rules out): each accepted fault would use up the budget of other cases.
        """
        for fault in faults:
            clause, most = self.clause_of(fault), self._deal.most
            if self._is_near_miss(fault) and not self._everything:
                continue
            number = self._met[clause.id]
            self._met[clause.id] += 1
            if most is not None and (clause.level is not Level.MUST or number >= most):
                continue
            enough = number >= self._deal.realms and not self._everything
            if self._stays(clause, number) or (clause.level is Level.SILENT and enough):
                continue
            everywhere = self._everything or (number == 0 and self._by_itself(fault))
            if everywhere or number % self._deal.realms == self._deal.place:
                yield fault

    def _is_near_miss(self, fault: Fault) -> bool:
        """Whether a fault is a near miss of the identifier rule; other cases send those."""
        return fault.key.startswith("path.uid:") and self._operation in (*LOOKS, *STORES)

    def _stays(self, clause: Clause, number: int) -> bool:
        once = clause.level is Level.SHOULD and number == 0 and clause.family == "workflow"
        return self._adds_records and clause.level is not Level.MUST and not once

    def _by_itself(self, fault: Fault) -> bool:
        """Whether no other case judges the clause of a fault in every realm: rows judge the others of submissions."""
        of_contact = self._operation.endswith("Contact")
        return (of_contact and fault.kind == "missing") or (
            fault.place == "body" and (of_contact or fault.kind == "wrong-kind")
        )

    def clause_of(self, fault: Fault) -> Clause:
        """The clause about a fault.

        Raises:
            SuiteError: the catalogue has none, so it is unknown whether the fault may be accepted.
        """
        clause = self._catalogue.for_fault(self._operation, fault.key)
        if clause is None:
            raise SuiteError(f"{self._operation}: no clause speaks about the generated fault {fault.key}")
        return clause

    def judge(self, fault: Fault) -> None:
        """Send a fault and judge the answer; if the document is silent about it, observe the answer.

        A contradiction that an earlier fault confirmed is not confirmed again. Neither a contradiction nor an obstacle
        keeps later faults from being judged.
        """
        try:
            with suppress(Contradiction):  # already noted
                self._judge(self.clause_of(fault), fault)
        except OBSTACLES as obstacle:
            self._attempt.obstacle = self._attempt.obstacle or obstacle

    def _judge(self, clause: Clause, fault: Fault) -> None:
        if clause.level is Level.SILENT:
            self._observe(clause, fault)
            return
        known = self._attempt.confirmed.keys() - self._attempt.dismissed
        first = self._contradictions(clause, fault)
        seen = {key: result for key, result in first.items() if key not in known}
        for result in seen.values():
            self._attempt.note(result)
        self._attempt.look_again(seen, lambda: self._contradictions(clause, fault))
        for key, result in seen.items():
            must = self._catalogue.clause(result.clause).level is Level.MUST
            if must and key not in self._attempt.dismissed:
                raise Contradiction(result)

    def _told_together(self, records: Iterable[list[Fault]]) -> set[int]:
        """Send records with several faults each.

        Returns:
            The ids of the fault objects that the errors reported as they would a single fault.
        """
        told = set[int]()
        with suppress(*OBSTACLES):  # the faults are then judged alone
            for record in records:
                sent = self._send(*record)
                names = [fault for fault in record if self._is_told(fault, sent)]
                self._claim_several_told(record, sent)
                told.update(map(id, names))
                if len(names) <= 1 < len(record):
                    break  # the operation reports one fault at a time
        return told

    def _is_told(self, fault: Fault, sent: Exchange) -> bool:
        """Whether the errors of a record with several faults report this one as if it had been sent alone."""
        shown = Attempt(self._attempt.number)
        try:
            self._claim(self._expect(shown, fault), self.clause_of(fault), fault, sent)
        except (Contradiction, *OBSTACLES):
            return False
        if shown.evidence or not errors_array.reports(sent.answer, self._field_of(fault)):
            return False
        self._attempt.held.update(shown.held)
        return True

    def _claim_several_told(self, record: list[Fault], sent: Exchange) -> None:
        """Claim that one errors array names the field of each fault that a MUST rules out."""
        fields = [self._field_of(fault) for fault in record if self.clause_of(fault).level is Level.MUST]
        key = (_SEVERAL, self._operation)
        if len(fields) < 2 or not readers.errors(usable(sent)) or key in self._attempt.confirmed:
            return

        def untold(exchange: Exchange) -> list[str]:
            return [name for name in fields if not errors_array.reports(usable(exchange), name)]

        if missed := untold(sent):
            seen = f"nothing reported for {', '.join(missed)}"
            self._attempt.note(contradicted(*key, "each field named", seen, (sent.id,), sent.role))
            self._attempt.look_again({key}, lambda: {key} if untold(self._send(*record)) else set())
        else:
            self._attempt.held[key] += 1

    def _observe(self, clause: Clause, fault: Fault) -> None:
        exchange = self._send(fault)
        if exchange.response is not None and exchange.fault is None:
            seen = {"fault": fault.key, "status": exchange.response.status}
            self._attempt.observations.append(observed(clause.id, self._operation, seen))

    def _contradictions(self, clause: Clause, fault: Fault) -> dict[tuple[str, str], Result]:
        """What a fault contradicts, not noted yet; sent again while the environment may be the cause."""
        for _ in range(_MOST_SPOILT):
            before = len(self._attempt.exchanges)
            try:
                found = self._judged(clause, fault)
            except EnvironmentFault:
                continue
            if not found or not any(exchange.doubtful for exchange in self._attempt.exchanges[before:]):
                return found
        return self._judged(clause, fault)

    def _judged(self, clause: Clause, fault: Fault) -> dict[tuple[str, str], Result]:
        exchange = self._send(fault)
        shown = Attempt(self._attempt.number)
        with suppress(Contradiction):
            self._claim(self._expect(shown, fault), clause, fault, exchange)
        if shown.evidence:
            self._relies_on_absence(fault)
        self._attempt.held.update(shown.held)
        return {result.key: result for result in shown.evidence}

    def _expect(self, shown: Attempt, fault: Fault) -> Expect:
        return Expect(shown, self._catalogue, (self.clause_of(fault).id, *TOLD_CLAUSES))

    def _claim(self, expect: Expect, clause: Clause, fault: Fault, exchange: Exchange) -> None:
        """Claim that a fault was refused, and a fault in a contact's content with the right errors."""
        told = self._field_of(fault)
        if self._operation == "createToken":
            # The document does not say how a sign-in is refused.
            expect(clause.id, self._operation).meets("no-token", exchange)
        elif not told:
            expect(clause.id, self._operation).turned_down(exchange, refused_for(fault.key))
        else:
            self._reporting().claim_told(expect, clause.id, exchange, told, fault.key)

    def _field_of(self, fault: Fault) -> str:
        """The faulty field of a contact, which the errors must name; empty for any other fault."""
        if fault.place != "body" or not self._operation.endswith("Contact"):
            return ""
        return next(iter(fault.steps or (fault.value if fault.kind == "unknown-property" else ())), "")

    def _relies_on_absence(self, fault: Fault) -> None:
        """Require that a read operation that did not refuse a bad name refuses an absent one.

        Raises:
            Blocked: it does not, so nothing can be said about bad names; absence has clauses of its own.
        """
        absent = _ABSENT.get(fault.name) if fault.place == "path" and fault.kind != "unknown-value" else None
        if absent is None or not self._looks:
            return
        need_refusal(self._send(replace(fault, value=absent)))


def _records(faults: Iterable[Fault]) -> list[list[Fault]]:
    """Group field faults into few records, each with at most one fault per field and one missing field."""
    records: list[tuple[set[str], list[Fault]]] = []
    for fault in faults:
        takes = {"".join(fault.steps[:1]) or "unknown", "missing" if fault.kind == "missing" else ""} - {""}
        place = next((each for each in records if takes.isdisjoint(each[0])), None)
        if place is None:
            records.append(place := (set(), []))
        place[0].update(takes)
        place[1].append(fault)
    return [faults for _, faults in records]
