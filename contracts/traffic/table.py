"""The workflow table: a message of it comes with its own status, and does not contradict the request it answers."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from contracts.checking.request_facts import RequestFacts
from contracts.interface.catalogue import Catalogue
from contracts.judging.rows import Row, tells
from contracts.session.exchange import Answer, Exchange
from contracts.target.model import DEVELOPMENT_REALMS, PRODUCTION_REALMS
from contracts.traffic.findings import Side, Standing, TrafficFinding

_WORKFLOW: Final = frozenset(
    {"createWorkflowRecord", "createWorkflowRecordWithIdentifier", "updateWorkflowRecord"}
)
_UNCONFIGURED: Final = re.compile(r"Schema not configured for the given realm\s+(?P<realm>[\w-]+)")
_REALMS: Final = frozenset((*DEVELOPMENT_REALMS, *PRODUCTION_REALMS))
_CREATES: Final = frozenset({"createWorkflowRecord", "createWorkflowRecordWithIdentifier"})


def row_faults(
    exchange: Exchange, facts: RequestFacts, realm: str, entry: int, catalogue: Catalogue
) -> Iterator[TrafficFinding]:
    """Where an answer to a submission contradicts the table of the interface document.

    Args:
        realm: As findings name it.
        entry: Number of the exchange.
    """
    answer = exchange.answer
    if facts.operation.id not in _WORKFLOW or answer.success:
        return
    in_header = "Realm" in exchange.request_headers
    for clause, expected, standing in _contradictions(answer, facts, catalogue, in_header=in_header):
        found = catalogue.clause(clause)
        yield TrafficFinding(
            side=Side.ANSWER,
            standing=standing,
            clause=clause,
            level=str(found.level),
            fault=None,
            operation=facts.operation.id,
            realm=realm,
            expected=expected,
            seen=answer.quote(),
            entry=entry,
        )


def _contradictions(
    answer: Answer, facts: RequestFacts, catalogue: Catalogue, *, in_header: bool
) -> Iterator[tuple[str, str, Standing]]:
    named = facts.realm or ""
    told = [row for row in Row if tells(answer, row, named)]
    for row in told:
        clause = catalogue.clause(row)
        if clause.status is not None and answer.status != clause.status:
            yield str(row), f"{clause.status} with this message", Standing.FAULT
    if Row.REALM_MISSING in told and named in DEVELOPMENT_REALMS:
        clause_id = "realm-workflow-realms" if in_header else "realm-query"
        yield clause_id, f"the realm {named} of the request is found", Standing.FAULT
    other = _UNCONFIGURED.search(answer.text)
    if other is not None and named in _REALMS and other["realm"] != named:
        yield str(Row.SCHEMA_UNKNOWN), f"the message names the realm of the request, {named}", Standing.FAULT
    updates = facts.operation.id not in _CREATES
    if Row.TAKEN in told and updates:
        yield str(Row.TAKEN), "an update is not refused because its record exists", Standing.REMARK
    if Row.UNKNOWN in told and not updates:
        yield str(Row.UNKNOWN), "a creation is not refused because its record does not exist", Standing.REMARK
