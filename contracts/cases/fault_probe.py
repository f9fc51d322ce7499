"""Sends generated faults, each in an otherwise valid request, and judges the answers.

A contradiction is confirmed on fresh data before it counts.
"""

from __future__ import annotations

import copy
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from contracts.cases.drafts import never_used
from contracts.cases.generated_faults import ABSENT, Fault
from contracts.cases.requests import Request, ValidRequests
from contracts.cases.shared_documents import ABSENT as NO_ATTACHMENT
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
from contracts.errors import EnvironmentFault
from contracts.exchanges.exchange import Exchange
from contracts.interface.catalogue import Catalogue, Clause, Level
from contracts.interface.description import load_description
from contracts.interface.operations import PERMANENT_KINDS, UID_LONGEST, UID_SHORTEST
from contracts.session.actor import Actor
from contracts.session.namespace import Namespace


class Exercise:
    """Sends faults of one operation as one actor, each in an otherwise valid request."""

    def __init__(self, operation: str, bases: ValidRequests, actor: Actor, fresh: Namespace) -> None:
        self._operation = operation
        self._bases = bases
        self._actor = actor
        self._fresh = fresh

    def send(self, fault: Fault) -> Exchange:
        """Send the fault on fresh data."""
        return graft(self._bases.request(self._operation), fault, self._fresh).send(self._actor)

    def usual(self, fault: Fault) -> Any:
        """The valid value that stands where a body fault is put; `ABSENT` when there is none."""
        value = self._bases.request(self._operation).body if fault.place == "body" else ABSENT
        for step in (step for step in fault.name.split(".") if step):
            members = value if isinstance(value, dict | list) else {}
            value = members[_own_step(members, step)] if members and _has(members, step) else ABSENT
        return value


def _has(members: Any, step: str) -> bool:
    return step == "*" or (isinstance(members, dict) and step in members)


def graft(request: Request, fault: Fault, fresh: Namespace) -> Request:
    """The request with one part replaced by the faulty one."""
    if fault.place == "body":
        return replace(request, body=_grafted(request.body, fault))
    if fault.place == "header":
        value = None if fault.value is ABSENT else str(fault.value)
        return replace(request, headers={**request.headers, fault.name: value})
    if fault.place == "query":
        return replace(request, query=_query(request.query, fault))
    value = _inside(str(fault.value), fresh) if fault.name in ("uid", "identifier") else str(fault.value)
    return replace(request, path={**request.path, fault.name: value})


def _query(query: dict[str, str], fault: Fault) -> dict[str, str]:
    if fault.kind == "unknown-property":
        return {**query, **fault.value}
    if fault.value is ABSENT:
        return {name: value for name, value in query.items() if name != fault.name}
    return {**query, fault.name: str(fault.value)}


def _inside(value: str, fresh: Namespace) -> str:
    """A faulty identifier moved into the run's namespace, with its fault kept."""
    moved = fresh.prefix + value
    shortest = len(fresh.prefix) + 1
    return moved if _has_a_bad_character(value) else moved[: max(len(value), shortest)]


def _has_a_bad_character(value: str) -> bool:
    """Whether an identifier of the right length is faulty for the characters in it."""
    return UID_SHORTEST <= len(value) <= UID_LONGEST


def _grafted(body: Any, fault: Fault) -> Any:
    if not fault.name and fault.kind != "unknown-property":
        return fault.value
    grafted = copy.deepcopy(body)
    steps = [step for step in fault.name.split(".") if step]
    if fault.kind == "unknown-property":
        _walk(grafted, steps).update(fault.value)
        return grafted
    holder = _walk(grafted, steps[:-1])
    last = _own_step(holder, steps[-1])
    if fault.value is ABSENT:
        holder.pop(last)
    else:
        holder[last] = fault.value
    return grafted


def _walk(value: Any, steps: list[str]) -> Any:
    for step in steps:
        value = value[_own_step(value, step)]
    return value


def _own_step(holder: Any, step: str) -> Any:
    """A star stands for the first member or item."""
    if step != "*":
        return step
    return 0 if isinstance(holder, list) else next(iter(holder))


#: Sightings that a fault of the environment may spoil before one is taken as it is.
_MOST_SPOILT = 3


def _adds_a_record(name: str) -> bool:
    """Whether an accepted request leaves something that cannot be removed: only what must be refused is sent."""
    operation = load_description().operations[name]
    return operation.permanent and operation.stores in PERMANENT_KINDS


#: Valid names of what is not there.
_ABSENT = {"uid": never_used(), "attachmentId": str(NO_ATTACHMENT)}


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

    def _observe(self, clause: Clause | None, fault: Fault) -> None:
        if _adds_a_record(self._operation):
            return
        exchange = self._exercise.send(fault)
        answer = exchange.response
        unspoilt = answer is not None and exchange.fault is None
        if clause is not None and clause.level is Level.SILENT and answer is not None and unspoilt:
            seen = {"fault": fault.key, "status": answer.status}
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
        due = refusal_due(clause, self._operation, fault.key)
        result = due.check.judge(clause, self._operation, exchange, due.arguments, due.expected)
        if result.outcome is CheckOutcome.CONTRADICTED:
            self._relies_on_absence(fault)
            return result
        self._attempt.held[result.key] += 1
        return None

    def _relies_on_absence(self, fault: Fault) -> None:
        """See that an operation which looks for something refuses what is absent, when it did not refuse a bad name.

        Raises:
            Blocked: it does not, so that a bad name cannot be told apart; absence has clauses of its own.
        """
        absent = _ABSENT.get(fault.name) if fault.place == "path" and fault.kind != "unknown-value" else None
        if absent is None or not load_description().operations[self._operation].safe:
            return
        control = self._exercise.send(replace(fault, value=absent))
        if not usable(control).refusal:
            raise Blocked(self._operation, "does not refuse what is absent, so nothing can be told apart")


def judged(catalogue: Catalogue, operation: str, fault: Fault) -> bool:
    """Whether a fault is sent at all: where it would stay if it were accepted, only one that a must rules out.

    What a should rules out is tried there by its own case, once: a record for each fault that a service takes
    would use up the places of cases that need one.
    """
    clause = catalogue.for_fault(operation, fault.key)
    return not _adds_a_record(operation) or (clause is not None and clause.level is Level.MUST)


def firm(fault: Fault, usual: Any) -> bool:
    """Whether the document really rules a fault out.

    A number or a boolean where a text is due, and null in place of a member that may be left out, are read kindly by
    many services; the document does not say.
    """
    if fault.place != "body" or fault.kind != "wrong-kind":
        return True
    lenient = isinstance(usual, str) and isinstance(fault.value, int | float)
    return not lenient and fault.value is not None
